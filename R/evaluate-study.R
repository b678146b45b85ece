# Simulators x methods x runs: which method finds the changes, and how fast.

#' Compare methods on simulated pairs
#'
#' Draws `runs` pairs from every simulator, applies every method to each pair,
#' and scores the detected edges by [pr_curve()]. All methods of a run use the
#' same pair.
#'
#' @section Methods:
#' A method is a function that returns a `change_path` (or a
#' [kliep_select()], of which the path is scored). It is called with the two
#' samples, as `method(x, y)`, so that [kliep_path()] is one as it stands, and
#' so is [glasso_path()] or, to choose its `lambda1`, too,
#' `function(x, y) kliep_select(x, y, lambda1 = c(0.1, 1), method = "flasso")`.
#' A character vector of the names that [kliep_select()] knows stands for the
#' paths of these methods.
#' A function whose first argument is called `pair` gets the whole
#' `network_pair` instead, for instance to use `pair$holdout`. A method that
#' fails has `NA` in its row of the table, with the reason in `error`, and
#' the others go on.
#'
#' @section Parallel runs, and runs that are cut off:
#' Runs are spread over the workers of [future::plan()], and signal their
#' progress to [progressr::progressr]. A seed gives the same numbers, times
#' aside, on every plan. With `checkpoint`, a run is written to that folder
#' once it is done: a call that was killed continues from there when it is
#' repeated, with the random numbers it was begun with and the same result. A
#' folder that belongs to another call, or a damaged file in it, is an error
#' of class `kliep_error_checkpoint`, and is left as it is. Workers on other
#' machines must see the folder under the same name.
#'
#' @param simulate A function without arguments that returns a `network_pair`,
#'   such as `function() sim_gaussian(d = 20)`, or a named list of such
#'   functions.
#' @param methods A named list of methods, or names of methods; see the
#'   section below.
#' @param runs How many pairs to draw from each simulator.
#' @param rank How edges are ranked: see [pr_curve()].
#' @param checkpoint The name of a folder to keep finished runs in, or `NULL`.
#' @param progress Show progress? [progressr::handlers()] decides how it
#'   looks.
#' @return A data frame of class `compare_methods` with one row for each
#'   simulator, method and run: `simulator`, `method`, `run`,
#'   `average_precision`, `area`, `area_roc` and `f1` (the best one) as in
#'   [pr_curve()], `seconds` that the method took, `error` and `warning` (`NA`
#'   if there was none), `curve`, the [pr_curve()]s without their ranked
#'   edges, and `seed`, the `.Random.seed` with which the simulator was called.
#'   `summary()` gives means with standard errors, and
#'   [`plot()`][autoplot.compare_methods] draws them.
#' @export
#' @examples
#' set.seed(1)
#' study <- compare_methods(
#'     simulate = list(
#'         "n = 50" = function() sim_gaussian(d = 12, n = 50, n_changed = 4),
#'         "n = 200" = function() sim_gaussian(d = 12, n = 200, n_changed = 4)
#'     ),
#'     methods = list(
#'         "p/q" = kliep_path,
#'         symmetric = function(x, y) kliep_path(x, y, direction = "symmetric")
#'     ),
#'     runs = 4
#' )
#' study
#' plot(study)
compare_methods <- function(simulate, methods, runs = 20,
                            rank = c("entry", "weight"), checkpoint = NULL,
                            progress = interactive()) {
    if (is.function(simulate)) simulate <- list(simulated = simulate)
    check_functions(simulate, "simulate")
    methods <- methods_by_name(methods)
    check_functions(methods, "methods")
    runs <- check_whole(runs, "runs")
    check_replicates_memory(runs, 0, "runs")
    rank <- check_choice(rank, "rank", c("entry", "weight"))
    progress <- check_flag(progress, "progress")
    tasks <- comparison_tasks(names(simulate), runs)
    done <- run_replicates(
        split(tasks, seq_len(nrow(tasks))), compare_run, simulate = simulate,
        methods = methods, rank = rank, label = "compare_methods()",
        checkpoint = checkpoint, progress = progress
    )
    rows <- lapply(seq_len(nrow(tasks)), function(task) {
        comparison_rows(tasks[task, ], done$values[[task]],
                        done$seeds[[task]], names(methods))
    })
    table <- do.call(rbind, rows)
    table <- table[order(match(table$simulator, names(simulate)),
                         match(table$method, names(methods)), table$run), ]
    rownames(table) <- NULL
    table <- new_comparison(table)
    warn_failed(table)
    table
}

