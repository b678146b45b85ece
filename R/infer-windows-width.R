# How long windows should be: the width that predicts best within the series.

# One width, as it was given, and the table of all that were tried. Several
# widths are compared by cross-validation in time.
choose_width <- function(parts, width, features) {
    if (length(width) < 2L) return(list(width = width, widths = NULL))
    values <- parts$x
    if (is_ranked(features)) values <- normal_scores(values)
    block <- max(2, dependence_length(scale(values)))
    score <- vapply(seq_along(width), function(k) {
        places <- lay_windows(parts, width[k], width[k])
        width_score(values, places, block)
    }, 1)
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

# The mean squared error of the correlations of a block, as predicted by those
# rows of its window that are not in the blocks next to it. NA where windows are
# too short to leave any.
width_score <- function(values, places, block) {
    errors <- unlist(lapply(places, function(rows) {
        unit <- cut_blocks(length(rows), block)
        if (max(unit) < 5L) return(NULL)
        vapply(seq_len(max(unit)), function(b) {
            block_error(values[rows[unit == b], , drop = FALSE],
                        values[rows[abs(unit - b) > 1], , drop = FALSE])
        }, 1)
    }))
    if (length(errors) == 0L) NA_real_ else mean(errors, na.rm = TRUE)
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
