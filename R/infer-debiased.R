#' Confidence intervals for single changes
#'
#' Estimates how much each edge has changed, without the bias that a penalty
#' brings, with standard errors, confidence intervals and p-values for each
#' edge, adjusted p-values, and intervals that hold for all edges at once. These
#' are the estimators SparKLIE+1 and SparKLIE+2 of Kim, Liu and Kolar (2021).
#' The networks themselves may be dense; only the change has to be sparse.
#'
#' @section Estimators:
#' With the features \eqn{f}, one for each factor, and
#' \deqn{\ell(\theta) = \log \frac{1}{n_Q} \sum_{i=1}^{n_Q}
#'     e^{\theta^\top f(y_i)} - \frac{1}{n_P} \sum_{j=1}^{n_P}
#'     \theta^\top f(x_j)}{l(theta) = log mean_i exp(theta' f(y_i)) -
#'     mean_j theta' f(x_j)}
#' the loss of [kliep_path()], an edge \eqn{k} is estimated in three stages:
#' 1. A sparse estimate minimises \eqn{\ell(\theta) + \lambda \sum_t s_t
#'    |\theta_t|}{l(theta) + lambda sum_t s_t |theta_t|}, with loadings that
#'    make up for how well the gradient of each factor is known,
#'    \deqn{s_t^2 = \frac{\widehat{\mathrm{var}} f_t(x)}{n_P} +
#'        \frac{\widehat{\mathrm{var}}\, r(y) f_t(y)}{n_Q},}{
#'        s_t^2 = var(f_t(x)) / n_P + var(r(y) f_t(y)) / n_Q,}
#'    \eqn{r(y) \propto e^{\theta^\top f(y)}}{r(y) = exp(theta' f(y)) / mean}
#'    the estimated density ratio: first at \eqn{\theta = 0}{theta = 0}, then
#'    at the estimate that this gives. Its support is \eqn{S_1}. With `refit`
#'    it is then replaced by the minimum of \eqn{\ell}{l} without penalty over
#'    \eqn{S_1 \cup \{k\}}{S_1 and k}. The outcome is
#'    \eqn{\check\theta}{theta}.
#' 2. The row \eqn{k} of the inverse of \eqn{H = \nabla^2
#'    \ell(\check\theta)}{H, the Hessian of l at theta,} is approximated by the
#'    scaled lasso,
#'    \deqn{\min_\omega \tfrac12 \omega^\top H \omega - \omega_k + \lambda_r
#'        \sigma \sum_{t \ne k} |\omega_t|, \qquad \sigma^2 = \omega^\top H
#'        \omega.}{min over omega of omega' H omega / 2 - omega_k + lambda_r
#'        sigma sum_{t != k} |omega_t|, sigma^2 = omega' H omega.}
#'    With `refit` the row is then computed without penalty on its support
#'    \eqn{S_2} (with \eqn{k}), \eqn{\omega = H_{S_2 S_2}^{-1} e_k}{omega =
#'    solve(H[S_2, S_2])[k, ]}.
#' 3. `"one_step"` (SparKLIE+1) is one Newton step,
#'    \eqn{\hat\theta_k = \check\theta_k - \omega^\top \nabla
#'    \ell(\check\theta)}{theta_k - omega' grad l(theta)};
#'    `"double_selection"` (SparKLIE+2) is coefficient \eqn{k} of the minimum of
#'    \eqn{\ell}{l} without penalty over \eqn{S_1 \cup S_2}{S_1 and S_2}, and
#'    \eqn{\omega}{omega} is the row of the inverse Hessian there.
#'
#' @section Standard errors:
#' The error of an estimate is about the sum of the influences of all
#' observations, with \eqn{v = \omega^\top f}{v = omega' f} and means \eqn{\bar
#' v}{m(v)} over `x` and \eqn{\bar v_r}{m_r(v)} over `y` weighted by the ratio,
#' \deqn{\frac{v(x_j) - \bar v}{n_P}, \qquad
#'     -\frac{r(y_i) (v(y_i) - \bar v_r)}{n_Q},}{
#'     (v(x_j) - m(v)) / n_P  and  -r(y_i) (v(y_i) - m_r(v)) / n_Q,}
#' and its squared standard error is the sum of their squares. (The
#' normaliser of the ratio is estimated, too, and takes the weighted mean away
#' from \eqn{v}; without this the error comes out too large.) With
#' `standardize = "within"` the standard deviations that each sample is divided
#' by are estimated, and their part is added to the influences: the estimates
#' are about networks whose variables all have variance one.
#'
#' Point-wise intervals are \eqn{\hat\theta_k \pm z\, \mathrm{se}_k}{estimate +-
#' z se} with the normal quantile, and `p_value` is that of "edge \eqn{k} has
#' not changed". `q_value` and `q_value_by` are adjusted for the number of edges
#' by the method of Benjamini and Hochberg, and by that of Benjamini and
#' Yekutieli, which holds under any dependence: the edges with \eqn{p \le q}
#' contain an expected share of at most \eqn{q} of edges that have not changed.
#'
#' @section All edges at once:
#' In each of `n_boot` draws the influences are multiplied by independent
#' standard normal numbers (the multiplier bootstrap), which gives the
#' distribution of the largest error over all edges,
#' \eqn{\max_k |\hat\theta_k - \theta_k|}{max |estimate - truth|} (`"plain"`)
#' or \eqn{\max_k |\hat\theta_k - \theta_k| / \mathrm{se}_k}{max |estimate -
#' truth| / se} (`"studentized"`), and its quantile \eqn{c}. The intervals
#' \eqn{\hat\theta_k \pm c}{estimate +- c} or \eqn{\hat\theta_k \pm c\,
#' \mathrm{se}_k}{estimate +- c se} contain the changes of all edges with
#' probability `level`, and `$global` tests that none of them has changed. The
#' draws come from R's generator ([set.seed()]) and do not depend on the number
#' of threads.
#'
#' @section What can go wrong:
#' The first stage has no ridge. Where `lambda` is too small for the data it
#' has no minimum, which is an error of class `kliep_error_unbounded`. Without
#' a penalty, the same can happen on the support of an edge, and with few
#' observations on that of the first stage, which all edges share: such an edge
#' is estimated by one Newton step from the penalised estimate, with a warning
#' of class `kliep_warning_one_step`. An edge that has no minimum even by itself
#' is `NA`, with a warning of class `kliep_warning_not_estimated` and the
#' reason in `$diagnostics`. So is one whose feature has one value in all of
#' `y`, and one whose row of the inverse Hessian is not found.
#'
#' Where the fitted ratio gives nearly all weight to a few observations, the
#' normal approximation fails. `$diagnostics$effective_size` says for each edge
#' how many observations its weights of `y` are worth (see [kliep_path()]).
#' Below half of `y` intervals may be too narrow (of edges that have not changed
#' 5 % were rejected at .05 with 320 of 500, 7.4 % with 230 and 10 % with 150),
#' and a warning of class `kliep_warning_effective_size` says so.
#'
#' The density ratio is that of `x` to `y`, and reweights `y`: let `y` be the
#' larger or the more spread out of the two samples. Exchanging them changes
#' the sign of the estimates and some of their precision: `kliep_debias(y, x)`
#' is the inference that goes with `direction = "q/p"`. There is none for
#' `"symmetric"`, because its theory, such as that of the normaliser's error,
#' is about one ratio.
#'
#' @param x,y The two samples, as for [kliep_path()], with at least 10
#'   observations each, or a result of this package as `x`: its samples, with
#'   the features and the standardisation of its estimator.
#' @param spec The estimator: see [kliep_spec()]. Its features must have one
#'   coefficient for each factor, as [feat_gaussian()],
#'   [feat_nonparanormal()] and [feat_ising()] do; of its other settings only
#'   `standardize` and `control` matter here, as the penalties and the
#'   direction are those of the published method.
#' @param edges The edges to estimate: a data frame with columns `from` and
#'   `to`, by name or by number. `NULL` takes all pairs of variables.
#' @param estimator `"double_selection"` (SparKLIE+2) or `"one_step"`
#'   (SparKLIE+1). They agree in large samples; with a few hundred observations
#'   the intervals of the former cover more nearly what they should.
#' @param level The confidence level.
#' @param n_boot The number of bootstrap draws for intervals that hold for all
#'   edges at once; 0 leaves them out.
#' @param lambda The penalty of the first stage in units of the loadings.
#'   `NULL` is \eqn{1.01\, \Phi^{-1}(1 - 0.05 / p)}{1.01 qnorm(1 - 0.05 / p)}
#'   with \eqn{p} the number of factors.
#' @param row_lambda The penalty \eqn{\lambda_r}{lambda_r} of the second stage.
#'   `NULL` is \eqn{\sqrt{2 \log(p) / n_Q}}{sqrt(2 log(p) / n_Q)}.
#' @param refit Fit the outcomes of the first two stages once more on their
#'   supports, without penalty? It removes the bias of the penalties before the
#'   last stage, and is useful in small samples, too.
#' @param progress Show a progress bar when it takes long?
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. And settings of [kliep_spec()] by name: `features`,
#'   `standardize`, `control`.
#'
#' @return An object of class `kliep_debias`, with [print()],
#'   [`plot()`][plot.kliep_debias], [`edges()`][edges.kliep_debias] (the
#'   edges that have changed by a chosen rule) and
#'   [`confint()`][confint.kliep_debias]:
#'   * `estimates`: a data frame with one row for each edge: `from`, `to`,
#'     `estimate`, `se`, `lower`, `upper`, `p_value`, `q_value`, `q_value_by`,
#'     and, of the intervals that hold for all edges at once, `lower_plain`,
#'     `upper_plain`, `lower_studentized` and `upper_studentized`;
#'   * `global`: the tests of no change in any of the edges, with the columns
#'     `type`, `statistic`, `critical` (the quantile \eqn{c}) and `p_value`;
#'   * `first`: the change that the first stage detects, as a data frame with
#'     `from`, `to` (the same for a variable alone) and `value`;
#'   * `diagnostics`: a data frame with one row for each edge: `from`, `to`,
#'     `status` (`"estimated"`, `"one_step"` if only one Newton step was
#'     possible, `"constant"`, `"no_row"` or `"no_refit"`), `support` (the
#'     number of factors that the estimate adjusts for, with its own) and `kkt`,
#'     the worst violation of the optimality conditions of the second stage as a
#'     share of its penalty.
#' @references
#' Kim, B., Liu, S. and Kolar, M. (2021). Two-sample inference for
#' high-dimensional Markov networks. *Journal of the Royal Statistical Society:
#' Series B* 83(5), 939--962.
#'
#' Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery
#' rate in multiple testing under dependency. *Annals of Statistics* 29(4),
#' 1165--1188.
#' @export
#' @examples
#' set.seed(1)
#' theta_x <- ising_chain(8, coupling = 0.4)
#' theta_y <- ising_change(theta_x, n_changed = 2, change = -0.6)
#' pair <- sim_ising(theta_x, theta_y, n = 400)
#' result <- kliep_debias(pair$x, pair$y, feat_ising())
#' result
#' edges(result)
#' pair$truth
#'
#' # One edge alone.
#' kliep_debias(pair$x, pair$y, feat_ising(),
#'             edges = data.frame(from = "V1", to = "V2"))$estimates
kliep_debias <- function(x, y = NULL, spec = NULL, edges = NULL,
                        estimator = c("double_selection", "one_step"),
                        level = 0.95, n_boot = 1000, lambda = NULL,
                        row_lambda = NULL, refit = TRUE,
                        progress = interactive(), ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    stop_gaps(found, "kliep_debias")
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             spec_arguments()), "kliep_debias")
    spec <- as_spec(if (is.null(spec)) found$result else spec, found$rest)
    check_single_coefficient(spec$features)
    samples <- as_samples(found, spec$features, least = 10L)
    notice_samples(found, samples, spec$features)
    refuse_dependent(samples$design)
    spec <- settle_spec(spec, samples$variables)
    level <- check_fraction(level, "level")
    edges <- check_edges(edges, samples$variables)
    p <- n_factors_of(spec$features, length(samples$variables))
    settings <- list(
        estimator = check_choice(estimator, "estimator",
                                 c("double_selection", "one_step")),
        refit = check_flag(refit, "refit"),
        lambda = check_lambda_or(lambda, "lambda",
                                 1.01 * stats::qnorm(1 - 0.05 / p)),
        row_lambda = check_lambda_or(row_lambda, "row_lambda",
                                     sqrt(2 * log(p) / nrow(samples$y))),
        n_boot = as.integer(check_whole(n_boot, "n_boot", least = 0))
    )
    check_constant(samples, spec$standardize)
    # The normal numbers of all draws, as drawn and as used.
    check_memory(16 * settings$n_boot * (nrow(samples$x) + nrow(samples$y)),
                 count_of(settings$n_boot, "bootstrap draw"),
                 hint = "Lower `n_boot`.")
    progress <- check_flag(progress, "progress")
    fit <- fit_inference(samples, spec, edges, settings, progress)
    result <- new_inference(fit, edges, settings, spec, samples, level, call)
    with_samples(result, samples, found$conditions)
}

