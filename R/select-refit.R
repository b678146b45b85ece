# Fits of the same problems to many sets of observations: everything is checked
# once, on all observations, and then only rows are picked.

# What a selection has to know about a method: the arguments by which
# candidates may differ (`takes`), those that are the same for all (`passed`),
# the function they belong to, and the one that makes a problem of a candidate.
selection_method <- function(name) {
    baselines <- baseline_methods()
    name <- check_choice(name, "method", c("kliep", names(baselines)))
    own <- c("features", "lambda1")
    if (name == "kliep") {
        return(list(name = name, takes = own, called = "kliep_select",
                    passed = names(formals(check_candidate_fit)),
                    check = check_candidate_fit))
    }
    method <- baselines[[name]]
    arguments <- names(formals(method$fit))
    list(
        name = name, takes = intersect(own, arguments),
        called = paste0(name, "_path"),
        passed = setdiff(arguments, c("x", "y", own, method$grid, "progress",
                                      "...")),
        check = function(candidate, ...) {
            check_baseline_fit(name, candidate, ...)
        }
    )
}

check_taken <- function(method, given) {
    unknown <- setdiff(given, method$takes)
    if (length(unknown) == 0L) return(invisible())
    stop_kliep(
        "argument",
        paste0("`method = \"", method$name, "\"` has no ",
               name_some(unknown), " to choose."),
        hint = "Leave it out, or take another method."
    )
}

# One problem for each candidate, without observations, and the two samples as
# problems need them: `plain`, and `coded` for features that code columns
# themselves.
prepare_candidates <- function(candidates, x, y, lambda2,
                               method = selection_method("kliep"), ...) {
    fits <- list(...)
    # One seed for all.
    if ("seed" %in% method$passed) fits$seed <- check_seed(fits$seed)
    requests <- lapply(candidates, function(candidate) {
        do.call(method$check, c(list(candidate, x = x, y = y,
                                     lambda2 = lambda2), fits), quote = TRUE)
    })
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
        c(request, list(method = method$name, form = form,
                        label = candidate$label))
    }, requests, candidates, form)
    list(problems = problems, samples = samples)
}

check_candidate_fit <- function(candidate, x, y, lambda2, nlambda = 50,
                                lambda_min_ratio = NULL,
                                penalty_factor = NULL,
                                penalty = c("group_lasso", "adaptive", "mcp"),
                                gamma = NULL, robust = 0,
                                standardize = c("within", "pooled", "none"),
                                direction = c("p/q", "q/p", "symmetric"),
                                normalizer = c("empirical", "gaussian"),
                                solver = c("auto", "primal", "dual"),
                                control = kliep_control()) {
    check_fit(
        x, y, candidate$features, candidate$lambda1, lambda2, nlambda,
        lambda_min_ratio, penalty_factor, penalty, gamma, robust, standardize,
        direction, normalizer, solver,
        # Workers do not know that there are others.
        threads_for_plan(check_control(control))
    )
}

# The same for another method: the arguments of its function. The grid may
# still be open, and what is wrong with an argument shows at the first fit.
check_baseline_fit <- function(method, candidate, x, y, lambda2, ...) {
    arguments <- c(candidate[selection_method(method)$takes], list(...))
    takes <- names(formals(baseline_methods()[[method]]$fit))
    if ("control" %in% takes) {
        control <- arguments$control
        if (is.null(control)) control <- kliep_control()
        arguments$control <- threads_for_plan(check_control(control))
    }
    if ("progress" %in% takes) arguments$progress <- FALSE
    list(samples = check_samples(x, y, least = 3L), arguments = arguments,
         settings = list(lambda2 = lambda2))
}

# The path of a problem on these observations. How it ended is looked at once
# there is a choice.
refit <- function(problem, x, y, lambda2 = problem$settings$lambda2,
                  nlambda = problem$settings$nlambda) {
    if (is_baseline(problem)) {
        colnames(x) <- colnames(y) <- problem$samples$variables
        ends <- paste0("kliep_warning_", c("max_iter", "near_threshold",
                                           "unbounded", "importance"))
        return(suppressWarnings(refit_baseline(problem, x, y, lambda2),
                                classes = ends))
    }
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
    settings <- set_ratios(
        settings, if (!problem$default_ratio) settings$lambda_min_ratio,
        n_factors_of(problem$features, ncol(x)), c(nrow(x), nrow(y))
    )
    problem$settings <- settings
    problem
}

# Fit to some observations and score others, as holdout_scores() would: one
# row for each lambda2, though the path may end sooner. What Rust can do by
# itself it does without handing over coefficients, which takes as long as a
# small fit.
refit_scores <- function(problem, x, y, newx, newy, lambda2) {
    if (is_baseline(problem) || is_table(problem$features)) {
        path <- refit(problem, x, y, lambda2)
        scores <- score_of(path)(path, newx, newy)
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
                    request$settings$direction, request$settings$robust)
}
