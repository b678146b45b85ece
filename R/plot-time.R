# The pictures of a drift: rates by edge and time, curves with bands, the total
# rate, and graphs at chosen times side by side.

# ---- what to draw ----------------------------------------------------------

# The rates of at most `most` edges, in the order in which they change.
drift_tiles <- function(object, most) {
    spans <- utils::head(object$spans, most)
    spans <- spans[order(spans$peak, spans$start), ]
    rates <- object$rates
    place <- match(edge_text(rates), edge_text(spans))
    rates <- rates[!is.na(place), ]
    labels <- edge_label(spans$from, spans$to)
    rates$edge <- factor(labels[place[!is.na(place)]], unique(labels))
    rates
}

# The curves of at most `most` reported edges, and behind them those that were
# asked for and are not reported.
drift_curves <- function(object, most) {
    shown <- drift_tiles(object, most)
    others <- object$followed[!object$followed$reported, ]
    labels <- edge_label(others$from, others$to)
    columns <- c("edge", "time", "estimate", "lower", "upper", "lower_all",
                 "upper_all", "reported")
    shown$reported <- rep(TRUE, nrow(shown))
    others$edge <- factor(labels, unique(labels))
    curves <- rbind(shown[columns], others[columns])
    curves$reported <- factor(ifelse(curves$reported, "reported",
                                     "not reported"),
                              c("reported", "not reported"))
    curves
}

# How far apart the times of the curves are.
time_step <- function(time) {
    steps <- diff(sort(unique(as.numeric(time))))
    if (length(steps) == 0L) 1 else stats::median(steps)
}

# Every graph has all vertices in the same places: those of all edges that are
# reported.
drift_graphs <- function(object, times, vertices, label) {
    graph <- change_graph(object)
    points <- graph_points(graph, graph_lines(graph), vertices, label)
    frames <- lapply(times, function(time) {
        lines <- graph_lines(change_graph(object, at = time))
        place_lines(lines, points, directed = FALSE)
    })
    text <- time_text(times, object$time)
    lines <- do.call(rbind, frames)
    lines$time <- factor(rep(text, vapply(frames, nrow, 1L)), unique(text))
    list(points = points[points$shown, ], lines = lines, times = text)
}

# ---- drawing ---------------------------------------------------------------

#' Plot when edges change
#'
#' Draws when each reported edge changes and how fast.
#'
#' `type = "heatmap"` has a row for each reported edge and the times along the
#' axis, coloured by the rate: full colours where the edge changes by the test,
#' pale ones elsewhere. `type = "curves"` draws the rate of each edge with its
#' band at each time (dark) and for all times at once (pale), and those of the
#' `edges` that [kliep_time()] was given, in grey where they are not reported.
#' `type = "total"`
#' is the total rate of all reported edges, with the interval of its peak.
#' `type = "graph"` draws the edges that change at each of some times, side by
#' side, with the variables in the same places.
#'
#' @param object,x The result of [kliep_time()].
#' @param type What to draw.
#' @param max_edges The most edges of a heat map (`NULL` is 60) or of curves
#'   (`NULL` is 12): those with the smallest p-values.
#' @param times For graphs, the times to draw; `NULL` takes four, evenly spaced
#'   but for the one at which the total rate is largest.
#' @param vertices,label As for [`plot()`][autoplot.change_path] of a path.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' drifting <- sim_drift(d = 8, n = 800, n_changed = 2, change = 0.5)
#' found <- kliep_time(drifting$series)
#' plot(found)
#' plot(found, type = "curves")
#' plot(found, type = "graph")
autoplot.kliep_time <- function(object, type = c("heatmap", "curves", "total",
                                                 "graph"),
                                max_edges = NULL, times = NULL,
                                vertices = c("changed", "all"), label = NULL,
                                ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("heatmap", "curves", "total",
                                         "graph"))
    vertices <- check_choice(vertices, "vertices", c("changed", "all"))
    label <- check_whole_or(label, "label", 40, least = 0)
    times <- chosen_times(object, times)
    max_edges <- check_whole_or(max_edges, "max_edges",
                                if (type == "curves") 12 else 60)
    drawn <- c(nrow(object$rates),
               if (type == "curves") nrow(object$followed))
    if (sum(drawn) == 0L) return(draw_nothing("No edge changes"))
    switch(type,
           heatmap = draw_drift_tiles(object, max_edges),
           curves = draw_drift_curves(object, max_edges),
           total = draw_total_rate(object),
           graph = draw_drift_graphs(object, times, vertices, label))
}

chosen_times <- function(object, times) {
    known <- object$total$time
    if (length(known) == 0L) return(known)
    if (is.null(times)) {
        at <- round(seq(1, length(known), length.out = min(4L, length(known))))
        # One of them is where most changes.
        peak <- which.max(object$total$rate)
        at[which.min(abs(at - peak))] <- peak
        return(known[at])
    }
    # nearest_time() refuses what is not a vector.
    if (!is.atomic(times) || length(times) == 0L) nearest_time(object, times)
    places <- lapply(seq_along(times), function(k) {
        nearest_time(object, times[[k]])
    })
    unique(do.call(c, places))
}

