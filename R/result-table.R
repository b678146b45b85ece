# Every result as a plain table of edges, and as a matrix of their weights.

#' The edges of a result as a data frame
#'
#' Returns a table of all edges that a result has estimates or tests of, whether
#' it reports them or not; [edges()] returns those that it reports.
#'
#' @param x The result of [kliep_path()] or another path, [kliep_select()],
#'   [kliep_test()], [kliep_stability()], [kliep_debias()] or [kliep_windows()];
#'   or a [pr_curve()] or [pr_average()], whose points are given.
#' @param row.names,optional Not used.
#' @param ... Must be empty.
#' @return A data frame: of a path, one row for each step and each edge that is
#'   detected there, with `step`, `lambda2`, `from`, `to` and `weight`; of a
#'   selection, the edges that are detected at the chosen `lambda2`; of a test
#'   and of stability selection all edges that were detected or named, with
#'   `kept`; of an inference all edges that were estimated; of windows all edges
#'   that were found in any.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y, nlambda = 15)
#' head(as.data.frame(path))
#' head(as.data.frame(kliep_debias(path)))
as.data.frame.change_path <- function(
    x, row.names = NULL, optional = FALSE, ... # nolint: object_name_linter.
) {
    check_dots(list(...), names(formals()), "as.data.frame")
    if (is_change(x)) return(edges(x))
    found <- edge_weights(x)
    found <- found[order(found$step, -abs(found$weight)), ]
    data.frame(step = found$step, lambda2 = x$lambda2[found$step],
               from = x$variables[found$from], to = x$variables[found$to],
               weight = found$weight)
}

# A method that hands out one table of the result.
table_method <- function(table) {
    function(
        x, row.names = NULL, optional = FALSE, ... # nolint: object_name_linter.
    ) {
        check_dots(list(...), c("x", "row.names", "optional"), "as.data.frame")
        table(x)
    }
}

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_select <- table_method(function(x) edges(x))

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_test <- table_method(function(x) x$edges)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_stability <- table_method(function(x) x$edges)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_debias <- table_method(function(x) x$estimates)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_infer <- table_method(function(x) x$estimates)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_groups <- table_method(function(x) x$estimates)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_windows <- table_method(function(x) x$edges)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.pr_curve <- table_method(function(x) x$curve)

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.pr_average <- table_method(function(x) x$curve)

# ---- matrices ----------------------------------------------------------------

#' @rdname coef.change_path
#' @export
coef.kliep_select <- function(object, lambda2 = NULL, ...) {
    stats::coef(chosen_part(object, lambda2), lambda2 = lambda2, ...)
}

#' @rdname coef.change_path
#' @export
coef.kliep_test <- function(object, ...) {
    check_dots(list(...), names(formals()), "coef")
    weight_matrix(edges(object), path_of(object)$variables)
}

#' @rdname coef.change_path
#' @export
coef.kliep_stability <- coef.kliep_test

#' @rdname coef.change_path
#' @export
coef.kliep_debias <- function(object, ...) {
    check_dots(list(...), names(formals()), "coef")
    found <- object$estimates
    found$weight <- found$estimate
    weight_matrix(found, object$variables)
}

#' @rdname coef.change_path
#' @export
coef.kliep_infer <- coef.kliep_debias

#' @rdname coef.change_path
#' @export
coef.kliep_groups <- function(object, ...) {
    check_dots(list(...), names(formals()), "coef")
    lapply(object$fits, coef)
}

#' @rdname coef.change_path
#' @param window Which windows, by number; `NULL` for all.
#' @export
coef.kliep_windows <- function(object, window = NULL, ...) {
    check_dots(list(...), names(formals()), "coef")
    found <- edges(object, window = window)
    numbers <- if (is.null(window)) object$windows$window else window
    matrices <- lapply(numbers, function(number) {
        weight_matrix(found[found$window == number, ], object$variables)
    })
    if (length(matrices) == 1L) return(matrices[[1L]])
    stats::setNames(matrices, numbers)
}

# Edges by name as a sparse symmetric matrix.
weight_matrix <- function(found, variables) {
    d <- length(variables)
    ends <- cbind(match(found$from, variables), match(found$to, variables))
    Matrix::sparseMatrix(
        i = pmin(ends[, 1L], ends[, 2L]), j = pmax(ends[, 1L], ends[, 2L]),
        x = found$weight, dims = c(d, d), symmetric = TRUE,
        dimnames = list(variables, variables)
    )
}
