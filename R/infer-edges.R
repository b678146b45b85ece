# kliep_infer(): every edge with an estimate, an interval and a q-value, and
# those that changed at a false discovery rate.

#' Which edges changed, with error control for all of them at once
#'
#' Tests every edge for a change of its interaction between the two samples,
#' and reports the edges that changed with a false discovery rate of at most
#' `fdr`: the expected share of false edges among them. First it tests whether
#' anything has changed at all; where it has not, no edge is reported.
#'
#' @section Method:
#' This is the method for [feat_gaussian()] and [feat_nonparanormal()], which
#' have a closed form; the next section is about all other features.
#'
#' Let \eqn{S_x} and \eqn{S_y} be the moment matrices of the two samples, and
#' \eqn{D = \Omega_y - \Omega_x}{D = Omega_y - Omega_x} the difference of their
#' inverses, which is the change \eqn{\theta}{theta} of [kliep_path()]. The
#' equation
#' \deqn{G(D) = \tfrac12 (S_x D S_y + S_y D S_x) - (S_x - S_y) = 0}{
#'     G(D) = (S_x D S_y + S_y D S_x) / 2 - (S_x - S_y) = 0}
#' holds at the truth, and neither network appears in it: only the change has to
#' be sparse.
#'
#' Each variable is in units of its residual standard deviation given the other
#' variables, in its sample, as estimated by a lasso. Then the diagonals of both
#' inverses are one, and \eqn{D} is the partial correlation in `x` minus that in
#' `y`. In units of the standard deviation itself, unchanged edges next to a
#' changed one would differ, too, and be reported with many observations.
#' 1. The factors that a path of [kliep_path()] detects at one of its steps are
#'    the *support*: a screen that takes in more than has changed.
#' 2. \eqn{G(D) = 0} is solved on the support without penalty. An edge in the
#'    support is tested by its estimate, every other edge by what is left of its
#'    own equation, after projection on those of the support. The standard error
#'    is the root of the sum of squared influences of all observations, with the
#'    estimated units of the variables taken into account. Every factor that is
#'    fitted at one of its variables costs an edge a degree of freedom.
#' 3. Variances are moderated across edges, as limma does across genes: one by
#'    itself has few degrees of freedom.
#' 4. The null distribution comes from shuffles of the observations between the
#'    samples, and not from a table: `n_perm` shuffles of all edges.
#' 5. The support grows along the path until nothing is found outside of it, or
#'    the statistics of the edges that are not found are spread as those of the
#'    null. What is found outside is then taken in.
#' 6. A second test compares debiased partial correlations, edge by edge (Xia,
#'    Cai and Cai 2015, with the same moderated variances). It has more power
#'    where both networks are sparse and samples small. Both p-values are
#'    combined by Cauchy's distribution (Liu and Xie 2020).
#' 7. `q_value` is the combined p-value adjusted by the method of Benjamini and
#'    Hochberg.
#'
#' @section Any other features:
#' \eqn{\log p / q = \theta^\top f + c}{log p / q = theta' f + c} is a logistic
#' regression of which sample an observation is from on its features \eqn{f}
#' (Qin 1998). So for [feat_ising()], [feat_polynomial()], [feat_rbf()],
#' [feat_custom()], [feat_cliques()] and [feat_mixed()]:
#' 1. The factors of a support, from a path of [kliep_path()] with the same
#'    features, are fitted by maximum likelihood. Every other edge is tested by
#'    its score given them (Rao's test), edges of the support by their estimate
#'    (Wald's test). All coefficients of an edge are tested together: by
#'    chi-square, in the support by F.
#' 2. The tails of both are brought to the scale of \eqn{|z|}, and the null
#'    distribution comes from `n_perm` shuffles of the observations.
#' 3. The support grows along the path until no edge is found outside of it, up
#'    to a tenth of the observations in coefficients: beyond, maximum likelihood
#'    is biased.
#'
#' There is one test for each edge, so `test` is `"logistic"`. An edge with one
#' coefficient has an `estimate`, `se` and an interval. With `df` > 1
#' coefficients `estimate` is their norm, without a sign, and `se`, `lower` and
#' `upper` are `NA`. Powers of one variable (`terms = "all"` of
#' [feat_polynomial()]) belong to that variable alone: an edge is tested by the
#' terms with both. For [feat_cliques()] an edge has the smallest p-value of
#' the sets that contain it, times their number. An edge whose features are
#' constant, or explained by the support, has a p-value of 1.
#'
#' Where variables are standardised within each sample, the estimated means and
#' standard deviations are taken into account as where nothing has changed: by
#' multiples of a variable and its square, which have the same means in both
#' samples, that make the mean of a feature independent of them to first order.
#' In this scale the coefficient of an unchanged edge changes where the variance
#' of one of its variables does: `standardize = "none"` or `"pooled"` compares
#' coefficients in one scale for both samples.
#'
#' With several coefficients for each edge this matters more: one change alters
#' the margins of its variables, and in units of these margins unchanged edges
#' of the same variables differ, too. So edges that are found in units of each
#' sample are tested again in units of both (`standardize = "pooled"`), where
#' differences of means and scales would look like a change. They have the
#' larger of both q-values, the second adjusted for the number of edges found.
#' `vignette("calibration")` shows how often edges reported on [sim_diamond()]
#' are false.
#'
#' If a tenth of the observations is not enough to fit all edges that are found,
#' [print()] says so: tests of unchanged edges beside them are then not valid.
#'
#' Fitted coefficients use up observations, and statistics are reduced by the
#' share that they use (Sur, Chen and Candes 2019).
#'
#' @section No change at all:
#' The largest statistic over all edges and the sum of their squares are
#' compared with those of the shuffles: the better of both ranks, ranked among
#' those of the shuffles, gives `$global$p_value`. Before rows change places,
#' both samples are brought to one location and scale, by the bulk of every
#' variable (see [kliep_test()]). Apart from this step, the p-value is exact
#' where the observations are exchangeable: independent and of one distribution
#' in both samples. Where it is above `fdr`, no edge is reported.
#'
#' @section Shifts of means and scales:
#' Tests do not depend on the location and the scale of a variable. But where
#' the regression of one variable on another is curved, as with a floor or a
#' ceiling, its slope depends on the level, and a shift of means causes a change
#' of association. With \eqn{z} standardised in each sample, let
#' \eqn{c_2} and \eqn{c_3} be the coefficients of Hermite's second and third
#' polynomial of \eqn{z_i} in the regression of \eqn{z_j}, over both samples. A
#' mean that is higher by \eqn{m} standard deviations, and a variance that is
#' larger by \eqn{v}, change the slope by \eqn{2 c_2 m + 3 c_3 v}. The mean of
#' this for both directions, as a share of the change of correlation, is
#' `shift`: from 0, where it is within two standard errors of zero or has the
#' opposite sign, to 1. It says how much a shift *could* explain, and is not a
#' test. Variables that were adjusted for covariates (see [two_samples()]) have
#' no means left.
#'
#' @section Beyond correlations:
#' Two variables can depend on each other without being correlated: for example,
#' one may vary more where the other is large. `q_beyond` is the q-value of a
#' test for a change of such dependence; `changed` does not depend on it. The
#' features of an edge are the products \eqn{h_i(z_u) h_j(z_v)}{h_i(z_u)
#' h_j(z_v)} of Hermite's polynomials of normal scores with \eqn{i + j} up to 4,
#' the product \eqn{z_u z_v}{z_u z_v} projected out. They are tested by their
#' score in a logistic regression (see above) on the products of the edges that
#' changed, and on all features of edges that this test has already found,
#' strongest first; each of these is tested with its own features left out. The
#' null distribution comes from the same number of shuffles. Where they suggest
#' a change, 19 shuffles (more if `fdr` is below 0.1) are ranked again, as both
#' samples are, and have to confirm it: where all variables of an observation
#' are large together, as in a t distribution, terms of ranks vary more than
#' those of shuffled scores.
#'
#' With ranks within each sample, a change of one edge alters the margins of its
#' variables, and so its unchanged neighbours may look changed; with ranks over
#' both samples, different scales or margins look like a change. So edges that
#' are found with the former are tested again with the latter, and have the
#' larger of both q-values, the second adjusted for the number of edges found.
#' No `q_beyond` is below the p-value of no such change at all. With more than
#' about 3,300 observations in all for 20 variables, 1,300 for 50, 330 for 200
#' or 50 for 500, this would take too long, and `q_beyond` is `NA`.
#'
#' @section Designs:
#' Covariates, strata, units and pairs are described by arguments of
#' [two_samples()], whose help page has the models. Effects of covariates are
#' removed first. With units or pairs, the influences of all observations of a
#' unit are added up before they are squared, and shuffles move whole units, or
#' exchange the sides of pairs.
#'
#' @section What it needs:
#' Each sample needs at least 10 observations. Features with a closed form need
#' variables standardised within each sample, and memory for a dozen numbers for
#' each edge; all others need memory for about four copies of the table of all
#' features and observations. For heavy tails and outliers use the normal scores
#' of [feat_nonparanormal()].
#'
#' @section How far to trust it:
#' `vignette("calibration", package = "kliepnet")` measures how often reported
#' edges are false, over sizes, networks and margins. Intervals are valid for an
#' edge that is chosen in advance, and are those of the test that `test` names.
#' The data choose the support: an unchanged edge that enters it by chance is
#' estimated too far from zero, and its interval mostly excludes zero. Its
#' q-value accounts for this only as far as the support is no larger than
#' necessary.
#'
#' @inheritParams kliep_test
#' @param x,y The two samples, as for [kliep_path()], or a result of this
#'   package as `x`: its samples and the features of its estimator.
#' @param spec The estimator: see [kliep_spec()]. Its features and its `control`
#'   matter here, and for logistic tests `standardize` and `penalty_factor`; the
#'   path that screens is fitted symmetrically, with the Gaussian normaliser
#'   where there is one.
#' @param fdr The false discovery rate: the expected share of false edges among
#'   those reported.
#' @param level The confidence level of the intervals.
#' @param n_perm The number of shuffles, at least 19.
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. And settings of [kliep_spec()] by name.
#'
#' @return An object of class `kliep_infer`, with [print()], [summary()],
#'   [`plot()`][autoplot.kliep_infer], [`edges()`][edges.kliep_infer],
#'   [`confint()`][confint.kliep_infer] and the other methods of results:
#'   * `estimates`: a data frame with one row for each edge: `from`, `to`,
#'     `estimate`, `se`, `lower`, `upper`, `p_value` (both tests combined),
#'     `q_value`, `p_direct` and `p_nodewise` (each test by itself), `test` (the
#'     one with the smaller p-value, whose estimate, standard error and interval
#'     these are), `z` (of the direct test, moderated), `in_support`,
#'     `partial_x` and `partial_y` (the debiased partial correlations), `shift`
#'     (how much of the change of correlation could come with a shift of means
#'     or scales), `q_beyond` (the q-value of a change that correlations do not
#'     show) and `changed`, whether the edge is reported. Logistic tests have
#'     `df`, the number of coefficients, and neither `p_direct`, `p_nodewise`,
#'     `partial_x`, `partial_y`, `shift` nor `q_beyond`;
#'   * `global`: the test of no change at all, a list of `p_value`, the largest
#'     statistic (`largest`) and the sum of squares (`squares`);
#'   * `support`: the factors of the support, `from` and `to` (the same for a
#'     variable alone);
#'   * `null`: the statistics of the shuffles;
#'   * `diagnostics`: a list with the degrees of freedom of the variances by
#'     themselves (`df`), those that they gain from others (`prior`) and their
#'     ratio to those of Gaussian data (`common`), for both tests; or for
#'     logistic tests the number of `columns` in all and of those `fitted`.
#' @references
#' Xia, Y., Cai, T. and Cai, T. T. (2015). Testing differential networks with
#' applications to the detection of gene-gene interactions. *Biometrika* 102(2),
#' 247--266.
#'
#' Qin, J. (1998). Inferences for case-control and semiparametric two-sample
#' density ratio models. *Biometrika* 85(3), 619--630.
#'
#' Liu, Y. and Xie, J. (2020). Cauchy combination test. *Journal of the American
#' Statistical Association* 115, 393--402.
#'
#' Sur, P., Chen, Y. and Candes, E. J. (2019). The likelihood ratio test in
#' high-dimensional logistic regression is asymptotically a rescaled
#' chi-square. *Probability Theory and Related Fields* 175, 487--558.
#'
#' Smyth, G. K. (2004). Linear models and empirical Bayes methods for assessing
#' differential expression in microarray experiments. *Statistical Applications
#' in Genetics and Molecular Biology* 3(1).
#' @seealso [kliep_debias()] for the published estimators, [kliep_stability()]
#'   for resampling.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 20, n = 500, n_changed = 5)
#' result <- kliep_infer(pair$x, pair$y)
#' result
#' edges(result)
#' pair$truth
#'
#' # Binary data.
#' theta <- ising_chain(8, coupling = 0.4)
#' spins <- sim_ising(theta, ising_change(theta, 2, change = -0.6), n = 400)
#' kliep_infer(spins$x, spins$y, feat_ising())
kliep_infer <- function(x, y = NULL, spec = NULL, fdr = 0.1, level = 0.95,
                        n_perm = 49, progress = interactive(), ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             spec_arguments()), "kliep_infer")
    how <- check_inference(fdr, level, n_perm, progress)
    spec <- as_spec(if (is.null(spec)) found$result else spec, found$rest)
    test_all_edges(found, spec, how, call)
}

