# The evidence behind an inference: the observations of one edge in both
# conditions, all edges by size and q-value, and the networks of both
# conditions. What to draw is computed by pair_points(), volcano_points() and
# condition_cells(); the rest only draws.

# ---- one edge --------------------------------------------------------------

# The row of `estimates` that `edge` names: two variables, or a place in the
# order of p-values; NULL is the first.
find_edge <- function(object, edge) {
    table <- object$estimates
    if (is.null(edge)) edge <- 1
    if (is.numeric(edge) && length(edge) == 1L) {
        edge <- check_whole(edge, "edge", most = nrow(table))
        return(order(table$p_value)[edge])
    }
    ends <- if (all(c("from", "to") %in% names(edge)))
        c(edge$from[1L], edge$to[1L]) else edge
    row <- if (is.character(ends) && length(ends) == 2L)
        match(edge_text(data.frame(from = ends[1L], to = ends[2L])),
              edge_text(table))
    if (!is.null(row) && !is.na(row)) return(row)
    stop_kliep(
        "argument",
        paste0("`edge` must be two variables of the result, or a place among ",
               "its edges: got ", if (is.character(ends)) name_some(ends) else
                   describe(edge), "."),
        hint = paste0("Such as `edge = c(\"", table$from[1L], "\", \"",
                      table$to[1L], "\")`, or 1 for the smallest p-value.")
    )
}

# The observations of the two variables, in the form in which they are
# compared.
pair_points <- function(object, row) {
    edge <- object$estimates[row, ]
    samples <- score_samples(samples_of(object), object$spec$features,
                             object$spec$standardize)
    at <- match(c(edge$from, edge$to), object$variables)
    titles <- pair_titles(object, edge)
    parts <- lapply(c("x", "y"), function(part) {
        data.frame(u = samples[[part]][, at[1L]], v = samples[[part]][, at[2L]],
                   condition = titles[[part]])
    })
    points <- do.call(rbind, parts)
    points$condition <- factor(points$condition, unique(titles))
    points
}

pair_titles <- function(object, edge) {
    names <- if (is.null(object$conditions)) c(x = "x", y = "y") else
        object$conditions
    said <- vapply(c(x = "x", y = "y"), function(part) {
        partial <- edge[[paste0("partial_", part)]]
        paste0(names[[part]], ", n = ", object$n[[part]],
               if (!is.null(partial))
                   paste0("\npartial correlation ",
                          format(round(partial, 2L), nsmall = 2L)))
    }, "")
    # Conditions with equal names would share one panel.
    stats::setNames(make.unique(said), c("x", "y"))
}

draw_pair <- function(object, edge) {
    row <- find_edge(object, edge)
    found <- object$estimates[row, ]
    points <- pair_points(object, row)
    ranked <- is_ranked(object$spec$features)
    axis <- function(name) paste0(name, if (ranked) " (normal score)")
    few <- length(unique(points$u)) * length(unique(points$v)) <= 25L
    coding <- pair_coding(object, found)
    # Categories have no order, and so no slope.
    line <- !any(vapply(coding, is_category, NA))
    ggplot2::ggplot(points, ggplot2::aes(.data$u, .data$v)) +
        (if (few) ggplot2::geom_count(colour = colour_positive) else
            ggplot2::geom_point(colour = "grey30", size = 1, alpha = 0.6)) +
        (if (line) ggplot2::geom_smooth(method = "lm", formula = y ~ x,
                                        se = FALSE, colour = colour_changed,
                                        linewidth = 0.7)) +
        scale_levels(ggplot2::scale_x_continuous, coding$from) +
        scale_levels(ggplot2::scale_y_continuous, coding$to) +
        ggplot2::facet_wrap(ggplot2::vars(.data$condition)) +
        ggplot2::labs(x = axis(found$from), y = axis(found$to),
                      caption = paste0(pair_caption(found, object),
                                       if (line) " Line: least squares.")) +
        theme_kliepnet() +
        ggplot2::theme(strip.text = ggplot2::element_text(hjust = 0))
}

pair_caption <- function(found, object) {
    number <- function(value) format(value, digits = 2L)
    limits <- if (!is.na(found$lower))
        paste0(" (", format(100 * object$level), " % interval ",
               number(found$lower), " to ", number(found$upper), ")")
    paste0("Change ", number(found$estimate), limits, ", q = ",
           number(found$q_value), ".")
}

# How feat_mixed() has coded the two columns; lists without entries for others.
pair_coding <- function(object, edge) {
    coding <- path_of(object)$coding
    if (!is_mixed_coding(coding)) return(list(from = list(), to = list()))
    list(from = coding[[edge$from]], to = coding[[edge$to]])
}

is_category <- function(coding) {
    identical(coding$type, "categorical") && length(coding$labels) > 2L
}

# An axis with the names of levels.
scale_levels <- function(scale, coding) {
    if (is.null(coding$labels)) return(NULL)
    scale(breaks = seq_along(coding$labels), labels = coding$labels,
          minor_breaks = NULL)
}

# ---- all edges -------------------------------------------------------------

