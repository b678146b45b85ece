# The simplest comparison: thresholded differences of second moments, without a
# model.

#' Thresholded difference of second moments
#'
#' Takes the difference of the two matrices of second moments and sets to zero
#' all entries that do not exceed the threshold `lambda2`. It is the simplest
#' method that could find a change, and the one that every other method has to
#' beat:
#' \deqn{\theta_{uv} = D_{uv} \, [\,|D_{uv}| > \lambda\,], \qquad
#'     D = \frac{1}{n_P} X^\top X - \frac{1}{n_Q} Y^\top Y.}{
#'     theta_uv = D_uv [|D_uv| > lambda],  D = X'X / n_P - Y'Y / n_Q.}
#' A marginal change is not a change of the network: a changed edge (u, v)
#' changes the moments of all that is connected with it. \eqn{D_{uv}}{D_uv} is
#' also minus the gradient at zero of the loss of [kliep_path()] with Gaussian
#' features, so that both have the same `$lambda_max`.
#'
#' @section Selection:
#' `kliep_select()` scores a threshold by
#' \eqn{\langle \theta, \tilde D \rangle - \|\theta\|^2 / 2}{
#' <theta, D'> - |theta|^2 / 2} with the \eqn{\tilde D}{D'} of further samples,
#' which is minus half the squared distance of both, but for a constant
#' (Bickel and Levina, 2008).
#'
#' @inheritParams kliep_path
#' @param lambda2 The thresholds, in decreasing order.
#'   `NULL` takes a grid as in [kliep_path()].
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()].
#' @return A `change_path` with `$method` `"moment"`, as from [kliep_path()],
#'   for [edges()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path] and the rest. The coefficient of an edge is
#'   \eqn{\theta_{uv}}{theta_uv}, that of a variable alone
#'   \eqn{\theta_{uu}}{theta_uu}.
#' @references
#' Bickel, P. J. and Levina, E. (2008). Covariance regularization by
#' thresholding. *The Annals of Statistics* 36(6), 2577--2604.
#' @family methods to compare with
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 3)
#' path <- moment_path(pair$x, pair$y, nlambda = 20)
#' edges(path, lambda2 = path$lambda2[10])
moment_path <- function(x, y = NULL, lambda2 = NULL, nlambda = 50,
                        lambda_min_ratio = NULL,
                        standardize = c("within", "pooled", "none"), ...,
                        lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "moment_path")
    found <- find_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "moment_path")
    standardize <- check_standardize(standardize, feat_gaussian())
    grid <- check_grid(lambda2, nlambda, lambda_min_ratio)
    samples <- baseline_samples(found$x, found$y, standardize,
                                center = "standardize")
    moments <- sample_moments(samples, identity, standardize)
    difference <- moments$x - moments$y
    lambda_max <- round_up(max(abs(difference)))
    grid <- grid_values(grid, samples, lambda_max)
    coefficients <- lapply(seq_along(grid), function(step) {
        kept <- difference * (abs(difference) > grid[step])
        matrix_coefficients(kept, step, diagonal = 1)
    })
    path <- baseline_path(
        "moment",
        list(lambda_max = lambda_max, diagnostics = exact_diagnostics(grid),
             coefficients = do.call(rbind, coefficients)),
        samples, list(standardize = standardize), call, solver = "threshold"
    )
    with_conditions(path, found)
}

# Steps that need no solver.
exact_diagnostics <- function(grid) {
    data.frame(lambda2 = grid, objective = NA_real_, gap = NA_real_,
               kkt = NA_real_, iterations = 0L, status = "converged",
               seconds = 0)
}

moment_holl <- function(path, newx, newy) {
    new <- holdout_samples(path, newx, newy)
    average_terms(path, function(step) {
        theta <- as.matrix(coef(path, path$lambda2[step]))
        # <theta, z z'>, for each observation.
        inner <- function(z) rowSums((z %*% theta) * z)
        list(x = inner(new$x), y = -inner(new$y),
             constant = -sum(theta^2) / 2)
    })
}
