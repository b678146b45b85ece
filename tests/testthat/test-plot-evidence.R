# Pictures of the evidence behind an inference, and what the older ones say.

set.seed(5)
pair <- sim_gaussian(d = 10, n = 300, density = 0.3, edge = 0.4, n_changed = 5,
                     change = -0.8)
both <- rbind(pair$x, pair$y)
found <- kliep_auto(both, group = rep(c("case", "control"), each = 300),
                    contrast = c("case", "control"), n_perm = 19)

draws <- function(plot, device = "png") {
    expect_s3_class(plot, "ggplot")
    file <- withr::local_tempfile(fileext = paste0(".", device))
    expect_silent(suppressMessages(ggplot2::ggsave(
        file, plot, width = 6, height = 4, dpi = 50
    )))
    expect_gt(file.size(file), 500)
}

test_that("something was found", {
    expect_gt(sum(found$estimates$changed), 1)
})

test_that("pairs draws the scores of both conditions", {
    first <- edges(found)[1, ]
    plot <- autoplot(found, type = "pairs")
    draws(plot)
    expect_equal(nrow(plot$data), 600)
    expect_match(levels(plot$data$condition)[1], "^case, n = 300")
    expect_match(levels(plot$data$condition)[1],
                 format(round(first$partial_x, 2), nsmall = 2), fixed = TRUE)
    expect_match(plot$labels$x, first$from)
    # Ranks do not care for a monotone transform.
    x <- pair$x[, first$from]
    expect_equal(rank(plot$data$u[1:300]), rank(x))
    named <- autoplot(found, type = "pairs", edge = c(first$to, first$from))
    expect_equal(named$data, plot$data)
    draws(autoplot(found, type = "pairs", edge = 3))
    bare <- found
    bare$samples <- NULL
    expect_error(autoplot(bare, type = "pairs"),
                 class = "kliep_error_missing_sample")
    for (wrong in list("V1", c("V1", "no"), 0, 1e6, TRUE, c("V1", "V1"))) {
        expect_error(autoplot(found, type = "pairs", edge = wrong),
                     class = "kliep_error_argument")
    }
    expect_error(autoplot(found, type = "graph", edge = 1),
                 class = "kliep_error_argument")
})

test_that("pairs of two values are counted", {
    spins <- lapply(pair[c("x", "y")], function(values) sign(values))
    binary <- kliep_infer(spins$x, spins$y, feat_ising(), n_perm = 19)
    plot <- autoplot(binary, type = "pairs")
    draws(plot)
    expect_s3_class(plot$layers[[1]]$stat, "StatSum")
    expect_error(autoplot(binary, type = "conditions"),
                 class = "kliep_error_argument")
    draws(autoplot(binary, type = "volcano"))
})

test_that("the volcano has every edge, and names those reported", {
    points <- volcano_points(found, 2, 20000)
    expect_equal(nrow(points), nrow(found$estimates))
    expect_equal(points$size, -log10(points$q_value))
    expect_equal(sum(points$name != ""), 2)
    expect_true(all(points$changed[points$name != ""]))
    expect_identical(points$style != "other", points$changed)
    draws(autoplot(found, type = "volcano"))
    draws(autoplot(found, type = "volcano", label = 0, max_edges = 10))
})

test_that("both conditions have a triangle each", {
    order <- c(4, 2, 7)
    cells <- condition_cells(found, order)
    expect_equal(nrow(cells), 6)
    for (k in seq_len(nrow(cells))) {
        ends <- found$variables[order[c(cells$row[k], cells$column[k])]]
        row <- find_edge(found, ends)
        part <- if (cells$row[k] < cells$column[k]) "partial_x" else "partial_y"
        expect_identical(cells$partial[k], found$estimates[row, part])
    }
    draws(autoplot(found, type = "conditions"))
    draws(autoplot(found, type = "conditions", vertices = "all", label = 0))
    nothing <- found
    nothing$estimates$changed <- FALSE
    nothing$global$p_value <- 1
    draws(autoplot(nothing, type = "conditions"))
})

