# Pictures of precision-recall curves and of comparisons. curve_lines() and
# average_lines() compute what to draw; the autoplot() methods only draw.

# Okabe-Ito colours, without the yellow, which is hard to see on white, then
# further ones that differ from these; and types of lines for readers who cannot
# tell colours apart.
method_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
                    "#56B4E9", "#000000", "#882255", "#999933", "#332288",
                    "#8C510A", "#7F7F7F")
method_lines <- c("solid", "42", "11", "4212", "82", "1242", "221222")

# ---- what to draw ----------------------------------------------------------

# The curve of a ranking: from place to place, bent where several changed
# edges share one.
curve_lines <- function(object, type = "pr") {
    curve <- object$curve
    tp <- c(0, curve$tp)
    fp <- c(0, curve$fp)
    if (type == "roc") {
        return(data.frame(
            x = fp / (object$n_pairs - object$n_changed),
            y = tp / object$n_changed
        ))
    }
    pieces <- lapply(seq_len(nrow(curve)), function(place) {
        between <- seq(0, 1, length.out = if (diff(tp)[place] > 1) 30L else 2L)
        found <- tp[place] + between * diff(tp)[place]
        false <- fp[place] + between * diff(fp)[place]
        keep <- found + false > 0
        data.frame(x = found[keep] / object$n_changed,
                   y = (found / (found + false))[keep])
    })
    lines <- do.call(rbind, pieces)
    # Where the curve leaves recall 0: its first precision.
    rbind(data.frame(x = 0, y = lines$y[1L]), lines)
}

# Mean curves with their bands, for each group of a comparison.
average_lines <- function(table, recall = seq(0, 1, by = 0.01)) {
    scored <- table[!vapply(table$curve, is.null, TRUE), ]
    changed <- vapply(scored$curve, function(curve) curve$n_changed > 0, TRUE)
    scored <- scored[changed, ]
    group <- interaction(scored$simulator, scored$method, drop = TRUE,
                         sep = "\r")
    parts <- lapply(split(seq_len(nrow(scored)), group), function(rows) {
        mean <- pr_average(scored$curve[rows], recall)
        cbind(simulator = scored$simulator[rows[1L]],
              method = scored$method[rows[1L]], band_of(mean$curve),
              guess = mean$guess[["mean"]])
    })
    lines <- do.call(rbind, unname(parts))
    lines$simulator <- factor(lines$simulator, unique(table$simulator))
    lines$method <- factor(lines$method, unique(table$method))
    lines
}

# One standard error to each side, within what a precision can be.
band_of <- function(curve) {
    se <- ifelse(is.na(curve$se), 0, curve$se)
    cbind(curve, lower = pmax(0, curve$precision - se),
          upper = pmin(1, curve$precision + se))
}

# ---- drawing ---------------------------------------------------------------

#' Plot precision-recall curves
#'
#' Draws the precision-recall curve of a ranking of edges, with the points
#' that the values of `lambda2` give and the best of them named, or the mean of
#' such curves with a band of one standard error. The dotted line is what
#' guessing gives.
#'
#' @param object,x A [pr_curve()] or a [pr_average()].
#' @param type `"pr"` for precision against recall, `"roc"` for the true
#'   against the false positive rate.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 20, n = 300, n_changed = 8)
#' found <- pr_curve(kliep_path(pair$x, pair$y), pair)
#' plot(found)
#' plot(found, type = "roc")
autoplot.pr_curve <- function(object, type = c("pr", "roc"), ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("pr", "roc"))
    if (object$n_changed == 0) return(draw_nothing("No edge has changed"))
    points <- object$points
    points$x <- if (type == "pr") points$recall else points$fpr
    points$y <- if (type == "pr") points$precision else points$tpr
    points <- points[!is.na(points$y), ]
    ggplot2::ggplot(curve_lines(object, type),
                    ggplot2::aes(.data$x, .data$y)) +
        draw_guess(type, object$guess) +
        ggplot2::geom_path(colour = colour_positive, linewidth = 0.7) +
        ggplot2::geom_point(data = points, colour = colour_positive,
                            size = 1.2) +
        draw_best(points, curve_lines(object, type)) +
        scale_unit_square() +
        label_axes(type, "Points: values of lambda2.") +
        theme_kliepnet()
}

#' @rdname autoplot.pr_curve
#' @export
plot.pr_curve <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

