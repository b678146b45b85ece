# How much of a change of association could come with a shift of means or of
# scales: where the regression of one variable on another is curved, its slope
# is another at another level.

# For all edges the share, from 0 to 1, of the change of their correlation. Over
# both samples, each variable standardised in its own, the regression of z_j on
# z_i is a + r H_1 + c_2 H_2 + c_3 H_3 in Hermite's polynomials of z_i. With a
# mean higher by m and a variance larger by v, its mean slope is larger by
# 2 c_2 m + 3 c_3 v: to first order, about the middle of both samples. `ready`
# are the samples as they are tested, `raw` as they were observed.
shift_shares <- function(ready, raw) {
    z <- unname(rbind(ready$x, ready$y))
    n <- nrow(z)
    shift <- margin_shift(raw$x, raw$y)
    # 2 c_2 m + 3 c_3 v, both products at once.
    each <- function(values) rep(values, each = n)
    slope <- crossprod((z^2 - 1) * each(shift$mean / n) +
                           (z^3 - 3 * z) * each(shift$square / (2 * n)), z)
    error <- (2 * shift$mean^2 + 1.5 * shift$square^2) / n
    pairs <- as.matrix(pair_from_index(seq_len(ncol(z) * (ncol(z) - 1) / 2)))
    back <- pairs[, 2:1, drop = FALSE]
    # Both regressions, of either variable on the other.
    expected <- (slope[pairs] + slope[back]) / 2
    noise <- sqrt(error[pairs[, 1L]] + error[pairs[, 2L]]) / 2
    expected[abs(expected) < 2 * noise] <- 0
    change <- (correlations(ready$x) - correlations(ready$y))[pairs]
    share <- expected / change
    pmin(1, pmax(0, replace(share, !is.finite(share), 0)))
}

# As stats::cor(), by a product of one matrix with itself: half the work.
correlations <- function(sample) {
    centred <- center_columns(unname(sample))
    unit <- sqrt(colSums(centred^2))
    crossprod(centred / rep(unit, each = nrow(sample)))
}

# By how much the mean of a variable is higher in `x` than in `y`, in units of
# its standard deviation, and by how much its variance is larger.
margin_shift <- function(x, y) {
    variance <- function(sample) colMeans(center_columns(sample)^2)
    unit <- (variance(x) + variance(y)) / 2
    unit[unit == 0] <- 1
    mean <- (colMeans(x) - colMeans(y)) / sqrt(unit)
    list(mean = mean, square = (variance(x) - variance(y)) / unit)
}

# The samples by whose margins shifts are measured: ranks are those of both
# samples together.
margin_samples <- function(samples, features) {
    if (!is_ranked(features)) return(samples)
    npn_samples(samples[c("x", "y")], normal_scores, pooled = TRUE)
}

# A sentence about the changes reported, or NULL where none looks like a shift.
say_shift <- function(x) {
    share <- x$estimates$shift[x$estimates$changed]
    much <- sum(share >= 0.5, na.rm = TRUE)
    if (much == 0L) return(NULL)
    paste0("At least half of ", if (much == 1L) "one" else much, " of these ",
           "changes could be caused by a shift of means or scales: see the ",
           "column `shift`.")
}
