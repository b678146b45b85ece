# The heat map of a change matrix. What to draw is computed by matrix_cells()
# and matrix_order(); draw_change_matrix() only draws.

# Up to this many variables cells are squares with their names; beyond, a cell
# would be too small to see, and is drawn as a dot.
many_cells <- 40L

# ---- what to draw ----------------------------------------------------------

# The variables in an order in which those that change together stand
# together: connected parts one after the other, the largest first, and within
# a part neighbours close to each other. Variables without changes come last.
matrix_order <- function(graph) {
    edges <- graph$edges
    d <- length(graph$variables)
    made <- igraph::make_empty_graph(d, directed = FALSE)
    made <- igraph::add_edges(made, rbind(edges$from, edges$to),
                              weight = abs(edges$weight))
    parts <- igraph::components(made)
    parts <- split(seq_len(d), parts$membership)
    parts <- parts[order(-lengths(parts))]
    unlist(lapply(parts, function(part) {
        part[part_order(igraph::induced_subgraph(made, part))]
    }), use.names = FALSE)
}

# The order by the second eigenvector of the Laplacian, which has the smallest
# sum of squared distances over the edges. That of a very large part would
# take long, and its vertices are taken in the order of a search from the hub.
part_order <- function(graph, most = 400L) {
    n <- igraph::gorder(graph)
    if (n <= 2L) return(seq_len(n))
    hub <- which.max(igraph::degree(graph))
    if (n > most) return(as.integer(igraph::bfs(graph, hub)$order))
    weights <- igraph::as_adjacency_matrix(graph, attr = "weight",
                                           sparse = FALSE)
    # No edge may be so weak that it does not count.
    weights <- ifelse(weights > 0, 0.1 + weights / max(weights), 0)
    laplacian <- diag(rowSums(weights)) - weights
    place <- eigen(laplacian, symmetric = TRUE)$vectors[, n - 1L]
    # The sign is free: the hub comes in the first half.
    if (place[hub] > stats::median(place)) place <- -place
    order(place)
}

# One row for each cell that is not zero, in both triangles: its row and
# column as places in `order`, and its weight.
matrix_cells <- function(graph, order) {
    edges <- graph$edges
    place <- match(seq_along(graph$variables), order)
    cells <- data.frame(
        row = place[c(edges$from, edges$to)],
        column = place[c(edges$to, edges$from)],
        weight = rep(edges$weight, 2L),
        sign = rep(edges$sign, 2L)
    )
    cells$size <- abs(cells$weight)
    cells$style <- as_style(sign_style(cells$weight, !is.na(cells$sign)))
    cells
}

# Which variables to name along an axis of `n`: all, or those with the most
# changes as long as their names do not touch.
axis_places <- function(degree, most) {
    n <- length(degree)
    if (n <= many_cells) return(seq_len(n))
    kept <- integer()
    for (place in order(-degree)) {
        if (length(kept) >= most) break
        if (all(abs(place - kept) >= n / many_cells)) kept <- c(kept, place)
    }
    sort(kept)
}

# ---- drawing ---------------------------------------------------------------

draw_change_matrix <- function(graph, vertices = c("changed", "all"),
                               label = NULL, max_edges = NULL,
                               caption = NULL) {
    vertices <- check_choice(vertices, "vertices", c("changed", "all"))
    label <- check_whole_or(label, "label", 40, least = 0)
    strongest <- order(-abs(graph$edges$weight))
    all <- graph
    if (!is.null(max_edges)) {
        strongest <- utils::head(strongest, check_whole(max_edges,
                                                        "max_edges"))
    }
    graph$edges <- graph$edges[strongest, ]
    degree <- vertex_changes(graph)$degree
    order <- matrix_order(graph)
    if (vertices == "changed") order <- order[degree[order] > 0L]
    if (length(order) == 0L) return(draw_nothing())
    cells <- matrix_cells(graph, order)
    named <- axis_places(degree[order], label)
    if (label == 0) named <- integer()
    ggplot2::ggplot(cells, ggplot2::aes(.data$column, .data$row)) +
        draw_cells(cells, length(order), graph$conditions) +
        scale_places(named, graph$variables[order]) +
        ggplot2::coord_equal() +
        ggplot2::labs(x = NULL, y = NULL,
                      caption = graph_caption(caption, graph$edges, all)) +
        theme_matrix(length(order))
}

