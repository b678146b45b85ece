# How well a path finds changed edges that are known: counts and rates at
# every lambda2, and along the ranking of the edges.

# The only place the class is set. `points` has a row for each lambda2, `curve`
# one for each place of the ranking, `ranking` one for each ranked edge.
new_pr_curve <- function(points, curve, ranking, rank, n_changed, n_pairs) {
    structure(
        class = "pr_curve",
        list(
            points = points, curve = curve, ranking = ranking, rank = rank,
            average_precision = average_precision(curve),
            area = area_pr(curve, n_changed),
            area_roc = area_roc(curve),
            best = best_point(points),
            guess = n_changed / n_pairs,
            n_changed = n_changed, n_pairs = n_pairs
        )
    )
}

#' Precision and recall of a path
#'
#' Compares the detected edges of a path with the edges that are known to have
#' changed. Variables alone (the diagonal) are not counted.
#'
#' @section At every lambda2:
#' With \eqn{TP} detected edges that changed, \eqn{FP} that did not, and
#' \eqn{K} changed edges among all \eqn{M = d(d-1)/2},
#' \deqn{precision = \frac{TP}{TP + FP}, \quad
#'     recall = TPR = \frac{TP}{K}, \quad FPR = \frac{FP}{M - K}, \quad
#'     F_1 = \frac{2 TP}{TP + FP + K}.}{
#'     precision = TP / (TP + FP),  recall = TPR = TP / K,
#'     FPR = FP / (M - K),  F1 = 2 TP / (TP + FP + K).}
#' Where nothing is detected the precision is `NA` and the recall zero; where
#' nothing has changed the recall is `NA`.
#'
#' @section Along the ranking:
#' `rank = "entry"` orders the edges by the `lambda2` at which they enter the
#' path, the largest first, and edges that enter together by the absolute
#' weight they enter with. `rank = "weight"` orders them by absolute weight at
#' one `lambda2`. Edges that cannot be told apart share a place and are counted
#' together; those that are never detected share the last one. So a path that
#' detects nothing, or everything at once with equal weights, scores what
#' guessing scores: \eqn{K / M}.
#'
#' With \eqn{R_k} and \eqn{P_k} the recall and precision after place \eqn{k},
#' the average precision is
#' \eqn{\sum_k (R_k - R_{k-1}) P_k}{sum_k (R_k - R_(k-1)) P_k}. The area under
#' the curve counts, between two places, false edges in proportion to changed
#' ones (Davis and Goadrich 2006): a straight line between two points would
#' promise too much.
#'
#' @param path A `change_path`, of whichever method. Of a
#'   [kliep_select()] the path is taken.
#' @param truth The changed edges: a `network_pair`, as the simulators
#'   `sim_*()` return it; a data frame with columns `from` and `to`, of
#'   variable names or of column numbers; or an adjacency matrix (dense or
#'   sparse) in which an entry other than zero, on either side of the
#'   diagonal, is a changed edge. A matrix with names is matched by them.
#' @param rank How to order the edges: by `"entry"` or by `"weight"`.
#' @param lambda2 For `rank = "weight"`, the value on the path to take weights
#'   from. `NULL` is the smallest one with a fit.
#' @return An object of class `pr_curve` with a [`plot()`][autoplot.pr_curve]
#'   method, a list with
#'   \item{points}{a data frame with a row for each fitted `lambda2`:
#'     `lambda2`, `n_detected`, `tp`, `fp`, `precision`, `recall`, `tpr`,
#'     `fpr` and `f1`;}
#'   \item{curve}{the same for each `place` of the ranking, down to the last,
#'     where all edges are counted;}
#'   \item{ranking}{a data frame with a row for each ranked edge: `place`,
#'     `from`, `to`, `enters`, `weight` and `changed`;}
#'   \item{average_precision, area, area_roc}{the average precision, and the
#'     areas under the precision-recall and the ROC curve of the ranking;}
#'   \item{best}{the row of `points` with the largest `f1`, the sparsest one
#'     where there are several;}
#'   \item{guess}{the average precision of guessing.}
#' @references
#' Davis, J. and Goadrich, M. (2006). The relationship between precision-recall
#' and ROC curves. *Proceedings of the 23rd International Conference on Machine
#' Learning*, 233--240.
#' @seealso [pr_average()] over runs, [compare_methods()].
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 20, n = 500, n_changed = 5)
#' path <- kliep_path(pair$x, pair$y)
#' found <- pr_curve(path, pair)
#' found
#' found$best
#' plot(found)
pr_curve <- function(path, truth, rank = c("entry", "weight"),
                     lambda2 = NULL) {
    rank <- check_choice(rank, "rank", c("entry", "weight"))
    if (is.null(lambda2) && inherits(path, "kliep_select")) {
        lambda2 <- path$fit$lambda2
    }
    path <- check_path(path)
    truth <- check_truth(truth, path$variables)
    d <- length(path$variables)
    n_pairs <- d * (d - 1) / 2
    ranking <- switch(rank, entry = rank_by_entry(path),
                      weight = rank_by_weight(path, lambda2))
    ranking$changed <- edge_key(ranking, d) %in% edge_key(truth, d)
    ranking$from <- path$variables[ranking$from]
    ranking$to <- path$variables[ranking$to]
    new_pr_curve(
        points = path_points(path, truth, n_pairs),
        curve = ranking_curve(ranking, nrow(truth), n_pairs),
        ranking = ranking, rank = rank, n_changed = nrow(truth),
        n_pairs = n_pairs
    )
}

