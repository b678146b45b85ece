# More than two groups: every contrast tested as two samples are, one omnibus
# test for each edge, and error control over edges and contrasts together.

#' Which edges differ between several groups
#'
#' Compares the networks of three or more groups: all pairs of groups, each
#' against a reference, or each against the rest. It reports which edges differ
#' between any groups, in which contrasts, and for ordered groups which edges
#' have a trend. The expected share of false findings among those reported is at
#' most `fdr`, over all edges and contrasts together.
#'
#' @section Method:
#' Every contrast is tested as [kliep_infer()] tests two samples, with shuffles
#' of its own. What depends on one group alone, such as normal scores, scales
#' and the regression of every variable on the others, is computed once for each
#' group. Changes that correlations do not show are not tested: the q-values of
#' few shuffles could not be small over all contrasts. `kliep_infer()` of one
#' contrast, such as `kliep_infer(found$fits[["b - a"]])`, tests them.
#' * *Contrasts.* `q_value` in `$estimates` is the p-value of an edge in a
#'   contrast, adjusted by the method of Benjamini and Hochberg over all edges
#'   and contrasts together.
#' * *Omnibus.* The p-value of an edge in `$omnibus` combines those of all
#'   contrasts by Cauchy's distribution, which holds whatever their dependence
#'   (Liu and Xie 2020): with \eqn{p_{ec}}{p_ec} that of edge \eqn{e} in
#'   contrast \eqn{c} of \eqn{C},
#'   \deqn{p_e = \frac12 - \frac1\pi \arctan \frac1C \sum_c
#'       \tan\{(\tfrac12 - p_{ec}) \pi\}.}{
#'       p_e = 1/2 - atan(mean_c tan((1/2 - p_ec) pi)) / pi.}
#' * *No difference at all.* `$global` combines the p-values of no change of all
#'   contrasts by the method of Simes (the smallest of them as adjusted by that
#'   of Benjamini and Hochberg). Where it is above `fdr`, nothing is reported;
#'   where the p-value of one contrast is above `fdr`, nothing is reported for
#'   that contrast.
#' * *Trend.* For an ordered factor with levels \eqn{1, \ldots, K}{1, ..., K}
#'   the contrasts with one group \eqn{r} have estimates \eqn{D_g = T_g - T_r}
#'   of the change of every edge. The trend is \eqn{\sum_g w_g D_g / \sum_g
#'   w_g^2}{ sum_g w_g D_g / sum_g w_g^2} with \eqn{w_g = g - (K + 1) / 2}; its
#'   standard error divides the variance of every \eqn{D_g} between both groups
#'   as their sizes do, which is right where nothing differs. It is referred to
#'   the shuffles of the contrasts. Edges with several coefficients (see
#'   [feat_mixed()]) have no trend.
#' * *Missing values* are treated in every contrast as in two samples (`na` of
#'   [two_samples()]): `"pairwise"` and `"impute"` are part of the standard
#'   errors, and then nothing is shared between contrasts.
#'
#' An edge that is reported in every contrast of one group, always with the same
#' sign as seen from this group, and in no other contrast, indicates that this
#' group differs from all others. `$odd` counts these edges, and printing says
#' so. With one reference, this shows whether the reference is the group that
#' differs.
#'
#' @param data All observations: a matrix or data frame with observations in
#'   rows, a `SummarizedExperiment` or an `ExpressionSet`.
#' @param group The group of every observation: a factor or another vector, or
#'   the name of a column. An ordered factor has trends tested.
#' @param spec The estimator: see [kliep_infer()]. `NULL` chooses the features
#'   as [kliep_auto()] does.
#' @param contrasts `"all"` pairs of groups, the later level as numerator; each
#'   group against the `"reference"`; or each against the `"rest"`.
#' @param reference The group that others are compared with; `NULL` is the first
#'   level.
#' @param ... Other arguments of [two_samples()], such as `variables`, `adjust`
#'   or `unit`, and settings of [kliep_spec()] by name.
#' @inheritParams kliep_infer
#' @return An object of class `kliep_groups`, with [print()], [summary()],
#'   [`plot()`][autoplot.kliep_groups] and [`edges()`][edges.kliep_groups]:
#'   * `estimates`: a data frame with one row for each contrast and edge:
#'     `contrast`, `from`, `to`, `estimate`, `se`, `lower`, `upper`, `p_value`,
#'     `q_value` and `changed`;
#'   * `omnibus`: one row for each edge: `from`, `to`, `p_value`, `q_value`,
#'     `changed`, and for ordered groups `trend`, `se_trend`, `p_trend` and
#'     `q_trend`;
#'   * `contrasts`: one row for each: `contrast`, `x`, `y`, `n_x`, `n_y`, with
#'     units or pairs their numbers `units_x` and `units_y`,
#'     `p_value` of no change at all, and `n_changed`;
#'   * `profiles`: the partial correlation of every edge in every group, for
#'     features with a closed form;
#'   * `odd`: the number of edges in which one group differs from all others;
#'   * `global`, the p-value of no difference at all; and `fits`, the inference
#'     of every contrast.
#' @references
#' Liu, Y. and Xie, J. (2020). Cauchy combination test. *Journal of the American
#' Statistical Association* 115, 393--402.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 8, n = 150, n_changed = 3)
#' cells <- data.frame(rbind(pair$x, pair$y[1:75, ], pair$y[76:150, ]))
#' dose <- factor(rep(c("none", "low", "high"), c(150, 75, 75)),
#'                c("none", "low", "high"), ordered = TRUE)
#' found <- kliep_groups(cells, dose)
#' found
#' edges(found)
kliep_groups <- function(data, group, spec = NULL,
                         contrasts = c("all", "reference", "rest"),
                         reference = NULL, fdr = 0.1, level = 0.95,
                         n_perm = 49, progress = interactive(), ...) {
    call <- match.call()
    contrasts <- check_choice(contrasts, "contrasts",
                              c("all", "reference", "rest"))
    how <- check_inference(fdr, level, n_perm, progress)
    dots <- check_group_dots(list(...))
    found <- find_grouped(data, group)
    table <- contrast_table(levels(found$group), contrasts, reference)
    samples <- say_once(lapply(seq_len(nrow(table)), function(k) {
        contrast_samples(found, table[k, ], dots)
    }))
    spec <- group_spec(spec, samples)
    fits <- say_once(test_contrasts(samples, spec, how, call))
    new_kliep_groups(fits, table, found$group, how, call)
}

