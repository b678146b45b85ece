# Candidates that a selection chooses from, and fits of them to many sets of
# observations: everything is checked once, on all observations, and then only
# rows are picked.

# ---- candidates --------------------------------------------------------------

# What may be chosen from: a list of candidates, each with a `label`, and a
# `spec` (of kliep_path()) or the `arguments` (of another method). `given` are
# settings by name; those with several values make a candidate of each.
check_candidates <- function(spec, given, method = "kliep") {
    # What other methods share with a specification are the features.
    if (method != "kliep" && !is.null(spec)) given$features <- spec
    check_taken(method, names(given))
    candidates <- if (method == "kliep") kliep_candidates(spec, given) else
        baseline_candidates(method, given)
    labels <- make.unique(vapply(candidates, `[[`, "", "label"), " #")
    Map(function(candidate, label) {
        candidate$label <- label
        c(candidate, list(method = method))
    }, candidates, labels)
}

# A list of specifications, or one of them with every combination of settings.
kliep_candidates <- function(spec, given) {
    bases <- if (is_spec_list(spec)) spec else list(spec)
    varied <- vary_settings(given)
    made <- lapply(seq_along(bases), function(at) {
        lapply(varied, function(settings) {
            list(spec = as_spec(bases[[at]], settings$values),
                 own = c(names(bases)[at], settings$label))
        })
    })
    several <- names(which(lengths(attr(varied, "values")) > 1L))
    label_candidates(unlist(made, recursive = FALSE), several)
}

is_spec_list <- function(spec) {
    is.list(spec) && !is.object(spec) && length(spec) > 0L
}

# Settings that may have several values, one by one.
varying_settings <- c("features", "lambda1", "normalizer", "direction",
                      "penalty", "standardize")

# Every combination of settings: a list of `values`, and a `label` for those
# that differ.
vary_settings <- function(given) {
    if ("features" %in% names(given)) {
        given$features <- as_feature_list(given$features)
    }
    if ("lambda1" %in% names(given)) {
        check_lambda_values(given$lambda1, "lambda1")
    }
    fixed <- given[setdiff(names(given), varying_settings)]
    values <- lapply(given[intersect(varying_settings, names(given))],
                     values_of_setting)
    at <- expand.grid(rev(lapply(values, seq_along)), KEEP.OUT.ATTRS = FALSE)
    combinations <- lapply(seq_len(max(1L, nrow(at))), function(row) {
        picked <- lapply(stats::setNames(names(values), names(values)),
                         function(name) values[[name]][[at[[name]][row]]])
        own <- names(values$features)[at$features[row]]
        list(values = c(picked, fixed), label = if (length(own) > 0L) own)
    })
    structure(combinations, values = values)
}

# What is not a vector of values is left to the check of the setting.
values_of_setting <- function(setting) {
    if (is.list(setting) && !is.object(setting) && length(setting) > 0L) {
        return(setting)
    }
    is_vector <- (is.character(setting) || is.numeric(setting)) &&
        is.null(dim(setting)) && length(setting) > 0L
    if (is_vector) as.list(unique(setting)) else list(setting)
}

as_feature_list <- function(features) {
    if (inherits(features, "kliep_features") || is.function(features)) {
        return(list(features))
    }
    if (is.list(features) && length(features) > 0L) return(features)
    stop_kliep(
        "features",
        paste0("`features` must be a feature specification or a list of ",
               "at least one: got ", if (is.list(features))
                   "an empty list" else describe(features), "."),
        hint = "For instance `list(feat_gaussian(), feat_polynomial(4))`."
    )
}

# A candidate is called by its own name, and by the settings of which `several`
# values were given; or by its features, and by all that the candidates differ
# in.
label_candidates <- function(candidates, several) {
    specs <- lapply(candidates, `[[`, "spec")
    differ <- Filter(function(name) {
        length(unique(lapply(specs, `[[`, name))) > 1L
    }, c("lambda1", "direction", "normalizer", "penalty", "standardize",
         "robust"))
    lapply(candidates, function(candidate) {
        own <- paste(candidate$own[nzchar(candidate$own)], collapse = ", ")
        named <- nzchar(own)
        shown <- if (named) intersect(differ, several) else differ
        name <- if (named) own else name_features(candidate$spec$features)
        list(spec = candidate$spec, name = name,
             label = paste(c(name, setting_labels(candidate$spec, shown)),
                           collapse = ", "))
    })
}

setting_labels <- function(spec, names) {
    vapply(names, function(name) {
        value <- spec[[name]]
        if (is.numeric(value)) paste(name, "=", format(value)) else
            paste(name, if (is.null(value)) "default" else value)
    }, "")
}

