# The nonparanormal: Gaussian after a monotone transform of every variable.

#' Nonparanormal transforms
#'
#' Transforms every variable to a normal distribution by its ranks, so that
#' methods for Gaussian data can be used on any sample that is Gaussian up to a
#' monotone transform of each variable (a Gaussian copula). With
#' \eqn{r_{iu}}{r_iu} the rank of observation \eqn{i} among the \eqn{n} of
#' variable \eqn{u} (averaged over ties) and \eqn{\Phi}{Phi} the normal
#' distribution function,
#' \describe{
#'   \item{`"shrinkage"`}{\eqn{z_{iu} = \Phi^{-1}(r_{iu} / (n + 1)) / c}{
#'     z_iu = Phi^-1(r_iu / (n + 1)) / c},}
#'   \item{`"truncation"`}{\eqn{z_{iu} = \Phi^{-1}(\min(\max(r_{iu} / n,
#'     \delta), 1 - \delta)) / c}{z_iu = Phi^-1(min(max(r_iu / n, delta),
#'     1 - delta)) / c} with \eqn{\delta = 1 / (4 n^{1/4} \sqrt{\pi \log n})}{
#'     delta = 1 / (4 n^(1/4) sqrt(pi log n))} (Liu, Lafferty and Wasserman,
#'     2009), or another `threshold`,}
#'   \item{`"skeptic"`}{no transform of the sample but the correlation matrix
#'     of the transformed variables, \eqn{2 \sin(\frac{\pi}{6} \rho_{uv})}{
#'     2 sin(pi / 6 rho_uv)} with Spearman's \eqn{\rho}{rho} (Liu, Han, Yuan,
#'     Lafferty and Wasserman, 2012).}
#' }
#' The constant \eqn{c} is the standard deviation of \eqn{n} values without
#' ties, so that a variable without ties has variance one. Where there are
#' none, the transforms are those of `huge::huge.npn()`.
#'
#' To fit, test or choose by normal scores, give the samples as they are and
#' [`feat_nonparanormal()`][feat_nonparanormal] as features: its scores are
#' `"shrinkage"`, are recomputed in every resample, and map new observations in
#' the same way. A fit to samples that were transformed first can do neither.
#'
#' @param x,y One sample, or two with the same columns: numeric matrices or
#'   data frames with observations in rows, as in [kliep_path()].
#' @param method Which transform.
#' @param ranks For two samples, whether an observation is ranked `"within"`
#'   its own sample, which removes every difference between the distributions
#'   of single variables, or among the `"pooled"` observations of both, which
#'   is one transform for both samples. It makes no difference to `"skeptic"`:
#'   a common monotone transform leaves the ranks within a sample as they are.
#' @param threshold The \eqn{\delta}{delta} of `"truncation"`, between 0 and
#'   0.5. `NULL` is the formula above.
#' @param ... Must be empty.
#' @return For one sample a matrix: the transformed sample, or for `"skeptic"`
#'   the correlation matrix, which need not be positive definite. For two, a
#'   list with such a matrix for each, `x` and `y`.
#' @references
#' Liu, H., Lafferty, J. and Wasserman, L. (2009). The nonparanormal:
#' semiparametric estimation of high dimensional undirected graphs. *Journal of
#' Machine Learning Research* 10, 2295--2328.
#'
#' Liu, H., Han, F., Yuan, M., Lafferty, J. and Wasserman, L. (2012).
#' High-dimensional semiparametric Gaussian copula graphical models. *The
#' Annals of Statistics* 40(4), 2293--2326.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 3)
#' # A monotone transform of each variable is undone ...
#' both <- npn_transform(exp(pair$x), exp(pair$y))
#' edges(moment_path(both$x, both$y, lambda2 = 0.3))
#' # ... and leaves no trace in the correlations.
#' all.equal(npn_transform(exp(pair$x), method = "skeptic"),
#'           npn_transform(pair$x, method = "skeptic"))
npn_transform <- function(x, y = NULL,
                          method = c("shrinkage", "truncation", "skeptic"),
                          ranks = c("within", "pooled"), threshold = NULL,
                          ...) {
    check_dots(list(...), names(formals()), "npn_transform")
    method <- check_choice(method, "method",
                           c("shrinkage", "truncation", "skeptic"))
    ranks <- check_choice(ranks, "ranks", c("within", "pooled"))
    threshold <- check_npn_threshold(threshold, method)
    transform <- function(sample) npn_sample(sample, method, threshold)
    if (is.null(y)) {
        return(keep_rownames(transform(check_sample(x, "x", 3L)), x, method))
    }
    samples <- check_samples(x, y, least = 3L)
    parts <- samples[c("x", "y")]
    colnames(parts$x) <- colnames(parts$y) <- samples$variables
    pooled <- ranks == "pooled" && method != "skeptic"
    parts <- npn_samples(parts, transform, pooled)
    Map(keep_rownames, parts, list(x = x, y = y), method)
}

