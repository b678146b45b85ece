# An independent check of a fit, in plain R and dense matrices: the formulas of
# the help page and nothing of the package's arithmetic.

# The features of every factor for standardised data z, one column for each
# coefficient, with the table of what each column is.
dense_features <- function(z, features) {
    if (features$kind == "cliques") return(dense_cliques(z, features))
    d <- ncol(z)
    to <- rep(seq_len(d), seq_len(d))
    from <- sequence(seq_len(d))
    blocks <- Map(function(u, v) {
        block <- dense_block(z, features, u, v)
        if (length(block) > 0) matrix(block, nrow(z))
    }, from, to)
    there <- lengths(blocks) > 0
    sizes <- vapply(blocks[there], ncol, 1L)
    list(values = do.call(cbind, blocks[there]),
         terms = data.frame(from = rep(from[there], sizes),
                            to = rep(to[there], sizes),
                            term = sequence(sizes),
                            factor = rep(seq_along(sizes), sizes)))
}

# The features of a path with its polynomials, by those of R over both samples.
with_polynomials <- function(path, x, y) {
    features <- path$spec$features
    if (is.null(features$weights)) return(features)
    both <- rbind(standardised(x, path$center$x, path$scale$x),
                  standardised(y, path$center$y, path$scale$y))
    features$polynomials <- lapply(seq_len(ncol(both)), function(u) {
        poly(both[, u], length(features$weights))
    })
    features
}

# What stands for the a-th power of variable u: poly() has sums of squares one.
dense_power <- function(z, features, u, a) {
    if (is.null(features$weights) || a == 0) {
        return((sign(z[, u]) * abs(z[, u])^features$power)^a)
    }
    known <- features$polynomials[[u]]
    features$weights[a] * sqrt(nrow(known)) * predict(known, z[, u])[, a]
}

# The features of one pair, or of one variable (u = v), by their formula.
dense_block <- function(z, features, u, v) {
    power <- function(u, a) dense_power(z, features, u, a)
    switch(
        features$kind,
        products = if (u == v)
            sapply(features$single, function(a) power(u, a)) else
            apply(features$pair, 2, function(a) {
                power(u, a[1]) * power(v, a[2])
            }),
        rbf = if (u != v)
            exp(-(z[, u] - z[, v])^2 / (2 * features$sigma^2)),
        custom = if (u != v) features$functions$pair(z[, u], z[, v]) else
            if (!is.null(features$functions$single))
                features$functions$single(z[, u])
    )
}

dense_cliques <- function(z, features) {
    blocks <- lapply(features$sets, function(set) {
        matrix(features$fun(z[, set, drop = FALSE]), nrow(z))
    })
    sizes <- vapply(blocks, ncol, 1L)
    number <- rep(seq_along(blocks), sizes)
    list(values = do.call(cbind, blocks),
         terms = data.frame(from = number, to = number, term = sequence(sizes),
                            factor = number))
}

standardised <- function(values, center, scale) {
    sweep(sweep(values, 2, center), 2, scale, "/")
}

# The fitted problem: `loss` has one entry (g, H) for each log-sum-exp term,
# log mean exp(H theta) - g'theta, so that "q/p" is the same with both signs
# turned. `weight` is w_t for each factor, `y` the features of the second
# sample.
dense_problem <- function(path, x, y) {
    features <- with_polynomials(path, x, y)
    fx <- dense_features(standardised(x, path$center$x, path$scale$x), features)
    fy <- dense_features(standardised(y, path$center$y, path$scale$y), features)
    forward <- list(g = colMeans(fx$values), H = fy$values)
    backward <- list(g = -colMeans(fy$values), H = -fx$values)
    terms <- fx$terms
    first <- terms[!duplicated(terms$factor), ]
    penalty <- path$spec$penalty_factor
    weight <- if (identical(names(penalty), c("single", "edge"))) {
        ifelse(first$from == first$to, penalty[[1]], penalty[[2]])
    } else {
        penalty
    }
    list(
        loss = switch(path$spec$direction, "p/q" = list(forward),
                      "q/p" = list(backward),
                      symmetric = list(forward, backward)),
        y = fy$values,
        terms = terms,
        factors = first,
        weight = weight
    )
}

dense_theta <- function(path, problem, step) {
    rows <- path$coefficients[path$coefficients$step == step, ]
    theta <- numeric(nrow(problem$terms))
    at <- match(paste(rows$from, rows$to, rows$term),
                with(problem$terms, paste(from, to, term)))
    stopifnot(!anyNA(at), !anyDuplicated(at))
    theta[at] <- rows$value
    theta
}

log_mean_exp <- function(v) max(v) + log(mean(exp(v - max(v))))
softmax <- function(v) exp(v - max(v)) / sum(exp(v - max(v)))
group_norms <- function(v, factor) sqrt(as.vector(rowsum(v^2, factor)))

# Minus the gradient of the loss, and the weights alpha of each term.
dense_xi <- function(problem, theta) {
    alpha <- lapply(problem$loss, function(l) {
        softmax(as.vector(l$H %*% theta))
    })
    parts <- Map(function(l, a) l$g - as.vector(crossprod(l$H, a)),
                 problem$loss, alpha)
    list(xi = Reduce(`+`, parts), alpha = alpha)
}

# Inf * 0 is 0 here: a factor kept out costs nothing as long as it is out.
penalty_value <- function(problem, norms, lambda2) {
    active <- norms > 0
    lambda2 * sum(problem$weight[active] * norms[active])
}

dense_objective <- function(problem, theta, lambda1, lambda2) {
    loss <- vapply(problem$loss, function(l) {
        log_mean_exp(as.vector(l$H %*% theta)) - sum(l$g * theta)
    }, 0)
    norms <- group_norms(theta, problem$terms$factor)
    sum(loss) + lambda1 / 2 * sum(theta^2) +
        penalty_value(problem, norms, lambda2)
}

