# What the methods that kliep_path() is compared with have in common: samples
# and grid in, a change_path out. Each has a file of its own.

# What each method is called in print(), and what selection needs of it: `fit`
# takes the samples, `lambda2` and the `$arguments` of a path; `holl` (hold-out
# log-likelihood) scores a path on further samples, under the name `score`.
baseline_methods <- function() {
    list(
        moment = list(
            title = "difference of second moments, thresholded",
            penalty = "lambda2 is the threshold",
            fit = moment_path, holl = moment_holl,
            score = "minus half the squared distance"
        ),
        glasso = list(
            title = "two graphical lassos and their difference",
            penalty = "lambda2 |Theta_P|_1 + lambda2 |Theta_Q|_1",
            fit = glasso_path, holl = glasso_holl,
            score = "log-likelihood"
        ),
        flasso = list(
            title = "fused-lasso regressions of every variable on the others",
            penalty = paste("lambda2 |b_P - b_Q|_1 +",
                            "lambda1 (|b_P|_1 + |b_Q|_1)"),
            fit = flasso_path, holl = flasso_holl,
            score = "conditional log-likelihood"
        ),
        dtrace = list(
            title = "difference of precision matrices by the D-trace loss",
            penalty = "lambda2 |D|_1",
            fit = dtrace_path, holl = dtrace_holl,
            score = "minus the D-trace loss"
        ),
        is_glasso = list(
            title = "two likelihoods by importance sampling",
            penalty = paste("lambda2 |theta|, factor by factor, and",
                            "lambda1 / 2 |theta|^2 of both networks"),
            fit = is_glasso_path, holl = importance_holl,
            score = "log-likelihood"
        ),
        is_flasso = list(
            title = "a joint likelihood by importance sampling",
            penalty = paste("lambda2 |theta_P - theta_Q|, factor by factor,",
                            "and lambda1 / 2 |theta|^2 of both"),
            fit = is_flasso_path, holl = importance_holl,
            score = "log-likelihood"
        )
    )
}

is_baseline <- function(object) object$method != "kliep"

# The same fit to other samples, over the same grid unless specified.
refit_baseline <- function(path, x, y, lambda2 = path$lambda2) {
    method <- baseline_methods()[[path$method]]
    do.call(method$fit, c(list(x, y, lambda2 = lambda2), path$arguments),
            quote = TRUE)
}

# What else a path has for each step, at one of them: rows of a table, one row
# of another, one column of a matrix.
baseline_at <- function(path, steps) {
    for (part in intersect(c("networks", "regressions"), names(path))) {
        path[[part]] <- rows_at(path[[part]], steps)
    }
    for (part in intersect(c("log_normalizers", "effective_size"),
                           names(path))) {
        path[[part]] <- path[[part]][steps, ]
        rownames(path[[part]]) <- NULL
    }
    if (!is.null(path$variances)) {
        path$variances <- lapply(path$variances, function(values) {
            values[, steps, drop = FALSE]
        })
    }
    path
}

format_baseline <- function(x) {
    method <- baseline_methods()[[x$method]]
    shown <- Filter(Negate(is.null), c(
        list(standardize = x$spec$standardize), x$shown
    ))
    values <- vapply(shown, function(value) {
        if (is.numeric(value)) format(value, digits = 4L) else
            as.character(value)
    }, "")
    text <- ifelse(vapply(shown, is.numeric, NA),
                   paste(names(shown), "=", values),
                   paste(names(shown), values))
    c(
        paste0("  method     ", x$method, ": ", method$title),
        paste0("  penalty    ", method$penalty),
        paste0("  fit        ", paste(text, collapse = ", "))
    )
}

# ---- samples ---------------------------------------------------------------

# Both samples, standardised. `center = "own"` takes the means of each sample
# whatever `standardize` says, as covariances do; "standardize" leaves that to
# `standardize`, as kliep_path() does.
baseline_samples <- function(x, y, standardize, center = "own",
                             features = feat_gaussian()) {
    samples <- check_samples(x, y, least = 3L)
    samples <- score_samples(samples, features, standardize)
    check_constant(samples, standardize)
    if (center == "own") check_moments_memory(length(samples$variables), 6)
    standard <- rust_standardize_samples(samples$x, samples$y, standardize)
    first <- seq_len(nrow(samples$x))
    parts <- list(x = standard$stack[first, , drop = FALSE],
                  y = standard$stack[-first, , drop = FALSE])
    samples$center <- list(x = standard$center_x, y = standard$center_y)
    samples$scale <- list(x = standard$scale_x, y = standard$scale_y)
    for (part in c("x", "y")) {
        mean <- if (center == "own") colMeans(parts[[part]]) else 0
        samples[[part]] <- sweep(parts[[part]], 2L, mean)
        samples$center[[part]] <- samples$center[[part]] +
            samples$scale[[part]] * mean
    }
    samples
}

# So many matrices of all pairs of variables.
check_moments_memory <- function(d, copies) {
    check_memory(moments_bytes(d, copies),
                 paste("Second moments of", count_of(d, "variable")),
                 hint = paste("Use fewer variables, or `kliep_path()`, which",
                              "keeps no matrix of all pairs."))
}

moments_bytes <- function(d, copies) 8 * copies * d^2

# Products of columns over a divisor: covariances of centred samples.
sample_moments <- function(samples, divisor, standardize) {
    check_moments_memory(length(samples$variables), 6)
    moments <- lapply(samples[c("x", "y")], function(sample) {
        unname(crossprod(sample)) / divisor(nrow(sample))
    })
    if (!all(is.finite(unlist(moments)))) {
        stop_overflow(rbind(samples$x, samples$y), samples$variables,
                      standardize)
    }
    moments
}

