# The specification of a fit: everything about it but the samples. It is made
# and checked here, travels as one object, and comes back in every result.

#' The specification of a fit
#'
#' `kliep_spec()` describes an estimator of the change between two networks
#' once and for all samples: features, penalties, direction, normaliser,
#' standardisation, solver and control. [kliep_path()] and [kliep_change()]
#' build one from their arguments; [kliep_select()], [kliep_test()],
#' [kliep_stability()], [kliep_debias()] and [kliep_windows()] take one as
#' `spec`, and every result carries the one that it was made with.
#'
#' `kliep_spec_paper()` is the estimator of Liu et al. (2014): the ratio of the
#' density of `x` to that of `y`, normalised over the observations of `y`. It
#' is `kliep_spec(direction = "p/q", normalizer = "empirical")`. Its polynomials
#' are `feat_polynomial(basis = "raw")`.
#'
#' @section Where a specification is expected:
#' The argument `spec` takes
#' * the result of `kliep_spec()`,
#' * any result of this package: its estimator is used again,
#' * features alone, such as `feat_ising()`: `kliep_spec(features = )`,
#' * `NULL`, the default of every setting.
#'
#' Settings that are given by name beside it, such as `lambda1 = 0.01`, replace
#' those of the specification.
#'
#' @section Direction and normaliser:
#' Both samples are treated alike (`direction = "symmetric"`) unless specified.
#' `normalizer = "auto"` is `"gaussian"` where the features have a closed form
#' ([feat_gaussian()], [feat_nonparanormal()]), `lambda1` is positive and there
#' are at most 2,000 variables, whose matrices of all pairs have to fit into
#' memory; it is `"empirical"` otherwise. In our study of 200 variables this
#' ranked edges better than the estimator of the paper on every kind of
#' network but stars. The solvers `"primal"` and `"dual"` are those of the
#' paper, and take its direction and normaliser unless these are specified.
#'
#' @inheritParams kliep_path
#' @param ... Further arguments of `kliep_spec()`, by name.
#' @return A list of class `kliep_spec` with one element for each argument.
#'   What depends on the samples is settled when there are some: `NULL` stands
#'   for the default of `lambda2`, `lambda_min_ratio`, `penalty_factor` and
#'   `standardize`, and `"auto"` for that of `normalizer`.
#' @inherit kliep_path references
#' @export
#' @examples
#' kliep_spec(feat_nonparanormal(0.5), lambda1 = 0.05)
#' kliep_spec_paper()
#'
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y, lambda1 = 0.05)
#' path$spec
#' # The same estimator in stability selection, and with another penalty.
#' kliep_stability(path, n_subsamples = 20)
#' kliep_stability(path, n_subsamples = 20, penalty = "mcp")
kliep_spec <- function(features = feat_gaussian(), lambda1 = 0.1,
                       lambda2 = NULL, nlambda = 50, lambda_min_ratio = NULL,
                       penalty_factor = NULL, penalty_groups = NULL,
                       group_share = 0.5,
                       penalty = c("group_lasso", "adaptive", "mcp"),
                       gamma = NULL, robust = 0, standardize = NULL,
                       direction = c("symmetric", "p/q", "q/p"),
                       normalizer = c("auto", "gaussian", "empirical"),
                       solver = c("auto", "primal", "dual"),
                       control = kliep_control(), lambda) {
    refuse_lambda(!missing(lambda), names(formals()), "kliep_spec")
    features <- check_features(features)
    lambda1 <- check_lambda1(lambda1)
    penalty <- check_penalty(penalty)
    of_paper <- is_string(solver) && solver %in% c("primal", "dual")
    direction <- if (of_paper && missing(direction)) "p/q" else
        check_direction(direction)
    normalizer <- check_normalizer(normalizer, features)
    solver <- check_solver(solver, lambda1, normalizer)
    new_kliep_spec(list(
        features = features,
        lambda1 = lambda1,
        lambda2 = check_lambda2(lambda2),
        nlambda = check_nlambda(nlambda),
        lambda_min_ratio = if (!is.null(lambda_min_ratio))
            check_fraction(lambda_min_ratio, "lambda_min_ratio", "lambda"),
        penalty_factor = if (!is.null(penalty_factor))
            check_penalty_values(penalty_factor),
        penalty_groups = check_penalty_groups(
            penalty_groups, group_share, list(
                penalty = penalty, normalizer = normalizer, solver = solver,
                features = features
            )
        ),
        group_share = as.double(group_share),
        penalty = penalty,
        gamma = if (!is.null(gamma)) check_gamma(gamma, penalty),
        robust = check_robust(robust),
        standardize = if (!is.null(standardize))
            check_standardize(standardize, features),
        direction = direction,
        normalizer = normalizer,
        solver = solver,
        control = check_control(control)
    ))
}

