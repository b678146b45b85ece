# The picture of a path. What to draw is computed by path_lines() and
# edge_bars(); the autoplot() methods only draw.

# Okabe-Ito colours: told apart by colour-blind readers, and in grey by their
# lightness together with line type and width.
colour_positive <- "#0072B2"
colour_negative <- "#D55E00"
colour_changed <- "#D55E00"
colour_weak <- "grey65"

# ---- what to draw ----------------------------------------------------------

# Weights of edges over the path: one row for each edge and lambda2, zeros
# included, for at most `max_edges` edges, the strongest anywhere on the path
# first. Changed edges come first where `truth` is known.
path_lines <- function(object, truth = NULL, max_edges = 200L) {
    # log(0) has no place on the axis.
    steps <- intersect(fitted_steps(object), which(object$lambda2 > 0))
    weights <- edge_weights(object, steps)
    kept <- strongest_edges(object, weights, truth, max_edges)
    grid <- expand.grid(step = steps, edge = seq_len(nrow(kept)))
    d <- as.double(length(object$variables))
    key <- function(step, from, to) (step * d + from) * d + to
    at <- match(key(grid$step, kept$from[grid$edge], kept$to[grid$edge]),
                key(weights$step, weights$from, weights$to))
    data.frame(
        edge = kept$label[grid$edge],
        rank = grid$edge,
        changed = kept$changed[grid$edge],
        lambda2 = object$lambda2[grid$step],
        weight = ifelse(is.na(at), 0, weights$weight[at])
    )
}

strongest_edges <- function(object, weights, truth, max_edges) {
    by_size <- order(-abs(weights$weight), weights$from, weights$to)
    found <- weights[by_size, c("from", "to")]
    found <- found[!duplicated(found), ]
    found$label <- edge_label(object$variables[found$from],
                              object$variables[found$to])
    found$changed <- is_changed(object, found, truth)
    found <- found[order(!found$changed), ]
    utils::head(found, max_edges)
}

# Where the labels of `n` edges go, changed ones first and then the strongest:
# at the end of their lines, moved apart so that none covers another.
line_labels <- function(lines, n) {
    last <- lines[lines$lambda2 == min(lines$lambda2) & lines$weight != 0, ]
    last <- utils::head(last[order(!last$changed, -abs(last$weight)), ], n)
    last$at <- spread_apart(last$weight, 0.055 * diff(range(lines$weight)))
    last
}

# The values nearest to `positions`, in the same order, that are at least
# `distance` apart: neighbours that are too close share their mean position.
spread_apart <- function(positions, distance) {
    order <- order(positions)
    # On shifted positions "at least distance apart" reads "not decreasing".
    shift <- distance * seq_along(positions)
    positions[order] <- stats::isoreg(positions[order] - shift)$yf + shift
    positions
}

# ---- drawing ---------------------------------------------------------------

