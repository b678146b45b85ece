# The formula of the help page, for regulators in columns of `level`.
promoter <- function(level, arrows) {
    u <- sweep(level, 2, arrows$half, "/")
    u <- sweep(u, 2, arrows$hill, "^")
    activates <- arrows$type %in% c("ac", "du")
    activation <- rowSums(u[, activates, drop = FALSE])
    repression <- rowSums(u[, arrows$type %in% c("re", "du"), drop = FALSE])
    first <- if (any(activates)) activation / (1 + activation) else 1
    first / (1 + repression)
}

# Its lowest and highest values: at corners of the cube but for dual
# regulators, which are searched one by one.
promoter_range <- function(arrows) {
    at <- function(dual, corner) {
        level <- corner
        level[arrows$type == "du"] <- dual
        promoter(rbind(level), arrows)
    }
    corners <- as.matrix(expand.grid(rep(list(0:1), nrow(arrows))))
    values <- apply(corners, 1, function(corner) {
        if (!any(arrows$type == "du")) return(rep(at(0, corner), 2))
        best <- optimize(at, c(0, 1), corner, maximum = TRUE, tol = 1e-10)
        ends <- c(at(0, corner), at(1, corner))
        c(min(ends), max(ends, best$objective))
    })
    range(values)
}

expect_kinetics <- function(sample, network, tolerance) {
    tops <- top_regulators(network)
    for (gene in setdiff(network$genes, tops)) {
        arrows <- network$interactions[network$interactions$to == gene, ]
        activity <- promoter(sample[, arrows$from, drop = FALSE], arrows)
        range <- promoter_range(arrows)
        expect_lt(max(abs((activity - range[1]) / diff(range) -
                              sample[, gene])), tolerance)
    }
}

test_that("without noise, expression is the formula", {
    for (seed in 1:5) {
        set.seed(seed)
        pair <- sim_genes(n = 40, biological_noise = 0, measurement_noise = 0)
        # The range is searched to about 1e-10.
        expect_kinetics(pair$x, pair$networks$x, 1e-9)
        expect_kinetics(pair$y, pair$networks$y, 1e-9)
        tops <- pair$x[, c("HAP1", "HAP4", "UPC2")]
        expect_true(all(tops > 0 & tops < 1))
    }
})

test_that("circles are at their steady state", {
    # A repressilator driven by a gene of its own, and a pair that activates
    # each other.
    net <- data.frame(
        from = c("in", "a", "b", "c", "in", "d", "e"),
        type = c("ac", "re", "re", "re", "ac", "ac", "ac"),
        to = c("a", "b", "c", "a", "d", "e", "d")
    )
    set.seed(1)
    pair <- sim_genes(net, n = 200, n_changed = 2, hill = c(3, 4),
                      biological_noise = 0, measurement_noise = 0)
    expect_kinetics(pair$x, pair$networks$x, 1e-9)
    expect_kinetics(pair$y, pair$networks$y, 1e-9)
})

test_that("circles that never settle are reported, not returned", {
    # Six genes in many circles, with steep responses.
    net <- data.frame(
        from = strsplit("xdacdefbcbdfd", "")[[1]],
        type = c("ac", "re", "re", "ac", "ac", "re", "ac", "re", "re", "ac",
                 "ac", "re", "ac"),
        to = strsplit("aabbbccddeeef", "")[[1]],
        half = 0.4, hill = 4
    )
    set.seed(1)
    expect_error(sim_genes(net, n = 200, n_changed = 0, biological_noise = 0),
                 "of 200 observations .* no steady state",
                 class = "kliep_error_steady_state")
    net$hill <- 1
    expect_error(sim_genes(net, n = 200, n_changed = 0), NA)
})

test_that("six interactions change their type and nothing else", {
    before <- after <- character()
    for (seed in 1:20) {
        set.seed(seed)
        pair <- sim_genes(n = 5)
        x <- pair$networks$x$interactions
        y <- pair$networks$y$interactions
        constant <- c("from", "to", "half", "hill")
        expect_identical(x[constant], y[constant])
        changed <- which(x$type != y$type)
        expect_length(changed, 6)
        expect_equal(pair$truth[c("from", "to", "type_x", "type_y")],
                     data.frame(from = x$from, to = x$to, type_x = x$type,
                                type_y = y$type)[changed, ],
                     ignore_attr = TRUE)
        expect_true(all(x$from[changed] != x$to[changed]))
        before <- c(before, x$type[changed])
        after <- c(after, y$type[changed])
        expect_true(all(x$half >= 0.25 & x$half <= 0.75))
        expect_true(all(x$hill %in% 1:4))
    }
    expect_setequal(paste(before, after),
                    c("ac re", "re ac", "du ac", "du re"))
})

test_that("the sign of a change says where there is more activation", {
    net <- data.frame(from = c("a", "b", "c"), type = c("ac", "re", "du"),
                      to = c("d", "e", "f"))
    set.seed(1)
    truth <- sim_genes(net, n = 5, n_changed = 3)$truth
    expect_equal(truth$change[1:2], c(2, -2))
    expect_equal(truth$change[3], if (truth$type_y[3] == "ac") -1 else 1)
})

