# How long windows should be: the width that predicts best within the series.

# One width, as it was given, and the table of all that were tried. Several
# widths are compared by cross-validation in time, on the rows that windows of
# all of them reach.
choose_width <- function(parts, width, features) {
    if (length(width) < 2L) return(list(width = width, widths = NULL))
    values <- parts$x
    if (is_ranked(features)) values <- normal_scores(values)
    block <- max(2, dependence_length(scale(values)))
    errors <- vapply(seq_along(width), function(k) {
        places <- lay_windows(parts, width[k], width[k])
        row_errors(values, places, block)
    }, numeric(nrow(values)))
    score <- shared_score(errors)
    if (all(is.na(score))) {
        stop_kliep("window",
                   paste0("No `width` has windows of at least 5 blocks of ",
                          block, " observations: got ",
                          paste(format(width), collapse = ", "), "."),
                   hint = "Give longer ones, or a single `width`.")
    }
    best <- which.min(score)
    list(width = width[best],
         widths = data.frame(width = width, score = score,
                             chosen = seq_along(width) == best))
}

# The mean error of each width (column) over the rows that all have, but those
# widths that have none. Stretches differ in how well they can be predicted.
shared_score <- function(errors) {
    known <- !is.na(errors)
    some <- colSums(known) > 0
    shared <- which(rowSums(known[, some, drop = FALSE]) == sum(some))
    ifelse(some, colMeans(errors[shared, , drop = FALSE]), NA_real_)
}

# For every row the mean squared error of the correlations of its block, as
# predicted by those rows of its window that are not in the blocks next to it.
# NA where windows are too short to leave any, and outside of windows.
row_errors <- function(values, places, block) {
    errors <- rep(NA_real_, nrow(values))
    for (rows in places) {
        unit <- cut_blocks(length(rows), block)
        if (max(unit) < 5L) next
        for (b in seq_len(max(unit))) {
            errors[rows[unit == b]] <-
                block_error(values[rows[unit == b], , drop = FALSE],
                            values[rows[abs(unit - b) > 1], , drop = FALSE])
        }
    }
    errors
}

# Means and variances are predicted as well, so that a wide window does not gain
# by taking them from what it predicts.
block_error <- function(block, others) {
    center <- colMeans(others)
    spread <- apply(others, 2L, stats::sd)
    # What does not vary in a window has no correlations to predict.
    kept <- spread > 1e-8
    if (sum(kept) < 2L) return(NA_real_)
    scaled <- (block - rep(center, each = nrow(block))) /
        rep(spread, each = nrow(block))
    apart <- crossprod(scaled[, kept, drop = FALSE]) / nrow(block) -
        stats::cor(others[, kept, drop = FALSE])
    mean(apart[upper.tri(apart)]^2)
}
