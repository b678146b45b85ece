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

#' Sparse changes between two Markov networks, over a path of penalties
#'
#' `kliep_path()` learns where two Markov networks differ, from a sample of
#' each, without estimating either network: it fits the ratio of their
#' densities. Writing \eqn{\theta_t}{theta_t} for the change in factor \eqn{t}
#' (an edge, or a variable alone), it minimises for every `lambda2`
#' \deqn{J(\theta) = \log \frac{1}{n_Q} \sum_{i=1}^{n_Q} e^{\theta^\top f(y_i)}
#'     - \frac{1}{n_P} \sum_{j=1}^{n_P} \theta^\top f(x_j)
#'     + \frac{\lambda_1}{2} \|\theta\|^2
#'     + \lambda_2 \sum_t w_t \|\theta_t\|}{
#'     J(theta) = log mean_i exp(theta' f(y_i)) - mean_j theta' f(x_j)
#'     + lambda1 / 2 |theta|^2 + lambda2 sum_t w_t |theta_t|}
#' with features \eqn{f} (`features`) and penalty factors \eqn{w_t}
#' (`penalty_factor`). An edge is *detected* where
#' \eqn{\theta_t \ne 0}{theta_t != 0}. `kliep_change()` is the fit at one
#' `lambda2`.
#'
#' @section Sign:
#' \eqn{\theta = \theta^P - \theta^Q}{theta = theta_P - theta_Q}: a positive
#' weight means that the interaction is higher in `x` than in `y`, whichever
#' `direction` is fitted. For Gaussian features that is minus the difference
#' of the precision matrices.
#'
#' @section Direction:
#' `"p/q"` fits the density ratio of `x` to `y`, the objective above, which
#' weights the rows of `y`. `"q/p"` fits the ratio of `y` to `x` by the same
#' objective with the samples exchanged and \eqn{\theta}{theta} replaced by
#' \eqn{-\theta}{-theta}. `"symmetric"` minimises the sum of both losses, and
#' treats the samples alike.
#'
#' @section Normalizer:
#' The `"empirical"` normaliser is the mean over the sample in the denominator,
#' as in the objective above: it holds for any features. For
#' [feat_gaussian()] and [feat_nonparanormal()] that of zero-mean Gaussians is
#' known, and `"gaussian"` uses it: with \eqn{S_P} and \eqn{S_Q} the second
#' moments of the (standardised) samples, \eqn{E_{uv} =
#' \theta_{uv}}{E_uv = theta_uv} and \eqn{E_{uu} = 2 \theta_{uu}}{E_uu = 2
#' theta_uu}, the loss is
#' \deqn{-\tfrac12 \log\det(I - S_Q E) - \tfrac12 \mathrm{tr}(S_P E)}{
#'     -1/2 log det(I - S_Q E) - 1/2 tr(S_P E)}
#' for `"p/q"`, the same with the samples exchanged and \eqn{E} replaced by
#' \eqn{-E} for `"q/p"`, and their sum for `"symmetric"`. No observation gets a
#' weight, so that a few cannot dominate a fit in many dimensions. With fewer
#' observations than variables it needs `lambda1 > 0`.
#' [`predict()`][predict.change_path] and [kliep_select()] evaluate the fitted
#' ratio in the same way for both.
#'
#' @section Penalty:
#' The `"group_lasso"` of the objective above shrinks every detected factor,
#' large ones as much as small ones. The others shrink large factors less, by
#' penalty factors that depend on \eqn{\theta}{theta}.
#'
#' With `"adaptive"` (Zou 2006, *Journal of the American Statistical
#' Association* 101, 1418--1429) \eqn{w_t} is divided by
#' \deqn{\max(\|\tilde\theta_t\| / \max_s \|\tilde\theta_s\|,
#'     0.01)^\gamma}{max(|theta~_t| / max_s |theta~_s|, 0.01)^gamma}
#' where \eqn{\tilde\theta}{theta~} is a first fit with the group lasso. It is
#' taken three quarters down the default grid, on its log scale: at
#' \eqn{r^{3/4}}{r^(3/4)} times the `lambda2` from which on nothing is
#' detected, where \eqn{r} is the `lambda_min_ratio` that the group lasso takes
#' by default. That of the adaptive penalty is
#' \eqn{r^{1 + \gamma}}{r^(1 + gamma)}.
#' The largest factor keeps its penalty, and factors that the first fit left
#' at zero have the largest one, but are not kept out. Penalties on this scale
#' do not depend on that of the data.
#'
#' With `"mcp"`, the minimax concave penalty (Zhang 2010, *The Annals of
#' Statistics* 38, 894--942), the penalty of a
#' factor grows with slope \eqn{\lambda_2 w_t}{lambda2 w_t} from zero on, by
#' less and less, and not at all beyond \eqn{\gamma \lambda_2 w_t}{gamma
#' lambda2 w_t}: large factors are not shrunk. It is fitted by local linear
#' approximation: convex fits with penalty factors
#' \eqn{\max(0, w_t - \|\theta_t\| / (\gamma \lambda_2))}{max(0, w_t -
#' |theta_t| / (gamma lambda2))} at the fit before, the first of them that at
#' the `lambda2` before, until these change by no more than the square root of
#' `tol`. `$diagnostics` is about the last of these fits, which is an optimum
#' of its own convex problem, and has a column `fits` for their number. Where
#' they have not settled after 100 fits the status is `"unsettled"`, with a
#' warning. Trimmed fits (`robust`) are less exact than that, and have also
#' settled once a fit no longer lowers the objective by more than they are
#' exact. A large `gamma` gives the group lasso.
#'
#' @section Outliers:
#' A few observations far out can decide a density ratio. With `robust` above
#' zero the mean over the numerator, \eqn{\frac{1}{n_P} \sum_j \theta^\top
#' f(x_j)}{mean_j theta' f(x_j)}, becomes the mean over the share
#' `1 - robust` of its observations with the smallest \eqn{\theta^\top
#' f(x_j)}{theta' f(x_j)}: those that push the ratio up the most are left out
#' (trimmed density ratio estimation; Liu, Takeda, Suzuki and Fukumizu 2017,
#' *Advances in Neural Information Processing Systems* 30). `"p/q"` trims `x`,
#' `"q/p"` trims `y`, and `"symmetric"` each sample where it is the numerator.
#' Denominators and standardisation keep all observations. What pulls the ratio
#' *down*, or has already spoilt the standard deviations, is not trimmed away:
#' [npn_transform()] first, which limits what single values can do, goes well
#' with it.
#'
#' The problem is still convex. It is solved by turns: a fit with weights on the
#' observations of the numerator, then weights that are moved towards
#' observations with small \eqn{\theta^\top f(x_j)}{theta' f(x_j)}, such that
#' the objective of the fit rises every time, until trimming would raise it by
#' no more than the square root of `tol` times itself (or 0.1, if that is
#' larger). `objective` and `gap` in
#' `$diagnostics` are those of the trimmed problem, `kkt` is that of the last
#' fit, and `fits` their number.
#'
#' @section Convergence:
#' Every fit carries its certificate in `$diagnostics`, computed over all
#' factors, whether in the solver's working set or not. `gap` is the duality
#' gap (for `lambda1 > 0`), an upper bound on how far `objective` is from the
#' optimum; `kkt` is the worst violation of the optimality conditions. A fit
#' has `status` `"converged"` once `gap` is at most `tol` times the absolute
#' `objective` (or 0.001, if that is larger), or with `lambda1 = 0` once `kkt`
#' is at most `tol` times `$lambda_max`. The others are `"max_iter"` (the
#' tolerance was not reached, and there is a warning), `"unsettled"` (see
#' `penalty` and `robust`), `"unbounded"` and `"near_threshold"`.
#'
#' `effective_size` says how many observations the fitted weights of the
#' sample in the denominator are worth, \eqn{1 / \sum_i \alpha_i^2}{
#' 1 / sum_i alpha_i^2} with \eqn{\alpha_i \propto e^{\theta^\top f(y_i)}}{
#' alpha_i = exp(theta' f(y_i)) over their sum}: all of them where nothing is
#' detected, and few where a handful of observations carries the fit. With
#' `direction = "symmetric"` it is the smaller one of the two samples.
#'
#' @section Without the ridge:
#' With `lambda1 = 0` the problem has no solution once `lambda2` falls below a
#' threshold that depends on the data: the objective has no lower bound. A
#' path ends there with status `"unbounded"` and a warning of class
#' `kliep_warning_unbounded`; `kliep_change()` stops with an error of class
#' `kliep_error_unbounded`. Within a hair of the threshold no fit can be
#' relied on, and the status is `"near_threshold"`.
#'
#' @param x,y The two samples: numeric matrices or data frames with
#'   observations in rows and the same variables in columns, matched by name
#'   where both have names. `x` is drawn from P (the numerator), `y` from Q
#'   (the denominator). Or all observations as `x`, in a table or an object of
#'   Bioconductor, and what divides them in `...`: see [two_samples()].
#' @param features What the factors look like, made by a `feat_*()` function:
#'   [feat_gaussian()], [feat_nonparanormal()], [feat_polynomial()],
#'   [feat_ising()] for binary data, [feat_rbf()], [feat_custom()] or
#'   [feat_cliques()].
#' @param lambda1 The ridge penalty, 0 or more.
#' @param lambda2 The group penalties, in decreasing order. `NULL` takes
#'   `nlambda` values, equally spaced on the log scale, from the smallest at
#'   which nothing is detected down to `lambda_min_ratio` of it.
#' @param nlambda,lambda_min_ratio The grid for `lambda2 = NULL`.
#'   `lambda_min_ratio = NULL` is 0.1 for few variables and rises with their
#'   number, to about 0.6 for 10,000: far enough to detect some ten factors
#'   for each observation where nothing has changed.
#' @param penalty_factor The weights \eqn{w_t}, one unless told: one number,
#'   `c(single = , edge = )` for variables alone and for edges, a symmetric
#'   matrix with one row and column for each variable (matched by name where
#'   it has names), or its values `m[upper.tri(m, diag = TRUE)]`. Zero leaves
#'   a factor unpenalised and `Inf` keeps it out.
#' @param penalty How the penalty grows with the size of a factor; see the
#'   section below.
#' @param gamma The shape of an adaptive or a minimax concave penalty, positive.
#'   `NULL` is 1 for `"adaptive"` and 3 for `"mcp"`.
#' @param robust The share of the observations of a numerator that may be
#'   outliers, at least 0 and below 0.5; see the section below.
#' @param standardize Bring every variable to mean zero and variance one:
#'   `"within"` each sample, so that only the dependence structure is
#'   compared; with the `"pooled"` mean and variance of both; or `"none"`.
#'   The default is `"within"`, and `"none"` for [feat_ising()].
#' @param direction Which density ratio to fit; see the section below.
#' @param normalizer Where the normaliser of the ratio comes from; see the
#'   section below.
#' @param solver `"auto"` picks the fastest for the shape of the problem.
#'   `"primal"` (proximal gradient over all factors) and `"dual"` (L-BFGS on
#'   the dual; needs `lambda1 > 0`) are those of the paper. All give the same
#'   answer.
#' @param control Accuracy, iterations and threads: [kliep_control()].
#' @param progress Show a progress bar when the fit takes long?
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. For `kliep_change()` also `penalty_factor`, `penalty`,
#'   `gamma`, `robust`, `standardize`, `direction`, `normalizer`, `solver`,
#'   `control` and `progress`, as above.
#'
#' @return An object of class `change_path`, with [print()] and [summary()]
#'   methods, [`coef()`][coef.change_path], [edges()],
#'   [`predict()`][predict.change_path] and [`plot()`][plot.change_path]. Its
#'   parts for direct use are `$lambda2`, `$lambda_max`, `$passes` (how often
#'   the solver had to go through all factors of a large problem) and
#'   `$diagnostics`, a data frame with one row for each `lambda2`: `lambda2`,
#'   `objective`, `gap`, `kkt`, `n_detected` (factors), `n_edges`,
#'   `effective_size`, `iterations`, `status` and `seconds`, of which the first
#'   row's include the search for `$lambda_max`. `kliep_change()` returns a
#'   `change`, which is a `change_path` of length one.
#'
#' @references
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197.
#'
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 20, n = 500, n_changed = 5)
#' path <- kliep_path(pair$x, pair$y, nlambda = 20)
#' path
#' edges(path, lambda2 = path$lambda2[10])
#'
#' fit <- kliep_change(pair$x, pair$y, lambda2 = 0.5 * path$lambda_max)
#' edges(fit)
kliep_path <- function(x, y = NULL, features = feat_gaussian(), lambda1 = 0.1,
                       lambda2 = NULL, nlambda = 50, lambda_min_ratio = NULL,
                       penalty_factor = NULL,
                       penalty = c("group_lasso", "adaptive", "mcp"),
                       gamma = NULL, robust = 0,
                       standardize = c("within", "pooled", "none"),
                       direction = c("p/q", "q/p", "symmetric"),
                       normalizer = c("empirical", "gaussian"),
                       solver = c("auto", "primal", "dual"),
                       control = kliep_control(),
                       progress = interactive(), ...) {
    call <- match.call()
    samples <- find_samples(x, y, list(...))
    check_dots(samples$rest, c(names(formals()), sample_arguments()),
               "kliep_path")
    path <- fit_path(
        samples$x, samples$y, features, lambda1, lambda2, nlambda,
        lambda_min_ratio, penalty_factor, penalty, gamma, robust, standardize,
        direction, normalizer,
        solver, control, progress, call
    )
    warn_unfinished(path)
    with_conditions(path, samples)
}

