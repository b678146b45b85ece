pair <- random_pair(5, 80, 70)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:5]

test_that("the ratio averages to one over y, for every direction", {
    for (direction in c("p/q", "q/p", "symmetric")) {
        for (standardize in c("within", "pooled", "none")) {
            path <- paper_path(x, y, nlambda = 5, direction = direction,
                               standardize = standardize)
            for (lambda2 in path$lambda2) {
                ratio <- predict(path, y, lambda2, type = "ratio")
                expect_equal(mean(ratio), 1)
            }
        }
    }
})

test_that("the three types are the same ratio", {
    fit <- paper_change(x, y, lambda2 = 0.05)
    log_ratio <- predict(fit, x, sample = "x")
    expect_length(log_ratio, 80)
    expect_equal(predict(fit, x, sample = "x", type = "ratio"),
                 exp(log_ratio))
    weight <- predict(fit, x, sample = "x", type = "weight")
    expect_equal(mean(weight), 1)
    expect_equal(weight, exp(log_ratio) / mean(exp(log_ratio)))
})

test_that("log ratios are the features times the coefficients", {
    fit <- paper_change(x, y, lambda2 = 0.05, features = feat_gaussian(TRUE))
    problem <- dense_problem(fit, x, y)
    theta <- dense_theta(fit, problem, 1)
    for (sample in c("x", "y")) {
        z <- standardised(x, fit$center[[sample]], fit$scale[[sample]])
        scores <- dense_features(z, fit$spec$features)$values %*% theta
        expect_equal(predict(fit, x, sample = sample),
                     as.vector(scores) - fit$log_normalizer)
    }
})

test_that("equal samples have no change and ratios of one", {
    fit <- paper_change(x, x, lambda2 = 0.01)
    expect_equal(nrow(fit$coefficients), 0)
    expect_identical(predict(fit, y, type = "ratio"), rep(1, 70))
    fit <- paper_change(x, x, lambda2 = 0)
    expect_equal(predict(fit, y, type = "ratio"), rep(1, 70))
    path <- paper_path(x, x, nlambda = 5)
    expect_true(all(path$diagnostics$status == "converged"))
    expect_identical(sum(path$diagnostics$n_detected), 0L)
})

test_that("newdata is matched by name, and more columns do no harm", {
    fit <- paper_change(x, y, lambda2 = 0.05)
    expected <- predict(fit, y)
    more <- data.frame(y[, 5:1], label = "text", gap = NA)
    expect_equal(predict(fit, more), expected)
    expect_equal(predict(fit, unname(y)), expected)
    expect_equal(predict(fit, y[3, , drop = FALSE]), expected[3])
})

test_that("bad newdata gets a classed error", {
    fit <- paper_change(x, y, lambda2 = 0.05)
    expect_error(predict(fit, y[, 1:4]), "`E` is missing",
                 class = "kliep_error_dimension")
    expect_error(predict(fit, unname(y[, 1:4])), "got 4",
                 class = "kliep_error_dimension")
    expect_error(predict(fit, y[1, ]), class = "kliep_error_type")
    expect_error(predict(fit, y[0, ]), class = "kliep_error_size")
    expect_error(predict(fit, "a"), class = "kliep_error_type")
    broken <- y
    broken[2, 3] <- NA
    expect_error(predict(fit, broken), "row 2, column `C`",
                 class = "kliep_error_missing")
    expect_error(predict(fit, y, type = "density"),
                 class = "kliep_error_argument")
    expect_error(predict(fit, y, sample = "z"),
                 class = "kliep_error_argument")
})

test_that("weights stay finite where the ratio overflows", {
    fit <- paper_change(x, y, lambda2 = 0.05)
    far <- y * 100
    weight <- predict(fit, far, type = "weight")
    expect_true(all(is.finite(weight)))
    expect_equal(mean(weight), 1)
    expect_error(predict(fit, y * 1e200), class = "kliep_error_overflow")
})

test_that("`s`, glmnet's name of the penalty, is not taken for `sample`", {
    pair <- withr::with_seed(1, sim_gaussian(d = 4, n = 40, n_changed = 1))
    path <- kliep_path(pair$x, pair$y, nlambda = 3)
    expect_error(predict(path, pair$y, s = 0.1), "is `lambda2`",
                 class = "kliep_error_dots", fixed = TRUE)
})
