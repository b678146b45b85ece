# Pictures of pairs of networks. What to draw is computed by pair_vertices()
# and pair_lines(); the autoplot() method only draws.

# ---- what to draw ----------------------------------------------------------

# Where the variables go. Edges that change pull like all others, so that both
# networks share one layout; variables without edges stand below.
pair_vertices <- function(pair) {
    lines <- unique(rbind(network_edges(pair$networks$x),
                          network_edges(pair$networks$y)))
    variables <- colnames(pair$x)
    place <- graph_layout(lines$from, lines$to, length(variables))
    data.frame(
        name = variables, x = place[, 1L], y = place[, 2L],
        changed = variables %in% c(pair$truth$from, pair$truth$to)
    )
}

# One row for each edge in each network, and for a changed edge in the network
# that does not have it.
pair_lines <- function(pair) {
    changed <- data.frame(from = match(pair$truth$from, colnames(pair$x)),
                          to = match(pair$truth$to, colnames(pair$x)))
    lines <- lapply(c(x = "x", y = "y"), function(which) {
        lines <- edge_kinds(pair$networks[[which]], pair$family)
        absent <- changed[!edge_text(changed) %in% edge_text(lines), ]
        if (nrow(absent) > 0L) {
            lines <- rbind(lines, cbind(absent, kind = "absent"))
        }
        lines$network <- rep(which, nrow(lines))
        lines$changed <- edge_text(lines) %in% edge_text(changed)
        lines
    })
    lines <- do.call(rbind, lines)
    rownames(lines) <- NULL
    lines
}

# What an edge is, in words: the sign of its coefficient in the log-density,
# which only an Ising model has the same as its matrix, or the type of an
# interaction, which goes from the regulator to the target.
edge_kinds <- function(network, family) {
    if (!inherits(network, "gene_network")) {
        edges <- matrix_edges(network)
        positive <- (edges$value > 0) == (family == "ising")
        return(data.frame(from = edges$from, to = edges$to,
                          kind = ifelse(positive, "positive", "negative")))
    }
    arrows <- network_for_rust(network)
    kinds <- c("activation", "repression", "dual")
    edges <- data.frame(from = arrows$from, to = arrows$to,
                        kind = kinds[arrows$kind])
    edges[edges$from != edges$to, ]
}

# Beyond this many variables, not all can be named.
many_variables <- 30L

# ---- drawing ---------------------------------------------------------------

#' Plot a pair of networks
#'
#' Draws both networks side by side with the variables in the same places.
#' Changed edges are thick and coloured: solid or dashed by the sign of their
#' coefficient in the log-density, or by the type of an interaction, and dotted
#' thin where the network does not have them. A positive coefficient lets two
#' variables go up together; an entry of a precision matrix has the opposite
#' sign. All other edges are grey. Among 30 genes or fewer, interactions have
#' an arrow towards the target.
#'
#' @param object,x A `network_pair` from one of the `sim_*()` functions.
#' @param label Which variables to name: `"all"`, those with a `"changed"`
#'   edge, `"none"`, or `NULL` for all as long as there are 30 at most, and the
#'   changed ones beyond.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' plot(sim_gaussian(d = 10, n_changed = 3))
#' plot(sim_genes())
autoplot.network_pair <- function(object, label = NULL, ...) {
    check_dots(list(...), names(formals()), "autoplot")
    vertices <- pair_vertices(object)
    if (is.null(label)) {
        label <- if (nrow(vertices) <= many_variables) "all" else "changed"
    }
    label <- check_choice(label, "label", c("all", "changed", "none"))
    # Heads of many arrows would hide everything else.
    directed <- inherits(object$networks$x, "gene_network") &&
        nrow(vertices) <= many_variables
    lines <- place_lines(pair_lines(object), vertices, directed)
    ggplot2::ggplot(mapping = ggplot2::aes(.data$x, .data$y)) +
        draw_unchanged(lines[!lines$changed, ], directed) +
        draw_changes(lines[lines$changed, ], directed) +
        draw_vertices(in_both(vertices), label, lines) +
        ggplot2::facet_wrap(ggplot2::vars(.data$network),
                            labeller = ggplot2::as_labeller(
                                network_titles(object))) +
        ggplot2::coord_equal(clip = "off") +
        theme_graph()
}

#' @rdname autoplot.network_pair
#' @export
plot.network_pair <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

network_titles <- function(pair) {
    edges <- vapply(pair$networks, count_edges, 0L)
    c(x = paste0("x: ", count_of(edges[["x"]], "edge")),
      y = paste0("y: ", count_of(edges[["y"]], "edge")))
}

in_both <- function(vertices) {
    rbind(cbind(vertices, network = "x"), cbind(vertices, network = "y"))
}

arrow_head <- function(directed) {
    if (!directed) return(NULL)
    ggplot2::arrow(length = ggplot2::unit(4, "pt"), type = "closed")
}

# The more edges there are, the fainter.
draw_unchanged <- function(lines, directed) {
    ggplot2::geom_segment(
        ggplot2::aes(xend = .data$xend, yend = .data$yend), data = lines,
        colour = "grey50", linewidth = 0.3, arrow = arrow_head(directed),
        alpha = min(1, max(0.12, 500 / max(1, nrow(lines))))
    )
}

draw_changes <- function(lines, directed) {
    # A scale without anything to scale makes newer versions of ggplot2 warn.
    if (nrow(lines) == 0L) return(NULL)
    lines$kind <- factor(lines$kind, intersect(names(kind_lines),
                                               lines$kind))
    widths <- ifelse(names(kind_lines) == "absent", 0.4, 0.9)
    title <- "changed edges"
    list(
        ggplot2::geom_segment(
            ggplot2::aes(xend = .data$xend, yend = .data$yend,
                         linetype = .data$kind, linewidth = .data$kind),
            data = lines, colour = colour_changed, arrow = arrow_head(directed)
        ),
        ggplot2::scale_linetype_manual(title, values = kind_lines),
        ggplot2::scale_linewidth_manual(
            title, values = stats::setNames(widths, names(kind_lines))
        )
    )
}

kind_lines <- c(positive = "solid", negative = "42", activation = "solid",
                repression = "42", dual = "4212", absent = "12")

draw_vertices <- function(vertices, label, lines) {
    vertices$named <- switch(label, all = TRUE, changed = vertices$changed,
                             none = FALSE)
    list(draw_points(vertices), draw_names(vertices, lines))
}

draw_points <- function(vertices) {
    points <- function(vertices, size, colour) {
        ggplot2::geom_point(data = vertices, size = size, colour = colour)
    }
    list(points(vertices[!vertices$changed, ], 0.7, "grey40"),
         points(vertices[vertices$changed, ], 1.4, colour_changed))
}