#' @rdname kliep_path
#' @export
kliep_change <- function(x, y = NULL, features = feat_gaussian(), lambda1 = 0.1,
                         lambda2, ...) {
    call <- match.call()
    passed <- c("penalty_factor", "penalty", "gamma", "robust", "standardize",
                "direction", "normalizer", "solver", "control", "progress")
    samples <- find_samples(x, y, list(...))
    check_dots(samples$rest, c(names(formals()), sample_arguments(), passed),
               "kliep_change")
    if (missing(lambda2) || length(lambda2) != 1L) {
        stop_kliep(
            "lambda",
            paste0("`kliep_change()` needs one `lambda2`: got ",
                   if (missing(lambda2)) "none" else length(lambda2), "."),
            hint = "`kliep_path()` fits many, and chooses a grid itself."
        )
    }
    change <- do.call(fit_change, c(
        list(samples$x, samples$y, features, lambda1, lambda2, call),
        samples$rest
    ), quote = TRUE)
    stop_if_unbounded(change)
    warn_unfinished(change)
    with_conditions(change, samples)
}

fit_change <- function(x, y, features, lambda1, lambda2, call,
                       penalty_factor = NULL,
                       penalty = c("group_lasso", "adaptive", "mcp"),
                       gamma = NULL, robust = 0,
                       standardize = c("within", "pooled", "none"),
                       direction = c("p/q", "q/p", "symmetric"),
                       normalizer = c("empirical", "gaussian"),
                       solver = c("auto", "primal", "dual"),
                       control = kliep_control(), progress = interactive()) {
    path <- fit_path(
        x, y, features, lambda1, lambda2, nlambda = 1L,
        lambda_min_ratio = NULL, penalty_factor, penalty, gamma, robust,
        standardize, direction, normalizer, solver, control, progress, call
    )
    as_change(path)
}

