pair <- random_pair(5, 40, 30)
x <- pair$x
y <- pair$y
precise <- kliep_control(tol = 1e-10)

# Second moments of what the path was fitted to.
moments_of <- function(path, x, y) {
    lapply(list(x = list(x, "x"), y = list(y, "y")), function(sample) {
        z <- standardised(sample[[1]], path$center[[sample[[2]]]],
                          path$scale[[sample[[2]]]])
        crossprod(z) / nrow(z)
    })
}

# The regression of `s` by a quadratic programme: the dual of the penalty,
# which is the sum of |rows of `differences`| with the weights `bound`.
dual_solution <- function(moments, s, lambda1, lambda2) {
    k <- ncol(moments$x) - 1
    zero <- matrix(0, k, k)
    curved <- rbind(cbind(moments$x[-s, -s], zero),
                    cbind(zero, moments$y[-s, -s]))
    slope <- c(moments$x[-s, s], moments$y[-s, s])
    differences <- rbind(diag(2 * k), cbind(diag(k), -diag(k)))
    bound <- rep(c(lambda1, lambda2), c(2 * k, k))
    spread <- differences %*% solve(curved, t(differences))
    # The programme wants a positive definite matrix.
    solution <- quadprog::solve.QP(
        spread + 1e-9 * diag(3 * k), differences %*% solve(curved, slope),
        cbind(diag(3 * k), -diag(3 * k)), -c(bound, bound)
    )$solution
    both <- solve(curved, slope - t(differences) %*% solution)
    list(x = both[1:k], y = both[k + 1:k])
}

# The largest distance from it, over all regressions of a step.
distance_from_dual <- function(path, x, y, step) {
    moments <- moments_of(path, x, y)
    distances <- vapply(1:5, function(s) {
        peer <- dual_solution(moments, s, path$spec$lambda1, path$lambda2[step])
        fitted <- lapply(c("x", "y"), function(sample) {
            regression_matrix(path, step, sample)[-s, s]
        })
        max(abs(unlist(fitted) - c(peer$x, peer$y)))
    }, 0)
    max(distances)
}

test_that("every regression solves its quadratic programme", {
    skip_if_not_installed("quadprog")
    for (lambda1 in c(0.01, 0.15)) {
        for (standardize in c("within", "none")) {
            path <- flasso_path(x, y, lambda1, nlambda = 5,
                                standardize = standardize, control = precise)
            expect_lt(distance_from_dual(path, x, y, 2), 1e-6)
            expect_lt(distance_from_dual(path, x, y, 4), 1e-6)
            expect_lt(distance_from_dual(path, x, y, 5), 1e-6)
        }
    }
})

test_that("the optimality conditions hold over all coefficients", {
    # min over z of the violation, on a grid of z.
    violation <- function(a, b, r, s, lambda1, lambda2) {
        z <- if (a != b) lambda2 * sign(a - b) else
            seq(-lambda2, lambda2, length.out = 20001)
        off <- function(coefficient, rest) {
            if (coefficient == 0) pmax(0, abs(rest) - lambda1) else
                abs(rest - lambda1 * sign(coefficient))
        }
        min(pmax(off(a, r - z), off(b, s + z)))
    }
    path <- flasso_path(x, y, 0.05, nlambda = 4)
    moments <- moments_of(path, x, y)
    for (step in 1:4) {
        lambda2 <- path$lambda2[step]
        worst <- 0
        for (s in 1:5) {
            a <- regression_matrix(path, step, "x")[, s]
            b <- regression_matrix(path, step, "y")[, s]
            r <- moments$x[, s] - moments$x %*% a
            t <- moments$y[, s] - moments$y %*% b
            for (j in setdiff(1:5, s)) {
                worst <- max(worst, violation(a[j], b[j], r[j], t[j], 0.05,
                                              lambda2))
            }
        }
        # Half the distance of the grid's points is all it can be off by.
        expect_lt(abs(worst - path$diagnostics$kkt[step]), lambda2 / 2e4)
        expect_lt(path$diagnostics$kkt[step], 1e-6 * path$lambda_max)
    }
})

test_that("a large lambda2 gives one regression for both samples", {
    path <- flasso_path(x, y, 0.05, lambda2 = c(100, 0.01), control = precise)
    expect_equal(regression_matrix(path, 1, "x"),
                 regression_matrix(path, 1, "y"))
    expect_false(identical(regression_matrix(path, 2, "x"),
                           regression_matrix(path, 2, "y")))
    expect_equal(nrow(edges(path, 100)), 0)
    skip_if_not_installed("glmnet")
    # The lasso over all rows, those of each sample with a weight of one.
    z <- rbind(standardised(x, path$center$x, path$scale$x) / sqrt(40),
               standardised(y, path$center$y, path$scale$y) / sqrt(30))
    for (s in 1:5) {
        peer <- glmnet::glmnet(sqrt(70) * z[, -s], sqrt(70) * z[, s],
                               lambda = 0.1, standardize = FALSE,
                               intercept = FALSE, thresh = 1e-20)
        expect_equal(regression_matrix(path, 1, "x")[-s, s],
                     as.vector(peer$beta), tolerance = 1e-6)
    }
})

