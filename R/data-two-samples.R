# Finds the two samples in what a user has: two tables, one table and a group,
# an object of Bioconductor, a formula. These are told apart here; everything
# after sees `x` and `y`.

#' The two samples in a table, a formula or a Bioconductor object
#'
#' Extracts the two samples that are compared, with their design, from the data
#' that you have. You rarely need to call it yourself: all functions that fit
#' or test, such as [kliep_auto()], [kliep_path()] and [glasso_path()], take
#' the arguments below as well.
#'
#' @section What `x` can be:
#' * one of two tables (matrices or data frames with observations in rows), the
#'   other one being `y`;
#' * one table with all observations, and `group`, a factor or vector that says
#'   which condition each is of; for a data frame also the name of its column
#'   with the conditions, which is then not a variable;
#' * a formula `~ condition`, and the table as `data`: the columns that the
#'   formula uses are not variables;
#' * a `SummarizedExperiment` (also a `RangedSummarizedExperiment` or a
#'   `SingleCellExperiment`) or an `ExpressionSet`, with variables such as genes
#'   in rows, and `group`, the name of a column of `colData(x)` or `pData(x)`,
#'   or a formula with such an object as `data`. Two such objects, one for each
#'   condition, work like two tables;
#' * a pair from a simulator such as [sim_gaussian()].
#'
#' @section Which condition is which:
#' `contrast = c("treated", "control")` makes the first condition `x`, the
#' numerator, and the second `y`, the denominator: positive changes are
#' interactions that are higher in the treated. Other conditions are left out.
#' Without `contrast` there must be two conditions, and the first of them is the
#' reference `y`, as is usual in R: the first level of a factor, the smaller
#' value of anything else (`FALSE`, 0, or by the alphabet). Levels that do not
#' occur do not count. The result says which condition is which when it is
#' printed, and in `$conditions`.
#'
#' @section Missing values:
#' A missing value (`NA` or `NaN`) is an error that says where it is, unless
#' `na` is specified. Infinite values are always an error.
#' * `"omit"` leaves out the observations with missing values among the
#'   variables in use, or without a condition, and counts them in a message.
#'   With many variables few observations are left.
#' * `"pairwise"` uses for every pair of variables the rows in which both are
#'   known. It works with [feat_gaussian()] and [feat_nonparanormal()] and the
#'   Gaussian normaliser. With \eqn{z} the standardised known values (or their
#'   normal scores), the moment of two variables is
#'   \deqn{S_{ij} = \frac{1}{n_{ij}} \sum_{r \in R_{ij}} z_{ri} z_{rj},}{
#'       S_ij = sum_{r in R_ij} z_ri z_rj / n_ij,}
#'   with \eqn{R_{ij}}{R_ij} the \eqn{n_{ij}}{n_ij} rows where both are known.
#'   Eigenvalues below a thousandth of their mean are raised to it, and the
#'   diagonal is kept. In [kliep_infer()] and [kliep_auto()] the variance of an
#'   edge is that of its own rows: a row has the influence
#'   \deqn{\frac{z_i z_j - r}{n_{ij}} - \frac r2 \Big(\frac{z_i^2 - 1}{n_i} +
#'       \frac{z_j^2 - 1}{n_j}\Big)}{
#'       (z_i z_j - r) / n_ij - r / 2 ((z_i^2 - 1) / n_i + (z_j^2 - 1) / n_j)}
#'   on the correlation \eqn{r}, each term where it is known. Given a support,
#'   standard errors are those of complete rows with the same moments, times the
#'   ratio of both at the empty support. Whether a value is missing must not
#'   depend on the values.
#' * `"impute"` draws missing values from the other variables of the same
#'   condition, 5 times, for columns of all types and all features. A numeric
#'   column has normal scores, any other the indicators of its values. They are
#'   modelled as jointly Gaussian, with the correlations of a bootstrap sample
#'   of the known values of each pair, shrunk towards zero according to their
#'   errors (Schaefer and Strimmer 2005). A score is drawn from its conditional
#'   distribution, a level with its conditional mean as probability.
#'   [kliep_infer()] and [kliep_auto()] test all completed samples and combine
#'   the tests by the rules of Rubin (1987) and, for edges of several
#'   coefficients, Li and others (1991): differences between completed samples
#'   add to the variance. All other functions use the first completed samples as
#'   if they had been observed. Whether a value is missing may depend on the
#'   other variables.
#' * `"impute_median"` replaces a missing value by the median of the same
#'   variable and condition, with a warning: this weakens the dependence between
#'   variables, which looks like a change if one condition has more missing
#'   values.
#'
#' @section Covariates and batches:
#' `adjust = ~ batch + age` removes the effects of covariates: in each
#' condition every variable \eqn{v} is
#' \deqn{v_i = z_i^\top \beta_v + \varepsilon_{iv},}{v_i = z_i' beta_v + e_iv,}
#' with \eqn{z_i} the covariates of observation \eqn{i} and a constant, and the
#' network is that of the errors. The residuals are those of Theil: \eqn{k}
#' coefficients leave \eqn{n - k} of them, which have the variance of the errors
#' and are uncorrelated, so that tests, shuffles, folds and intervals use the
#' right number of observations. For Gaussian errors this is exact; ordinary
#' residuals are correlated with each other, and too small. With
#' `adjust_common = TRUE` both conditions have the same coefficients, each with
#' a mean of its own, which costs \eqn{k} observations in all. A covariate that
#' is constant in each condition is an error, and with common coefficients so
#' are covariates that determine the condition: no method can separate their
#' effects. Covariates shift means in this model; they do not change the
#' network. With `adjust = ~ donor` and `unit = "donor"` the network is that of
#' cells within donors.
#'
#' Columns with two values have no residuals. `strata` compares conditions
#' within the levels of a covariate: with [feat_ising()] and other features that
#' are tested by logistic regression, \eqn{\log p_s / q_s = \theta^\top f +
#' c_s}{log p_s / q_s = theta' f + c_s} in stratum \eqn{s}, with one change
#' \eqn{\theta}{theta} common to all. Shuffles exchange observations within
#' strata.
#'
#' @section Units and pairs:
#' `unit` names the donor or subject of every observation. In [kliep_infer()]
#' and [kliep_auto()] the influences of its observations are added up before
#' they are squared, so that standard errors are valid under any dependence
#' within a unit. Coefficients that are fitted cost degrees of freedom of the
#' number of independent observations that these are worth: observations over
#' the design effect, the median ratio of variances with units to those without,
#' and at least the number of units. Shuffles, here and in [kliep_test()], move
#' whole units, and so do the folds of [kliep_select()] and the halves of
#' [kliep_stability()]. A unit belongs to one condition, and there must be at
#' least three in each; with fewer than eight there is a warning (class
#' `kliep_warning_units`), as their number limits what can be found.
#'
#' `pair` names what was observed in both conditions, such as a patient before
#' and after a treatment: shuffles exchange the two sides of a pair, and the
#' influences of its observations are added up. A side may have several
#' observations.
#'
#' `pool = "mean"` or `"sum"` turns all observations of a unit, or of a side of
#' a pair, into one (pseudobulk): the network is then that of donors, and not
#' of cells within and between them, and no `unit` is left. Covariates are
#' averaged in the same way. Means suit values that are normalised and on a log
#' scale. Sums of counts grow with the number of cells and with their depth,
#' which correlates all genes: adjust for these, for example by
#' `adjust = ~ log(depth)`. [kliep_by()] compares `unit` and `pool` on single
#' cells.
#'
#' A result keeps its design for the functions that continue with it.
#' [kliep_path()] and the methods to compare with use the adjusted samples, and
#' ignore strata, units and pairs.
#'
#' @param x What holds one sample or both; see the section below.
#' @param y The second sample, if `x` is the first one.
#' @param group The condition of every observation: a factor or another vector,
#'   matched by name where it has the names of the observations, or the name of
#'   a column.
#' @param contrast Two of the conditions, numerator first. Needed where there
#'   are more than two.
#' @param data The table of observations, for a formula.
#' @param assay Which assay of a `SummarizedExperiment` or which element of an
#'   `ExpressionSet`, by name or number. `NULL` is `exprs`, or `logcounts` of a
#'   `SingleCellExperiment`, where there is one, and otherwise the first.
#' @param variables The variables to use, by name or number; `NULL` for all.
#' @param top_variable How many of these variables to keep: those with the
#'   largest variance over the observations of both conditions together, without
#'   missing ones. `NULL` keeps all.
#' @param na What to do about missing values; see the section below.
#' @param label What to call the variables, from here on and in every result,
#'   picture, report and file: the name of a column of `rowData(x)` or
#'   `fData(x)`, such as that with the symbols of genes; or the names
#'   themselves, one for each variable, or matched by the names of `label`. A
#'   variable without one keeps its own name; variables with the same label,
#'   such as probes of one gene, have their own names added in brackets.
#'   `variables` goes by these labels.
#' @param adjust Covariates whose effects are removed from the variables: a
#'   formula about columns of the table, of `colData(x)` or of `pData(x)`, or a
#'   data frame or matrix with a row for each observation (those of `x` first,
#'   where there are two tables; matched by the names of observations, where it
#'   has them). Numbers are numeric covariates, unless they name strata, units
#'   or pairs: write `~ factor(batch)` for batches that are numbered. Columns in
#'   use here or below are not variables.
#' @param adjust_common Do covariates have the same effects in both conditions?
#' @param strata,unit,pair The stratum, the unit (such as a donor) or the pair
#'   of every observation: the name of a column, or a vector with a value for
#'   each observation (those of `x` first, where there are two tables), matched
#'   by name where it has the names of the observations.
#' @param pool How to combine the observations of one unit, or of one side of a
#'   pair: not at all (`"none"`), or as their `"mean"` or `"sum"`.
#' @param ... The arguments below, as far as they apply to this kind of `x`.
#'
#' @return A list of `x` and `y`, matrices or data frames with observations in
#'   rows, in the order in which they came, and the same variables in columns;
#'   `conditions`, the names of the two as `c(x = , y = )`, or `NULL` for
#'   two tables; and, where one was described, `design`: what the samples were
#'   adjusted for, how units were pooled, and the strata, units and pairs of
#'   their observations. With `na = "impute"`, `x` and `y` are the first
#'   completed samples, and `imputed` is a list of all; with `"pairwise"`, `na`
#'   says so.
#' @references
#' Theil, H. (1965). The analysis of disturbances in regression analysis.
#' *Journal of the American Statistical Association* 60, 1067--1079.
#'
#' Rubin, D. B. (1987). *Multiple imputation for nonresponse in surveys*. Wiley.
#'
#' Li, K. H., Meng, X. L., Raghunathan, T. E. and Rubin, D. B. (1991).
#' Significance levels from repeated p-values with multiply-imputed data.
#' *Statistica Sinica* 1, 65--92.
#'
#' Schaefer, J. and Strimmer, K. (2005). A shrinkage approach to large-scale
#' covariance matrix estimation and implications for functional genomics.
#' *Statistical Applications in Genetics and Molecular Biology* 4(1).
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 6, n = 100, n_changed = 2)
#' cells <- data.frame(rbind(pair$y, pair$x),
#'                     condition = rep(c("control", "treated"), each = 100))
#' samples <- two_samples(cells, group = "condition")
#' samples$conditions
#'
#' # All of these give the same fit.
#' path <- kliep_path(pair$x, pair$y, nlambda = 10)
#' path <- kliep_path(cells, group = "condition", nlambda = 10)
#' path <- kliep_path(~ condition, data = cells, nlambda = 10)
#' path
#'
#' # The other way round, and the three most variable columns alone.
#' kliep_path(cells, group = "condition", top_variable = 3,
#'            contrast = c("control", "treated"), nlambda = 10)
#'
#' # A batch that shifts all variables, and is not one of them.
#' cells$batch <- rep(c("a", "b"), 100)
#' two_samples(cells, group = "condition", adjust = ~ batch)$design$adjust
two_samples <- function(x, y = NULL, ...) {
    load_class_of(x)
    UseMethod("two_samples")
}