draw_drift_tiles <- function(object, max_edges) {
    tiles <- drift_tiles(object, max_edges)
    step <- time_step(tiles$time)
    largest <- max(abs(tiles$estimate))
    ggplot2::ggplot(tiles, ggplot2::aes(.data$time, .data$edge)) +
        ggplot2::geom_tile(ggplot2::aes(
            fill = .data$estimate,
            alpha = ifelse(.data$changing, "changes", "not significant")
        ), width = step, height = 0.9) +
        ggplot2::scale_fill_gradient2(
            "rate", low = colour_negative, mid = "white",
            high = colour_positive, limits = c(-largest, largest),
            breaks = c(-1, 0, 1) * max(size_breaks(largest))
        ) +
        ggplot2::scale_alpha_manual(
            NULL, values = c(changes = 1, "not significant" = 0.35)
        ) +
        ggplot2::scale_y_discrete(limits = rev) +
        ggplot2::labs(x = "time", y = NULL,
                      caption = left_out(object, nlevels(tiles$edge))) +
        theme_kliepnet() +
        theme_rows(nlevels(tiles$edge))
}

# How many edges of those reported are drawn.
left_out <- function(object, drawn) {
    all <- nrow(object$spans)
    if (all > drawn) paste(drawn, "of", count_of(all, "edge"))
}

draw_drift_curves <- function(object, max_edges) {
    curves <- drift_curves(object, max_edges)
    colours <- c(reported = colour_positive, "not reported" = "grey40")
    ggplot2::ggplot(curves, ggplot2::aes(.data$time, .data$estimate,
                                         fill = .data$reported)) +
        ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower_all,
                                          ymax = .data$upper_all),
                             alpha = 0.15) +
        ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower,
                                          ymax = .data$upper), alpha = 0.25) +
        ggplot2::geom_hline(yintercept = 0, colour = "grey50") +
        ggplot2::geom_line(ggplot2::aes(colour = .data$reported)) +
        ggplot2::scale_colour_manual(NULL, values = colours,
                                     aesthetics = c("colour", "fill"),
                                     guide = curve_guide(curves)) +
        ggplot2::facet_wrap(ggplot2::vars(.data$edge), labeller = two_lines) +
        few_times(curves$time, nlevels(curves$edge)) +
        ggplot2::labs(x = "time", y = "rate", caption = paste(c(
            left_out(object, max_edges),
            paste0("Dark: ", format(100 * object$level),
                   " % interval of each time. Light: of all times at once.")
        ), collapse = ". ")) +
        theme_kliepnet()
}

# The names of long edges have a line each.
two_lines <- ggplot2::as_labeller(function(text) {
    ifelse(nchar(text) > 24L, sub(" - ", " -\n", text, fixed = TRUE), text)
})

# So few that those of one panel keep clear of the next one's.
few_times <- function(time, panels) {
    if (panels < 2L) return(NULL)
    scale <- if (inherits(time, "Date")) ggplot2::scale_x_date else
        if (inherits(time, "POSIXct")) ggplot2::scale_x_datetime else
        ggplot2::scale_x_continuous
    scale(breaks = function(limits) {
        at <- pretty(limits, 3L)
        at[at > min(limits) & at < max(limits)]
    }, guide = ggplot2::guide_axis(check.overlap = TRUE))
}

# Where all curves are of one kind there is nothing to tell apart.
curve_guide <- function(curves) {
    if (all(curves$reported == "reported")) "none" else "legend"
}

draw_total_rate <- function(object) {
    ggplot2::ggplot(object$total, ggplot2::aes(.data$time, .data$rate)) +
        ggplot2::geom_rect(
            ggplot2::aes(xmin = .data$lower, xmax = .data$upper, ymin = -Inf,
                         ymax = Inf),
            data = object$peak, inherit.aes = FALSE, fill = "grey90"
        ) +
        ggplot2::geom_vline(ggplot2::aes(xintercept = .data$time),
                            data = object$peak, colour = "grey50") +
        ggplot2::geom_line(colour = colour_changed) +
        ggplot2::labs(x = "time", y = "total rate",
                      caption = paste0("Shaded: ", format(100 * object$level),
                                       " % interval of the peak.")) +
        theme_kliepnet()
}

draw_drift_graphs <- function(object, times, vertices, label) {
    graphs <- drift_graphs(object, times, vertices, label)
    points <- graphs$points[rep(seq_len(nrow(graphs$points)),
                                length(graphs$times)), ]
    points$time <- factor(rep(graphs$times, each = nrow(graphs$points)),
                          graphs$times)
    lines <- graphs$lines
    lines$direction <- factor(ifelse(lines$weight > 0, "rises", "falls"),
                              c("rises", "falls"))
    ggplot2::ggplot(points, ggplot2::aes(.data$x, .data$y)) +
        draw_drift_lines(lines) +
        ggplot2::geom_point(size = 1.5, colour = "grey20") +
        ggplot2::geom_text(ggplot2::aes(label = short_name(.data$name)),
                           data = points[points$named, ], size = 2.5,
                           vjust = -0.8) +
        ggplot2::facet_wrap(ggplot2::vars(.data$time), drop = FALSE) +
        ggplot2::coord_cartesian(clip = "off") +
        # Room for names.
        theme_graph(diff(range(points$y)), room = 0.25)
}

draw_drift_lines <- function(lines) {
    if (nrow(lines) == 0L) return(NULL)
    list(
        ggplot2::geom_segment(
            ggplot2::aes(xend = .data$xend, yend = .data$yend,
                         colour = .data$direction, linetype = .data$direction,
                         linewidth = .data$size), data = lines
        ),
        ggplot2::scale_colour_manual(
            "interaction", values = c(rises = colour_positive,
                                      falls = colour_negative), drop = FALSE
        ),
        ggplot2::scale_linetype_manual(
            "interaction", values = c(rises = "solid", falls = "21"),
            drop = FALSE
        ),
        ggplot2::scale_linewidth_continuous(
            "rate", range = c(0.35, 2), limits = c(0, max(lines$size)),
            breaks = size_breaks(lines$size)
        )
    )
}

#' @rdname autoplot.kliep_time
#' @export
plot.kliep_time <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