test_that("lambda2 = 0 gives two lassos that agree with glmnet", {
    skip_if_not_installed("glmnet")
    for (lambda1 in c(0.02, 0.2)) {
        path <- flasso_path(x, y, lambda1, lambda2 = 0, control = precise)
        for (sample in c("x", "y")) {
            z <- standardised(pair[[sample]], path$center[[sample]],
                              path$scale[[sample]])
            for (s in 1:5) {
                peer <- glmnet::glmnet(z[, -s], z[, s], lambda = lambda1,
                                       standardize = FALSE,
                                       intercept = FALSE, thresh = 1e-20)
                expect_equal(regression_matrix(path, 1, sample)[-s, s],
                             as.vector(peer$beta), tolerance = 1e-6)
            }
        }
    }
})

test_that("without penalties there is least squares", {
    path <- flasso_path(x, y, 0, lambda2 = 0, standardize = "none",
                        control = precise)
    for (s in 1:5) {
        peer <- lm.fit(scale(x[, -s], scale = FALSE), x[, s] - mean(x[, s]))
        expect_equal(regression_matrix(path, 1, "x")[-s, s],
                     unname(peer$coefficients), tolerance = 1e-7)
        expect_equal(path$variances$x[s, 1], mean(peer$residuals^2),
                     tolerance = 1e-7)
    }
})

test_that("the rule makes one change of two", {
    paths <- lapply(c(and = "and", or = "or", mean = "mean"), function(rule) {
        flasso_path(x, y, 0.05, nlambda = 6, symmetrize = rule)
    })
    for (step in 1:6) {
        change <- regression_matrix(paths$and, step, "x") -
            regression_matrix(paths$and, step, "y")
        change <- list(upper = change[upper.tri(change)],
                       lower = t(change)[upper.tri(change)])
        smaller <- abs(change$upper) < abs(change$lower)
        expected <- list(
            and = ifelse(smaller, change$upper, change$lower),
            or = ifelse(smaller, change$lower, change$upper),
            mean = (change$upper + change$lower) / 2
        )
        for (rule in names(paths)) {
            theta <- as.matrix(coef(paths[[rule]],
                                    paths[[rule]]$lambda2[step]))
            expect_equal(theta[upper.tri(theta)], expected[[rule]])
            expect_equal(unname(diag(theta)), rep(0, 5))
        }
    }
})

test_that("a known change is found, with its sign", {
    set.seed(1)
    known <- sim_gaussian(d = 8, n = 2000, n_changed = 2, edge = 0.4,
                          change = -0.8)
    path <- flasso_path(known$x, known$y, 0.02)
    step <- which(path$diagnostics$n_edges >= 2)[1]
    found <- edges(path, path$lambda2[step])
    expect_setequal(paste(found$from, found$to),
                    paste(known$truth$from, known$truth$to))
    # The change of an edge is that of minus the precision.
    expect_equal(sign(found$weight), rep(sign(-0.8), 2))
})

test_that("no number of threads changes a number", {
    wide <- random_pair(20, 30, 25)
    fits <- lapply(1:3, function(threads) {
        path <- flasso_path(wide$x, wide$y, 0.05, nlambda = 6,
                            control = kliep_control(threads = threads))
        path$diagnostics$seconds <- NULL
        path[c("diagnostics", "coefficients", "regressions", "variances")]
    })
    expect_identical(fits[[1]], fits[[2]])
    expect_identical(fits[[1]], fits[[3]])
})

test_that("more variables than observations, without a lasso, are no error", {
    wide <- random_pair(12, 6, 7)
    path <- flasso_path(wide$x, wide$y, 0, nlambda = 5)
    expect_true(all(path$diagnostics$status == "converged"))
    expect_true(all(is.finite(path$regressions$x)))
})

test_that("too few iterations are reported", {
    expect_warning(
        path <- flasso_path(x, y, 0, nlambda = 5,
                            control = kliep_control(tol = 1e-10,
                                                    max_iter = 1)),
        class = "kliep_warning_max_iter"
    )
    expect_true("max_iter" %in% path$diagnostics$status)
})

test_that("the score is the sum of conditional log-likelihoods", {
    path <- flasso_path(x, y, 0.05, nlambda = 5)
    new <- random_pair(5, 50, 60, seed = 2)
    scores <- holdout_scores(path, new$x, new$y)
    for (step in c(1, 5)) {
        value <- sum(vapply(c("x", "y"), function(sample) {
            z <- standardised(new[[sample]], path$center[[sample]],
                              path$scale[[sample]])
            b <- regression_matrix(path, step, sample)
            v <- path$variances[[sample]][, step]
            sum(vapply(1:5, function(s) {
                residual <- z[, s] - z %*% b[, s]
                mean(-log(2 * pi * v[s]) / 2 - residual^2 / (2 * v[s]))
            }, 0))
        }, 0))
        expect_equal(scores$score[step], value)
    }
    expect_true(all(scores$se > 0))
})

test_that("lambda1 is checked", {
    expect_error(flasso_path(x, y, -1), class = "kliep_error_lambda")
    expect_error(flasso_path(x, y, c(1, 2)), class = "kliep_error_lambda")
    expect_error(flasso_path(x, y, symmetrize = "xor"),
                 class = "kliep_error_argument")
    expect_error(flasso_path(x, y, control = list()),
                 class = "kliep_error_control")
})