# A row for each. Without the attributes of the grid, which every row would
# carry with it.
comparison_tasks <- function(simulators, runs) {
    expand.grid(simulator = simulators, run = seq_len(runs),
                KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
}

# The only place the class is set.
new_comparison <- function(table) {
    class(table) <- c("compare_methods", "data.frame")
    table
}

# Names of methods as the functions they stand for.
methods_by_name <- function(methods) {
    if (!is.character(methods)) return(methods)
    fits <- c(list(kliep = kliep_path),
              lapply(baseline_methods(), `[[`, "fit"))
    for (name in methods) check_choice(name, "methods", names(fits))
    labels <- names(methods)
    if (is.null(labels)) labels <- methods
    labels <- ifelse(labels == "", methods, labels)
    stats::setNames(fits[methods], labels)
}

check_functions <- function(functions, arg) {
    if (!is.list(functions) || length(functions) == 0L ||
        !all(vapply(functions, is.function, TRUE))) {
        stop_kliep(
            "argument",
            paste0("`", arg, "` must be a named list of functions: got ",
                   describe(functions), "."),
            hint = "Such as `list(kliep = kliep_path)`."[arg == "methods"]
        )
    }
    names <- names(functions)
    if (is.null(names) || any(is.na(names) | names == "") ||
        anyDuplicated(names) > 0L) {
        stop_kliep("argument", paste0("`", arg, "` must be named, each ",
                                      "function by another name."))
    }
}

# ---- one run ---------------------------------------------------------------

# One pair, and what each method finds in it.
compare_run <- function(task, simulate, methods, rank) {
    pair <- tryCatch(
        check_pair(simulate[[task$simulator]]()),
        error = function(condition) {
            pass_time_limit(condition)
            paste0("simulate: ", conditionMessage(condition))
        }
    )
    if (is.character(pair)) {
        return(lapply(methods, function(method) list(error = pair)))
    }
    # A stream for each method, so that its random numbers do not depend on the
    # others.
    state <- random_state()
    lapply(methods, function(method) {
        state <<- parallel::nextRNGSubStream(state)
        set_random_state(state)
        score_method(method, pair, rank)
    })
}

check_pair <- function(pair) {
    if (inherits(pair, "network_pair")) return(pair)
    stop_kliep("type", paste0("a `network_pair` must be returned: got ",
                              describe(pair), "."))
}

score_method <- function(method, pair, rank) {
    warned <- NULL
    score <- function() {
        begun <- Sys.time()
        path <- call_method(method, pair)
        seconds <- as.numeric(Sys.time() - begun, units = "secs")
        list(seconds = seconds, curve = slim_curve(pr_curve(path, pair, rank)))
    }
    outcome <- tryCatch(
        withCallingHandlers(score(), warning = function(condition) {
            if (is.null(warned)) warned <<- conditionMessage(condition)
            invokeRestart("muffleWarning")
        }),
        error = function(condition) {
            pass_time_limit(condition)
            list(error = conditionMessage(condition))
        }
    )
    c(outcome, list(warning = warned))
}

call_method <- function(method, pair) {
    if (identical(names(formals(args(method)))[1L], "pair")) {
        return(method(pair))
    }
    method(pair$x, pair$y)
}

# Only the corners, between which nothing but false edges is found: the scores
# and the picture are the same, at a size that does not grow with the path.
slim_curve <- function(curve) {
    curve$ranking <- NULL
    found <- diff(c(0, curve$curve$tp)) > 0
    corner <- found | c(found[-1L], TRUE)
    curve$curve <- curve$curve[corner, ]
    curve
}

# ---- the table -------------------------------------------------------------

comparison_rows <- function(task, outcomes, seed, methods) {
    if (is.null(outcomes)) outcomes <- list(list(error = "the run failed"))
    outcomes <- rep_len(outcomes, length(methods))
    curves <- lapply(outcomes, `[[`, "curve")
    pick <- function(parts, name, none) {
        vapply(parts, function(part) {
            if (is.null(part[[name]])) none else part[[name]]
        }, none, USE.NAMES = FALSE)
    }
    rows <- data.frame(
        simulator = task$simulator, method = methods, run = task$run,
        average_precision = pick(curves, "average_precision", NA_real_),
        area = pick(curves, "area", NA_real_),
        area_roc = pick(curves, "area_roc", NA_real_),
        f1 = pick(lapply(curves, function(curve) as.list(curve$best)), "f1",
                  NA_real_),
        seconds = pick(outcomes, "seconds", NA_real_),
        error = pick(outcomes, "error", NA_character_),
        warning = pick(outcomes, "warning", NA_character_)
    )
    rows$curve <- unname(curves)
    rows$seed <- rep(list(seed), length(methods))
    rows
}

warn_failed <- function(table) {
    failed <- which(!is.na(table$error))
    if (length(failed) == 0L) return(invisible())
    first <- table[failed[1L], ]
    warn_kliep(
        "comparison",
        paste0(length(failed), " of ", count_of(nrow(table), "fit"),
               " failed; the first, `", first$method, "` on `",
               first$simulator, "` in run ", first$run, ": ", first$error),
        hint = "The column `error` has the reasons."
    )
}

#' @export
summary.compare_methods <- function(object, ...) {
    # In the order of the table, which is that of the call.
    group <- paste(object$simulator, object$method, sep = "\r")
    parts <- split(as.data.frame(object), factor(group, unique(group)))
    do.call(rbind, unname(lapply(parts, summarise_method)))
}

summarise_method <- function(rows) {
    scored <- rows[is.na(rows$error), ]
    score <- mean_and_error(scored$average_precision)
    data.frame(
        simulator = rows$simulator[1L], method = rows$method[1L],
        runs = nrow(rows), failed = nrow(rows) - nrow(scored),
        warned = sum(!is.na(rows$warning)),
        average_precision = score[["mean"]], se = score[["se"]],
        area = mean(scored$area), area_roc = mean(scored$area_roc),
        f1 = mean(scored$f1), seconds = stats::median(scored$seconds)
    )
}

#' @export
print.compare_methods <- function(x, ...) {
    if (!all(c("simulator", "method", "curve") %in% names(x))) {
        return(invisible(NextMethod()))
    }
    cat("<compare_methods> ",
        count_of(length(unique(x$method)), "method"), " on ",
        count_of(length(unique(x$simulator)), "simulator"), ", ",
        count_of(length(unique(x$run)), "run"), "\n\n", sep = "")
    table <- summary(x)
    number <- function(values) formatC(values, digits = 3L, format = "f")
    shown <- data.frame(
        table[c("simulator", "method", "failed", "warned")],
        "average precision" = paste0(number(table$average_precision), " (",
                                     number(table$se), ")"),
        "area" = number(table$area), "F1" = number(table$f1),
        "seconds" = format(signif(table$seconds, 2L)), check.names = FALSE
    )
    # Columns of zeros are not shown.
    for (column in c("failed", "warned")) {
        if (all(shown[[column]] == 0L)) shown[[column]] <- NULL
    }
    print(shown, row.names = FALSE)
    cat("\nMeans over runs (standard error), and the median of seconds.\n",
        "Next: summary(), plot()\n", sep = "")
    invisible(x)
}
