# The picture of a permutation test: computed by edge_fates(), drawn by
# autoplot().

# The value that the statistic of the first edge has to exceed: so many
# shuffles may reach it. NA where no value will do.
critical_value <- function(object) {
    allowed <- floor(object$alpha * (object$n_perm + 1) + 1e-9) - 1
    if (allowed < 0) return(NA_real_)
    sort(object$shuffles$enters, decreasing = TRUE)[allowed + 1]
}

#' Plot a permutation test
#'
#' Compares what was detected in the data with what the shuffles detect, or
#' draws the edges that are kept.
#'
#' `type = "edges"` draws the detected edges with the `lambda2` at which each
#' enters the path, those that are kept in colour. The ticks below are the
#' shuffles, each with the largest `lambda2` at which it detects any edge, and
#' the line marks what an edge has to exceed to be the only one that is kept by
#' its adjusted p-value (`adjust = "maxT"`). `type = "global"` draws the
#' statistics of the global test in the shuffles, and in the data as a line.
#' `type = "graph"`, `"matrix"` and `"modules"` draw the edges that are kept, as
#' [`plot()`][plot.change_path] of a path does.
#'
#' @param object,x The result of [kliep_test()].
#' @param type What to draw.
#' @param max_edges The most edges to draw: those that enter first, `NULL` for
#'   30, or for a graph the strongest 150.
#' @inheritParams autoplot.change_path
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 8, n = 200, edge = 0.4, n_changed = 3,
#'                      change = -0.8)
#' test <- kliep_test(pair$x, pair$y, n_perm = 20, nlambda = 15, folds = 3)
#' plot(test)
#' plot(test, type = "global")
autoplot.kliep_test <- function(object, type = c("edges", "global", "graph",
                                                 "matrix", "modules"),
                                max_edges = NULL, label = NULL,
                                vertices = c("changed", "all"), ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("edges", "global", "graph", "matrix",
                                         "modules"))
    if (type == "global") return(draw_global(object))
    if (type != "edges") {
        return(draw_graph_of(object, type, vertices = vertices, label = label,
                             max_edges = max_edges))
    }
    max_edges <- check_whole_or(max_edges, "max_edges", 30)
    if (nrow(object$edges) == 0L) return(draw_nothing())
    draw_tested(object, edge_fates(object, max_edges))
}

#' @rdname autoplot.kliep_test
#' @export
plot.kliep_test <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

draw_tested <- function(object, dots) {
    critical <- if (object$adjust == "maxT") critical_value(object)
    ggplot2::ggplot(dots, ggplot2::aes(.data$enters, .data$place)) +
        ggplot2::geom_rug(
            ggplot2::aes(.data$enters), data = object$shuffles,
            inherit.aes = FALSE, sides = "b", colour = "grey40", alpha = 0.5
        ) +
        mark_value(critical) +
        ggplot2::geom_point(
            ggplot2::aes(colour = .data$fate, shape = .data$fate), size = 2
        ) +
        scale_fates() +
        ggplot2::scale_y_discrete(
            labels = rev(dots$edge),
            # Room for the ticks.
            expand = ggplot2::expansion(add = c(1.2, 0.6))
        ) +
        ggplot2::labs(
            x = expression("enters at" ~ lambda[2]), y = NULL,
            caption = paste0(
                "Ticks: the first edge of each of ",
                count_of(object$n_perm, "shuffle"), ".",
                if (!is.null(critical) && !is.na(critical))
                    paste0("\nLine: what the first edge has to exceed, at ",
                           "level ", format(object$alpha), ".")
            )
        ) +
        theme_kliepnet() +
        theme_rows(nrow(dots))
}

mark_value <- function(value) {
    if (is.null(value) || is.na(value)) return(NULL)
    ggplot2::geom_vline(xintercept = value, colour = "grey20",
                        linewidth = 0.4)
}

scale_fates <- function() {
    list(
        ggplot2::scale_colour_manual(
            values = c(kept = colour_positive, dropped = "grey50"),
            name = NULL, drop = FALSE
        ),
        ggplot2::scale_shape_manual(values = c(kept = 16, dropped = 1),
                                    name = NULL, drop = FALSE)
    )
}

draw_global <- function(object) {
    about <- global_statistics(object)
    ggplot2::ggplot(about$shuffles, ggplot2::aes(.data$value)) +
        ggplot2::geom_histogram(bins = 30L, fill = "grey75",
                                colour = "white", linewidth = 0.2) +
        ggplot2::geom_vline(ggplot2::aes(xintercept = .data$value),
                            data = about$data, colour = colour_positive,
                            linewidth = 0.7) +
        ggplot2::facet_wrap(ggplot2::vars(.data$statistic),
                            scales = "free_x") +
        ggplot2::labs(
            x = "line: the data", y = "shuffles",
            caption = paste("p =", format(object$global$p_value, digits = 2L))
        ) +
        theme_kliepnet()
}
