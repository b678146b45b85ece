# What was found as data frames that other packages know how to read, by the
# names that broom uses: `estimate`, `std.error`, `p.value`, ...

#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' The edges as a tidy table
#'
#' Returns the edges in the form that packages around \pkg{broom} read: one row
#' for each edge, with broom's column names where it has them.
#'
#' @param x A `change_path`, or the result of [kliep_select()], [kliep_test()],
#'   [kliep_stability()], [kliep_infer()], [kliep_auto()], [kliep_debias()],
#'   [kliep_groups()], [kliep_by()], [kliep_windows()] or [kliep_time()].
#' @param lambda2 For a path, one value on it; `NULL` is all of them. For a
#'   selection, `NULL` is what was chosen.
#' @param level The level of the intervals; by default that of the
#'   inference.
#' @param ... Must be empty.
#' @return A data frame that begins with `term` (`"from:to"`), `from`, `to` and
#'   `estimate`, the weight of the edge as in [edges()]. Then,
#'   * for a path, `step` and `lambda2`: one row for each step and each edge
#'     that is detected there;
#'   * for a selection, `enters`: one row for each edge that is detected at
#'     the chosen `lambda2`;
#'   * for a test, `enters`, `shuffles`, `p.value`, `adj.p.value`, `paper` and
#'     `kept`: all edges detected in the data, whether kept or not;
#'   * for a stability selection, `probability`, `simultaneous` and `kept`: all
#'     edges that any half has named;
#'   * for an inference, `std.error`, `statistic`, `p.value`, `adj.p.value` (of
#'     Benjamini and Hochberg), `conf.low` and `conf.high`: all edges asked for,
#'     and by [kliep_infer()] `changed`; for [kliep_groups()] also `contrast`,
#'     one row for each contrast and edge, without `statistic`;
#'   * for windows, `window`, `start` and `end`, and `p.value` and `adj.p.value`
#'     if they were tested: one row for each window and each edge found there;
#'   * for [kliep_time()], `time`, `std.error`, `statistic`, `adj.p.value` (for
#'     all times of an edge), `conf.low`, `conf.high` and `changing`: one row
#'     for each edge that is reported and each time.
#' @seealso [`glance()`][glance.change_path] for one row about the whole.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y, nlambda = 15)
#' head(tidy(path))
#' glance(path)
tidy.change_path <- function(x, lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "tidy")
    steps <- if (is.null(lambda2)) fitted_steps(x) else find_step(x, lambda2)
    found <- edge_weights(x, steps)
    found <- found[order(found$step, -abs(found$weight)), ]
    tidy_frame(x$variables[found$from], x$variables[found$to], found$weight,
               step = found$step, lambda2 = x$lambda2[found$step])
}