check_path <- function(path) {
    if (inherits(path, "kliep_select")) path <- path$path
    if (inherits(path, "change_path")) return(path)
    stop_kliep("type",
               paste0("`path` must be a path of changes: got ",
                      describe(path), "."),
               hint = "`kliep_path()` makes one.")
}

# ---- counting --------------------------------------------------------------

path_points <- function(path, truth, n_pairs) {
    steps <- fitted_steps(path)
    found <- edge_weights(path, steps)
    d <- length(path$variables)
    changed <- edge_key(found, d) %in% edge_key(truth, d)
    at <- factor(found$step, steps)
    count <- function(which) as.vector(table(at[which]))
    cbind(lambda2 = path$lambda2[steps],
          count_rates(count(changed), count(!changed), nrow(truth), n_pairs))
}

count_rates <- function(tp, fp, n_changed, n_pairs) {
    share <- function(part, whole) {
        rate <- part / whole
        # 0 / 0 is unknown.
        replace(rate, is.nan(rate), NA)
    }
    data.frame(
        n_detected = tp + fp, tp = tp, fp = fp,
        precision = share(tp, tp + fp),
        recall = share(tp, n_changed),
        tpr = share(tp, n_changed),
        fpr = share(fp, n_pairs - n_changed),
        f1 = share(2 * tp, tp + fp + n_changed)
    )
}

best_point <- function(points) {
    utils::head(points[which.max(points$f1), ], 1L)
}

# ---- ranking ---------------------------------------------------------------

# Every edge that is ever detected, once.
rank_by_entry <- function(path) {
    found <- entering_edges(path)
    place_edges(found, path$lambda2[found$step], found$step)
}

rank_by_weight <- function(path, lambda2) {
    fitted <- fitted_steps(path)
    found <- if (length(fitted) == 0L || is.null(lambda2))
        edge_weights(path, utils::tail(fitted, 1L)) else
        edge_weights(path, find_step(path, lambda2))
    found <- found[order(-abs(found$weight), found$from, found$to), ]
    place_edges(found, entry_lambda2(path, found), rep(1L, nrow(found)))
}

# `found` in order; equal steps and weights share a place.
place_edges <- function(found, enters, step) {
    weight <- abs(found$weight)
    same <- c(FALSE, diff(step) == 0 & diff(weight) == 0)[seq_along(step)]
    data.frame(place = cumsum(!same), from = found$from, to = found$to,
               enters = enters, weight = found$weight)
}

# Counts after each place. The last place is shared by all that is not ranked.
ranking_curve <- function(ranking, n_changed, n_pairs) {
    count <- function(which) {
        cumsum(tabulate(ranking$place[which], max(0L, ranking$place)))
    }
    tp <- count(ranking$changed)
    fp <- count(!ranking$changed)
    if (nrow(ranking) < n_pairs) {
        tp <- c(tp, n_changed)
        fp <- c(fp, n_pairs - n_changed)
    }
    cbind(place = seq_along(tp), count_rates(tp, fp, n_changed, n_pairs))
}

# ---- areas -----------------------------------------------------------------

average_precision <- function(curve) {
    sum(diff(c(0, curve$recall)) * curve$precision)
}

area_roc <- function(curve) {
    height <- (curve$tpr + c(0, curve$tpr[-nrow(curve)])) / 2
    sum(diff(c(0, curve$fpr)) * height)
}

# Between two places fp = fp0 + slope (tp - tp0), so the area is the integral
# of t / (a t + b) over tp / K with a = 1 + slope and b = fp0 - slope tp0.
area_pr <- function(curve, n_changed) {
    if (n_changed == 0) return(NA_real_)
    pieces <- curve_pieces(curve)
    primitive <- function(t) {
        t / pieces$a - ifelse(pieces$b == 0, 0,
                              pieces$b / pieces$a^2 *
                                  log(pieces$a * t + pieces$b))
    }
    sum(primitive(pieces$to) - primitive(pieces$from)) / n_changed
}

# The stretches of the curve on which changed edges are found: `from` and `to`
# are numbers of changed edges.
curve_pieces <- function(curve) {
    tp <- c(0, curve$tp)
    fp <- c(0, curve$fp)
    start <- which(diff(tp) > 0)
    slope <- diff(fp)[start] / diff(tp)[start]
    data.frame(from = tp[start], to = tp[start + 1L], a = 1 + slope,
               b = fp[start] - slope * tp[start])
}

