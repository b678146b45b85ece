pair <- random_pair(6, 80, 60)
x <- pair$x
y <- pair$y
precise <- kliep_control(tol = 1e-9)

# The precision matrix of a sample at a step.
network <- function(path, step, sample) network_matrix(path, step, sample)

test_that("both networks are glasso's own", {
    path <- glasso_path(x, y, lambda2 = c(0.3, 0.1, 0.02), control = precise)
    for (step in 1:3) {
        for (sample in c("x", "y")) {
            peer <- glasso::glasso(cor(pair[[sample]]), path$lambda2[step],
                                   thr = 1e-10)$wi
            expect_equal(network(path, step, sample), peer, tolerance = 1e-6)
        }
        difference <- network(path, step, "y") - network(path, step, "x")
        diag(difference) <- diag(difference) / 2
        expect_equal(as.matrix(coef(path, path$lambda2[step])), difference,
                     ignore_attr = TRUE)
    }
})

test_that("and huge's", {
    skip_if_not_installed("huge")
    path <- glasso_path(x, y, lambda2 = c(0.3, 0.1), control = precise)
    for (sample in c("x", "y")) {
        peer <- huge::huge(pair[[sample]], lambda = c(0.3, 0.1),
                           method = "glasso", verbose = FALSE)
        for (step in 1:2) {
            # huge stops earlier.
            expect_equal(network(path, step, sample),
                         as.matrix(peer$icov[[step]]), tolerance = 1e-3,
                         ignore_attr = TRUE)
        }
    }
})

test_that("every step satisfies the optimality conditions", {
    for (diagonal in c(TRUE, FALSE)) {
        path <- glasso_path(x, y, nlambda = 6, control = precise,
                            standardize = "none",
                            penalize_diagonal = diagonal)
        for (step in 1:6) {
            lambda <- path$lambda2[step]
            worst <- vapply(c("x", "y"), function(sample) {
                theta <- network(path, step, sample)
                excess <- solve(theta) - cov(pair[[sample]])
                penalty <- lambda * (diagonal | !diag(6))
                residual <- ifelse(theta == 0, pmax(0, abs(excess) - penalty),
                                   abs(excess - penalty * sign(theta)))
                max(residual)
            }, 0)
            expect_lt(max(worst), 1e-5)
            expect_equal(max(worst), path$diagnostics$kkt[step],
                         tolerance = 1e-6)
        }
        expect_true(all(path$diagnostics$gap >= 0))
    }
})

test_that("the change is zero where both networks are, and only there", {
    path <- glasso_path(x, y, nlambda = 10)
    for (step in 1:10) {
        both <- network(path, step, "x") == 0 & network(path, step, "y") == 0
        change <- as.matrix(coef(path, path$lambda2[step]))
        off <- upper.tri(both)
        expect_equal(unname(change == 0)[off], both[off])
    }
})

test_that("without a penalty there is the inverse covariance, or nothing", {
    path <- glasso_path(x, y, lambda2 = c(0.1, 0), standardize = "none")
    expect_equal(network(path, 2, "x"), solve(cov(x)), ignore_attr = TRUE)
    expect_warning(
        path <- glasso_path(x[1:5, ], y, lambda2 = c(0.1, 0)),
        class = "kliep_warning_unbounded"
    )
    expect_equal(path$diagnostics$status, c("converged", "unbounded"))
    expect_error(coef(path, 0), class = "kliep_error_unbounded")
    expect_silent(print_of <- capture.output(print(path)))
})

test_that("the score is the log-likelihood of both samples", {
    path <- glasso_path(x, y, nlambda = 5)
    new <- random_pair(6, 50, 70, seed = 2)
    scores <- holdout_scores(path, new$x, new$y)
    for (step in c(1, 5)) {
        value <- sum(vapply(c("x", "y"), function(sample) {
            z <- standardised(new[[sample]], path$center[[sample]],
                              path$scale[[sample]])
            theta <- network(path, step, sample)
            0.5 * as.numeric(determinant(theta)$modulus) -
                3 * log(2 * pi) - 0.5 * mean(rowSums((z %*% theta) * z))
        }, 0))
        expect_equal(scores$score[step], value)
    }
    expect_true(all(scores$se > 0))
})
