# How well a fitted path does on observations it has not seen: one score for
# each lambda2, by the criterion that belongs to its method.

# A data frame with one row for each lambda2: `score`, the larger the better
# and NA where there is no fit to rely on, `se`, its standard error, and `kl`,
# which estimates KL(P || Q), if the method does. `score` is "logistic" or
# "likelihood"; another method has its own.
holdout_scores <- function(path, newx, newy, score = "likelihood") {
    newx <- check_newdata(newx, path, "newx")
    newy <- check_newdata(newy, path, "newy")
    path_scores(path, newx, newy, score)
}

path_scores <- function(path, newx, newy, score = "likelihood") {
    if (is_baseline(path)) {
        return(baseline_methods()[[path$method]]$holl(path, newx, newy))
    }
    steps <- reliable_steps(path$diagnostics$status)
    ratio_scores(score_matrix(path, newx, "x", steps),
                 score_matrix(path, newy, "y", steps),
                 list(steps = steps, of = length(path$lambda2)), path$spec,
                 score)
}

# From the log-ratios, up to a constant, of both samples at `at$steps`, in
# columns: one row for each of `at$of` steps.
ratio_scores <- function(s_x, s_y, at, spec, score) {
    likelihood <- log_likelihoods(s_x, s_y, spec)
    scored <- if (score == "logistic") logistic_scores(s_x, s_y) else
        likelihood
    place <- match(seq_len(at$of), at$steps)
    quick_frame(list(score = scored$score[place], se = scored$se[place],
                     kl = likelihood$kl[place]))
}

# ---- logistic --------------------------------------------------------------

# How much better the ratio tells from which sample an observation is than
# guessing does: (mean_i log g(s(x_i)) + mean_j log (1 - g(s(y_j)))) / 2 + log 2
# with g(s) = 1 / (1 + exp(-s - c)). Zero for a ratio of one and at most log 2;
# a single observation can add at most that, and take away no more than in
# proportion to its log-ratio.
logistic_scores <- function(s_x, s_y) {
    if (ncol(s_x) == 0L) return(list(score = numeric(), se = numeric()))
    scores <- rust_logistic_scores(s_x, s_y)[c("score", "se")]
    # Rust has no NA for numbers, only NaN.
    scores$se[is.nan(scores$se)] <- NA
    scores
}

# ---- likelihood ------------------------------------------------------------

# Log-likelihood of the density ratio,
#   mean_i log r(x_i),  log r(z) = s(z) - log mean_j exp(s(y_j)),
# or that of the inverse ratio, or the sum of both, whichever was fitted.
# `kl` is the first of them, which estimates KL(P || Q).
log_likelihoods <- function(s_x, s_y, spec) {
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
    list(
        score = score,
        se = sqrt(column_variance(of_x) / nrow(s_x) +
                      column_variance(of_y) / nrow(s_y)),
        kl = forward$mean
    )
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
