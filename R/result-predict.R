#' The fitted density ratio at new observations
#'
#' Evaluates the fitted ratio of the density of P (the sample `x`) to that of Q
#' (the sample `y`) at new observations,
#' \deqn{\hat r(z) = e^{\theta^\top f(z)} \Big/ \frac{1}{n_Q} \sum_{i=1}^{n_Q}
#'     e^{\theta^\top f(y_i)},}{
#'     r(z) = exp(theta' f(z)) / mean_i exp(theta' f(y_i)),}
#' which averages to one over the `y` that was fitted.
#'
#' @inheritParams coef.change_path
#' @param newdata Observations to evaluate: a matrix or data frame with the
#'   variables of the fit, matched by name where it has names.
#' @param type `"log_ratio"`, its exponential `"ratio"`, or `"weight"`, the
#'   ratio scaled to average one over `newdata`, which cannot overflow.
#' @param sample Which sample `newdata` belongs to, and so which means and
#'   variances standardise it, and with normal scores whose ranks
#'   ([feat_nonparanormal()]). It matters for `standardize = "within"` only.
#' @param s Not used: an error names `lambda2`, which other packages call `s`.
#' @return A numeric vector with one element for each row of `newdata`.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 3)
#' fit <- kliep_change(pair$x, pair$y, lambda2 = 0.1)
#' ratio <- predict(fit, pair$y, type = "ratio")
#' mean(ratio)
#' # Where the ratio is high, `y` looks most like `x`.
#' summary(ratio)
predict.change_path <- function(object, newdata, lambda2 = NULL,
                                type = c("log_ratio", "ratio", "weight"),
                                sample = c("y", "x"), ..., s) {
    # Without it, R would take `s` for short for `sample`.
    if (!missing(s)) stop_other_word("s", names(formals()), "predict")
    check_dots(list(...), names(formals()), "predict")
    if (is_baseline(object)) stop_no_ratio(object)
    if (missing(newdata)) stop_without_newdata()
    type <- check_choice(type, "type", c("log_ratio", "ratio", "weight"))
    sample <- check_choice(sample, "sample", c("y", "x"))
    step <- find_step(object, lambda2)
    newdata <- check_newdata(newdata, object)
    log_ratio <- score_matrix(object, newdata, sample, step)[, 1L] -
        object$log_normalizer[step]
    switch(type, log_ratio = log_ratio, ratio = exp(log_ratio),
           weight = mean_one(log_ratio))
}

stop_without_newdata <- function() {
    stop_kliep(
        "missing_sample",
        "`predict()` needs `newdata`, the observations to evaluate.",
        hint = "Such as `predict(fit, newdata = y)`."
    )
}

# `f(z)'theta` of new observations: one column for each of the steps.
score_matrix <- function(object, newdata, sample, steps) {
    rows <- object$coefficients
    # Whole paths are scored most, and need no copy.
    if (!identical(steps, seq_along(object$lambda2))) {
        rows <- rows[rows$step %in% steps, ]
        rows$step <- match(rows$step, steps)
    }
    newdata <- score_newdata(newdata, object$margins[[sample]])
    scaling <- list(center = object$center[[sample]],
                    scale = object$scale[[sample]])
    # Of a row with gaps, the pairs that are known count.
    gaps <- is.na(newdata)
    newdata[gaps] <- rep(scaling$center, each = nrow(newdata))[gaps]
    overflow <- function(condition) {
        stop_overflow(newdata, object$variables, object$spec$standardize)
    }
    scores <- if (is_table(object$spec$features)) {
        z <- sweep(sweep(newdata, 2L, scaling$center), 2L, scaling$scale, "/")
        colnames(z) <- object$variables
        table_scores(object$spec$features, z, rows, length(steps))
    } else {
        tryCatch(
            rust_feature_scores(newdata, scaling,
                                rust_features(object$spec$features,
                                              object$recurrence),
                                rows, length(steps)),
            kliep_error_overflow = overflow
        )
    }
    if (!all(is.finite(scores))) overflow()
    scores
}

# Columns beyond those of the fit are dropped before anything looks at them.
check_newdata <- function(newdata, object, arg = "newdata") {
    variables <- object$variables
    if (all(variables %in% colnames(newdata))) {
        check_names(colnames(newdata), arg)
        newdata <- newdata[, variables, drop = FALSE]
    }
    if (!is.null(object$coding)) newdata <- code_newdata(newdata, object$coding)
    newdata <- check_sample(newdata, arg, least = 1L)
    names <- colnames(newdata)
    if (!is.null(names) && !identical(names, variables)) {
        absent <- setdiff(variables, names)
        stop_kliep(
            "dimension",
            paste0("`", arg, "` must have the columns of the fit: ",
                   name_some(absent),
                   if (length(absent) == 1L) " is" else " are", " missing."),
            hint = "Without column names, columns are matched by position."
        )
    }
    if (ncol(newdata) != length(variables)) {
        stop_kliep(
            "dimension",
            paste0("`", arg, "` must have the ", length(variables),
                   " columns of the fit: got ", ncol(newdata), ".")
        )
    }
    unname(newdata)
}

# exp(log_ratio) over its mean, shifted by the maximum so that it stays finite.
mean_one <- function(log_ratio) {
    weight <- exp(log_ratio - max(log_ratio))
    weight / mean(weight)
}
