# Changes over time: a reference period, and windows that slide along a series.

#' When a network departs from a reference period
#'
#' Slides a window over a series of observations and finds, for each position,
#' how the network in the window (P) differs from that of a reference period
#' (Q). This is event detection as in the Twitter study of Liu et al. (2014,
#' section 6.2): counts of keywords before an event are the reference, and the
#' changes are the keywords that come to be used together in the weeks after
#' it.
#'
#' For each window \eqn{W} with observations \eqn{x_t, t \in W}{x_t, t in W}
#' this is a fit of [kliep_path()],
#' \deqn{\min_\theta \; \log \frac{1}{n_Q} \sum_{i \in Q} e^{\theta^\top f(x_i)}
#'     - \frac{1}{|W|} \sum_{t \in W} \theta^\top f(x_t)
#'     + \frac{\lambda_1}{2} \|\theta\|^2 + \lambda_2 \sum_t w_t \|\theta_t\|,}{
#'     min log mean_{i in Q} exp(theta' f(x_i)) - mean_{t in W} theta' f(x_t)
#'     + lambda1 / 2 |theta|^2 + lambda2 sum_t w_t |theta_t|,}
#' with `lambda2` chosen by cross-validated likelihood as in [kliep_select()],
#' each window on a grid of its own, unless `lambda2` is given. Its score
#' estimates how far the window is from the reference.
#'
#' @section Windows and the reference:
#' A window never shares observations with the reference, which would hide
#' changes and make tests invalid. Where the reference is a part of the series,
#' windows start again after it, and before it if there is room: the first at
#' the first observation of each stretch outside the reference, the others
#' `step` further on, as long as all of a window lies within the stretch.
#'
#' If periods are missing, give `width` as a span of time: windows without an
#' observation are left out, and `n` of `$windows` is the number of observations
#' of the others. A width given as a number of observations ignores gaps.
#'
#' @section How long windows are:
#' A long window has more observations, but averages over changes within it.
#' With several values of `width`, the series is cut into blocks of consecutive
#' observations, so long that blocks hardly depend on each other, and the
#' correlations of each block are predicted by those of its window without that
#' block and the two next to it. The width with the smallest mean squared error
#' over the observations that windows of every width reach is chosen, and
#' `$widths` has the errors of all. This looks at all variables
#' and at the whole series: a short event hardly counts in it.
#'
#' @section Permutation filter:
#' Cross-validation seldom chooses few edges. With `n_perm` every window is
#' tested against the reference by [kliep_test()], which repeats the selection
#' on shuffles of both, and only the edges it keeps are reported. Observations
#' that follow each other are seldom independent: `block` shuffles blocks of
#' consecutive observations. The tests are about each window by itself, and are
#' not adjusted for the number of windows.
#'
#' @section Error control over all windows:
#' With `fdr`, for Gaussian, nonparanormal and Ising features, every edge is
#' tested in every window by the score tests of [kliep_time()], with the
#' difference between window and reference in place of a slope: given a support,
#' with influences summed over blocks of consecutive observations (`block`, by
#' default as for [kliep_time()], with what one observation predicts of the next
#' carried over) and a null distribution from shuffles of these blocks between
#' the window and the reference. The p-values of all edges in all
#' windows are adjusted together by the method of Benjamini and Hochberg, and
#' what is reported has a `q_value` of at most `fdr`, in windows that differ
#' from the reference at all (`p_value` of `$windows`). `weight` is then the
#' estimate of that test, a difference of partial correlations (of couplings,
#' for spins). Windows that overlap share observations, and all share the
#' reference: their tests are not independent of each other. The share of false
#' edges on series whose drift is known is in `vignette("returns")`.
#'
#' @section Parallel, and runs that are cut off:
#' Windows are spread over the workers of [future::plan()], and signal their
#' progress to \pkg{progressr}. A seed gives the same result on every plan. With
#' `checkpoint`, a window is written to that folder once it is done, and a call
#' that was killed continues from there when it is repeated. A window that
#' cannot be fitted, for instance as a variable does not vary in it, is reported
#' in a warning of class `kliep_warning_replicate`, and has no edges and `NA` in
#' `$windows`.
#'
#' @param series The observations, in the order of time: a matrix or data frame
#'   with variables in columns.
#' @param reference The reference period: the first and the last time that
#'   belong to it, `c(from, to)`, in the units of `time`; `TRUE` for every
#'   observation that belongs to it and `FALSE` for the others; or a matrix or
#'   data frame of observations that are not in the series.
#' @param width,step How long windows are, and how far apart they begin: numbers
#'   of observations, or spans of time ([difftime()]) if `time` has dates or
#'   times of day. Windows overlap where `step` is smaller than `width`. Of
#'   several widths the one that predicts best is chosen; see below.
#' @param spec The estimator, as for [kliep_select()].
#' @param ... Settings of [kliep_spec()] by name, which replace those of `spec`,
#'   such as `features`, `nlambda` or `control`, or the arguments of another
#'   `method`; and `variables`, `top_variable` and `na` as for [two_samples()],
#'   which are about the whole series and its reference.
#' @param time When each observation was made, never decreasing: numbers, dates
#'   (`Date`) or times of day (`POSIXct`), or the name of the column that has
#'   them, which is then not a variable. `NULL` takes a column called `time` if
#'   there is one, and the number of the row otherwise.
#' @param method `"kliep"`, or another method that [kliep_select()] can choose
#'   along, such as `"flasso"`; what it takes may then stand in `...`.
#' @param n_perm The number of shuffles for each window. 0 leaves the test out,
#'   and with `fdr` takes the default number of [kliep_time()].
#' @param alpha,keep,block,folds,rule As for [kliep_test()], except that `block`
#'   can only be a number.
#' @param fdr The expected share of false edges among those reported, over all
#'   windows; `NULL` leaves this test out.
#' @param checkpoint The name of a folder to keep finished windows in, or
#'   `NULL`.
#' @param progress Show progress? [progressr::handlers()] decides how it looks.
#'
#' @return An object of class `kliep_windows`, with [print()],
#'   [`summary()`][summary.kliep_windows] (when each edge appears),
#'   [`plot()`][autoplot.kliep_windows], [`tidy()`][tidy.change_path],
#'   [`glance()`][glance.change_path] and
#'   [`edges()`][edges.kliep_windows]. Its parts:
#'   * `windows`: a data frame with one row for each window: `window`, `start`
#'     and `end` (the times of its first and last observation), `n`, `lambda2`,
#'     `score` (cross-validated), `n_edges`, and with `n_perm` the `p_value` of
#'     no change at all;
#'   * `edges`: a data frame with one row for each window and edge: `window`,
#'     `start`, `end`, `from`, `to` and `weight`, and with `n_perm`
#'     `p_value` and `p_adjusted`, or with `fdr` `se`, `p_value` and `q_value`;
#'   * `fits`: the chosen fit of each window, `NULL` if it failed;
#'   * `reference`: a list with the number of its observations `n`, and `start`
#'     and `end` if it is one stretch of the series;
#'   * `widths`: with several values of `width`, a data frame with `width`,
#'     `score` (the mean squared error of prediction) and `chosen`;
#'   * `failures`: the windows that failed, with `message` and `seed`.
#' @inherit kliep_path references
#' @seealso [sim_keywords()] for series with an event at a known time.
#' @export
#' @examples
#' set.seed(1)
#' topics <- list(c("rain", "storm"), c("match", "goal"), c("bank", "price"))
#' pair <- sim_keywords(times = 500, change_at = 351, topics = topics,
#'                      event = c("storm", "match", "price"), tie = 0.4)
#' series <- pair$series
#' series[-1] <- log1p(series[-1])
#' found <- kliep_windows(series, reference = c(1, 150), width = 50,
#'                        nlambda = 10, rule = "1se")
#' found
#' summary(found)
#' edges(found, window = 5)
#' plot(found)
kliep_windows <- function(series, reference, width, step = width, spec = NULL,
                          ..., time = NULL, method = "kliep", n_perm = 0,
                          alpha = 0.05, keep = c("adjusted", "paper"),
                          block = NULL, folds = NULL, rule = NULL, fdr = NULL,
                          checkpoint = NULL, progress = interactive()) {
    call <- match.call()
    table_arguments <- c("variables", "top_variable", "na")
    method <- check_choice(method, "method",
                           c("kliep", names(baseline_methods())))
    check_dots(list(...), c(names(formals()), table_arguments,
                            candidate_arguments(method)), "kliep_windows")
    about <- names(list(...)) %in% table_arguments
    if (missing(reference)) reference <- NULL
    if (missing(width)) {
        stop_kliep("window", "`width` is missing: how long is a window?")
    }
    test <- check_window_test(n_perm, alpha, keep, block, method, fdr)
    progress <- check_flag(progress, "progress")
    candidates <- check_candidates(spec, list(...)[!about], method)
    design <- selection_design(folds, rule, spec, candidates)
    parts <- do.call(divide_series, c(
        list(check_series(series, time), reference), list(...)[about]
    ), quote = TRUE)
    chosen <- choose_width(parts, width, window_features(candidates))
    parts$widths <- chosen$widths
    if (!is.null(test$fdr)) {
        test$n_perm <- check_time_shuffles(if (test$n_perm > 0) test$n_perm,
                                           ncol(parts$x))
    }
    if (missing(step)) step <- chosen$width
    places <- lay_windows(parts, chosen$width, step)
    check_window_fits(candidates, design, parts, places[[1L]], test)
    done <- run_replicates(
        places, fit_window, values = parts$x, reference = parts$y,
        # Workers do not know that there are others.
        candidates = lapply(candidates, candidate_for_plan), design = design,
        test = test, label = "kliep_windows()", checkpoint = checkpoint,
        progress = progress
    )
    new_kliep_windows(done, places, parts, test, candidates, call)
}

