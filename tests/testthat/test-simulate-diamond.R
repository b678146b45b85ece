test_that("Q is what is left of P", {
    set.seed(1)
    pair <- sim_diamond(n = 20)
    p <- as.matrix(pair$networks$x)
    q <- as.matrix(pair$networks$y)
    expect_equal(unname(diag(p)), rep(2, 9))
    expect_equal(unname(diag(q)), rep(2, 9))
    expect_setequal(p[upper.tri(p)], c(0, 20))
    expect_equal(sum(p[upper.tri(p)] != 0), round(0.35 * 36))
    expect_equal(sum(q[upper.tri(q)] != 0), round(0.15 * 36))
    expect_true(all(p[q != 0] != 0))
    gone <- which(upper.tri(p) & p != q, arr.ind = TRUE)
    expect_setequal(paste(pair$truth$from, pair$truth$to),
                    paste(rownames(p)[gone[, 1]], colnames(p)[gone[, 2]]))
    expect_equal(pair$truth$change, rep(-20, nrow(gone)))
})

test_that("two variables have the marginals of numerical integration", {
    set.seed(2)
    pair <- sim_diamond(d = 2, n = 20000, density = c(1, 0), thin = 20)
    # Of P: the other variable integrates out to 1 / sqrt(2 + 20 x^2).
    density <- function(x) exp(-2 * x^2) / sqrt(2 + 20 * x^2)
    mass <- integrate(density, -Inf, Inf, rel.tol = 1e-10)$value
    for (at in c(-0.6, -0.2, 0.1, 0.5)) {
        share <- integrate(density, -Inf, at, rel.tol = 1e-10)$value / mass
        # Five standard errors of a share at the effective size.
        expect_lt(max(abs(colMeans(pair$x < at) - share)),
                  5 * sqrt(share * (1 - share) / pair$effective_size[["x"]]))
    }
    # E x1^2 x2^2: given x1, x2 is normal with variance 1 / (4 + 40 x1^2).
    product <- integrate(function(x) x^2 / (4 + 40 * x^2) * density(x),
                         -Inf, Inf, rel.tol = 1e-10)$value / mass
    found <- pair$x[, 1]^2 * pair$x[, 2]^2
    expect_lt(abs(mean(found) - product),
              5 * sd(found) / sqrt(pair$effective_size[["x"]]))
    # Q has no edge: normal with variance 1/4.
    expect_lt(max(abs(colMeans(pair$y^2) - 0.25)),
              5 * sqrt(2) * 0.25 / sqrt(pair$effective_size[["y"]]))
})

test_that("there is dependence and no correlation", {
    set.seed(3)
    pair <- sim_diamond(d = 4, n = 4000, density = c(1, 0))
    se <- 1 / sqrt(pair$effective_size[["x"]])
    correlation <- cor(pair$x)
    expect_lt(max(abs(correlation[upper.tri(correlation)])), 5 * se)
    squares <- cor(pair$x^2)
    expect_lt(max(squares[upper.tri(squares)]), -5 * se)
})

test_that("one seed gives the same data on any number of threads", {
    draw <- function(seed, threads, chains = 5) {
        set.seed(seed)
        sim_diamond(n = 103, threads = threads, chains = chains,
                    n_holdout = 7)
    }
    expect_identical(draw(1, 1), draw(1, 3))
    expect_identical(draw(1, 2)$holdout, draw(1, 1)$holdout)
    expect_false(any(draw(1, 1)$x == draw(2, 1)$x))
    pair <- draw(1, 1)
    expect_equal(dim(pair$holdout$y), c(7, 9))
    expect_false(any(pair$holdout$x %in% pair$x))
    # The number of chains is part of what is drawn.
    expect_false(identical(draw(1, 1, chains = 4)$x, pair$x))
})

test_that("the effective size follows the thinning", {
    worth <- function(thin) {
        set.seed(4)
        sim_diamond(n = 2000, thin = thin)$effective_size
    }
    expect_true(all(worth(1) < 1200))
    expect_true(all(worth(10) > 1600))
    expect_true(all(worth(10) <= 2000))
})

test_that("both samples of 5000 take no longer than some loops in R", {
    set.seed(6)
    expect_loops(function() sim_diamond(threads = 1), 20)
})

test_that("bad settings get a classed error", {
    expect_error(sim_diamond(density = 0.35), "must be two numbers",
                 class = "kliep_error_argument")
    expect_error(sim_diamond(density = c(1.2, 0.1)), "density\\[1\\]",
                 class = "kliep_error_argument")
    expect_error(sim_diamond(density = c(0.3, -0.1)), "density\\[2\\]",
                 class = "kliep_error_argument")
    expect_error(sim_diamond(density = c(0.1, 0.3)), "must not exceed",
                 class = "kliep_error_argument")
    expect_error(sim_diamond(edge = -1), class = "kliep_error_argument")
    expect_error(sim_diamond(diag = 0), class = "kliep_error_argument")
    expect_error(sim_diamond(d = 1), class = "kliep_error_size")
    expect_error(sim_diamond(n = 0), class = "kliep_error_size")
    expect_error(sim_diamond(thin = 0), class = "kliep_error_argument")
    expect_error(sim_diamond(burn_in = -1), class = "kliep_error_argument")
    expect_error(sim_diamond(chains = 0.5), class = "kliep_error_argument")
    expect_error(sim_diamond(threads = 0), class = "kliep_error_control")
})

test_that("a pair says what its draws are worth", {
    set.seed(1)
    pair <- sim_diamond(n = 50)
    worth <- paste0("x: ", round(pair$effective_size[["x"]]), ", y: ",
                    round(pair$effective_size[["y"]]), " independent draws")
    expect_output(print(pair), worth, fixed = TRUE)
    expect_output(print(pair), "x: 13 edges, y: 5 edges; 8 changed",
                  fixed = TRUE)
})
