# The difference of the precision matrices, without either.

#' The difference of precision matrices by the D-trace loss
#'
#' Estimates the difference \eqn{D = (\Sigma^Q)^{-1} - (\Sigma^P)^{-1}}{
#' D = Sigma_Q^-1 - Sigma_P^-1} of the precision matrices of two Gaussian
#' samples directly, from their covariance matrices \eqn{S} (of `x`) and
#' \eqn{T} (of `y`): the minimum over symmetric \eqn{D} of
#' \deqn{\frac{1}{4} \left( \mathrm{tr}(D S D T) + \mathrm{tr}(D T D S) \right)
#'     - \mathrm{tr}(D (S - T)) + \lambda \|D\|_1,}{
#'     (tr(D S D T) + tr(D T D S)) / 4 - tr(D (S - T)) + lambda |D|_1,}
#' the lasso-penalised D-trace loss of Yuan, Xi, Chen and Deng (2017). Neither
#' network has to be sparse, and no matrix is inverted.
#'
#' @section Singular covariances:
#' Where `S` or `T` is singular, the loss has no minimum once `lambda2` falls
#' below a value that depends on the data. A path ends there with the status
#' `"unbounded"` and a warning of class `kliep_warning_unbounded`.
#'
#' @section Convergence:
#' `kkt` in `$diagnostics` is the worst violation of the optimality condition,
#' that minus the gradient of the loss,
#' \eqn{S - T - (S D T + T D S) / 2}, is within `lambda2` of zero everywhere
#' and equal to \eqn{\lambda\,\mathrm{sign}(D)}{lambda sign(D)} where \eqn{D}
#' is not zero, over all entries. A step is `"converged"` once it is at most
#' `tol` times `$lambda_max`.
#'
#' @section Selection:
#' `kliep_select()` scores a `lambda2` by minus the D-trace loss on the
#' covariance matrices of further samples.
#'
#' @inheritParams glasso_path
#' @param lambda2 The penalties, in decreasing order.
#'   `NULL` takes `nlambda` values, equally spaced on the log scale, from the
#'   smallest at which nothing is detected down to `lambda_min_ratio` of it.
#' @param standardize Scale every variable to variance one `"within"` each
#'   sample, to one with the `"pooled"` variance, or (`"none"`) not at all.
#'   \eqn{S} and \eqn{T} are the covariance matrices of the result: each sample
#'   is centred by its own means.
#' @param control Accuracy, iterations and threads: [kliep_control()]. Results
#'   do not depend on the number of threads.
#' @return A `change_path` with `$method` `"dtrace"`, as from [kliep_path()],
#'   for [edges()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path] and the rest. The coefficient of an edge is
#'   \eqn{D_{uv}}{D_uv}, which has the sign of [kliep_path()], and that of a
#'   variable alone \eqn{D_{uu} / 2}{D_uu / 2}.
#' @references
#' Yuan, H., Xi, R., Chen, C. and Deng, M. (2017). Differential network
#' analysis via lasso penalized D-trace loss. *Biometrika* 104(4), 755--770.
#' @family methods to compare with
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 3)
#' path <- dtrace_path(pair$x, pair$y, nlambda = 20)
#' path
#' edges(path, lambda2 = path$lambda2[10])
dtrace_path <- function(x, y = NULL, lambda2 = NULL, nlambda = 50,
                        lambda_min_ratio = NULL,
                        standardize = c("within", "pooled", "none"),
                        control = kliep_control(), progress = interactive(),
                        ..., lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "dtrace_path")
    found <- find_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "dtrace_path")
    standardize <- check_standardize(standardize, feat_gaussian())
    grid <- check_grid(lambda2, nlambda, lambda_min_ratio)
    control <- check_control(control)
    progress <- check_flag(progress, "progress")
    samples <- baseline_samples(found$x, found$y, standardize)
    covariances <- sample_moments(samples, function(n) n - 1, standardize)
    fit <- rust_fit_dtrace(
        covariances$x, covariances$y, c(rust_grid(grid, samples), control),
        if (progress) progress_bar("Fitting the path")
    )
    value <- ifelse(fit$from == fit$to, fit$value / 2, fit$value)
    coefficients <- data.frame(step = fit$step, from = fit$from, to = fit$to,
                               term = rep(1L, length(value)), value = value)
    path <- baseline_path(
        "dtrace",
        list(lambda_max = fit$lambda_max, diagnostics = rust_diagnostics(fit),
             coefficients = coefficients),
        samples,
        list(standardize = standardize, control = control, progress = FALSE),
        call, solver = "proximal gradient"
    )
    warn_unfinished(path)
    with_conditions(path, found)
}

# ---- scores on further samples ---------------------------------------------

# The loss is linear in each of the covariance matrices: its standard error is
# that of what each observation adds, the other sample's matrix given.
dtrace_holl <- function(path, newx, newy) {
    new <- holdout_samples(path, newx, newy)
    moments <- lapply(new, function(z) crossprod(z) / nrow(z))
    average_terms(path, function(step) {
        change <- change_matrix(path, step)
        half_x <- change %*% moments$x
        half_y <- change %*% moments$y
        # z'Az for each observation.
        quadratic <- function(z, a) rowSums((z %*% a) * z)
        list(
            x = quadratic(new$x, change - half_y %*% change / 2),
            y = -quadratic(new$y, change + half_x %*% change / 2),
            constant = sum(half_x * t(half_y)) / 2
        )
    })
}
