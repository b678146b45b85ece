# A series as kliep_time() sees it: drifting means and variances taken out, and
# consecutive rows gathered in blocks that are as good as independent.

# ---- what comes in ---------------------------------------------------------

# As check_series(), with enough rows and times to speak of rates.
check_drifting <- function(series, time, features, na) {
    if (missing(series) || is.null(series)) {
        stop_kliep("type", "`series` is missing.",
                   hint = "Give a table with observations in rows.")
    }
    parts <- check_series(series, time)
    parts <- omit_missing_rows(parts, na)
    values <- parts$values
    check_gaps(values, "series", paste("`na = \"omit\"` leaves out",
                                       "observations with missing values."))
    check_sample(values, "series", least = 40L)
    check_two_variables(values)
    check_many_times(parts$time)
    parts$variables <- series_variables(values)
    constant <- is_constant(values)
    if (any(constant)) {
        stop_kliep("constant",
                   paste0(count_of(sum(constant), "column"), " of `series` ",
                          if (sum(constant) == 1L) "is" else "are",
                          " constant: ", name_some(parts$variables[constant]),
                          "."),
                   hint = "Drop what does not vary.")
    }
    parts$values <- unname(values)
    if (features$family == "ising") {
        colnames(values) <- parts$variables
        parts$values <- unname(code_two_valued(values, values)$x)
    }
    parts
}

check_many_times <- function(time) {
    if (time[1L] == time[length(time)]) {
        stop_kliep("time", paste0("All rows of `series` have the same time: ",
                                  format(time[1L]), "."),
                   hint = "`kliep_infer()` compares two samples.")
    }
    different <- length(unique(time))
    if (different < 10L) {
        stop_kliep("time", paste0("`time` must have at least 10 different ",
                                  "values: got ", different, "."),
                   hint = "Few periods are compared by `kliep_windows()`.")
    }
}

omit_missing_rows <- function(parts, na) {
    known <- rowSums(is.na(parts$values)) == 0
    if (na == "error" || all(known)) return(parts)
    inform_kliep("missing", paste0(
        "`na = \"omit\"` leaves out ", sum(!known), " of ",
        count_of(length(known), "observation"), ", which have missing values."
    ))
    list(values = parts$values[known, , drop = FALSE], time = parts$time[known])
}

# What can be meant, and mostly is not: of both halves, as of two samples.
# `clean` is the series without its drift, which has tails of its own.
notice_series <- function(parts, clean, features) {
    first <- seq_len(nrow(parts$values) %/% 2L)
    halves <- list(x = parts$values[first, , drop = FALSE],
                   y = parts$values[-first, , drop = FALSE],
                   variables = parts$variables)
    notice_periods(halves, features, clean)
}

notice_periods <- function(samples, features, values) {
    if (identical(features$family, "ising")) return(invisible())
    notice_samples(list(), samples, features)
    if (!has_closed_form(features) || is_ranked(features) ||
        are_raw_counts(samples)) {
        return(invisible())
    }
    tails <- stats::median(excess_kurtosis(values))
    if (tails <= heavy_kurtosis) return(invisible())
    inform_kliep(
        "tails",
        paste0("The values have heavy tails (a median excess kurtosis of ",
               format(tails, digits = 2L), "): a few large ones may pass for ",
               "changes."),
        hint = "Use `feat_nonparanormal()`, which uses ranks."
    )
}

# ---- drift -----------------------------------------------------------------

# From 0 at the first row to 1 at the last.
unit_time <- function(time) {
    time <- as.numeric(time)
    (time - time[1L]) / (time[length(time)] - time[1L])
}

# The shares of the span on either side that means and variances may be
# smoothed over: as far as the narrowest window that is tested, or as good as
# all of it.
drift_halves <- c(2, 1 / 4, 1 / 8)