#' @rdname two_samples
#' @export
two_samples.default <- function(x, y = NULL, group = NULL, contrast = NULL,
                                variables = NULL, top_variable = NULL,
                                na = c("error", "omit", "pairwise", "impute",
                                       "impute_median"),
                                label = NULL, adjust = NULL,
                                adjust_common = FALSE, strata = NULL,
                                unit = NULL, pair = NULL,
                                pool = c("none", "mean", "sum"), ...) {
    refuse_others(list(...), x)
    choice <- check_choices(variables, top_variable, na, label)
    request <- design_request(adjust, adjust_common, strata, unit, pair,
                               pool)
    if (is.null(group)) {
        stop_without_other(x, y)
        refuse_others(list(contrast = contrast), x)
        return(from_tables(x, y, choice, request))
    }
    stop_with_other(y)
    known <- if (is.data.frame(x)) x
    named <- is.data.frame(x) && is_column_name(group, nrow(x))
    values <- if (named) x[setdiff(names(x), group)] else x
    group <- find_group(group, known, x, "columns of `x`")
    read <- read_design(request, known, rows_of(x), "columns of `x`")
    from_groups(without_columns(values, read$used), group, contrast, choice,
                read)
}

#' @rdname two_samples
#' @export
two_samples.formula <- function(x, y = NULL, data = NULL, contrast = NULL,
                                assay = NULL, ...) {
    # As in lm(~ condition, data).
    if (is.null(data)) data <- y else stop_with_other(y)
    if (is.null(data)) {
        stop_kliep("missing_sample", "A formula needs `data`: it is missing.",
                   hint = "Such as `~ condition, data = cells`.")
    }
    load_class_of(data)
    refuse_others(list(group = list(...)$group), x)
    known <- known_of_samples(data)
    term <- check_one_term(x)
    group <- evaluate_term(term, known, environment(x))
    if (is.data.frame(data)) data <- data[setdiff(names(data), all.vars(term))]
    # Only objects that have assays may be asked for one.
    arguments <- c(list(data, group = group, contrast = contrast),
                   if (!is.null(assay)) list(assay = assay), list(...))
    do.call(two_samples, arguments, quote = TRUE)
}

