# Rows that depend on each other. What one row predicts of the next is carried
# over the ends of blocks, so that blocks have nothing in common as far as rows
# are autoregressions; what is left comes from autocovariances.

# ---- what one row predicts of the next ------------------------------------

# A sum of rows of an autoregression with coefficient a, with a / (1 - a) times
# its last row and less that times the row before its first one, is a sum of
# innovations divided by 1 - a: its mean is that of the rows, and it has nothing
# in common with the next sum. `rows` gives rows by their numbers, and
# `persistence` has a for every column.
carry_over <- function(means, rows, persistence, blocks) {
    ends <- block_ends(blocks)
    step <- rows(ends$last) - rows(ends$before)
    carry <- persistence / (1 - persistence)
    means + step * rep(carry, each = nrow(means)) / blocks$size
}

# The last row of every block, and the last one of the block before it. Blocks
# that begin a stretch of rows have none before, and take their first one.
block_ends <- function(blocks) {
    last <- cumsum(blocks$size)
    first <- last - blocks$size + 1
    list(last = last, before = ifelse(blocks$begins, first, first - 1))
}

# block_moments() without what blocks have in common with the next ones.
free_moments <- function(values, level, persistence, blocks) {
    pairs <- pair_from_index(seq_len(ncol(level$products)))
    list(
        products = carry_over(level$products, function(at) {
            values[at, pairs$from, drop = FALSE] *
                values[at, pairs$to, drop = FALSE]
        }, persistence$products, blocks),
        squares = carry_over(level$squares, function(at) {
            values[at, , drop = FALSE]^2
        }, persistence$squares, blocks)
    )
}

# ---- autocorrelations at lag one -------------------------------------------

# Those of all products and of all squares of variables. `removed` is the share
# of rows that went into the means that were taken off.
gaussian_persistence <- function(values, level, blocks, smoother, removed) {
    upper <- upper.tri(diag(ncol(values)))
    begins <- beginnings(blocks)
    missed <- missed_by_means(values, begins, removed)
    of_moments <- function(means, pick) {
        sums <- function(rows) {
            later <- setdiff(rows, begins)
            list(square = pick(crossprod(values[rows, ]^2)),
                 shared = pick(crossprod(values[later, ] *
                                             values[later - 1, ])))
        }
        lag <- column_persistence(sums, means, blocks, smoother) + missed
        pmin(pmax(lag, 0), 0.95)
    }
    list(products = of_moments(level$products, function(sum) sum[upper]),
         squares = of_moments(level$squares, diag))
}

# What is taken off with the means of variables is missing in the
# autocorrelation of their products, which is the square of their own where rows
# are autoregressions.
missed_by_means <- function(values, begins, removed) {
    later <- setdiff(seq_len(nrow(values)), begins)
    square <- sum(values^2)
    shared <- sum(values[later, ] * values[later - 1, ])
    if (shared <= 0) return(0)
    min(lag_one(square, shared, removed), 0.95)^2 - (shared / square)^2
}

# Those of the columns of a table.
table_persistence <- function(table, blocks, smoother) {
    begins <- beginnings(blocks)
    sums <- function(rows) {
        later <- setdiff(rows, begins)
        list(square = colSums(table[rows, , drop = FALSE]^2),
             shared = colSums(table[later, , drop = FALSE] *
                                  table[later - 1, , drop = FALSE]))
    }
    means <- unname(rowsum(table, blocks$unit)) / blocks$size
    column_persistence(sums, means, blocks, smoother)
}

# `sums` gives, for the rows given, sums of squares and of products with the row
# before. Columns differ as far as both halves of the series agree on it.
column_persistence <- function(sums, means, blocks, smoother) {
    smooth <- smoother %*% means
    drift <- blocks$size * (2 * means * smooth - smooth^2)
    taken <- share_taken(blocks, smoother)
    lag_in <- function(units) {
        sum <- sums(which(blocks$unit %in% units))
        off <- colSums(drift[units, , drop = FALSE])
        square <- sum$square - off
        shared <- sum$shared - off
        list(common = lag_one(sum(square), sum(shared), taken),
             each = lag_one(square, shared, taken))
    }
    count <- length(blocks$size)
    first <- seq_len(count %/% 2L)
    all <- lag_in(seq_len(count))
    halves <- list(lag_in(first)$each, lag_in(seq_len(count)[-first])$each)
    lag <- all$common + agreement(halves) * (all$each - mean(all$each))
    pmin(pmax(lag, 0), 0.95)
}

# A smoother takes the same share of the sum of all autocovariances off each of
# them; that sum is (1 + a) / (1 - a) times the variance.
lag_one <- function(square, shared, taken) {
    raw <- ifelse(square > 0, shared / square, 0)
    lag <- raw
    for (step in 1:20) {
        lag <- pmin(pmax(lag, 0), 0.95)
        off <- pmin(taken * (1 + lag) / (1 - lag), 0.5)
        lag <- raw * (1 - off) + off
    }
    lag
}

# The share of the variance over columns that is not chance, of two halves taken
# together, by their correlation (Spearman and Brown).
agreement <- function(halves) {
    if (length(halves[[1L]]) < 3L) return(0)
    spread <- (stats::var(halves[[1L]]) + stats::var(halves[[2L]])) / 2
    if (spread == 0) return(0)
    both <- min(max(stats::cov(halves[[1L]], halves[[2L]]) / spread, 0), 1)
    2 * both / (1 + both)
}