#' Plot a path of changes
#'
#' Draws how the changes develop over the penalty, or the graph or the matrix of
#' the changes at one value of it.
#'
#' `type = "path"` draws the weight of every edge against `lambda2`, from the
#' sparse end on the left to the dense end on the right, and names the
#' strongest edges. Their colour says in which sample the interaction is higher;
#' all others are grey. The axis on top has the number of edges that are
#' detected. Where the changed edges are known (`truth`), they are dashed and
#' coloured instead. A single [kliep_change()] is drawn as its strongest
#' edges in order.
#'
#' `type = "graph"` draws the changed edges at one `lambda2` as a graph. The
#' wider a line, the larger the change; its colour says in which sample the
#' interaction is higher, and lines that are higher in `y` are dashed. Edges
#' with several coefficients have no sign, and all look alike. The more of its
#' edges have changed, the larger the dot of a variable. The same graph always
#' gives the same picture, and the random number generator is left alone.
#'
#' `type = "matrix"` draws the matrix of the changes at one `lambda2`, with the
#' variables in an order in which those that change together stand together:
#' squares with a plus sign (higher in `x`) or a minus sign for up to 40
#' variables, beyond that full (higher in `x`) and open dots.
#'
#' `type = "modules"` sums up a graph that is too large to be read: variables
#' that change together are one dot, named by the one with most changes and how
#' many others there are, and lines count the edges between two modules.
#'
#' @param object,x A `change_path`.
#' @param type What to draw.
#' @param truth For `"path"`, the changed edges, if known, in any form that
#'   [pr_curve()] takes: a simulated pair, a data frame or an adjacency matrix.
#' @param lambda2 For `"path"`, mark this value by a vertical line. For a graph
#'   or a matrix, the value to take the edges from, as in [edges()].
#' @param label How many edges of a path to name, the strongest, or how many
#'   variables of a graph or a matrix, those with most changes. `NULL` is 8
#'   edges or 40 variables. A graph leaves out names that would lie on others; a
#'   larger picture has room for more.
#' @param max_edges The most edges to draw: the strongest, changed ones first.
#'   `NULL` is 200 for paths and 150 for graphs: more lines than this make a
#'   picture slow to draw and no easier to read.
#' @param vertices Of a graph or a matrix, the variables to draw: those with a
#'   `"changed"` edge, or `"all"`.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @aliases autoplot
#' @importFrom ggplot2 autoplot .data
#' @export autoplot
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 20, n = 500, n_changed = 5)
#' path <- kliep_path(pair$x, pair$y, lambda_min_ratio = 0.3)
#' plot(path)
#' plot(path, truth = pair$truth)
#' plot(path, type = "graph", lambda2 = path$lambda2[30])
#' plot(path, type = "matrix", lambda2 = path$lambda2[30])
autoplot.change_path <- function(object, type = c("path", "graph", "matrix",
                                                  "modules"),
                                 truth = NULL, lambda2 = NULL, label = NULL,
                                 max_edges = NULL,
                                 vertices = c("changed", "all"), ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("path", "graph", "matrix",
                                         "modules"))
    if (type == "path") {
        return(draw_path(object, truth, lambda2, label, max_edges))
    }
    refuse_truth(truth, type)
    draw_graph_of(object, type, lambda2, caption = lambda2_caption(object,
                                                                   lambda2),
                  vertices = vertices, label = label, max_edges = max_edges)
}

draw_path <- function(object, truth, lambda2, label, max_edges) {
    label <- check_whole_or(label, "label", 8, least = 0)
    max_edges <- check_whole_or(max_edges, "max_edges", 200)
    mark <- mark_lambda2(lambda2)
    lines <- path_lines(object, truth, max_edges)
    if (nrow(lines) == 0L || length(unique(lines$lambda2)) == 1L) {
        return(draw_bars(object, truth))
    }
    labels <- line_labels(lines, label)
    lines$style <- line_style(lines, labels, !is.null(truth),
                              is_signed(object))
    draw_lines(lines, labels) +
        scale_styles("lines", object$conditions, "other edges") +
        scale_lambda2(lines$lambda2, labels$edge, object$diagnostics) +
        mark
}

refuse_truth <- function(truth, type, right = "path") {
    if (is.null(truth)) return(invisible())
    stop_kliep("argument",
               paste0("`truth` is for `type = \"", right, "\"`: got \"", type,
                      "\"."),
               hint = "Leave it out.")
}

# The picture of a graph or a matrix, for anything that change_graph() takes.
draw_graph_of <- function(object, type, lambda2 = NULL, ...) {
    # A path may have no fit at all.
    if (inherits(object, "change_path") &&
        length(fitted_steps(object)) == 0L) {
        return(draw_nothing())
    }
    graph <- change_graph(object, lambda2)
    switch(type, graph = draw_change_graph(graph, ...),
           matrix = draw_change_matrix(graph, ...),
           modules = draw_modules(graph, list(...)$caption))
}

lambda2_caption <- function(object, lambda2) {
    if (length(fitted_steps(object)) == 0L) return(NULL)
    step <- suppressMessages(find_step(object, lambda2))
    paste("lambda2 =", format(object$lambda2[step], digits = 3L))
}

#' @rdname autoplot.change_path
#' @export
plot.change_path <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

# An edge with one coefficient has a direction, a norm has none.
is_signed <- function(object) {
    edges <- unique(edge_weights(object)[c("from", "to")])
    all(has_one_coefficient(object$spec$features, edges$from, edges$to))
}