#' @rdname two_samples
#' @export
two_samples.SummarizedExperiment <- function(
    x, y = NULL, group = NULL, contrast = NULL, assay = NULL, variables = NULL,
    top_variable = NULL,
    na = c("error", "omit", "pairwise", "impute",
           "impute_median"),
    label = NULL, adjust = NULL, adjust_common = FALSE, strata = NULL,
    unit = NULL, pair = NULL, pool = c("none", "mean", "sum"), ...) {
    refuse_others(list(...), x)
    from_assays(x, y, group, contrast, assay,
                check_choices(variables, top_variable, na, label),
                design_request(adjust, adjust_common, strata, unit, pair,
                               pool))
}

#' @rdname two_samples
#' @export
two_samples.ExpressionSet <- function(
    x, y = NULL, group = NULL, contrast = NULL, assay = NULL, variables = NULL,
    top_variable = NULL,
    na = c("error", "omit", "pairwise", "impute",
           "impute_median"),
    label = NULL, adjust = NULL, adjust_common = FALSE, strata = NULL,
    unit = NULL, pair = NULL, pool = c("none", "mean", "sum"), ...) {
    refuse_others(list(...), x)
    from_assays(x, y, group, contrast, assay,
                check_choices(variables, top_variable, na, label),
                design_request(adjust, adjust_common, strata, unit, pair,
                               pool))
}

