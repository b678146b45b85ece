# Fits of the same problems to many sets of observations: everything is checked
# once, on all observations, and then only rows are picked.

# One problem for each candidate, without observations, and the two samples as
# problems need them: `plain`, and `coded` for features that code columns
# themselves.
prepare_candidates <- function(candidates, x, y, lambda2, ...) {
    requests <- lapply(candidates, check_candidate_fit, x = x, y = y,
                       lambda2 = lambda2, ...)
    form <- vapply(requests, function(request) {
        if (is.null(request$samples$coding)) "plain" else "coded"
    }, "")
    samples <- lapply(requests[!duplicated(form)], function(request) {
        request$samples[c("x", "y")]
    })
    names(samples) <- form[!duplicated(form)]
    problems <- Map(function(request, candidate, form) {
        request$samples[c("x", "y")] <- NULL
        # How many threads there are is no part of the problem.
        request$settings$threads <- NULL
        c(request, list(form = form, label = candidate$label))
    }, requests, candidates, form)
    list(problems = problems, samples = samples)
}

check_candidate_fit <- function(candidate, x, y, lambda2, nlambda = 50,
                                lambda_min_ratio = NULL,
                                penalty_factor = NULL,
                                standardize = c("within", "pooled", "none"),
                                direction = c("p/q", "q/p", "symmetric"),
                                normalizer = c("empirical", "gaussian"),
                                solver = c("auto", "primal", "dual"),
                                control = kliep_control()) {
    check_fit(
        x, y, candidate$features, candidate$lambda1, lambda2, nlambda,
        lambda_min_ratio, penalty_factor, standardize, direction, normalizer,
        # Workers do not know that there are others.
        solver, threads_for_plan(check_control(control))
    )
}

# The path of a problem on these observations.
refit <- function(problem, x, y, lambda2 = problem$settings$lambda2,
                  nlambda = problem$settings$nlambda) {
    fit_request(with_observations(problem, x, y, lambda2, nlambda))
}

refit_all <- function(problem, samples) {
    refit(problem, samples[[problem$form]]$x, samples[[problem$form]]$y)
}

with_observations <- function(problem, x, y, lambda2, nlambda) {
    problem$samples$x <- x
    problem$samples$y <- y
    settings <- problem$settings
    settings["lambda2"] <- list(lambda2)
    settings$nlambda <- nlambda
    settings$threads <- problem$control$threads
    if (problem$default_ratio) {
        settings$lambda_min_ratio <- default_lambda_min_ratio(
            n_factors_of(problem$features, ncol(x)), c(nrow(x), nrow(y))
        )
    }
    problem$settings <- settings
    problem
}

# Fit to some observations and score others, as holdout_scores() would: one
# row for each lambda2, though the path may end sooner. What Rust can do by
# itself it does without handing over coefficients, which takes as long as a
# small fit.
refit_scores <- function(problem, x, y, newx, newy, lambda2) {
    if (is_table(problem$features)) {
        scores <- kliep_holl(refit(problem, x, y, lambda2), newx, newy)
        return(scores[seq_along(lambda2), ])
    }
    request <- with_observations(problem, x, y, lambda2, length(lambda2))
    check_observations(request)
    overflow <- function(condition) {
        stop_overflow(rbind(x, y, newx, newy), request$samples$variables,
                      request$settings$standardize)
    }
    scored <- tryCatch(
        rust_score_path(x, y, newx, newy, rust_features(request$features),
                        request$settings),
        kliep_error_overflow = overflow
    )
    steps <- reliable_steps(scored$status)
    s_x <- scored$x[, steps, drop = FALSE]
    s_y <- scored$y[, steps, drop = FALSE]
    if (!all(is.finite(s_x)) || !all(is.finite(s_y))) overflow()
    log_likelihoods(s_x, s_y, steps, length(lambda2),
                    request$settings$direction)
}
