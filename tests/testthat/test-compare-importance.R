pair <- random_pair(4, 60, 50)
x <- pair$x
y <- pair$y
precise <- kliep_control(tol = 1e-10)

# Everything about a path in dense matrices: features of both samples and of
# the points, made again from the seed, and the log-likelihood's parts.
dense_importance <- function(path, x, y) {
    arguments <- path$arguments
    drawn <- draw_instrumental(ncol(x), arguments$points, arguments$scale,
                               arguments$seed)
    features <- with_polynomials(path, x, y)
    fx <- dense_features(standardised(x, path$center$x, path$scale$x), features)
    fy <- dense_features(standardised(y, path$center$y, path$scale$y), features)
    points <- dense_features(drawn$z, features)
    # w_i = 1 / (m p'(z_i)), with the density from its formula.
    density <- apply(dnorm(drawn$z, sd = arguments$scale), 1, prod)
    list(terms = fx$terms, points = points$values,
         base = 1 / (arguments$points * density),
         mean = list(x = colMeans(fx$values), y = colMeans(fy$values)))
}

network_theta <- function(path, problem, step, sample) {
    rows <- path$networks
    rows <- rows[rows$step == step & rows$sample == sample, ]
    theta <- numeric(nrow(problem$terms))
    at <- match(paste(rows$from, rows$to, rows$term),
                with(problem$terms, paste(from, to, term)))
    theta[at] <- rows$value
    theta
}

# log Z, its gradient and the weights of the points.
dense_normalizer <- function(problem, theta) {
    values <- as.vector(problem$base * exp(problem$points %*% theta))
    weights <- values / sum(values)
    list(log = log(sum(values)), weights = weights,
         gradient = as.vector(crossprod(problem$points, weights)))
}

test_that("each network of IS-Glasso satisfies its optimality conditions", {
    for (features in list(feat_gaussian(TRUE), feat_polynomial(3),
                          feat_polynomial(3, basis = "raw"))) {
        path <- is_glasso_path(x, y, features, nlambda = 4, points = 400,
                               seed = 1, control = precise)
        problem <- dense_importance(path, x, y)
        factor <- problem$terms$factor
        single <- with(problem$terms, from == to)[!duplicated(factor)]
        for (step in c(1, 4)) {
            for (sample in c("x", "y")) {
                theta <- network_theta(path, problem, step, sample)
                at <- dense_normalizer(problem, theta)
                level <- ifelse(single, 0, path$lambda2[step])
                xi <- problem$mean[[sample]] - at$gradient
                norms <- group_norms(theta, factor)
                pull <- ifelse(norms > 0, level / norms, 0)[factor] * theta
                active <- group_norms(xi - 0.1 * theta - pull, factor)
                inactive <- pmax(0, group_norms(xi, factor) - level)
                off <- ifelse(norms > 0, active, inactive)
                expect_lt(max(off), 1e-3 * path$lambda_max)
                expect_lt(max(off), path$diagnostics$kkt[step] + 1e-9)
                expect_equal(path$log_normalizers[[sample]][step], at$log)
                expect_equal(path$effective_size[[sample]][step],
                             1 / sum(at$weights^2))
            }
            expect_equal(path$diagnostics$effective_size[step],
                         min(path$effective_size[step, ]))
        }
    }
})

test_that("IS-Flasso satisfies its optimality conditions", {
    path <- is_flasso_path(x, y, feat_polynomial(3), nlambda = 4,
                           lambda1 = 0.2, points = 400, seed = 1, scale = 1.5,
                           control = precise)
    problem <- dense_importance(path, x, y)
    factor <- problem$terms$factor
    for (step in c(1, 4)) {
        theta <- lapply(c(x = "x", y = "y"), function(sample) {
            network_theta(path, problem, step, sample)
        })
        xi <- lapply(c(x = "x", y = "y"), function(sample) {
            at <- dense_normalizer(problem, theta[[sample]])
            problem$mean[[sample]] - at$gradient - 0.2 * theta[[sample]]
        })
        change <- theta$x - theta$y
        norms <- group_norms(change, factor)
        # What is left of one network is what the other one lacks.
        expect_lt(max(abs(xi$x + xi$y)), 1e-3 * path$lambda_max)
        direction <- ifelse(norms > 0, 1 / norms, 0)[factor] * change
        active <- group_norms(xi$x - path$lambda2[step] * direction, factor)
        inactive <- pmax(0, group_norms(xi$x, factor) - path$lambda2[step])
        expect_lt(max(ifelse(norms > 1e-12, active, inactive)),
                  1e-3 * path$lambda_max)
        table <- coef(path, path$lambda2[step], type = "table")
        expect_equal(sum(norms > 1e-12), path$diagnostics$n_detected[step])
        expect_equal(sum(table$value^2), sum(change^2))
    }
})

