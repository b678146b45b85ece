# Several fits of one problem in one call of Rust: folds, halves, shuffles. What
# comes back is what a choice or a count needs, and not a path for users.

# The paths of a problem on each of `divided`, a list of samples. A path may end
# where `most_edges` have been detected, and is whole where Rust does not know
# which factors are edges. Each has the parts that edges are read from.
refit_many <- function(problem, divided, lambda2 = problem$spec$lambda2,
                       nlambda = problem$spec$nlambda, most_edges = NULL) {
    if (!fits_many(problem, divided)) {
        return(lapply(divided, function(samples) {
            refit(problem, samples, lambda2, nlambda)
        }))
    }
    problem <- with_grid(problem, lambda2, nlambda)
    ready <- lapply(divided, prepare_samples, problem = problem)
    settings <- lapply(ready, function(samples) {
        settings <- problem_settings(problem, samples)
        settings["most_edges"] <- list(most_edges)
        settings
    })
    fits <- rust_fit_paths(ready, rust_features(problem$spec$features),
                           settings)
    Map(function(fit, samples) {
        read_fit(problem, fit, samples[c("x", "y")], function(fit) {
            short_path(fit, problem)
        })
    }, fits, ready)
}

short_path <- function(fit, problem) {
    entries <- fit[c("step", "from", "to", "term", "value")]
    list(lambda2 = fit$lambda2, lambda_max = fit$lambda_max,
         coefficients = quick_frame(entries),
         diagnostics = list(status = fit$status), spec = problem$spec,
         variables = problem$variables)
}

# Fit to some observations, `x` and `y` of each of `divided`, and score others,
# `new_x` and `new_y`, as holdout_scores() would: one row for each lambda2,
# though the path may end sooner. What Rust can do by itself it does without
# handing over coefficients, which takes as long as a small fit. `naming(at, )`
# says in errors which of `divided` they are about. With `most_fall` these are
# folds, and there may be no rows after the one at which end_scores() ends their
# mean.
refit_scores <- function(problem, divided, lambda2,
                         naming = function(at, work) work, most_fall = NULL) {
    each <- seq_along(divided)
    if (!fits_many(problem, divided)) {
        return(lapply(each, function(at) {
            naming(at, refit_score(problem, divided[[at]], lambda2))
        }))
    }
    ready <- lapply(each, function(at) {
        naming(at, prepare_samples(divided[[at]], problem))
    })
    settings <- lapply(ready, problem_settings,
                       problem = with_grid(problem, lambda2, length(lambda2)))
    scored <- rust_score_paths(
        ready, rust_features(problem$spec$features), settings,
        if (fits_in_step(problem, length(divided))) most_fall
    )
    lapply(each, function(at) {
        naming(at, read_fit(problem, scored[[at]], ready[[at]], function(one) {
            read_scores(problem, one, length(lambda2))
        }))
    })
}

refit_score <- function(problem, samples, lambda2) {
    path <- refit(problem, samples, lambda2)
    scores <- path_scores(path, samples$new_x, samples$new_y, problem$score)
    scores[seq_along(lambda2), ]
}

# Features that R computes, other methods, and samples with gaps are fitted one
# after the other.
fits_many <- function(problem, divided = list()) {
    !is_baseline(problem) && !is_table(problem$spec$features) &&
        !anyNA(divided, recursive = TRUE)
}

# Folds that go down the grid together are all in memory at once.
fits_in_step <- function(problem, folds) {
    d <- length(problem$variables)
    problem$spec$normalizer != "gaussian" ||
        fits_memory(folds * moments_bytes(d, 6))
}

# The matrices as Rust takes them: `x` and `y`, and what is to be scored.
prepare_samples <- function(samples, problem) {
    spec <- problem$spec
    ready <- score_samples(samples[c("x", "y")], spec$features,
                           spec$standardize)
    check_observations(problem, ready)
    if (is.null(samples$new_x)) return(ready[c("x", "y")])
    list(x = ready$x, y = ready$y,
         new_x = score_newdata(samples$new_x, ready$margins$x),
         new_y = score_newdata(samples$new_y, ready$margins$y))
}

# What came back for one of several fits: `read()` of it, or the error that it
# stands for.
read_fit <- function(problem, fit, samples, read) {
    tryCatch(
        read(call_rust(fit)),
        kliep_error_overflow = function(condition) {
            stop_overflow(do.call(rbind, unname(samples)), problem$variables,
                          problem$spec$standardize)
        }
    )
}

read_scores <- function(problem, scored, n_lambda2) {
    steps <- reliable_steps(scored$status)
    s_x <- scored$x[, steps, drop = FALSE]
    s_y <- scored$y[, steps, drop = FALSE]
    if (!all(is.finite(s_x)) || !all(is.finite(s_y))) {
        stop_kliep("overflow", "Scores are not finite.")
    }
    ratio_scores(s_x, s_y, list(steps = steps, of = n_lambda2), problem$spec,
                 problem$score)
}
