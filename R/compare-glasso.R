# Two networks, each estimated by itself.

#' Two graphical lassos and their difference
#'
#' Estimates the precision matrix of each sample by the graphical lasso, with
#' the same penalty for both,
#' \deqn{\hat\Theta = \arg\min_\Theta \; \mathrm{tr}(S \Theta)
#'     - \log\det \Theta + \lambda \|\Theta\|_1,}{
#'     Theta = argmin tr(S Theta) - log det Theta + lambda |Theta|_1,}
#' and takes their difference as the change. The solver is that of the package
#' \pkg{glasso}, at every `lambda2` run until the duality gap is within the
#' tolerance. The change itself is not penalised: it is sparse only where both
#' networks are.
#'
#' @section Zeros:
#' The change of an edge is zero where both estimates are zero, and nowhere
#' else: the difference of two estimates that are not zero is reported however
#' small. An entry of a precision matrix counts as zero where either of the
#' solver's two copies of it is, or where it is no larger than 1e-6 as a
#' partial correlation. The diagonal has no zeros; a difference there counts
#' as none if it is below 1e-6 of the larger of the two.
#'
#' @section Singular covariances:
#' For `lambda2 > 0` there is an estimate whatever the number of observations
#' (without a penalty on the diagonal, where no variable is constant). At
#' `lambda2 = 0` there is none for a singular covariance matrix: a path ends
#' there with the status `"unbounded"` and a warning of class
#' `kliep_warning_unbounded`.
#'
#' @section Selection:
#' `kliep_select()` scores a `lambda2` by the sum of the log-likelihoods of both
#' samples, per observation, of the standardised variables.
#'
#' @inheritParams kliep_path
#' @param lambda2 The penalties of both graphical lassos, in decreasing order.
#'   `NULL` takes `nlambda` values, equally spaced on the log scale, from the
#'   smallest at which both networks are empty down to `lambda_min_ratio` of
#'   it.
#' @param standardize Scale every variable to variance one `"within"` each
#'   sample, to one with the `"pooled"` variance, or (`"none"`) not at all.
#'   \eqn{S} is the covariance matrix of the result: each sample is centred by
#'   its own means.
#' @param penalize_diagonal Does the penalty include the diagonal, as in the
#'   paper?
#' @param control Accuracy and iterations: [kliep_control()].
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()].
#' @return A `change_path` with `$method` `"glasso"`, as from [kliep_path()],
#'   for [edges()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path] and the rest. The change has the sign of
#'   [kliep_path()]: \eqn{\theta_{uv} = -(\hat\Theta^P - \hat\Theta^Q)_{uv}}{
#'   theta_uv = -(Theta_P - Theta_Q)_uv} for edges and half of that for
#'   variables alone. `objective`, `gap` (the sum over both samples) and `kkt`
#'   in `$diagnostics` certify both estimates; `$networks` is a data frame with
#'   the entries of their upper triangles that are not zero: `step`, `sample`,
#'   `from`, `to` and `value`.
#' @references
#' Friedman, J., Hastie, T. and Tibshirani, R. (2008). Sparse inverse
#' covariance estimation with the graphical lasso. *Biostatistics* 9(3),
#' 432--441.
#'
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197.
#' @family methods to compare with
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 3)
#' path <- glasso_path(pair$x, pair$y, nlambda = 20)
#' path
#' edges(path, lambda2 = path$lambda2[10])
glasso_path <- function(x, y = NULL, lambda2 = NULL, nlambda = 50,
                        lambda_min_ratio = NULL,
                        standardize = c("within", "pooled", "none"),
                        penalize_diagonal = TRUE, control = kliep_control(),
                        progress = interactive(), ..., lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "glasso_path")
    found <- find_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "glasso_path")
    standardize <- check_standardize(standardize, feat_gaussian())
    grid <- check_grid(lambda2, nlambda, lambda_min_ratio)
    penalize_diagonal <- check_flag(penalize_diagonal, "penalize_diagonal")
    control <- check_control(control)
    progress <- check_flag(progress, "progress")
    samples <- baseline_samples(found$x, found$y, standardize)
    covariances <- sample_moments(samples, function(n) n - 1, standardize)
    lambda_max <- round_up(max(vapply(covariances, function(s) {
        max(abs(s[upper.tri(s)]))
    }, 0)))
    fits <- glasso_steps(covariances, grid_values(grid, samples, lambda_max),
                         penalize_diagonal, control, progress)
    path <- baseline_path(
        "glasso", c(list(lambda_max = lambda_max), fits), samples,
        list(standardize = standardize, control = control,
             penalize_diagonal = penalize_diagonal, progress = FALSE), call,
        shown = list(diagonal = if (penalize_diagonal) "penalised" else
            "not penalised"),
        extra = list(networks = fits$networks)
    )
    warn_unfinished(path)
    with_conditions(path, found)
}

