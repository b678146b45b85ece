# Divisions into folds that depend on the observations alone: not on a seed, and
# not on the order of rows.

# As draw_layout_folds(), `repeats` of them. Units of x and of y are divided by
# themselves; pairs as a whole.
fixed_divisions <- function(samples, layout, folds, repeats) {
    of_x <- layout$unit <= layout$n_x
    member <- if (layout$paired) layout$group[layout$unit] else layout$unit
    x <- unit_means(samples$x, member[of_x])
    y <- unit_means(samples$y, member[!of_x])
    places <- if (layout$paired) list(row_places(cbind(x, y))) else
        list(row_places(x), row_places(y))
    sizes <- lengths(places)
    numbers <- matrix(lehmer(sum(sizes) * repeats), ncol = repeats)
    lapply(seq_len(repeats), function(round) {
        # A number for each place, whoever has it.
        own <- split(numbers[, round], rep(seq_along(sizes), sizes))
        fold <- unlist(Map(function(own, place) {
            rep_len(seq_len(folds), length(own))[rank(own)][place]
        }, own, places), use.names = FALSE)[member]
        list(x = fold[of_x], y = fold[!of_x], folds = folds)
    })
}

# A row for each unit; gaps count as nothing.
unit_means <- function(values, unit) {
    sums <- rowsum(replace(values, is.na(values), 0), unit)
    unname(sums / as.vector(rowsum(rep(1, length(unit)), unit)))
}

# Places of rows in the order of their first column, then their second, ...
# Equal rows may change places.
row_places <- function(values) {
    order(do.call(order, unname(as.list(as.data.frame(values)))))
}

# The "minimal standard" random numbers (Park and Miller, 1988), exact in
# doubles: R's own are for users to seed.
lehmer <- function(n, state = 1) {
    modulus <- 2^31 - 1
    values <- numeric(n)
    # The first few numbers are small, and are skipped.
    for (k in seq_len(n + 20L)) {
        state <- (16807 * state) %% modulus
        if (k > 20L) values[k - 20L] <- state
    }
    values / modulus
}
