# What edges() hands out of a path: a ranking, or what one lambda2 detects.

test_that("a path alone is a ranking by entry", {
    set.seed(1)
    pair <- sim_gaussian(d = 10, n = 200, n_changed = 4)
    path <- kliep_path(pair$x, pair$y, nlambda = 15)
    ranked <- edges(path)
    expect_equal(ranked$enters, sort(ranked$enters, decreasing = TRUE))
    expect_identical(ranked[c("from", "to", "enters", "weight")],
                     pr_curve(path, pair)$ranking[c("from", "to", "enters",
                                                    "weight")])
    expect_gt(nrow(ranked), nrow(edges(path, path$lambda2[7])))
    at <- edges(path, path$lambda2[7])
    expect_equal(abs(at$weight), sort(abs(at$weight), decreasing = TRUE))
    expect_error(edges(path, rank = "weight"), class = "kliep_error_dots")
})

test_that("a ranking by weight is taken at the lambda2 that is named", {
    set.seed(2)
    pair <- sim_gaussian(d = 12, n = c(x = 150, y = 300), n_changed = 4)
    path <- kliep_path(pair$x, pair$y, nlambda = 10)
    expect_identical(pr_curve(path, pair, "weight")$curve,
                     pr_curve(path, pair, "weight", min(path$lambda2))$curve)
})

test_that("a selection reports what was chosen", {
    set.seed(3)
    pair <- sim_gaussian(d = 8, n = 300, n_changed = 4)
    chosen <- kliep_select(pair$x, pair$y, nlambda = 10, folds = 3)
    expect_identical(edges(chosen), edges(chosen$fit))
    expect_identical(
        pr_curve(chosen, pair, "weight")$curve,
        pr_curve(chosen$path, pair, "weight", chosen$fit$lambda2)$curve
    )
})