# Every variable less its mean at that time, in units of its standard deviation
# at that time: both are smoothed by a local line. `drift` has them on a grid,
# and `removed` is the share of rows that go into the means.
# Rows that depend on each other wander by themselves: to take that off as if
# it were drift would leave products that depend on each other over all of the
# width, so that a variable has the widest line that predicts as well.
remove_drift <- function(values, time, halves = drift_halves) {
    grid <- seq(0, 1, length.out = 101L)
    lines <- lapply(halves, function(half) line_weights(time, grid, half))
    unit <- wandering_blocks(values, time)
    smooth <- function(table, chosen) {
        vapply(seq_len(ncol(table)), function(column) {
            drop(lines[[chosen[column]]] %*% table[, column])
        }, numeric(length(grid)))
    }
    at_rows <- function(fitted) {
        apply(fitted, 2L, function(column) {
            stats::approx(grid, column, time)$y
        })
    }
    chosen <- choose_lines(values, unit, time, halves)
    center <- smooth(values, chosen)
    values <- values - at_rows(center)
    # A local line may fall below zero, where no variance is.
    least <- rep(0.1 * colMeans(values^2), each = length(grid))
    squares <- values^2
    spread <- smooth(squares, choose_lines(squares, unit, time, halves))
    spread <- sqrt(pmax(spread, least))
    list(values = values / at_rows(spread),
         removed = mean(lines_freedom(unit, time, halves)[chosen]) /
             nrow(values),
         drift = list(at = grid, mean = center, sd = spread))
}

# Blocks whose means hardly depend on those after the next: at least as long as
# the sum of the autocorrelations of an autoregression.
wandering_blocks <- function(values, time) {
    n <- nrow(values)
    left <- stats::lm.fit(cbind(1, time), values)$residuals
    lag <- sum(left[-1L, ] * left[-n, ]) / sum(left^2)
    lag <- min(max(lag, 0), 0.95)
    size <- max((1 + lag) / (1 - lag), n / most_blocks)
    cut_blocks(n, ceiling(min(size, n / least_blocks)))
}

# How many coefficients lines of each width are worth.
lines_freedom <- function(unit, time, halves) {
    at <- as.vector(rowsum(time, unit)) / tabulate(unit)
    vapply(halves, function(half) sum(diag(line_weights(at, at, half))), 1)
}

# Which line each column has: that which predicts the means of blocks best from
# those that are not next to them, or a wider one that is within two standard
# errors of it.
choose_lines <- function(table, unit, time, halves) {
    size <- tabulate(unit)
    means <- unname(rowsum(table, unit)) / size
    at <- as.vector(rowsum(time, unit)) / size
    near <- abs(outer(seq_along(at), seq_along(at), `-`)) <= 1
    errors <- lapply(halves, function(half) {
        (means - line_weights(at, at, half, near) %*% means)^2
    })
    score <- vapply(errors, colMeans, numeric(ncol(means)))
    score <- matrix(score, ncol(means))
    vapply(seq_len(ncol(means)), function(column) {
        best <- which.min(score[column, ])
        worse <- vapply(errors, function(error) {
            apart <- error[, column] - errors[[best]][, column]
            mean(apart) > 2 * stats::sd(apart) / sqrt(length(apart))
        }, NA)
        which(!worse)[1L]
    }, 1L)
}

# The weights of all rows in the local lines through `at`, one row for each.
# Where rows are sparse, a line reaches as far as the twentieth of them. Those
# that are `without` (one row for each of `at`) do not count.
line_weights <- function(time, at, half, without = NULL) {
    near <- min(20L, length(time))
    weights <- vapply(seq_along(at), function(row) {
        apart <- time - at[row]
        reach <- max(half, 1.01 * sort(abs(apart), partial = near)[near])
        kernel <- pmax(1 - (apart / reach)^2, 0)
        if (!is.null(without)) kernel[without[row, ]] <- 0
        mass <- c(sum(kernel), sum(kernel * apart), sum(kernel * apart^2))
        spread <- mass[1L] * mass[3L] - mass[2L]^2
        # All of them at one time have a mean and no line.
        if (spread < 1e-10 * mass[1L]^2) return(kernel / mass[1L])
        kernel * (mass[3L] - apart * mass[2L]) / spread
    }, numeric(length(time)))
    t(weights)
}