draw_lines <- function(lines, labels) {
    # Faint lines first, so that they do not cover the others.
    lines <- lines[order(lines$style, -lines$rank), ]
    lines$rank <- factor(lines$rank, unique(lines$rank))
    lines <- lines[!is_resting(lines), ]
    ggplot2::ggplot(lines, ggplot2::aes(-log10(.data$lambda2), .data$weight)) +
        ggplot2::geom_hline(yintercept = 0, colour = "grey40",
                            linewidth = 0.3) +
        ggplot2::geom_line(
            ggplot2::aes(group = .data$rank, colour = .data$style,
                         linetype = .data$style, linewidth = .data$style)
        ) +
        draw_labels(labels, lines$lambda2) +
        ggplot2::labs(x = expression(lambda[2]), y = "weight of the edge") +
        theme_kliepnet()
}

# Points at zero whose neighbours on the line are zero, too: they are not drawn,
# so that the axis stays clean.
is_resting <- function(lines) {
    zero <- lines$weight == 0
    first <- !duplicated(lines$rank)
    last <- !duplicated(lines$rank, fromLast = TRUE)
    before <- first | c(TRUE, zero[-length(zero)])
    after <- last | c(zero[-1L], TRUE)
    zero & before & after
}

line_style <- function(lines, labels, known, signed) {
    style <- if (known) {
        ifelse(lines$changed, "changed", "not changed")
    } else {
        found <- match(lines$rank, labels$rank)
        ifelse(is.na(found), "other", sign_style(labels$weight, signed)[found])
    }
    as_style(style)
}

# `signed` for all, or for each of them.
sign_style <- function(weight, signed) {
    signed <- rep_len(signed, length(weight))
    ifelse(signed, ifelse(weight > 0, "higher in x", "higher in y"),
           rep("detected", length(weight)))
}

# Drawn in this order, each over the ones before.
styles <- data.frame(
    row.names = c("other", "not changed", "detected", "higher in y",
                  "higher in x", "changed"),
    colour = c(colour_weak, colour_weak, colour_positive, colour_negative,
               colour_positive, colour_changed),
    width = c(0.3, 0.3, 0.7, 0.7, 0.7, 0.7),
    line = c("solid", "solid", "solid", "solid", "solid", "42"),
    shape = c(1, 1, 16, 16, 17, 16)
)

as_style <- function(style) factor(style, intersect(rownames(styles), style))

# `other` says what those are that have a style of no other name. Only scales of
# what is mapped: ggplot2 warns of the others.
scale_styles <- function(drawn = c("points", "lines"), conditions = NULL,
                         other = "other") {
    drawn <- match.arg(drawn)
    named <- function(column) {
        stats::setNames(styles[[column]], rownames(styles))
    }
    words <- function(shown) {
        replace(sign_labels(shown, conditions), shown == "other", other)
    }
    # What is drawn last, over all others, comes first.
    guide <- ggplot2::guide_legend(reverse = TRUE)
    scale <- function(make, column) {
        make(values = named(column), name = NULL, labels = words,
             guide = guide)
    }
    colour <- scale(ggplot2::scale_colour_manual, "colour")
    switch(drawn,
           points = list(colour, scale(ggplot2::scale_shape_manual, "shape")),
           lines = list(colour,
                        scale(ggplot2::scale_linewidth_manual, "width"),
                        scale(ggplot2::scale_linetype_manual, "line")))
}

draw_labels <- function(labels, lambda2) {
    end <- -log10(min(lambda2))
    width <- diff(log10(range(lambda2)))
    list(
        ggplot2::geom_segment(
            ggplot2::aes(x = end, xend = end + 0.015 * width,
                         y = .data$weight, yend = .data$at),
            data = labels, colour = "grey60", linewidth = 0.3
        ),
        ggplot2::geom_text(
            ggplot2::aes(x = end + 0.02 * width, y = .data$at,
                         label = .data$edge),
            data = labels, hjust = 0, size = 3
        )
    )
}