test_that("modules hold every variable with an edge, and count their edges", {
    path <- kliep_path(pair$x, pair$y, nlambda = 20)
    graph <- change_graph(path, path$lambda2[12])
    module <- find_modules(graph)
    joined <- sort(unique(c(graph$edges$from, graph$edges$to)))
    expect_identical(which(!is.na(module)), as.integer(joined))
    modules <- graph_modules(graph)
    expect_equal(sum(modules$points$size), length(joined))
    expect_equal(sum(modules$points$edges) + sum(modules$lines$count),
                 nrow(graph$edges))
    expect_false(is.unsorted(rev(modules$points$size)))
    draws(autoplot(path, type = "modules", lambda2 = path$lambda2[12]))
    draws(autoplot(found, type = "modules"))
    # Two cliques and nothing between.
    apart <- list(variables = letters[1:6], conditions = NULL,
                  edges = data.frame(from = c(1, 1, 2, 4, 4, 5),
                                     to = c(2, 3, 3, 5, 6, 6), weight = 1,
                                     sign = 1, enters = NA))
    expect_equal(graph_modules(apart)$points$size, c(3, 3))
    draws(draw_modules(apart))
})

test_that("the truth is marked on the scale of the estimates", {
    partial <- lapply(pair$networks, function(omega) {
        -cov2cor(as.matrix(omega))
    })
    lines <- interval_lines(found, found$estimates$changed, pair, 45)
    expect_equal(lines$change, (partial$x - partial$y)[cbind(lines$from,
                                                             lines$to)])
    # Half of the intervals of 95 % would already be few.
    expect_gt(mean(lines$lower <= lines$change & lines$change <= lines$upper),
              0.8)
    expect_equal(sum(lines$change != 0), 5)
    # Each variable in units of its own standard deviation.
    few <- data.frame(from = "V1", to = "V2")
    published <- debias_few(pair$x, pair$y, edges = few, n_boot = 0)
    omega <- lapply(pair$networks, function(omega) {
        scale <- sqrt(diag(solve(as.matrix(omega))))
        -as.matrix(omega) * outer(scale, scale)
    })
    expect_equal(scaled_change(pair, published), omega$x - omega$y)
    # A table is taken as it is.
    table <- data.frame(from = "V2", to = "V1", change = 7)
    lines <- interval_lines(found, found$estimates$changed, table, 45)
    expect_equal(sort(unique(lines$change)), c(0, 7))
})

test_that("pictures say what their colours, lines and bars mean", {
    path <- kliep_path(both, group = rep(c("case", "control"), each = 300),
                       contrast = c("case", "control"), nlambda = 10)
    keys <- function(plot) {
        built <- ggplot2::ggplot_build(plot)
        built$plot$scales$get_scales("colour")$get_labels()
    }
    both_signs <- c("higher in case", "higher in control")
    expect_true(all(both_signs %in% keys(autoplot(path))))
    plot <- autoplot(found)
    expect_true("not reported" %in% keys(plot))
    expect_match(plot$labels$caption, "95 % interval")
    test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 8, folds = 2)
    expect_match(autoplot(test)$labels$caption, "Line: ")
    stable <- kliep_stability(pair$x, pair$y, n_subsamples = 6, nlambda = 8)
    expect_match(autoplot(stable)$labels$caption, "Bar: .*Line: ")
    few <- data.frame(from = "V1", to = c("V2", "V3"))
    published <- debias_few(pair$x, pair$y, edges = few, n_boot = 20)
    expect_match(autoplot(published)$labels$caption, "Thick: .*Thin: ")
})

test_that("pictures of curves say what their bands, bars and lines mean", {
    objects <- result_objects()
    caption <- function(object, ...) autoplot(object, ...)$labels$caption
    expect_match(caption(objects$curve), "Points: .*Dotted: guessing")
    mean_curve <- pr_average(list(objects$curve, objects$curve))
    expect_match(caption(mean_curve), "Band: .*Dotted: guessing")
    expect_match(caption(objects$comparison), "Band: .*Dotted: guessing")
    expect_match(caption(objects$comparison, type = "score"),
                 "Bar: .*Dotted: guessing")
    withr::local_seed(1)
    drifting <- sim_drift(d = 5, n = 800, n_changed = 1, change = 0.7)
    drift <- kliep_time(drifting$series, n_perm = 19,
                        control = kliep_control(threads = 1))
    expect_gt(nrow(edges(drift)), 0)
    expect_match(caption(drift, type = "curves"), "Dark: .*Light: ")
    expect_match(caption(drift, type = "total"), "Shaded: ")
    # On a bar of the usual length five numbers run into each other.
    scales <- ggplot2::ggplot_build(autoplot(drift))$plot$scales
    breaks <- scales$get_scales("fill")$get_breaks()
    expect_equal(sum(!is.na(breaks)), 3)
})

