# Every edge tested in every window given a support, with variances that hold
# for dependent rows, one statistic for each edge over all windows, and its
# null from shuffles of blocks.

# ---- one window ------------------------------------------------------------

# The rates of all edges: on the support they solve its equations, elsewhere
# they are one step from zero. `influence` has what the blocks inside the window
# add, before information divides it. NULL where the support is too large for
# the window to tell its edges apart.
rates_given <- function(model, window, support) {
    local <- model$local(window)
    solved <- solve_support(local, support)
    if (is.null(solved)) return(NULL)
    inside <- window$inside
    smooth <- solved$project(local$noise)
    influence <- window$slope[inside] * smooth[inside, , drop = FALSE]
    # What is pooled over all of the series.
    usual <- sum(window$slope^2) * colMeans(smooth^2)
    if (length(support) > 0L) {
        bent <- solved$project(local$curvature(support, solved$rates))
        influence <- influence + window$weight[inside] * bent
        usual <- usual + sum(window$weight^2) * colMeans(bent^2)
        # Where an edge changes, so does the variance of its moments.
        usual[support] <- usual[support] *
            here_by_usual(model$variance(support, window), window$slope)
    }
    df <- window_freedom(window, smooth)
    serial <- serial_factor(model$lags, window, model$blocks) *
        error_of_variance(model$dependence, df[["all"]])
    influence <- sqrt(serial) * influence
    variance <- moderate_variance(colSums(influence^2), serial * usual, df)
    list(estimate = solved$numerator / solved$information,
         se = sqrt(variance$value) / solved$information,
         z = z_from_t(solved$numerator / sqrt(variance$value), variance$df),
         influence = influence / rep(solved$information, each = length(inside)))
}

# The equations of the support solved, and everything projected on them.
solve_support <- function(local, support) {
    if (length(support) == 0L) {
        return(list(rates = numeric(), numerator = local$slope,
                    information = local$own, project = identity))
    }
    against <- local$against(support)
    square <- against[support, , drop = FALSE]
    if (rcond(square) < 1e-6) return(NULL)
    inverse <- solve(square)
    onto <- against %*% inverse
    rates <- drop(inverse %*% local$slope[support])
    project <- function(noise) {
        given <- noise[, support, drop = FALSE]
        left <- noise - tcrossprod(given, onto)
        left[, support] <- tcrossprod(given, inverse)
        left
    }
    numerator <- local$slope - drop(onto %*% local$slope[support])
    information <- local$own - rowSums(onto * local$toward(support))
    # An edge that the support explains cannot be told from it.
    information <- pmax(information, 1e-3 * local$own)
    list(rates = rates, numerator = replace(numerator, support, rates),
         information = replace(information, support, 1), project = project)
}

# ---- variances -------------------------------------------------------------

# The mean variance of blocks by their part in a slope, by that of all blocks.
here_by_usual <- function(variance, slope) {
    drop(crossprod(slope^2, variance)) / sum(slope^2) / colMeans(variance)
}

# The degrees of freedom of a variance by the blocks of the window alone, and
# by all blocks, with the kurtosis that blocks have.
window_freedom <- function(window, noise) {
    second <- colMeans(noise^2)
    heavy <- stats::median(colMeans(noise^4) / second^2, na.rm = TRUE)
    spread <- max(heavy, 1.5, na.rm = TRUE) - 1
    share <- sum(window$slope^4) / sum(window$slope^2)^2
    c(window = 2 / (share * spread), all = 2 * nrow(noise) / spread)
}

# A slope of dependent rows comes in part from what rows have in common, which
# calm and restless stretches have in another measure, and shuffled blocks do
# not have. The error of variances counts once more, by the share of the
# variance that dependence makes.
error_of_variance <- function(dependence, df) {
    1 + (1 - 1 / max(dependence, 1)) * 2 / max(df - 2, 2)
}

# The variance in the window, shrunken towards what all blocks have as far as
# its ratio to that is the same for all edges, up to chance (Smyth, 2004).
moderate_variance <- function(own, usual, df) {
    usual <- pmax(usual, 1e-300)
    ratio <- own / usual
    prior <- df[["window"]]
    common <- 1
    known <- is.finite(ratio) & ratio > 0
    # A few edges do not tell how much all have in common.
    if (sum(known) >= 20L) {
        half <- df[["window"]] / 2
        logs <- log(ratio[known]) - digamma(half) + log(half)
        extra <- stats::mad(logs)^2 - trigamma(half)
        prior <- if (extra > 1e-4) 2 * inverse_trigamma(extra) else 1e6
        common <- exp(stats::median(logs) + digamma(prior / 2) -
                          log(prior / 2))
    }
    total <- prior + df[["window"]]
    share <- prior / total
    list(value = (share * common + (1 - share) * ratio) * usual,
         df = max(3, min(total, df[["all"]])))
}

