# Neighbourhood regressions whose difference is penalised.

#' Fused-lasso neighbourhood regressions
#'
#' Regresses every variable on all others, in both samples at once, with a
#' penalty on the difference of the coefficients (Zhang and Wang, 2010). For
#' variable \eqn{s}, with the other variables \eqn{X_{-s}}{X_-s} and
#' \eqn{Y_{-s}}{Y_-s} of both samples,
#' \deqn{\min_{b^P, b^Q} \;
#'     \frac{1}{2 n_P} \|x_s - X_{-s} b^P\|^2 +
#'     \frac{1}{2 n_Q} \|y_s - Y_{-s} b^Q\|^2 +
#'     \lambda_1 (\|b^P\|_1 + \|b^Q\|_1) + \lambda_2 \|b^P - b^Q\|_1.}{
#'     min |x_s - X_-s b_P|^2 / (2 n_P) + |y_s - Y_-s b_Q|^2 / (2 n_Q)
#'     + lambda1 (|b_P|_1 + |b_Q|_1) + lambda2 |b_P - b_Q|_1.}
#' The change of the edge between \eqn{s} and \eqn{u} is
#' \eqn{b^P_u - b^Q_u}{b_P,u - b_Q,u} in the regression of \eqn{s}, and a
#' second time in that of \eqn{u}; `symmetrize` makes one of both.
#'
#' @section Rule:
#' `"and"` detects an edge where both regressions do, and takes the smaller
#' difference (in size); `"or"` where either does, and takes the larger one;
#' `"mean"` takes the mean of both, which is zero where both are (or cancel).
#'
#' @section Convergence:
#' `kkt` in `$diagnostics` is the worst violation of the optimality conditions
#' over all coefficients of all regressions. A step is `"converged"` once it is
#' at most `tol` times `$lambda_max` (or times a thousandth of the largest
#' covariance, if that is larger).
#'
#' @section Selection:
#' `kliep_select()` scores a `lambda2` by the sum over all variables of the
#' conditional log-likelihoods given the others, in both samples, per
#' observation: normal with the variances of the residuals of the fit.
#'
#' @inheritParams glasso_path
#' @param lambda1 The penalty on the coefficients themselves, 0 or more.
#' @param lambda2 The penalties on their difference, in decreasing order.
#'   `NULL` takes `nlambda` values, equally spaced on the log scale, from the
#'   smallest at which all regressions are the same in both samples down to
#'   `lambda_min_ratio` of it.
#' @param standardize Scale every variable to variance one `"within"` each
#'   sample, to one with the `"pooled"` variance, or (`"none"`) not at all.
#'   Each sample is centred by its own means, so that regressions need no
#'   intercept.
#' @param symmetrize How the two regressions that contain an edge are combined;
#'   see the section below.
#' @param control Accuracy, iterations and threads: [kliep_control()]. Results
#'   do not depend on the number of threads.
#' @return A `change_path` with `$method` `"flasso"`, as from [kliep_path()],
#'   for [edges()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path] and the rest; it has no coefficients for
#'   variables alone. The sign is that of [kliep_path()]: positive where the
#'   interaction is higher in `x`. `$regressions` is a data frame with all
#'   coefficients that are not zero in either sample: `step`, `response`,
#'   `predictor`, `x` and `y`. `$variances$x` and `$variances$y` are the
#'   variances of the residuals, with one row for each variable and one column
#'   for each step.
#' @references
#' Zhang, B. and Wang, Y. (2010). Learning structural changes of Gaussian
#' graphical models in controlled experiments. *Proceedings of the 26th
#' Conference on Uncertainty in Artificial Intelligence*, 701--708.
#'
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197.
#' @family methods to compare with
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 3)
#' path <- flasso_path(pair$x, pair$y, nlambda = 20)
#' path
#' edges(path, lambda2 = path$lambda2[10])
flasso_path <- function(x, y = NULL, lambda1 = 0.1, lambda2 = NULL,
                        nlambda = 50, lambda_min_ratio = NULL,
                        standardize = c("within", "pooled", "none"),
                        symmetrize = c("and", "or", "mean"),
                        control = kliep_control(), progress = interactive(),
                        ..., lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "flasso_path")
    found <- find_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "flasso_path")
    standardize <- check_standardize(standardize, feat_gaussian())
    lambda1 <- check_lambda1(lambda1)
    grid <- check_grid(lambda2, nlambda, lambda_min_ratio)
    symmetrize <- check_choice(symmetrize, "symmetrize",
                               c("and", "or", "mean"))
    control <- check_control(control)
    progress <- check_flag(progress, "progress")
    samples <- baseline_samples(found$x, found$y, standardize)
    moments <- sample_moments(samples, identity, standardize)
    fit <- rust_fit_flasso(
        moments$x, moments$y,
        c(list(lambda1 = lambda1), rust_grid(grid, samples), control),
        if (progress) progress_bar("Fitting the regressions")
    )
    regressions <- as.data.frame(fit[c("step", "response", "predictor", "x",
                                       "y")])
    path <- baseline_path(
        "flasso",
        list(lambda_max = fit$lambda_max, diagnostics = rust_diagnostics(fit),
             coefficients = symmetric_change(regressions, symmetrize)),
        samples,
        list(lambda1 = lambda1, standardize = standardize,
             symmetrize = symmetrize, control = control, progress = FALSE),
        call, solver = "coordinate descent",
        shown = list(lambda1 = lambda1, symmetrize = symmetrize),
        extra = list(regressions = regressions,
                     variances = residual_variances(fit))
    )
    warn_unfinished(path)
    with_conditions(path, found)
}

