# A graph by hand: a star of three around "b", a pair, and two variables that
# have not changed.
hand_graph <- function() {
    list(
        variables = c("a", "b", "c", "d", "e", "f", "g", "h"),
        edges = data.frame(
            from = c(1, 2, 2, 5), to = c(2, 3, 4, 6),
            weight = c(0.5, -2, 1, -0.1), sign = c(1, -1, 1, -1),
            enters = NA_real_
        )
    )
}

layer_of <- function(plot, geom) {
    found <- Filter(function(layer) inherits(layer$geom, geom), plot$layers)
    expect_length(found, 1)
    found[[1]]
}

draws <- function(plot, width = 6, height = 4) {
    expect_s3_class(plot, "ggplot")
    file <- withr::local_tempfile(fileext = ".png")
    expect_silent(suppressMessages(ggplot2::ggsave(
        file, plot, width = width, height = height, dpi = 50
    )))
    expect_gt(file.size(file), 500)
}

set.seed(21)
pair <- sim_gaussian(d = 8, n = 200, edge = 0.4, density = 0.3, n_changed = 4,
                     change = -0.8)
path <- kliep_path(pair$x, pair$y, nlambda = 12)
middle <- path$lambda2[6]

test_that("lines go between the places of their ends, by size and sign", {
    graph <- hand_graph()
    plot <- draw_change_graph(graph)
    lines <- layer_of(plot, "GeomSegment")$data
    points <- layer_of(plot, "GeomPoint")$data
    expect_setequal(points$name, letters[1:6])
    expect_equal(points$degree[match(letters[1:6], points$name)],
                 c(1, 3, 1, 1, 1, 1))
    at <- function(name, column) points[[column]][match(name, points$name)]
    from <- graph$variables[lines$from]
    to <- graph$variables[lines$to]
    expect_equal(lines$x, at(from, "x"))
    expect_equal(lines$yend, at(to, "y"))
    style <- as.character(lines$style)
    expect_equal(style == "higher in x", lines$weight > 0)
    built <- ggplot2::ggplot_build(plot)$data[[1]]
    expect_equal(order(built$linewidth), order(abs(lines$weight)))
    expect_equal(unique(built$linetype[style == "higher in x"]), "solid")
    expect_equal(unique(built$linetype[style == "higher in y"]), "21")
    expect_length(unique(built$colour), 2)
})

test_that("parts do not overlap, and nothing stands on something else", {
    set.seed(1)
    from <- sample(40, 45, replace = TRUE)
    to <- sample(40, 45, replace = TRUE)
    joined <- from != to
    from <- from[joined]
    to <- to[joined]
    place <- graph_layout(from, to, 50)
    expect_gt(min(stats::dist(place)), 0.005)
    graph <- igraph::graph_from_edgelist(cbind(from, to), directed = FALSE)
    member <- igraph::components(graph)$membership
    boxes <- lapply(split(seq_along(member), member), function(part) {
        if (length(part) > 1) apply(place[part, ], 2, range)
    })
    boxes <- Filter(Negate(is.null), boxes)
    for (first in seq_along(boxes)) {
        for (second in seq_len(first - 1)) {
            apart <- boxes[[first]][1, ] > boxes[[second]][2, ] |
                boxes[[second]][1, ] > boxes[[first]][2, ]
            expect_true(any(apart))
        }
    }
    alone <- setdiff(1:50, c(from, to))
    expect_true(all(place[alone, 2] < min(place[-alone, 2])))
    expect_true(all(place[-alone, ] >= 0 & place[-alone, ] <= 1))
    expect_equal(nrow(graph_layout(integer(), integer(), 3)), 3)
    expect_equal(nrow(graph_layout(integer(), integer(), 0)), 0)
})

test_that("the picture is the same every time, and leaves the seed alone", {
    picture <- function() {
        file <- withr::local_tempfile(fileext = ".png")
        grDevices::png(file, 500, 400)
        print(autoplot(path, type = "graph", lambda2 = last_lambda2(path)))
        grDevices::dev.off()
        unname(tools::md5sum(file))
    }
    set.seed(3)
    before <- .Random.seed
    first <- picture()
    expect_identical(.Random.seed, before)
    set.seed(4)
    expect_equal(picture(), first)
})