inverse_trigamma <- function(value) {
    root <- 0.5 + 1 / value
    for (step in 1:50) {
        now <- trigamma(root)
        move <- now * (1 - now / value) / psigamma(root, 2L)
        root <- root + move
        if (-move / root < 1e-8) break
    }
    root
}

z_from_t <- function(t, df) {
    tail <- stats::pt(-abs(t), df, log.p = TRUE)
    z <- -sign(t) * stats::qnorm(tail, log.p = TRUE)
    replace(z, !is.finite(z), 0)
}

# ---- all windows -----------------------------------------------------------

# z of every window (rows) and edge. NULL where the support is too large.
z_given <- function(model, windows, support) {
    z <- matrix(0, length(windows), nrow(model$pairs))
    for (at in seq_along(windows)) {
        rates <- rates_given(model, windows[[at]], support)
        if (is.null(rates)) return(NULL)
        z[at, ] <- rates$z
    }
    z
}

# The largest |z| of each scale, one row each.
scale_maxima <- function(z, scales) {
    size <- abs(z)
    do.call(rbind, lapply(unique(scales), function(scale) {
        do.call(pmax, asplit(size[scales == scale, , drop = FALSE], 1L))
    }))
}

# One statistic for each edge: the largest over all windows, where those of a
# scale with many are held against the null of that scale.
over_scales <- function(maxima, offset) {
    do.call(pmax, asplit(maxima - offset, 1L)) + offset[1L]
}

# ---- the null --------------------------------------------------------------

# Blocks change places in time. Without a support all of it are a few products
# of matrices: as shuffle_null(), with the offsets of the scales.
time_null <- function(model, windows, n_perm, on_progress = NULL) {
    of <- null_parts(model, windows)
    scales <- vapply(windows, `[[`, 1, "scale")
    maxima <- lapply(seq_len(n_perm), function(shuffle) {
        if (!is.null(on_progress)) on_progress(shuffle, n_perm)
        order <- sample.int(nrow(of$noise))
        scale_maxima(shuffled_z(of, order), scales)
    })
    offset <- apply(do.call(cbind, maxima), 1L, stats::quantile, probs = 0.99,
                    names = FALSE)
    edges <- ncol(of$noise)
    size <- vapply(maxima, over_scales, numeric(edges), offset = offset)
    size <- matrix(size, edges)
    observed <- over_scales(
        scale_maxima(z_given(model, windows, integer()), scales), offset
    )
    list(count = length(size), tail = sort(as.vector(size)), tail_from = -Inf,
         bins = numeric(), largest = apply(size, 2L, max),
         squares = colSums(size^2),
         observed = c(max(observed), sum(observed^2)), offset = offset)
}

null_parts <- function(model, windows) {
    noise <- model$local(whole_window(model$blocks))$noise
    list(noise = noise,
         slopes = vapply(windows, `[[`, numeric(nrow(noise)), "slope"),
         left = short_smoother(model$smoother),
         df = lapply(windows, window_freedom, noise = noise))
}

# As many products of columns as make up a smoother to a hundredth, and the root
# of the share of noise that it leaves of each row.
short_smoother <- function(smoother) {
    parts <- svd(smoother)
    on <- seq_len(max(1L, sum(parts$d > 0.01 * parts$d[1L])))
    list(smooth = parts$u[, on, drop = FALSE] *
             rep(parts$d[on], each = nrow(smoother)),
         onto = parts$v[, on, drop = FALSE], root = noise_root(smoother))
}

# z of every window (rows) and edge where block k stands in the place order[k].
# Variances come from what a smoother leaves of the blocks in their new places,
# as those of the series do: from blocks as they are they would be larger where
# a slope is, and small statistics would pass for usual.
shuffled_z <- function(of, order) {
    slopes <- of$slopes[order, , drop = FALSE]
    left <- of$noise - of$left$smooth[order, , drop = FALSE] %*%
        crossprod(of$left$onto[order, , drop = FALSE], of$noise)
    square <- (left / of$left$root[order])^2
    numerator <- crossprod(slopes, of$noise)
    own <- crossprod(slopes^2, square)
    usual <- colMeans(square)
    share <- colSums(slopes^2)
    df <- numeric(length(share))
    for (at in seq_along(share)) {
        variance <- moderate_variance(own[at, ], share[at] * usual,
                                      of$df[[at]])
        own[at, ] <- variance$value
        df[at] <- variance$df
    }
    # Rows of windows, each with degrees of freedom of its own.
    z_from_t(numerator / sqrt(own), df)
}