# Reads from large to small, with room on the right for the labels, and the
# number of edges on top where there are `diagnostics`.
scale_lambda2 <- function(lambda2, labels, diagnostics = NULL) {
    breaks <- lambda2_breaks(range(lambda2))
    # The share of the panel that the longest label takes at the usual size.
    share <- min(0.55, 0.02 + 0.0125 * max(0L, nchar(labels)))
    ggplot2::scale_x_continuous(
        breaks = -log10(breaks),
        labels = format(breaks, drop0trailing = TRUE, trim = TRUE),
        expand = ggplot2::expansion(mult = c(0.02, share / (1 - share))),
        sec.axis = if (is.null(diagnostics)) ggplot2::waiver() else
            ggplot2::dup_axis(name = "number of edges",
                              labels = edges_near(breaks, diagnostics))
    )
}

# The number of edges at the value of lambda2 that is nearest.
edges_near <- function(lambda2, diagnostics) {
    known <- diagnostics[diagnostics$lambda2 > 0, ]
    at <- vapply(lambda2, function(value) {
        which.min(abs(log(known$lambda2 / value)))
    }, 0L)
    format(known$n_edges[at], big.mark = ",", trim = TRUE)
}

# The coarsest round numbers of which at least three lie on the axis.
lambda2_breaks <- function(range) {
    decades <- 10^seq(floor(log10(range[1L])), ceiling(log10(range[2L])))
    steps <- list(1, c(1, 2, 5), c(1, 1.5, 2, 3, 5, 7),
                  c(1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8))
    for (step in steps) {
        breaks <- sort(as.vector(outer(step, decades)))
        inside <- breaks >= range[1L] * 0.999 & breaks <= range[2L] * 1.001
        if (sum(inside) >= 3L) return(breaks[inside])
    }
    signif(range, 2L)
}

mark_lambda2 <- function(lambda2) {
    if (is.null(lambda2)) return(NULL)
    lambda2 <- check_number(lambda2, "lambda2", "lambda")
    check_lambda_values(lambda2, "lambda2")
    ggplot2::geom_vline(xintercept = -log10(lambda2), colour = "grey20",
                        linewidth = 0.4)
}

# One lambda2: the strongest edges in order, as a dot each.
draw_bars <- function(object, truth, most = 25L) {
    if (length(fitted_steps(object)) == 0L) return(draw_nothing())
    bars <- utils::head(edges(object), most)
    if (nrow(bars) == 0L) return(draw_nothing())
    bars$edge <- edge_label(bars$from, bars$to)
    bars$place <- factor(seq_len(nrow(bars)), rev(seq_len(nrow(bars))))
    bars$style <- bar_style(object, bars, truth)
    ggplot2::ggplot(bars, ggplot2::aes(.data$weight, .data$place,
                                       colour = .data$style)) +
        ggplot2::geom_vline(xintercept = 0, colour = "grey40",
                            linewidth = 0.3) +
        ggplot2::geom_segment(
            ggplot2::aes(x = 0, xend = .data$weight, yend = .data$place),
            linewidth = 0.5, show.legend = FALSE
        ) +
        ggplot2::geom_point(ggplot2::aes(shape = .data$style), size = 2) +
        scale_styles("points", object$conditions) +
        ggplot2::scale_y_discrete(labels = rev(bars$edge)) +
        ggplot2::labs(x = "weight of the edge", y = NULL) +
        theme_kliepnet() +
        theme_rows(nrow(bars))
}

bar_style <- function(object, bars, truth) {
    if (is.null(truth)) {
        return(as_style(sign_style(bars$weight, is_signed(object))))
    }
    found <- data.frame(from = match(bars$from, object$variables),
                        to = match(bars$to, object$variables))
    as_style(ifelse(is_changed(object, found, truth), "changed",
                    "not changed"))
}

# Names of many rows are set smaller, to stay apart.
theme_rows <- function(n) {
    size <- if (n <= 20L) 9 else if (n <= 30L) 7 else 5.5
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = size))
}

draw_nothing <- function(label = "No edges detected") {
    ggplot2::ggplot() +
        ggplot2::annotate("text", x = 0, y = 0, label = label) +
        ggplot2::theme_void()
}

theme_kliepnet <- function() {
    ggplot2::theme_minimal(base_size = 11) +
        ggplot2::theme(
            legend.position = "top",
            legend.justification = "left",
            panel.grid.minor = ggplot2::element_blank()
        )
}