draw_cells <- function(cells, n, conditions) {
    if (n <= many_cells) return(draw_squares(cells, n, conditions))
    list(
        ggplot2::geom_point(
            ggplot2::aes(colour = .data$style, shape = .data$style,
                         size = .data$size)
        ),
        scale_dots(levels(cells$style), conditions),
        ggplot2::scale_size_continuous(
            "size of\nthe change",
            range = if (n <= 120L) c(0.8, 3) else c(0.4, 1.8),
            limits = c(0, max(cells$size, 0)),
            breaks = size_breaks(cells$size),
            guide = ggplot2::guide_legend(order = 2L)
        )
    )
}

# Full and open dots, so that the sign is seen in grey as well.
scale_dots <- function(shown, conditions) {
    colours <- stats::setNames(styles$colour, rownames(styles))
    shapes <- stats::setNames(rep(16, nrow(styles)), rownames(styles))
    shapes["higher in y"] <- 1
    first <- function(...) ggplot2::guide_legend(order = 1L, ...)
    shown <- intersect(c("higher in x", "higher in y", "detected"), shown)
    list(
        ggplot2::scale_colour_manual(
            NULL, values = colours, limits = shown,
            labels = sign_labels(shown, conditions),
            guide = first(override.aes = list(size = 2))
        ),
        ggplot2::scale_shape_manual(
            NULL, values = shapes, limits = shown, guide = first(),
            labels = sign_labels(shown, conditions)
        )
    )
}

# Squares with their sign written into them.
draw_squares <- function(cells, n, conditions) {
    signed <- !all(is.na(cells$sign))
    limit <- max(cells$size, 0)
    cells$mark <- ifelse(is.na(cells$sign), "",
                         ifelse(cells$sign > 0, "+", "-"))
    dark <- cells$size > 0.6 * limit
    list(
        ggplot2::geom_tile(
            ggplot2::aes(fill = .data$weight), width = 0.94, height = 0.94,
            colour = "grey70", linewidth = 0.2
        ),
        ggplot2::geom_text(
            ggplot2::aes(label = .data$mark), data = cells,
            colour = ifelse(dark, "white", "grey20"),
            size = min(5, 80 / n)
        ),
        if (signed) ggplot2::scale_fill_gradient2(
            paste0("change\n(> 0: ", sign_labels("higher in x", conditions),
                   ")"),
            low = colour_negative, mid = "grey97", high = colour_positive,
            limits = c(-limit, limit)
        ) else ggplot2::scale_fill_gradient(
            "size of\nthe change", low = "#DCE8F2", high = colour_positive,
            limits = c(0, limit)
        )
    )
}

# The first variable at the top left.
scale_places <- function(named, names) {
    n <- length(names)
    limits <- c(0.5, n + 0.5)
    names <- short_name(names[named])
    list(
        ggplot2::scale_x_continuous(breaks = named, labels = names,
                                    limits = limits, expand = c(0, 0)),
        ggplot2::scale_y_reverse(breaks = named, labels = names,
                                 limits = rev(limits), expand = c(0, 0))
    )
}

theme_matrix <- function(n) {
    size <- if (n <= 20L) 9 else 7
    list(
        theme_kliepnet(),
        ggplot2::theme(
            axis.text = ggplot2::element_text(size = size),
            axis.text.x = ggplot2::element_text(angle = 90, hjust = 1,
                                                vjust = 0.5),
            # The panel is square: room is at its side.
            legend.position = "right",
            legend.title = ggplot2::element_text(size = 9),
            panel.grid.major = ggplot2::element_line(
                colour = "grey92", linewidth = if (n <= many_cells) 0.3 else
                    0.15
            ),
            panel.border = ggplot2::element_rect(fill = NA, colour = "grey60",
                                                 linewidth = 0.3)
        )
    )
}