fit_inference <- function(samples, spec, edges, settings, progress) {
    request <- c(settings, spec["standardize"],
                 spec$control[c("tol", "max_iter", "threads")])
    request$seed <- if (settings$n_boot > 0L) draw_seed() else 0
    on_progress <- if (progress) progress_bar("Estimating edges")
    samples <- score_samples(samples, spec$features, spec$standardize)
    fit <- tryCatch(
        rust_infer_edges(samples$x, samples$y, rust_features(spec$features),
                         edges, request, on_progress),
        kliep_error_overflow = function(condition) {
            stop_overflow(rbind(samples$x, samples$y), samples$variables,
                          spec$standardize)
        }
    )
    stop_without_first(fit, settings)
    warn_first(fit, request)
    warn_not_estimated(fit$edge_status, settings)
    warn_few_weighted(fit$effective_size, nrow(samples$y))
    fit
}

# The published variances are those of independent observations.
refuse_dependent <- function(design) {
    known <- intersect(names(design), c("strata", "unit", "pair"))
    if (length(known) == 0L) return(invisible())
    stop_kliep(
        "design",
        paste0("`kliep_debias()` assumes independent observations: got ",
               name_some(known), "."),
        hint = "`kliep_infer()` takes them into account."
    )
}

# ---- what is asked for -----------------------------------------------------

