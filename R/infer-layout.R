# How a design lets observations change places: in units that move as a whole,
# within groups of units. A pair is a group of two units, one of each sample; a
# stratum is a larger group.

# For `n_x` and `n_y` observations: `unit`, that of every observation, those of
# x first and numbered first; `n_x` and `n_y`, how many units there are;
# `group`, the group of every unit, NULL where all are one; `paired`; and
# `added`, the numbers of what is added up before it is squared, in x and y.
design_layout <- function(design, n_x, n_y) {
    number <- function(labels) match(labels, unique(labels))
    of <- design$pair
    if (is.null(of)) of <- design$unit
    unit <- if (is.null(of)) list(x = seq_len(n_x), y = seq_len(n_y)) else
        lapply(of[c("x", "y")], number)
    units <- c(x = max(unit$x), y = max(unit$y))
    grouped <- if (is.null(design$pair)) design$strata else design$pair
    list(
        unit = c(unit$x, units[["x"]] + unit$y),
        n_x = units[["x"]], n_y = units[["y"]],
        group = if (!is.null(grouped)) number(c(
            grouped$x[!duplicated(unit$x)], grouped$y[!duplicated(unit$y)]
        )),
        paired = !is.null(design$pair),
        added = if (!is.null(of)) {
            both <- number(c(of$x, of$y))
            list(x = both[seq_len(n_x)], y = both[-seq_len(n_x)])
        }
    )
}

layout_of <- function(samples) {
    design_layout(samples$design, nrow(samples$x), nrow(samples$y))
}

# The samples and their design in the other order.
turn_samples <- function(samples) {
    samples[c("x", "y")] <- samples[c("y", "x")]
    samples$design <- turn_design(samples$design)
    samples
}

turn_design <- function(design) {
    lapply(design, function(part) {
        if (is.null(part$x)) return(part)
        replace(part, c("x", "y"), part[c("y", "x")])
    })
}

# ---- shuffles --------------------------------------------------------------

# As count_shuffles(), draw_shuffles_in_order() and check_n_perm(), for units
# that stay in their group.
count_layout_shuffles <- function(layout, alike) {
    if (is.null(layout$group)) {
        return(count_shuffles(layout$n_x, layout$n_y, alike))
    }
    sizes <- tabulate(layout$group)
    of_x <- tabulate(layout$group[seq_len(layout$n_x)], length(sizes))
    ways <- prod(choose(sizes, of_x))
    if (alike && all(2 * of_x == sizes)) ways <- ways / 2
    ways - 1
}

check_layout_n_perm <- function(n_perm, layout, alike) {
    if (is.null(layout$group)) {
        return(check_n_perm(n_perm, layout$n_x, layout$n_y, alike))
    }
    n_perm <- check_whole(n_perm, "n_perm", "n_perm")
    check_replicates_memory(n_perm, layout$n_x, "n_perm")
    most <- count_layout_shuffles(layout, alike)
    if (n_perm <= most) return(n_perm)
    stop_kliep(
        "n_perm",
        paste0("There are only ", format(most, big.mark = ","),
               " ways to shuffle within ",
               if (layout$paired) count_of(max(layout$group), "pair") else
                   count_of(max(layout$group), "stratum", "strata"),
               ": got n_perm = ", format(n_perm, big.mark = ","), "."),
        hint = paste0("Set `n_perm = ", format(most), "`",
                      if (most < 19) ", or collect more", ".")
    )
}

draw_layout_shuffles <- function(layout, n_perm, alike, turned = FALSE) {
    n_x <- layout$n_x
    n_y <- layout$n_y
    if (is.null(layout$group)) {
        return(draw_shuffles_in_order(n_x, n_y, n_perm, alike, turned))
    }
    if (!turned) return(draw_grouped(layout, n_perm, alike))
    all <- seq_len(n_x + n_y)
    group <- layout$group[c(all[-seq_len(n_x)], seq_len(n_x))]
    # Units are numbered in the order in which they come, also if the samples
    # are exchanged.
    other <- list(n_x = n_y, n_y = n_x, group = match(group, unique(group)))
    lapply(draw_grouped(other, n_perm, alike), function(first) {
        rest <- setdiff(all, first)
        sort(ifelse(rest > n_y, rest - n_y, rest + n_x))
    })
}

