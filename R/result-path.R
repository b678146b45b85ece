# What every method of change detection returns: estimates of the change over
# a decreasing grid of penalties, kept as the list of non-zero coefficients.

# The only place the classes are set. `fit` is the list that comes from Rust
# (with `margins` where the features are of ranks, and `recurrence` where they
# are of polynomials),
# `problem` has the method, the variables and their coding, `extra` what only
# this method has.
new_change_path <- function(fit, spec, problem, n, call, extra = list()) {
    per_lambda2 <- c("lambda2", "objective", "gap", "kkt", "n_detected",
                     "n_edges", "effective_size", "iterations", "status",
                     "seconds")
    # How many convex fits, where there may be more than one.
    if (identical(spec$penalty, "mcp") || isTRUE(spec$robust > 0)) {
        per_lambda2 <- append(per_lambda2, "fits", match("iterations",
                                                         per_lambda2))
    }
    per_coefficient <- c("step", "from", "to", "term", "value")
    # Rust has no NA for numbers, only NaN.
    unknown <- vapply(fit, function(part) is.double(part) && anyNA(part), NA)
    fit[unknown] <- lapply(fit[unknown], function(part) {
        replace(part, is.nan(part), NA)
    })
    # A method that weights no observations.
    if (is.null(fit$effective_size)) {
        fit$effective_size <- rep(NA_real_, length(fit$lambda2))
    }
    coefficients <- quick_frame(fit[per_coefficient])
    fit$n_edges <- edges_by_step(coefficients, spec$features,
                                 length(fit$lambda2))
    structure(
        class = c(paste0(problem$method, "_path"), "change_path"),
        c(list(
            method = problem$method,
            spec = spec,
            lambda2 = fit$lambda2,
            lambda_max = fit$lambda_max,
            diagnostics = quick_frame(fit[per_lambda2]),
            coefficients = coefficients,
            log_normalizer = fit$log_normalizer,
            mean_score = fit$mean_score,
            passes = fit$passes,
            center = list(x = fit$center_x, y = fit$center_y),
            scale = list(x = fit$scale_x, y = fit$scale_y),
            variables = problem$variables,
            coding = problem$coding,
            n = n,
            call = call
        ), fit[intersect(c("margins", "recurrence"), names(fit))], extra)
    )
}

# As as.data.frame(), which takes longer than a small fit, for columns of one
# length without attributes.
quick_frame <- function(columns) {
    structure(columns, class = "data.frame",
              row.names = .set_row_names(length(columns[[1L]])))
}

# A fit at one lambda2 is a path of length one.
as_change <- function(path) {
    class(path) <- c(paste0(path$method, "_change"), "change_path")
    path
}

# One step of a path as a fit of its own. The samples stay with the path.
change_at <- function(path, step) {
    path$samples <- NULL
    as_change(path_at(path, step))
}

# Some steps of a path, in its order, as a path.
path_at <- function(path, steps) {
    path$coefficients <- rows_at(path$coefficients, steps)
    path$diagnostics <- path$diagnostics[steps, ]
    rownames(path$diagnostics) <- NULL
    for (part in c("lambda2", "log_normalizer", "mean_score")) {
        path[[part]] <- path[[part]][steps]
    }
    baseline_at(path, steps)
}

# The rows of a table that belong to these steps, numbered from one.
rows_at <- function(table, steps) {
    rows <- table[table$step %in% steps, ]
    rows$step <- match(rows$step, steps)
    rownames(rows) <- NULL
    rows
}

is_change <- function(object) any(endsWith(class(object), "_change"))

# ---- which step of the path ------------------------------------------------

# NULL is the one fit there is. A value off the grid gives the nearest one.
find_step <- function(object, lambda2) {
    fitted <- fitted_steps(object)
    if (length(fitted) == 0L) stop_no_fit(object, object$lambda2[1L])
    if (is.null(lambda2)) {
        if (length(object$lambda2) == 1L) return(fitted)
        stop_without_lambda2(object)
    }
    check_lambda_values(lambda2, "lambda2")
    if (length(lambda2) != 1L) {
        stop_kliep("lambda", paste0("`lambda2` must be one value: got ",
                                    length(lambda2), "."),
                   hint = "Use `lapply()` over the values.")
    }
    distance <- abs(object$lambda2 - lambda2)
    step <- which.min(distance)
    if (!step %in% fitted) stop_no_fit(object, lambda2)
    if (distance[step] > 1e-6 * max(lambda2, object$lambda2[step])) {
        inform_kliep("lambda", paste0(
            "lambda2 = ", format(lambda2, digits = 4L),
            " is not on the path; taking the nearest, ",
            format(object$lambda2[step], digits = 4L), "."
        ))
    }
    step
}

