test_that("the networks are the construction of the paper", {
    set.seed(1)
    pair <- sim_gaussian(d = 20, n = c(x = 30, y = 50), density = 0.3,
                         edge = 0.25, diag = 3, n_changed = 7, change = -0.3)
    expect_s3_class(pair, "network_pair")
    expect_equal(dim(pair$x), c(30, 20))
    expect_equal(dim(pair$y), c(50, 20))
    p <- as.matrix(pair$networks$x)
    q <- as.matrix(pair$networks$y)
    expect_equal(unname(diag(p)), rep(3, 20))
    expect_equal(unname(diag(q)), rep(3, 20))
    above <- p[upper.tri(p)]
    expect_equal(sum(above != 0), round(0.3 * 190))
    expect_setequal(above, c(0, 0.25))
    changed <- which(upper.tri(p) & p != q, arr.ind = TRUE)
    expect_equal(nrow(changed), 7)
    expect_true(all(p[changed] == 0.25))
    expect_equal(q[changed], rep(0.25 - 0.3, 7))
    expect_setequal(
        with(pair$truth, paste(from, to)),
        paste(colnames(p)[changed[, 1]], colnames(p)[changed[, 2]])
    )
    expect_equal(pair$truth$change, rep(-0.3, 7))
})

test_that("the moments are those of the networks", {
    set.seed(2)
    pair <- sim_gaussian(d = 5, n = 50000, density = 0.5, n_changed = 2)
    for (which in c("x", "y")) {
        sample <- pair[[which]]
        expected <- solve(as.matrix(pair$networks[[which]]))
        expect_lt(max(abs(colMeans(sample))), 0.02)
        expect_lt(max(abs(cov(sample) - expected)), 0.02)
    }
})

test_that("set.seed() decides everything", {
    draw <- function(seed) {
        set.seed(seed)
        sim_gaussian(d = 8, n = 20, n_changed = 2)
    }
    expect_identical(draw(1), draw(1))
    expect_false(identical(draw(1)$x, draw(2)$x))
    pair <- draw(1)
    expect_false(any(pair$x == pair$y))
    set.seed(1)
    sim_gaussian(d = 8, n = 20, n_changed = 2)
    expect_false(identical(sim_gaussian(d = 8, n = 20, n_changed = 2), pair))
})

test_that("held-out samples are further draws", {
    set.seed(1)
    pair <- sim_gaussian(d = 8, n = 20, n_changed = 2, n_holdout = 11)
    expect_equal(dim(pair$holdout$x), c(11, 8))
    expect_equal(colnames(pair$holdout$y), colnames(pair$y))
    expect_false(any(pair$holdout$x %in% pair$x))
})

test_that("pairs are numbered down the columns", {
    all <- pair_from_index(1:10)
    m <- matrix(0, 5, 5)
    expect_equal(cbind(all$from, all$to),
                 which(upper.tri(m), arr.ind = TRUE), ignore_attr = TRUE)
    # Whole numbers stay exact far out.
    d <- 1e5
    expect_equal(pair_from_index(d * (d - 1) / 2),
                 data.frame(from = d - 1, to = d))
})

test_that("nothing has to change", {
    set.seed(1)
    expect_equal(nrow(sim_gaussian(d = 5, n = 5, n_changed = 0)$truth), 0)
    none <- sim_gaussian(d = 5, n = 5, density = 0, n_changed = 0)
    expect_equal(Matrix::nnzero(none$networks$x), 5)
})

test_that("bad settings get a classed error", {
    expect_error(sim_gaussian(d = 1), class = "kliep_error_size")
    expect_error(sim_gaussian(n = 0), class = "kliep_error_size")
    expect_error(sim_gaussian(n = c(1, 2)), class = "kliep_error_size")
    expect_error(sim_gaussian(density = 1.5), class = "kliep_error_argument")
    expect_error(sim_gaussian(density = -0.1), class = "kliep_error_argument")
    expect_error(sim_gaussian(d = 5, n_changed = 9), "9 changes and 2 edges",
                 class = "kliep_error_argument")
    expect_error(sim_gaussian(edge = NA), class = "kliep_error_argument")
    expect_error(sim_gaussian(n_holdout = -1), class = "kliep_error_argument")
    expect_error(sim_gaussian(d = 40, edge = 1), "Lower `density`",
                 class = "kliep_error_positive_definite")
})

test_that("a pair prints what it holds", {
    set.seed(1)
    expect_snapshot(sim_gaussian(d = 8, n = c(x = 20, y = 30), n_changed = 2,
                                 n_holdout = 5))
})

