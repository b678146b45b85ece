#' How far apart the two distributions are
#'
#' Estimates the Kullback-Leibler divergence of P (the sample `x`) from Q (the
#' sample `y`) by the mean of the fitted log density ratio,
#' \deqn{\widehat{KL}(P \| Q) = \frac{1}{n_P} \sum_{i=1}^{n_P}
#'     \log \hat r(x_i), \qquad \hat r(z) = e^{\theta^\top f(z)} \Big/
#'     \frac{1}{n_Q} \sum_{j=1}^{n_Q} e^{\theta^\top f(y_j)}.}{
#'     KL(P || Q) = mean_i log r(x_i),
#'     r(z) = exp(theta' f(z)) / mean_j exp(theta' f(y_j)).}
#' Over the samples the ratio was fitted to (`fitted`) this is too large, the
#' more so the smaller `lambda2`. Over samples it has not seen (`holdout`) it is
#' not, and falls below zero where the fit is worse than none: the divergence
#' is at least as large as its expectation, up to the bias of the logarithm.
#'
#' A fit with `robust` above zero allows outliers in `x`. Both means are then
#' over the share `1 - robust` of its observations with the smallest log ratio,
#' as in the objective of [kliep_path()], and estimate less than the
#' divergence, the more so the larger `robust`.
#'
#' @param object A `change_path` from [kliep_path()] or
#'   [kliep_change()], or the result of [kliep_select()].
#' @param newx,newy Further observations of P and Q, with the variables of the
#'   fit. [kliep_select()] has held some out already.
#' @param lambda2 One value on the path. `NULL` is all of them, and for a
#'   selection the one that was selected.
#' @param ... Must be empty.
#' @return A data frame with one row for each `lambda2`: `lambda2`, `fitted`,
#'   and `holdout`, which is `NA` where nothing was held out.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 3, n_holdout = 500)
#' path <- kliep_path(pair$x, pair$y, nlambda = 6)
#' kl_divergence(path, pair$holdout$x, pair$holdout$y)
kl_divergence <- function(object, ...) {
    UseMethod("kl_divergence")
}

#' @export
kl_divergence.default <- function(object, ...) {
    stop_kliep(
        "type",
        paste0("`kl_divergence()` needs a fitted density ratio: got ",
               describe(object), "."),
        hint = "`kliep_change()`, `kliep_path()` and `kliep_select()` make one."
    )
}

#' @rdname kl_divergence
#' @export
kl_divergence.change_path <- function(object, newx = NULL, newy = NULL,
                                      lambda2 = NULL, ...) {
    check_dots(list(...), names(formals()), "kl_divergence")
    if (is_baseline(object)) stop_no_ratio(object, "kl_divergence")
    steps <- if (is.null(lambda2)) fitted_steps(object) else
        find_step(object, lambda2)
    data.frame(
        lambda2 = object$lambda2[steps],
        fitted = object$mean_score[steps] - object$log_normalizer[steps],
        holdout = holdout_divergence(object, newx, newy)[steps]
    )
}

#' @rdname kl_divergence
#' @export
kl_divergence.kliep_select <- function(object, newx = NULL, newy = NULL,
                                       lambda2 = NULL, ...) {
    divergence <- kl_divergence(chosen_part(object, lambda2), newx, newy,
                                lambda2, ...)
    if (is.null(newx)) {
        scores <- object$scores
        own <- scores[scores$candidate == scores$candidate[scores$selected], ]
        divergence$holdout <- own$kl[match(divergence$lambda2, own$lambda2)]
    }
    divergence
}

holdout_divergence <- function(object, newx, newy) {
    if (is.null(newx) && is.null(newy)) {
        return(rep(NA_real_, length(object$lambda2)))
    }
    check_both_new(newx, newy)
    holdout_scores(object, newx, newy)$kl
}

check_both_new <- function(newx, newy) {
    absent <- c("newx", "newy")[c(is.null(newx), is.null(newy))]
    if (length(absent) == 0L) return(invisible())
    stop_kliep(
        "missing_sample",
        paste0("Observations of both samples are needed: ", name_some(absent),
               if (length(absent) == 1L) " is" else " are", " missing.")
    )
}
