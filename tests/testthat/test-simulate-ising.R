# Exact means of x_u and x_u x_v over all states.
enumerate_ising <- function(theta) {
    theta <- as.matrix(theta)
    d <- ncol(theta)
    states <- as.matrix(expand.grid(rep(list(c(-1, 1)), d)))
    upper <- theta * upper.tri(theta)
    weight <- exp(rowSums((states %*% upper) * states) +
                      states %*% diag(theta))
    weight <- c(weight / sum(weight))
    list(states = states, probability = weight,
         mean = colSums(weight * states),
         product = crossprod(states, weight * states))
}

test_that("moments are those of exact enumeration", {
    set.seed(1)
    theta <- ising_chain(4, coupling = c(0.9, -0.5, 0.3),
                         field = c(0.3, 0, -0.2, 0))
    other <- ising_change(theta, edges = data.frame(from = c(1, 2),
                                                    to = c(4, 3)),
                          change = c(0.4, 1))
    n <- 40000
    pair <- sim_ising(theta, other, n)
    for (which in c("x", "y")) {
        truth <- enumerate_ising(pair$networks[[which]])
        sample <- pair[[which]]
        expect_true(all(sample %in% c(-1, 1)))
        # Five standard errors of means of n signs.
        expect_lt(max(abs(colMeans(sample) - truth$mean)), 5 / sqrt(n))
        expect_lt(max(abs(crossprod(sample) / n - truth$product)),
                  5 / sqrt(n))
        code <- 1 + (sample == 1) %*% 2^(0:3)
        share <- tabulate(code, 16) / n
        se <- sqrt(truth$probability * (1 - truth$probability) / n)
        expect_lt(max(abs(share - truth$probability) / se), 5)
    }
})

test_that("truth is theta_x - theta_y, edges only", {
    theta_x <- matrix(0, 4, 4, dimnames = rep(list(letters[1:4]), 2))
    theta_x[1, 2] <- theta_x[2, 1] <- 0.5
    theta_y <- theta_x
    theta_y[1, 2] <- theta_y[2, 1] <- -0.25
    theta_y[3, 4] <- theta_y[4, 3] <- 0.125
    diag(theta_y) <- 1
    set.seed(1)
    pair <- sim_ising(theta_x, theta_y, n = c(x = 10, y = 20))
    expect_equal(pair$truth, data.frame(from = c("a", "c"), to = c("b", "d"),
                                        change = c(0.75, -0.125)))
    expect_equal(dim(pair$x), c(10, 4))
    expect_equal(dim(pair$y), c(20, 4))
    expect_equal(as.matrix(pair$networks$y), theta_y)
    # The order of the variables is that of theta_x.
    set.seed(1)
    turned <- sim_ising(theta_x, theta_y[4:1, 4:1], n = c(x = 10, y = 20))
    # Either triangle may be the one that a symmetric matrix keeps.
    full <- function(pair) {
        pair$networks <- lapply(pair$networks, as.matrix)
        pair
    }
    expect_equal(full(turned), full(pair))
})

test_that("names of one matrix hold for both", {
    set.seed(1)
    named <- matrix(0, 2, 2, dimnames = rep(list(c("a", "b")), 2))
    plain <- matrix(c(0, 1, 1, 0), 2)
    expect_equal(colnames(sim_ising(named, plain, 5)$y), c("a", "b"))
    expect_equal(sim_ising(plain, named, 5)$truth,
                 data.frame(from = "a", to = "b", change = 1))
    expect_equal(colnames(sim_ising(plain, plain, 5)$x), c("V1", "V2"))
})

test_that("constructors couple the right variables", {
    edges <- function(theta) {
        found <- which(upper.tri(theta) & as.matrix(theta) != 0,
                       arr.ind = TRUE)
        paste(found[, 1], found[, 2])
    }
    expect_equal(edges(ising_chain(5)), c("1 2", "2 3", "3 4", "4 5"))
    expect_equal(edges(ising_tree(7)),
                 c("1 2", "1 3", "2 4", "2 5", "3 6", "3 7"))
    expect_equal(edges(ising_tree(5, branches = 4)),
                 c("1 2", "1 3", "1 4", "1 5"))
    expect_equal(edges(ising_tree(4, branches = 1)), edges(ising_chain(4)))
    # 1 4
    # 2 5
    # 3 6
    expect_setequal(edges(ising_lattice(3, 2)),
                    c("1 2", "2 3", "4 5", "5 6", "1 4", "2 5", "3 6"))
    expect_equal(edges(ising_lattice(1, 4)), edges(ising_chain(4)))
    expect_equal(edges(ising_lattice(4, 1)), edges(ising_chain(4)))
    theta <- ising_lattice(2, 2, coupling = 1:4, field = 5:8)
    expect_true(Matrix::isSymmetric(theta))
    # (1,2), (1,3), (2,4), (3,4), down the columns.
    expect_equal(as.matrix(theta)[upper.tri(theta)], c(1, 2, 0, 0, 3, 4))
    expect_equal(unname(Matrix::diag(theta)), 5:8)
})