# ---- what is asked for -----------------------------------------------------

check_group_dots <- function(dots, called = "kliep_groups") {
    known <- setdiff(c(sample_arguments(), spec_arguments()),
                     c("group", "contrast", "data"))
    check_dots(dots, known, called)
    if (is.null(dots$top_variable)) return(dots)
    stop_kliep(
        "argument",
        "`top_variable` would choose other variables in every comparison.",
        hint = "Choose them first, and give them as `variables`."
    )
}

# The table without its column of groups, and the group of every observation.
find_grouped <- function(data, group, arg = "`group`") {
    load_class_of(data)
    known <- known_of_samples(data)
    experiment <- inherits(data, c("SummarizedExperiment", "ExpressionSet"))
    named <- is.data.frame(data) && is_column_name(group, nrow(data))
    rows <- if (experiment) {
        matrix(0, ncol(data), 1L, dimnames = list(colnames(data), NULL))
    } else {
        data
    }
    group_of <- tryCatch(
        find_group(group, if (length(known) > 0L) known, rows,
                   "columns of `data`"),
        kliep_error_group = function(condition) {
            # The same error, about another argument.
            condition$message <- sub("`group`", arg, condition$message,
                                     fixed = TRUE)
            stop(condition)
        }
    )
    list(values = if (named) data[setdiff(names(data), group)] else data,
         group = group_of)
}

# One row for each contrast: the groups `x` and `y`, and its name.
contrast_table <- function(levels, contrasts, reference) {
    if (length(levels) < 3L) {
        stop_kliep(
            "group",
            paste0("`group` must have three levels or more: got ",
                   length(levels), "."),
            hint = "`kliep_auto()` and `kliep_infer()` compare two groups."
        )
    }
    if (is.null(reference)) reference <- levels[1L]
    if (!is_string(reference) || !reference %in% levels) {
        stop_kliep(
            "group",
            paste0("`reference` must be one of the groups, ",
                   name_some(levels, 20L), ": got ", describe(reference), ".")
        )
    }
    table <- switch(
        contrasts,
        all = {
            pairs <- utils::combn(levels, 2L)
            data.frame(x = pairs[2L, ], y = pairs[1L, ])
        },
        reference = data.frame(x = setdiff(levels, reference), y = reference),
        rest = data.frame(x = levels, y = "rest")
    )
    cbind(contrast = paste(table$x, "-", table$y), table)
}

