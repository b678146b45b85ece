# The picture of windows over a series: computed by window_dots(), drawn by
# autoplot().

# One row for each window and edge, for at most `most` edges: those with the
# largest sum of weights, in the order in which they appear. `run` is the same
# for windows that follow each other.
window_dots <- function(object, most) {
    summary <- summary(object)
    key <- edge_text(summary)
    total <- rowsum(abs(object$edges$weight), edge_text(object$edges))
    strength <- total[match(key, rownames(total))]
    kept <- sort(utils::head(order(-strength), most))
    dots <- object$edges
    place <- match(edge_text(dots), key[kept])
    dots <- dots[!is.na(place), ]
    dots$place <- place[!is.na(place)]
    dots <- dots[order(dots$place, dots$window), ]
    new_run <- c(TRUE, diff(dots$place) != 0 | diff(dots$window) != 1)
    dots$run <- cumsum(new_run)
    dots$middle <- dots$start + (dots$end - dots$start) / 2
    dots$edge <- edge_label(dots$from, dots$to)
    dots$sign <- factor(ifelse(dots$weight > 0, "stronger", "weaker"),
                        c("stronger", "weaker"))
    dots
}

#' Plot when each edge appears
#'
#' Draws the windows along time and the edges in rows, the first to appear on
#' top: a point in the middle of every window in which an edge was found, larger
#' for a larger weight, by colour and shape whether the interaction is stronger
#' or weaker than in the reference. Windows that follow each other are joined by
#' a line. Where the reference is one stretch of the series it is shaded.
#'
#' @param object,x The result of [kliep_windows()].
#' @param max_edges The most edges to draw: those with the largest weights,
#'   summed over all windows.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' topics <- list(c("rain", "storm"), c("match", "goal"), c("bank", "price"))
#' pair <- sim_keywords(times = 500, change_at = 351, topics = topics,
#'                      event = c("storm", "match", "price"), tie = 0.4)
#' series <- pair$series
#' series[-1] <- log1p(series[-1])
#' plot(kliep_windows(series, reference = c(1, 150), width = 50, step = 25,
#'                    nlambda = 10, rule = "1se"))
autoplot.kliep_windows <- function(object, max_edges = 60, ...) {
    check_dots(list(...), names(formals()), "autoplot")
    max_edges <- check_whole(max_edges, "max_edges")
    if (nrow(object$edges) == 0L) return(draw_nothing())
    dots <- window_dots(object, max_edges)
    fits <- Filter(Negate(is.null), object$fits)
    signed <- all(vapply(fits, is_signed, NA))
    labels <- dots$edge[!duplicated(dots$place)]
    n_all <- nrow(unique(object$edges[c("from", "to")]))
    ggplot2::ggplot(dots, ggplot2::aes(.data$middle, .data$place)) +
        shade_reference(object$reference) +
        draw_runs(dots) +
        draw_window_dots(signed, length(labels)) +
        ggplot2::expand_limits(x = range(object$windows$start,
                                         object$windows$end)) +
        ggplot2::scale_y_continuous(
            breaks = seq_along(labels), labels = labels, trans = "reverse",
            expand = ggplot2::expansion(add = 0.7)
        ) +
        ggplot2::labs(
            x = "time (middle of the window)", y = NULL,
            caption = if (n_all > length(labels))
                paste(length(labels), "of", count_of(n_all, "edge"))
        ) +
        theme_kliepnet() +
        ggplot2::theme(
            # Sixty rows have to fit a page.
            axis.text.y = ggplot2::element_text(
                size = max(4.5, min(9, 380 / length(labels)))
            ),
            panel.grid.minor.y = ggplot2::element_blank()
        )
}

# A line takes two windows.
draw_runs <- function(dots) {
    long <- dots[dots$run %in% dots$run[duplicated(dots$run)], ]
    if (nrow(long) == 0L) return(NULL)
    ggplot2::geom_line(ggplot2::aes(group = .data$run), data = long,
                       colour = "grey70", linewidth = 0.4)
}

draw_window_dots <- function(signed, n_edges) {
    largest <- max(2, min(5, 150 / n_edges))
    list(
        if (signed) {
            ggplot2::geom_point(ggplot2::aes(
                colour = .data$sign, shape = .data$sign,
                size = abs(.data$weight)
            ))
        } else {
            ggplot2::geom_point(ggplot2::aes(size = abs(.data$weight)),
                                colour = colour_positive)
        },
        ggplot2::scale_colour_manual(
            values = c(stronger = colour_positive, weaker = colour_negative),
            name = "interaction", drop = FALSE
        ),
        ggplot2::scale_shape_manual(values = c(stronger = 16, weaker = 17),
                                    name = "interaction", drop = FALSE),
        # Area by weight, but nothing too small to be seen.
        ggplot2::scale_size_continuous(
            range = c(0.6, largest), limits = c(0, NA), name = "weight",
            breaks = function(limits) signif(c(0.2, 0.5, 0.9) * limits[2L], 1L)
        ),
        ggplot2::guides(
            colour = ggplot2::guide_legend(order = 1L,
                                           override.aes = list(size = 2.5)),
            shape = ggplot2::guide_legend(order = 1L),
            size = ggplot2::guide_legend(order = 2L)
        )
    )
}

shade_reference <- function(reference) {
    if (is.null(reference$start)) return(NULL)
    ends <- data.frame(start = reference$start, end = reference$end)
    list(
        ggplot2::geom_rect(
            ggplot2::aes(xmin = .data$start, xmax = .data$end,
                         ymin = -Inf, ymax = Inf),
            data = ends, inherit.aes = FALSE, fill = "grey92"
        ),
        ggplot2::geom_text(
            # The axis is reversed: this is the top.
            ggplot2::aes(.data$start + (.data$end - .data$start) / 2, -Inf),
            data = ends, inherit.aes = FALSE, label = "reference",
            vjust = 1.5, size = 3, colour = "grey40"
        )
    )
}

#' @rdname autoplot.kliep_windows
#' @export
plot.kliep_windows <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