# What kliep_infer() and kliep_auto() have in common.
test_all_edges <- function(found, spec, how, call) {
    draws <- imputed_of(found)
    if (!is.null(draws)) return(test_imputed(found, draws, spec, how, call))
    part <- ready_part(found, spec, how)
    changes <- if (!has_closed_form(part$spec$features)) {
        find_logistic_changes(part$samples, part$spec, how$fdr, part$n_perm,
                              how$progress)
    } else if (has_gaps(part$samples)) {
        find_pairwise_changes(part$samples, part$spec, how$fdr, part$n_perm,
                              how$progress)
    } else {
        find_closed_changes(part, how)
    }
    part_result(part, changes, how, call)
}

# As test_all_edges() for each of several contrasts. Complete samples with a
# closed form share what depends on one of them alone, and leave out changes
# beyond correlations: with few shuffles their q-values could not be small over
# all contrasts.
test_contrasts <- function(all, spec, how, call) {
    complete <- vapply(all, function(found) {
        is.null(imputed_of(found)) && !identical(found$na, "pairwise")
    }, NA)
    if (!has_closed_form(spec$features) || !all(complete)) {
        return(lapply(all, test_all_edges, spec, how, call))
    }
    parts <- lapply(all, ready_part, spec = spec, how = how)
    changes <- find_shared_changes(parts, how)
    Map(function(part, own) {
        own$edges$q_beyond <- NA_real_
        part_result(part, own, how, call)
    }, parts, changes)
}