stop_without_lambda2 <- function(object) {
    values <- format(range(object$lambda2), digits = 3L, trim = TRUE)
    stop_kliep(
        "lambda",
        paste0("A path has a fit for each of its ", length(object$lambda2),
               " values of `lambda2` (", values[1L], " to ", values[2L],
               "), and none is better by itself."),
        hint = paste("Give `lambda2`, or choose one with `kliep_select()`;",
                     "`edges()` ranks the edges of the whole path.")
    )
}

stop_no_fit <- function(object, lambda2) {
    stop_kliep(
        "unbounded",
        paste0("There is no fit at lambda2 = ", format(lambda2, digits = 4L),
               ": the objective has no minimum there."),
        hint = paste0("Take a larger `lambda2`",
                      if (!is.null(object$spec$lambda1))
                          ", or refit with `lambda1 > 0`", ".")
    )
}

# ---- factors ---------------------------------------------------------------

# The coefficients by the pair of variables they belong to. A clique belongs
# to every pair within it.
by_pair <- function(coefficients, features) {
    if (features$kind != "cliques") return(coefficients)
    pairs <- lapply(features$sets, function(set) {
        if (length(set) == 1L) cbind(set, set) else t(utils::combn(set, 2L))
    })
    repeats <- vapply(pairs, nrow, 1L)[coefficients$from]
    at <- do.call(rbind, c(list(matrix(0L, 0L, 2L)),
                           pairs[coefficients$from]))
    rows <- coefficients[rep(seq_along(repeats), repeats), , drop = FALSE]
    rows$from <- at[, 1L]
    rows$to <- at[, 2L]
    rows
}

# Whether all coefficients of these pairs come down to one, which then gives
# its sign to the weight.
has_one_coefficient <- function(features, from, to) {
    if (features$kind == "cliques") {
        sizes <- lengths(features$shapes)[as.character(lengths(features$sets))]
        all <- data.frame(from = rep(seq_along(sizes), sizes))
        all <- by_pair(all, features)
        given <- paste(from, to)
        return(table(factor(paste(all$from, all$to), unique(given)))[given] ==
                   1L)
    }
    if (is_mixed(features)) {
        k <- unname(basis_sizes(features$columns))
        alone <- unname(single_sizes(features$columns))
        return(ifelse(from == to, alone[from], k[from] * k[to]) == 1L)
    }
    (from == to & single_size(features) == 1L) |
        (from != to & edge_size(features) == 1L)
}

# The number of detected edges at each of `steps` steps.
edges_by_step <- function(coefficients, features, steps) {
    # Most often an edge is one row, and there is nothing to look for twice.
    if (features$kind != "cliques" && all(coefficients$term == 1L)) {
        edge <- coefficients$from != coefficients$to
        return(tabulate(coefficients$step[edge], steps))
    }
    rows <- by_pair(coefficients, features)
    rows <- rows[rows$from != rows$to, c("step", "from", "to")]
    tabulate(rows$step[!duplicated(pair_keys(rows))], steps)
}

# One row for each detected factor of the given steps: step, from, to and
# weight, which is the coefficient where a factor has one and the norm of its
# coefficients where it has more. Never larger than the number of non-zeros.
factor_weights <- function(object, steps = fitted_steps(object)) {
    rows <- object$coefficients[object$coefficients$step %in% steps, ]
    rows <- by_pair(rows, object$spec$features)
    key <- pair_keys(rows)
    first <- which(!duplicated(key))
    group <- match(key, key[first])
    weight <- sqrt(as.double(rowsum(rows$value^2, group, reorder = FALSE)))
    alone <- has_one_coefficient(object$spec$features, rows$from[first],
                                 rows$to[first])
    weight[alone] <- rows$value[first][alone]
    quick_frame(list(step = rows$step[first], from = rows$from[first],
                     to = rows$to[first], weight = weight))
}

# The same for edges alone, without the variables' own factors.
edge_weights <- function(object, steps = fitted_steps(object)) {
    weights <- factor_weights(object, steps)
    weights[weights$from != weights$to, ]
}

# The number of factors: edges and variables alone, or cliques.
n_factors <- function(object) {
    n_factors_of(object$spec$features, length(object$variables))
}

# ---- methods ---------------------------------------------------------------