test_that("ising_change() changes what it is asked to", {
    set.seed(1)
    theta <- ising_lattice(4, coupling = 0.3, field = 0.1)
    changed <- ising_change(theta, n_changed = 6, change = -0.6)
    difference <- as.matrix(changed - theta)
    expect_equal(sum(difference != 0), 12)
    expect_true(all(as.matrix(theta)[difference != 0] == 0.3))
    expect_equal(difference[difference != 0], rep(-0.6, 12))
    named <- ising_change(theta, change = c(1, 2),
                          edges = data.frame(from = c("V9", "V1"),
                                             to = c("V1", "V2")))
    expect_equal(named["V1", "V9"], 1)
    expect_equal(named["V2", "V1"], 2.3)
    expect_equal(sum(as.matrix(named) != as.matrix(theta)), 4)
    expect_equal(ising_change(theta, n_changed = 0), theta)
})

test_that("one seed gives the same data on any number of threads", {
    theta <- ising_chain(6)
    draw <- function(seed, threads) {
        set.seed(seed)
        sim_ising(theta, theta, n = 101, threads = threads, n_holdout = 9)
    }
    expect_identical(draw(1, 1), draw(1, 3))
    expect_false(identical(draw(1, 1)$x, draw(2, 1)$x))
    expect_false(identical(draw(1, 1)$x, draw(1, 1)$y))
    expect_equal(dim(draw(1, 1)$holdout$x), c(9, 6))
})

test_that("frozen models are noticed", {
    set.seed(1)
    cold <- ising_lattice(5, coupling = 2)
    expect_warning(pair <- sim_ising(cold, ising_chain(25), 400),
                   "Raise `thin`", class = "kliep_warning_mixing")
    expect_lt(pair$effective_size[["x"]], 40)
    expect_gt(pair$effective_size[["y"]], 300)
})

test_that("bad matrices get a classed error", {
    theta <- diag(3)
    expect_error(sim_ising(theta, matrix(1, 2, 2)), "got 3 and 2",
                 class = "kliep_error_dimension")
    expect_error(sim_ising(matrix(1, 2, 3), theta), "2 x 3",
                 class = "kliep_error_dimension")
    skew <- theta
    skew[1, 2] <- 1
    expect_error(sim_ising(theta, skew), "`theta_y` must be symmetric",
                 class = "kliep_error_symmetric")
    hole <- theta
    hole[2, 2] <- NA
    expect_error(sim_ising(hole, theta), class = "kliep_error_missing")
    expect_error(sim_ising("a", theta), "symmetric matrix",
                 class = "kliep_error_type")
    turned <- theta
    dimnames(turned) <- list(c("a", "b", "c"), c("a", "c", "b"))
    expect_error(sim_ising(turned, theta), "same names",
                 class = "kliep_error_names")
    named <- function(names) {
        dimnames(theta) <- list(names, names)
        theta
    }
    expect_error(sim_ising(named(c("a", "b", "c")), named(c("a", "b", "d"))),
                 "`theta_y` does not have `c`",
                 class = "kliep_error_dimension")
    expect_error(sim_ising(theta, theta, n = -1), class = "kliep_error_size")
    expect_error(ising_chain(1), class = "kliep_error_size")
    expect_error(ising_chain(4, coupling = 1:2), "each of the 3 edges",
                 class = "kliep_error_argument")
    expect_error(ising_lattice(1, 1), class = "kliep_error_size")
    chain <- ising_chain(4)
    expect_error(ising_change(chain, n_changed = 4), "4 changes and 3 edges",
                 class = "kliep_error_argument")
    expect_error(ising_change(chain, edges = data.frame(from = 1, to = 9)),
                 "`9`", class = "kliep_error_argument")
    expect_error(ising_change(chain, edges = data.frame(from = 1, to = 1)),
                 "different variables", class = "kliep_error_argument")
    expect_error(ising_change(chain, edges = list(1, 2)),
                 class = "kliep_error_argument")
})
