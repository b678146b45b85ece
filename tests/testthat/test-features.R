test_that("Gaussian features are products and squares", {
    features <- feat_gaussian()
    expect_equal(features$pair, matrix(c(1L, 1L), 2))
    expect_equal(features$single, 2L)
    expect_equal(feat_gaussian(linear = TRUE)$single, c(2L, 1L))
})

test_that("features print their formula", {
    expect_snapshot(feat_gaussian())
    expect_snapshot(feat_gaussian(linear = TRUE))
    expect_snapshot(new_features("polynomial", 2,
                                 rbind(c(1L, 2L, 0L), c(1L, 1L, 2L)), 1:2))
    expect_snapshot(kliep_control(tol = 1e-8, max_iter = 10, threads = 1))
})

test_that("coefficients are labelled by their term", {
    features <- new_features("polynomial", 1,
                             rbind(c(1L, 2L, 0L), c(1L, 1L, 2L)), 1:2)
    labels <- term_labels(features, c("a", "b"), from = c(1, 1, 1, 2, 2),
                          to = c(2, 2, 2, 2, 2), term = c(1, 2, 3, 1, 2))
    expect_equal(labels, c("a*b", "a^2*b", "b^2", "b", "b^2"))
    expect_equal(term_labels(features, c("a", "b"), integer(), integer(),
                             integer()), character())
})
