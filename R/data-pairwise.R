# Moments over the observations where both variables are known, for features
# whose fits and tests need nothing but second moments.

# Whether a fit is to use what is known of every pair.
has_gaps <- function(samples) anyNA(samples$x) || anyNA(samples$y)

# Every pair of variables must be seen together in both samples.
least_pairs <- 10L

check_pairwise <- function(samples, features, least = least_pairs) {
    if (!has_gaps(samples)) return(invisible())
    if (!has_closed_form(features)) {
        stop_kliep(
            "missing",
            paste0("`na = \"pairwise\"` is for Gaussian and nonparanormal ",
                   "features: got ", name_features(features), "."),
            hint = paste("`na = \"impute\"` draws missing values from the",
                         "other variables, for all features.")
        )
    }
    for (part in c("x", "y")) {
        together <- crossprod(!is.na(samples[[part]]))
        if (min(together) >= least) next
        at <- which(together == min(together), arr.ind = TRUE)[1L, ]
        stop_kliep(
            "missing",
            paste0("`na = \"pairwise\"` needs ", least, " observations of ",
                   "every pair of variables: ",
                   name_some(unique(samples$variables[sort(at)])), " ",
                   if (at[1L] == at[2L]) "has " else "have ",
                   min(together), " in `", part, "`."),
            hint = "Leave one of them out, or use `na = \"impute\"`."
        )
    }
}

# Functions that look at whole observations need complete ones.
stop_gaps <- function(found, who) {
    if (!identical(found$na, "pairwise") && !has_gaps(found$samples)) {
        return(invisible())
    }
    stop_kliep(
        "missing",
        paste0("`", who, "()` needs complete observations: got na = ",
               "\"pairwise\"."),
        hint = paste("`kliep_infer()` tests edges beside missing values;",
                     "`na = \"omit\"` leaves observations out.")
    )
}

# ---- moments ---------------------------------------------------------------

# Second moments over the rows where both are known, and how many these are.
pairwise_moments <- function(values) {
    known <- !is.na(values)
    values[!known] <- 0
    n <- crossprod(known)
    list(moments = crossprod(values) / pmax(n, 1), n = n)
}

# A positive definite matrix close to this one: eigenvalues are at least a
# thousandth of the mean, and the diagonal stays. Moments of different rows need
# not be those of any data.
positive_definite <- function(moments, least = 1e-3) {
    parts <- eigen(moments, symmetric = TRUE)
    floor <- least * mean(diag(moments))
    if (min(parts$values) >= floor) return(moments)
    raised <- parts$vectors %*% (pmax(parts$values, floor) * t(parts$vectors))
    scale <- sqrt(diag(moments) / diag(raised))
    raised * outer(scale, scale)
}

# Mean zero and mean square one of what is known.
standardize_known <- function(values) {
    center <- colMeans(values, na.rm = TRUE)
    values <- sweep(values, 2L, center)
    square <- colMeans(values^2, na.rm = TRUE)
    sweep(values, 2L, sqrt(ifelse(square > 0, square, 1)), "/")
}

# As rust_standardize_samples() has it for complete columns.
known_scaling <- function(values) {
    sd <- apply(values, 2L, stats::sd, na.rm = TRUE)
    list(center = colMeans(values, na.rm = TRUE),
         scale = ifelse(sd > 0, sd, 1))
}

# Rows with exactly these moments and mean zero.
rows_with_moments <- function(moments, rows) {
    d <- ncol(moments)
    rows <- max(rows, d + 2L)
    basis <- qr.Q(qr(cbind(1, matrix(stats::rnorm(rows * d), rows))))
    sqrt(rows) * basis[, -1L, drop = FALSE] %*% chol(moments)
}

# ---- fits ------------------------------------------------------------------

# Both samples as their features see them, with gaps, and what standardised
# them.
pairwise_samples <- function(samples, features, standardize) {
    parts <- score_samples(samples, features, standardize)
    margins <- parts$margins
    parts <- parts[c("x", "y")]
    scaling <- lapply(parts, known_scaling)
    if (standardize == "pooled") scaling[] <- list(known_scaling(
        rbind(parts$x, parts$y)
    ))
    if (standardize == "none") scaling[] <- list(list(
        center = numeric(ncol(parts$x)), scale = rep(1, ncol(parts$x))
    ))
    parts <- Map(function(part, own) {
        z <- sweep(sweep(part, 2L, own$center), 2L, own$scale, "/")
        if (features$power == 1) z else sign(z) * abs(z)^features$power
    }, parts, scaling)
    c(parts, list(scaling = scaling, margins = margins))
}

# A path on the moments of all pairs. Any rows with these moments have the same
# Gaussian loss.
fit_pairwise <- function(samples, problem, settings, on_progress) {
    spec <- problem$spec
    if (spec$normalizer != "gaussian" || spec$robust > 0) {
        stop_kliep(
            "missing",
            paste("`na = \"pairwise\"` needs `normalizer = \"gaussian\"` and",
                  "`robust = 0`: other fits need complete observations."),
            hint = "`na = \"impute\"` completes them."
        )
    }
    ready <- pairwise_samples(samples, spec$features, spec$standardize)
    moments <- lapply(ready[c("x", "y")], function(part) {
        positive_definite(pairwise_moments(part)$moments)
    })
    rows <- lapply(moments, function(own) sqrt(ncol(own)) * chol(own))
    settings$standardize <- "none"
    fit <- rust_fit_path(rows$x, rows$y, rust_features(feat_gaussian()),
                         settings, on_progress)
    fit$center_x <- ready$scaling$x$center
    fit$scale_x <- ready$scaling$x$scale
    fit$center_y <- ready$scaling$y$center
    fit$scale_y <- ready$scaling$y$scale
    fit$margins <- ready$margins
    fit$effective_size <- NULL
    with_gaussian_level(fit, moments$y)
}

# The normaliser of the ratio under a Gaussian with these moments.
with_gaussian_level <- function(fit, moments) {
    d <- ncol(moments)
    fit$log_normalizer <- vapply(seq_along(fit$log_normalizer), function(step) {
        at <- which(fit$step == step)
        change <- matrix(0, d, d)
        change[cbind(fit$from, fit$to)[at, , drop = FALSE]] <- fit$value[at]
        change <- change + t(change)
        -determinant(diag(d) - moments %*% change)$modulus[[1L]] / 2
    }, 1)
    fit
}