#' @rdname kliep_spec
#' @export
kliep_spec_paper <- function(features = feat_gaussian(), ...) {
    check_dots(list(...), setdiff(spec_arguments(),
                                  c("direction", "normalizer")),
               "kliep_spec_paper")
    kliep_spec(features, ..., direction = "p/q", normalizer = "empirical")
}

# The only place the class is set.
new_kliep_spec <- function(fields) structure(fields, class = "kliep_spec")

spec_arguments <- function() setdiff(names(formals(kliep_spec)), "lambda")

# ---- from what users give --------------------------------------------------

# A specification, whatever `spec` is; `given` are settings by name, which
# replace its own.
as_spec <- function(spec = NULL, given = list()) {
    if (inherits(spec, "kliep_features") || is.function(spec)) {
        return(do.call(kliep_spec, c(
            if (!"features" %in% names(given)) list(features = spec), given
        ), quote = TRUE))
    }
    if (is.null(spec)) return(do.call(kliep_spec, given, quote = TRUE))
    base <- open_spec(spec_of(spec))
    if (length(given) == 0L) return(base)
    fields <- unclass(base)
    # The default of `gamma` differs between penalties.
    if ("penalty" %in% names(given)) fields["gamma"] <- list(NULL)
    fields[names(given)] <- given
    do.call(kliep_spec, fields, quote = TRUE)
}

# The specification that a result was made with.
spec_of <- function(object) {
    if (inherits(object, "kliep_spec")) return(object)
    spec <- if (is_result(object)) path_of(object)$spec
    if (inherits(spec, "kliep_spec")) return(spec)
    if (is_result(object)) {
        stop_kliep(
            "type",
            paste0("`spec` must be an estimator of the density ratio: got a ",
                   "result of `", path_of(object)$method, "_path()`."),
            hint = "`kliep_spec()` makes one."
        )
    }
    stop_kliep(
        "type",
        paste0("`spec` must be a specification, a result or features: got ",
               describe(object), "."),
        hint = "`kliep_spec()` makes a specification."
    )
}

# The settings among the arguments of a call that were given, by name.
given_settings <- function(frame = parent.frame()) {
    given <- Filter(function(name) {
        exists(name, frame, inherits = FALSE) &&
            !eval(call("missing", as.name(name)), frame)
    }, spec_arguments())
    mget(given, envir = frame)
}

# ---- settled by the samples ------------------------------------------------

# The specification with everything decided that depends on the variables. What
# was decided here is noted, since other settings or other variables may decide
# it differently.
settle_spec <- function(spec, variables) {
    spec <- open_spec(spec)
    open <- names(open_settings)[vapply(names(open_settings), function(name) {
        identical(spec[[name]], open_settings[[name]])
    }, NA)]
    if (is.null(spec$standardize)) {
        spec$standardize <- spec$features$standardize
    }
    spec$gamma <- settled_gamma(spec)
    spec$penalty_factor <- check_penalty_factor(spec$penalty_factor, variables,
                                                spec$features)
    if (spec$normalizer == "auto") {
        spec$normalizer <- auto_normalizer(spec, length(variables))
    }
    structure(spec, open = open)
}

# Settings that depend on the samples, with their values while these are
# unknown.
open_settings <- list(standardize = NULL, gamma = NULL, penalty_factor = NULL,
                      normalizer = "auto")