# One step after the other, each started from the one before, up to one
# without an estimate.
glasso_steps <- function(covariances, grid, diagonal, control, progress) {
    draw <- if (progress) progress_bar("Fitting the path")
    fits <- list(x = NULL, y = NULL)
    rows <- list()
    for (step in seq_along(grid)) {
        begun <- Sys.time()
        fits <- Map(function(covariance, last) {
            glasso_estimate(covariance, grid[step], diagonal, last, control)
        }, covariances, fits)
        rows[[step]] <- glasso_row(fits, step, grid[step], control)
        rows[[step]]$diagnostics$seconds <-
            as.numeric(Sys.time() - begun, units = "secs")
        if (!is.null(draw)) draw(step, length(grid))
        if (is_unbounded(rows[[step]]$diagnostics$status)) break
    }
    part <- function(name) do.call(rbind, lapply(rows, `[[`, name))
    list(diagnostics = part("diagnostics"),
         coefficients = part("coefficients"), networks = part("networks"))
}

glasso_row <- function(fits, step, lambda, control) {
    sum_of <- function(name) sum(vapply(fits, `[[`, 0, name))
    unbounded <- any(vapply(fits, `[[`, NA, "unbounded"))
    objective <- sum_of("objective")
    gap <- sum_of("gap")
    reached <- is.finite(gap) &&
        gap <= control$tol * max(abs(objective), 1e-3)
    list(
        diagnostics = data.frame(
            lambda2 = lambda,
            objective = objective,
            gap = if (is.finite(gap)) gap else NA_real_,
            kkt = max(vapply(fits, `[[`, 0, "kkt")),
            iterations = as.integer(sum_of("iterations")),
            status = if (unbounded) "unbounded" else if (reached)
                "converged" else "max_iter"
        ),
        coefficients = if (unbounded) matrix_coefficients(diag(0), step) else
            matrix_coefficients(precision_change(fits), step),
        networks = if (!unbounded) do.call(rbind, lapply(
            c("x", "y"), function(sample) {
                entries <- matrix_coefficients(fits[[sample]]$theta, step, 1)
                data.frame(step = entries$step,
                           sample = rep(sample, nrow(entries)),
                           from = entries$from, to = entries$to,
                           value = entries$value)
            }
        ))
    )
}

# Below this, as a share of the diagonal, an entry counts as zero.
glasso_zero <- 1e-6

precision_change <- function(fits) {
    change <- fits$y$theta - fits$x$theta
    largest <- pmax(diag(fits$x$theta), diag(fits$y$theta))
    none <- abs(diag(change)) <= glasso_zero * largest
    diag(change)[none] <- 0
    change
}

# ---- one estimate ----------------------------------------------------------

glasso_estimate <- function(covariance, lambda, diagonal, last, control) {
    penalty <- matrix(lambda, nrow(covariance), ncol(covariance))
    if (!diagonal) diag(penalty) <- 0
    if (all(diag(covariance) + diag(penalty) > 0) && lambda > 0) {
        return(glasso_solve(covariance, penalty, last, control))
    }
    root <- value_or(chol(covariance), NULL)
    # A Cholesky factor whose smallest pivot is a rounding error counts as none.
    if (is.null(root) || lambda > 0 ||
        min(diag(root)) < 1e-7 * max(diag(root))) {
        return(list(unbounded = TRUE, objective = -Inf, gap = NA_real_,
                    kkt = NA_real_, iterations = 0))
    }
    judge_glasso(chol2inv(root), covariance, penalty, iterations = 0)
}