# Those of the estimator, or of a baseline plain correlations.
window_features <- function(candidates) {
    spec <- candidates[[1L]]$spec
    if (is.null(spec)) feat_gaussian() else spec$features
}

# ---- fits ------------------------------------------------------------------

check_window_test <- function(n_perm, alpha, keep, block, method, fdr) {
    n_perm <- check_whole(n_perm, "n_perm", "n_perm", least = 0)
    if (!is.null(fdr)) fdr <- check_fraction(fdr, "fdr")
    if ((n_perm > 0 || !is.null(fdr)) && method != "kliep") {
        stop_kliep("argument",
                   paste0("`", if (n_perm > 0) "n_perm" else "fdr", "` is for ",
                          "`method = \"kliep\"` alone: got \"", method, "\"."))
    }
    list(
        fdr = fdr,
        n_perm = n_perm,
        alpha = check_fraction(alpha, "alpha"),
        keep = check_choice(keep, "keep", c("adjusted", "paper")),
        block = if (!is.null(block)) check_whole(block, "block", "block")
    )
}

# What is wrong with the settings is said once, and not for every window.
check_window_fits <- function(candidates, design, parts, place, test) {
    found <- list(x = parts$x[place, , drop = FALSE], y = parts$y)
    if (candidates[[1L]]$method != "kliep") {
        select_candidate(candidates, found, design, NULL)
        return(invisible())
    }
    check_reference(parts$y, candidates[[1L]]$spec, series_variables(parts$y))
    features <- candidates[[1L]]$spec$features
    all <- list(x = parts$x, y = parts$y, variables = series_variables(parts$x))
    notice_periods(all, features, rbind(scale(parts$x), scale(parts$y)))
    samples <- as_samples(found, features)
    if (!is.null(test$fdr)) {
        check_periods(samples, features, test$block)
        check_folds(design$folds, nrow(samples$x), nrow(samples$y))
    } else if (test$n_perm > 0) {
        units <- check_units(test$block, samples, design$folds)
        check_n_perm(test$n_perm, units$n_x, units$n_y, design$alike)
    } else {
        check_folds(design$folds, nrow(samples$x), nrow(samples$y))
    }
    prepare_candidates(candidates, found)
}