# Check, fit, and wrap up: what kliep_path() and kliep_change() share.
fit_path <- function(x, y, features, lambda1, lambda2, nlambda,
                     lambda_min_ratio, penalty_factor, penalty, gamma, robust,
                     standardize, direction, normalizer, solver, control,
                     progress, call) {
    request <- check_fit(
        x, y, features, lambda1, lambda2, nlambda, lambda_min_ratio,
        penalty_factor, penalty, gamma, robust, standardize, direction,
        normalizer, solver, control
    )
    progress <- check_flag(progress, "progress")
    on_progress <- if (progress) progress_bar("Fitting the path")
    fit_request(request, call, on_progress)
}

# All that a fit needs, in the form it needs it.
check_fit <- function(x, y, features, lambda1, lambda2, nlambda,
                      lambda_min_ratio, penalty_factor, penalty, gamma,
                      robust, standardize, direction, normalizer, solver,
                      control) {
    features <- check_features(features)
    samples <- check_samples(x, y, features)
    control <- check_control(control)
    lambda1 <- check_lambda1(lambda1)
    penalty <- check_penalty(penalty)
    settings <- list(
        lambda1 = lambda1,
        lambda2 = check_lambda2(lambda2),
        nlambda = check_nlambda(nlambda),
        penalty_factor = check_penalty_factor(penalty_factor,
                                              samples$variables, features),
        penalty = penalty,
        gamma = check_gamma(gamma, penalty),
        robust = check_robust(robust),
        standardize = check_standardize(standardize, features),
        direction = check_direction(direction),
        normalizer = check_normalizer(normalizer, features),
        solver = check_solver(solver, lambda1, normalizer),
        tol = control$tol,
        max_iter = control$max_iter,
        threads = control$threads
    )
    settings <- set_ratios(
        settings, lambda_min_ratio,
        n_factors_of(features, length(samples$variables)),
        c(nrow(samples$x), nrow(samples$y))
    )
    list(samples = samples, features = features, settings = settings,
         control = control, default_ratio = is.null(lambda_min_ratio))
}