# Different sets of units for x, as many of each group as x has.
draw_grouped <- function(layout, n_perm, alike) {
    members <- split(seq_along(layout$group), layout$group)
    of_x <- tabulate(layout$group[seq_len(layout$n_x)], length(members))
    # If the complement is the same division, the one with the first unit is
    # taken.
    either <- alike && all(2 * of_x == lengths(members))
    draw <- function() {
        units <- unlist(Map(function(own, size) {
            own[sample.int(length(own), size)]
        }, members, of_x))
        if (either && !1L %in% units) {
            units <- setdiff(seq_along(layout$group), units)
        }
        sort(unname(units))
    }
    drawn <- list(seq_len(layout$n_x))
    while (length(drawn) <= n_perm) {
        missing <- n_perm + 1 - length(drawn)
        drawn <- unique(c(drawn, replicate(missing, draw(), simplify = FALSE)))
    }
    drawn[-1L]
}

# The observations that become x, one column for each shuffle; units differ in
# size, and so may shuffles: the smaller end in zeros.
shuffled_rows <- function(layout, shuffles) {
    rows <- lapply(shuffles, function(shuffle) {
        which(layout$unit %in% shuffle)
    })
    most <- max(lengths(rows))
    matrix(vapply(rows, function(row) c(row, integer(most - length(row))),
                  integer(most)), most)
}

# ---- folds and halves ------------------------------------------------------

# Folds of whole units, as draw_folds() makes them.
draw_layout_folds <- function(layout, folds) {
    of_x <- layout$unit <= layout$n_x
    if (layout$paired) return(draw_pair_folds(layout, of_x, folds))
    parts <- draw_folds(layout$n_x, layout$n_y, folds)
    fold <- c(parts$x, parts$y)[layout$unit]
    list(x = fold[of_x], y = fold[!of_x], folds = parts$folds)
}

# Folds of all units, as many as asked for if there are enough of them.
check_layout_folds <- function(layout, folds) {
    check_folds(folds, layout$n_x, layout$n_y,
                if (layout$paired) "pairs" else "observations")
}

# Both sides of a pair are in the same fold.
draw_pair_folds <- function(layout, at_x, folds) {
    folds <- check_folds(folds, layout$n_x, layout$n_y, "pairs")
    fold <- sample(rep_len(seq_len(folds), layout$n_x))
    fold <- fold[layout$group[layout$unit]]
    list(x = fold[at_x], y = fold[!at_x], folds = folds)
}

# Two halves of the units of each sample, as rows of it: those of a pair go to
# the same half, and each stratum is divided.
draw_layout_halves <- function(layout) {
    half <- if (layout$paired) {
        halve(max(layout$group))[layout$group]
    } else {
        sample <- rep(1:2, c(layout$n_x, layout$n_y))
        group <- if (is.null(layout$group)) 1L else layout$group
        both <- interaction(group, sample, drop = TRUE)
        unsplit(lapply(split(seq_along(both), both), function(units) {
            halve(length(units))
        }), both)
    }
    half <- half[layout$unit]
    of_x <- layout$unit <= layout$n_x
    lapply(list(x = half[of_x], y = half[!of_x]), function(own) {
        lapply(1:2, function(side) which(own == side))
    })
}

# 1 or 2 for each of `n`; of an odd number one has 0, and is left out.
halve <- function(n) {
    rows <- draw_halves(n)
    replace(replace(integer(n), rows[[1L]], 1L), rows[[2L]], 2L)
}
