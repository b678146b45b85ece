# Multiple imputation: missing values are drawn several times, given the other
# variables of the same observation. The spread between the draws shows how
# uncertain they are.

# How often missing values are drawn.
n_imputations <- 5L

# Both samples completed, `n_imputations` times: the first as the samples, all
# of them as `imputed`.
impute_draws <- function(parts, missing) {
    drawn <- lapply(seq_len(n_imputations), function(k) {
        Map(impute_once, parts[c("x", "y")], missing[c("x", "y")], c("x", "y"))
    })
    counts <- vapply(missing, sum, 1L)
    inform_kliep("imputed", paste0(
        count_of(sum(counts), "missing value"), " (", counts[["x"]],
        " in `x`, ", counts[["y"]], " in `y`) drawn ", n_imputations,
        " times from the other variables of the same condition."
    ))
    c(drawn[[1L]], list(imputed = drawn))
}

# One sample completed. The covariances are those of a bootstrap sample of its
# rows: those of the sample itself would be treated as known.
impute_once <- function(sample, missing, arg) {
    if (!any(missing)) return(sample)
    blocks <- impute_blocks(sample, missing, arg)
    scores <- do.call(cbind, lapply(blocks, `[[`, "scores"))
    owner <- rep(seq_along(blocks), vapply(blocks, function(block) {
        ncol(block$scores)
    }, 1L))
    rows <- sample.int(nrow(scores), replace = TRUE)
    precision <- shrunken_precision(scores[rows, , drop = FALSE])
    drawn <- lapply(blocks, function(block) rep(NA, nrow(scores)))
    for (row in which(rowSums(missing) > 0)) {
        open <- which(missing[row, ])
        z <- scores[row, ]
        for (at in open) {
            own <- draw_block(z, owner %in% at, precision, blocks[[at]])
            z[owner == at] <- own$scores
            drawn[[at]][row] <- own$value
        }
    }
    for (at in which(colSums(missing) > 0)) {
        gaps <- missing[, at]
        values <- block_values(blocks[[at]], drawn[[at]][gaps])
        if (is.data.frame(sample)) {
            sample[[at]][gaps] <- values
        } else {
            sample[gaps, at] <- values
        }
    }
    sample
}

# What stands for the values of every column: its normal score, or the
# indicators of its values, centred and divided by the root of their shares.
impute_blocks <- function(sample, missing, arg) {
    lapply(seq_len(ncol(sample)), function(at) {
        column <- if (is.data.frame(sample)) sample[[at]] else sample[, at]
        known <- column[!missing[, at]]
        if (length(known) < 2L) {
            name <- colnames(sample)[at]
            stop_kliep(
                "missing",
                paste0("Column `", if (is.null(name)) at else name, "` of `",
                       arg, "` has ", count_of(length(known), "value"),
                       " that is not missing: at least 2 are needed."),
                hint = "Leave the variable out."
            )
        }
        values <- known_values(known, NULL)
        if (is.numeric(column) && length(values) > most_scores) {
            scores <- rep(NA_real_, length(column))
            scores[!missing[, at]] <- known_scores(known)
            return(list(scores = cbind(scores), known = sort(known)))
        }
        indicator_block(column, values)
    })
}

# Normal scores of the values that are there.
known_scores <- function(known) {
    drop(normal_scores(matrix(as.double(known))))
}

indicator_block <- function(column, values) {
    code <- match(as.character(column), as.character(values))
    share <- tabulate(code, length(values)) / sum(!is.na(code))
    used <- which(share > 0)
    scores <- outer(code, used, "==") - rep(share[used], each = length(code))
    list(scores = scores / rep(sqrt(share[used]), each = length(code)),
         values = values[used], share = share[used])
}

# The inverse of the correlations of what is known, which are moved towards zero
# by as much as their errors call for (Schaefer and Strimmer, 2005).
shrunken_precision <- function(scores) {
    moments <- pairwise_moments(standardize_known(scores))
    r <- moments$moments
    off <- row(r) != col(r)
    error <- ((1 - pmin(1, r^2))^2 / pmax(1, moments$n - 1))[off]
    share <- min(1, max(0.01, sum(error) / max(sum(r[off]^2), 1e-12)))
    shrunken <- positive_definite((1 - share) * r + share * diag(ncol(r)))
    chol2inv(chol(shrunken))
}

# One value of the columns `own`, given those of `z` that are known: its scores,
# and a score or the number of a level.
draw_block <- function(z, own, precision, block) {
    open <- is.na(z)
    spread <- solve(precision[open, open, drop = FALSE])
    mean <- -spread %*% (precision[open, !open, drop = FALSE] %*% z[!open])
    at <- own[open]
    if (is.null(block$share)) {
        value <- mean[at] + sqrt(spread[at, at]) * stats::rnorm(1L)
        return(list(scores = value, value = value))
    }
    chance <- pmax(block$share + sqrt(block$share) * mean[at], 0)
    if (sum(chance) <= 0) chance <- block$share
    value <- sample.int(length(chance), 1L, prob = chance)
    hit <- seq_along(chance) == value
    list(scores = (hit - block$share) / sqrt(block$share), value = value)
}

# Scores as quantiles of the values that are there, levels as values.
block_values <- function(block, drawn) {
    if (!is.null(block$share)) return(block$values[drawn])
    stats::quantile(block$known, stats::pnorm(drawn), names = FALSE,
                    type = 1L)
}