#' @rdname autoplot.pr_curve
#' @export
autoplot.pr_average <- function(object, ...) {
    check_dots(list(...), names(formals()), "autoplot")
    ggplot2::ggplot(band_of(object$curve),
                    ggplot2::aes(.data$recall, .data$precision)) +
        draw_guess("pr", object$guess[["mean"]]) +
        ggplot2::geom_ribbon(
            ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
            fill = colour_positive, alpha = 0.2
        ) +
        ggplot2::geom_line(colour = colour_positive, linewidth = 0.7) +
        scale_unit_square() +
        label_axes("pr", "Band: one standard error of the mean.") +
        theme_kliepnet()
}

#' @rdname autoplot.pr_curve
#' @export
plot.pr_average <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

#' Plot a comparison of methods
#'
#' Draws mean precision-recall curves with a band of one standard error, a panel
#' for each simulator, or the average precision of every run with its mean. The
#' dotted lines are what guessing gives.
#'
#' @param object,x A [compare_methods()] table.
#' @param type `"curve"` for the curves, `"score"` for the average precision.
#' @param ... For `plot()`, passed to `autoplot()`; otherwise must be empty.
#' @return A `ggplot` object; `plot()` also draws it.
#' @export
#' @examples
#' set.seed(1)
#' study <- compare_methods(
#'     function() sim_gaussian(d = 12, n = 100, n_changed = 4),
#'     list("p/q" = kliep_path,
#'          "q/p" = function(x, y) kliep_path(x, y, direction = "q/p")),
#'     runs = 4
#' )
#' plot(study)
#' plot(study, type = "score")
autoplot.compare_methods <- function(object, type = c("curve", "score"),
                                       ...) {
    check_dots(list(...), names(formals()), "autoplot")
    type <- check_choice(type, "type", c("curve", "score"))
    if (all(is.na(object$average_precision))) {
        return(draw_nothing("No run has a score"))
    }
    if (type == "curve") draw_averages(object) else draw_scores(object)
}

#' @rdname autoplot.compare_methods
#' @export
plot.compare_methods <- function(x, ...) {
    plot <- autoplot(x, ...)
    print(plot)
    invisible(plot)
}

draw_averages <- function(object) {
    lines <- average_lines(object)
    ggplot2::ggplot(lines, ggplot2::aes(.data$recall, .data$precision,
                                        colour = .data$method,
                                        linetype = .data$method)) +
        draw_guess("pr", lines$guess, lines["simulator"]) +
        ggplot2::geom_ribbon(
            ggplot2::aes(ymin = .data$lower, ymax = .data$upper,
                         fill = .data$method),
            # Bands that lie on each other must not hide the lines.
            alpha = min(0.15, 0.6 / nlevels(lines$method)), colour = NA
        ) +
        ggplot2::geom_line(linewidth = 0.7) +
        scale_methods(levels(lines$method)) +
        scale_unit_square() +
        label_axes("pr", "Band: one standard error of the mean.") +
        theme_kliepnet() +
        facet_simulators(lines$simulator)
}

# Every run as a small point, the mean with its standard error over them.
draw_scores <- function(object) {
    scored <- as.data.frame(object)[!is.na(object$average_precision), ]
    scored$guess <- vapply(scored$curve, `[[`, 0, "guess")
    means <- summary(object)
    means <- means[!is.na(means$average_precision), ]
    means$se[is.na(means$se)] <- 0
    in_order <- function(rows) {
        # The first method on top.
        rows$method <- factor(rows$method, rev(unique(object$method)))
        rows$simulator <- factor(rows$simulator, unique(object$simulator))
        rows
    }
    guess <- in_order(stats::aggregate(guess ~ simulator + method, scored,
                                       mean))
    ggplot2::ggplot(in_order(scored), ggplot2::aes(.data$average_precision,
                                                   .data$method)) +
        ggplot2::geom_vline(ggplot2::aes(xintercept = .data$guess),
                            data = guess, linetype = "dotted",
                            colour = "grey40") +
        ggplot2::geom_point(colour = colour_weak, size = 1, alpha = 0.8) +
        ggplot2::geom_errorbarh(
            ggplot2::aes(xmin = .data$average_precision - .data$se,
                         xmax = .data$average_precision + .data$se),
            data = in_order(means), height = 0.2, colour = colour_positive
        ) +
        ggplot2::geom_point(data = in_order(means), colour = colour_positive,
                            size = 2.5) +
        ggplot2::scale_x_continuous(
            limits = c(0, 1), breaks = seq(0, 1, by = 0.25),
            labels = as.character(seq(0, 1, by = 0.25))
        ) +
        ggplot2::labs(x = "average precision", y = NULL, caption = paste(
            "Grey: runs. Bar: one standard error of their mean.",
            "Dotted: guessing."
        )) +
        theme_kliepnet() +
        facet_simulators(scored$simulator)
}