test_that("only what is asked for is drawn and named", {
    graph <- hand_graph()
    all <- draw_change_graph(graph, vertices = "all")
    expect_setequal(layer_of(all, "GeomPoint")$data$name, graph$variables)
    named <- function(plot) {
        setdiff(layer_of(plot, "GeomTextRepel")$data$name, "")
    }
    expect_setequal(named(all), graph$variables)
    # The hub, and then the end of its strongest edge.
    expect_setequal(named(draw_change_graph(graph, label = 2)), c("b", "c"))
    expect_length(named(draw_change_graph(graph, label = 0)), 0)
    two <- draw_change_graph(graph, max_edges = 2)
    lines <- layer_of(two, "GeomSegment")$data
    expect_setequal(lines$weight, c(-2, 1))
    expect_match(two$labels$caption, "strongest 2 of 4 edges")
    expect_setequal(layer_of(two, "GeomPoint")$data$name, c("b", "c", "d"))
    none <- graph
    none$edges <- none$edges[0, ]
    draws(draw_change_graph(none))
    draws(draw_change_graph(none, vertices = "all"))
})

test_that("edges without a sign all look alike, and the legend says so", {
    graph <- hand_graph()
    graph$edges$sign <- NA
    graph$edges$weight <- abs(graph$edges$weight)
    lines <- layer_of(draw_change_graph(graph), "GeomSegment")$data
    expect_equal(levels(lines$style), "detected")
    squares <- draw_change_matrix(graph)
    expect_setequal(layer_of(squares, "GeomText")$data$mark, "")
    fill <- squares$scales$get_scales("fill")
    expect_equal(fill$limits, c(0, 2))
    # Some with a sign, some without.
    graph$edges$sign[1:2] <- c(1, -1)
    graph$edges$weight[2] <- -2
    lines <- layer_of(draw_change_graph(graph), "GeomSegment")$data
    expect_setequal(as.character(lines$style),
                    c("detected", "higher in x", "higher in y"))
    groups <- kliep_path(pair$x, pair$y, feat_polynomial(2), nlambda = 5)
    plot <- autoplot(groups, type = "graph", lambda2 = last_lambda2(groups))
    expect_equal(levels(layer_of(plot, "GeomSegment")$data$style), "detected")
})

test_that("a graph shows the edges at its lambda2", {
    for (type in c("graph", "matrix")) {
        plot <- autoplot(path, type = type, lambda2 = middle)
        expect_match(plot$labels$caption, format(middle, digits = 3),
                     fixed = TRUE)
        expect_match(plot$labels$caption,
                     paste(nrow(edges(path, middle)), "edges"))
    }
    lines <- layer_of(autoplot(path, type = "graph", lambda2 = middle),
                      "GeomSegment")$data
    expect_equal(sort(lines$weight), sort(edges(path, middle)$weight))
    expect_message(autoplot(path, type = "graph", lambda2 = middle * 1.001),
                   class = "kliep_message_lambda")
    fit <- kliep_change(pair$x, pair$y, lambda2 = middle)
    lines <- layer_of(autoplot(fit, type = "graph"), "GeomSegment")$data
    expect_equal(nrow(lines), nrow(edges(fit)))
})

test_that("legends name the conditions, where they are known", {
    graph <- hand_graph()
    graph$conditions <- c(x = "ill", y = "well")
    labels <- function(plot, aesthetic) {
        plot$scales$get_scales(aesthetic)$get_labels()
    }
    plot <- draw_change_graph(graph)
    expect_equal(labels(plot, "colour"), c("higher in ill", "higher in well"))
    expect_equal(labels(plot, "linetype"), labels(plot, "colour"))
    plot <- draw_change_matrix(graph)
    expect_match(plot$scales$get_scales("fill")$name, "higher in ill")
    expect_equal(sign_labels(c("higher in y", "detected"), graph$conditions),
                 c("higher in well", "detected"))
    expect_equal(sign_labels("higher in x", NULL), "higher in x")
})

test_that("the matrix has every edge twice, neighbours close together", {
    graph <- hand_graph()
    order <- matrix_order(graph)
    expect_setequal(order, 1:8)
    # The larger part first, then the smaller one, then those without edges.
    expect_setequal(order[1:4], 1:4)
    expect_setequal(order[5:6], 5:6)
    cells <- matrix_cells(graph, order)
    expect_equal(nrow(cells), 8)
    back <- matrix(0, 8, 8)
    back[cbind(order[cells$row], order[cells$column])] <- cells$weight
    expect_equal(back, t(back))
    expect_equal(back[cbind(graph$edges$from, graph$edges$to)],
                 graph$edges$weight)
    # A chain comes out in its order, whatever that of the variables.
    chain <- c(3, 7, 1, 5, 2, 6, 4)
    line <- list(variables = letters[1:7], edges = data.frame(
        from = chain[-7], to = chain[-1], weight = 1, sign = 1, enters = NA
    ))
    found <- matrix_order(line)
    expect_true(identical(found, as.integer(chain)) ||
                    identical(found, as.integer(rev(chain))))
})

