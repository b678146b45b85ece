# The pictures of an inference: intervals, calibration, and the graph and the
# matrix of what changed.

# The quantiles of all statistics against those of the shuffled null, for the
# picture of calibration: one row for each edge that is drawn.
calibration_points <- function(object, most = 2000L) {
    table <- object$estimates
    order <- order(abs(table$z))
    z <- abs(table$z)[order]
    share <- (seq_along(z) - 0.5) / length(z)
    # All of the tail, and as many of the bulk as can be told apart.
    tail <- seq_along(z) > length(z) - most %/% 2L
    bulk <- unique(round(seq(1, length(z), length.out = most %/% 2L)))
    kept <- sort(union(which(tail), bulk))
    expected <- vapply(share[kept], null_quantile, 1, null = object$null)
    data.frame(expected = expected, observed = z[kept],
               style = ifelse(table$changed[order][kept], "changed",
                              "not reported"))
}

draw_calibration <- function(object) {
    points <- calibration_points(object)
    ggplot2::ggplot(points, ggplot2::aes(.data$expected, .data$observed,
                                         colour = .data$style)) +
        ggplot2::geom_abline(slope = 1, intercept = 0, colour = "grey60") +
        ggplot2::geom_point(size = 1) +
        ggplot2::scale_colour_manual(
            values = c(changed = "#d55e00", "not reported" = "grey40")
        ) +
        ggplot2::labs(
            x = "|z| of the shuffles, the same quantile",
            y = "|z| of the edges", colour = NULL,
            title = paste0("Calibration: ", count_of(nrow(object$estimates),
                                                     "edge")),
            subtitle = paste("Edges on the line vary as they would if nothing",
                             "had changed.")
        ) +
        ggplot2::theme_minimal()
}

#' Plot tests of edges
#'
#' Draws how much each edge changed and how uncertain that is, the edges that
#' changed, or the evidence behind them.
#'
#' `type = "intervals"` draws the estimates of the edges with the smallest
#' p-values, with their point-wise intervals; those that are reported are
#' coloured. `type = "calibration"` compares the statistics of all edges with
#' those of the shuffles, quantile by quantile: the bulk lies on the line where
#' the null fits. `type = "graph"`, `"matrix"` and `"modules"` draw the edges
#' that are reported, as [`plot()`][plot.change_path] of a path does.
#'
#' Three more show the evidence. `type = "pairs"` draws the observations of one
#' edge in both conditions, side by side, in the form in which they are compared
#' (with [feat_nonparanormal()], their normal scores). `type = "volcano"` draws
#' all edges, their change against their q-value. `type = "conditions"` draws
#' the partial correlations of both conditions as a heat map, `x` above the
#' diagonal and `y` below, with a dot where the edge changed.
#'
#' @param object,x The result of [kliep_infer()].
#' @param truth The true changes, if known: a simulated pair, or a data frame
#'   with the columns `from`, `to` and `change`, on the scale of the estimates:
#'   for features with a closed form, differences of partial correlations. They
#'   are marked by crosses.
#' @param type What to draw.
#' @param max_edges The most edges to draw; `NULL` is 40, for a graph 150, and
#'   for `"volcano"` 20,000.
#' @param edge For `"pairs"`, which edge: the names of two variables, or its
#'   place in the order of p-values; `NULL` is the first.
#' @inheritParams autoplot.change_path
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 15, n = 400, n_changed = 4)
#' result <- kliep_infer(pair$x, pair$y)
#' plot(result, truth = pair)
#' plot(result, type = "calibration")
#' plot(result, type = "volcano")
#' plot(result, type = "pairs", edge = 1)
#' plot(result, type = "conditions")
autoplot.kliep_infer <- function(object, type = c("intervals", "calibration",
                                                  "graph", "matrix", "modules",
                                                  "pairs", "volcano",
                                                  "conditions"),
                                 truth = NULL, max_edges = NULL, label = NULL,
                                 vertices = c("changed", "all"), edge = NULL,
                                 ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", eval(formals()$type))
    if (type != "intervals") refuse_truth(truth, type, "intervals")
    if (type != "pairs") refuse_edge(edge, type)
    refuse_four(object, type)
    switch(
        type,
        intervals = draw_intervals(
            interval_lines(object, object$estimates$changed, truth,
                           check_whole_or(max_edges, "max_edges", 40)),
            object
        ),
        calibration = draw_calibration(object),
        pairs = draw_pair(object, edge),
        volcano = draw_volcano(object, label, max_edges),
        conditions = draw_conditions(object, vertices, label),
        draw_graph_of(object, type, vertices = vertices, label = label,
                      max_edges = max_edges)
    )
}

# Both conditions side by side are the whole of an inference, not of an
# interaction.
refuse_four <- function(object, type) {
    if (!inherits(object, "kliep_interaction") ||
            !type %in% c("pairs", "conditions")) {
        return(invisible())
    }
    stop_kliep("type",
               paste0("`type = \"", type, "\"` draws two samples, and an ",
                      "interaction has four samples."),
               hint = "`type = \"intervals\"` draws the estimates.")
}

refuse_edge <- function(edge, type) {
    if (is.null(edge)) return(invisible())
    stop_kliep("argument",
               paste0("`edge` is for `type = \"pairs\"`: got \"", type, "\"."),
               hint = "Leave it out.")
}

#' @rdname autoplot.kliep_infer
#' @export
plot.kliep_infer <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
