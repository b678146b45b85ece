# How well a fitted path does on observations it has not seen: one score for
# each lambda2, by the criterion that belongs to its method.

# A data frame with one row for each lambda2: `score`, the larger the better
# and NA where there is no fit to rely on, `se`, its standard error, and `kl`,
# the part of it that estimates KL(P || Q), if any.
holdout_scores <- function(path, newx, newy) {
    newx <- check_newdata(newx, path, "newx")
    newy <- check_newdata(newy, path, "newy")
    score_of(path)(path, newx, newy)
}

# The criterion of a path's method.
score_of <- function(path) {
    if (is_baseline(path)) baseline_methods()[[path$method]]$holl else
        kliep_holl
}

# Hold-out log-likelihood of the density ratio,
#   mean_i log r(x_i),  log r(z) = s(z) - log mean_j exp(s(y_j)),
# or that of the inverse ratio, or the sum of both, whichever was fitted.
# `kl` is the first of them, which estimates KL(P || Q).
kliep_holl <- function(path, newx, newy) {
    steps <- reliable_steps(path$diagnostics$status)
    log_likelihoods(score_matrix(path, newx, "x", steps),
                    score_matrix(path, newy, "y", steps),
                    steps, length(path$lambda2), path$spec)
}

# From the scores at `steps`, in columns: one row for each of `n_steps`.
log_likelihoods <- function(s_x, s_y, steps, n_steps, spec) {
    direction <- spec$direction
    forward <- log_ratio_mean(s_x, s_y, spec$robust)
    backward <- log_ratio_mean(-s_y, -s_x, spec$robust)
    of_x <- switch(direction, "p/q" = forward$of_numerator,
                   "q/p" = backward$of_denominator,
                   symmetric = forward$of_numerator + backward$of_denominator)
    of_y <- switch(direction, "p/q" = forward$of_denominator,
                   "q/p" = backward$of_numerator,
                   symmetric = forward$of_denominator + backward$of_numerator)
    score <- switch(direction, "p/q" = forward$mean, "q/p" = backward$mean,
                    symmetric = forward$mean + backward$mean)
    at <- match(seq_len(n_steps), steps)
    quick_frame(list(
        score = score[at],
        se = sqrt(column_variance(of_x) / nrow(s_x) +
                      column_variance(of_y) / nrow(s_y))[at],
        kl = forward$mean[at]
    ))
}

# mean(numerator) - log mean exp(denominator), column by column, and what
# each observation adds to it to first order. A share `robust` of the numerator,
# its largest values, is left out.
log_ratio_mean <- function(numerator, denominator, robust = 0) {
    if (robust > 0) numerator <- trim_columns(numerator, robust)
    top <- apply(denominator, 2L, max)
    shifted <- exp(sweep(denominator, 2L, top))
    level <- colMeans(shifted)
    list(
        mean = colMeans(numerator) - top - log(level),
        of_numerator = numerator,
        of_denominator = -sweep(shifted, 2L, level, "/")
    )
}

# Values whose mean is that of the smallest, and whose spread is that of it: a
# value beyond the cut adds what one at the cut adds. The value at the cut
# counts in part, as it does in the fit.
trim_columns <- function(values, share) {
    n <- nrow(values)
    kept <- (1 - share) * n
    weight <- pmax(0, pmin(1, kept - seq_len(n) + 1)) / kept
    cut <- sum(weight > 0)
    trimmed <- apply(values, 2L, function(column) {
        sorted <- sort(column)
        capped <- pmin(column, sorted[cut])
        capped - mean(capped) + sum(weight * sorted)
    })
    matrix(trimmed, n)
}

# NA for a single observation.
column_variance <- function(values) {
    centred <- sweep(values, 2L, colMeans(values))
    colSums(centred^2) / if (nrow(values) > 1L) nrow(values) - 1 else NA
}
