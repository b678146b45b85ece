# The detected edges of whatever detects some.

#' The detected edges
#'
#' Lists the edges that differ between the two networks. For a fit, a selection,
#' a test or stability selection these are the edges that it reports, strongest
#' first. A path alone is a ranking: without `lambda2`, `edges()` returns all
#' edges that are detected anywhere on it, in the order in which they enter.
#'
#' @section Which edges to report:
#' How many edges a path detects depends on `lambda2`, and at its small end most
#' of them are noise. A path by itself is a ranking: the order in which edges
#' enter. [kliep_select()] chooses a `lambda2`; [kliep_auto()], [kliep_infer()],
#' [kliep_test()] and [kliep_stability()] report edges with a bound on how many
#' of them are false.
#'
#' @inheritParams coef.change_path
#' @param lambda2 One value on the path: the edges that are detected there.
#'   `NULL` is the ranking of a path, and what was chosen of a selection.
#' @return A data frame with one row for each edge: `from`, `to` and `weight`,
#'   the coefficient where an edge has one (positive where the interaction is
#'   higher in `x`) and the norm of its coefficients where it has more; in a
#'   ranking that with which it enters. For a path also `enters`, the largest
#'   `lambda2` of the path at which the edge is detected. Edges of equal weight
#'   stay in the order of the variables. No edges give a data frame without
#'   rows.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 3)
#' path <- kliep_path(pair$x, pair$y)
#' head(edges(path))
#' edges(path, lambda2 = path$lambda2[20])
#' edges(kliep_select(path))
edges <- function(object, lambda2 = NULL, ...) {
    UseMethod("edges")
}

#' @export
edges.default <- function(object, lambda2 = NULL, ...) {
    stop_kliep(
        "type",
        paste0("A result that has edges is needed: got ", describe(object),
               "."),
        hint = "`kliep_auto()`, `kliep_infer()` and `kliep_path()` make one."
    )
}

#' @export
edges.kliep_select <- function(object, lambda2 = NULL, ...) {
    edges(chosen_part(object, lambda2), lambda2 = lambda2, ...)
}