share_taken <- function(blocks, smoother) {
    sum(2 * diag(smoother) - blocks$size *
            drop(smoother^2 %*% (1 / blocks$size))) / sum(blocks$size)
}

# ---- what is left ----------------------------------------------------------

# `lags`, and `dependence`: how many times as large the variance of a sum of
# products is as that of independent rows.
with_dependence <- function(model, values, smoother) {
    a <- model$persistence
    lags <- serial_lags(values, a, model$blocks, smoother)
    left <- max(1, (2 * sum(lags) - lags[1L]) / lags[1L])
    model$lags <- lags
    model$dependence <- mean((1 + a) / (1 - a)) * left
    model
}

# As many independent rows as would say as much about products of variables.
effective_rows <- function(model) {
    length(model$blocks$unit) / model$dependence
}

# About as far as `make bench ONLY=time` goes, which has 0.64.
most_persistence <- 0.7

warn_dependence <- function(model) {
    known <- mean(model$persistence)
    if (known <= most_persistence) return(invisible())
    warn_kliep(
        "dependence",
        paste0("Rows depend strongly on each other: products of variables ",
               "keep ", format(known, digits = 2L), " from one row to the ",
               "next, so that ", length(model$blocks$unit), " rows say as ",
               "much as ", format(round(effective_rows(model))),
               " independent ones, and rates of false edges are known up to ",
               most_persistence, " only."),
        hint = "Thin the rows out, or take what is found as a ranking."
    )
}

# What rows have in common with the next ones, over many edges: the
# autocovariances of products of variables, with what drifts taken off, up to
# the length of a block. A smoother takes the same off every lag, in proportion
# to the sum of all of them, which is put back.
serial_lags <- function(values, persistence, blocks, smoother) {
    products <- some_products(values, 300L, persistence, blocks)
    means <- unname(rowsum(products, blocks$unit)) / blocks$size
    left <- products - (smoother %*% means)[blocks$unit, , drop = FALSE]
    left <- left / rep(sqrt(pmax(colMeans(left^2), 1e-300)), each = nrow(left))
    n <- nrow(left)
    most <- min(max(blocks$size), n %/% 10L)
    lags <- vapply(seq_len(most), function(lag) {
        sum(left[seq_len(n - lag), ] * left[-seq_len(lag), ]) / length(left)
    }, 1)
    taken <- share_taken(blocks, smoother)
    all <- (1 + 2 * sum(lags)) / max(0.5, 1 - (2 * most + 1) * taken)
    lags <- c(1, lags) + taken * max(all, 0)
    structure(lags, left = share_left(lags, blocks, smoother))
}

# Products of at most `most` pairs, of neighbours first, without what the row
# before predicts.
some_products <- function(values, most, persistence, blocks) {
    d <- ncol(values)
    apart <- seq_len(min(d %/% 2L, max(1L, most %/% d)))
    one <- rep(seq_len(d), length(apart))
    other <- (one + rep(apart, each = d) - 1L) %% d + 1L
    products <- values[, one, drop = FALSE] * values[, other, drop = FALSE]
    ends <- list(from = pmin(one, other), to = pmax(one, other))
    persistence <- persistence[edge_number(ends)]
    begins <- beginnings(blocks)
    before <- ifelse(seq_len(nrow(values)) %in% begins, seq_len(nrow(values)),
                     seq_len(nrow(values)) - 1L)
    products + (products - products[before, , drop = FALSE]) *
        rep(persistence / (1 - persistence), each = nrow(values))
}

# The first row of every stretch.
beginnings <- function(blocks) {
    (cumsum(blocks$size) - blocks$size + 1)[blocks$begins]
}

# By how much the variance of a sum of rows with the weights of a window exceeds
# the sum of the variances of its blocks.
serial_factor <- function(lags, window, blocks) {
    if (length(lags) < 2L) return(1)
    rows <- (window$slope / blocks$size)[blocks$unit]
    n <- length(rows)
    at <- seq_along(lags)[-1L] - 1L
    shared <- vapply(at, function(lag) {
        sum(rows[seq_len(n - lag)] * rows[-seq_len(lag)])
    }, 1) / sum(rows^2)
    of_sum <- lags[1L] + 2 * sum(shared * lags[-1L])
    of_blocks <- max(block_variance(lags, blocks), 0.1 * lags[1L])
    max(1, of_sum / of_blocks / attr(lags, "left"))
}

# Of the mean of a block, in units of that of independent rows: within a block
# of b rows there are b - k pairs at lag k.
block_variance <- function(lags, blocks) {
    at <- seq_along(lags)[-1L] - 1L
    lags[1L] + 2 * sum(pmax(1 - at / mean(blocks$size), 0) * lags[-1L])
}

# What a smoother leaves of the variance of blocks, of which each depends on the
# next, as a share of what it leaves of independent ones.
share_left <- function(lags, blocks, smoother) {
    variance <- block_variance(lags, blocks)
    next_one <- (sum(c(1, rep(2, length(lags) - 1L)) * lags) / variance - 1) / 2
    next_one <- min(max(next_one, 0), 0.45)
    count <- nrow(smoother)
    near <- abs(outer(seq_len(count), seq_len(count), `-`)) == 1
    left <- diag(count) - smoother
    sum(left * (left %*% (diag(count) + next_one * near))) / sum(left^2)
}