# Violation of the optimality conditions, one number for each factor.
dense_kkt <- function(problem, theta, lambda1, lambda2) {
    xi <- dense_xi(problem, theta)$xi
    factor <- problem$terms$factor
    norms <- group_norms(theta, factor)
    bound <- lambda2 * problem$weight
    bound[is.infinite(problem$weight)] <- Inf
    inactive <- pmax(0, group_norms(xi, factor) - bound)
    direction <- ifelse(norms[factor] > 0, theta / norms[factor], 0)
    pull <- ifelse(direction == 0, 0, bound[factor] * direction)
    active <- group_norms(xi - lambda1 * theta - pull, factor)
    ifelse(norms > 0, active, inactive)
}

# The dual objective at the weights alpha of theta.
dense_dual <- function(problem, theta, lambda1, lambda2) {
    at <- dense_xi(problem, theta)
    entropy <- vapply(at$alpha, function(a) {
        -sum(ifelse(a > 0, a * log(length(a) * a), 0))
    }, 0)
    bound <- lambda2 * problem$weight
    bound[is.infinite(problem$weight)] <- Inf
    excess <- pmax(0, group_norms(at$xi, problem$terms$factor) - bound)
    sum(entropy) - sum(excess^2) / (2 * lambda1)
}

# Everything at once for one step of a path. The problem is the same for all
# of them.
certificate <- function(path, x, y, step = 1,
                        problem = dense_problem(path, x, y)) {
    theta <- dense_theta(path, problem, step)
    lambda2 <- path$lambda2[step]
    objective <- dense_objective(problem, theta, path$spec$lambda1, lambda2)
    list(
        theta = theta,
        objective = objective,
        kkt = max(dense_kkt(problem, theta, path$spec$lambda1, lambda2)),
        gap = if (path$spec$lambda1 > 0)
            objective - dense_dual(problem, theta, path$spec$lambda1,
                                   lambda2) else
                NA_real_,
        log_normalizer = log_mean_exp(as.vector(problem$y %*% theta))
    )
}

# Every step of the path is what it says, and a solution by the path's own
# tolerance.
expect_certified <- function(path, x, y) {
    tol <- path$spec$control$tol
    expect_true(all(path$diagnostics$status == "converged"))
    problem <- dense_problem(path, x, y)
    for (step in fitted_steps(path)) {
        certified <- certificate(path, x, y, step, problem)
        reported <- path$diagnostics[step, ]
        scale <- max(abs(certified$objective), 1e-3)
        expect_lt(abs(reported$objective - certified$objective), 1e-9 * scale)
        expect_equal(path$log_normalizer[step], certified$log_normalizer,
                     tolerance = 1e-9)
        expect_lt(abs(reported$kkt - certified$kkt), 1e-10)
        if (path$spec$lambda1 > 0) {
            expect_gt(reported$gap, -1e-13)
            expect_lt(reported$gap, tol * scale + 1e-13)
            expect_gt(certified$gap, -1e-12 * scale)
            # The dual solver's gap is that of its own alpha, not of the one
            # that belongs to its theta.
            if (path$spec$solver != "dual") {
                expect_lt(certified$gap, 2 * tol * scale + 1e-12)
            }
        } else {
            expect_true(is.na(reported$gap))
            expect_lt(certified$kkt, tol * path$lambda_max + 1e-13)
        }
    }
}

# max_t |xi_t| / w_t at theta = 0, over factors that are penalised.
dense_lambda_max <- function(path, x, y) {
    problem <- dense_problem(path, x, y)
    xi <- dense_xi(problem, numeric(nrow(problem$terms)))$xi
    penalised <- problem$weight > 0
    max((group_norms(xi, problem$terms$factor) / problem$weight)[penalised])
}

# Without the ridge the objective has a minimum down to
#   lambda2* = min over alpha in the simplex of max_t |g_t - (H'alpha)_t| / w_t,
# a linear programme in (alpha, z) for factors with one coefficient.
unbounded_threshold <- function(path, x, y) {
    problem <- dense_problem(path, x, y)
    g <- Reduce(`+`, lapply(problem$loss, `[[`, "g"))
    h <- do.call(rbind, lapply(problem$loss, `[[`, "H"))
    rows <- vapply(problem$loss, function(l) nrow(l$H), 0L)
    sums <- matrix(0, length(rows), sum(rows))
    sums[cbind(rep(seq_along(rows), rows), seq_len(sum(rows)))] <- 1
    w <- problem$weight
    constraints <- rbind(
        cbind(t(h), w), cbind(t(h), -w), cbind(sums, 0)
    )
    solution <- lpSolve::lp(
        "min", c(rep(0, sum(rows)), 1), constraints,
        c(rep(">=", length(g)), rep("<=", length(g)), rep("=", length(rows))),
        c(g, g, rep(1, length(rows)))
    )
    stopifnot(solution$status == 0)
    solution$objval
}

# Small Gaussian pairs for tests that do not need the simulator.
random_pair <- function(d, n_x, n_y = n_x, seed = 1) {
    withr::with_seed(seed, {
        mix <- diag(d) + matrix(rnorm(d * d, sd = 0.3), d)
        list(
            x = matrix(rnorm(n_x * d), n_x) %*% mix,
            y = matrix(rnorm(n_y * d), n_y)
        )
    })
}

# Intervals where their warning of weights that are worth few observations is
# beside the point.
debias_few <- function(...) {
    suppressWarnings(kliep_debias(...),
                     classes = "kliep_warning_effective_size")
}
