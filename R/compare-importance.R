# Two networks by maximum likelihood, for features whose normaliser has no
# closed form.

#' Two networks by maximum likelihood with importance sampling
#'
#' Estimates the networks of both samples, with densities
#' \eqn{p(z; \theta) = e^{\theta^\top f(z)} / Z(\theta)}{
#' p(z; theta) = exp(theta' f(z)) / Z(theta)}, and takes the difference of their
#' parameters as the change. The normaliser, which has a closed form only for
#' Gaussian features, comes from points \eqn{z_1, \ldots, z_m}{z_1, ..., z_m}
#' drawn from an instrumental density \eqn{p'}, a normal one with mean zero and
#' standard deviation `scale`:
#' \deqn{Z(\theta) \approx \frac{1}{m} \sum_{i=1}^m
#'     \frac{e^{\theta^\top f(z_i)}}{p'(z_i)}.}{
#'     Z(theta) ~ mean_i exp(theta' f(z_i)) / p'(z_i).}
#' With \eqn{\ell^P} the mean log-likelihood of `x` and \eqn{\ell^Q} that of
#' `y`, `is_glasso_path()` fits each network by itself,
#' \deqn{\max_\theta \; \ell(\theta) - \frac{\lambda_1}{2} \|\theta\|^2
#'     - \lambda_2 \sum_t w_t \|\theta_t\|,}{
#'     max ell(theta) - lambda1 / 2 |theta|^2 - lambda2 sum_t w_t |theta_t|,}
#' and `is_flasso_path()` both at once, with the group penalty on their
#' difference,
#' \deqn{\max_{\theta^P, \theta^Q} \; \ell^P(\theta^P) + \ell^Q(\theta^Q)
#'     - \frac{\lambda_1}{2} (\|\theta^P\|^2 + \|\theta^Q\|^2)
#'     - \lambda_2 \sum_t w_t \|\theta^P_t - \theta^Q_t\|.}{
#'     max ell_P(theta_P) + ell_Q(theta_Q) - lambda1 / 2 (|theta_P|^2 +
#'     |theta_Q|^2) - lambda2 sum_t w_t |theta_P,t - theta_Q,t|.}
#' The loss is that of [kliep_path()] with the points as denominator and
#' weights for them, and so is the solver.
#'
#' @section Effective size:
#' The normaliser is reliable where many points contribute to it.
#' `$effective_size` has for each network and step the number of equally
#' weighted points that would be as good, \eqn{1 / \sum_i \alpha_i^2}{1 / sum_i
#' alpha_i^2} with their normalised weights \eqn{\alpha}{alpha};
#' `effective_size` in `$diagnostics` is the smaller one of the two. There is a
#' warning of class `kliep_warning_importance` where it falls below 100 (or a
#' tenth of the points): the estimates then depend on a few points, whose
#' weights the solver can set as it likes. It happens in many dimensions, and
#' where the instrumental density is much wider or narrower than the samples.
#'
#' @section Variables alone:
#' Without features of single variables there is no density: `is_glasso_path()`
#' therefore leaves them unpenalised unless specified otherwise, and starts from
#' independent variables.
#'
#' @section Features:
#' Features must leave a density on all of space, such as [feat_gaussian()],
#' [feat_nonparanormal()] and [feat_polynomial()] of an even degree do, or
#' custom ones. Two-valued variables ([feat_ising()]) and bounded functions
#' ([feat_rbf()]) have no such density and are refused.
#'
#' @section Selection:
#' `kliep_select()` scores a `lambda2` by the sum of the log-likelihoods of
#' both samples, per observation, of the standardised variables.
#'
#' @inheritParams kliep_path
#' @param features What the factors look like, made by a `feat_*()` function.
#' @param lambda1 The ridge penalty on both networks, 0 or more.
#' @param lambda2 The group penalties, in decreasing order. `NULL` takes
#'   `nlambda` values, equally spaced on the log scale, from the smallest at
#'   which no penalised factor is detected down to `lambda_min_ratio` of it.
#' @param penalty_factor The weights \eqn{w_t}{w_t}, as for [kliep_path()];
#'   `NULL` is `c(single = 0, edge = 1)` for `is_glasso_path()` and one for
#'   every factor for `is_flasso_path()`.
#' @param points The number of points for the normaliser.
#' @param scale The standard deviation of the instrumental density, in units
#'   of the standardised variables.
#' @param seed A whole number that fixes the points; `NULL` draws one, so that
#'   [set.seed()] fixes them too. It is kept in `$arguments$seed`.
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()].
#' @return A `change_path` with `$method` `"is_glasso"` or `"is_flasso"`, as
#'   from [kliep_path()], for [edges()], [`coef()`][coef.change_path],
#'   [`plot()`][plot.change_path] and the rest. `$networks` is a data frame
#'   with the coefficients of both networks (`step`, `sample`, `from`, `to`,
#'   `term`, `value`), `$log_normalizers` has their
#'   \eqn{\log Z}{log Z} and `$effective_size` their effective numbers of
#'   points, with a row for each step.
#' @inherit kliep_path references
#' @family methods to compare with
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 4, n = 200, n_changed = 1)
#' path <- is_flasso_path(pair$x, pair$y, nlambda = 5, points = 5000)
#' path
#' path$effective_size
is_glasso_path <- function(x, y = NULL, features = feat_gaussian(),
                           lambda1 = 0.1, lambda2 = NULL, nlambda = 20,
                           lambda_min_ratio = NULL, penalty_factor = NULL,
                           standardize = c("within", "pooled", "none"),
                           points = 70000, scale = 1, seed = NULL,
                           control = kliep_control(),
                           progress = interactive(), ..., lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "is_glasso_path")
    found <- find_samples(x, y, list(...))
    given <- mget(setdiff(names(formals()), c("x", "y", "...", "lambda")))
    importance_path("is_glasso", found, given, call)
}

