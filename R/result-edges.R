# The detected edges of whatever detects some.

#' The detected edges
#'
#' The edges along which the two networks differ, strongest first.
#'
#' @section Ranking:
#' Left alone, `edges()` lists what is detected at `lambda2`, by absolute
#' weight. `rank = "weight"` does the same, but where no `lambda2` is given for
#' a path, at one at which weights are stable: for [feat_gaussian()] with
#' standardised variables the universal level
#' \deqn{0.6 \sqrt{2 \log \frac{d (d - 1)}{2} \left(\frac{1}{n_P} +
#'     \frac{1}{n_Q}\right)},}{0.6 sqrt(2 log(d (d - 1) / 2) (1 / n_P +
#'     1 / n_Q)),}
#' twice that for `direction = "symmetric"`, whose loss is the sum of two, and
#' of a [kliep_select()] the value that was chosen. Other paths have no such
#' value, and the smallest with a fit is taken. `rank = "entry"` lists every
#' edge that is detected at `lambda2` or above, in the order in which they
#' enter, with the weight that they enter with.
#'
#' @inheritParams coef.change_path
#' @param rank How to order the edges, and which to list: see the section
#'   below.
#' @return A data frame with one row for each detected edge: `from`, `to` and
#'   `weight`, the coefficient where an edge has one (positive where the
#'   interaction is higher in `x`) and the norm of its coefficients where it
#'   has more. For a path also `enters`, the largest `lambda2` of the path at
#'   which the edge is detected. Edges of equal weight stay in the order of
#'   the variables. No edges give a data frame without rows.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 3)
#' path <- kliep_path(pair$x, pair$y)
#' edges(path, lambda2 = path$lambda2[20])
#' edges(path, rank = "weight")
#' edges(path, rank = "entry")
edges <- function(object, lambda2 = NULL, ...) {
    UseMethod("edges")
}

#' @export
edges.default <- function(object, lambda2 = NULL, ...) {
    stop_kliep(
        "type",
        paste0("`edges()` needs a change or a path of changes: got ",
               describe(object), "."),
        hint = "`kliep_change()` and `kliep_path()` make them."
    )
}

#' @export
edges.kliep_select <- function(object, lambda2 = NULL, rank = NULL, ...) {
    # The order of entry is that of the path, down to what was chosen.
    if (identical(rank, "entry") && is.null(lambda2)) {
        lambda2 <- object$fit$lambda2
    }
    edges(chosen_part(object, lambda2), lambda2 = lambda2, rank = rank, ...)
}

#' @rdname edges
#' @export
edges.change_path <- function(object, lambda2 = NULL, rank = NULL, ...) {
    check_dots(list(...), names(formals()), "edges")
    if (!is.null(rank)) rank <- check_choice(rank, "rank", c("weight", "entry"))
    step <- if (identical(rank, "weight") && is.null(lambda2))
        stable_step(object) else find_step(object, lambda2)
    found <- if (identical(rank, "entry")) entering_edges(object, step) else
        edge_weights(object, step)
    if (!identical(rank, "entry")) {
        found <- found[order(-abs(found$weight), found$from, found$to), ]
    }
    table <- data.frame(
        from = object$variables[found$from],
        to = object$variables[found$to],
        weight = found$weight
    )
    if (!is_change(object)) table$enters <- entry_lambda2(object, found)
    table
}

#' @rdname edges
#' @export
edges.kliep_test <- function(object, lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "edges")
    refuse_lambda2(lambda2, "selection", "A test")
    kept <- object$edges[object$edges$kept, ]
    kept[c("paper", "kept")] <- NULL
    rownames(kept) <- NULL
    kept
}

#' @rdname edges
#' @export
edges.kliep_stability <- function(object, lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "edges")
    refuse_lambda2(lambda2, "path", "Stability selection")
    kept <- object$edges[object$edges$kept, ]
    kept$kept <- NULL
    rownames(kept) <- NULL
    kept
}