# The two samples of one contrast.
contrast_samples <- function(found, contrast, dots) {
    group <- as.character(found$group)
    if (contrast$y == "rest" && !"rest" %in% levels(found$group)) {
        group[!is.na(group) & group != contrast$x] <- "rest"
    }
    own <- find_samples(found$values, NULL, c(
        list(group = group, contrast = c(contrast$x, contrast$y)), dots
    ))
    stop_small_group(own, contrast)
    own
}

# Tests need ten observations of each group: this error names a group that has
# fewer.
stop_small_group <- function(samples, contrast) {
    n <- vapply(samples[c("x", "y")], nrow, 1L)
    if (min(n) >= 10L) return(invisible())
    what <- if (is.null(samples$design$pool)) "observation" else "unit"
    stop_kliep(
        "size",
        paste0("Group `", contrast[[names(n)[which.min(n)]]], "` has ",
               count_of(min(n), what), ", and tests need at least 10 in each ",
               "group."),
        hint = "Leave this group out, or join it with another."
    )
}

# The same estimator for all contrasts.
group_spec <- function(spec, samples) {
    rest <- samples[[1L]]$rest
    if (is.null(spec) && is.null(rest$features)) {
        spec <- kliep_spec(suitable_features(lapply(samples, look_at_samples)))
    }
    as_spec(spec, rest)
}

# ---- the result ------------------------------------------------------------

# The only place the class is set. `gate` is whether the test of no difference
# at all, over all contrasts, has to come first.
new_kliep_groups <- function(fits, table, group, how, call, gate = TRUE) {
    names(fits) <- table$contrast
    estimates <- contrast_estimates(fits)
    single <- vapply(fits, function(fit) fit$global$p_value, 1)
    global <- combine_simes(single)
    estimates$q_value <- stats::p.adjust(estimates$p_value, "BH")
    first <- if (gate) global else 0
    estimates$changed <- estimates$q_value <= how$fdr & first <= how$fdr &
        single[estimates$contrast] <= how$fdr
    table$n_x <- vapply(fits, function(fit) fit$n[["x"]], 1L)
    table$n_y <- vapply(fits, function(fit) fit$n[["y"]], 1L)
    table <- cbind(table, units_table(fits))
    table$p_value <- unname(single)
    table$n_changed <- as.vector(rowsum(as.integer(estimates$changed),
                                        estimates$contrast, reorder = FALSE))
    structure(
        class = "kliep_groups",
        list(
            estimates = estimates[c("contrast", "from", "to", "estimate", "se",
                                    "lower", "upper", "p_value", "q_value",
                                    "changed")],
            omnibus = omnibus_table(fits, table, group, first, how$fdr),
            contrasts = table, profiles = group_profiles(fits, table),
            odd = odd_groups(estimates, table), global = global,
            groups = table_of(group), fdr = how$fdr, level = how$level,
            fits = fits, spec = fits[[1L]]$spec,
            variables = fits[[1L]]$variables, call = call
        )
    )
}

# How many units each contrast has of both groups; NULL where there are none.
units_table <- function(fits) {
    units <- lapply(fits, function(fit) units_of(fit$samples$design))
    if (is.null(units[[1L]])) return(data.frame(row.names = seq_along(fits)))
    data.frame(units_x = vapply(units, `[[`, 1L, "x"),
               units_y = vapply(units, `[[`, 1L, "y"), row.names = NULL)
}

table_of <- function(group) {
    counts <- table(group)
    data.frame(group = names(counts), n = as.vector(counts))
}

contrast_estimates <- function(fits) {
    parts <- Map(function(fit, contrast) {
        data.frame(contrast = contrast, fit$estimates[
            c("from", "to", "estimate", "se", "lower", "upper", "p_value")
        ])
    }, fits, names(fits))
    table <- do.call(rbind, unname(parts))
    rownames(table) <- NULL
    table
}