# Where the grid ends, and where the first fit of an adaptive penalty is taken:
# three quarters down the default grid, on its log scale. A factor that enters a
# group lasso at a share r of lambda_max is about r as large there as the
# largest, so that its adaptive penalty is r^-gamma of the largest factor's.
set_ratios <- function(settings, lambda_min_ratio, n_factors, n) {
    given <- check_lambda_min_ratio(lambda_min_ratio, n_factors, n)
    ratio <- default_lambda_min_ratio(n_factors, n)
    further <- settings$penalty == "adaptive" && is.null(lambda_min_ratio)
    settings$lambda_min_ratio <- if (further)
        max(ratio^(1 + settings$gamma), 1e-4) else given
    settings$first_share <- ratio^0.75
    settings
}

# What check_fit() has passed, or the same about other observations.
fit_request <- function(request, call = NULL, on_progress = NULL) {
    samples <- request$samples
    features <- request$features
    settings <- request$settings
    check_observations(request)
    fit <- tryCatch(
        if (is_table(features)) {
            fit_table(samples, features, settings, on_progress)
        } else {
            rust_fit_path(samples$x, samples$y, rust_features(features),
                          settings, on_progress)
        },
        kliep_error_overflow = function(condition) {
            stop_overflow(rbind(samples$x, samples$y), samples$variables,
                          settings$standardize)
        }
    )
    new_change_path(
        fit,
        lambda1 = settings$lambda1,
        features = if (is_table(features)) fit$features else features,
        settings = settings,
        control = request$control,
        variables = samples$variables,
        n = c(x = nrow(samples$x), y = nrow(samples$y)),
        call = call,
        coding = samples$coding,
        extra = settings[c("penalty", "gamma", "robust")]
    )
}