# The package's stopping rule is about changes from sweep to sweep: it is made
# stricter until the duality gap is small.
glasso_solve <- function(covariance, penalty, last, control) {
    iterations <- 0
    best <- NULL
    for (threshold in 1e-4 * 10^-c(0, 2, 4, 6)) {
        start <- glasso_start(last, covariance, penalty)
        # Warns of determinants that it takes for its own log-likelihood.
        fit <- suppressWarnings(glasso::glasso(
            covariance, penalty, thr = threshold, maxit = control$max_iter,
            start = if (is.null(start)) "cold" else "warm",
            w.init = start$w, wi.init = start$wi
        ))
        iterations <- iterations + fit$niter
        judged <- judge_glasso(clean_precision(fit$wi), covariance, penalty,
                               iterations)
        judged[c("w", "wi")] <- last <- fit[c("w", "wi")]
        if (is.null(best) || isTRUE(judged$gap < best$gap)) best <- judged
        best$iterations <- iterations
        enough <- control$tol / 2 * max(abs(best$objective), 1e-3)
        if (isTRUE(best$gap <= enough)) break
    }
    best
}

# A covariance that is not allowed at this penalty or not positive definite
# sends the package into an endless loop: bring the last one within reach, or
# start again.
glasso_start <- function(last, covariance, penalty) {
    if (is.null(last)) return(NULL)
    excess <- last$w - covariance
    w <- covariance + pmin(pmax(excess, -penalty), penalty)
    diag(w) <- diag(covariance) + diag(penalty)
    root <- value_or(chol(w), NULL)
    if (!is.null(root)) list(w = w, wi = last$wi)
}

# Symmetric, with zeros where an entry is zero in effect.
clean_precision <- function(wi) {
    theta <- (wi + t(wi)) / 2
    partial <- abs(theta) / sqrt(outer(diag(theta), diag(theta)))
    zero <- wi == 0 | t(wi) == 0 | !(partial > glasso_zero)
    diag(zero) <- FALSE
    theta[zero] <- 0
    theta
}

# The certificate of an estimate: objective, duality gap and the worst
# violation of the optimality conditions.
judge_glasso <- function(theta, covariance, penalty, iterations) {
    judged <- list(theta = theta, unbounded = FALSE, objective = NA_real_,
                   gap = Inf, kkt = Inf, iterations = iterations)
    root <- value_or(chol(theta), NULL)
    if (is.null(root)) return(judged)
    excess <- chol2inv(root) - covariance
    bound <- penalty * sign(theta)
    judged$kkt <- max(ifelse(theta == 0, pmax(0, abs(excess) - penalty),
                             abs(excess - bound)))
    judged$objective <- sum(covariance * theta) -
        2 * sum(log(diag(root))) + sum(penalty * abs(theta))
    # The nearest point that the dual problem allows.
    feasible <- covariance + pmin(pmax(excess, -penalty), penalty)
    root <- value_or(chol(feasible), NULL)
    if (is.null(root)) return(judged)
    judged$gap <- max(0, judged$objective - 2 * sum(log(diag(root))) -
        nrow(theta))
    judged
}

# ---- scores on further samples ---------------------------------------------

glasso_holl <- function(path, newx, newy) {
    new <- holdout_samples(path, newx, newy)
    average_terms(path, function(step) {
        terms <- lapply(c(x = "x", y = "y"), function(sample) {
            gaussian_log_density(network_matrix(path, step, sample),
                                 new[[sample]])
        })
        c(terms, constant = 0)
    })
}

# The precision matrix of one sample at one step, dense.
network_matrix <- function(path, step, sample) {
    d <- length(path$variables)
    rows <- path$networks
    rows <- rows[rows$step == step & rows$sample == sample, ]
    theta <- matrix(0, d, d)
    theta[cbind(rows$from, rows$to)] <- rows$value
    theta[cbind(rows$to, rows$from)] <- rows$value
    theta
}

# Of each row of z, under N(0, theta^-1).
gaussian_log_density <- function(theta, z) {
    root <- chol(theta)
    sum(log(diag(root))) - ncol(z) / 2 * log(2 * pi) -
        rowSums(tcrossprod(z, root)^2) / 2
}