#' The edges that have changed, by a test
#'
#' The edges of an inference for which "no change" is rejected, smallest
#' p-value first.
#'
#' @param object The result of [kliep_infer()].
#' @param rule `"BH"` and `"BY"` control the expected share of false ones among
#'   them (the false discovery rate) at \eqn{1 - \mathtt{level}}{1 - level};
#'   `"plain"` and `"studentized"` the probability of any false one, by the
#'   intervals that hold for all edges at once; `"pointwise"` looks at every
#'   edge by itself.
#' @param level The confidence level; by default that of the inference.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each edge: `from`, `to`, `weight` (the
#'   estimate), `se`, `lower` and `upper` (of the interval that belongs to the
#'   rule, point-wise for `"BH"` and `"BY"`), `p_value`, and for these two
#'   `adjusted`.
#' @export
#' @examples
#' set.seed(1)
#' theta_x <- ising_chain(8, coupling = 0.4)
#' theta_y <- ising_change(theta_x, n_changed = 2, change = -0.6)
#' pair <- sim_ising(theta_x, theta_y, n = 400)
#' result <- kliep_infer(pair$x, pair$y, feat_ising())
#' edges(result, rule = "BY")
#' edges(result, rule = "studentized")
edges.kliep_inference <- function(object, lambda2 = NULL,
                                  rule = c("BH", "BY", "studentized", "plain",
                                           "pointwise"),
                                  level = object$level, ...) {
    check_dots(list(...), names(formals()), "edges")
    rule <- check_choice(rule, "rule", c("BH", "BY", "studentized", "plain",
                                         "pointwise"))
    level <- check_fraction(level, "level")
    adjusts <- rule %in% c("BH", "BY")
    type <- if (adjusts) "pointwise" else rule
    check_draws(object, type)
    table <- object$estimates
    both <- interval_columns(table$estimate, table$se, level, object$maxima,
                             type)
    found <- data.frame(
        table[c("from", "to")], weight = table$estimate, se = table$se, both,
        p_value = table$p_value
    )
    if (adjusts) found$adjusted <- stats::p.adjust(table$p_value, rule)
    rejected <- if (adjusts) found$adjusted <= 1 - level else
        both$lower > 0 | both$upper < 0
    found <- found[which(rejected), ]
    found <- found[order(found$p_value), ]
    rownames(found) <- NULL
    found
}

#' The edges that have changed, window by window
#'
#' @param object The result of [kliep_windows()].
#' @param lambda2 Must be `NULL`: every window has its own.
#' @param window The numbers of the windows wanted; `NULL` for all.
#' @param ... Must be empty.
#' @return A data frame with one row for each window and edge, strongest first
#'   in each window: `window`, `start`, `end`, `from`, `to` and `weight`, and
#'   for tested windows `p_value` and `p_adjusted`.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_keywords(times = 600)
#' found <- kliep_windows(log1p(pair$x), log1p(pair$y), width = 150,
#'                        nlambda = 10)
#' edges(found)
#' edges(found, window = 2)
edges.kliep_windows <- function(object, lambda2 = NULL, window = NULL, ...) {
    check_dots(list(...), names(formals()), "edges")
    refuse_lambda2(lambda2, "fits[[window]]", "Every window")
    if (is.null(window)) return(object$edges)
    unknown <- setdiff(window, object$windows$window)
    if (length(unknown) > 0L) {
        stop_kliep("argument",
                   paste0("There are ", count_of(nrow(object$windows),
                                                 "window"),
                          ": got `window` ", name_some(unknown), "."))
    }
    table <- object$edges[object$edges$window %in% window, ]
    rownames(table) <- NULL
    table
}

# The first of the edges that are kept, and how many more there are.
print_kept <- function(kept, most) {
    if (nrow(kept) > 0L) {
        cat("\n")
        print(utils::head(kept, most), digits = 3L, row.names = FALSE)
    }
    left <- nrow(kept) - most
    if (left > 0L) cat("... and ", left, " more\n", sep = "")
}