test_that("a pair of genes is one edge, and arrows into tops never change", {
    # a <-> b is driven by a; both ways to regulate are one edge.
    net <- data.frame(from = c("a", "b", "b", "c"), type = "ac",
                      to = c("b", "a", "c", "b"))
    expect_error(sim_genes(net, n_changed = 3), "3 changes and 2 edges",
                 class = "kliep_error_argument")
    for (seed in 1:10) {
        set.seed(seed)
        truth <- sim_genes(net, n = 3, n_changed = 2)$truth
        expect_false("a" %in% truth$to)
        expect_equal(anyDuplicated(paste(pmin(truth$from, truth$to),
                                         pmax(truth$from, truth$to))), 0)
    }
})

test_that("noise has its size", {
    draw <- function(biological, measurement) {
        set.seed(1)
        sim_genes(n = 4000, biological_noise = biological,
                  measurement_noise = measurement)$x
    }
    quiet <- draw(0, 0)
    spread <- apply(log(draw(0, 0.3) / quiet), 2, sd)
    # The standard deviation of n normal numbers, five times its error.
    expect_lt(max(abs(spread / 0.3 - 1)), 5 / sqrt(2 * 4000))
    tops <- c("HAP1", "HAP4", "UPC2")
    spread <- apply(log(draw(0.2, 0) / quiet)[, tops], 2, sd)
    expect_lt(max(abs(spread / 0.2 - 1)), 5 / sqrt(2 * 4000))
})

test_that("top regulators are uniform and independent", {
    set.seed(3)
    n <- 20000
    tops <- sim_genes(n = n, biological_noise = 0,
                      measurement_noise = 0)$x[, c("HAP1", "HAP4", "UPC2")]
    expect_lt(max(abs(colMeans(tops) - 1 / 2)), 5 / sqrt(12 * n))
    expect_lt(max(abs(apply(tops, 2, var) - 1 / 12)), 5 * 0.075 / sqrt(n))
    expect_lt(max(abs(cor(tops)[upper.tri(diag(3))])), 5 / sqrt(n))
})

test_that("one seed gives the same data on any number of threads", {
    draw <- function(seed, threads) {
        set.seed(seed)
        sim_genes(n = 31, threads = threads, n_holdout = 6)
    }
    expect_identical(draw(1, 1), draw(1, 3))
    expect_false(any(draw(1, 1)$x == draw(2, 1)$x))
    pair <- draw(1, 1)
    expect_false(any(pair$x == pair$y))
    expect_equal(dim(pair$holdout$y), c(6, 13))
    expect_equal(colnames(pair$x), yeast13()$genes)
})

test_that("constants of a network are kept", {
    set.seed(1)
    pair <- sim_genes(n = 5)
    again <- sim_genes(pair$networks$x, n = 5)
    expect_equal(again$networks$x, pair$networks$x)
    wrong <- pair$networks$x
    wrong$interactions$half[3] <- -1
    expect_error(sim_genes(wrong), class = "kliep_error_network")
})

test_that("bad settings get a classed error", {
    expect_error(sim_genes(n_changed = 22), "22 changes and 21 edges",
                 class = "kliep_error_argument")
    expect_error(sim_genes(half = c(0.5, 0.1)), class = "kliep_error_argument")
    expect_error(sim_genes(half = 0.5), class = "kliep_error_argument")
    expect_error(sim_genes(hill = c(0, 2)), class = "kliep_error_argument")
    expect_error(sim_genes(hill = c(1, 2.5)), "whole numbers",
                 class = "kliep_error_argument")
    expect_error(sim_genes(biological_noise = -1),
                 class = "kliep_error_argument")
    expect_error(sim_genes(measurement_noise = NA),
                 class = "kliep_error_argument")
    expect_error(sim_genes(biological_noise = 6), "from 0 to 5",
                 class = "kliep_error_argument")
    expect_error(sim_genes(half = c(1e200, 1e200)), "does not respond",
                 class = "kliep_error_argument")
    expect_error(sim_genes(half = c(1e-200, 1e-200), hill = c(4, 4)),
                 "too close to 0", class = "kliep_error_argument")
    expect_error(sim_genes(n = 0), class = "kliep_error_size")
})

test_that("the changes can be found", {
    # Average precision of guessing is 6 / 78.
    precision <- vapply(1:4, function(seed) {
        set.seed(seed)
        pair <- sim_genes(n = 200)
        found <- edges(kliep_path(pair$x, pair$y, lambda_min_ratio = 0.1))
        key <- function(edges) {
            paste(pmin(edges$from, edges$to), pmax(edges$from, edges$to))
        }
        top <- utils::head(found[order(-found$enters), ], 6)
        mean(key(top) %in% key(pair$truth))
    }, 0)
    expect_gt(mean(precision), 0.3)
})
