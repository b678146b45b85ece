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
    check_sample(values, "series", least = 40L)
    if (ncol(values) < 2L) {
        stop_kliep("size", paste0("`series` must have at least 2 variables ",
                                  "besides the time: got ", ncol(values), "."))
    }
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
        stop_kliep("time", paste0("All rows of `series` are at one time (",
                                  format(time[1L]), "): there is no when."),
                   hint = "Two samples are compared by `kliep_infer()`.")
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

# ---- drift -----------------------------------------------------------------

# From 0 at the first row to 1 at the last.
unit_time <- function(time) {
    time <- as.numeric(time)
    (time - time[1L]) / (time[length(time)] - time[1L])
}

# The share of the span on either side that means and variances are smoothed
# over: as far as the narrowest window that is tested.
drift_half <- 1 / 8

# Every variable less its mean at that time, in units of its standard deviation
# at that time: both are smoothed by a local line. `drift` has them on a grid.
remove_drift <- function(values, time, half = drift_half) {
    grid <- seq(0, 1, length.out = 101L)
    smooth <- line_weights(time, grid, half)
    at_rows <- function(fitted) {
        apply(fitted, 2L, function(column) {
            stats::approx(grid, column, time)$y
        })
    }
    center <- smooth %*% values
    values <- values - at_rows(center)
    # A local line may fall below zero, where no variance is.
    least <- rep(0.1 * colMeans(values^2), each = length(grid))
    spread <- sqrt(pmax(smooth %*% values^2, least))
    list(values = values / at_rows(spread),
         drift = list(at = grid, mean = center, sd = spread))
}

# The weights of all rows in the local lines through `at`, one row for each.
# Where rows are sparse, a line reaches as far as the twentieth of them.
line_weights <- function(time, at, half) {
    near <- min(20L, length(time))
    weights <- vapply(at, function(center) {
        apart <- time - center
        reach <- max(half, 1.01 * sort(abs(apart), partial = near)[near])
        kernel <- pmax(1 - (apart / reach)^2, 0)
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
        size <- max(dependence_length(values), ceiling(n / most_blocks))
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
# weighs bias and variance alike, and a variance that is too small costs more:
# by the autocorrelation at lag one of squares and of products of neighbours, in
# a window of a quarter of the rows.
dependence_length <- function(values) {
    n <- nrow(values)
    d <- ncol(values)
    products <- cbind(values^2, values * values[, c(seq_len(d)[-1L], 1L)])
    products <- scale(products)
    # Squares of spins do not vary.
    products <- products[, !is.na(products[1L, ]), drop = FALSE]
    lag <- sum(products[-1L, ] * products[-n, ]) / sum(products^2)
    lag <- min(max(lag, 0), 0.95)
    max(1, ceiling(1.5 * (2 * lag / (1 - lag^2))^(2 / 3) * (n / 4)^(1 / 3)))
}

# The time and the number of rows of every block.
describe_blocks <- function(units, time) {
    size <- tabulate(units)
    list(unit = units, time = as.vector(rowsum(time, units)) / size,
         size = size)
}
