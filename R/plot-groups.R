# The pictures of a comparison of groups: a panel for each contrast, or for each
# edge.

# The edges that differ most, and their estimates in all contrasts.
contrast_lines <- function(object, most) {
    first <- group_edges(object, most)
    table <- object$estimates
    table$edge <- edge_label(table$from, table$to)
    table <- table[table$edge %in% first, ]
    table$edge <- factor(table$edge, rev(first))
    table$contrast <- factor(table$contrast, object$contrasts$contrast)
    table$style <- ifelse(table$changed, "changed", "not reported")
    table
}

# Those reported in any contrast or by the omnibus test come first.
group_edges <- function(object, most) {
    omnibus <- object$omnibus
    label <- edge_label(omnibus$from, omnibus$to)
    changed <- object$estimates[object$estimates$changed, ]
    reported <- edge_label(changed$from, changed$to)
    order <- order(!(label %in% reported | omnibus$changed), omnibus$p_value)
    utils::head(label[order], most)
}

# The partial correlations of these edges in all groups.
profile_lines <- function(object, most) {
    if (is.null(object$profiles)) {
        stop_kliep(
            "argument",
            paste("`type = \"edges\"` draws partial correlations: these",
                  "features have none."),
            hint = "`type = \"contrasts\"` draws the estimates."
        )
    }
    first <- group_edges(object, most)
    table <- object$profiles
    table$edge <- edge_label(table$from, table$to)
    table <- table[table$edge %in% first & table$group != "rest", ]
    table$edge <- factor(table$edge, first)
    # Cell types each have their own line over the two conditions.
    parted <- inherits(object, "kliep_by")
    table$group <- factor(table$group, if (parted) rev(object$conditions) else
        object$groups$group)
    table$line <- if (parted) table$contrast else ""
    table
}

#' Plot a comparison of groups
#'
#' Draws how much edges differ between groups, contrast by contrast, or the
#' partial correlation of each edge in every group.
#'
#' `type = "contrasts"` draws a panel for each contrast, with the estimates and
#' point-wise intervals of the edges that differ most; those that are reported
#' are coloured. `type = "edges"` draws a panel for each of these edges, with
#' its partial correlation in every group, or for [kliep_by()] in both
#' conditions and every cell type.
#'
#' @param object,x The result of [kliep_groups()] or [kliep_by()].
#' @param type What to draw.
#' @param max_edges The most edges to draw; `NULL` is 20, or for `"edges"` 9.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 6, n = 150, n_changed = 2)
#' cells <- rbind(pair$x, pair$y)
#' found <- kliep_groups(cells, rep(c("a", "b", "c"), c(150, 75, 75)))
#' plot(found)
#' plot(found, type = "edges")
autoplot.kliep_groups <- function(object, type = c("contrasts", "edges"),
                                  max_edges = NULL, ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("contrasts", "edges"))
    most <- check_whole_or(max_edges, "max_edges",
                           if (type == "edges") 9 else 20)
    if (type == "edges") return(draw_profiles(profile_lines(object, most)))
    lines <- contrast_lines(object, most)
    ggplot2::ggplot(lines, ggplot2::aes(.data$estimate, .data$edge,
                                        colour = .data$style)) +
        ggplot2::geom_vline(xintercept = 0, colour = "grey60") +
        ggplot2::geom_segment(
            ggplot2::aes(x = .data$lower, xend = .data$upper,
                         yend = .data$edge), na.rm = TRUE
        ) +
        ggplot2::geom_point(size = 1.5) +
        ggplot2::facet_wrap(ggplot2::vars(.data$contrast)) +
        ggplot2::scale_colour_manual(
            values = c(changed = "#d55e00", "not reported" = "grey40")
        ) +
        ggplot2::labs(x = "change", y = NULL, colour = NULL) +
        theme_kliepnet()
}

draw_profiles <- function(lines) {
    several <- n_distinct(lines$line) > 1L
    ggplot2::ggplot(lines, ggplot2::aes(.data$group, .data$partial,
                                        group = .data$line,
                                        colour = .data$line)) +
        ggplot2::geom_hline(yintercept = 0, colour = "grey60") +
        ggplot2::geom_line() +
        ggplot2::geom_point(size = 1.5) +
        ggplot2::facet_wrap(ggplot2::vars(.data$edge)) +
        (if (several) ggplot2::scale_colour_viridis_d(end = 0.85) else
            ggplot2::scale_colour_manual(values = "grey30", guide = "none")) +
        ggplot2::labs(x = NULL, y = "partial correlation", colour = NULL) +
        theme_kliepnet()
}

#' @rdname autoplot.kliep_groups
#' @export
plot.kliep_groups <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