# Two samples that can be tested, and the specification that knows their
# variables.
ready_part <- function(found, spec, how) {
    refuse_groups(spec)
    samples <- as_samples(found, spec$features, least = 10L)
    notice_samples(found, samples, spec$features)
    spec$features <- with_columns(spec$features, samples$coding)
    spec <- settle_spec(spec, samples$variables)
    closed <- has_closed_form(spec$features)
    if (closed) {
        check_within(spec)
        refuse_strata(samples$design)
    }
    if (!has_gaps(samples)) {
        check_constant(scaled_part(samples, spec$features), spec$standardize,
                       none = !closed)
    }
    n_perm <- check_layout_n_perm(how$n_perm, layout_of(samples), alike = TRUE)
    list(samples = samples, spec = spec, n_perm = n_perm,
         conditions = found$conditions)
}

part_result <- function(part, changes, how, call) {
    result <- new_kliep_infer(changes, part$spec, part$samples, how$level, call)
    with_samples(result, part$samples, part$conditions)
}

# As find_changes(), for features with a closed form.
find_closed_changes <- function(part, how) {
    changes <- find_shared_changes(list(part), how)[[1L]]
    found <- which(changes$edges$changed)
    changes$edges$q_beyond <- beyond_q_values(
        part$samples, found[order(changes$edges$p_combined[found])],
        part$n_perm, part$spec$control, how$fdr,
        progress_bars(how$progress)("Beyond correlations")
    )
    changes
}

