# The picture of stability selection: computed by edge_fates(), drawn by
# autoplot().

# The first edges of a test or a stability selection, and what was made of them.
edge_fates <- function(object, most) {
    dots <- utils::head(object$edges, most)
    dots$edge <- edge_label(dots$from, dots$to)
    dots$place <- factor(seq_len(nrow(dots)), rev(seq_len(nrow(dots))))
    dots$fate <- factor(ifelse(dots$kept, "kept", "dropped"),
                        c("kept", "dropped"))
    dots
}

#' Plot selection probabilities
#'
#' Draws how often each edge is selected, or the edges that are kept.
#'
#' `type = "edges"` draws the share of halves that select an edge, for those
#' selected most, and marks the threshold. The line of an edge reaches down to
#' the share of pairs in which both halves select it. `type = "graph"`,
#' `"matrix"` and `"modules"` draw the edges that are kept, as
#' [`plot()`][plot.change_path] of a path does.
#'
#' @param object,x The result of [kliep_stability()].
#' @param type What to draw.
#' @param max_edges The most edges to draw; `NULL` is 30, or for a graph 150.
#' @inheritParams autoplot.change_path
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, edge = 0.4, density = 0.2,
#'                      n_changed = 4, change = -0.8)
#' plot(kliep_stability(pair$x, pair$y, n_subsamples = 40, nlambda = 20))
autoplot.kliep_stability <- function(object,
                                     type = c("edges", "graph", "matrix",
                                              "modules"),
                                     max_edges = NULL, label = NULL,
                                     vertices = c("changed", "all"), ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("edges", "graph", "matrix",
                                         "modules"))
    if (type != "edges") {
        return(draw_graph_of(object, type, vertices = vertices, label = label,
                             max_edges = max_edges))
    }
    max_edges <- check_whole_or(max_edges, "max_edges", 30)
    if (nrow(object$edges) == 0L) return(draw_nothing())
    dots <- edge_fates(object, max_edges)
    ggplot2::ggplot(dots, ggplot2::aes(.data$probability, .data$place,
                                       colour = .data$fate)) +
        mark_value(object$threshold) +
        ggplot2::geom_segment(
            ggplot2::aes(xend = .data$simultaneous, yend = .data$place),
            linewidth = 0.5, show.legend = FALSE
        ) +
        ggplot2::geom_point(ggplot2::aes(shape = .data$fate), size = 2) +
        scale_fates() +
        ggplot2::scale_x_continuous(limits = c(0, 1)) +
        ggplot2::scale_y_discrete(labels = rev(dots$edge)) +
        ggplot2::labs(
            x = "selection probability", y = NULL,
            caption = paste0(
                "Point: share of halves that select the edge. ",
                "Bar: down to the share of pairs in which both do.\n",
                "Line: the threshold, ", format(object$threshold, digits = 2L),
                ", with at most ", format(object$expected_false, digits = 2L),
                " false edges expected."
            )
        ) +
        theme_kliepnet() +
        theme_rows(nrow(dots))
}

#' @rdname autoplot.kliep_stability
#' @export
plot.kliep_stability <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
