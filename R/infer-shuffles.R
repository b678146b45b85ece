# Which observations change places: shuffles of two samples that move whole
# units, which are single observations or blocks of them.

# ---- units -----------------------------------------------------------------

# The unit of every observation, numbered from one in each sample. `block` is
# NULL, a number of consecutive observations, or the labels themselves.
check_block <- function(block, n_x, n_y) {
    if (is.null(block)) return(list(x = seq_len(n_x), y = seq_len(n_y)))
    units <- if (is.list(block)) {
        check_block_labels(block, n_x, n_y)
    } else {
        block <- check_whole(block, "block", "block")
        list(x = cut_blocks(n_x, block), y = cut_blocks(n_y, block))
    }
    least <- min(vapply(units, max, 1))
    if (least < 2) {
        stop_kliep(
            "block",
            paste0("`block` must leave at least 2 blocks in each sample: got ",
                   max(units$x), " in `x` and ", max(units$y), " in `y`."),
            hint = "Shorten the blocks."
        )
    }
    units
}

# Consecutive blocks of nearly equal size, none smaller than asked.
cut_blocks <- function(n, size) {
    blocks <- max(1, n %/% size)
    as.integer(((seq_len(n) - 1) * blocks) %/% n) + 1L
}

check_block_labels <- function(block, n_x, n_y) {
    named <- identical(sort(names(block)), c("x", "y"))
    sound <- function(labels, n) {
        is.atomic(labels) && length(labels) == n && !anyNA(labels)
    }
    if (!named || !sound(block$x, n_x) || !sound(block$y, n_y)) {
        stop_kliep(
            "block",
            paste0("`block` must be a number, or a list of labels `x` and ",
                   "`y`, one for each of ", n_x, " and ", n_y,
                   " observations and none missing."),
            hint = "For instance `list(x = day_x, y = day_y)`."
        )
    }
    lapply(block[c("x", "y")], function(labels) match(labels, unique(labels)))
}

# ---- how many, and which ---------------------------------------------------

# How many ways there are to divide the units, other than the given one. Where
# both samples are treated alike, exchanging them changes nothing.
count_shuffles <- function(n_x, n_y, alike) {
    ways <- choose(n_x + n_y, n_x)
    if (alike && n_x == n_y) ways <- ways / 2
    ways - 1
}

check_n_perm <- function(n_perm, n_x, n_y, alike) {
    n_perm <- check_whole(n_perm, "n_perm", "n_perm")
    check_replicates_memory(n_perm, n_x, "n_perm")
    most <- count_shuffles(n_x, n_y, alike)
    if (n_perm <= most) return(n_perm)
    what <- paste0(n_x, " and ", n_y, " observations or blocks")
    stop_kliep(
        "n_perm",
        paste0("There are only ", format(most, big.mark = ","),
               " ways to shuffle ", what, ": got n_perm = ",
               format(n_perm, big.mark = ","), ".",
               if (alike && n_x == n_y)
                   " Exchanging the two samples makes no difference here."),
        hint = paste0("Set `n_perm = ", format(most), "`",
                      if (most < 19) ", or collect more", ".")
    )
}

# `n_perm` different sets of units for `x`, out of the units of x and then y.
draw_shuffles <- function(n_x, n_y, n_perm, alike) {
    alike <- alike && n_x == n_y
    # Few ways are listed; among many, drawing one twice is rare.
    if (count_shuffles(n_x, n_y, alike) < 4 * n_perm) {
        ways <- utils::combn(n_x + n_y, n_x, simplify = FALSE)
        if (alike) ways <- ways[seq_len(length(ways) / 2)]
        return(ways[-1L][sample.int(length(ways) - 1L, n_perm)])
    }
    drawn <- list(seq_len(n_x))
    while (length(drawn) <= n_perm) {
        missing <- n_perm + 1 - length(drawn)
        drawn <- unique(c(drawn, replicate(
            missing, draw_shuffle(n_x, n_y, alike), simplify = FALSE
        )))
    }
    drawn[-1L]
}

# The same set is always written the same way: in order, and with the first
# unit where its complement would do as well.
draw_shuffle <- function(n_x, n_y, alike) {
    units <- sort(sample.int(n_x + n_y, n_x))
    if (alike && units[1L] != 1L) units <- setdiff(seq_len(n_x + n_y), units)
    units
}

# The same shuffles whichever sample is called x: where they are `turned`,
# those of y and x are drawn, and written as those of x and y.
draw_shuffles_in_order <- function(n_x, n_y, n_perm, alike, turned) {
    if (!turned) return(draw_shuffles(n_x, n_y, n_perm, alike))
    lapply(draw_shuffles(n_y, n_x, n_perm, alike), function(first) {
        rest <- setdiff(seq_len(n_x + n_y), first)
        sort(ifelse(rest > n_y, rest - n_y, rest + n_x))
    })
}

# Whether `x` comes after `y` in an order that does not depend on which is
# called what: the larger sample first, and of two equally large ones the one
# with the larger value where they first differ by more than rounding.
comes_second <- function(x, y) {
    if (nrow(x) != nrow(y)) return(nrow(x) < nrow(y))
    differ <- which(abs(x - y) > 1e-8 * (abs(x) + abs(y)))
    length(differ) > 0L && x[differ[1L]] < y[differ[1L]]
}

# Columns that do not depend on location and scale.
blind_columns <- function(sample) {
    columns <- scale(sample)
    replace(columns, !is.finite(columns), 0)
}

# ---- what is shuffled ------------------------------------------------------

# Both samples without their differences in location and scale: in each, the
# bulk of every variable has mean zero and variance one. With the mean and the
# variance of all values, a single outlier would shrink all other values of its
# sample. In the data a few rows would dominate a sample of shrunken values; in
# shuffles, where these values mix with those of the other sample, they would
# not.
align_samples <- function(x, y) align_bulks(list(bulk_of(x), bulk_of(y)))

# One sample in units of its own, and the bulk of each variable.
bulk_of <- function(sample) {
    values <- rust_standardize_alone(sample)
    list(values = values, bulk = measure_bulk(values))
}

align_bulks <- function(both) {
    names(both) <- c("x", "y")
    scale <- lapply(both, function(one) one$bulk["scale", ])
    # A variable with most values equal is left standardised by all of them.
    flat <- pmin(scale$x, scale$y) < 1e-8
    lapply(both, function(one) {
        one$bulk[, flat] <- c(0, 1)
        centred <- sweep(one$values, 2L, one$bulk["center", ])
        sweep(centred, 2L, one$bulk["scale", ], "/")
    })
}

# Mean and standard deviation of each column, with what lies beyond its 10 %
# and 90 % points moved there.
measure_bulk <- function(sample) {
    bulk <- apply(sample, 2L, function(values) {
        ends <- stats::quantile(values, c(0.1, 0.9), names = FALSE)
        values <- pmin(pmax(values, ends[1L]), ends[2L])
        c(mean(values), stats::sd(values))
    })
    rownames(bulk) <- c("center", "scale")
    bulk
}
