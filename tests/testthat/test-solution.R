# What a solution must satisfy, checked by arithmetic of its own
# (helper-certificate.R).

cubic <- function() {
    product_features("polynomial", 1, rbind(c(1L, 2L, 1L), c(1L, 1L, 2L)), 1:2)
}
powered <- function() product_features("nonparanormal", 2, matrix(1L, 2, 1), 2L)

# Coefficients are compared where they are known to about 1e-5: the error is
# at most sqrt(2 gap / lambda1).
tight <- kliep_control(tol = 1e-10, max_iter = 20000)

test_that("gap and KKT hold along whole paths", {
    cases <- expand.grid(direction = c("p/q", "q/p", "symmetric"),
                         family = c("gaussian", "linear", "cubic", "powered"),
                         stringsAsFactors = FALSE)
    make <- list(gaussian = feat_gaussian,
                 linear = function() feat_gaussian(linear = TRUE),
                 cubic = cubic, powered = powered)
    for (case in seq_len(nrow(cases))) {
        pair <- random_pair(5, 40, 30, seed = case)
        path <- paper_path(pair$x, pair$y, make[[cases$family[case]]](),
                           nlambda = 8, direction = cases$direction[case],
                           lambda_min_ratio = 0.05)
        expect_certified(path, pair$x, pair$y)
    }
})

test_that("gap and KKT hold for every standardisation and ridge", {
    pair <- random_pair(6, 25, 35)
    for (standardize in c("within", "pooled", "none")) {
        for (lambda1 in c(0.001, 0.1, 1, 10)) {
            path <- paper_path(pair$x, pair$y, lambda1 = lambda1, nlambda = 6,
                               standardize = standardize)
            expect_certified(path, pair$x, pair$y)
        }
    }
})

test_that("without the ridge the optimality conditions hold", {
    pair <- random_pair(4, 100, 100)
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- paper_path(pair$x, pair$y, lambda1 = 0, nlambda = 6,
                           lambda_min_ratio = 0.6, direction = direction)
        expect_certified(path, pair$x, pair$y)
    }
})

test_that("a tighter tolerance is met", {
    pair <- random_pair(6, 50)
    path <- paper_path(pair$x, pair$y, nlambda = 5,
                       control = kliep_control(tol = 1e-9))
    expect_certified(path, pair$x, pair$y)
})

test_that("nothing is detected at lambda_max, and something just below", {
    for (seed in 1:5) {
        pair <- random_pair(6, 30, seed = seed)
        for (direction in c("p/q", "q/p", "symmetric")) {
            for (features in list(feat_gaussian(), cubic())) {
                path <- paper_path(pair$x, pair$y, features, nlambda = 2,
                                   direction = direction)
                expect_equal(path$lambda_max,
                             dense_lambda_max(path, pair$x, pair$y))
                grid <- path$lambda_max * c(2, 1, 1 - 1e-4)
                path <- paper_path(pair$x, pair$y, features, lambda2 = grid,
                                   direction = direction)
                expect_identical(path$diagnostics$n_detected[1:2], c(0L, 0L))
                expect_identical(unique(path$coefficients$step), 3L)
                expect_gte(path$diagnostics$n_detected[3], 1)
            }
        }
    }
})

test_that("permuting the variables permutes the change", {
    pair <- random_pair(7, 40)
    colnames(pair$x) <- colnames(pair$y) <- LETTERS[1:7]
    order <- c(3, 7, 1, 5, 2, 6, 4)
    for (features in list(feat_gaussian(), powered())) {
        before <- coef(paper_change(pair$x, pair$y, features, lambda2 = 0.1,
                                    control = tight))
        after <- coef(paper_change(pair$x[, order], pair$y[, order], features,
                                   lambda2 = 0.1, control = tight))
        expect_equal(as.matrix(after), as.matrix(before)[order, order],
                     tolerance = 1e-4)
    }
})