open_spec <- function(spec) {
    open <- attr(spec, "open")
    spec[open] <- open_settings[open]
    structure(spec, open = NULL)
}

# Beyond this many variables one Cholesky factor takes longer than a whole path
# with the empirical normaliser.
most_in_closed_form <- 2000

auto_normalizer <- function(spec, d) {
    allowed <- spec$lambda1 > 0 && is.null(spec$penalty_groups) &&
        spec$solver == "auto"
    closed <- allowed && has_closed_form(spec$features) &&
        d <= most_in_closed_form && fits_memory(moments_bytes(d, 6))
    if (closed) "gaussian" else "empirical"
}

# All that Rust reads, for samples of `n` observations: the settings by their
# names, those of control among them.
rust_settings <- function(spec, n_factors, n) {
    ratio <- default_lambda_min_ratio(n_factors, n)
    settings <- unclass(spec)[c(
        "lambda1", "lambda2", "nlambda", "penalty_factor", "penalty", "gamma",
        "robust", "standardize", "direction", "normalizer", "solver",
        "group_share"
    )]
    settings$lambda_min_ratio <- if (is.null(spec$lambda_min_ratio))
        adaptive_ratio(ratio, spec) else spec$lambda_min_ratio
    # Where the first fit of an adaptive penalty is taken: three quarters down
    # the default grid, on its log scale.
    settings$first_share <- ratio^0.75
    # With how many edges a path may end.
    settings["most_edges"] <- list(NULL)
    c(settings, spec$control[c("tol", "max_iter", "threads")])
}

# A factor that enters a group lasso at a share r of lambda_max is about r as
# large as the largest in the first fit of an adaptive penalty, so that its
# penalty is r^-gamma of the largest factor's.
adaptive_ratio <- function(ratio, spec) {
    if (spec$penalty != "adaptive") return(ratio)
    max(ratio^(1 + spec$gamma), 1e-4)
}

# The smallest lambda2 of the default grid as a share of lambda_max. Between
# samples without a change, |xi| of T factors is about half normal with its
# largest value near sqrt(2 log T) standard deviations: end where that would
# detect ten factors for each observation, and no lower than a tenth. With 40
# variables this is a tenth, with 10,000 about 0.6, where a tenth would detect
# half of 50 million factors.
default_lambda_min_ratio <- function(n_factors, n) {
    n_factors <- max(2, n_factors)
    share <- min(1, 10 * sum(n) / n_factors)
    max(0.1, stats::qnorm(1 - share / 2) / sqrt(2 * log(n_factors)))
}

# ---- printing --------------------------------------------------------------

#' @export
format.kliep_spec <- function(x, ...) {
    grid <- if (!is.null(x$lambda2)) {
        paste(count_of(length(x$lambda2), "value"), "of lambda2")
    } else {
        paste0(count_of(x$nlambda, "value"), " of lambda2, down to ",
               if (is.null(x$lambda_min_ratio)) "the default share" else
                   format(x$lambda_min_ratio), " of the largest")
    }
    c("<kliep_spec>", format_spec(x), paste0("  grid       ", grid),
      paste0("  solver     ", x$solver, ", tol = ", format(x$control$tol),
             ", max_iter = ", x$control$max_iter))
}

#' @export
print.kliep_spec <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}

# The lines that results print, too.
format_spec <- function(x) {
    c(
        paste0("  features   ", name_features(x$features)),
        paste0("  fit        ", x$direction,
               ", standardize ", if (is.null(x$standardize))
                   x$features$standardize else x$standardize,
               ", normalizer ", x$normalizer,
               ", lambda1 = ", format(x$lambda1, digits = 4L)),
        if (x$penalty != "group_lasso")
            paste0("  penalty    ", x$penalty, ", gamma = ",
                   format(settled_gamma(x), digits = 4L)),
        if (!is.null(x$penalty_groups))
            paste0("  groups     penalised together, with a share of ",
                   format(x$group_share, digits = 4L), " of the penalty"),
        if (x$robust > 0)
            paste0("  robust     ", format(100 * x$robust, digits = 3L),
                   " % of a numerator may be outliers")
    )
}