# Every edge by its estimate and its q-value; the first `label` of those that
# are reported are named.
volcano_points <- function(object, label, max_edges) {
    table <- object$estimates
    table <- table[order(table$p_value), ]
    table <- utils::head(table[!is.na(table$q_value), ], max_edges)
    # Beyond what a double holds.
    table$size <- -log10(pmax(table$q_value, 1e-300))
    signs <- sign_style(table$estimate, !all(is.na(table$se)))
    table$style <- as_style(ifelse(table$changed, signs, "other"))
    named <- table$changed & seq_len(nrow(table)) <= label
    table$name <- ifelse(named, edge_label(table$from, table$to), "")
    table
}

draw_volcano <- function(object, label = NULL, max_edges = NULL) {
    label <- check_whole_or(label, "label", 15, least = 0)
    max_edges <- check_whole_or(max_edges, "max_edges", 20000)
    points <- volcano_points(object, label, max_edges)
    ggplot2::ggplot(points, ggplot2::aes(.data$estimate, .data$size,
                                         colour = .data$style)) +
        ggplot2::geom_vline(xintercept = 0, colour = "grey40",
                            linewidth = 0.3) +
        ggplot2::geom_hline(yintercept = -log10(object$fdr),
                            linetype = "dashed", colour = "grey40",
                            linewidth = 0.3) +
        ggplot2::geom_point(ggplot2::aes(shape = .data$style), size = 1.5) +
        names_apart(ggrepel::geom_text_repel(
            ggplot2::aes(label = .data$name), size = 2.8, colour = "grey10",
            seed = 1L, max.iter = 2000L, max.time = Inf, max.overlaps = Inf,
            min.segment.length = 0.2, segment.size = 0.2,
            segment.colour = "grey50", point.padding = 0.3
        )) +
        # Room at the sides for names beside the outermost points.
        ggplot2::scale_x_continuous(
            expand = ggplot2::expansion(mult = if (any(nzchar(points$name)))
                0.15 else 0.05)
        ) +
        scale_styles("points", object$conditions, "not reported") +
        ggplot2::labs(
            x = "change of the edge", y = expression(-log[10] ~ "q-value"),
            caption = volcano_caption(object, points)
        ) +
        theme_kliepnet()
}

volcano_caption <- function(object, points) {
    all <- nrow(object$estimates)
    paste0(
        count_of(all, "edge"),
        if (nrow(points) < all) paste0(", the first ",
                                       format(nrow(points), big.mark = ","),
                                       " drawn"),
        ". Dashed: false discovery rate ", format(object$fdr),
        if (object$global$p_value > object$fdr)
            paste0("; no edge is reported, as there is no ",
                   change_tested(object), " overall"),
        "."
    )
}

# ---- both conditions -------------------------------------------------------

# One row for each cell of the square of these variables: partial correlations
# in `x` above the diagonal, in `y` below, and whether the edge is reported.
condition_cells <- function(object, order) {
    table <- object$estimates
    place <- match(object$variables, object$variables[order])
    ends <- data.frame(a = place[match(table$from, object$variables)],
                       b = place[match(table$to, object$variables)])
    kept <- !is.na(ends$a) & !is.na(ends$b)
    low <- pmin(ends$a, ends$b)[kept]
    high <- pmax(ends$a, ends$b)[kept]
    table <- table[kept, ]
    data.frame(row = c(low, high), column = c(high, low),
               partial = c(table$partial_x, table$partial_y),
               changed = rep(table$changed, 2L))
}

draw_conditions <- function(object, vertices = c("changed", "all"),
                            label = NULL) {
    check_partials(object)
    vertices <- check_choice(vertices, "vertices", c("changed", "all"))
    label <- check_whole_or(label, "label", 40, least = 0)
    graph <- change_graph(object)
    degree <- vertex_changes(graph)$degree
    order <- matrix_order(graph)
    if (vertices == "changed") order <- order[degree[order] > 0L]
    if (length(order) == 0L) return(draw_nothing("No edge is reported"))
    cells <- condition_cells(object, order)
    limit <- max(abs(cells$partial), na.rm = TRUE)
    named <- if (label == 0) integer() else axis_places(degree[order], label)
    ggplot2::ggplot(cells, ggplot2::aes(.data$column, .data$row)) +
        ggplot2::geom_tile(ggplot2::aes(fill = .data$partial)) +
        ggplot2::geom_point(data = cells[cells$changed, ], colour = "grey10",
                            size = max(0.3, min(2, 30 / length(order)))) +
        ggplot2::geom_abline(slope = -1, intercept = 0, colour = "grey60",
                             linewidth = 0.3) +
        ggplot2::scale_fill_gradient2(
            "partial\ncorrelation", low = colour_negative, mid = "grey97",
            high = colour_positive, limits = c(-limit, limit)
        ) +
        scale_places(named, object$variables[order]) +
        ggplot2::coord_equal() +
        ggplot2::labs(x = NULL, y = NULL, caption = triangles_caption(object)) +
        theme_matrix(length(order))
}

triangles_caption <- function(object) {
    names <- if (is.null(object$conditions)) c(x = "x", y = "y") else
        object$conditions
    paste0("Above the diagonal: ", names[["x"]], ". Below: ", names[["y"]],
           ".\nDot: the edge changed.")
}

check_partials <- function(object) {
    if (!is.null(object$estimates$partial_x)) return(invisible())
    stop_kliep(
        "argument",
        paste0("`type = \"conditions\"` draws partial correlations, which ",
               name_features(object$spec$features), " features do not have."),
        hint = "`type = \"matrix\"` draws the changes."
    )
}