# The tests of all contrasts, each sample ranked and scaled once.
find_shared_changes <- function(parts, how) {
    spec <- parts[[1L]]$spec
    samples <- lapply(parts, `[[`, "samples")
    scored <- once_each(samples_in(samples), function(sample) {
        feature_sample(sample, spec$features, samples[[1L]]$variables)
    })
    ready <- lapply(seq_along(parts), function(k) {
        stats::setNames(scored[2L * k - 1:0], c("x", "y"))
    })
    contrasts <- Map(function(both, own) {
        as_contrast(both$x, both$y, own$design)
    }, ready, samples)
    changes <- find_all_changes(contrasts, how$fdr, parts[[1L]]$n_perm,
                                spec$control, how$progress)
    Map(function(own, both, raw) {
        own$edges$shift <- shift_shares(both,
                                        margin_samples(raw, spec$features))
        own
    }, changes, ready, samples)
}

# ---- what is asked for -----------------------------------------------------

check_inference <- function(fdr, level, n_perm, progress) {
    list(fdr = check_fraction(fdr, "fdr"),
         level = check_fraction(level, "level"),
         n_perm = check_whole(n_perm, "n_perm", "n_perm", least = 19),
         progress = check_flag(progress, "progress"))
}

check_within <- function(spec) {
    if (spec$standardize == "within") return(invisible())
    stop_kliep(
        "argument",
        paste0("`kliep_infer()` compares samples that are standardised one by ",
               "one: got standardize = \"", spec$standardize, "\"."),
        hint = "Use `standardize = \"within\"`, or `kliep_debias()`."
    )
}

