# Fits of one specification to two samples: a path over lambda2, or one value.

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
#' \eqn{-\theta}{-theta}. `"symmetric"`, the default, minimises the sum of both
#' losses, and treats the samples alike. The solvers `"primal"` and `"dual"` of
#' the paper fit its direction, `"p/q"`, unless another one is specified.
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
#' ratio in the same way for both. `"auto"`, the default, is `"gaussian"` for
#' these features where `lambda1` is positive, the solver is `"auto"`, and there
#' are at most 2,000 variables, whose matrices fit into memory; otherwise it is
#' `"empirical"`.
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
#' @section Groups and hubs:
#' If blocks of edges are expected to change together or not at all, such as the
#' edges among the genes of a pathway or those of one regulator,
#' `penalty_groups` also penalises each block \eqn{B} as a whole: with
#' \eqn{s} = `group_share`, the penalty of its edges becomes
#' \deqn{\lambda_2 \Bigl\{(1 - s) \sum_{t \in B} w_t \|\theta_t\|
#'     + s \bigl(\textstyle\sum_{t \in B} w_t^2\bigr)^{1/2}
#'     \|\theta_B\|\Bigr\}}{
#'     lambda2 ((1 - s) sum_t w_t |theta_t| + s (sum_t w_t^2)^(1/2) |theta_B|)}
#' (the sparse group lasso; Simon, Friedman, Hastie and Tibshirani 2013,
#' *Journal of Computational and Graphical Statistics* 22, 231--245). With
#' \eqn{s = 1} the edges of a block are detected together, with \eqn{s = 0}
#' there are no blocks. Groups are
#' * a label for each variable, matched by name where it has names: the edges
#'   among variables with one label are a block, and so are those between two
#'   labels; edges of variables with `NA` are in no block;
#' * a list of sets of variables: the edges within a set are a block; a set of
#'   one variable is a hub, and all its edges are a block. Sets must not share
#'   an edge, except for the edge between two hubs, which is then in no block;
#' * a data frame of edges, with columns `from`, `to` and `group`.
#'
#' Edges in no group, variables alone, and factors that `penalty_factor` leaves
#' unpenalised or excludes are in no block. The fit is by proximal gradient over
#' all factors, with the same certificates as any other. It needs the empirical
#' normaliser and the group lasso; other settings are refused. Tests of all
#' edges ([kliep_infer()]) ignore groups.
#'
#' @section Outliers:
#' A few extreme observations can dominate a density ratio. With `robust` above
#' zero the mean over the numerator, \eqn{\frac{1}{n_P} \sum_j \theta^\top
#' f(x_j)}{mean_j theta' f(x_j)}, becomes the mean over the share
#' `1 - robust` of its observations with the smallest \eqn{\theta^\top
#' f(x_j)}{theta' f(x_j)}: those that push the ratio up the most are left out
#' (trimmed density ratio estimation; Liu, Takeda, Suzuki and Fukumizu 2017,
#' *Advances in Neural Information Processing Systems* 30). `"p/q"` trims `x`,
#' `"q/p"` trims `y`, and `"symmetric"` each sample where it is the numerator.
#' Denominators and standardisation keep all observations. What pulls the ratio
#' *down*, or has already spoilt the standard deviations, is not trimmed away:
#' the normal scores of [feat_nonparanormal()], which limit what single values
#' can do, combine well with it.
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
#' `kliep_error_unbounded`. Very close to the threshold no fit is reliable, and
#' the status is `"near_threshold"`.
#'
#' @param x,y The two samples: numeric matrices or data frames with
#'   observations in rows and the same variables in columns, matched by name
#'   where both have names. `x` is drawn from P (the numerator), `y` from Q
#'   (the denominator). Or all observations as `x`, in a table or an object of
#'   Bioconductor, and what divides them in `...`: see [two_samples()].
#' @param features What the factors look like, made by a `feat_*()` function:
#'   [feat_gaussian()], [feat_nonparanormal()], [feat_polynomial()],
#'   [feat_ising()] for binary data, [feat_mixed()] for columns of several
#'   types, [feat_rbf()], [feat_custom()] or [feat_cliques()].
#' @param lambda1 The ridge penalty, 0 or more.
#' @param lambda2 The group penalties, in decreasing order. `NULL` takes
#'   `nlambda` values, equally spaced on the log scale, from the smallest at
#'   which nothing is detected down to `lambda_min_ratio` of it.
#' @param nlambda,lambda_min_ratio The grid for `lambda2 = NULL`.
#'   `lambda_min_ratio = NULL` is 0.1 for few variables and rises with their
#'   number, to about 0.6 for 10,000: far enough to detect some ten factors
#'   for each observation where nothing has changed.
#' @param penalty_factor The weights \eqn{w_t}, one unless specified: one
#'   number, `c(single = , edge = )` for variables alone and for edges, a
#'   symmetric matrix with one row and column for each variable (matched by
#'   name where it has names), or its values `m[upper.tri(m, diag = TRUE)]`.
#'   Zero leaves a factor unpenalised and `Inf` keeps it out.
#' @param penalty_groups Blocks of edges that are also penalised as a whole; see
#'   the section below.
#' @param group_share The share of the penalty that is on whole blocks, from 0
#'   to 1.
#' @param penalty How the penalty grows with the size of a factor; see the
#'   section below.
#' @param gamma The shape of an adaptive or a minimax concave penalty, positive.
#'   `NULL` is 1 for `"adaptive"` and 3 for `"mcp"`.
#' @param robust The share of the observations of a numerator that may be
#'   outliers, at least 0 and below 0.5; see the section below.
#' @param standardize Bring every variable to mean zero and variance one:
#'   `"within"` each sample, so that only the dependence structure is
#'   compared; with the `"pooled"` mean and variance of both; or `"none"`.
#'   The default is `"within"`, and `"none"` for [feat_ising()]. The normal
#'   scores of [feat_nonparanormal()] are ranks `"within"` each sample or
#'   `"pooled"` ones.
#' @param direction Which density ratio to fit; see the section below.
#' @param normalizer Where the normaliser of the ratio comes from; see the
#'   section below.
#' @param solver `"auto"` picks the fastest for the shape of the problem.
#'   `"primal"` (proximal gradient over all factors) and `"dual"` (L-BFGS on
#'   the dual; needs `lambda1 > 0`) are those of the paper. All give the same
#'   answer.
#' @param control Accuracy, iterations and threads: [kliep_control()].
#' @param progress Show a progress bar when the fit takes long?
#' @param spec A specification ([kliep_spec()]) or a result whose estimator to
#'   use; arguments that are given replace its settings.
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. For `kliep_change()` also `penalty_factor`,
#'   `penalty_groups`, `group_share`, `penalty`, `gamma`, `robust`,
#'   `standardize`, `direction`, `normalizer`, `solver` and `control`, as above.
#' @param lambda Not used: an error names `lambda2`, which other packages call
#'   `lambda`, and `lambda1`.
#'
#' @return An object of class `kliep_path`, a kind of `change_path`, with
#'   [print()] and [summary()] methods, [`coef()`][coef.change_path], [edges()],
#'   [`predict()`][predict.change_path] and [`plot()`][plot.change_path]. Its
#'   parts for direct use are `$spec` (the specification), `$lambda2`,
#'   `$lambda_max`, `$passes` (how often the solver had to go through all
#'   factors of a large problem) and `$diagnostics`, a data frame with one row
#'   for each `lambda2`: `lambda2`, `objective`, `gap`, `kkt`, `n_detected`
#'   (factors), `n_edges`, `effective_size`, `iterations`, `status` and
#'   `seconds`, of which the first row's include the search for `$lambda_max`.
#'   `$center` and `$scale`, and with some features `$margins` or `$recurrence`,
#'   are what new observations need.
#'   `kliep_change()` returns a `kliep_change`, which is a `change_path` of
#'   length one.
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
                       penalty_factor = NULL, penalty_groups = NULL,
                       penalty = c("group_lasso", "adaptive", "mcp"),
                       gamma = NULL, robust = 0,
                       standardize = c("within", "pooled", "none"),
                       direction = c("symmetric", "p/q", "q/p"),
                       normalizer = c("auto", "gaussian", "empirical"),
                       solver = c("auto", "primal", "dual"),
                       control = kliep_control(),
                       progress = interactive(), spec = NULL, ...,
                       group_share = 0.5, lambda) {
    # `group_share` stands after the dots: before them, R would take `group`,
    # which divides a table, for short for it.
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "kliep_path")
    given <- given_settings()
    found <- take_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "kliep_path")
    spec <- as_spec(if (is.null(spec)) found$result else spec, given)
    path <- fit_spec(spec, found, check_flag(progress, "progress"), call)
    warn_unfinished(path)
    path
}

#' @rdname kliep_path
#' @export
kliep_change <- function(x, y = NULL, features = feat_gaussian(), lambda1 = 0.1,
                         lambda2, ..., progress = interactive(), spec = NULL,
                         lambda) {
    call <- match.call()
    refuse_lambda(!missing(lambda), names(formals()), "kliep_change")
    given <- given_settings()
    found <- take_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             spec_arguments()), "kliep_change")
    if (missing(lambda2) || length(lambda2) != 1L) {
        stop_kliep(
            "lambda",
            paste0("`kliep_change()` needs one `lambda2`: got ",
                   if (missing(lambda2)) "none" else length(lambda2), "."),
            hint = "`kliep_path()` fits many, and chooses a grid itself."
        )
    }
    spec <- as_spec(if (is.null(spec)) found$result else spec,
                    c(given, found$rest))
    change <- as_change(fit_spec(spec, found, check_flag(progress, "progress"),
                                 call))
    stop_if_unbounded(change)
    warn_unfinished(change)
    change
}
