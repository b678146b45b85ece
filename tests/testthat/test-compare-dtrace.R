pair <- random_pair(6, 80, 60)
x <- pair$x
y <- pair$y
precise <- kliep_control(tol = 1e-10)

covariances_of <- function(path) {
    list(s = cov(standardised(x, path$center$x, path$scale$x)),
         t = cov(standardised(y, path$center$y, path$scale$y)))
}

test_that("every step satisfies the optimality condition", {
    for (standardize in c("within", "pooled", "none")) {
        path <- dtrace_path(x, y, nlambda = 6, standardize = standardize,
                            lambda_min_ratio = 0.01)
        at <- covariances_of(path)
        for (step in 1:6) {
            lambda <- path$lambda2[step]
            change <- change_matrix(path, step)
            product <- at$s %*% change %*% at$t
            slope <- (product + t(product)) / 2 - (at$s - at$t)
            off <- ifelse(change == 0, pmax(0, abs(slope) - lambda),
                          abs(slope + lambda * sign(change)))
            expect_equal(max(off), path$diagnostics$kkt[step],
                         tolerance = 1e-6)
            expect_lt(max(off), 1e-6 * path$lambda_max)
            objective <- sum(diag(change %*% product)) / 2 -
                sum(change * (at$s - at$t)) + lambda * sum(abs(change))
            expect_equal(path$diagnostics$objective[step], objective)
        }
        expect_equal(path$lambda_max, max(abs(at$s - at$t)))
    }
})

test_that("without a penalty it is the difference of the inverses", {
    path <- dtrace_path(x, y, lambda2 = c(0.1, 0), standardize = "none",
                        control = precise)
    difference <- solve(cov(y)) - solve(cov(x))
    expect_equal(change_matrix(path, 2), unname(difference),
                 tolerance = 1e-6)
    theta <- as.matrix(coef(path, 0))
    expect_equal(unname(diag(theta)), diag(difference) / 2,
                 tolerance = 1e-6)
})

test_that("a path ends where the loss has no minimum", {
    few <- random_pair(12, 6, 40)
    expect_warning(
        path <- dtrace_path(few$x, few$y, lambda2 = c(0.5, 1e-4)),
        class = "kliep_warning_unbounded"
    )
    expect_equal(path$diagnostics$status, c("converged", "unbounded"))
    expect_error(edges(path, 1e-4), class = "kliep_error_unbounded")
    # The certificate: in the null space of one covariance matrix the other
    # one outweighs the penalty.
    null <- svd(scale(few$x), nv = 12)$v[, 12]
    z <- scale(few$y) %*% null
    expect_lt(max(abs(scale(few$x) %*% null)), 1e-10)
    expect_gt(var(z)[1], 1e-4 * sum(abs(null))^2)
    scores <- holdout_scores(path, few$x, few$y)
    expect_equal(is.na(scores$score), c(FALSE, TRUE))
})

# The smallest lambda with a minimum: the largest <V, S - T> over V without
# curvature and with |V|_1 = 1, by a linear programme in the positive and
# negative parts of V.
dtrace_threshold <- function(s, t) {
    at <- which(lower.tri(s, diag = TRUE), arr.ind = TRUE)
    curvature <- apply(at, 1, function(pair) {
        v <- matrix(0, nrow(s), ncol(s))
        v[pair[1], pair[2]] <- v[pair[2], pair[1]] <- 1
        product <- s %*% v %*% t
        ((product + t(product)) / 2)[at]
    })
    parts <- svd(curvature)
    flat <- t(parts$v[, parts$d > 1e-9 * parts$d[1], drop = FALSE])
    count <- ifelse(at[, 1] == at[, 2], 1, 2)
    slope <- count * (s - t)[at]
    solution <- lpSolve::lp(
        "max", c(slope, -slope), rbind(cbind(flat, -flat), c(count, count)),
        c(rep("=", nrow(flat)), "<="), c(rep(0, nrow(flat)), 1)
    )
    stopifnot(solution$status == 0)
    solution$objval
}

test_that("the end of a path is where a linear programme says", {
    skip_if_not_installed("lpSolve")
    for (n in list(c(4, 20), c(4, 5))) {
        few <- random_pair(6, n[1], n[2])
        threshold <- dtrace_threshold(cor(few$x), cor(few$y))
        above <- dtrace_path(few$x, few$y, 1.05 * threshold)
        expect_equal(above$diagnostics$status, "converged")
        expect_warning(
            below <- dtrace_path(few$x, few$y, 0.95 * threshold),
            class = "kliep_warning_unbounded"
        )
        expect_equal(below$diagnostics$status, "unbounded")
    }
})

test_that("a known change is found, with its sign", {
    set.seed(1)
    known <- sim_gaussian(d = 8, n = 2000, n_changed = 2, edge = 0.4,
                          change = -0.8)
    path <- dtrace_path(known$x, known$y)
    step <- which(path$diagnostics$n_edges >= 2)[1]
    found <- edges(path, path$lambda2[step])
    expect_setequal(paste(found$from, found$to),
                    paste(known$truth$from, known$truth$to))
    expect_equal(sign(found$weight), rep(sign(-0.8), 2))
})

test_that("no number of threads changes a number", {
    wide <- random_pair(40, 60, 50)
    fits <- lapply(1:3, function(threads) {
        path <- dtrace_path(wide$x, wide$y, nlambda = 6,
                            control = kliep_control(threads = threads))
        path$diagnostics$seconds <- NULL
        path[c("diagnostics", "coefficients")]
    })
    expect_identical(fits[[1]], fits[[2]])
    expect_identical(fits[[1]], fits[[3]])
})

test_that("the score is minus the loss on further covariances", {
    path <- dtrace_path(x, y, nlambda = 5)
    new <- random_pair(6, 50, 70, seed = 2)
    zx <- standardised(new$x, path$center$x, path$scale$x)
    zy <- standardised(new$y, path$center$y, path$scale$y)
    s <- crossprod(zx) / 50
    t <- crossprod(zy) / 70
    scores <- holdout_scores(path, new$x, new$y)
    for (step in c(1, 3, 5)) {
        change <- change_matrix(path, step)
        loss <- sum(diag(change %*% s %*% change %*% t)) / 2 -
            sum(change * (s - t))
        expect_equal(scores$score[step], -loss)
    }
    # The standard error against a bootstrap's.
    set.seed(1)
    resampled <- replicate(300, {
        holdout_scores(path, new$x[sample(50, replace = TRUE), ],
                       new$y[sample(70, replace = TRUE), ])$score[3]
    })
    expect_equal(scores$se[3], sd(resampled), tolerance = 0.15)
})