# Features with one coefficient for each factor.
check_single_coefficient <- function(features) {
    features <- check_features(features)
    if (features$kind == "products" && edge_size(features) == 1L &&
        single_size(features) <= 1L) {
        return(features)
    }
    stop_kliep(
        "features",
        paste0("`kliep_debias()` needs features with one coefficient for each ",
               "factor: got ", name_features(features), "."),
        hint = paste("Use `feat_gaussian()`, `feat_nonparanormal()` or",
                     "`feat_ising()`.")
    )
}

# Pairs of column numbers with from < to; all of them for NULL.
check_edges <- function(edges, variables) {
    if (is.null(edges)) {
        d <- length(variables)
        check_memory(100 * d * (d - 1) / 2,
                     paste("Inference on all edges of",
                           count_of(d, "variable")),
                     hint = "Name the `edges` of interest.")
        edges <- pair_from_index(seq_len(d * (d - 1) / 2))
    } else {
        edges <- check_pairs(edges, variables, "the samples do")
        if (nrow(edges) == 0L) {
            stop_kliep("argument", "`edges` has no rows.",
                       hint = "`edges = NULL` takes all edges.")
        }
    }
    list(from = as.integer(edges$from), to = as.integer(edges$to))
}

check_lambda_or <- function(value, arg, default) {
    if (is.null(value)) return(default)
    check_positive(value, arg, "lambda")
}