# No window can be standardised as the reference where that does not vary.
check_reference <- function(values, spec, variables) {
    how <- spec$standardize
    if (is.null(how)) how <- spec$features$standardize
    constant <- is_constant(values)
    if (how != "within" || !any(constant)) return(invisible())
    stop_kliep(
        "constant",
        paste0(count_of(sum(constant), "variable"),
               if (sum(constant) == 1L) " does" else " do",
               " not vary in the reference: ",
               name_some(variables[constant]), "."),
        hint = paste("Lengthen the reference, leave the variable out, or use",
                     "`standardize = \"none\"`.")
    )
}

# What was found in the window with the given rows.
fit_window <- function(rows, values, reference, candidates, design, test) {
    found <- list(x = values[rows, , drop = FALSE], y = reference)
    # The windows have a progress of their own.
    progressr::without_progress(
        if (!is.null(test$fdr)) {
            contrast_window(found, candidates, design, test)
        } else if (test$n_perm > 0) {
            test_window(found, candidates, design, test)
        } else {
            select_window(found, candidates, design)
        }
    )
}

contrast_window <- function(found, candidates, design, test) {
    selection <- select_candidate(candidates, found, design, NULL)
    tests <- test_periods(found, candidates[[1L]]$spec, test)
    window_result(selection, tests$edges, p_value = tests$global)
}