# How far means and standard deviations drift: one row for each variable, the
# range of its mean in units of its usual standard deviation, and the ratio of
# the largest to the smallest of these.
drift_table <- function(drift, variables) {
    usual <- apply(drift$sd, 2L, stats::median)
    span <- function(column) diff(range(column))
    data.frame(
        variable = variables,
        mean_drift = apply(drift$mean, 2L, span) / usual,
        sd_ratio = apply(drift$sd, 2L, max) / apply(drift$sd, 2L, min)
    )
}

# ---- blocks ----------------------------------------------------------------

# Beyond this many blocks variances gain nothing, and all costs more.
most_blocks <- 150L
least_blocks <- 24L

# The block of every row. Rows that follow each other depend on each other, and
# sums over long enough blocks hardly do.
time_blocks <- function(block, values) {
    n <- nrow(values)
    if (is.null(block)) {
        size <- max(block_length(values), ceiling(n / most_blocks))
        return(cut_blocks(n, min(size, n %/% least_blocks)))
    }
    block <- check_whole(block, "block", "block")
    units <- cut_blocks(n, block)
    if (max(units) < least_blocks) {
        stop_kliep("block",
                   paste0("`block` must leave at least ", least_blocks,
                          " blocks: got ", max(units), " of ",
                          count_of(n, "observation"), "."),
                   hint = "Shorten the blocks.")
    }
    units
}

# One and a half times Carlstein's length for an autoregression (1986), which
# weighs bias and variance alike, and a variance that is too small costs more,
# in a window of a quarter of the rows. What the row before predicts needs no
# blocks, as it is carried over their ends; the sum of the autocorrelations that
# are left stands for the coefficient, in the middle of all products: those that
# change have it as well, and are few.
block_length <- function(values) {
    products <- dependent_products(values)
    n <- nrow(products)
    flat <- without_drift(products)
    lag <- pooled_lag(flat$rows, 1L)
    left <- flat$rows[-1L, , drop = FALSE] - lag * flat$rows[-n, , drop = FALSE]
    most <- min(20L, n %/% 10L)
    all <- rowSums(vapply(seq_len(most), function(k) {
        column_lags(left, k)
    }, numeric(ncol(left))))
    # A smoother takes the same off every lag: see lag_one().
    all <- (all + most * flat$taken) / max(0.5, 1 - 2 * most * flat$taken)
    all <- max(stats::median(all), 0)
    carlstein_length(all / (1 + all), n)
}

# Rows less local lines through means of some of them.
without_drift <- function(rows) {
    n <- nrow(rows)
    blocks <- describe_blocks(cut_blocks(n, ceiling(n / most_blocks)),
                              seq(0, 1, length.out = n))
    smoother <- drift_smoother(blocks)
    means <- unname(rowsum(rows, blocks$unit)) / blocks$size
    list(rows = rows - (smoother %*% means)[blocks$unit, , drop = FALSE],
         taken = share_taken(blocks, smoother))
}

# The same for rows as they are.
dependence_length <- function(values) {
    carlstein_length(pooled_lag(dependent_products(values), 1L), nrow(values))
}

carlstein_length <- function(lag, n) {
    lag <- min(max(lag, 0), 0.95)
    max(1, ceiling(1.5 * (2 * lag / (1 - lag^2))^(2 / 3) * (n / 4)^(1 / 3)))
}

# Squares, and products of neighbours.
dependent_products <- function(values) {
    d <- ncol(values)
    products <- cbind(values^2, values * values[, c(seq_len(d)[-1L], 1L)])
    products <- scale(products)
    # Squares of spins do not vary.
    products[, !is.na(products[1L, ]), drop = FALSE]
}

pooled_lag <- function(products, lag) mean(column_lags(products, lag))

column_lags <- function(products, lag) {
    n <- nrow(products)
    colSums(products[-seq_len(lag), , drop = FALSE] *
                products[seq_len(n - lag), , drop = FALSE]) /
        colSums(products^2)
}

# The time and the number of rows of every block, and whether no row comes
# before it.
describe_blocks <- function(units, time) {
    size <- tabulate(units)
    list(unit = units, time = as.vector(rowsum(time, units)) / size,
         size = size, begins = seq_along(size) == 1L)
}