refuse_groups <- function(spec) {
    if (is.null(spec$penalty_groups)) return(invisible())
    stop_kliep(
        "penalty_groups",
        "Tests of all edges do not use `penalty_groups`.",
        hint = "Leave it out; `kliep_sets()` tests sets of variables."
    )
}

# Correlations over all strata mix several distributions.
refuse_strata <- function(design) {
    if (is.null(design$strata)) return(invisible())
    stop_kliep(
        "design",
        paste("`strata` is for features that are tested by logistic",
              "regression, such as those of two-valued columns."),
        hint = "For numeric columns `adjust` removes the effects of a factor."
    )
}

# The variables of the features: s = sign(z) |z|^power of standardised columns,
# or of their normal scores.
feature_samples <- function(samples, features, standardize = "within") {
    if (standardize == "within") {
        return(lapply(samples[c("x", "y")], feature_sample, features,
                      samples$variables))
    }
    samples <- score_samples(samples, features, standardize)
    stack <- rust_standardize_samples(samples$x, samples$y, standardize)$stack
    stack <- raise_columns(stack, features$power)
    colnames(stack) <- samples$variables
    first <- seq_len(nrow(samples$x))
    list(x = stack[first, , drop = FALSE], y = stack[-first, , drop = FALSE])
}

# The same of one sample by itself.
feature_sample <- function(sample, features, variables) {
    if (is_ranked(features)) sample <- normal_scores(sample)
    sample <- raise_columns(rust_standardize_alone(sample), features$power)
    colnames(sample) <- variables
    sample
}