test_that("a nonparanormal pair is the Gaussian one, bent", {
    draw <- function(fun, ...) {
        set.seed(1)
        fun(d = 6, n = 30, n_changed = 2, n_holdout = 4, ...)
    }
    gaussian <- draw(sim_gaussian)
    for (power in c(0.5, 3)) {
        pair <- draw(sim_nonparanormal, power = power)
        unbend <- function(x) sign(x) * abs(x)^(1 / power)
        expect_equal(unbend(pair$x), gaussian$x)
        expect_equal(unbend(pair$y), gaussian$y)
        expect_equal(unbend(pair$holdout$y), gaussian$holdout$y)
        expect_equal(pair$truth, gaussian$truth)
        expect_equal(pair$settings$power, power)
    }
    expect_null(sim_nonparanormal(n_changed = 2)$holdout)
    expect_error(sim_nonparanormal(power = 0), class = "kliep_error_argument")
    expect_error(sim_nonparanormal(n_change = 2), "`n_changed`",
                 class = "kliep_error_dots")
    expect_error(sim_nonparanormal(density = 2), "`density`",
                 class = "kliep_error_argument")
})

test_that("a lattice has its edges, and four that change their sign", {
    set.seed(1)
    pair <- sim_lattice(m = 16, n = c(x = 20, y = 30))
    expect_equal(dim(pair$y), c(30, 16))
    p <- as.matrix(pair$networks$x)
    q <- as.matrix(pair$networks$y)
    place <- expand.grid(row = 1:4, column = 1:4)
    beside <- as.matrix(dist(place, "manhattan")) == 1
    expect_true(all(p[beside] == 0.4))
    expect_true(all(diag(p) == 2 & diag(q) == 2))
    expect_true(all(p[!beside & row(p) != col(p)] == 0))
    expect_equal(abs(q), p)
    expect_equal(sum(q[upper.tri(q)] == -0.4), 4)
    expect_equal(pair$truth$change, rep(-0.8, 4))
    expect_true(all(q[cbind(pair$truth$from, pair$truth$to)] == -0.4))
    # Largest grids are positive definite, too: their degree is four.
    expect_silent(sim_lattice(m = 400, n = 2))
})

test_that("moments of a lattice are those of its networks", {
    set.seed(2)
    n <- 50000
    pair <- sim_lattice(m = 9, n = n)
    for (which in c("x", "y")) {
        expected <- solve(as.matrix(pair$networks[[which]]))
        variance <- diag(expected)
        # Var(x_u x_v) = s_uu s_vv + s_uv^2; the largest of 45 stays within
        # five standard errors.
        se <- sqrt((outer(variance, variance) + expected^2) / n)
        expect_lt(max(abs(crossprod(pair[[which]]) / n - expected) / se), 5)
    }
})

test_that("a lattice that cannot be gets a classed error", {
    expect_error(sim_lattice(m = 24), "nearest are 16 and 25",
                 class = "kliep_error_size")
    expect_error(sim_lattice(m = 1), class = "kliep_error_size")
    expect_error(sim_lattice(m = 4, n_changed = 5), "5 changes and 4 edges",
                 class = "kliep_error_argument")
    expect_error(sim_lattice(edge = 0.7), "raise `diag`",
                 class = "kliep_error_positive_definite")
    expect_error(sim_lattice(edge = "a"), class = "kliep_error_argument")
})

test_that("edges can be those of a tree that grows, or of stars", {
    set.seed(1)
    tree <- sim_gaussian(d = 60, n = 10, graph = "scale_free", diag = 3,
                         n_changed = 10)
    links <- as.matrix(tree$networks$x) != 0
    diag(links) <- FALSE
    expect_equal(sum(links), 2 * 59)
    expect_true(all(rowSums(links) > 0))
    # A few have far more links than most.
    expect_gte(max(rowSums(links)), 5 * stats::median(rowSums(links)))
    stars <- sim_gaussian(d = 45, n = 10, graph = "hub", n_changed = 5)
    links <- as.matrix(stars$networks$x) != 0
    diag(links) <- FALSE
    expect_equal(unname(which(rowSums(links) > 1)), c(1, 21, 41))
    expect_equal(unname(rowSums(links)[c(1, 21, 41)]), c(19, 19, 4))
    expect_equal(nrow(stars$truth), 5)
    expect_error(sim_gaussian(graph = "ring"), class = "kliep_error_argument")
})