# ---- how it ended ----------------------------------------------------------

stop_without_first <- function(fit, settings) {
    if (!is_unbounded(fit$status)) return(invisible())
    stop_kliep(
        "unbounded",
        paste0("The first stage has no minimum at lambda = ",
               format(settings$lambda, digits = 4L), "."),
        hint = paste0(
            "Raise `lambda` (nothing is detected from ",
            format(settings$lambda * fit$largest, digits = 4L),
            " upwards), or leave out variables: there may be too many for ",
            "the observations, or some that hardly vary in `y`."
        )
    )
}

warn_first <- function(fit, settings) {
    if (is_converged(fit$status)) return(invisible())
    if (fit$status == "max_iter") {
        warn_kliep(
            "max_iter",
            paste0("The first stage did not reach tol = ",
                   format(settings$tol), " (KKT ",
                   format(fit$kkt, digits = 1L), ")."),
            hint = "Raise `max_iter` in `kliep_control()`, or `lambda`."
        )
    } else {
        warn_kliep(
            fit$status,
            paste("The first stage is too close to the penalty below which it",
                  "has no minimum: it cannot be relied on."),
            hint = "Raise `lambda`."
        )
    }
}

# What the names of the status mean.
reasons <- c(
    constant = "the feature has one value in all of `y`",
    no_row = "the row of the inverse Hessian was not found",
    no_refit = "without a penalty there is no fit on the support"
)