#' @rdname two_samples
#' @export
two_samples.network_pair <- function(x, y = NULL, variables = NULL,
                                     top_variable = NULL,
                                     na = c("error", "omit", "pairwise",
                                            "impute", "impute_median"),
                                     adjust = NULL, adjust_common = FALSE,
                                     strata = NULL, unit = NULL, pair = NULL,
                                     pool = c("none", "mean", "sum"), ...) {
    refuse_others(list(...), x)
    stop_with_other(y)
    from_tables(x$x, x$y, check_choices(variables, top_variable, na),
                design_request(adjust, adjust_common, strata, unit, pair,
                               pool))
}

# ---- at the top of every function that takes two samples -------------------

# The arguments of two_samples() that stand in the `...` of other functions.
sample_arguments <- function() {
    c("group", "contrast", "assay", "data", "variables", "top_variable", "na",
      "label", "adjust", "adjust_common", "strata", "unit", "pair", "pool")
}

# The two samples of a call, the names of their conditions, their design if
# there is one, and `rest`, what its `...` holds besides.
find_samples <- function(x, y, dots) {
    # `y` may also be missing in the function that calls this one.
    if (missing(y)) y <- NULL
    if (missing(x)) stop_missing_samples(c("x", if (is.null(y)) "y"))
    about <- names(dots) %in% sample_arguments()
    if (length(about) == 0L) about <- rep(FALSE, length(dots))
    found <- do.call(two_samples, c(list(x, y), dots[about]), quote = TRUE)
    parts <- intersect(c("x", "y", "conditions", "design", "na", "imputed"),
                       names(found))
    c(found[parts], list(rest = dots[!about]))
}

# A result that knows what its `x` and `y` are, as do the fits within it.
with_conditions <- function(result, samples) {
    if (is.null(samples$conditions)) return(result)
    result$conditions <- samples$conditions
    for (part in intersect(names(result), c("fit", "path", "selection"))) {
        result[[part]] <- with_conditions(result[[part]], samples)
    }
    result
}

format_conditions <- function(object) {
    if (is.null(object$conditions)) return(NULL)
    paste0("  conditions x: ", object$conditions[["x"]],
           " (numerator), y: ", object$conditions[["y"]])
}

