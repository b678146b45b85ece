# Trimmed numerators.

# The trimmed objective of the help page at theta.
trimmed_objective <- function(path, x, y, theta, lambda2) {
    z <- list(x = standardised(x, path$center$x, path$scale$x),
              y = standardised(y, path$center$y, path$scale$y))
    score <- lapply(z, function(z) {
        as.vector(rowSums((z %*% theta) * z) + z^2 %*% diag(theta)) / 2
    })
    lowest_mean <- function(s) {
        cap <- 1 / (length(s) * (1 - path$spec$robust))
        weight <- pmin(cap, pmax(0, 1 - cap * (seq_along(s) - 1)))
        sum(weight * sort(s))
    }
    ratio <- function(top, bottom) log(mean(exp(bottom))) - lowest_mean(top)
    loss <- c("p/q" = ratio(score$x, score$y),
              "q/p" = ratio(-score$y, -score$x))
    upper <- theta[upper.tri(theta, diag = TRUE)]
    direction <- path$spec$direction
    sum(if (direction == "symmetric") loss else loss[direction]) +
        path$spec$lambda1 / 2 * sum(upper^2) + lambda2 * sum(abs(upper))
}

test_that("a trimmed fit is an optimum of the trimmed objective", {
    set.seed(1)
    pair <- sim_gaussian(d = 6, n = 80, n_changed = 3)
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- paper_path(pair$x, pair$y, direction = direction, nlambda = 4,
                           robust = 0.07)
        expect_true(all(path$diagnostics$status == "converged"))
        expect_true(any(path$diagnostics$fits > 1))
        for (step in 2:4) {
            lambda2 <- path$lambda2[step]
            theta <- unname(as.matrix(coef(path, lambda2)))
            at <- function(theta) {
                trimmed_objective(path, pair$x, pair$y, theta, lambda2)
            }
            row <- path$diagnostics[step, ]
            expect_equal(row$objective, at(theta))
            expect_lte(row$gap, 0.0011 * max(0.1, abs(row$objective)))
            # The gap bounds what any other theta could gain.
            near <- vapply(1:50, function(run) {
                noise <- matrix(rnorm(36, sd = 0.05), 6)
                at(theta + noise + t(noise))
            }, 0)
            expect_gte(min(near), at(theta) - row$gap)
        }
    }
})

# Average precision where five in a hundred are far out together, in four
# variables: a mean over pairs.
score_with_outliers <- function(...) {
    mean(vapply(11:14, function(seed) {
        set.seed(seed)
        pair <- sim_gaussian(d = 12, n = 400, edge = 0.4, change = -0.8,
                             n_changed = 5)
        out <- 1:20
        pair$x[out, 1:4] <- pair$x[out, 1:4] + 4
        path <- paper_path(pair$x, pair$y, nlambda = 20, ...)
        pr_curve(path, pair)$average_precision
    }, 0))
}

test_that("outliers ruin a plain fit and not a trimmed one", {
    expect_lt(score_with_outliers(standardize = "none"), 0.35)
    expect_gt(score_with_outliers(standardize = "none", robust = 0.08), 0.75)
})

test_that("trimming helps with the default scaling, too", {
    plain <- score_with_outliers()
    expect_gt(score_with_outliers(robust = 0.08), plain + 0.15)
})

test_that("the divergence of a trimmed fit is trimmed wherever it is taken", {
    set.seed(2)
    pair <- sim_gaussian(d = 6, n = 90, n_changed = 3)
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- kliep_path(pair$x, pair$y, direction = direction, nlambda = 4,
                           robust = 0.07)
        # Held out, the samples it was fitted to.
        got <- kl_divergence(path, pair$x, pair$y)
        expect_equal(got$holdout, got$fitted)
        # 83.7 of 90 observations.
        expected <- vapply(path$lambda2, function(lambda2) {
            ratio <- sort(predict(path, pair$x, lambda2, sample = "x"))
            (sum(ratio[1:83]) + 0.7 * ratio[84]) / 83.7
        }, 0)
        expect_equal(got$fitted, expected)
    }
    chosen <- kliep_select(pair$x, pair$y, nlambda = 4, robust = 0.07,
                           newx = pair$x, newy = pair$y)
    got <- kl_divergence(chosen)
    expect_equal(got$holdout, got$fitted)
})

test_that("trimming nothing is the plain fit", {
    pair <- random_pair(6, 50)
    plain <- paper_path(pair$x, pair$y, nlambda = 5)
    expect_identical(
        paper_path(pair$x, pair$y, nlambda = 5, robust = 0)$coefficients,
        plain$coefficients
    )
    few <- paper_path(pair$x, pair$y, nlambda = 5, robust = 1e-9)
    expect_equal(few$diagnostics$objective, plain$diagnostics$objective,
                 tolerance = 1e-5)
})

test_that("trimming works with both normalisers, penalties and selection", {
    set.seed(3)
    pair <- sim_gaussian(d = 8, n = 100, n_changed = 3)
    for (penalty in c("adaptive", "mcp")) {
        path <- paper_path(pair$x, pair$y, robust = 0.05, penalty = penalty,
                           normalizer = "gaussian", direction = "symmetric",
                           nlambda = 4)
        expect_true(all(path$diagnostics$status == "converged"))
    }
    expect_output(print(path), "5 % of a numerator may be outliers")
    chosen <- kliep_select(pair$x, pair$y, robust = 0.05, nlambda = 5,
                           folds = 3)
    expect_true(all(is.finite(chosen$scores$score)))
})

test_that("shares that cannot be outliers are errors", {
    x <- matrix(rnorm(60), 20)
    for (robust in list(0.5, -0.1, 1, NA, "0.1", c(0.1, 0.2), Inf)) {
        expect_error(paper_path(x, x + 1, robust = robust),
                     class = "kliep_error_robust")
        expect_error(kliep_select(x, x + 1, robust = robust),
                     class = "kliep_error_robust")
    }
})