select_window <- function(found, candidates, design) {
    selection <- select_candidate(candidates, found, design, NULL)
    window_result(selection, edges(selection)[c("from", "to", "weight")])
}

test_window <- function(found, candidates, design, test) {
    specs <- lapply(candidates, `[[`, "spec")
    names(specs) <- vapply(candidates, `[[`, "", "label")
    result <- do.call(kliep_test, c(
        list(found$x, found$y, specs), design[c("folds", "rule")],
        test[c("n_perm", "alpha", "keep")],
        list(block = test$block, progress = FALSE)
    ), quote = TRUE)
    found <- edges(result)
    found <- found[order(-abs(found$weight)), ]
    window_result(result$selection, found[c("from", "to", "weight", "p_value",
                                            "p_adjusted")],
                  p_value = result$global$p_value)
}

# Only what is the same on every machine.
window_result <- function(selection, found, p_value = NULL) {
    row <- selection$scores[selection$scores$selected, ]
    fit <- selection$fit
    fit$diagnostics$seconds <- NA_real_
    fit$call <- NULL
    rownames(found) <- NULL
    list(lambda2 = row$lambda2, score = row$score, p_value = p_value,
         edges = found, fit = fit)
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_windows <- function(done, places, parts, test, candidates, call) {
    values <- adjust_windows(done$values, test$fdr)
    fits <- lapply(values, function(value) {
        if (is.null(value)) return(NULL)
        value$fit$spec["control"] <- list(candidates[[1L]]$spec$control)
        value$fit
    })
    tested <- !is.null(test$fdr) || test$n_perm > 0
    windows <- window_table(values, places, parts$time, tested)
    structure(
        class = "kliep_windows",
        list(
            windows = windows,
            edges = window_edges(values, windows, test),
            fits = fits,
            reference = parts$reference,
            variables = series_variables(parts$x),
            widths = parts$widths,
            method = candidates[[1L]]$method,
            n_perm = test$n_perm,
            alpha = test$alpha,
            keep = test$keep,
            block = test$block,
            fdr = test$fdr,
            failures = done$failures,
            call = call
        )
    )
}

series_variables <- function(values) {
    if (is.null(colnames(values))) number_variables(ncol(values)) else
        colnames(values)
}

window_table <- function(values, places, time, tested) {
    number <- function(name) {
        vapply(values, function(value) {
            if (is.null(value)) NA_real_ else value[[name]]
        }, 1)
    }
    table <- data.frame(
        window = seq_along(places),
        start = time[vapply(places, min, 1L)],
        end = time[vapply(places, max, 1L)],
        n = lengths(places),
        lambda2 = number("lambda2"),
        score = number("score"),
        n_edges = vapply(values, function(value) {
            if (is.null(value)) NA_integer_ else nrow(value$edges)
        }, 1L)
    )
    if (tested) table$p_value <- number("p_value")
    table
}

window_edges <- function(values, windows, test) {
    none <- data.frame(from = character(), to = character(),
                       weight = numeric())
    if (!is.null(test$fdr)) {
        none$se <- none$p_value <- none$q_value <- numeric()
    } else if (test$n_perm > 0) {
        none$p_value <- none$p_adjusted <- numeric()
    }
    found <- do.call(rbind, c(list(none), lapply(values, `[[`, "edges")))
    at <- rep(seq_along(values), vapply(values, function(value) {
        if (is.null(value)) 0L else nrow(value$edges)
    }, 1L))
    table <- cbind(windows[at, c("window", "start", "end")], found)
    rownames(table) <- NULL
    table
}

# ---- methods ---------------------------------------------------------------

#' When each edge appears
#'
#' Lists in which windows each edge was found.
#'
#' @param object The result of [kliep_windows()].
#' @param ... Must be empty.
#' @return A data frame of class `summary.kliep_windows` with one row for each
#'   edge that is found in any window, first found first: `from`, `to`, `first`
#'   and `last` (the numbers of the first and the last window with it),
#'   `appears` (the `start` of the first one), `windows` (how many have it) and
#'   `weight`, that of the window where it is largest; with `fdr` also
#'   `q_value`, the smallest of these windows.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_keywords(times = 600)
#' summary(kliep_windows(log1p(pair$x), log1p(pair$y), width = 150,
#'                       nlambda = 10))
summary.kliep_windows <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    table <- object$edges
    key <- edge_text(table)
    key <- factor(key, unique(key))
    rows <- unname(split(seq_len(nrow(table)), key))
    pick <- function(choose) {
        vapply(rows, function(at) at[choose(at)], 1L)
    }
    first <- pick(function(at) which.min(table$window[at]))
    last <- pick(function(at) which.max(table$window[at]))
    strongest <- pick(function(at) which.max(abs(table$weight[at])))
    found <- data.frame(
        table[first, c("from", "to")],
        first = table$window[first],
        last = table$window[last],
        appears = table$start[first],
        windows = lengths(rows),
        weight = table$weight[strongest]
    )
    if (!is.null(table$q_value)) {
        found$q_value <- vapply(rows, function(at) min(table$q_value[at]), 1)
    }
    found <- found[order(found$first, -found$windows, -abs(found$weight)), ]
    rownames(found) <- NULL
    structure(found, class = c("summary.kliep_windows", "data.frame"),
              n_windows = nrow(object$windows), span = windows_span(object))
}

