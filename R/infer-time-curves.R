# The rates of the edges that are reported, over time: estimates, bands, where
# an edge begins and ends to change, and where all of them change most.

# ---- rates on a grid -------------------------------------------------------

# Rates of `edges` (numbers) given the support, in windows of one width: `at`,
# and matrices with a row for each time and a column for each edge. Nothing but
# the variables that take part matters. `influence` has a matrix of blocks by
# edges for every time.
rate_curves <- function(model, edges, support, at, half) {
    pairs <- model$pairs
    variables <- sort(unique(unlist(pairs[c(edges, support), ])))
    part <- model$among(variables)
    part[c("lags", "dependence")] <- model[c("lags", "dependence")]
    number <- function(columns) {
        edge_number(lapply(pairs[columns, ], match, variables))
    }
    blocks <- length(model$blocks$size)
    one <- function(center) {
        window <- time_window(part$blocks, center, half)
        if (is.null(window)) return(NULL)
        rates <- rates_given(part, window, number(support))
        if (is.null(rates)) return(NULL)
        influence <- matrix(0, blocks, length(edges))
        influence[window$inside, ] <- rates$influence[, number(edges)]
        c(list(at = center, influence = influence),
          lapply(rates[c("estimate", "se", "z")], `[`, number(edges)))
    }
    done <- Filter(Negate(is.null), lapply(at, one))
    bind <- function(name) do.call(rbind, lapply(done, `[[`, name))
    list(at = vapply(done, `[[`, 1, "at"), estimate = bind("estimate"),
         se = bind("se"), z = bind("z"),
         influence = lapply(done, `[[`, "influence"))
}

widest_half <- 1 / 4

# Where curves are evaluated: at the times given, or evenly spaced.
curve_times <- function(at, half) {
    if (is.list(at)) return(at$at)
    seq(half, 1 - half, length.out = if (half < 0.5) at else 1L)
}

has_windows <- function(blocks, at, half) {
    any(vapply(curve_times(at, half), function(center) {
        !is.null(time_window(blocks, center, half))
    }, NA))
}

# Half the width of the windows of the curves: what predicts the moments of the
# reported edges best, each block by a local line through the others.
choose_half <- function(model, edges, at) {
    blocks <- model$blocks
    count <- length(blocks$size)
    halves <- c(widest_half, 3 / 16, 1 / 8)
    halves <- halves[2 * halves * count >= 12]
    halves <- halves[vapply(halves, has_windows, NA, blocks = blocks, at = at)]
    if (length(halves) == 0L || length(edges) == 0L) return(widest_half)
    moments <- model$moments(edges)
    moments <- moments / rep(sqrt(colMeans(moments^2)), each = count)
    score <- vapply(halves, function(half) {
        smooth <- line_weights(blocks$time, blocks$time, half)
        sum(((moments - smooth %*% moments) / (1 - diag(smooth)))^2)
    }, 1)
    halves[which.min(score)]
}

# ---- bands -----------------------------------------------------------------

# How many standard errors hold for all times of an edge at once: the largest
# of all, where every block has a random weight.
band_factors <- function(curves, level, draws = 1000L) {
    count <- nrow(curves$influence[[1L]])
    random <- matrix(stats::rnorm(count * draws), count)
    vapply(seq_len(ncol(curves$z)), function(edge) {
        parts <- vapply(curves$influence, function(part) part[, edge],
                        numeric(count))
        length <- sqrt(colSums(parts^2))
        parts <- parts / rep(pmax(length, 1e-300), each = count)
        largest <- do.call(pmax, asplit(abs(crossprod(parts, random)), 1L))
        max(stats::quantile(largest, level, names = FALSE),
            stats::qnorm((1 + level) / 2))
    }, 1)
}

# One row for each edge and time. `p_adjusted` holds for all times of its edge:
# that many tests are as good as independent which give the factor of the band.
# Edges were chosen, so that times have to pass at their share of the rate
# (Benjamini and Bogomolov, 2014).
rate_table <- function(curves, edges, level, share) {
    factor <- band_factors(curves, level)
    times <- length(curves$at)
    tests <- (1 - level) / (2 * stats::pnorm(-factor))
    wide <- rep(factor, each = times) * curves$se
    narrow <- stats::qnorm((1 + level) / 2) * curves$se
    p <- pmin(1, rep(tests, each = times) * 2 * stats::pnorm(-abs(curves$z)))
    long <- function(matrix) as.vector(matrix)
    data.frame(
        edge = rep(edges, each = times), at = rep(curves$at, length(edges)),
        estimate = long(curves$estimate), se = long(curves$se),
        lower = long(curves$estimate - narrow),
        upper = long(curves$estimate + narrow),
        lower_all = long(curves$estimate - wide),
        upper_all = long(curves$estimate + wide),
        z = long(curves$z), p_adjusted = long(p), changing = long(p) <= share
    )
}

# ---- when ------------------------------------------------------------------

# For every edge the row of `rates` where it changes most surely, and the times
# between which it changes around there; where no time passes by itself, those
# of the window in which the edge was found.
edge_spans <- function(rates, edges, windows, z) {
    do.call(rbind, lapply(edges, function(edge) {
        rows <- which(rates$edge == edge)
        peak <- rows[which.max(abs(rates$z[rows]))]
        ends <- run_around(rates$changing[rows], match(peak, rows))
        best <- windows[[which.max(abs(z[, edge]))]]
        span <- if (is.null(ends)) best$center + c(-1, 1) * best$half else
            rates$at[rows[ends]]
        data.frame(edge = edge, row = peak, start = max(0, span[1L]),
                   end = min(1, span[2L]))
    }))
}

run_around <- function(on, at) {
    if (!on[at]) return(NULL)
    off <- which(!on)
    c(max(c(0L, off[off < at])) + 1L,
      min(c(length(on) + 1L, off[off > at])) - 1L)
}

# The sum of squared rates of the reported edges, less what their errors add,
# and where it is largest, with an interval: by curves in which every block has
# a random weight besides its own.
total_rate <- function(curves, level, draws = 400L) {
    energy <- rowSums(curves$estimate^2 - curves$se^2)
    count <- nrow(curves$influence[[1L]])
    random <- matrix(stats::rnorm(count * draws), count)
    again <- vapply(seq_along(curves$at), function(time) {
        moved <- crossprod(curves$influence[[time]], random)
        colSums((curves$estimate[time, ] + moved)^2) -
            2 * sum(curves$se[time, ]^2)
    }, numeric(draws))
    peaks <- curves$at[max.col(again, "first")]
    ends <- stats::quantile(peaks, c(1 - level, 1 + level) / 2, names = FALSE)
    list(rate = sqrt(pmax(energy, 0)),
         peak = c(at = curves$at[which.max(energy)], lower = ends[1L],
                  upper = ends[2L]))
}