test_that("permuting or repeating the observations changes nothing", {
    pair <- random_pair(6, 40)
    before <- coef(paper_change(pair$x, pair$y, lambda2 = 0.1,
                                standardize = "none", control = tight))
    after <- coef(paper_change(pair$x[40:1, ], rbind(pair$y, pair$y),
                               lambda2 = 0.1, standardize = "none",
                               control = tight))
    expect_equal(after, before, tolerance = 1e-4)
})

test_that("exchanging the samples turns the sign", {
    pair <- random_pair(6, 40, 50)
    swap <- function(direction, other) {
        before <- paper_change(pair$x, pair$y, lambda2 = 0.1,
                               direction = direction, control = tight)
        after <- paper_change(pair$y, pair$x, lambda2 = 0.1,
                              direction = other, control = tight)
        expect_gt(nrow(before$coefficients), 0)
        expect_equal(last_coef(after), -last_coef(before), tolerance = 1e-4)
        expect_equal(after$diagnostics$objective,
                     before$diagnostics$objective)
    }
    swap("p/q", "q/p")
    swap("q/p", "p/q")
    swap("symmetric", "symmetric")
})

test_that("the three solvers agree on 50 random problems", {
    cases <- expand.grid(lambda1 = c(0.001, 0.1, 1, 10), b = c(1, 3),
                         n = c(12, 80))
    cases <- cases[rep(seq_len(nrow(cases)), length.out = 50), ]
    for (case in seq_len(nrow(cases))) {
        lambda1 <- cases$lambda1[case]
        pair <- random_pair(5, cases$n[case], seed = 100 + case)
        features <- if (cases$b[case] == 1) feat_gaussian() else cubic()
        direction <- c("p/q", "q/p", "symmetric")[case %% 3 + 1]
        lambda_max <- paper_path(pair$x, pair$y, features, nlambda = 1,
                                 direction = direction)$lambda_max
        fits <- lapply(c("auto", "primal", "dual"), function(solver) {
            paper_change(pair$x, pair$y, features, lambda1 = lambda1,
                         lambda2 = 0.4 * lambda_max, solver = solver,
                         direction = direction, control = tight)
        })
        for (fit in fits) expect_certified(fit, pair$x, pair$y)
        # What the columns of the coefficients are is the same for all three.
        problem <- dense_problem(fits[[1]], pair$x, pair$y)
        theta <- lapply(fits, dense_theta, problem, step = 1)
        # By strong convexity, |theta - optimum|^2 <= 2 gap / lambda1.
        size <- max(1, abs(fits[[1]]$diagnostics$objective))
        reach <- 2 * sqrt(2 * tight$tol * size / lambda1)
        expect_lt(sqrt(sum((theta[[1]] - theta[[2]])^2)), reach)
        expect_lt(sqrt(sum((theta[[1]] - theta[[3]])^2)), reach)
    }
})

test_that("a path and single fits agree", {
    pair <- random_pair(6, 40)
    path <- paper_path(pair$x, pair$y, nlambda = 5, control = tight)
    for (lambda2 in path$lambda2) {
        fit <- paper_change(pair$x, pair$y, lambda2 = lambda2,
                            control = tight)
        expect_equal(coef(fit), coef(path, lambda2), tolerance = 1e-4)
    }
})

test_that("a solution at lambda2 = 0 is the ridge alone", {
    pair <- random_pair(4, 30)
    fit <- paper_change(pair$x, pair$y, lambda2 = 0)
    expect_equal(fit$diagnostics$n_detected, 10)
    expect_certified(fit, pair$x, pair$y)
})

test_that("the number of threads does not show in the result", {
    pair <- random_pair(60, 50)
    fit <- function(threads, ...) {
        path <- paper_path(pair$x, pair$y, nlambda = 10, ...,
                           control = kliep_control(threads = threads))
        expect_true(all(path$diagnostics$status == "converged"))
        path[c("coefficients", "lambda2", "log_normalizer")]
    }
    expect_identical(fit(1), fit(2))
    expect_identical(fit(1, solver = "dual"), fit(2, solver = "dual"))
    expect_identical(fit(1, solver = "primal"), fit(2, solver = "primal"))
    expect_identical(fit(1, direction = "symmetric"),
                     fit(3, direction = "symmetric"))
})