raise_columns <- function(values, power) {
    if (power == 1) values else sign(values) * abs(values)^power
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_infer <- function(changes, spec, samples, level, call) {
    estimates <- if (has_closed_form(spec$features)) {
        combined_estimates(changes$edges, level)
    } else {
        logistic_estimates(changes$edges, level)
    }
    structure(
        class = "kliep_infer",
        list(
            estimates = estimates,
            global = list(p_value = changes$global,
                          largest = changes$null$observed[1L],
                          squares = changes$null$observed[2L]),
            fdr = changes$fdr,
            level = level,
            n_perm = length(changes$null$largest),
            support = named_support(changes$support, samples$variables),
            null = changes$null,
            diagnostics = changes$diagnostics,
            coefficients = changes$coefficients,
            spec = spec,
            variables = samples$variables,
            n = observations_of(samples),
            coding = samples$coding,
            call = call
        )
    )
}

# By both tests of closed forms. The estimate is that of the test with the
# smaller p-value: the interval of the other may well hold zero.
combined_estimates <- function(table, level) {
    direct <- table$p_value <= table$p_nodewise
    table$estimate <- ifelse(direct, table$estimate,
                             table$partial_x - table$partial_y)
    table$se <- ifelse(direct, table$se, table$se_nodewise)
    data.frame(
        table[c("from", "to", "estimate", "se")], limits_of(table, level),
        p_value = table$p_combined, q_value = table$q_value,
        p_direct = table$p_value, p_nodewise = table$p_nodewise,
        test = ifelse(direct, "direct", "node-wise"),
        table[intersect(c("z", "in_support", "partial_x", "partial_y", "shift",
                          "q_beyond", "changed"), names(table))]
    )
}

logistic_estimates <- function(table, level) {
    data.frame(
        table[c("from", "to", "estimate", "se")], limits_of(table, level),
        table[c("p_value", "q_value")], test = rep("logistic", nrow(table)),
        table[c("z", "df", "in_support", "changed")]
    )
}

limits_of <- function(table, level) {
    half <- stats::qnorm((1 + level) / 2) * table$se
    data.frame(lower = table$estimate - half, upper = table$estimate + half)
}

named_support <- function(support, variables) {
    data.frame(from = variables[support$from], to = variables[support$to])
}

# The tests: their degrees of freedom and shared variances, and how many edges
# each finds by itself.
test_table <- function(object) {
    about <- object$diagnostics
    if (!is.null(about$logistic)) {
        return(data.frame(test = "logistic", t(about$logistic),
                          found = sum(object$estimates$q_value <= object$fdr)))
    }
    found <- function(test) {
        sum(stats::p.adjust(object$estimates[[test]], "BH") <= object$fdr)
    }
    data.frame(test = c("direct", "node-wise"),
               rbind(about$direct, about$nodewise),
               found = c(found("p_direct"), found("p_nodewise")))
}

# The edges that are reported at another false discovery rate.
changed_at <- function(object, fdr) {
    object$global$p_value <= fdr & object$estimates$q_value <= fdr
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_infer <- function(x, ...) {
    c(
        paste0("<kliep_infer> of ", count_of(nrow(x$estimates), "edge"),
               ", false discovery rate ", format(x$fdr)),
        format_head(x)[-1L],
        paste0("  features   ", name_features(x$spec$features)),
        paste0("  support    ", count_of(nrow(x$support), "factor"),
               "; ", count_of(x$n_perm, "shuffle")),
        if (!is.null(x$imputed)) paste0(
            "  missing    values drawn ", x$imputed, " times"
        ) else if (!is.null(x$samples) && has_gaps(x$samples)) paste0(
            "  missing    ", format_gaps(x$samples), ", moments of pairs"
        ),
        paste0("  any change p = ", format(x$global$p_value, digits = 2L),
               if (has_beyond(x)) ", of correlations")
    )
}

format_gaps <- function(samples) {
    share <- vapply(samples[c("x", "y")], function(part) mean(is.na(part)), 1)
    paste(format(100 * share, digits = 2L), "%", collapse = " and ")
}

# What was found, in one sentence.
say_changes <- function(x) {
    changed <- sum(x$estimates$changed)
    all <- count_of(nrow(x$estimates), "edge")
    said <- if (changed == 0L) {
        paste0("No ", change_tested(x), " found: none of ", all, " is ",
               "reported at a false discovery rate of ", format(x$fdr), ".")
    } else {
        paste0(format(changed, big.mark = ","), " of ", all, " changed; at a ",
               "false discovery rate of ", format(x$fdr), " expect at most ",
               format(signif(changed * x$fdr, 2L)), " of them to be false.")
    }
    paste(c(said, say_full(x), say_shift(x), say_beyond(x)), collapse = " ")
}

#' @export
print.kliep_infer <- function(x, most = 10L, ...) {
    cat(format(x), "", sep = "\n")
    cat(strwrap(say_changes(x), width = 78L), sep = "\n")
    columns <- c("from", "to", "weight", "lower", "upper", "partial_x",
                 "partial_y", "q_value", "test")
    found <- edges(x)
    print_kept(found[intersect(columns, names(found))], most)
    cat("\nNext: edges(), plot(), plot(type = \"calibration\"),",
        "$estimates for all edges\n")
    invisible(x)
}

#' Confidence intervals of an inference
#'
#' Returns a confidence interval for the change of every edge.
#'
#' @param object The result of [kliep_infer()].
#' @param parm Which edges, by number of the row in `object$estimates`; all if
#'   missing.
#' @param level The confidence level.
#' @param type `"pointwise"` for each edge by itself, or `"simultaneous"` for
#'   all edges at once, by the largest statistic of the shuffles.
#' @param ... Must be empty.
#' @return A matrix with a row for each edge and columns for the lower and the
#'   upper limit.
#' @importFrom stats confint
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 6, n = 300, n_changed = 2)
#' result <- kliep_infer(pair$x, pair$y)
#' confint(result, level = 0.9)
confint.kliep_infer <- function(object, parm, level = object$level,
                                type = c("pointwise", "simultaneous"), ...) {
    check_dots(list(...), names(formals()), "confint")
    type <- check_choice(type, "type", c("pointwise", "simultaneous"))
    level <- check_fraction(level, "level")
    table <- object$estimates
    times <- if (type == "pointwise") stats::qnorm((1 + level) / 2) else
        largest_quantile(object$null$largest, level)
    limits <- interval_matrix(table, times * table$se, level)
    if (missing(parm)) return(limits)
    limits[check_rows(parm, nrow(limits)), , drop = FALSE]
}