is_estimated <- function(status) status %in% c("estimated", "one_step")


warn_not_estimated <- function(status, settings) {
    warn_one_step(status, settings)
    failed <- status[!is_estimated(status)]
    if (length(failed) == 0L) return(invisible())
    counted <- table(factor(failed, names(reasons)))
    counted <- counted[counted > 0L]
    ways <- c(
        no_row = "raise `row_lambda`",
        no_refit = if (settings$estimator == "double_selection")
            "raise `lambda` or `row_lambda`" else
            "raise `lambda`, or use `refit = FALSE`"
    )
    ways <- ways[intersect(names(counted), names(ways))]
    warn_kliep(
        "not_estimated",
        paste0(length(failed), " of ", count_of(length(status), "edge"),
               " could not be estimated: ",
               paste0(reasons[names(counted)], " (", counted, ")",
                      collapse = ", "), "."),
        hint = if (length(ways) > 0L)
            paste0("To get more, ", paste(ways, collapse = ", or "), ".")
    )
}

warn_one_step <- function(status, settings) {
    count <- sum(status == "one_step")
    if (count == 0L) return(invisible())
    warn_kliep(
        "one_step",
        paste0(count, " of ", count_of(length(status), "edge"), " could only ",
               "be estimated by one Newton step from the penalised estimate: ",
               reasons[["no_refit"]], "."),
        hint = "Raise `lambda` or `row_lambda` for smaller supports."
    )
}

# Below half of `y` tests of no change are rejected too often: at .05 in .074
# with 230 of 500, in .10 with 150.
warn_few_weighted <- function(size, n_y) {
    few <- which(size < n_y / 2)
    if (length(few) == 0L) return(invisible())
    warn_kliep(
        "effective_size",
        paste0("The weights of `y` are worth fewer than half of its ", n_y,
               " observations for ", length(few), " of ",
               count_of(length(size), "edge"), ", as few as ",
               format(min(size[few]), digits = 3L),
               ": their intervals may be too narrow."),
        hint = paste("Exchange `x` and `y` where `x` is more spread out, or",
                     "use `kliep_infer()`, which has no such weights.")
    )
}

# ---- the result ------------------------------------------------------------

# The only place the class is set. `fit` is the list that comes from Rust.
new_inference <- function(fit, edges, settings, spec, samples, level, call) {
    named <- data.frame(from = samples$variables[edges$from],
                        to = samples$variables[edges$to])
    maxima <- list(plain = fit$max_plain, studentized = fit$max_studentized)
    # Rust has no NA for numbers, only NaN.
    estimate <- replace(fit$estimate, is.nan(fit$estimate), NA)
    se <- replace(fit$se, is.nan(fit$se), NA)
    if (settings$n_boot == 0L || all(is.na(estimate))) maxima <- NULL
    structure(
        class = "kliep_debias",
        list(
            estimates = cbind(named, estimate_table(estimate, se, level,
                                                    maxima)),
            global = global_tests(estimate, se, level, maxima),
            first = data.frame(from = samples$variables[fit$first_from],
                               to = samples$variables[fit$first_to],
                               value = fit$first_value),
            diagnostics = cbind(named, data.frame(
                status = fit$edge_status, support = fit$support,
                kkt = replace(fit$row_kkt, is.nan(fit$row_kkt), NA),
                effective_size = replace(fit$effective_size,
                                         is.nan(fit$effective_size), NA)
            )),
            maxima = maxima,
            level = level,
            first_kkt = fit$kkt,
            settings = settings,
            spec = spec,
            variables = samples$variables,
            coding = samples$coding,
            n = observations_of(samples),
            call = call
        )
    )
}

