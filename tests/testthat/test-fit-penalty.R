# Penalties that shrink large factors less: adaptive, and minimax concave.

# The worst violation of the optimality conditions at penalty factors that
# the fit itself gives, by the formulas of the help page.
concave_factors <- function(path, step) {
    theta <- as.matrix(coef(path, path$lambda2[step]))
    pmax(1 - abs(theta) / (path$spec$gamma * path$lambda2[step]), 0)
}

own_kkt <- function(path, x, y, step) {
    theta <- as.matrix(coef(path, path$lambda2[step]))
    lambda2 <- path$lambda2[step]
    weight <- pmax(0, 1 - abs(theta) / (path$spec$gamma * lambda2))
    xi <- xi_of(path, x, y, theta)
    kkt <- ifelse(theta == 0, pmax(0, abs(xi) - lambda2 * weight),
                  abs(xi - path$spec$lambda1 * theta -
                          lambda2 * weight * sign(theta)))
    max(kkt[upper.tri(kkt, diag = TRUE)])
}

# Minus the gradient of the loss with the empirical normaliser.
xi_of <- function(path, x, y, theta) {
    z <- list(x = standardised(x, path$center$x, path$scale$x),
              y = standardised(y, path$center$y, path$scale$y))
    score <- function(z) {
        rowSums((z %*% theta) * z) / 2 + (z^2 %*% diag(theta)) / 2
    }
    moments <- function(z, weight) crossprod(z * weight, z)
    softmax <- function(s) exp(s - max(s)) / sum(exp(s - max(s)))
    means <- lapply(z, function(z) crossprod(z) / nrow(z))
    forward <- means$x - moments(z$y, as.vector(softmax(score(z$y))))
    backward <- moments(z$x, as.vector(softmax(-score(z$x)))) - means$y
    switch(path$spec$direction, "p/q" = forward, "q/p" = backward,
           symmetric = forward + backward)
}

# All coefficients of a path, one row for each step.
all_coefficients <- function(path) {
    t(vapply(path$lambda2, function(lambda2) {
        as.vector(coef(path, lambda2))
    }, numeric(length(path$variables)^2)))
}

test_that("fits with the concave penalty are optimal at their own slopes", {
    set.seed(1)
    pair <- sim_gaussian(d = 8, n = 150, n_changed = 5)
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- paper_path(pair$x, pair$y, nlambda = 8, penalty = "mcp",
                           direction = direction,
                           control = kliep_control(tol = 1e-9))
        expect_true(all(path$diagnostics$status == "converged"))
        expect_gt(max(path$diagnostics$fits), 1)
        kkt <- vapply(1:8, own_kkt, 0, path = path, x = pair$x, y = pair$y)
        # Slopes settle to the square root of tol.
        expect_lt(max(kkt), 1e-4 * path$lambda_max)
        expect_lt(max(path$diagnostics$kkt), 1e-4 * path$lambda_max)
    }
    # There are factors beyond the reach of the penalty, and within.
    theta <- abs(as.matrix(last_coef(path)))
    expect_gt(max(theta), path$spec$gamma * path$lambda2[8])
    expect_true(any(theta > 0 & theta < path$spec$gamma * path$lambda2[8]))
})

test_that("a large gamma makes the concave penalty the group lasso", {
    set.seed(2)
    pair <- sim_gaussian(d = 10, n = 100, n_changed = 4)
    # They start from different guesses: a gap of 1e-6 leaves coefficients 1e-3.
    exact <- kliep_control(tol = 1e-9)
    for (normalizer in c("empirical", "gaussian")) {
        fits <- lapply(c("group_lasso", "mcp"), function(penalty) {
            paper_path(pair$x, pair$y, nlambda = 6, penalty = penalty,
                       gamma = if (penalty == "mcp") 1e9,
                       normalizer = normalizer, control = exact)
        })
        expect_equal(all_coefficients(fits[[2]]), all_coefficients(fits[[1]]),
                     tolerance = 1e-4)
        expect_true(all(fits[[2]]$diagnostics$fits == 1))
        # Closer to it, the larger gamma.
        apart <- vapply(c(3, 30), function(gamma) {
            concave <- paper_path(pair$x, pair$y, nlambda = 6,
                                  penalty = "mcp", gamma = gamma,
                                  normalizer = normalizer)
            max(abs(all_coefficients(concave) - all_coefficients(fits[[1]])))
        }, 0)
        expect_lt(apart[2], 0.5 * apart[1])
    }
})

test_that("an adaptive penalty without differences is the group lasso", {
    set.seed(3)
    pair <- sim_gaussian(d = 10, n = 100, n_changed = 4)
    for (normalizer in c("empirical", "gaussian")) {
        fits <- lapply(c("group_lasso", "adaptive"), function(penalty) {
            paper_path(pair$x, pair$y, nlambda = 6, penalty = penalty,
                       gamma = if (penalty == "adaptive") 1e-9,
                       normalizer = normalizer, direction = "symmetric")
        })
        expect_equal(fits[[2]]$lambda_max, fits[[1]]$lambda_max,
                     tolerance = 1e-6)
        expect_equal(all_coefficients(fits[[2]]), all_coefficients(fits[[1]]),
                     tolerance = 1e-4)
    }
    # One factor has nothing to differ from.
    one <- lapply(c("group_lasso", "adaptive"), function(penalty) {
        paper_path(pair$x[, 1:2], pair$y[, 1:2], penalty = penalty,
                   penalty_factor = c(single = Inf, edge = 1), nlambda = 4,
                   lambda_min_ratio = 0.1)
    })
    expect_equal(one[[2]]$coefficients, one[[1]]$coefficients)
})