#' @export
print.summary.kliep_windows <- function(x, most = 20L, ...) {
    cat(count_of(nrow(x), "edge"), " in ",
        count_of(attr(x, "n_windows"), "window"),
        if (nrow(x) > 0L) ", first found first:", "\n", sep = "")
    if (nrow(x) > 0L) {
        shown <- utils::head(as.data.frame(unclass(x)), most)
        shown$appears <- time_text(shown$appears, attr(x, "span"))
        print(shown, digits = 3L, row.names = FALSE)
    }
    if (nrow(x) > most) cat("... and ", nrow(x) - most, " more\n", sep = "")
    invisible(x)
}

windows_span <- function(x) c(min(x$windows$start), max(x$windows$end))

#' @export
format.kliep_windows <- function(x, ...) {
    reference <- x$reference
    n <- unique(range(x$windows$n))
    text <- function(time) time_text(time, windows_span(x))
    c(
        paste0("<kliep_windows> ", count_of(nrow(x$windows), "window"), " of ",
               paste(n, collapse = " to "), " observations of ",
               count_of(length(x$variables), "variable")),
        paste0("  windows    from ", paste(text(c(
            x$windows$start[1L], x$windows$end[nrow(x$windows)]
        )), collapse = " to ")),
        paste0("  reference  ", count_of(reference$n, "observation"),
               if (!is.null(reference$start))
                   paste0(", from ", paste(text(c(
                       reference$start, reference$end
                   )), collapse = " to "))),
        if (!is.null(x$widths))
            paste0("  width      ", format(x$widths$width[x$widths$chosen]),
                   ", the best of ", nrow(x$widths), " in predicting"),
        if (x$method != "kliep") paste0("  method     ", x$method),
        if (!is.null(x$fdr))
            paste0("  reported   at a false discovery rate of ", format(x$fdr),
                   " over all windows")
        else if (x$n_perm > 0)
            paste0("  kept       by ", count_of(x$n_perm, "shuffle"),
                   " of each window, alpha = ", format(x$alpha),
                   if (x$keep == "paper") ", by the paper's rule"),
        paste0("  found      ", count_of(nrow(unique(x$edges[c("from", "to")])),
                                         "edge"), " in ",
               sum(x$windows$n_edges > 0, na.rm = TRUE), " of ",
               count_of(nrow(x$windows), "window")),
        if (nrow(x$failures) > 0L)
            paste0("  failed     ", count_of(nrow(x$failures), "window"))
    )
}

#' @export
print.kliep_windows <- function(x, most = 15L, ...) {
    cat(format(x), "", sep = "\n")
    shown <- utils::head(x$windows, most)
    for (part in c("start", "end")) {
        shown[[part]] <- time_text(shown[[part]], windows_span(x))
    }
    print(shown, digits = 3L, row.names = FALSE)
    left <- nrow(x$windows) - most
    if (left > 0L) cat("... and ", left, " more: $windows\n", sep = "")
    cat("\nNext: edges(), summary(), plot()\n")
    invisible(x)
}