# What depends on the observations, and not on their shape alone.
check_observations <- function(request) {
    check_constant(request$samples, request$settings$standardize)
    check_regular(request$samples, request$settings)
    check_features_memory(request$features, request$samples,
                          request$settings$direction)
    if (request$settings$normalizer == "gaussian") {
        check_moments_memory(length(request$samples$variables), 6)
    }
}

# Features that R functions compute need the standardised samples before the
# fit, which then has nothing left to standardise.
fit_table <- function(samples, features, settings, on_progress) {
    standard <- rust_standardize_samples(samples$x, samples$y,
                                         settings$standardize)
    rows <- c(x = nrow(samples$x), y = nrow(samples$y))
    table <- feature_table(features, standard$stack, samples$variables,
                           scored_rows(rows, settings$direction))
    settings$standardize <- "none"
    settings$penalty_factor <- penalty_by_factor(
        settings$penalty_factor, features, length(samples$variables)
    )
    fit <- rust_fit_path(
        samples$x, samples$y,
        list(kind = "table", values = table$values, sizes = table$sizes),
        settings, on_progress
    )
    scaling <- c("center_x", "scale_x", "center_y", "scale_y")
    fit[scaling] <- standard[scaling]
    if (features$kind == "custom") {
        fit[c("from", "to")] <- factor_pairs(fit$from)
    }
    c(fit, list(features = table$features))
}

# Rows of the samples that have weights in the loss.
scored_rows <- function(n, direction) {
    switch(direction, "p/q" = n[["y"]], "q/p" = n[["x"]], symmetric = sum(n))
}

