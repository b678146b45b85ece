# Whether the right edges come out. `make bench ONLY=recovery` is the full
# study; these are small versions of its parts.

average_precision_of <- function(pair, features, ...) {
    pr_curve(paper_path(pair$x, pair$y, features, ...),
             pair)$average_precision
}

test_that("polynomials see changes that have no correlation", {
    precision <- vapply(1:3, function(seed) {
        set.seed(seed)
        pair <- sim_diamond(d = 6, n = 1500, density = c(0.5, 0.2))
        features <- feat_polynomial(4, terms = "interactions")
        c(polynomial = average_precision_of(pair, features, nlambda = 20),
          gaussian = average_precision_of(pair, feat_gaussian()))
    }, numeric(2))
    means <- rowMeans(precision)
    expect_gt(means[["polynomial"]], means[["gaussian"]] + 0.2)
})

test_that("more observations of an Ising chain recover more", {
    couplings <- ising_chain(15, 0.4)
    precision <- vapply(c(40, 160, 640), function(n) {
        mean(vapply(1:4, function(seed) {
            set.seed(seed)
            pair <- sim_ising(couplings, ising_change(couplings, 4), n)
            average_precision_of(pair, feat_ising())
        }, 0))
    }, 0)
    expect_false(is.unsorted(precision, strictly = TRUE))
    expect_gt(precision[3], 0.9)
})

test_that("selection undoes a square root", {
    powers <- vapply(1:10, function(seed) {
        set.seed(seed)
        pair <- sim_nonparanormal(d = 8, n = 500, density = 0.4, edge = 0.4,
                                  n_changed = 8, change = -0.8)
        chosen <- kliep_select(pair$x, pair$y, lapply(1:3, feat_nonparanormal),
                               nlambda = 12, folds = 3)
        chosen$fit$spec$features$power
    }, 0)
    expect_gt(sum(powers == 2), 5)
})

test_that("selection finds the degree that a diamond needs", {
    degrees <- vapply(1:3, function(seed) {
        set.seed(seed)
        pair <- sim_diamond(d = 4, n = 1500, density = c(1, 0.3),
                            n_holdout = 3000)
        chosen <- kliep_select(pair$x, pair$y, lapply(2:4, feat_polynomial),
                               newx = pair$holdout$x, newy = pair$holdout$y,
                               nlambda = 10)
        chosen$fit$spec$features$settings$degree
    }, 1L)
    # The fourth has x_u^2 x_v^2.
    expect_identical(degrees, rep(4L, 3))
})

test_that("many polynomials are fitted without being stored", {
    pair <- random_pair(300, 40, seed = 2)
    # d = 1000, with its peak of memory, is a row of `make bench`.
    path <- paper_path(pair$x, pair$y, feat_polynomial(4), nlambda = 5,
                       lambda_min_ratio = 0.7)
    expect_true(all(path$diagnostics$status == "converged"))
    expect_gt(path$diagnostics$n_edges[5], 0)
})