test_that("a matrix has squares for few variables and dots for many", {
    plot <- draw_change_matrix(hand_graph())
    marks <- layer_of(plot, "GeomText")$data
    expect_equal(marks$mark == "+", marks$weight > 0)
    layer_of(plot, "GeomTile")
    expect_equal(nrow(plot$data), 8)
    expect_equal(plot$scales$get_scales("x")$breaks, 1:6)
    all <- draw_change_matrix(hand_graph(), vertices = "all")
    expect_equal(all$scales$get_scales("x")$breaks, 1:8)
    many <- list(variables = paste0("v", 1:500), edges = data.frame(
        from = 1:250, to = 500:251, weight = rep(c(-1, 1), 125),
        sign = rep(c(-1, 1), 125), enters = NA_real_
    ))
    plot <- draw_change_matrix(many)
    layer_of(plot, "GeomPoint")
    named <- plot$scales$get_scales("x")$breaks
    expect_gt(length(named), 20)
    expect_lte(length(named), 40)
    expect_gte(min(diff(named)), 500 / 40)
    expect_length(draw_change_matrix(many, label = 0)$scales$get_scales("x")$
                      breaks, 0)
    draws(plot)
    draws(draw_change_graph(many))
})

test_that("axis names are those with most changes", {
    degree <- c(1, 5, rep(1, 97), 9)
    expect_equal(axis_places(degree, 2), c(2, 100))
    expect_equal(axis_places(rep(1, 12), 3), 1:12)
})

test_that("every result has its graph and its matrix", {
    chosen <- kliep_select(pair$x, pair$y, nlambda = 8, folds = 3)
    test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 8, folds = 3,
                       progress = FALSE)
    stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 8,
                              progress = FALSE)
    inferred <- debias_few(pair$x, pair$y, n_boot = 20, progress = FALSE)
    for (object in list(chosen$fit, chosen, test, stable, inferred)) {
        lines <- layer_of(autoplot(object, type = "graph"),
                          "GeomSegment")$data
        expect_equal(sort(lines$weight), sort(edges(object)$weight))
        cells <- autoplot(object, type = "matrix")$data
        expect_equal(nrow(cells), 2 * nrow(edges(object)))
    }
    draws(autoplot(inferred, type = "graph", vertices = "all"))
    draws(autoplot(stable, type = "matrix"))
    line <- layer_of(autoplot(chosen, type = "path"), "GeomVline")$data
    expect_equal(10^-line$xintercept, chosen$fit$lambda2)
    expect_error(autoplot(inferred, type = "graph", truth = pair),
                 "intervals", class = "kliep_error_argument")
})

test_that("typing errors are noticed", {
    expect_error(autoplot(path, type = "heat"),
                 class = "kliep_error_argument")
    expect_error(autoplot(path, type = "graph"), class = "kliep_error_lambda")
    expect_error(autoplot(path, type = "graph", vertices = "none",
                          lambda2 = last_lambda2(path)),
                 class = "kliep_error_argument")
    expect_error(autoplot(path, type = "graph", truth = pair),
                 class = "kliep_error_argument")
    expect_error(autoplot(path, type = "matrix", label = -1,
                          lambda2 = last_lambda2(path)),
                 class = "kliep_error_argument")
    expect_error(autoplot(path, type = "graph", labels = 3),
                 class = "kliep_error_dots")
})

test_that("a path without any fit has an empty picture", {
    ended <- change_at(path, 3)
    class(ended) <- "change_path"
    ended$diagnostics$status <- "unbounded"
    for (type in c("path", "graph", "matrix")) {
        draws(autoplot(ended, type = type))
    }
})

test_that("lambda2 marks a path and nothing else", {
    fit <- kliep_change(pair$x, pair$y, lambda2 = middle)
    bars <- autoplot(fit, lambda2 = middle)
    expect_equal(layer_of(bars, "GeomVline")$data$xintercept, 0)
})

test_that("keys of modules are whole numbers", {
    expect_equal(count_breaks(c(1, 2)), c(1, 2))
    expect_equal(count_breaks(c(4, 31)), c(10, 20, 30))
})