# ---- parts -----------------------------------------------------------------

# What guessing gives: the share of changed edges, or the diagonal.
draw_guess <- function(type, guess, panel = NULL) {
    if (type == "roc") {
        return(ggplot2::geom_abline(slope = 1, linetype = "dotted",
                                    colour = "grey40"))
    }
    data <- data.frame(guess = guess)
    if (!is.null(panel)) data <- unique(cbind(data, panel))
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$guess), data = data,
                        linetype = "dotted", colour = "grey40")
}

# The point with the largest F1, with its name beside the curve.
draw_best <- function(points, curve) {
    best <- best_point(points)
    if (nrow(best) == 0L || best$f1 == 0) return(NULL)
    best$label <- paste0("F1 ", format(best$f1, digits = 2L), " at lambda2 ",
                         format(best$lambda2, digits = 2L))
    place <- label_place(best, curve)
    list(
        ggplot2::geom_point(data = best, colour = colour_changed, size = 3,
                            shape = 17),
        ggplot2::geom_text(ggplot2::aes(label = .data$label),
                           data = cbind(place, label = best$label), size = 3)
    )
}

# The middle of a label near a point: of places around it, within the unit
# square, the first that the curve does not cross, or crosses least.
label_place <- function(best, curve, wide = 0.32, high = 0.06) {
    along <- seq(0, 1, length.out = 500L)
    # By the length of the curve, which may rise straight up.
    long <- c(0, cumsum(sqrt(diff(curve$x)^2 + diff(curve$y)^2)))
    at <- function(values) {
        stats::approx(long / max(long), values, along, ties = "ordered")$y
    }
    x <- at(curve$x)
    y <- at(curve$y)
    places <- expand.grid(
        x = best$x + c(-1, 1, 0) * (wide / 2 + 0.03),
        y = best$y + c(-1, 1, -1.7, 1.7, 0, -2.5, 2.5) * high
    )
    inside <- abs(places$x - 0.5) <= (1 - wide) / 2 + 0.02 &
        abs(places$y - 0.5) <= (1 - high) / 2 + 0.04
    places <- places[inside, ]
    crossed <- vapply(seq_len(nrow(places)), function(k) {
        sum(abs(x - places$x[k]) < wide / 2 & abs(y - places$y[k]) < high / 2)
    }, 0L)
    places[which.min(crossed), ]
}

scale_unit_square <- function() {
    quarters <- seq(0, 1, by = 0.25)
    labels <- as.character(quarters)
    list(
        ggplot2::coord_cartesian(xlim = c(0, 1), ylim = c(0, 1)),
        ggplot2::scale_x_continuous(breaks = quarters, labels = labels),
        ggplot2::scale_y_continuous(breaks = quarters, labels = labels)
    )
}

# The axes, and below them what is drawn, and what the dotted line is.
label_axes <- function(type, drawn) {
    roc <- type == "roc"
    ggplot2::labs(x = if (roc) "false positive rate" else "recall",
                  y = if (roc) "true positive rate" else "precision",
                  caption = paste(drawn, "Dotted: guessing."))
}

scale_methods <- function(methods) {
    at <- seq_along(methods) - 1L
    cycle <- length(method_colours)
    colours <- stats::setNames(method_colours[at %% cycle + 1L], methods)
    # After the last colour they repeat, with other lines: of 12 colours and 7
    # types of lines, a method with the same colour has its line 5 types further
    # on.
    lines <- stats::setNames(
        method_lines[at %% length(method_lines) + 1L], methods
    )
    # A long row of names would leave the page.
    rows <- ggplot2::guide_legend(ncol = min(4L, length(methods)),
                                  byrow = TRUE)
    list(
        ggplot2::scale_colour_manual(values = colours, name = NULL,
                                     guide = rows),
        ggplot2::scale_fill_manual(values = colours, name = NULL,
                                   guide = rows),
        ggplot2::scale_linetype_manual(values = lines, name = NULL,
                                       guide = rows)
    )
}

facet_simulators <- function(simulators) {
    if (length(unique(simulators)) == 1L) return(NULL)
    list(
        ggplot2::facet_wrap("simulator"),
        # The first label of a panel must not touch the last of the one before.
        ggplot2::theme(panel.spacing = ggplot2::unit(1, "lines"))
    )
}