# P-values of whole contrasts, which come from few shuffles: one of exactly 1
# must not outweigh all others, as it would with Cauchy's distribution.
combine_simes <- function(p) {
    min(stats::p.adjust(p, "BH"))
}

# P-values in the columns of a matrix, combined row by row.
combine_cauchy <- function(p) {
    p <- pmin(pmax(p, 1e-15), 1 - 1e-15)
    0.5 - atan(rowMeans(tan((0.5 - p) * pi))) / pi
}

omnibus_table <- function(fits, table, group, global, fdr) {
    p <- vapply(fits, function(fit) fit$estimates$p_value,
                numeric(nrow(fits[[1L]]$estimates)))
    omnibus <- data.frame(fits[[1L]]$estimates[c("from", "to")],
                          p_value = combine_cauchy(p))
    omnibus$q_value <- stats::p.adjust(omnibus$p_value, "BH")
    omnibus$changed <- global <= fdr & omnibus$q_value <= fdr
    trend <- if (is.ordered(group)) trend_table(fits, table, levels(group))
    if (is.null(trend)) omnibus else cbind(omnibus, trend)
}

# The slope of every edge over the levels, from the contrasts of one level with
# all others; NULL where there are none such.
trend_table <- function(fits, table, levels) {
    base <- levels[vapply(levels, function(level) {
        all(setdiff(levels, level) %in% c(table$x[table$y == level],
                                          table$y[table$x == level]))
    }, NA)]
    if (length(base) == 0L) return(NULL)
    base <- base[1L]
    with <- which(table$x == base | table$y == base)
    sign <- ifelse(table$y[with] == base, 1, -1)
    other <- ifelse(sign > 0, table$x[with], table$y[with])
    n <- ifelse(sign > 0, table$n_x[with], table$n_y[with])
    n_base <- ifelse(sign > 0, table$n_y[with], table$n_x[with])
    weight <- seq_along(levels) - (length(levels) + 1) / 2
    names(weight) <- levels
    of <- function(column) {
        matrix(vapply(fits[with], function(fit) fit$estimates[[column]],
                      numeric(nrow(fits[[1L]]$estimates))), ncol = length(with))
    }
    size <- sum(weight^2)
    slope <- drop(of("estimate") %*% (sign * weight[other])) / size
    variance <- of("se")^2
    own <- variance %*% (weight[other]^2 * n_base / (n + n_base))
    common <- variance %*% (n / (n + n_base)) / length(with)
    se <- sqrt(drop(own + weight[base]^2 * common)) / size
    # Edges with several coefficients have a norm, and no slope.
    slope[is.na(se)] <- NA
    p <- trend_p(slope / se, fits[with])
    data.frame(trend = slope, se_trend = se, p_trend = p,
               q_trend = stats::p.adjust(p, "BH"))
}

# The largest by the shuffles of any contrast.
trend_p <- function(z, fits) {
    known <- is.finite(z)
    p <- rep(NA_real_, length(z))
    if (!any(known)) return(p)
    each <- vapply(fits, function(fit) p_from_null(z[known], fit$null),
                   numeric(sum(known)))
    p[known] <- apply(matrix(each, nrow = sum(known)), 1L, max)
    p
}

# The partial correlation of every edge in every group, the mean over the
# contrasts that it takes part in.
group_profiles <- function(fits, table) {
    first <- fits[[1L]]$estimates
    if (is.null(first$partial_x)) return(NULL)
    groups <- sort(unique(c(table$x, table$y)))
    mean_of <- function(group) {
        of <- function(side, column) {
            lapply(fits[table[[side]] == group],
                   function(fit) fit$estimates[[column]])
        }
        parts <- c(of("x", "partial_x"), of("y", "partial_y"))
        Reduce(`+`, parts) / length(parts)
    }
    edges <- rep(seq_len(nrow(first)), length(groups))
    data.frame(from = first$from[edges], to = first$to[edges],
               group = rep(groups, each = nrow(first)),
               partial = unlist(lapply(groups, mean_of)))
}