#' @rdname edges
#' @export
edges.change_path <- function(object, lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "edges")
    ranked <- is.null(lambda2) && !is_change(object)
    found <- if (ranked) entering_edges(object) else
        edge_weights(object, find_step(object, lambda2))
    if (!ranked) {
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
#' Lists the edges of an inference for which "no change" is rejected, smallest
#' p-value first.
#'
#' @param object The result of [kliep_debias()].
#' @param rule `"BH"` and `"BY"` control the expected share of false ones among
#'   them (the false discovery rate) at `alpha`;
#'   `"plain"` and `"studentized"` the probability of any false one, by the
#'   intervals that hold for all edges at once; `"pointwise"` looks at every
#'   edge by itself.
#' @param alpha The error rate that the rule controls; intervals are at level
#'   `1 - alpha`. By default the complement of the level of the inference.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each edge: `from`, `to`, `weight` (the
#'   estimate), `se`, `lower` and `upper` (of the interval that belongs to the
#'   rule, point-wise for `"BH"` and `"BY"`), `p_value`, and for these two
#'   `q_value`.
#' @export
#' @examples
#' set.seed(1)
#' theta_x <- ising_chain(8, coupling = 0.4)
#' theta_y <- ising_change(theta_x, n_changed = 2, change = -0.6)
#' pair <- sim_ising(theta_x, theta_y, n = 400)
#' result <- kliep_debias(pair$x, pair$y, feat_ising())
#' edges(result, rule = "BY")
#' edges(result, rule = "studentized")
edges.kliep_debias <- function(object, lambda2 = NULL,
                              rule = c("BH", "BY", "studentized", "plain",
                                           "pointwise"),
                                  alpha = 1 - object$level, ...) {
    check_dots(list(...), names(formals()), "edges")
    rule <- check_choice(rule, "rule", c("BH", "BY", "studentized", "plain",
                                         "pointwise"))
    level <- 1 - check_fraction(alpha, "alpha")
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
    if (adjusts) found$q_value <- stats::p.adjust(table$p_value, rule)
    rejected <- if (adjusts) found$q_value <= alpha else
        both$lower > 0 | both$upper < 0
    found <- found[which(rejected), ]
    found <- found[order(found$p_value), ]
    rownames(found) <- NULL
    found
}

#' The edges that changed
#'
#' Lists the edges that an inference reports, smallest p-value first.
#'
#' @param object The result of [kliep_infer()].
#' @param fdr The false discovery rate; by default that of the inference.
#' @param all List the edges that are not reported, too? The column `changed`
#'   says which are reported.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each edge: `from`, `to`, `weight` (the
#'   estimate), `se`, `lower`, `upper`, `p_value`, `q_value` and `test`, for
#'   features with a closed form also `partial_x`, `partial_y`, `shift` and
#'   `q_beyond` (see [kliep_infer()]); with `all` also `changed`.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 400, n_changed = 3)
#' result <- kliep_infer(pair$x, pair$y)
#' edges(result)
#' head(edges(result, all = TRUE))
edges.kliep_infer <- function(object, lambda2 = NULL, fdr = object$fdr,
                              all = FALSE, ...) {
    check_dots(list(...), names(formals()), "edges")
    fdr <- check_fraction(fdr, "fdr")
    all <- check_flag(all, "all")
    table <- object$estimates
    table$changed <- changed_at(object, fdr)
    names(table)[names(table) == "estimate"] <- "weight"
    columns <- c("from", "to", "weight", "se", "lower", "upper", "p_value",
                 "q_value", "test", "partial_x", "partial_y", "shift",
                 "q_beyond")
    columns <- intersect(c(columns, if (all) "changed"), names(table))
    found <- table[order(table$p_value), columns]
    if (!all) found <- found[table$changed[order(table$p_value)], ]
    rownames(found) <- NULL
    found
}

#' The edges that differ between groups
#'
#' Lists the changes that a comparison of groups reports, smallest p-value
#' first.
#'
#' @param object The result of [kliep_groups()].
#' @param contrast The names of the contrasts wanted; `NULL` for all.
#' @param all List the changes that are not reported, too? The column `changed`
#'   says which are reported.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each contrast and edge: `contrast`,
#'   `from`, `to`, `weight` (the estimate), `se`, `lower`, `upper`, `p_value`
#'   and `q_value`; with `all` also `changed`.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 6, n = 150, n_changed = 2)
#' cells <- rbind(pair$x, pair$y)
#' found <- kliep_groups(cells, rep(c("a", "b", "c"), c(150, 75, 75)))
#' edges(found, contrast = "b - a")
edges.kliep_groups <- function(object, lambda2 = NULL, contrast = NULL,
                               all = FALSE, ...) {
    check_dots(list(...), names(formals()), "edges")
    all <- check_flag(all, "all")
    table <- object$estimates
    contrast <- check_contrast_names(contrast, object$contrasts$contrast)
    table <- table[table$contrast %in% contrast, ]
    if (!all) table <- table[table$changed, names(table) != "changed"]
    names(table)[names(table) == "estimate"] <- "weight"
    table <- table[order(table$p_value), ]
    rownames(table) <- NULL
    table
}

#' The edges that have changed, window by window
#'
#' Lists the edges that were found in each window, strongest first.
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

#' The edges that change over time
#'
#' Lists the edges that [kliep_time()] reports, smallest p-value first, with the
#' times between which they change; or those that change at one time.
#'
#' @param object The result of [kliep_time()].
#' @param at A time: lists the edges that change then, with their rates at the
#'   nearest time of `object$rates`. These are edges whose test at that time
#'   passes, or whose `start` and `end` lie on either side of it. `NULL` lists
#'   all edges that change at any time.
#' @param all List the edges that are not reported, too, without rates? The
#'   column `changed` says which are reported.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each edge: `from`, `to`, `weight`,
#'   `se`, `lower` and `upper` (the rate where its |z| is largest, and its
#'   interval at that time), `start`, `peak` and `end` (between which times it
#'   changes, and where |z| is largest), `p_value` and `q_value`,
#'   which hold for the edge over all times; with `all` also `changed`. With
#'   `at`, `time` stands in place of `start`, `peak` and `end`, and
#'   `p_adjusted`, which holds for all times of an edge, in place of both
#'   others.
#' @export
#' @examples
#' set.seed(1)
#' drifting <- sim_drift(d = 6, n = 600, n_changed = 1, change = 0.5)
#' found <- kliep_time(drifting$series)
#' edges(found)
#' edges(found, at = 0.5)
edges.kliep_time <- function(object, lambda2 = NULL, at = NULL, all = FALSE,
                             ...) {
    check_dots(list(...), names(formals()), "edges")
    if (!is.null(lambda2)) {
        stop_kliep("argument", paste("`kliep_time()` has no path: `lambda2`",
                                     "must be NULL."))
    }
    all <- check_flag(all, "all")
    if (!is.null(at)) return(edges_at(object, at))
    if (!all) return(object$spans)
    table <- object$estimates[order(object$estimates$p_value), ]
    row <- match(edge_text(table), edge_text(object$spans))
    added <- setdiff(names(object$spans), c("from", "to", "p_value",
                                            "q_value"))
    table <- data.frame(table[c("from", "to")], object$spans[row, added],
                        table[c("p_value", "q_value", "changed")])
    rownames(table) <- NULL
    table
}