# Another method has no specification; it may have features and a ridge.
baseline_candidates <- function(method, given) {
    varied <- vary_settings(given[intersect(names(given),
                                            c("features", "lambda1"))])
    fixed <- given[setdiff(names(given), c("features", "lambda1"))]
    takes <- names(formals(baseline_methods()[[method]]$fit))
    if ("control" %in% takes && is.null(fixed$control)) {
        fixed$control <- kliep_control()
    }
    lapply(varied, function(settings) {
        values <- settings$values
        features <- if ("features" %in% takes) {
            if (is.null(values$features)) feat_gaussian() else
                check_features(values$features)
        }
        label <- c(method, if (!is.null(features))
            c(settings$label, name_features(features))[1L],
            if (length(attr(varied, "values")$lambda1) > 1L)
                paste("lambda1 =", format(values$lambda1)))
        list(arguments = c(if (!is.null(features)) list(features = features),
                           values["lambda1"[!is.null(values$lambda1)]], fixed),
             name = if (is.null(features)) method else name_features(features),
             label = paste(label, collapse = ", "))
    })
}

# What may be given by name: settings of kliep_path(), or the arguments of
# another method but for its samples.
candidate_arguments <- function(method) {
    if (method == "kliep") return(spec_arguments())
    setdiff(names(formals(baseline_methods()[[method]]$fit)),
            c("x", "y", "progress", "..."))
}

# A method that does not use a setting cannot choose between its values.
check_taken <- function(method, given) {
    unknown <- setdiff(intersect(given, c("features", "lambda1")),
                       candidate_arguments(method))
    if (length(unknown) == 0L) return(invisible())
    stop_kliep(
        "argument",
        paste0("`method = \"", method, "\"` has no ", name_some(unknown),
               " to choose."),
        hint = "Leave it out, or take another method."
    )
}

# ---- problems ----------------------------------------------------------------

# One problem for each candidate, with how it is scored, and the two samples as
# problems need them: `plain`, and `coded` for features that code columns
# themselves.
prepare_candidates <- function(candidates, found, score = "logistic") {
    candidates <- share_seed(candidates)
    made <- lapply(candidates, prepare_candidate, found = found)
    form <- vapply(made, function(one) {
        form_of(one$samples$coding)
    }, "")
    samples <- lapply(made[!duplicated(form)], `[[`, "samples")
    names(samples) <- form[!duplicated(form)]
    problems <- Map(function(one, form) {
        c(one$problem, list(form = form, score = score))
    }, made, form)
    list(problems = problems, samples = samples)
}

form_of <- function(coding) {
    if (is.null(coding)) return("plain")
    if (is_mixed_coding(coding)) "mixed" else "coded"
}

# All points of importance sampling are drawn from one seed.
share_seed <- function(candidates) {
    if (!"seed" %in% candidate_arguments(candidates[[1L]]$method)) {
        return(candidates)
    }
    seed <- check_seed(candidates[[1L]]$arguments$seed)
    lapply(candidates, function(candidate) {
        candidate$arguments$seed <- seed
        candidate
    })
}

# Workers do not know that there are others.
candidate_for_plan <- function(candidate) {
    if (!is.null(candidate$spec)) {
        candidate$spec$control <- threads_for_plan(candidate$spec$control)
    } else if (!is.null(candidate$arguments$control)) {
        candidate$arguments$control <- threads_for_plan(
            check_control(candidate$arguments$control)
        )
    }
    candidate
}

prepare_candidate <- function(candidate, found) {
    candidate <- candidate_for_plan(candidate)
    if (candidate$method == "kliep") {
        samples <- as_samples(found, candidate$spec$features)
        problem <- new_problem(candidate$spec, samples)
    } else {
        samples <- as_samples(found, NULL, least = 3L)
        problem <- baseline_problem(candidate, samples$variables)
    }
    list(samples = samples, problem = c(problem, candidate["label"]))
}

# The grid may not be known yet; wrong arguments show at the first fit.
baseline_problem <- function(candidate, variables) {
    arguments <- candidate$arguments
    grid <- check_lambda2(arguments$lambda2)
    arguments$lambda2 <- NULL
    takes <- names(formals(baseline_methods()[[candidate$method]]$fit))
    if ("progress" %in% takes) arguments$progress <- FALSE
    list(method = candidate$method, arguments = arguments,
         spec = list(lambda2 = grid), variables = variables)
}

# ---- fits --------------------------------------------------------------------

# The path of a problem on these observations. How it ended is looked at once
# there is a choice.
refit <- function(problem, samples, lambda2 = problem$spec$lambda2,
                  nlambda = problem$spec$nlambda) {
    if (is_baseline(problem)) {
        colnames(samples$x) <- colnames(samples$y) <- problem$variables
        ends <- paste0("kliep_warning_", c("max_iter", "near_threshold",
                                           "unbounded", "importance"))
        return(suppressWarnings(
            refit_baseline(problem, samples$x, samples$y, lambda2),
            classes = ends
        ))
    }
    fit_problem(with_grid(problem, lambda2, nlambda), samples)
}

# A refit has the specification of the problem, whatever grid it is fitted on.
with_grid <- function(problem, lambda2, nlambda) {
    problem$spec["lambda2"] <- list(lambda2)
    problem$spec$nlambda <- nlambda
    problem
}

refit_all <- function(problem, samples) {
    refit(problem, samples[[problem$form]])
}