#' Coefficients of a change
#'
#' Returns the estimated change at one `lambda2`, as a matrix of factors or as a
#' table of coefficients.
#'
#' @param object A `change_path`, from [kliep_path()], [kliep_change()] or
#'   another method.
#' @param lambda2 One value on the path; if it is not on the grid, the nearest
#'   one is used, with a message. A fit at one `lambda2` needs none.
#' @param type `"matrix"` or `"table"`.
#' @param ... Must be empty.
#' @return For `"matrix"`, a sparse symmetric [Matrix::Matrix] with one row
#'   and column for each variable: off the diagonal the edges, on the diagonal
#'   the variables alone. An entry is the coefficient where the factor has one
#'   and the Euclidean norm of its coefficients where it has more. For
#'   `"table"`, a data frame with one row for each coefficient that is not
#'   zero: `from`, `to` (the same for a variable alone), `term` and `value`;
#'   for [feat_cliques()] the `clique` instead of `from` and `to`.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 3)
#' path <- kliep_path(pair$x, pair$y)
#' coef(path, lambda2 = path$lambda2[20])
#' coef(path, lambda2 = path$lambda2[20], type = "table")
coef.change_path <- function(object, lambda2 = NULL,
                             type = c("matrix", "table"), ...) {
    check_dots(list(...), names(formals()), "coef")
    type <- check_choice(type, "type", c("matrix", "table"))
    step <- find_step(object, lambda2)
    if (type == "table") return(coefficient_table(object, step))
    weights <- factor_weights(object, step)
    d <- length(object$variables)
    Matrix::sparseMatrix(
        i = weights$from, j = weights$to, x = weights$weight,
        dims = c(d, d), symmetric = TRUE,
        dimnames = list(object$variables, object$variables)
    )
}

coefficient_table <- function(object, step) {
    rows <- object$coefficients[object$coefficients$step == step, ]
    rows <- rows[order(rows$from, rows$to, rows$term), ]
    if (object$spec$features$kind == "cliques") {
        return(clique_table(object, rows))
    }
    data.frame(
        from = object$variables[rows$from],
        to = object$variables[rows$to],
        term = term_labels(object$spec$features, object$variables, rows$from,
                           rows$to, rows$term),
        value = rows$value
    )
}

clique_table <- function(object, rows) {
    sets <- object$spec$features$sets[rows$from]
    data.frame(
        clique = vapply(sets, function(set) {
            paste(object$variables[set], collapse = ":")
        }, ""),
        term = term_labels(object$spec$features, object$variables, rows$from,
                           rows$to, rows$term),
        value = rows$value
    )
}

# Every edge that is ever detected, once: first come, first listed, and those
# that enter together by the weight they enter with.
entering_edges <- function(object) {
    found <- edge_weights(object)
    found <- found[order(found$step, -abs(found$weight), found$from,
                         found$to), ]
    found[!duplicated(edge_key(found, length(object$variables))), ]
}

# The largest lambda2 at which each of these edges is detected.
entry_lambda2 <- function(object, found) {
    entries <- edge_entries(object)
    d <- length(object$variables)
    entries$enters[match(edge_key(found, d), edge_key(entries, d))]
}

# Every edge that is ever detected, with the largest lambda2 at which it is.
edge_entries <- function(object) {
    rows <- by_pair(object$coefficients, object$spec$features)
    rows <- rows[rows$from != rows$to, ]
    # Steps are in order, so the first row of an edge is its entry.
    if (is.unsorted(rows$step)) rows <- rows[order(rows$step), ]
    rows <- rows[!duplicated(edge_key(rows, length(object$variables))), ]
    quick_frame(list(from = rows$from, to = rows$to,
                     enters = object$lambda2[rows$step]))
}

#' Some steps of a path
#'
#' Extracts a path at some of its values of `lambda2`, in the same order.
#'
#' @param x A `change_path`.
#' @param i Which steps: numbers, negative ones to leave steps out, or one
#'   `TRUE` or `FALSE` for each. Names give the parts of the object, as of any
#'   list.
#' @return A path of the same class.
#' @name path_steps
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y, nlambda = 20)
#' path[1:5]
#' path[path$diagnostics$n_edges <= 10]
`[.change_path` <- function(x, i) {
    if (missing(i)) return(x)
    if (is.character(i)) return(unclass(x)[i])
    path_at(x, check_steps(i, length(x$lambda2)))
}

check_steps <- function(i, n) {
    known <- is.numeric(i) && !anyNA(i) && is_within(i, n) ||
        is.logical(i) && !anyNA(i) && length(i) == n
    steps <- if (known) sort(unique(seq_len(n)[i]))
    if (length(steps) > 0L) return(steps)
    stop_kliep(
        "argument",
        paste0("A path is indexed by its steps, 1 to ", n, ": got ",
               if (known) "none" else describe(i), "."),
        hint = "Such as `path[1:5]`."
    )
}

# Numbers to take, or numbers to leave out.
is_within <- function(i, n) all(abs(i) <= n) && (all(i >= 0) || all(i <= 0))

