# The picture of a selection: computed by select_lines(), drawn by autoplot().

# The scored part of the table, with a rank for each candidate by its best.
select_lines <- function(object, most = 8L) {
    lines <- object$scores[!is.na(object$scores$score) &
                               object$scores$lambda2 > 0, ]
    best <- tapply(lines$score, lines$candidate, max)
    shown <- names(sort(best, decreasing = TRUE))
    shown <- utils::head(shown, most)
    lines <- lines[lines$candidate %in% shown, ]
    lines$candidate <- factor(lines$candidate, shown)
    lines
}

# From above the best score to well below the peak of the worst candidate: the
# fall at the dense end, which may be deep, is not what the choice is about.
score_range <- function(lines) {
    peaks <- tapply(lines$score, lines$candidate, max)
    best <- which.max(lines$score)
    se <- max(0, lines$se[best], na.rm = TRUE)
    low <- min(peaks) - max(8 * se, diff(range(peaks)))
    c(max(low, min(lines$score - se)), lines$score[best] + 1.2 * se)
}

#' Plot the scores of a selection
#'
#' Draws the score of every candidate against `lambda2`, from the sparse end on
#' the left to the dense end on the right, with one standard error on either
#' side for the best candidate, and marks what was chosen. The other types are
#' those of [`plot()`][plot.change_path] of a path: the path of the chosen
#' candidate with a line at the chosen `lambda2`, and the graph and the matrix
#' of the changes there.
#'
#' @param object,x The result of [kliep_select()].
#' @param type What to draw.
#' @param max_candidates The most candidates to draw: those with the highest
#'   scores.
#' @param ... For `plot()`, passed to `autoplot()`. For the types `"path"`,
#'   `"graph"` and `"matrix"` the arguments that
#'   [they take][autoplot.change_path]; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 4)
#' features <- list(feat_gaussian(), feat_nonparanormal(power = 2))
#' chosen <- kliep_select(pair$x, pair$y, features, nlambda = 15)
#' plot(chosen)
#' plot(chosen, type = "path")
#' plot(chosen, type = "graph")
autoplot.kliep_select <- function(object, type = c("score", "path", "graph",
                                                   "matrix", "modules"),
                                  max_candidates = 8, ...) {
    type <- check_choice(type, "type", c("score", "path", "graph", "matrix",
                                         "modules"))
    if (type != "score") return(draw_chosen(object, type, ...))
    check_dots(list(...), names(formals()), "autoplot")
    lines <- select_lines(object, check_whole(max_candidates,
                                              "max_candidates"))
    chosen <- object$scores[object$scores$selected, ]
    chosen$candidate <- factor(chosen$candidate, levels(lines$candidate))
    best <- lines[lines$candidate == chosen$candidate, ]
    ggplot2::ggplot(lines, ggplot2::aes(-log10(.data$lambda2), .data$score)) +
        ggplot2::geom_ribbon(
            ggplot2::aes(ymin = .data$score - .data$se,
                         ymax = .data$score + .data$se),
            data = best, fill = "grey85"
        ) +
        mark_lambda2(if (chosen$lambda2 > 0) chosen$lambda2) +
        ggplot2::geom_line(
            ggplot2::aes(colour = .data$candidate, linetype = .data$candidate),
            linewidth = 0.6
        ) +
        ggplot2::geom_point(
            ggplot2::aes(colour = .data$candidate), data = chosen, size = 2.5,
            show.legend = FALSE
        ) +
        ggplot2::coord_cartesian(ylim = score_range(lines)) +
        scale_candidates(levels(lines$candidate)) +
        scale_lambda2(lines$lambda2, "") +
        ggplot2::labs(
            x = expression(lambda[2]),
            y = paste(strwrap(score_name(object), 32L), collapse = "\n"),
            caption = paste("Band: one standard error of the best candidate.",
                            "Line and point: what was chosen.")
        ) +
        theme_kliepnet() +
        ggplot2::guides(colour = one_below_another,
                        linetype = one_below_another) +
        ggplot2::theme(legend.key.width = ggplot2::unit(1.8, "lines"))
}

# A zero has no place on the axis of a path.
draw_chosen <- function(object, type, lambda2 = object$fit$lambda2, ...) {
    if (type == "path" && identical(lambda2, 0)) lambda2 <- NULL
    autoplot(object$path, type = type, lambda2 = lambda2, ...)
}

# Labels are long, and candidates few.
one_below_another <- ggplot2::guide_legend(ncol = 1L)

#' @rdname autoplot.kliep_select
#' @export
plot.kliep_select <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

score_name <- function(object) {
    score <- if (is_baseline(object$fit))
        baseline_methods()[[object$fit$method]]$score else
            if (object$score == "logistic") "logistic gain over no change" else
                "log-likelihood"
    paste0(score, if (object$criterion == "cv")
        paste0(", ", object$folds, "-fold cross-validated") else
            " on hold-out samples")
}

# Okabe-Ito colours, and line types for readers in grey.
scale_candidates <- function(candidates) {
    colours <- rep_len(c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9",
                         "#E69F00", "grey20", "grey50"), length(candidates))
    lines <- rep_len(c("solid", "42", "12", "1242", "62", "2262", "solid",
                       "42"), length(candidates))
    named <- function(values) stats::setNames(values, candidates)
    list(
        ggplot2::scale_colour_manual(values = named(colours), name = NULL),
        ggplot2::scale_linetype_manual(values = named(lines), name = NULL)
    )
}