tidy_frame <- function(from, to, estimate, ...) {
    data.frame(term = paste(from, to, sep = ":"), from = from, to = to,
               estimate = estimate, ...)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_select <- function(x, lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "tidy")
    graph <- change_graph(x, lambda2)
    edges <- graph$edges
    tidy_frame(graph$variables[edges$from], graph$variables[edges$to],
               edges$weight, enters = edges$enters)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_test <- function(x, ...) {
    check_dots(list(...), names(formals()), "tidy")
    table <- x$edges
    tidy_frame(table$from, table$to, table$weight, enters = table$enters,
               shuffles = table$shuffles, p.value = table$p_value,
               adj.p.value = table$p_adjusted, paper = table$paper,
               kept = table$kept)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_stability <- function(x, ...) {
    check_dots(list(...), names(formals()), "tidy")
    table <- x$edges
    tidy_frame(table$from, table$to, table$weight,
               probability = table$probability,
               simultaneous = table$simultaneous, kept = table$kept)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_debias <- function(x, level = x$level, ...) {
    check_dots(list(...), names(formals()), "tidy")
    level <- check_fraction(level, "level")
    table <- x$estimates
    both <- interval_columns(table$estimate, table$se, level, NULL,
                             "pointwise")
    tidy_frame(table$from, table$to, table$estimate, std.error = table$se,
               statistic = table$estimate / table$se,
               p.value = table$p_value, adj.p.value = table$q_value,
               conf.low = both$lower, conf.high = both$upper)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_windows <- function(x, ...) {
    check_dots(list(...), names(formals()), "tidy")
    table <- x$edges
    tidied <- tidy_frame(table$from, table$to, table$weight,
                         table[c("window", "start", "end")])
    if (!is.null(x$fdr)) {
        tidied$std.error <- table$se
        tidied$p.value <- table$p_value
        tidied$adj.p.value <- table$q_value
    } else if (x$n_perm > 0) {
        tidied$p.value <- table$p_value
        tidied$adj.p.value <- table$p_adjusted
    }
    tidied
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_infer <- function(x, level = x$level, ...) {
    check_dots(list(...), names(formals()), "tidy")
    limits <- unname(confint(x, level = level))
    table <- x$estimates
    tidy_frame(table$from, table$to, table$estimate, std.error = table$se,
               statistic = table$z, p.value = table$p_value,
               adj.p.value = table$q_value, conf.low = limits[, 1L],
               conf.high = limits[, 2L], changed = table$changed)
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_groups <- function(x, ...) {
    check_dots(list(...), names(formals()), "tidy")
    table <- x$estimates
    data.frame(contrast = table$contrast, tidy_frame(
        table$from, table$to, table$estimate, std.error = table$se,
        p.value = table$p_value, adj.p.value = table$q_value,
        conf.low = table$lower, conf.high = table$upper,
        changed = table$changed
    ))
}

# ---- one row ---------------------------------------------------------------

#' A fit in one row
#'
#' Summarises a result in one row, which can be stacked with those of others.
#'
#' @inheritParams tidy.change_path
#' @return A data frame with one row. All have `method`, `n_x` and `n_y` (the
#'   numbers of observations), `n_variables` and `n_edges`, the number of edges
#'   that [edges()] gives. Further,
#'   * for a path or a change, `n_factors`, `lambda1`, `n_lambda2`,
#'     `lambda2_max`, `lambda2_min` (the smallest with a fit), `converged`
#'     (whether all of them are), the largest `kkt` and `gap`, the smallest
#'     `effective_size` of the weights, and `seconds`;
#'   * for a selection, `criterion`, `rule`, `candidate`, `lambda1`, `lambda2`,
#'     `score`, `se`, `kl`, `converged` and `effective_size` of what was chosen;
#'   * for a test, `lambda2`, `score`, `statistic` and `p.value` of the test of
#'     no change at all (`statistic` is the largest of all edges, and `NA` where
#'     that test goes by `score`), `n_detected`, `n_perm`, `alpha`, `adjust` and
#'     `keep`;
#'   * for a stability selection, `q`, `threshold`, `expected_false`, `n_named`
#'     and `n_subsamples`;
#'   * for [kliep_infer()], `fdr`, `level`, `statistic` and `p.value` of the
#'     test of no change at all, `n_support` and `n_perm`;
#'   * for [kliep_groups()] only `n_groups`, `n_contrasts`, `n_variables`,
#'     `n_edges` (that differ between any groups), `n_changed` (edges and
#'     contrasts), `fdr`, `level` and `p.value` of no difference at all;
#'   * for [kliep_debias()], `estimator`, `level`, `n_estimated`, `n_failed`,
#'     `statistic` and `p.value` of the studentised test of no change at all
#'     (`NA` without bootstrap draws), and `n_boot`;
#'   * for windows, where `n_x` is the size of the smallest and `n_edges` counts
#'     edges found in any, `n_windows`, `n_changed` (those with edges),
#'     `n_failed` and `n_perm`.
#' @seealso [`tidy()`][tidy.change_path] for a row for each edge.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' glance(kliep_path(pair$x, pair$y))
#' glance(kliep_select(pair$x, pair$y, nlambda = 15))
glance.change_path <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    steps <- fitted_steps(x)
    rows <- x$diagnostics[steps, ]
    lambda2 <- if (length(steps) > 0L) range(x$lambda2[steps]) else
        c(NA_real_, NA_real_)
    data.frame(
        glance_head(x, if (length(steps) > 0L) nrow(edges(x)) else
            NA_integer_),
        n_factors = n_factors(x),
        lambda1 = if (is.null(x$spec$lambda1)) NA_real_ else x$spec$lambda1,
        n_lambda2 = length(steps),
        lambda2_max = lambda2[2L],
        lambda2_min = lambda2[1L],
        converged = all(is_converged(x$diagnostics$status)),
        kkt = largest_of(rows$kkt),
        gap = largest_of(rows$gap),
        effective_size = -largest_of(-rows$effective_size),
        seconds = sum(rows$seconds)
    )
}

glance_head <- function(path, n_edges) {
    data.frame(
        method = if (is.null(path$method)) "kliep" else path$method,
        n_x = path$n[["x"]], n_y = path$n[["y"]],
        n_variables = length(path$variables), n_edges = n_edges
    )
}

# NA where nothing is known.
largest_of <- function(values) {
    values <- values[!is.na(values)]
    if (length(values) == 0L) NA_real_ else max(values)
}

#' @rdname glance.change_path
#' @export
glance.kliep_select <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    row <- x$scores[x$scores$selected, ]
    fit <- x$fit$diagnostics
    data.frame(
        glance_head(x$path, row$n_edges),
        criterion = x$criterion, rule = x$rule,
        row[c("candidate", "lambda1", "lambda2", "score", "se", "kl")],
        converged = is_converged(fit$status),
        effective_size = fit$effective_size, row.names = NULL
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_test <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        glance_head(path_of(x), sum(x$edges$kept)),
        lambda2 = x$selection$fit$lambda2,
        score = x$global$score, statistic = x$global$largest,
        p.value = x$global$p_value,
        n_detected = nrow(x$edges), n_perm = x$n_perm, alpha = x$alpha,
        adjust = x$adjust, keep = x$keep
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_stability <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        glance_head(x$path, sum(x$edges$kept)),
        q = x$q, threshold = x$threshold, expected_false = x$expected_false,
        n_named = nrow(x$edges), n_subsamples = x$n_subsamples
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_infer <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        glance_head(x, sum(x$estimates$changed)), fdr = x$fdr,
        level = x$level, statistic = x$global$largest,
        p.value = x$global$p_value, n_support = nrow(x$support),
        n_perm = x$n_perm
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_groups <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        n_groups = nrow(x$groups), n_contrasts = nrow(x$contrasts),
        n_variables = length(x$variables), n_edges = sum(x$omnibus$changed),
        n_changed = sum(x$estimates$changed), fdr = x$fdr, level = x$level,
        p.value = x$global
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_debias <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    global <- x$global[x$global$type == "studentized", ]
    known <- !is.null(x$global)
    estimated <- is_estimated(x$diagnostics$status)
    data.frame(
        glance_head(x, nrow(edges(x))),
        estimator = x$settings$estimator, level = x$level,
        n_estimated = sum(estimated), n_failed = sum(!estimated),
        statistic = if (known) global$statistic else NA_real_,
        p.value = if (known) global$p_value else NA_real_,
        n_boot = x$settings$n_boot
    )
}

#' @rdname glance.change_path
#' @export
glance.kliep_windows <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        method = x$method, n_x = min(x$windows$n), n_y = x$reference$n,
        n_variables = length(x$variables),
        n_edges = nrow(unique(x$edges[c("from", "to")])),
        n_windows = nrow(x$windows),
        n_changed = sum(x$windows$n_edges > 0, na.rm = TRUE),
        n_failed = nrow(x$failures), n_perm = x$n_perm
    )
}
