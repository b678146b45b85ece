# A problem is a specification that knows its variables: what is fitted to one
# set of observations after another, here in Rust.

# A path, from what users give. It ends at the step at which `most_edges` have
# been detected, if `most_edges` is given.
fit_spec <- function(spec, found, progress, call, most_edges = NULL) {
    samples <- as_samples(found, spec$features)
    notice_samples(found, samples, spec$features)
    problem <- new_problem(spec, samples)
    problem$most_edges <- most_edges
    path <- fit_problem(problem, samples, call,
                        if (progress) progress_bar("Fitting the path"))
    with_samples(path, samples, found$conditions)
}

# A specification that knows its variables, and can be fitted to any
# observations of them.
new_problem <- function(spec, samples) {
    spec$features <- with_columns(spec$features, samples$coding)
    list(method = "kliep", spec = settle_spec(spec, samples$variables),
         variables = samples$variables, coding = samples$coding)
}

# `samples` has the observations of `x` and `y`, which have been checked.
fit_problem <- function(problem, samples, call = NULL, on_progress = NULL) {
    spec <- problem$spec
    fit <- tryCatch(
        fit_in_rust(problem, samples, on_progress),
        kliep_error_overflow = function(condition) {
            stop_overflow(rbind(samples$x, samples$y), problem$variables,
                          spec$standardize)
        }
    )
    if (!is.null(fit$features)) spec$features <- fit$features
    new_change_path(fit, spec, problem, observations_of(samples), call)
}

fit_in_rust <- function(problem, samples, on_progress) {
    spec <- problem$spec
    if (has_gaps(samples)) {
        return(fit_pairwise(samples, problem,
                            problem_settings(problem, samples), on_progress))
    }
    samples <- score_samples(samples, spec$features, spec$standardize)
    check_observations(problem, samples)
    settings <- problem_settings(problem, samples)
    if (is_table(spec$features)) {
        return(fit_table(samples, problem, settings, on_progress))
    }
    fit <- rust_fit_path(samples$x, samples$y, rust_features(spec$features),
                         settings, on_progress)
    fit$margins <- samples$margins
    fit
}

problem_settings <- function(problem, samples) {
    spec <- problem$spec
    n_factors <- n_factors_of(spec$features, length(problem$variables))
    groups <- block_numbers(spec$penalty_groups, problem$variables)
    settings <- c(rust_settings(spec, n_factors, observations_of(samples)),
                  list(penalty_groups = groups))
    settings["most_edges"] <- list(problem$most_edges)
    settings
}

observations_of <- function(samples) {
    c(x = nrow(samples$x), y = nrow(samples$y))
}

# What depends on the observations, and not on their shape alone.
check_observations <- function(problem, samples) {
    spec <- problem$spec
    samples$variables <- problem$variables
    check_constant(scaled_part(samples, spec$features), spec$standardize,
                   none = !is_ranked(spec$features))
    check_regular(samples, spec)
    check_features_memory(spec$features, samples, spec$direction)
    if (spec$normalizer == "gaussian") {
        check_moments_memory(length(problem$variables), 6)
    }
}

# Features that R functions compute need the standardised samples before the
# fit, which then has nothing left to standardise.
fit_table <- function(samples, problem, settings, on_progress) {
    features <- problem$spec$features
    standard <- standard_samples(samples, features, settings$standardize)
    table <- feature_table(features, standard$stack, problem$variables,
                           scored_rows(observations_of(samples),
                                       settings$direction))
    settings$standardize <- "none"
    settings$penalty_factor <- penalty_by_factor(
        settings$penalty_factor, features, length(problem$variables)
    )
    if (is_mixed(features)) {
        settings$penalty_factor <- settings$penalty_factor *
            mixed_weights(table$sizes, length(problem$variables))
    }
    fit <- rust_fit_path(
        samples$x, samples$y,
        list(kind = "table", values = table$values, sizes = table$sizes),
        settings, on_progress
    )
    scaling <- c("center_x", "scale_x", "center_y", "scale_y")
    fit[scaling] <- standard[scaling]
    fit$margins <- samples$margins
    if (features$kind != "cliques") {
        fit[c("from", "to")] <- factor_pairs(fit$from)
    }
    c(fit, list(features = table$features))
}

# Both samples one below the other, and what standardised them.
standard_samples <- function(samples, features, standardize) {
    if (is_mixed(features)) {
        return(mixed_stack(samples, features$columns, standardize))
    }
    rust_standardize_samples(samples$x, samples$y, standardize)
}

# Rows of the samples that have weights in the loss.
scored_rows <- function(n, direction) {
    switch(direction, "p/q" = n[["y"]], "q/p" = n[["x"]], symmetric = sum(n))
}

# Radial functions are kept for all pairs while a fit is at work, and powers of
# all columns, as they are and packed for products.
check_features_memory <- function(features, samples, direction) {
    d <- length(samples$variables)
    n <- observations_of(samples)
    if (features$kind == "rbf") {
        check_memory(8 * scored_rows(n, direction) * d * (d - 1) / 2,
                     paste("Radial features of", count_of(d, "variable")))
    } else if (features$kind == "products") {
        degree <- max(features$pair, features$single)
        check_memory(16 * sum(n) * d * degree,
                     paste0("Powers of ", count_of(d, "variable"), " up to ",
                            degree),
                     hint = "Use features of a lower degree.")
    }
}

# One number for each factor from c(single, edge).
penalty_by_factor <- function(penalty, features, d) {
    if (features$kind == "cliques" || !identical(names(penalty),
                                                 c("single", "edge"))) {
        return(penalty)
    }
    by_factor <- rep(penalty[["edge"]], d * (d + 1) / 2)
    by_factor[cumsum(seq_len(d))] <- penalty[["single"]]
    by_factor
}

# A function that makes a bar of a name where progress is wanted, for work of
# several steps. A bar ends with the function that asked for it.
progress_bars <- function(progress, frame = parent.frame()) {
    force(frame)
    function(name) if (progress) progress_bar(name, frame)
}

# A function of (done, total) that draws a bar; `shield_progress()` sees to it
# that nothing it throws reaches the fit.
progress_bar <- function(name, frame = parent.frame()) {
    bar <- NULL
    function(done, total) {
        if (is.null(bar)) {
            bar <<- cli::cli_progress_bar(name, total = total, .envir = frame)
        }
        cli::cli_progress_update(set = done, id = bar, .envir = frame)
    }
}