# ---- what does not go together ---------------------------------------------

stop_missing_samples <- function(absent) {
    stop_kliep(
        "missing_sample",
        paste0("Two samples are needed: ", name_some(absent),
               if (length(absent) == 1L) " is" else " are", " missing."),
        hint = paste("Give both: `x` for the one, `y` for the other condition;",
                     "or all observations as `x`, and their condition as",
                     "`group`.")
    )
}

stop_without_other <- function(x, y) {
    if (is.null(y)) stop_missing_samples("y")
}

stop_with_other <- function(y) {
    if (is.null(y)) return(invisible())
    stop_kliep("argument",
               "`x` holds both samples here, and `y` is given as well.",
               hint = "Leave out `y`, or what divides `x` in two.")
}

refuse_others <- function(given, x) {
    given <- given[!vapply(given, is.null, NA)]
    check_dots(given, sample_arguments(), "two_samples")
    if (length(given) == 0L) return(invisible())
    stop_kliep(
        "argument",
        paste0(name_some(names(given)),
               if (length(given) == 1L) " does" else " do",
               " not go with `x`, which is ", describe(x), "."),
        hint = "`?two_samples` lists which arguments go together."
    )
}

# ---- two tables ------------------------------------------------------------

# Two tables: only what is asked for changes, and the checks of a fit see the
# rest as it is.
from_tables <- function(x, y, choice, request = NULL) {
    parts <- label_tables(list(x = x, y = y), choice$label)
    asked <- !is.null(choice$variables) || !is.null(choice$top_variable) ||
        choice$na != "error" || !is.null(request)
    if (!asked) return(c(parts, list(conditions = NULL)))
    for (part in c("x", "y")) {
        if (length(dim(parts[[part]])) != 2L) {
            as_numeric_matrix(parts[[part]], part)
        }
    }
    n <- vapply(parts, nrow, 1L)
    read <- read_design(request, known_of_both(parts), rows_of_both(parts),
                        "columns of both tables")
    if (any(is_unknown(read, sum(n)))) {
        stop_kliep("design", "Something about the design is missing (`NA`).",
                   hint = "Leave these observations out.")
    }
    parts <- lapply(parts, function(part) {
        pick_variables(without_columns(part, read$used), choice$variables)
    })
    parts$y <- match_columns(parts$x, parts$y)
    parts <- top_columns(parts, choice$top_variable)
    kept <- kept_rows(parts, choice$na)
    rows <- list(x = kept$x, y = n[["x"]] + kept$y)
    with_design(settle_draws(without_missing(parts, choice$na), read, rows),
                NULL, choice$na)
}

# The design of the samples, and of all their completions.
settle_draws <- function(parts, read, rows) {
    settled <- settle_design(parts[c("x", "y")], read, rows)
    settled$imputed <- lapply(parts$imputed, function(draw) {
        settle_design(draw, read, rows)$parts
    })
    settled
}

# The samples as two_samples() returns them.
with_design <- function(settled, conditions, na) {
    given <- c("design", "imputed")
    given <- given[lengths(settled[given]) > 0L]
    c(settled$parts, list(conditions = conditions), settled[given],
      if (na == "pairwise") list(na = na))
}

# How many observations there are, and what they are called.
rows_of <- function(values) list(n = nrow(values), names = rownames(values))

rows_of_both <- function(parts) {
    names <- lapply(parts, rownames)
    list(n = nrow(parts$x) + nrow(parts$y),
         names = if (all(lengths(names) > 0L)) unlist(names, use.names = FALSE))
}

# The columns that both tables have, those of `x` first in each.
known_of_both <- function(parts) {
    if (!all(vapply(parts, is.data.frame, NA))) return(NULL)
    common <- intersect(names(parts$x), names(parts$y))
    stats::setNames(lapply(common, function(name) {
        both <- list(parts$x[[name]], parts$y[[name]])
        if (any(vapply(both, is.factor, NA))) both <- lapply(both, as.character)
        unlist(both)
    }), common)
}

# What describes the observations is not a variable.
without_columns <- function(values, used) {
    if (!is.data.frame(values)) return(values)
    values[setdiff(names(values), used)]
}

# Without names of its own, `label` is in the order of the columns of `x`.
label_tables <- function(parts, label) {
    known <- colnames(parts$x)
    if (is.null(names(label)) && !is.null(known) &&
        length(label) == length(known)) {
        label <- stats::setNames(as.character(label), known)
    }
    lapply(parts, label_columns, label)
}