test_that("adaptive penalty factors are those of a fit further up", {
    set.seed(4)
    pair <- sim_gaussian(d = 9, n = 200, n_changed = 4)
    tight <- kliep_control(tol = 1e-10)
    path <- paper_path(pair$x, pair$y, penalty = "adaptive", gamma = 1.5,
                       nlambda = 5, control = tight)
    expect_equal(path$lambda2[5], 0.1^2.5 * path$lambda_max)
    plain <- paper_path(pair$x, pair$y, nlambda = 5, control = tight)
    size <- abs(as.matrix(coef(plain, plain$lambda2[4])))
    weight <- pmax(size / max(size), 0.01)^-1.5
    by_hand <- paper_path(pair$x, pair$y, lambda2 = path$lambda2,
                          penalty_factor = weight, control = tight)
    expect_equal(path$lambda_max, by_hand$lambda_max, tolerance = 1e-6)
    expect_equal(all_coefficients(path), all_coefficients(by_hand),
                 tolerance = 1e-4)
})

test_that("large changes are shrunk less", {
    set.seed(5)
    pair <- sim_gaussian(d = 20, n = 8000, n_changed = 3)
    from <- match(pair$truth$from, colnames(pair$x))
    to <- match(pair$truth$to, colnames(pair$x))
    # Hardly a penalty on what has changed, and nothing else.
    known <- matrix(Inf, 20, 20)
    known[cbind(c(from, to), c(to, from))] <- 1e-6
    for (normalizer in c("empirical", "gaussian")) {
        fit <- function(...) {
            paper_path(pair$x, pair$y, lambda1 = 1e-3, direction = "symmetric",
                       normalizer = normalizer, nlambda = 25,
                       lambda_min_ratio = 0.05, ...)
        }
        aim <- as.matrix(last_coef(fit(penalty_factor = known)))
        aim <- aim[cbind(from, to)]
        bias <- vapply(c("group_lasso", "adaptive", "mcp"), function(shape) {
            path <- fit(penalty = shape)
            # As far down as no more edges are detected than have changed.
            step <- max(which(path$diagnostics$n_edges <= 3))
            weight <- as.matrix(coef(path, path$lambda2[step]))
            mean(abs(aim - weight[cbind(from, to)]))
        }, 0)
        expect_gt(bias[["group_lasso"]], 0.02)
        expect_lt(bias[["adaptive"]], 0.5 * bias[["group_lasso"]])
        expect_lt(bias[["mcp"]], 0.8 * bias[["group_lasso"]])
    }
})

test_that("penalties work along large paths, by every solver, and in folds", {
    set.seed(6)
    pair <- sim_gaussian(d = 12, n = 60, n_changed = 4)
    for (penalty in c("adaptive", "mcp")) {
        fits <- lapply(c("auto", "primal", "dual"), function(solver) {
            paper_path(pair$x, pair$y, nlambda = 4, penalty = penalty,
                       solver = solver, control = kliep_control(tol = 1e-8))
        })
        for (other in fits[-1]) {
            expect_equal(all_coefficients(other), all_coefficients(fits[[1]]),
                         tolerance = 1e-3)
        }
        set.seed(1)
        chosen <- kliep_select(pair$x, pair$y, penalty = penalty, folds = 3,
                               nlambda = 6)
        expect_s3_class(chosen, "kliep_select")
        expect_output(print(chosen), "penalty")
    }
    # A working set, whose screening has to know the penalty factors.
    wide <- random_pair(480, 60)
    path <- paper_path(wide$x, wide$y, nlambda = 5, penalty = "mcp",
                       lambda_min_ratio = 0.6)
    expect_true(all(path$diagnostics$status == "converged"))
    last <- paper_change(wide$x, wide$y, lambda2 = path$lambda2[5],
                         penalty_factor = concave_factors(path, 5))
    expect_equal(as.matrix(last_coef(last)), as.matrix(last_coef(path)),
                 tolerance = 1e-2)
})

test_that("what does not fit a penalty is an error", {
    x <- matrix(rnorm(60), 20)
    expect_error(paper_path(x, x + 1, penalty = "ridge"),
                 class = "kliep_error_argument")
    for (gamma in list(0, -1, NA, "3", c(1, 2), Inf)) {
        expect_error(paper_path(x, x + 1, penalty = "mcp", gamma = gamma),
                     class = "kliep_error_penalty")
    }
    expect_error(paper_path(x, x + 1, gamma = 2),
                 class = "kliep_error_penalty")
})
