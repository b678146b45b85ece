test_that("Gaussian features are products and squares", {
    features <- feat_gaussian()
    expect_equal(features$pair, matrix(c(1L, 1L), 2))
    expect_equal(features$single, 2L)
    expect_equal(feat_gaussian(linear = TRUE)$single, c(2L, 1L))
})

test_that("features print their formula", {
    expect_snapshot(feat_gaussian())
    expect_snapshot(feat_gaussian(linear = TRUE))
    expect_snapshot(product_features("polynomial", 2,
                                 rbind(c(1L, 2L, 0L), c(1L, 1L, 2L)), 1:2))
    expect_snapshot(kliep_control(tol = 1e-8, max_iter = 10, threads = 1))
})

test_that("coefficients are labelled by their term", {
    features <- product_features("polynomial", 1,
                             rbind(c(1L, 2L, 0L), c(1L, 1L, 2L)), 1:2)
    labels <- term_labels(features, c("a", "b"), from = c(1, 1, 1, 2, 2),
                          to = c(2, 2, 2, 2, 2), term = c(1, 2, 3, 1, 2))
    expect_equal(labels, c("a*b", "a^2*b", "b^2", "b", "b^2"))
    expect_equal(term_labels(features, c("a", "b"), integer(), integer(),
                             integer()), character())
})

test_that("polynomials have the monomials of the paper, or those of both", {
    all <- feat_polynomial(degree = 4)
    degree <- colSums(all$pair)
    expect_identical(as.vector(table(degree)), 2:5)
    expect_identical(all$single, 1:4)
    expect_false(any(duplicated(t(all$pair))))
    both <- feat_polynomial(degree = 4, terms = "interactions")
    expect_identical(both$pair, all$pair[, apply(all$pair, 2, min) > 0])
    expect_identical(both$single, 1:4)
})

test_that("polynomial and nonparanormal fits are certified", {
    pair <- random_pair(5, 40)
    for (features in list(feat_polynomial(3), feat_nonparanormal(2),
                          feat_polynomial(3, basis = "raw"),
                          feat_polynomial(4, terms = "interactions"))) {
        for (direction in c("p/q", "symmetric")) {
            path <- paper_path(pair$x, pair$y, features, nlambda = 5,
                               direction = direction)
            expect_gt(path$diagnostics$n_detected[5], 0)
            expect_certified(path, pair$x, pair$y)
        }
    }
})

test_that("power 2 undoes a square root", {
    pair <- random_pair(5, 60)
    root <- function(x) sign(x) * sqrt(abs(x))
    plain <- paper_path(pair$x, pair$y, nlambda = 5, standardize = "none")
    undone <- paper_path(root(pair$x), root(pair$y), feat_nonparanormal(2),
                         nlambda = 5, standardize = "none")
    expect_equal(undone$lambda2, plain$lambda2)
    expect_equal(last_coef(undone), last_coef(plain), tolerance = 1e-4)
})

test_that("features say what is wrong with their arguments", {
    for (bad in list(0, -1, NA, "2", c(1, 2))) {
        expect_error(feat_nonparanormal(bad), class = "kliep_error_features")
    }
    for (bad in list(1, 2.5, NA, "4")) {
        expect_error(feat_polynomial(bad), class = "kliep_error_features")
    }
    expect_error(feat_polynomial(terms = "some"),
                 class = "kliep_error_argument")
    expect_error(feat_polynomial(basis = "monic"),
                 class = "kliep_error_argument")
})