test_that("with more points it becomes the exact Gaussian likelihood", {
    path <- is_glasso_path(x, y, lambda1 = 0, lambda2 = c(0.1, 0.03),
                           points = 200, seed = 1)
    z <- standardised(x, path$center$x, path$scale$x)
    exact <- glasso::glasso(crossprod(z) / nrow(z), 0.03, thr = 1e-10,
                            penalize.diagonal = FALSE)$wi
    distance <- vapply(c(200, 5000, 80000), function(points) {
        path <- is_glasso_path(x, y, lambda1 = 0, lambda2 = c(0.1, 0.03),
                               points = points, seed = 1)
        rows <- path$networks[path$networks$step == 2 &
                                  path$networks$sample == "x", ]
        theta <- matrix(0, 4, 4)
        theta[cbind(rows$from, rows$to)] <- -rows$value
        theta <- theta + t(theta)
        log_z <- 2 * log(2 * pi) -
            as.numeric(determinant(theta)$modulus) / 2
        c(max(abs(theta - exact)),
          abs(path$log_normalizers$x[2] - log_z))
    }, c(0, 0))
    expect_true(all(diff(distance[1, ]) < 0))
    expect_lt(distance[1, 3], 0.02)
    expect_lt(distance[2, 3], 0.01)
})

test_that("between the extremes of lambda2 lie one network and two", {
    joint <- is_flasso_path(x, y, lambda2 = c(10, 0), points = 500, seed = 3,
                            control = precise)
    apart <- is_glasso_path(x, y, lambda2 = 0, points = 500, seed = 3,
                            control = precise)
    problem <- dense_importance(joint, x, y)
    theta <- function(path, step, sample) {
        network_theta(path, problem, step, sample)
    }
    expect_identical(theta(joint, 1, "x"), theta(joint, 1, "y"))
    expect_equal(nrow(edges(joint, 10)), 0)
    for (sample in c("x", "y")) {
        expect_equal(theta(joint, 2, sample), theta(apart, 1, sample),
                     tolerance = 1e-4)
    }
})

test_that("custom functions give the same as the family they are", {
    functions <- feat_custom(function(u, v) u * v, function(u) u^2)
    for (fit in list(is_glasso_path, is_flasso_path)) {
        family <- fit(x, y, nlambda = 3, points = 300, seed = 1)
        custom <- fit(x, y, functions, nlambda = 3, points = 300, seed = 1)
        expect_equal(last_coef(custom), last_coef(family), tolerance = 1e-6)
        expect_equal(custom$lambda_max, family$lambda_max, tolerance = 1e-6)
        new <- random_pair(4, 20, 30, seed = 2)
        expect_equal(holdout_scores(custom, new$x, new$y),
                     holdout_scores(family, new$x, new$y), tolerance = 1e-6)
    }
})

test_that("two cliques are those of three of which one is empty", {
    fun <- function(z) {
        if (ncol(z) == 1) 0 * z else cbind(z^2, apply(z, 1, prod))
    }
    two <- feat_cliques(list(1:2, 3:4), fun)
    three <- feat_cliques(list(1:2, 3:4, 1), fun)
    for (method in list(is_glasso_path, is_flasso_path)) {
        fit <- function(...) {
            method(x, y, ..., lambda2 = c(0.1, 0.02), points = 300, seed = 1,
                   control = precise)
        }
        path <- fit(two)
        expect_gt(nrow(edges(path)), 0)
        expect_equal(coef(path, 0.02), coef(fit(three), 0.02),
                     tolerance = 1e-4)
        # Each has a penalty of its own.
        apart <- fit(two, penalty_factor = c(Inf, 1))
        expect_setequal(apart$coefficients$from, 2L)
    }
})