#' The number of observations
#'
#' Counts the observations of both samples.
#'
#' @param object A result of this package.
#' @param ... Must be empty.
#' @return The number of observations in both samples together; `object$n` has
#'   that of each.
#' @importFrom stats nobs
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 5, n = 100, n_changed = 2)
#' nobs(kliep_path(pair$x, pair$y, nlambda = 5))
nobs.change_path <- function(object, ...) {
    check_dots(list(...), names(formals()), "nobs")
    sum(path_of(object)$n)
}

#' @rdname nobs.change_path
#' @export
nobs.kliep_select <- nobs.change_path

#' @rdname nobs.change_path
#' @export
nobs.kliep_test <- nobs.change_path

#' @rdname nobs.change_path
#' @export
nobs.kliep_stability <- nobs.change_path

#' @rdname nobs.change_path
#' @export
nobs.kliep_debias <- nobs.change_path

#' @rdname nobs.change_path
#' @export
nobs.kliep_infer <- nobs.change_path

#' @export
format.change_path <- function(x, ...) {
    c(format_head(x), format_settings(x), format_solver(x), format_weights(x))
}

# A line where a few observations carry the fit, or some fits of a path.
format_weights <- function(x) {
    rows <- x$diagnostics[fitted_steps(x), ]
    if (is_baseline(x)) return(NULL)
    all <- weighted_rows(x)
    few <- which(few_carry(rows$effective_size, all))
    if (length(few) == 0L) return(NULL)
    size <- format(min(rows$effective_size[few]), digits = 2L)
    paste0("  weights    caution: worth ", if (!is_change(x)) "as few as ",
           size, " of ", all, " observations",
           if (!is_change(x))
               paste0(" (", count_of(length(few), "fit"), ", from lambda2 = ",
                      format(rows$lambda2[few[1L]], digits = 3L), " down)"))
}

format_head <- function(x) {
    what <- if (is_change(x)) {
        paste0("<", class(x)[1L], "> at lambda2 = ",
               format(x$lambda2, digits = 4L))
    } else {
        paste0("<", class(x)[1L], "> over ",
               count_of(length(x$lambda2), "value"), " of lambda2")
    }
    c(what, paste0(
        "  samples    x: ", x$n[["x"]], ", y: ", x$n[["y"]],
        " observations of ",
        count_of(length(x$variables), "variable"), " (",
        count_of(n_factors(x), "factor"), ")"
    ), format_conditions(x), format_design(x))
}

format_settings <- function(x) {
    if (is_baseline(x)) format_baseline(x) else format_spec(x$spec)
}

# The word the user knows first, then the certificate.
format_solver <- function(x) {
    status <- table(factor(x$diagnostics$status, unique(x$diagnostics$status)))
    counted <- if (is_change(x)) names(status) else
        paste(status, names(status))
    most <- if (is_change(x)) " " else " at most "
    fitted <- x$diagnostics[fitted_steps(x), ]
    worst <- function(column, name) {
        values <- fitted[[column]]
        if (length(values) == 0L || all(is.na(values))) return(NULL)
        paste0(name, most, format(max(values, na.rm = TRUE), digits = 2L))
    }
    parts <- c(paste(counted, collapse = ", "), worst("kkt", "KKT"),
               worst("gap", "gap"))
    paste0("  solver     ", x$spec$solver, ": ", paste(parts, collapse = ", "))
}

#' @export
print.change_path <- function(x, ...) {
    cat(format(x), "", sep = "\n")
    if (is_change(x)) {
        print_edges(x)
    } else {
        print_rows(x)
        cat("\nNext: ", judging_verb(x), " for the edges that changed, ",
            "edges() for their ranking,\n  plot()\n", sep = "")
    }
    invisible(x)
}

# What tells how many edges of this path are false.
judging_verb <- function(path) {
    if (is_baseline(path)) "kliep_select()" else "kliep_infer()"
}

# A handful of rows, evenly over the path and with both ends.
print_rows <- function(x, most = 8L) {
    columns <- c("lambda2", "n_detected", "n_edges", "status")
    steps <- seq_along(x$lambda2)
    shown <- unique(round(seq(1, length(steps), length.out = most)))
    if (length(steps) <= most) shown <- steps
    rows <- x$diagnostics[shown, columns]
    rows$lambda2 <- format(rows$lambda2, digits = 3L)
    rows <- cbind(step = shown, rows)
    print(rows, row.names = FALSE, right = TRUE)
}

print_edges <- function(x, most = 10L) {
    found <- edges(x)
    cat(count_of(nrow(found), "edge"), " detected",
        if (nrow(found) > 0L) ", strongest first:", "\n", sep = "")
    if (nrow(found) == 0L) return(invisible())
    print(utils::head(found, most), digits = 3L, row.names = FALSE)
    left <- nrow(found) - most
    if (left > 0L) cat("... and ", left, " more: edges()\n", sep = "")
}