# Each sample by its own ranks, or both by those of all their rows.
npn_samples <- function(parts, transform, pooled) {
    if (!pooled) return(lapply(parts, transform))
    both <- transform(rbind(parts$x, parts$y))
    first <- seq_len(nrow(parts$x))
    list(x = both[first, , drop = FALSE], y = both[-first, , drop = FALSE])
}

npn_sample <- function(sample, method, threshold) {
    if (method == "skeptic") return(skeptic_correlation(sample))
    scores <- function(ranks) npn_scores(ranks, method, threshold)
    unit <- stats::sd(scores(seq_len(nrow(sample))))
    transformed <- if (anyNA(sample)) known_ranks(sample, method, threshold)
    else scores(apply(sample, 2L, rank)) / unit
    dimnames(transformed) <- dimnames(sample)
    transformed
}

# Each column by the ranks of its values that are there.
known_ranks <- function(sample, method, threshold) {
    apply(sample, 2L, function(column) {
        known <- !is.na(column)
        own <- matrix(column[known])
        replace(column, known, npn_sample(own, method, threshold))
    })
}

npn_scores <- function(ranks, method, threshold) {
    n <- NROW(ranks)
    if (method == "shrinkage") return(stats::qnorm(ranks / (n + 1)))
    if (is.null(threshold)) {
        threshold <- 1 / (4 * n^0.25 * sqrt(pi * log(n)))
    }
    stats::qnorm(pmin(pmax(ranks / n, threshold), 1 - threshold))
}

# A constant variable is correlated with nothing.
skeptic_correlation <- function(sample) {
    constant <- is_constant(sample)
    rho <- diag(ncol(sample))
    dimnames(rho) <- list(colnames(sample), colnames(sample))
    rho[!constant, !constant] <-
        stats::cor(sample[, !constant, drop = FALSE], method = "spearman")
    correlation <- 2 * sin(pi / 6 * rho)
    # 2 sin(pi / 6) is 1 but for rounding.
    diag(correlation) <- 1
    correlation
}

# Observations keep the names they came with.
keep_rownames <- function(transformed, sample, method) {
    if (method != "skeptic" && is.matrix(sample)) {
        rownames(transformed) <- rownames(sample)
    }
    transformed
}

check_npn_threshold <- function(threshold, method) {
    if (is.null(threshold)) return(NULL)
    if (method != "truncation") {
        stop_kliep("argument", paste0(
            "`threshold` belongs to `method = \"truncation\"`: got method \"",
            method, "\"."
        ))
    }
    threshold <- check_positive(threshold, "threshold")
    if (threshold < 0.5) return(threshold)
    stop_kliep("argument", paste0("`threshold` must be below 0.5: got ",
                                  format(threshold), "."))
}

# ---- ranks as features -----------------------------------------------------

# Both samples as they are standardised: their normal scores where the features
# are of ranks, with what further observations need (`margins`), and as they are
# for all other features. Every fit begins here, on whatever rows it is given.
score_samples <- function(samples, features, standardize) {
    at <- ranked_columns(features, ncol(samples$x))
    if (length(at) == 0L) return(samples)
    pooled <- standardize == "pooled"
    parts <- lapply(samples[c("x", "y")], function(part) {
        part[, at, drop = FALSE]
    })
    scores <- npn_samples(parts, normal_scores, pooled)
    samples$x[, at] <- scores$x
    samples$y[, at] <- scores$y
    if (pooled) parts[] <- list(rbind(parts$x, parts$y))
    samples$margins <- lapply(parts, function(part) {
        structure(sort_columns(part), columns = at)
    })
    samples
}

# The columns that have normal scores: all, those that are numeric, or none.
ranked_columns <- function(features, d) {
    if (is_mixed(features)) return(unname(which(scored_columns(
        features$columns
    ))))
    if (is_ranked(features)) seq_len(d) else integer()
}

normal_scores <- function(sample) npn_sample(sample, "shrinkage", NULL)

# The values of every variable in order, which no longer tell which values
# belong to one observation. Columns with gaps end in missing values.
sort_columns <- function(sample) {
    matrix(apply(sample, 2L, sort, na.last = TRUE), nrow(sample),
           ncol(sample))
}

# Scores of further observations, from the sample that was fitted: linear
# between two of its values, and those of the extreme values beyond them.
score_newdata <- function(newdata, margin) {
    if (is.null(margin)) return(newdata)
    scores <- normal_scores(margin)
    columns <- attr(margin, "columns")
    for (k in seq_along(columns)) {
        u <- columns[k]
        known <- !duplicated(margin[, k]) & !is.na(margin[, k])
        newdata[, u] <- stats::approx(margin[known, k], scores[known, k],
                                      newdata[, u], rule = 2)$y
    }
    newdata
}