test_that("a path has the number of edges on top", {
    path <- kliep_path(pair$x, pair$y, nlambda = 10)
    at <- path$lambda2[c(2, 5, 10)]
    expect_identical(edges_near(at, path$diagnostics),
                     as.character(path$diagnostics$n_edges[c(2, 5, 10)]))
    axis <- ggplot2::ggplot_build(autoplot(path))$layout$panel_params[[1]]$x.sec
    expect_match(axis$get_labels()[1], "^[0-9]+$")
})

test_that("a matrix can be written to PDF", {
    draws(autoplot(found, type = "matrix"), "pdf")
    draws(autoplot(found, type = "graph"), "pdf")
})

test_that("twelve methods have twelve colours", {
    scale <- scale_methods(letters[1:14])[[1]]
    colours <- scale$palette(14)
    expect_equal(length(unique(colours[1:12])), 12)
    lines <- scale_methods(letters[1:14])[[3]]$palette(14)
    expect_false(anyDuplicated(paste(colours, lines)) > 0)
})

test_that("one window draws without a message", {
    series <- kliep_windows(pair$x[1:100, ], pair$y[1:100, ], width = 100,
                            nlambda = 5, folds = 2)
    expect_gt(nrow(series$edges), 0)
    file <- withr::local_tempfile(fileext = ".png")
    expect_silent(ggplot2::ggsave(file, autoplot(series), width = 5,
                                  height = 4, dpi = 50))
})

test_that("the label of the best point lies beside the curve", {
    crossed <- function(curve, best) {
        place <- label_place(best, curve)
        expect_gt(place$x, 0.1)
        expect_lt(place$x, 0.9)
        fine <- seq(0, 1, length.out = 1000)
        long <- c(0, cumsum(sqrt(diff(curve$x)^2 + diff(curve$y)^2)))
        x <- approx(long / max(long), curve$x, fine)$y
        y <- approx(long / max(long), curve$y, fine)$y
        sum(abs(x - place$x) < 0.15 & abs(y - place$y) < 0.025)
    }
    # Straight along two sides, falling, and rising.
    expect_equal(crossed(data.frame(x = c(0, 1, 1), y = c(1, 1, 0)),
                         data.frame(x = 1, y = 1)), 0)
    expect_equal(crossed(data.frame(x = c(0, 1), y = c(1, 0)),
                         data.frame(x = 0.5, y = 0.5)), 0)
    expect_equal(crossed(data.frame(x = c(0, 0, 1), y = c(0, 1, 1)),
                         data.frame(x = 0, y = 1)), 0)
})

test_that("levels of mixed columns are named beside the observations", {
    withr::local_seed(1)
    draw <- function(slope) {
        group <- sample(c("a", "b", "c"), 150, TRUE)
        data.frame(group = factor(group), age = rnorm(150),
                   size = rnorm(150) + slope * (group == "c"))
    }
    found <- kliep_infer(draw(2), draw(-2), feat_mixed(), n_perm = 19)
    expect_gt(nrow(edges(found)), 0)
    picture <- autoplot(found, type = "pairs", edge = c("group", "size"))
    panel <- ggplot2::ggplot_build(picture)$layout$panel_params[[1]]
    expect_equal(as.character(panel$x$get_labels()), c("a", "b", "c"))
    # No line through the order of the alphabet.
    expect_no_match(picture$labels$caption, "least squares")
    shown <- report_edges(found, NULL)
    graph <- report_graph(found, shown)
    evidence <- report_evidence(found, shown, graph)
    at <- match(c("group", "size"), graph$variables)
    expect_equal(evidence$levels[at], list(c("a", "c"), character()))
})

test_that("no picture has a scale of what it does not show", {
    # ggplot2 warns of these from 3.5 on, and older ones do not.
    idle <- function(plot) {
        mapped <- unlist(lapply(plot$layers, function(layer) {
            names(layer$mapping)
        }))
        shown <- unlist(lapply(plot$scales$scales, function(scale) {
            if (inherits(scale, "ScaleDiscrete")) scale$aesthetics
        }))
        setdiff(shown, c(mapped, names(plot$mapping), "xmin", "xmax", "ymin",
                         "ymax", "xend", "yend"))
    }
    path <- kliep_path(pair$x, pair$y, nlambda = 5)
    intervals <- suppressWarnings(kliep_debias(pair$x, pair$y, n_boot = 20))
    pictures <- c(
        list(autoplot(path), autoplot(path[5]), autoplot(intervals)),
        lapply(c("intervals", "pairs", "volcano", "graph", "matrix"),
               function(type) autoplot(found, type = type))
    )
    for (picture in pictures) expect_length(idle(picture), 0)
})
