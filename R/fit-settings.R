# Further settings of a fit: one check for each argument, which returns it in
# the form that the fit wants or stops with a classed error.

# An argument left at its default takes what the features want.
check_standardize <- function(standardize, features) {
    choices <- c("within", "pooled", "none")
    if (identical(standardize, choices)) return(features$standardize)
    standardize <- check_choice(standardize, "standardize", choices)
    if (standardize == "none" &&
        (is_ranked(features) || is_mixed(features))) {
        stop_kliep(
            "argument",
            paste("Normal scores are ranks within a sample or of both pooled:",
                  "got standardize = \"none\"."),
            hint = paste("Use `standardize = \"within\"` or \"pooled\", or a",
                         "`power` of `feat_nonparanormal()`.")
        )
    }
    standardize
}

check_direction <- function(direction) {
    check_choice(direction, "direction", c("symmetric", "p/q", "q/p"))
}

check_normalizer <- function(normalizer, features) {
    normalizer <- check_choice(normalizer, "normalizer",
                               c("auto", "gaussian", "empirical"))
    if (normalizer != "gaussian" || has_closed_form(features)) {
        return(normalizer)
    }
    stop_kliep(
        "normalizer",
        paste0("`normalizer = \"gaussian\"` does not fit these features: got ",
               name_features(features), "."),
        hint = paste("Use `feat_gaussian()` or `feat_nonparanormal()`, or",
                     "`normalizer = \"empirical\"`.")
    )
}

# Whether the normaliser of the ratio is known for Gaussian networks.
has_closed_form <- function(features) {
    features$kind == "products" && identical(features$single, 2L) &&
        identical(as.vector(features$pair), c(1L, 1L))
}

# Without the ridge, the objective has no minimum if a covariance is singular.
check_regular <- function(samples, spec) {
    if (spec$normalizer == "empirical" || spec$lambda1 > 0) {
        return(invisible())
    }
    d <- length(samples$variables)
    weighted <- list("p/q" = "y", "q/p" = "x", symmetric = c("x", "y"))
    for (name in weighted[[spec$direction]]) {
        if (qr(samples[[name]])$rank < d) {
            stop_kliep(
                "lambda",
                paste0("`normalizer = \"gaussian\"` needs `lambda1 > 0` here: ",
                       "the covariance of `", name, "` is singular (",
                       count_of(nrow(samples[[name]]), "observation"), " of ",
                       count_of(d, "variable"), ")."),
                hint = "Raise `lambda1`, or drop variables."
            )
        }
    }
}

check_penalty <- function(penalty) {
    check_choice(penalty, "penalty", c("group_lasso", "adaptive", "mcp"))
}

# `gamma` belongs to the other penalties.
check_gamma <- function(gamma, penalty) {
    gamma <- check_positive(gamma, "gamma", "penalty")
    if (penalty == "group_lasso") {
        stop_kliep(
            "penalty",
            "`gamma` has no meaning for `penalty = \"group_lasso\"`.",
            hint = "Use `penalty = \"adaptive\"` or \"mcp\", or leave it out."
        )
    }
    gamma
}

# The shape of the penalty: `gamma`, or its default.
settled_gamma <- function(spec) {
    usual <- c(group_lasso = 1, adaptive = 1, mcp = 3)
    if (is.null(spec$gamma)) usual[[spec$penalty]] else spec$gamma
}

check_robust <- function(robust) {
    robust <- check_number(robust, "robust", "robust")
    if (robust >= 0 && robust < 0.5) return(robust)
    stop_kliep(
        "robust",
        paste0("`robust` must be at least 0 and below 0.5: got ",
               format(robust), "."),
        hint = "It is the share of observations that may be outliers."
    )
}

check_solver <- function(solver, lambda1, normalizer = "auto") {
    solver <- check_choice(solver, "solver", c("auto", "primal", "dual"))
    if (solver != "auto" && identical(normalizer, "gaussian")) {
        stop_kliep(
            "solver",
            paste0("`normalizer = \"gaussian\"` has a solver of its own: got ",
                   "solver = \"", solver, "\"."),
            hint = "Use `solver = \"auto\"`."
        )
    }
    if (solver == "dual" && lambda1 == 0) {
        stop_kliep(
            "solver",
            "`solver = \"dual\"` needs `lambda1 > 0`: got lambda1 = 0.",
            hint = "Raise `lambda1` or use `solver = \"auto\"`."
        )
    }
    solver
}

check_control <- function(control) {
    if (inherits(control, "kliep_control")) return(control)
    stop_kliep("control",
               paste0("`control` must come from `kliep_control()`: got ",
                      describe(control), "."))
}
