# Drawing graphs: the change graph, and what it shares with the picture of a
# pair of networks. Where vertices go is computed by graph_layout(), what to
# draw by graph_lines() and graph_points(); the rest only draws.

# ---- where vertices go -----------------------------------------------------

# Places of `n` vertices within the unit square, one row each; isolated ones
# stand in rows below zero. Each connected part is laid out by itself, and the
# parts are set side by side, the tallest first. Nothing here is random: the
# same graph gives the same picture.
graph_layout <- function(from, to, n) {
    place <- matrix(0, n, 2L)
    joined <- sort(unique(c(from, to)))
    alone <- setdiff(seq_len(n), joined)
    if (length(joined) > 0L) {
        graph <- igraph::make_empty_graph(length(joined), directed = FALSE)
        graph <- igraph::add_edges(graph, rbind(match(from, joined),
                                                match(to, joined)))
        graph <- igraph::simplify(graph)
        member <- igraph::components(graph)$membership
        parts <- split(seq_along(joined), member)
        places <- lapply(parts, function(part) {
            part_layout(igraph::induced_subgraph(graph, part))
        })
        packed <- pack_parts(places)
        place[joined[unlist(parts)], ] <- unit_square(packed)
    }
    place[alone, ] <- rows_below(length(alone))
    place
}

# Kamada and Kawai's layout has no random start. Turned so that the part lies
# along the x-axis, with edges of length one on average.
part_layout <- function(graph) {
    place <- igraph::layout_with_kk(graph)
    place <- sweep(place, 2L, colMeans(place))
    if (nrow(place) > 2L) {
        axes <- eigen(crossprod(place), symmetric = TRUE)$vectors
        # The sign of an axis is free: the first vertex goes to the left.
        place <- place %*% axes
        place <- sweep(place, 2L, ifelse(place[1L, ] > 0, -1, 1), "*")
    } else {
        place <- cbind(c(-0.5, 0.5), 0)
    }
    ends <- igraph::as_edgelist(graph, names = FALSE)
    long <- sqrt(rowSums((place[ends[, 1L], , drop = FALSE] -
                              place[ends[, 2L], , drop = FALSE])^2))
    place / max(mean(long), 1e-9)
}

# All parts in one picture about as wide as high: in rows from the top, the
# tallest first, each row as high as its first part.
pack_parts <- function(places, margin = 0.9) {
    width <- vapply(places, function(place) diff(range(place[, 1L])), 0)
    height <- vapply(places, function(place) diff(range(place[, 2L])), 0)
    width <- width + margin
    height <- height + margin
    wide <- max(width, 1.15 * sqrt(sum(width * height)))
    corner <- c(0, 0)
    row_height <- 0
    for (part in order(-height, -width)) {
        if (corner[1L] > 0 && corner[1L] + width[part] > wide + 1e-9) {
            corner <- c(0, corner[2L] - row_height)
            row_height <- 0
        }
        row_height <- max(row_height, height[part])
        place <- places[[part]]
        places[[part]] <- cbind(
            place[, 1L] - min(place[, 1L]) + corner[1L],
            place[, 2L] - max(place[, 2L]) + corner[2L]
        )
        corner[1L] <- corner[1L] + width[part]
    }
    do.call(rbind, unname(places))
}

# Both axes by the same factor: lengths stay comparable.
unit_square <- function(place) {
    place <- sweep(place, 2L, apply(place, 2L, min))
    place / max(place, 1e-9)
}

rows_below <- function(n, row = 40L) {
    if (n == 0L) return(matrix(0, 0L, 2L))
    row <- min(n, row)
    at <- seq_len(n) - 1L
    cbind((at %% row + 1) / (row + 1), -0.1 - 0.04 * (at %/% row))
}

# ---- what to draw ----------------------------------------------------------

# At most `max_edges` edges, the strongest, each with its style and the sizes
# that are drawn.
graph_lines <- function(graph, max_edges = Inf) {
    lines <- graph$edges
    lines <- lines[order(-abs(lines$weight), lines$from, lines$to), ]
    lines <- utils::head(lines, max_edges)
    lines$size <- abs(lines$weight)
    lines$style <- as_style(sign_style(lines$weight, !is.na(lines$sign)))
    lines
}