# In how many edges one group differs from all others: reported in each of its
# contrasts, with one sign seen from it, and in no other. Edges with several
# coefficients have no sign.
odd_groups <- function(estimates, table) {
    edges <- nrow(estimates) / nrow(table)
    changed <- matrix(estimates$changed, edges)
    sign <- matrix(sign(estimates$estimate), edges)
    unsigned <- rowSums(matrix(!is.na(estimates$se), edges)) == 0
    groups <- setdiff(unique(c(table$x, table$y)), "rest")
    count <- vapply(groups, function(group) {
        own <- table$x == group | table$y == group
        if (sum(own) < 2L) return(NA_integer_)
        seen <- sweep(sign, 2L, ifelse(table$x == group, 1, -1), "*")
        seen <- seen[, own, drop = FALSE]
        one <- unsigned | abs(rowSums(seen)) == sum(own)
        odd <- one & rowSums(!changed[, own, drop = FALSE]) == 0 &
            rowSums(changed[, !own, drop = FALSE]) == 0
        sum(odd)
    }, 1L)
    data.frame(group = groups, n_edges = unname(count))
}

# ---- methods ---------------------------------------------------------------

# NULL is all of them.
check_contrast_names <- function(contrast, known) {
    if (is.null(contrast)) return(known)
    if (is.character(contrast) && all(contrast %in% known)) return(contrast)
    stop_kliep(
        "argument",
        paste0("`contrast` must be among ", name_some(known, 20L), ": got ",
               if (is.character(contrast))
                   name_some(setdiff(contrast, known)) else describe(contrast),
               ".")
    )
}

#' @export
format.kliep_groups <- function(x, ...) {
    c(
        paste0("<kliep_groups> of ", count_of(nrow(x$groups), "group"),
               ", false discovery rate ", format(x$fdr)),
        paste0("  groups     ", paste0(x$groups$group, ": ", x$groups$n,
                                       collapse = ", "), " observations of ",
               count_of(length(x$variables), "variable")),
        paste0("  features   ", name_features(x$spec$features)),
        describe_design(x$fits[[1L]]$samples$design, counts = FALSE),
        paste0("  contrasts  ", nrow(x$contrasts), ", of ",
               count_of(nrow(x$omnibus), "edge"), " each"),
        paste0("  any change p = ", format(x$global, digits = 2L))
    )
}

# What was found, in a few sentences.
say_groups <- function(x) {
    if (inherits(x, "kliep_by")) return(say_parts(x))
    differ <- sum(x$omnibus$changed)
    if (differ == 0L && !any(x$estimates$changed)) {
        return(paste0("No difference found between any groups at a false ",
                      "discovery rate of ", format(x$fdr), "."))
    }
    odd <- x$odd[!is.na(x$odd$n_edges) & x$odd$n_edges > 0L, ]
    c(
        paste0(count_of(differ, "edge"), if (differ == 1L) " differs" else
            " differ", " between groups; ",
            count_of(sum(x$estimates$changed), "change"), " in ",
            count_of(nrow(x$contrasts), "contrast"), "."),
        if (!is.null(x$omnibus$q_trend)) paste0(
            count_of(sum(x$omnibus$changed & x$omnibus$q_trend <= x$fdr,
                         na.rm = TRUE), "edge"),
            " among them with a trend over the levels."
        ),
        if (nrow(odd) > 0L) paste0(
            "`", odd$group, "` differs from all others in ",
            vapply(odd$n_edges, count_of, "", singular = "edge"),
            ": every contrast with it changes, and no other."
        )
    )
}

#' @export
print.kliep_groups <- function(x, most = 10L, ...) {
    cat(format(x), "", sep = "\n")
    cat(strwrap(paste(say_groups(x), collapse = " "), width = 78L), "",
        sep = "\n")
    shown <- x$contrasts
    if (inherits(x, "kliep_by")) shown <- shown[!names(shown) %in% c("x", "y")]
    print(shown, digits = 3L, row.names = FALSE)
    found <- edges(x)
    print_kept(found[setdiff(names(found), c("se", "p_value"))], most)
    cat("\nNext: edges(), plot(), plot(type = \"edges\"),",
        "$omnibus and $estimates for all edges\n")
    invisible(x)
}
