# Two orders of edges, and the level at which weights are stable.

test_that("edges come in the order of their weight or of their entry", {
    set.seed(1)
    pair <- sim_gaussian(d = 10, n = 200, n_changed = 4)
    path <- kliep_path(pair$x, pair$y, nlambda = 15)
    # Left alone, as ever: all that is detected at the smallest lambda2.
    expect_identical(edges(path), edges(path, min(path$lambda2)))
    entry <- edges(path, rank = "entry")
    expect_equal(entry$enters, sort(entry$enters, decreasing = TRUE))
    expect_identical(entry[c("from", "to", "enters", "weight")],
                     pr_curve(path, pair)$ranking[c("from", "to", "enters",
                                                    "weight")])
    half <- edges(path, path$lambda2[7], rank = "entry")
    expect_identical(half, head(entry, nrow(half)))
    expect_identical(edges(path, path$lambda2[7], rank = "weight"),
                     edges(path, path$lambda2[7]))
    expect_error(edges(path, rank = "size"), class = "kliep_error_argument")
})

test_that("weights are ranked at the universal level", {
    set.seed(2)
    pair <- sim_gaussian(d = 12, n = c(x = 150, y = 300), n_changed = 4)
    level <- 0.6 * sqrt(2 * log(66) * (1 / 150 + 1 / 300))
    for (direction in c("p/q", "symmetric")) {
        path <- kliep_path(pair$x, pair$y, direction = direction,
                           lambda_min_ratio = 0.1)
        aim <- if (direction == "symmetric") 2 * level else level
        at <- path$lambda2[which.min(abs(log(path$lambda2 / aim)))]
        expect_lt(at, path$lambda2[1])
        expect_gt(at, path$lambda2[50])
        expect_identical(edges(path, rank = "weight"), edges(path, at))
        expect_identical(pr_curve(path, pair, "weight")$curve,
                         pr_curve(path, pair, "weight", at)$curve)
    }
    # No level is known for other features: the smallest lambda2.
    other <- kliep_path(pair$x, pair$y, feat_polynomial(3), nlambda = 5)
    expect_identical(edges(other, rank = "weight"), edges(other))
})

test_that("a selection is ranked at what was chosen", {
    set.seed(3)
    pair <- sim_gaussian(d = 8, n = 300, n_changed = 4)
    chosen <- kliep_select(pair$x, pair$y, nlambda = 10, folds = 3)
    expect_identical(edges(chosen, rank = "weight"), edges(chosen))
    expect_equal(edges(chosen, rank = "entry")$enters,
                 sort(edges(chosen, chosen$fit$lambda2,
                            rank = "entry")$enters, decreasing = TRUE))
    expect_identical(
        pr_curve(chosen, pair, "weight")$curve,
        pr_curve(chosen$path, pair, "weight", chosen$fit$lambda2)$curve
    )
})