# The variables with their places: those with an edge, or all. The `label`
# with most changes are named.
graph_points <- function(graph, lines, vertices, label) {
    place <- graph_layout(lines$from, lines$to, length(graph$variables))
    changes <- vertex_changes(list(variables = graph$variables, edges = lines))
    points <- data.frame(
        name = graph$variables, x = place[, 1L], y = place[, 2L],
        degree = changes$degree, changed = changes$degree > 0L
    )
    rank <- order(order(-changes$degree, -changes$strength))
    points$named <- rank <= label & (points$changed | vertices == "all")
    points$side <- name_sides(points, lines)
    # Only after `from` and `to` have been looked up.
    points$shown <- points$changed | vertices == "all"
    points
}

# Whether the name of a variable begins above it (1) or below (-1): away from
# its neighbours, and the two ends of a level edge on different sides, so that
# names of a row of pairs do not meet.
name_sides <- function(points, lines) {
    rise <- points$y[lines$to] - points$y[lines$from]
    run <- points$x[lines$to] - points$x[lines$from]
    up <- rise / pmax(sqrt(run^2 + rise^2), 1e-9)
    ends <- factor(c(lines$from, lines$to), seq_len(nrow(points)))
    mean_up <- as.vector(tapply(c(up, -up), ends, mean, default = 0))
    side <- ifelse(mean_up > 0.3, -1, 1)
    degree <- tabulate(ends, nrow(points))
    for (k in which(abs(up) < 0.3)) {
        from <- lines$from[k]
        to <- lines$to[k]
        if (side[from] != side[to]) next
        # The one with fewer edges gives way.
        moves <- if (degree[to] <= degree[from]) to else from
        side[moves] <- -side[moves]
    }
    side
}

# ---- drawing ---------------------------------------------------------------

# The change graph of an object, which is anything that change_graph() takes.
draw_change_graph <- function(graph, vertices = c("changed", "all"),
                              label = NULL, max_edges = NULL,
                              caption = NULL) {
    vertices <- check_choice(vertices, "vertices", c("changed", "all"))
    label <- check_whole_or(label, "label", 40, least = 0)
    max_edges <- check_whole_or(max_edges, "max_edges", 150)
    lines <- graph_lines(graph, max_edges)
    if (nrow(lines) == 0L && vertices == "changed") return(draw_nothing())
    points <- graph_points(graph, lines, vertices, label)
    lines <- place_lines(lines, points, directed = FALSE)
    # Thin lines last, over thick ones.
    lines <- lines[order(-lines$size), ]
    ggplot2::ggplot(mapping = ggplot2::aes(.data$x, .data$y)) +
        draw_sized_lines(lines, graph$conditions) +
        draw_sized_points(points[points$shown, ]) +
        draw_names(points[points$shown, ], lines) +
        ggplot2::labs(caption = graph_caption(caption, lines, graph)) +
        ggplot2::coord_cartesian(clip = "off") +
        theme_graph(diff(range(points$y[points$shown])))
}

# At which lambda2, and how much is left out.
graph_caption <- function(caption, lines, graph) {
    all <- nrow(graph$edges)
    left <- if (nrow(lines) < all)
        paste("the strongest", nrow(lines), "of", count_of(all, "edge"))
    else count_of(all, "edge")
    paste(c(caption, left), collapse = "; ")
}

draw_sized_lines <- function(lines, conditions) {
    if (nrow(lines) == 0L) return(NULL)
    faint <- if (nrow(lines) > 150L) 0.7 else 0.9
    list(
        ggplot2::geom_segment(
            ggplot2::aes(xend = .data$xend, yend = .data$yend,
                         colour = .data$style, linetype = .data$style,
                         linewidth = .data$size),
            data = lines, alpha = faint, lineend = "butt"
        ),
        scale_signs(levels(lines$style), conditions),
        ggplot2::scale_linewidth_continuous(
            "size of the change", range = c(0.35, 2.4),
            limits = c(0, max(lines$size)), breaks = size_breaks(lines$size),
            guide = ggplot2::guide_legend(order = 2L)
        )
    )
}

# Colours for the eye, dashes for readers in grey.
scale_signs <- function(shown, conditions) {
    values <- function(column) {
        stats::setNames(styles[[column]], rownames(styles))
    }
    # Dashes grow with the width of a line: short ones, to be seen on any.
    dashes <- replace(values("line"), "higher in y", "21")
    shown <- intersect(c("higher in x", "higher in y", "detected"), shown)
    first <- function(...) ggplot2::guide_legend(order = 1L, ...)
    list(
        ggplot2::scale_colour_manual(
            NULL, values = values("colour"), limits = shown,
            labels = sign_labels(shown, conditions),
            guide = first(override.aes = list(linewidth = 1))
        ),
        ggplot2::scale_linetype_manual(
            NULL, values = dashes, limits = shown, guide = first(),
            labels = sign_labels(shown, conditions)
        )
    )
}