test_that("points follow the seed and nothing else", {
    fit <- function(...) {
        path <- is_flasso_path(x, y, nlambda = 3, points = 300, ...)
        path$coefficients
    }
    expect_identical(fit(seed = 1), fit(seed = 1))
    expect_false(identical(fit(seed = 1), fit(seed = 2)))
    expect_identical(fit(seed = 1, control = kliep_control(threads = 1)),
                     fit(seed = 1, control = kliep_control(threads = 3)))
    expect_identical(withr::with_seed(5, fit()), withr::with_seed(5, fit()))
    path <- is_flasso_path(x, y, nlambda = 3, points = 300)
    expect_identical(refit_baseline(path, x, y)$coefficients,
                     path$coefficients)
})

test_that("an effective size that collapses is reported", {
    many <- random_pair(14, 50)
    expect_warning(
        path <- is_flasso_path(many$x, many$y, nlambda = 3, points = 2000,
                               scale = 3, seed = 1),
        "rests on only", class = "kliep_warning_importance"
    )
    expect_lt(min(path$effective_size), 100)
    expect_silent(is_flasso_path(x, y, nlambda = 3, points = 2000, seed = 1))
})

test_that("a sample that the points do not surround has no fit", {
    far <- x
    far[1, ] <- 60
    expect_warning(
        path <- is_glasso_path(far, y, lambda1 = 0, lambda2 = c(0.2, 0.1),
                               points = 50, seed = 1, standardize = "none"),
        class = "kliep_warning_unbounded"
    )
    expect_equal(path$diagnostics$status[1], "unbounded")
    expect_error(last_coef(path), class = "kliep_error_unbounded")
})

test_that("the score is the log-likelihood of both samples", {
    path <- is_flasso_path(x, y, feat_polynomial(2), nlambda = 3, points = 300,
                           seed = 1)
    problem <- dense_importance(path, x, y)
    features <- with_polynomials(path, x, y)
    new <- random_pair(4, 20, 30, seed = 2)
    scores <- holdout_scores(path, new$x, new$y)
    value <- sum(vapply(c("x", "y"), function(sample) {
        z <- standardised(new[[sample]], path$center[[sample]],
                          path$scale[[sample]])
        theta <- network_theta(path, problem, 3, sample)
        mean(dense_features(z, features)$values %*% theta) -
            dense_normalizer(problem, theta)$log
    }, 0))
    expect_equal(scores$score[3], value)
    expect_true(all(scores$se > 0))
})

test_that("what has no density, and other bad input, is refused", {
    two_valued <- sign(x)
    for (fit in list(is_glasso_path, is_flasso_path)) {
        expect_error(fit(two_valued, sign(y), feat_ising()),
                     class = "kliep_error_features")
        expect_error(fit(x, y, feat_rbf()), class = "kliep_error_features")
        expect_error(fit(x, y, "gaussian"), class = "kliep_error_features")
        expect_error(fit(x, y, points = 5), class = "kliep_error_argument")
        expect_error(fit(x, y, scale = 0), class = "kliep_error_argument")
        expect_error(fit(x, y, seed = -1), class = "kliep_error_argument")
        expect_error(fit(x, y, lambda1 = -1), class = "kliep_error_lambda")
        expect_error(fit(x, y, penalty_factor = -1),
                     class = "kliep_error_penalty_factor")
    }
})

test_that("more points than memory holds are refused", {
    skip_if(is.na(free_memory()), "nobody knows how much memory is free")
    skip_if(free_memory() > 1e12, "this machine has room for all of them")
    expect_error(is_flasso_path(x, y, points = .Machine$integer.max),
                 "points would take", class = "kliep_error_memory")
})

test_that("penalised single variables are possible, too", {
    # They start from theta = 0, which is no density at all.
    expect_warning(
        path <- is_glasso_path(x, y, nlambda = 4, points = 300, seed = 1,
                               penalty_factor = 1),
        class = "kliep_warning_importance"
    )
    expect_true(all(path$diagnostics$status == "converged"))
    expect_equal(path$diagnostics$n_detected[1], 0)
})
