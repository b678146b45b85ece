# The tests of changed edges in plain R, observation by observation and with
# matrices of all pairs of factors: the formulas and nothing of the package's
# arithmetic.

# Columns with mean 0 and mean square 1.
plain_standardise <- function(x) {
    x <- sweep(x, 2, colMeans(x))
    sweep(x, 2, sqrt(colMeans(x^2)), "/")
}

# All factors i <= j, those of one j side by side.
plain_factors <- function(d) {
    data.frame(i = sequence(seq_len(d)), j = rep(seq_len(d), seq_len(d)))
}

# D as a sum of its entries times the matrix that each stands for: G is linear
# in it, with these columns.
plain_directions <- function(factors, d) {
    lapply(seq_len(nrow(factors)), function(k) {
        one <- matrix(0, d, d)
        one[factors$i[k], factors$j[k]] <- 1
        one[factors$j[k], factors$i[k]] <- 1
        one
    })
}

plain_score <- function(x, y, support) {
    x <- plain_standardise(x)
    y <- plain_standardise(y)
    d <- ncol(x)
    sx <- crossprod(x) / nrow(x)
    sy <- crossprod(y) / nrow(y)
    factors <- plain_factors(d)
    at <- as.matrix(factors)
    symmetric <- function(a) ((a + t(a)) / 2)[at]
    # The derivative of G along each factor of the support, at all factors.
    slope <- vapply(plain_directions(factors[support, ], d), function(one) {
        symmetric(sx %*% one %*% sy)
    }, numeric(nrow(factors)))
    slope <- matrix(slope, nrow(factors))
    change <- matrix(0, d, d)
    inverse <- slope[support, , drop = FALSE]
    if (length(support) > 0) inverse <- solve(inverse)
    estimate <- drop(inverse %*% symmetric(sx - sy)[support])
    for (k in seq_along(support)) {
        change <- change + estimate[k] *
            plain_directions(factors[support[k], ], d)[[1]]
    }
    g <- symmetric(sx %*% change %*% sy) - symmetric(sx - sy)
    noise <- function(row, s) {
        tcrossprod(row) - (row^2 * s + t(row^2 * s)) / 2
    }
    px <- apply(x, 1, function(row) {
        symmetric(noise(row, sx) %*% (change %*% sy - diag(d)))
    })
    py <- apply(y, 1, function(row) {
        symmetric((sx %*% change + diag(d)) %*% noise(row, sy))
    })
    list(score = -g, estimate = estimate, x = px - rowMeans(px),
         y = py - rowMeans(py), slope = slope, inverse = inverse,
         factors = factors)
}

# Score or estimate, and the sandwich variance of each edge.
plain_tests <- function(x, y, support) {
    parts <- plain_score(x, y, support)
    n <- c(nrow(x), nrow(y))
    onto <- parts$slope %*% parts$inverse
    rest <- lapply(parts[c("x", "y")], function(influence) {
        influence - onto %*% influence[support, , drop = FALSE]
    })
    v <- rowSums(rest$x^2) / (n[1] * (n[1] - 2)) +
        rowSums(rest$y^2) / (n[2] * (n[2] - 2))
    fourth <- rowSums(rest$x^4) / n[1]^4 + rowSums(rest$y^4) / n[2]^4
    numerator <- parts$score
    if (length(support) > 0) {
        own <- parts$inverse %*% cbind(
            parts$x[support, , drop = FALSE] / n[1],
            parts$y[support, , drop = FALSE] / n[2]
        )
        numerator[support] <- parts$estimate
        v[support] <- rowSums(own^2) * mean(n / (n - 2))
        fourth[support] <- rowSums(own^4)
    }
    edge <- parts$factors$i < parts$factors$j
    list(numerator = numerator[edge], variance = v[edge],
         freedom = (2 * v^2 / (fourth - 2 * v^2 / sum(n)))[edge])
}

# limma's moderation with medians, and t referred to the normal.
plain_moderate <- function(tests) {
    df <- stats::median(tests$freedom)
    ratio <- tests$variance / tests$model
    e <- log(ratio) - digamma(df / 2) + log(df / 2)
    extra <- stats::mad(e)^2 - trigamma(df / 2)
    prior <- if (extra <= 1e-4) 1e6 else 2 * exp(stats::uniroot(
        function(a) trigamma(exp(a)) - extra, c(-20, 20), tol = 1e-14
    )$root)
    common <- exp(stats::median(e) + digamma(prior / 2) - log(prior / 2))
    variance <- tests$model * (prior * common + df * ratio) / (prior + df)
    t <- tests$numerator / sqrt(variance)
    tail <- stats::pt(-abs(t), min(1e6, df + prior), log.p = TRUE)
    list(z = -sign(t) * stats::qnorm(tail, log.p = TRUE), df = df,
         prior = prior, common = common)
}

# The tests at the empty support from the correlations of two samples.
plain_empty <- function(x, y) {
    one <- function(x) {
        x <- plain_standardise(x)
        n <- nrow(x)
        pairs <- which(upper.tri(diag(ncol(x))), arr.ind = TRUE)
        t(apply(pairs, 1, function(pair) {
            a <- x[, pair[1]]
            b <- x[, pair[2]]
            r <- mean(a * b)
            c(r = r, v = mean((a * b - r * (a^2 + b^2) / 2)^2),
              f = mean((a * b)^4), n = n)
        }))
    }
    a <- one(x)
    b <- one(y)
    n <- c(nrow(x), nrow(y))
    variance <- a[, "v"] / (n[1] - 2) + b[, "v"] / (n[2] - 2)
    fourth <- a[, "f"] / n[1]^3 + b[, "f"] / n[2]^3
    list(numerator = a[, "r"] - b[, "r"], variance = variance,
         model = (1 + a[, "r"] * b[, "r"]) * sum(1 / n),
         freedom = 2 * variance^2 / (fourth - 2 * variance^2 / sum(n)))
}

# Both samples in units of their standard deviations, as tests given a support
# take them.
by_deviation <- function(samples) {
    lapply(samples[c("x", "y")], function(sample) {
        centred <- sweep(sample, 2L, colMeans(sample))
        values <- sweep(centred, 2L, sqrt(colMeans(centred^2)), "/")
        list(values = unname(values), squares = unname(values)^2)
    })
}