estimate_table <- function(estimate, se, level, maxima) {
    p_value <- 2 * stats::pnorm(-abs(estimate / se))
    table <- data.frame(
        estimate = estimate,
        se = se,
        interval_columns(estimate, se, level, NULL, "pointwise"),
        p_value = p_value,
        q_value = stats::p.adjust(p_value, "BH"),
        q_value_by = stats::p.adjust(p_value, "BY")
    )
    for (type in names(maxima)) {
        both <- interval_columns(estimate, se, level, maxima, type)
        names(both) <- paste(names(both), type, sep = "_")
        table <- cbind(table, both)
    }
    table
}

# Half the width of an interval: a number for each edge.
half_width <- function(se, level, maxima, type) {
    switch(
        type,
        pointwise = stats::qnorm((1 + level) / 2) * se,
        plain = largest_quantile(maxima$plain, level) + 0 * se,
        studentized = largest_quantile(maxima$studentized, level) * se
    )
}

interval_columns <- function(estimate, se, level, maxima, type) {
    half <- half_width(se, level, maxima, type)
    data.frame(lower = estimate - half, upper = estimate + half)
}

# The smallest draw that the given share of all draws does not exceed.
largest_quantile <- function(maxima, level) {
    stats::quantile(maxima, level, type = 1L, names = FALSE)
}