# The precision with which a recall is first reached; for recall 0, with which
# the first changed edge is found. The area under these steps is the average
# precision.
precision_at <- function(curve, recall, n_changed) {
    # Rounding must not require one edge more.
    wanted <- pmax(1, ceiling(recall * n_changed - 1e-9))
    curve$precision[findInterval(wanted, curve$tp, left.open = TRUE) + 1L]
}

# ---- over runs -------------------------------------------------------------

#' The mean of precision-recall curves
#'
#' Averages the precision of several runs at every recall of a grid, with its
#' standard error, as in the figures of Liu et al. (2014). The precision of a
#' run at a recall is the one with which its ranking first reaches that recall,
#' so that the area under the mean curve is the mean average precision.
#'
#' @param curves A list of [pr_curve()]s, one for each run.
#' @param recall The recalls to average at, between 0 and 1.
#' @return An object of class `pr_average` with a
#'   [`plot()`][autoplot.pr_curve] method, a list with `curve`, a data frame
#'   with the columns `recall`, `precision` (the mean) and `se` (its standard
#'   error, `NA` for a single run); `average_precision` and `guess`, each with
#'   its `mean` and `se`; and `runs`, their number.
#' @inherit kliep_path references
#' @export
#' @examples
#' set.seed(1)
#' curves <- lapply(1:5, function(run) {
#'     pair <- sim_gaussian(d = 15, n = 200, n_changed = 5)
#'     pr_curve(kliep_path(pair$x, pair$y), pair)
#' })
#' mean_curve <- pr_average(curves)
#' mean_curve
#' plot(mean_curve)
pr_average <- function(curves, recall = seq(0, 1, by = 0.01)) {
    if (inherits(curves, "pr_curve")) curves <- list(curves)
    check_curves(curves)
    recall <- check_recall(recall)
    precision <- vapply(curves, function(curve) {
        precision_at(curve$curve, recall, curve$n_changed)
    }, recall)
    # With one recall, vapply() drops the rows.
    precision <- matrix(precision, length(recall))
    new_pr_average(
        curve = data.frame(recall = recall, precision = rowMeans(precision),
                           se = apply(precision, 1L, standard_error)),
        average_precision = mean_and_error(
            vapply(curves, `[[`, 0, "average_precision")
        ),
        guess = mean_and_error(vapply(curves, `[[`, 0, "guess")),
        runs = length(curves)
    )
}

# The only place the class is set.
new_pr_average <- function(curve, average_precision, guess, runs) {
    structure(class = "pr_average",
              list(curve = curve, average_precision = average_precision,
                   guess = guess, runs = runs))
}

# NA for a single value, which has no spread.
standard_error <- function(values) {
    stats::sd(values) / sqrt(length(values))
}

mean_and_error <- function(values) {
    c(mean = mean(values), se = standard_error(values))
}

check_curves <- function(curves) {
    if (!is.list(curves) || length(curves) == 0L ||
        !all(vapply(curves, inherits, TRUE, "pr_curve"))) {
        stop_kliep("type",
                   paste0("`curves` must be a list of precision-recall ",
                          "curves: got ", describe(curves), "."),
                   hint = "`pr_curve()` makes them.")
    }
    empty <- which(vapply(curves, `[[`, 0, "n_changed") == 0)
    if (length(empty) > 0L) {
        stop_kliep("truth",
                   paste0("Recall is not defined where nothing has changed: ",
                          "curve ", empty[1L], " has no changed edges."),
                   hint = "Leave it out.")
    }
}

check_recall <- function(recall) {
    if (is.numeric(recall) && length(recall) > 0L && !anyNA(recall) &&
        all(recall >= 0 & recall <= 1)) {
        return(as.double(sort(recall)))
    }
    stop_kliep("argument",
               paste0("`recall` must be numbers between 0 and 1: got ",
                      describe(recall), "."))
}

# ---- printing --------------------------------------------------------------

#' @export
format.pr_curve <- function(x, ...) {
    number <- function(value) format(value, digits = 3L)
    best <- x$best
    c(
        paste0("<pr_curve> ", x$n_changed, " of ", count_of(x$n_pairs, "edge"),
               " changed; ranked by ", x$rank),
        paste0("  average precision  ", number(x$average_precision),
               " (guessing: ", number(x$guess), ")"),
        paste0("  area under curve   ", number(x$area), ", ROC ",
               number(x$area_roc)),
        if (nrow(best) > 0L) {
            paste0("  best F1            ", number(best$f1),
                   " at lambda2 = ", number(best$lambda2), ": ", best$tp,
                   " of ", best$n_detected, " detected changed")
        }
    )
}

#' @export
print.pr_curve <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}

#' @export
format.pr_average <- function(x, ...) {
    number <- function(value) format(value, digits = 3L)
    score <- x$average_precision
    c(
        paste0("<pr_average> of ", count_of(x$runs, "run")),
        paste0("  average precision  ", number(score[["mean"]]),
               if (x$runs > 1L)
                   paste0(" (standard error ", number(score[["se"]]), ")"),
               ", guessing ", number(x$guess[["mean"]]))
    )
}

#' @export
print.pr_average <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}