# With the names of the conditions, where the samples have them.
sign_labels <- function(shown, conditions) {
    if (is.null(conditions)) return(shown)
    named <- paste("higher in", short_name(conditions[c("x", "y")]))
    at <- match(shown, c("higher in x", "higher in y"))
    ifelse(is.na(at), shown, named[at])
}

# Two or three round sizes.
size_breaks <- function(size) {
    breaks <- pretty(c(0, size), n = 3L)
    breaks[breaks > 0 & breaks <= max(size)]
}

# Hubs are larger.
draw_sized_points <- function(points) {
    list(
        ggplot2::geom_point(ggplot2::aes(size = .data$degree), data = points,
                            colour = "grey20", show.legend = FALSE),
        ggplot2::scale_size_area(max_size = if (nrow(points) > 60L) 2.5 else 4,
                                 limits = c(0, max(1, points$degree)))
    )
}

# Names beside their vertices, moved until they cover neither each other nor
# a vertex, and if possible no line; names_apart() leaves out those for which
# the picture has no room. A number of rounds instead of a time limit gives the
# same picture on every machine, and a seed of its own leaves the caller's
# alone.
draw_names <- function(points, lines = NULL, size = NULL,
                       short = short_name, above = 0.05) {
    if (is.null(size)) size <- if (sum(points$named) > 25L) 2.5 else 3
    keep <- intersect(c("x", "y", "name", "named", "network", "side"),
                      names(points))
    # Where there is no room for two names, the first stays.
    spots <- points[name_order(points), keep]
    spots <- rbind(spots, line_spots(lines, spots))
    spots$name <- ifelse(spots$named, short(spots$name), "")
    side <- if (is.null(spots$side)) 1 else spots$side
    names_apart(ggrepel::geom_text_repel(
        ggplot2::aes(label = .data$name), data = spots, size = size,
        seed = 1L, max.iter = 1500L, max.time = Inf, max.overlaps = Inf,
        box.padding = 0.2, point.padding = 0.3, min.segment.length = 0.4,
        nudge_y = side * above * max(0.5, diff(range(points$y))),
        segment.size = 0.2, segment.colour = "grey50", bg.colour = "white",
        bg.r = 0.12
    ))
}

# Variables with most changes first; otherwise as they come.
name_order <- function(points) {
    if (is.null(points$degree)) seq_len(nrow(points)) else order(-points$degree)
}

# Points along the lines, for names to keep away from; not of so many lines
# that they would leave no room.
line_spots <- function(lines, like, along = seq(0.2, 0.8, by = 0.1)) {
    n <- if (is.null(lines)) 0L else nrow(lines)
    if (n == 0L || n > 150L) return(like[0L, ])
    at <- rep(along, each = n)
    spots <- like[rep(1L, length(at)), ]
    spots$x <- (1 - at) * lines$x + at * lines$xend
    spots$y <- (1 - at) * lines$y + at * lines$yend
    if (!is.null(spots$network)) {
        spots$network <- rep(lines$network, length(along))
    }
    spots$named <- FALSE
    spots
}

# Ends of the lines. Arrows are drawn back a little from the middle of the
# variables, so that their heads can be seen.
place_lines <- function(lines, vertices, directed) {
    from <- vertices[lines$from, ]
    to <- vertices[lines$to, ]
    long <- sqrt((to$x - from$x)^2 + (to$y - from$y)^2)
    back <- if (directed) pmin(0.025 / pmax(long, 1e-9), 0.3) else 0
    cbind(
        lines,
        x = from$x + back * (to$x - from$x),
        y = from$y + back * (to$y - from$y),
        xend = to$x - back * (to$x - from$x),
        yend = to$y - back * (to$y - from$y)
    )
}

# No axes, and room at the sides for names.
theme_graph <- function(height = 1, room = 0.08) {
    # A graph of few rows is not drawn out over the whole height.
    low <- max(0, 0.5 - height) / 2
    list(
        ggplot2::scale_x_continuous(
            expand = ggplot2::expansion(mult = room)
        ),
        ggplot2::scale_y_continuous(
            expand = ggplot2::expansion(mult = 0.08, add = low)
        ),
        ggplot2::labs(x = NULL, y = NULL),
        theme_kliepnet(),
        ggplot2::theme(axis.text = ggplot2::element_blank(),
                       legend.key.width = ggplot2::unit(30, "pt"),
                       legend.title = ggplot2::element_text(size = 9),
                       panel.grid = ggplot2::element_blank(),
                       strip.text = ggplot2::element_text(hjust = 0))
    )
}
