two_networks <- function(p, q) {
    matrices <- lapply(list(p, q), function(edges) {
        theta <- matrix(0, 5, 5, dimnames = rep(list(letters[1:5]), 2))
        for (edge in names(edges)) {
            ends <- strsplit(edge, "")[[1]]
            theta[ends[1], ends[2]] <- theta[ends[2], ends[1]] <- edges[[edge]]
        }
        theta
    })
    set.seed(1)
    sim_ising(matrices[[1]], matrices[[2]], n = 10)
}

test_that("lines are the edges of both networks, with what they are", {
    pair <- two_networks(c(ab = 0.5, bc = -0.5, cd = 0.5),
                         c(ab = 0.5, bc = 0.5, ad = 0.5))
    lines <- pair_lines(pair)
    described <- with(lines, paste(network, letters[from], letters[to], kind,
                                   changed))
    expect_setequal(described, c(
        "x a b positive FALSE", "x b c negative TRUE", "x c d positive TRUE",
        "x a d absent TRUE",
        "y a b positive FALSE", "y b c positive TRUE", "y a d positive TRUE",
        "y c d absent TRUE"
    ))
    vertices <- pair_vertices(pair)
    expect_equal(vertices$name, letters[1:5])
    expect_equal(vertices$changed, c(TRUE, TRUE, TRUE, TRUE, FALSE))
    # A variable without edges stands below.
    expect_true(all(vertices$y[5] < vertices$y[1:4]))
})

test_that("the sign is that of the coefficient in the log-density", {
    set.seed(1)
    gaussian <- pair_lines(sim_gaussian(d = 6, n = 5, n_changed = 2))
    changed <- gaussian[gaussian$changed, ]
    # Precision +0.2 in P, -0.2 in Q.
    expect_equal(changed$kind, rep(c("negative", "positive"), each = 2))
    genes <- sim_genes(n = 5)
    lines <- pair_lines(genes)
    x <- lines[lines$network == "x" & lines$changed, ]
    words <- c(ac = "activation", re = "repression", du = "dual")
    expect_setequal(paste(genes$truth$from, genes$truth$to,
                          words[genes$truth$type_x]),
                    paste(colnames(genes$x)[x$from],
                          colnames(genes$x)[x$to], x$kind))
    # Nothing changes a gene's regulation of itself into an edge.
    expect_true(all(lines$from != lines$to))
})

test_that("the picture is the same every time, and leaves the seed alone", {
    set.seed(1)
    pair <- sim_gaussian(d = 30, n = 5, density = 0.1, n_changed = 5)
    before <- .Random.seed
    expect_identical(pair_vertices(pair), pair_vertices(pair))
    autoplot(pair)
    expect_identical(.Random.seed, before)
})

expect_drawable <- function(plot) {
    expect_s3_class(plot, "ggplot")
    file <- withr::local_tempfile(fileext = ".png")
    expect_silent(suppressMessages(ggplot2::ggsave(file, plot, width = 7,
                                                   height = 4, dpi = 50)))
    expect_gt(file.size(file), 1000)
}

test_that("pairs of all kinds and sizes can be drawn", {
    set.seed(1)
    expect_drawable(autoplot(sim_gaussian(d = 10, n = 5, n_changed = 2)))
    expect_drawable(autoplot(sim_gaussian(d = 200, n = 5, density = 0.02)))
    expect_drawable(autoplot(sim_diamond(n = 10), label = "none"))
    expect_drawable(autoplot(sim_genes(n = 5), label = "changed"))
    expect_drawable(autoplot(sim_keywords(times = 10)))
    expect_drawable(autoplot(sim_gaussian(d = 4, n = 5, density = 0,
                                          n_changed = 0)))
    expect_drawable(autoplot(sim_gaussian(d = 4, n = 5, density = 1,
                                          n_changed = 0)))
})

test_that("many variables are named only where they change", {
    named <- function(plot) {
        layers <- plot$layers[vapply(plot$layers, function(layer) {
            inherits(layer$geom, "GeomTextRepel")
        }, TRUE)]
        setdiff(layers[[1]]$data$name, "")
    }
    set.seed(1)
    few <- sim_gaussian(d = 10, n = 5, n_changed = 2)
    many <- sim_gaussian(d = 60, n = 5, density = 0.05, n_changed = 4)
    changed <- function(pair) unique(c(pair$truth$from, pair$truth$to))
    expect_setequal(named(autoplot(few)), colnames(few$x))
    expect_setequal(named(autoplot(few, label = "changed")), changed(few))
    expect_setequal(named(autoplot(many)), changed(many))
    expect_setequal(named(autoplot(many, label = "all")), colnames(many$x))
})

test_that("plot() draws and returns the picture; typing errors are noticed", {
    withr::local_pdf(NULL)
    set.seed(1)
    pair <- sim_gaussian(d = 5, n = 5, n_changed = 1)
    expect_s3_class(plot(pair), "ggplot")
    expect_error(plot(pair, label = "some"), class = "kliep_error_argument")
    expect_error(plot(pair, labels = "all"), "`label`",
                 class = "kliep_error_dots")
})