# One row for each variable and one column for each step.
residual_variances <- function(fit) {
    steps <- length(fit$lambda2)
    list(x = matrix(fit$variances_x, ncol = steps),
         y = matrix(fit$variances_y, ncol = steps))
}

# The differences of both regressions that know of an edge, made one.
symmetric_change <- function(regressions, symmetrize) {
    rows <- data.frame(
        step = regressions$step,
        from = pmin(regressions$response, regressions$predictor),
        to = pmax(regressions$response, regressions$predictor),
        value = regressions$x - regressions$y
    )
    rows <- rows[rows$value != 0, ]
    rows <- rows[order(rows$step, rows$from, rows$to), ]
    first <- !duplicated(pair_keys(rows))
    edges <- rows[first, ]
    second <- rep(0, nrow(edges))
    second[cumsum(first)[!first]] <- rows$value[!first]
    smaller <- abs(second) < abs(edges$value)
    edges$value <- switch(
        symmetrize,
        and = ifelse(smaller, second, edges$value),
        or = ifelse(smaller, edges$value, second),
        mean = (edges$value + second) / 2
    )
    edges <- edges[edges$value != 0, ]
    data.frame(step = edges$step, from = edges$from, to = edges$to,
               term = rep(1L, nrow(edges)), value = edges$value)
}

# ---- scores on further samples ---------------------------------------------

flasso_holl <- function(path, newx, newy) {
    new <- holdout_samples(path, newx, newy)
    average_terms(path, function(step) {
        terms <- lapply(c(x = "x", y = "y"), function(sample) {
            residuals <- new[[sample]] -
                new[[sample]] %*% regression_matrix(path, step, sample)
            # Regressions without residuals leave no density.
            variance <- pmax(path$variances[[sample]][, step],
                             .Machine$double.eps)
            deviation <- rep(sqrt(variance), each = nrow(residuals))
            rowSums(stats::dnorm(residuals, sd = deviation, log = TRUE))
        })
        c(terms, constant = 0)
    })
}

# The coefficients of a step in one sample: a column for each response.
regression_matrix <- function(path, step, sample) {
    d <- length(path$variables)
    rows <- path$regressions[path$regressions$step == step, ]
    coefficients <- matrix(0, d, d)
    coefficients[cbind(rows$predictor, rows$response)] <- rows[[sample]]
    coefficients
}
