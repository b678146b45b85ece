# Removes the effects of covariates. The residuals are uncorrelated and have one
# variance, as observations do, and are fewer by the number of coefficients.

# Both samples without the effects of covariates, which of their observations
# are left (`kept`), and how many each has lost.
take_off <- function(parts, read, rows) {
    refuse_text(parts$x)
    parts <- Map(function(part, name) {
        part <- as_numeric_matrix(part, name)
        check_finite(part, name)
        part
    }, parts[c("x", "y")], c("x", "y"))
    refuse_two_valued(parts)
    covariates <- lapply(rows, function(at) {
        read$covariates[at, , drop = FALSE]
    })
    attr(covariates, "term") <- attr(read$covariates, "term")
    stop_confounded(covariates, read$common, read$called[["adjust"]])
    done <- if (read$common) take_off_common(parts, covariates) else
        Map(blus_residuals, parts, covariates)
    kept <- lapply(done, `[[`, "kept")
    lost <- vapply(parts, nrow, 1L) - lengths(kept)
    if (min(lengths(kept)) < 4L) {
        stop_kliep(
            "design",
            paste0("`adjust` estimates ", lost[["x"]], " and ", lost[["y"]],
                   " coefficients from ", nrow(parts$x), " and ",
                   nrow(parts$y), " observations, and too few are left."),
            hint = "Adjust for less, or set `adjust_common = TRUE`."
        )
    }
    list(parts = lapply(done, `[[`, "values"), kept = kept, lost = lost)
}

# One regression for both samples, each with a mean of its own.
take_off_common <- function(parts, covariates) {
    n_x <- nrow(parts$x)
    of_x <- rep(c(1, 0), c(n_x, nrow(parts$y)))
    done <- blus_residuals(do.call(rbind, unname(parts)),
                           cbind(do.call(rbind, unname(covariates)), of_x))
    in_x <- done$kept <= n_x
    list(
        x = list(values = done$values[in_x, , drop = FALSE],
                 kept = done$kept[in_x]),
        y = list(values = done$values[!in_x, , drop = FALSE],
                 kept = done$kept[!in_x] - n_x)
    )
}

# Theil's residuals of a regression on the columns of `covariates`: k columns
# leave n - k of them, uncorrelated and with the variance of the errors, and of
# all such the nearest to these errors. Ordinary residuals are n, correlated,
# and too small. With Q an orthonormal basis of the columns, e the ordinary
# residuals, 0 the k rows that are left out and 1 the others, and Q_0 = A D B',
# they are e_1 - Q_1 B (1 + D)^-1 A' e_0. Left out are the rows that determine
# the coefficients best.
blus_residuals <- function(values, covariates) {
    basis <- qr(covariates)
    k <- basis$rank
    if (k >= nrow(values)) {
        return(list(values = values[0L, , drop = FALSE], kept = integer()))
    }
    q <- qr.Q(basis)[, seq_len(k), drop = FALSE]
    out <- qr(t(q), LAPACK = TRUE)$pivot[seq_len(k)]
    residuals <- values - q %*% crossprod(q, values)
    parts <- svd(q[out, , drop = FALSE])
    turned <- crossprod(parts$u, residuals[out, , drop = FALSE]) /
        (1 + parts$d)
    kept <- seq_len(nrow(values))[-out]
    list(values = residuals[kept, , drop = FALSE] -
             q[kept, , drop = FALSE] %*% (parts$v %*% turned),
         kept = kept)
}

# Factors and texts have no residuals.
refuse_text <- function(values) {
    if (!is.data.frame(values)) return(invisible())
    text <- vapply(values, function(column) {
        !is.numeric(column) && !is.logical(column)
    }, NA)
    if (!any(text)) return(invisible())
    stop_kliep(
        "design",
        paste0("`adjust` removes effects from numeric columns: ",
               name_some(names(values)[text]),
               if (sum(text) == 1L) " is not." else " are not."),
        hint = paste("`variables` chooses numeric columns; with columns of",
                     "several types `strata` compares conditions within",
                     "levels of a covariate.")
    )
}

refuse_two_valued <- function(parts) {
    two <- vapply(seq_len(ncol(parts$x)), function(u) {
        n_distinct(c(parts$x[, u], parts$y[, u])) <= 2L
    }, NA)
    if (!any(two)) return(invisible())
    names <- colnames(parts$x)
    if (is.null(names)) names <- paste0("V", seq_along(two))
    stop_kliep(
        "design",
        paste0("`adjust` removes effects from numeric columns: ",
               name_some(names[two]), if (sum(two) == 1L) " has" else " have",
               " two values."),
        hint = paste("For two-valued columns `strata` compares conditions",
                     "within levels of a covariate.")
    )
}

# A covariate that is constant within each condition and differs between them
# cannot be separated from the condition. If effects are common to both, neither
# can covariates that determine the condition.
stop_confounded <- function(covariates, common, called) {
    stacked <- do.call(rbind, unname(covariates))
    constant <- function(columns) {
        all(apply(columns, 2L, function(column) {
            max(column) - min(column) <= 1e-9 * max(1, abs(column))
        }))
    }
    term <- attr(covariates, "term")
    alone <- vapply(setdiff(unique(term), 0), function(one) {
        own <- lapply(covariates, function(part) {
            part[, term == one, drop = FALSE]
        })
        all(vapply(own, constant, NA))
    }, NA)
    of_x <- rep(c(1, 0), vapply(covariates, nrow, 1L))
    follows <- common && qr(cbind(stacked, of_x))$rank ==
        qr(stacked)$rank
    if (!any(alone) && !follows) return(invisible())
    stop_kliep(
        "design",
        paste0("The conditions are confounded with `adjust` (", called,
               "): ", if (follows) "these covariates determine" else
                   "a covariate determines", " the condition of an ",
               "observation."),
        hint = paste("No method can separate their effects: leave out the",
                     "covariate that determines the condition.")
    )
}
