# A large change graph in few dots: variables that change together are one
# module. What to draw is computed by graph_modules(); draw_modules() only
# draws.

# The module of every variable with an edge, NA for all others: by greedy
# modularity, which has nothing random about it, the largest module first.
find_modules <- function(graph) {
    edges <- graph$edges
    joined <- sort(unique(c(edges$from, edges$to)))
    made <- igraph::make_empty_graph(length(joined), directed = FALSE)
    made <- igraph::add_edges(
        made, rbind(match(edges$from, joined), match(edges$to, joined)),
        weight = pmax(abs(edges$weight), 1e-9)
    )
    found <- igraph::membership(igraph::cluster_fast_greedy(made))
    rank <- order(-tabulate(found))
    module <- rep(NA_integer_, length(graph$variables))
    module[joined] <- match(as.integer(found), rank)
    module
}

# `points`: one row for each module, with its number of variables and of edges
# within it, and its hub. `lines`: one for each two modules with edges between.
graph_modules <- function(graph) {
    module <- find_modules(graph)
    edges <- graph$edges
    from <- module[edges$from]
    to <- module[edges$to]
    n <- max(module, na.rm = TRUE)
    changes <- vertex_changes(graph)
    hub <- vapply(seq_len(n), function(number) {
        members <- which(module == number)
        members[order(-changes$degree[members], -changes$strength[members])[1L]]
    }, 1L)
    size <- tabulate(module, n)
    between <- from != to
    ends <- ordered_ends(from[between], to[between])
    key <- edge_key(ends, n)
    list(
        points = data.frame(hub = graph$variables[hub], size = size,
                            edges = tabulate(from[!between], n)),
        lines = data.frame(ends[!duplicated(key), ],
                           count = as.vector(table(factor(key, unique(key)))))
    )
}

draw_modules <- function(graph, caption = NULL) {
    if (nrow(graph$edges) == 0L) return(draw_nothing())
    modules <- graph_modules(graph)
    points <- modules$points
    place <- graph_layout(modules$lines$from, modules$lines$to, nrow(points))
    points <- cbind(points, x = place[, 1L], y = place[, 2L], named = TRUE)
    points$name <- module_names(points)
    points$side <- name_sides(points, modules$lines)
    lines <- place_lines(modules$lines, points, directed = FALSE)
    ggplot2::ggplot(mapping = ggplot2::aes(.data$x, .data$y)) +
        draw_between(lines) +
        ggplot2::geom_point(ggplot2::aes(size = .data$size,
                                         colour = .data$edges), points) +
        ggplot2::scale_size_area(
            "variables", max_size = 14, breaks = count_breaks(points$size),
            guide = ggplot2::guide_legend(
                override.aes = list(colour = colour_positive)
            )
        ) +
        # Keys are lower than a colour bar, which would leave no room for other
        # legends.
        ggplot2::scale_colour_gradient(
            "edges within", low = "#BFD7EA", high = colour_positive,
            breaks = count_breaks(points$edges), guide = ggplot2::guide_legend(
                override.aes = list(size = 4)
            )
        ) +
        # Beside the points, which are large and may be dark.
        draw_names(points, short = identity, above = 0.14) +
        ggplot2::labs(caption = module_caption(caption, graph, points)) +
        ggplot2::coord_cartesian(clip = "off") +
        theme_graph(diff(range(points$y))) +
        # Three keys in a row would leave the page.
        ggplot2::theme(legend.position = "right",
                       legend.spacing.y = ggplot2::unit(2, "pt"),
                       legend.margin = ggplot2::margin(2, 0, 2, 0))
}

# On two lines: the keys beside the graph leave little room.
module_caption <- function(caption, graph, points) {
    paste0(
        paste(c(caption, count_of(nrow(graph$edges), "edge")),
              collapse = "; "),
        " in ", count_of(nrow(points), "module"),
        ",\neach named by its hub. Line: edges between two."
    )
}

module_names <- function(points) {
    others <- points$size - 1L
    paste0(short_name(points$hub), " + ", others)
}

draw_between <- function(lines) {
    if (nrow(lines) == 0L) return(NULL)
    list(
        ggplot2::geom_segment(
            ggplot2::aes(xend = .data$xend, yend = .data$yend,
                         linewidth = .data$count),
            data = lines, colour = "grey70"
        ),
        ggplot2::scale_linewidth_continuous(
            "edges between", range = c(0.3, 3), limits = c(0, NA),
            breaks = count_breaks(lines$count)
        )
    )
}

# Edges and variables come whole.
count_breaks <- function(counts) unique(ceiling(size_breaks(counts)))