#' @rdname is_glasso_path
#' @export
is_flasso_path <- function(x, y = NULL, features = feat_gaussian(),
                           lambda1 = 0.1, lambda2 = NULL, nlambda = 20,
                           lambda_min_ratio = NULL, penalty_factor = NULL,
                           standardize = c("within", "pooled", "none"),
                           points = 70000, scale = 1, seed = NULL,
                           control = kliep_control(),
                           progress = interactive(), ..., lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "is_flasso_path")
    found <- find_samples(x, y, list(...))
    given <- mget(setdiff(names(formals()), c("x", "y", "...", "lambda")))
    importance_path("is_flasso", found, given, call)
}

# `given` has the arguments that both methods take, as they were given.
importance_path <- function(method, found, given, call) {
    check_dots(found$rest, c("x", "y", names(given), sample_arguments()),
               paste0(method, "_path"))
    arguments <- check_importance(given)
    grid <- check_grid(given$lambda2, given$nlambda, given$lambda_min_ratio)
    progress <- check_flag(given$progress, "progress")
    samples <- baseline_samples(found$x, found$y, arguments$standardize,
                                center = "standardize",
                                features = arguments$features)
    fit <- tryCatch(
        fit_importance(method, samples, arguments, grid,
                       if (progress) progress_bar("Fitting the path")),
        kliep_error_overflow = function(condition) {
            stop_overflow(rbind(samples$x, samples$y), samples$variables,
                          arguments$standardize)
        }
    )
    path <- baseline_path(
        method, fit, samples, arguments, call, solver = "auto",
        shown = c(list(features = name_features(arguments$features)),
                  arguments[c("lambda1", "points", "scale")]),
        extra = list(
            networks = fit$networks,
            log_normalizers = data.frame(x = fit$log_normalizer_x,
                                         y = fit$log_normalizer_y),
            effective_size = data.frame(x = fit$effective_x,
                                        y = fit$effective_y)
        )
    )
    warn_unfinished(path)
    with_conditions(path, found)
}

# ---- what is asked for -----------------------------------------------------

# The arguments with which a path can be fitted again.
check_importance <- function(given) {
    features <- check_density_features(given$features)
    list(
        features = features, lambda1 = check_lambda1(given$lambda1),
        penalty_factor = given$penalty_factor,
        standardize = check_standardize(given$standardize, features),
        points = check_whole(given$points, "points", least = 10),
        scale = check_positive(given$scale, "scale"),
        seed = check_seed(given$seed), control = check_control(given$control),
        progress = FALSE
    )
}

check_density_features <- function(features) {
    features <- check_features(features)
    if (features$kind == "rbf" || identical(features$family, "ising")) {
        stop_kliep(
            "features",
            paste0("There is no density with ", features$family,
                   " features on all of space, and nothing to normalise."),
            hint = "Use `kliep_path()`, which needs no normaliser."
        )
    }
    features
}