# New observations, already checked, standardised as those of the fit.
holdout_samples <- function(path, newx, newy) {
    prepare <- function(newdata, part) {
        newdata <- score_newdata(newdata, path$margins[[part]])
        sweep(sweep(newdata, 2L, path$center[[part]]), 2L,
              path$scale[[part]], "/")
    }
    list(x = prepare(newx, "x"), y = prepare(newy, "y"))
}

# ---- grid ------------------------------------------------------------------

# What was asked for, checked; grid_values() makes the grid of it.
check_grid <- function(lambda2, nlambda, lambda_min_ratio) {
    list(
        lambda2 = check_lambda2(lambda2),
        nlambda = check_nlambda(nlambda),
        lambda_min_ratio = if (!is.null(lambda_min_ratio))
            check_fraction(lambda_min_ratio, "lambda_min_ratio", "lambda")
    )
}

# The values given, or `nlambda` of them down from `lambda_max`.
grid_values <- function(grid, samples, lambda_max) {
    if (!is.null(grid$lambda2)) return(grid$lambda2)
    lambda_max * exp(seq(0, log(grid_ratio(grid, samples)),
                         length.out = grid$nlambda))
}

grid_ratio <- function(grid, samples, features = feat_gaussian()) {
    check_lambda_min_ratio(
        grid$lambda_min_ratio,
        n_factors_of(features, length(samples$variables)),
        c(nrow(samples$x), nrow(samples$y))
    )
}

# The same for a solver that finds lambda_max itself.
rust_grid <- function(grid, samples, features = feat_gaussian()) {
    list(lambda2 = grid$lambda2, nlambda = grid$nlambda,
         lambda_min_ratio = grid_ratio(grid, samples, features))
}

# Sums round differently by the way they are made; at lambda_max nothing may
# be detected by any of them.
round_up <- function(lambda_max) {
    # Equal samples have a lambda_max of zero, and a grid needs a start.
    max(lambda_max, .Machine$double.eps) * (1 + 64 * .Machine$double.eps)
}

# ---- path ------------------------------------------------------------------

# A change_path from a `fit`: its `lambda_max`, one row of `diagnostics` for
# each step, the non-zero `coefficients`, and `features` where these are not
# known before. Columns of `diagnostics` that a method does not have are NA.
# `arguments` are those of the method, with which it can be fitted again.
baseline_path <- function(method, fit, samples, arguments, call,
                          solver = method, shown = list(), extra = list()) {
    steps <- nrow(fit$diagnostics)
    counted <- fit$coefficients$step[!duplicated(pair_keys(fit$coefficients))]
    parts <- c(fit$diagnostics, fit$coefficients, list(
        n_detected = tabulate(counted, steps),
        lambda_max = fit$lambda_max,
        center_x = samples$center$x, center_y = samples$center$y,
        scale_x = samples$scale$x, scale_y = samples$scale$y
    ), samples[intersect("margins", names(samples))],
    fit[intersect("recurrence", names(fit))])
    features <- if (is.null(fit$features)) feat_gaussian() else fit$features
    new_change_path(
        parts, list(features = features, lambda1 = arguments$lambda1,
                    standardize = arguments$standardize, solver = solver,
                    control = arguments$control),
        list(method = method, variables = samples$variables),
        observations_of(samples), call,
        extra = c(list(shown = shown, arguments = arguments), extra)
    )
}

# The columns of `diagnostics` that a solver in Rust reports; not all have a
# gap.
rust_diagnostics <- function(fit) {
    columns <- c("lambda2", "objective", "gap", "kkt", "iterations", "status",
                 "seconds")
    if (is.null(fit$gap)) fit$gap <- rep(NA_real_, length(fit$lambda2))
    as.data.frame(fit[columns])
}

# Coefficients of one step from a symmetric matrix. In a difference of
# precision matrices half of the diagonal is the coefficient of x_u^2.
matrix_coefficients <- function(change, step, diagonal = 1 / 2) {
    at <- which(change != 0 & upper.tri(change, diag = TRUE), arr.ind = TRUE)
    value <- change[at]
    single <- at[, 1L] == at[, 2L]
    value[single] <- value[single] * diagonal
    data.frame(step = rep(step, nrow(at)), from = unname(at[, 1L]),
               to = unname(at[, 2L]), term = rep(1L, nrow(at)), value = value)
}

# ---- scores on further samples ---------------------------------------------

# Means over observations of both samples, with their standard error. `terms`
# gives, for a step, the list of what is averaged over `x` and over `y`, and
# a `constant` to add.
average_terms <- function(path, terms) {
    scores <- data.frame(score = rep(NA_real_, length(path$lambda2)),
                         se = NA_real_, kl = NA_real_)
    for (step in reliable_steps(path$diagnostics$status)) {
        at <- terms(step)
        parts <- list(at$x, at$y)
        scores$score[step] <- at$constant + sum(vapply(parts, mean, 0))
        scores$se[step] <- sqrt(sum(vapply(parts, function(values) {
            stats::var(values) / length(values)
        }, 0)))
    }
    scores
}

# The change of a step as a dense symmetric matrix D with
# theta'f(z) = z'Dz / 2 for Gaussian features.
change_matrix <- function(path, step) {
    change <- as.matrix(coef(path, path$lambda2[step]))
    diag(change) <- 2 * diag(change)
    unname(change)
}

# ---- what only a density ratio has -----------------------------------------

stop_no_ratio <- function(path, fun = "predict") {
    method <- baseline_methods()[[path$method]]
    stop_kliep(
        "method",
        paste0("`", fun, "()` needs a fitted density ratio: `", path$method,
               "_path()` has none (", method$title, ")."),
        hint = "Fit the ratio with `kliep_path()` or `kliep_change()`."
    )
}