# The tests that no edge has changed. A draw as large as the statistic counts
# against it, and so does the statistic itself.
global_tests <- function(estimate, se, level, maxima) {
    if (is.null(maxima)) return(NULL)
    statistic <- c(plain = max(abs(estimate), na.rm = TRUE),
                   studentized = max(abs(estimate / se), na.rm = TRUE))
    data.frame(
        type = names(maxima),
        statistic = unname(statistic[names(maxima)]),
        critical = vapply(maxima, largest_quantile, 1, level,
                          USE.NAMES = FALSE),
        p_value = mapply(function(draws, observed) {
            (1 + sum(draws >= observed)) / (1 + length(draws))
        }, maxima, statistic[names(maxima)], USE.NAMES = FALSE)
    )
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_debias <- function(x, ...) {
    set <- x$settings
    name <- c(one_step = "one Newton step (SparKLIE+1)",
              double_selection = "double selection (SparKLIE+2)")
    c(
        paste0("<kliep_debias> of ", count_of(nrow(x$estimates), "edge"),
               " by ", name[[set$estimator]]),
        format_head(x)[-1L],
        paste0("  features   ", name_features(x$spec$features),
               ", standardize ", x$spec$standardize),
        paste0("  penalties  lambda = ", format(set$lambda, digits = 3L),
               ", row_lambda = ", format(set$row_lambda, digits = 3L),
               if (!set$refit) ", no refit"),
        paste0("  solver     first stage: ",
               count_of(nrow(x$first), "factor"), " detected, KKT ",
               format(x$first_kkt, digits = 2L), "; rows: KKT at most ",
               format(worst_kkt(x), digits = 2L)),
        format_statuses(x$diagnostics$status),
        paste0("  weights    worth ", say_effective_size(x)),
        format_global(x)
    )
}

worst_kkt <- function(x) {
    kkt <- x$diagnostics$kkt
    if (all(is.na(kkt))) NA_real_ else max(kkt, na.rm = TRUE)
}

# How many edges lack the estimate that was asked for, and why.
format_statuses <- function(status) {
    about <- c(one_step = "by one step from the penalised estimate",
               paste("none:", reasons))
    names(about)[-1L] <- names(reasons)
    counted <- table(factor(status, names(about)))
    counted <- counted[counted > 0L]
    if (length(counted) == 0L) return(NULL)
    paste0("  estimates  ", paste0(counted, " ", about[names(counted)],
                                   collapse = "; "))
}

# The smallest of all edges.
say_effective_size <- function(x) {
    size <- -largest_of(-x$diagnostics$effective_size)
    if (is.na(size)) return("an unknown part of `y`")
    paste0("at least ", format(size, digits = 3L), " of the ", x$n[["y"]],
           " observations of y")
}

format_global <- function(x) {
    if (is.null(x$global)) return(NULL)
    paste0("  any change ", paste0("p = ", format(x$global$p_value,
                                                  digits = 2L),
                                   " (", x$global$type, ")", collapse = ", "),
           "; ", x$settings$n_boot, " bootstrap draws")
}

#' @export
print.kliep_debias <- function(x, most = 10L, ...) {
    cat(format(x), "", sep = "\n")
    columns <- c("from", "to", "estimate", "se", "lower", "upper", "p_value",
                 "q_value")
    rows <- x$estimates[order(x$estimates$p_value), columns]
    cat(format(100 * x$level), " % intervals, smallest p-value first:\n",
        sep = "")
    print(utils::head(rows, most), digits = 3L, row.names = FALSE)
    left <- nrow(rows) - most
    if (left > 0L) cat("... and ", left, " more: $estimates\n", sep = "")
    cat("\nNext: edges(), confint(), plot()\n")
    invisible(x)
}

# Intervals for all edges at once need the bootstrap.
check_draws <- function(object, type) {
    if (type == "pointwise" || !is.null(object$maxima)) return(invisible())
    stop_kliep(
        "argument",
        paste0("\"", type, "\" intervals need bootstrap draws: there are ",
               "none."),
        hint = "Set `n_boot` in `kliep_debias()`, for instance to 1000."
    )
}

#' Confidence intervals of an inference
#'
#' Returns a confidence interval for the change of every edge.
#'
#' @param object The result of [kliep_debias()].
#' @param parm Which edges, by number of the row in `object$estimates`; all if
#'   missing.
#' @param level The confidence level.
#' @param type `"pointwise"` for each edge by itself, or for all edges at once
#'   of one width (`"plain"`) or in proportion to the standard errors
#'   (`"studentized"`).
#' @param ... Must be empty.
#' @return A matrix with a row for each edge and columns for the lower and the
#'   upper limit.
#' @export
#' @examples
#' set.seed(1)
#' theta <- ising_chain(5, coupling = 0.4)
#' pair <- sim_ising(theta, theta, n = 300)
#' result <- kliep_debias(pair$x, pair$y, feat_ising())
#' confint(result, level = 0.9)
#' confint(result, type = "studentized")
confint.kliep_debias <- function(object, parm, level = object$level,
                                    type = c("pointwise", "plain",
                                             "studentized"), ...) {
    check_dots(list(...), names(formals()), "confint")
    type <- check_choice(type, "type", c("pointwise", "plain", "studentized"))
    level <- check_fraction(level, "level")
    check_draws(object, type)
    table <- object$estimates
    both <- interval_columns(table$estimate, table$se, level, object$maxima,
                             type)
    limits <- interval_matrix(table, (both$upper - both$lower) / 2, level)
    if (missing(parm)) return(limits)
    limits[check_rows(parm, nrow(limits)), , drop = FALSE]
}

# Estimates less and plus `half`, with the names of edges and tails.
interval_matrix <- function(table, half, level) {
    tails <- format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, digits = 3L)
    matrix(c(table$estimate - half, table$estimate + half), ncol = 2L,
           dimnames = list(paste(table$from, table$to, sep = "*"),
                           paste(tails, "%")))
}

check_rows <- function(parm, rows) {
    if (is.numeric(parm) && all(parm %in% seq_len(rows))) return(parm)
    stop_kliep("argument", paste0("`parm` must number edges from 1 to ", rows,
                                  ": got ", describe(parm), "."))
}