importance_penalty <- function(method, penalty_factor, variables, features) {
    if (is.null(penalty_factor) && method == "is_glasso") {
        penalty_factor <- if (features$kind == "cliques")
            as.double(lengths(features$cliques) > 1L) else
                c(single = 0, edge = 1)
    }
    check_penalty_factor(penalty_factor, variables, features)
}

# ---- points and fit --------------------------------------------------------

# The points, in R and in Rust; of each of two networks their powers, four
# times packed and once as columns; and what the solver knows of each point.
check_points_memory <- function(points, d, features) {
    degree <- if (features$kind == "products")
        max(features$pair, features$single) else 1
    check_memory(
        8 * points * (d * (4 + 10 * (degree + 1)) + 60),
        count_of(points, "point"), hint = "Lower `points`."
    )
}

# Draws of the instrumental density, and minus the logarithm of m times it.
draw_instrumental <- function(d, points, scale, seed) {
    z <- scale * rust_draw_gaussian(diag(d), as.integer(points), seed)
    log_density <- -d / 2 * log(2 * pi * scale^2) -
        rowSums(z^2) / (2 * scale^2)
    list(z = z, log_base = -log(points) - log_density)
}

fit_importance <- function(method, samples, arguments, grid, on_progress) {
    features <- arguments$features
    d <- length(samples$variables)
    penalty <- importance_penalty(method, arguments$penalty_factor,
                                  samples$variables, features)
    check_points_memory(arguments$points, d, features)
    drawn <- draw_instrumental(d, arguments$points, arguments$scale,
                               arguments$seed)
    both <- rbind(samples$x, samples$y)
    settings <- c(
        list(method = method, lambda1 = arguments$lambda1,
             penalty_factor = penalty, x_rows = nrow(samples$x)),
        rust_grid(grid, samples, features), arguments$control
    )
    given <- if (is_table(features)) {
        settings$penalty_factor <- penalty_by_factor(penalty, features, d)
        table <- feature_table(features, rbind(both, drawn$z),
                               samples$variables, nrow(drawn$z))
        features <- table$features
        list(kind = "table", values = table$values, sizes = table$sizes)
    } else {
        rust_features(features)
    }
    fit <- rust_fit_importance(both, drawn$z, drawn$log_base, given, settings,
                               on_progress)
    importance_tables(fit, features)
}

# What Rust returns, with coefficients as tables.
importance_tables <- function(fit, features) {
    tables <- lapply(fit[c("change", "network_x", "network_y")],
                     function(part) {
        if (features$kind == "custom") {
            part[c("from", "to")] <- factor_pairs(part$from)
        }
        as.data.frame(part)
    })
    sizes <- c(nrow(tables$network_x), nrow(tables$network_y))
    fit$networks <- cbind(rbind(tables$network_x, tables$network_y),
                          sample = rep(c("x", "y"), sizes))
    fit$coefficients <- tables$change
    fit$diagnostics <- rust_diagnostics(fit)
    fit$diagnostics$effective_size <- pmin(fit$effective_x, fit$effective_y)
    fit$features <- features
    fit
}

# ---- how good the points are -----------------------------------------------

warn_importance <- function(path) {
    if (is.null(path$effective_size)) return(invisible())
    points <- path$arguments$points
    size <- pmin(path$effective_size$x, path$effective_size$y)
    few <- which(size < min(100, points / 10))
    if (length(few) == 0L) return(invisible())
    warn_kliep(
        "importance",
        paste0("At ", length(few), " of ", length(path$lambda2),
               " lambda2 values (", step_ranges(few), ") the normaliser ",
               "depends on a few points: it rests on only ",
               format(min(size[few]), digits = 2L), " of ",
               format(points, big.mark = ","), " at step ",
               few[which.min(size[few])], "."),
        hint = paste("Raise `points`, bring `scale` closer to the spread of",
                     "the samples, or take fewer variables.")
    )
}

# ---- scores on further samples ---------------------------------------------

importance_holl <- function(path, newx, newy) {
    steps <- reliable_steps(path$diagnostics$status)
    scores <- Map(function(newdata, sample) {
        network <- path
        network$coefficients <- path$networks[path$networks$sample == sample, ]
        score_matrix(network, newdata, sample, steps)
    }, list(x = newx, y = newy), c("x", "y"))
    average_terms(path, function(step) {
        at <- match(step, steps)
        list(x = scores$x[, at], y = scores$y[, at],
             constant = -sum(path$log_normalizers[step, ]))
    })
}
