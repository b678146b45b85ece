# The picture of an inference: computed by interval_lines(), drawn by
# autoplot().

# The edges with the smallest p-values, in the order of their estimates, with
# both kinds of intervals.
interval_lines <- function(object, changed, truth = NULL, max_edges = 40L) {
    table <- object$estimates
    kept <- utils::head(order(table$p_value, na.last = NA), max_edges)
    kept <- kept[order(table$estimate[kept])]
    lines <- table[kept, ]
    lines$edge <- edge_label(lines$from, lines$to)
    lines$edge <- factor(lines$edge, unique(lines$edge))
    lines$change <- true_change(lines, truth, object)
    signs <- sign_style(lines$estimate, TRUE)
    lines$style <- as_style(ifelse(changed[kept], signs, "other"))
    lines
}

# The true change of these edges on the scale of their estimates, 0 for those
# that are not listed.
true_change <- function(lines, truth, object) {
    if (is.null(truth)) return(rep(NA_real_, nrow(lines)))
    if (inherits(truth, "network_pair")) {
        if (has_precisions(truth)) {
            change <- scaled_change(truth, object)
            return(change[cbind(lines$from, lines$to)])
        }
        truth <- truth$truth
    }
    if (!is.data.frame(truth) ||
        !all(c("from", "to", "change") %in% names(truth))) {
        stop_kliep(
            "truth",
            paste0("`truth` must be a data frame with columns `from`, `to` ",
                   "and `change`: got ", describe(truth), "."),
            hint = "For a simulated pair it is `pair$truth`."
        )
    }
    at <- match(edge_text(lines), edge_text(truth))
    ifelse(is.na(at), 0, truth$change[at])
}

# Whether the networks of a pair are precision matrices, of what is observed
# or of its normal scores.
has_precisions <- function(pair) {
    pair$family %in% c("gaussian", "lattice", "nonparanormal")
}

# The change of all coefficients in the units in which they are estimated: each
# variable divided by its residual standard deviation given the others, which
# gives partial correlations, or by its standard deviation, or left as it is.
scaled_change <- function(pair, object) {
    precisions <- lapply(pair$networks, as.matrix)
    variances <- lapply(precisions, function(omega) diag(solve(omega)))
    n <- object$n / sum(object$n)
    pooled <- n[["x"]] * variances$x + n[["y"]] * variances$y
    terms <- lapply(c(x = "x", y = "y"), function(part) {
        omega <- precisions[[part]]
        scale <- if (inherits(object, "kliep_infer") &&
                     has_closed_form(object$spec$features)) {
            1 / sqrt(diag(omega))
        } else {
            switch(object$spec$standardize,
                   within = sqrt(variances[[part]]), pooled = sqrt(pooled),
                   none = rep(1, ncol(omega)))
        }
        # A precision matrix enters the log-density with a minus.
        -omega * outer(scale, scale)
    })
    terms$x - terms$y
}

#' Plot confidence intervals
#'
#' Draws how much each edge changed and how uncertain that is, or the edges that
#' changed.
#'
#' `type = "intervals"` draws the estimates with their point-wise intervals
#' (thick), and with the studentised intervals that hold for all edges at once
#' (thin), for the edges with the smallest p-values, in the order of their
#' estimates. Edges that have changed by the method of Benjamini and Hochberg
#' are coloured. `type = "graph"`, `"matrix"` and `"modules"` draw these edges,
#' as [`plot()`][plot.change_path] of a path does.
#'
#' @param object,x The result of [kliep_debias()].
#' @param truth The true changes, if known: a simulated pair, or a data frame
#'   with the columns `from`, `to` and `change`, on the scale of the estimates.
#'   They are marked by crosses.
#' @param type What to draw.
#' @param max_edges The most edges to draw; `NULL` is 40, or for a graph 150.
#' @inheritParams autoplot.change_path
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' theta_x <- ising_chain(8, coupling = 0.4)
#' theta_y <- ising_change(theta_x, n_changed = 2, change = -0.6)
#' pair <- sim_ising(theta_x, theta_y, n = 400)
#' result <- kliep_debias(pair$x, pair$y, feat_ising())
#' plot(result, truth = pair)
autoplot.kliep_debias <- function(object, type = c("intervals", "graph",
                                                   "matrix", "modules"),
                                  truth = NULL,
                                  max_edges = NULL, label = NULL,
                                  vertices = c("changed", "all"), ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("intervals", "graph", "matrix",
                                         "modules"))
    if (type != "intervals") {
        refuse_truth(truth, type, "intervals")
        return(draw_graph_of(object, type, vertices = vertices, label = label,
                             max_edges = max_edges))
    }
    max_edges <- check_whole_or(max_edges, "max_edges", 40)
    changed <- object$estimates$q_value <= 1 - object$level
    draw_intervals(interval_lines(object, changed, truth, max_edges), object,
                   draw_simultaneous(object))
}

# One row for each edge; `behind` is drawn below the point-wise intervals.
draw_intervals <- function(lines, object, behind = NULL) {
    ggplot2::ggplot(lines, ggplot2::aes(.data$estimate, .data$edge,
                                        colour = .data$style)) +
        ggplot2::geom_vline(xintercept = 0, colour = "grey40",
                            linewidth = 0.3) +
        behind +
        ggplot2::geom_linerange(
            ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
            linewidth = 1, na.rm = TRUE
        ) +
        ggplot2::geom_point(ggplot2::aes(shape = .data$style), size = 2,
                            na.rm = TRUE) +
        draw_truth(lines) +
        scale_styles("points", object$conditions, "not reported") +
        ggplot2::labs(x = "change of the edge", y = NULL,
                      caption = interval_caption(lines, object, behind)) +
        theme_kliepnet() +
        theme_rows(nrow(lines))
}

interval_caption <- function(lines, object, behind) {
    level <- paste0(format(100 * object$level), " % interval")
    paste0(
        if (is.null(behind)) paste0("Bar: ", level, " of each edge.") else
            paste0("Thick: ", level, " of each edge. Thin: of all at once."),
        if (!all(is.na(lines$change))) " Cross: the true change."
    )
}

draw_simultaneous <- function(object) {
    if (is.null(object$maxima)) return(NULL)
    ggplot2::geom_linerange(
        ggplot2::aes(xmin = .data$lower_studentized,
                     xmax = .data$upper_studentized),
        linewidth = 0.3
    )
}

draw_truth <- function(lines) {
    known <- lines[!is.na(lines$change), ]
    if (nrow(known) == 0L) return(NULL)
    ggplot2::geom_point(ggplot2::aes(x = .data$change), data = known,
                        shape = 4, size = 2, colour = "black")
}

#' @rdname autoplot.kliep_debias
#' @export
plot.kliep_debias <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}