# Radial functions are kept for all pairs while a fit is at work, and powers of
# all columns, as they are and packed for products.
check_features_memory <- function(features, samples, direction) {
    d <- length(samples$variables)
    n <- c(x = nrow(samples$x), y = nrow(samples$y))
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
penalty_by_factor <- function(penalty_factor, features, d) {
    if (features$kind == "cliques" || !identical(names(penalty_factor),
                                                 c("single", "edge"))) {
        return(penalty_factor)
    }
    by_factor <- rep(penalty_factor[["edge"]], d * (d + 1) / 2)
    by_factor[cumsum(seq_len(d))] <- penalty_factor[["single"]]
    by_factor
}

# The variables of factors by number: (1, 1), (1, 2), (2, 2), (1, 3), ...
factor_pairs <- function(factor) {
    to <- ceiling((sqrt(8 * factor + 1) - 1) / 2)
    list(from = as.integer(factor - to * (to - 1) / 2), to = as.integer(to))
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

# ---- how a fit ended -------------------------------------------------------

warn_unfinished <- function(path) {
    warn_max_iter(path)
    warn_unsettled(path)
    warn_near_threshold(path)
    warn_unbounded(path)
    warn_importance(path)
}

warn_max_iter <- function(path) {
    late <- which(path$diagnostics$status == "max_iter")
    if (length(late) == 0L) return(invisible())
    worst <- format(max(path$diagnostics$kkt[late]), digits = 1L)
    tol <- format(path$control$tol)
    what <- if (is_change(path)) {
        paste0("The fit did not reach tol = ", tol, " (KKT ", worst, ").")
    } else {
        paste0(length(late), " of ", length(path$lambda2),
               " lambda2 values did not reach tol = ", tol, " (",
               step_ranges(late), ", worst KKT ", worst, ").")
    }
    warn_kliep("max_iter", what,
               hint = paste0("Raise `max_iter` in `kliep_control()`",
                             if (!is.null(path$lambda1)) ", or `lambda1`",
                             "."))
}

warn_unsettled <- function(path) {
    late <- which(path$diagnostics$status == "unsettled")
    if (length(late) == 0L) return(invisible())
    warn_kliep(
        "unsettled",
        paste0(count_of(length(late), "fit"), " (", step_ranges(late),
               ") had not settled after ", max(path$diagnostics$fits[late]),
               " convex fits."),
        hint = paste0("Raise `lambda1`",
                      if (path$penalty == "mcp")
                          paste0(" or `gamma` (now ", format(path$gamma), ")"),
                      ".")
    )
}

warn_near_threshold <- function(path) {
    near <- which(path$diagnostics$status == "near_threshold")
    if (length(near) == 0L) return(invisible())
    warn_kliep(
        "near_threshold",
        paste0("lambda2 = ", format(path$lambda2[near[1L]], digits = 4L),
               " (", step_ranges(near), ") is too close to the value below ",
               "which the objective has no minimum: ",
               "these coefficients cannot be relied on."),
        hint = "Raise `lambda2` or set `lambda1 > 0`."
    )
}

warn_unbounded <- function(path) {
    end <- which(path$diagnostics$status == "unbounded")
    if (length(end) == 0L) return(invisible())
    warn_kliep(
        "unbounded",
        paste0("The path ends at lambda2 = ",
               format(path$lambda2[end[1L]], digits = 4L), " (step ", end[1L],
               "): ", if (!is.null(path$lambda1))
                   paste0("with lambda1 = ", format(path$lambda1), " "),
               "the objective has no minimum there or below."),
        hint = paste0(if (!is.null(path$lambda1))
            "Set `lambda1 > 0` to go on, or keep" else "Keep",
            " to larger `lambda2`.")
    )
}

stop_if_unbounded <- function(change) {
    if (!any(change$diagnostics$status == "unbounded")) return(invisible())
    stop_kliep(
        "unbounded",
        paste0("The objective has no minimum at lambda2 = ",
               format(change$lambda2[1L], digits = 4L), " with lambda1 = ",
               format(change$lambda1), "."),
        hint = paste0(
            "Raise `lambda2` (nothing is detected from ",
            format(change$lambda_max, digits = 4L),
            " upwards) or set `lambda1 > 0`."
        )
    )
}

stop_overflow <- function(values, variables, standardize) {
    largest <- arrayInd(which.max(abs(values)), dim(values))
    stop_kliep(
        "overflow",
        paste0("The features overflow: the largest value is ",
               format(values[largest], digits = 3L), " in column `",
               variables[largest[2L]], "`."),
        hint = if (standardize == "none")
            "Use `standardize = \"within\"` or rescale the columns." else
            "Rescale the columns, or drop observations this far out."
    )
}

# c(1, 2, 3, 7) becomes "steps 1-3, 7".
step_ranges <- function(steps) {
    run <- cumsum(c(TRUE, diff(steps) != 1L))
    ranges <- vapply(split(steps, run), function(part) {
        paste(unique(range(part)), collapse = "-")
    }, "")
    paste(if (length(steps) == 1L) "step" else "steps",
          paste(ranges, collapse = ", "))
}
