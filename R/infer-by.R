# The same two conditions compared in every part of the observations, such as
# every type of cells: one result, with error control over edges and parts.

#' Which edges changed, by cell type
#'
#' Compares two conditions within each cell type, or each level of any other
#' column, and reports the edges that changed in each. The false discovery rate
#' is at most `fdr`, over edges and cell types together.
#'
#' @section Donors, not cells:
#' Cells of one donor are more alike than cells of two. Tests that treat all
#' cells as independent report differences between donors as differences between
#' conditions. There are two remedies, and both need the donor of every cell:
#' * `unit = "donor"` keeps the cells. The network is that of cells, within and
#'   between donors; the influences of the cells of a donor are added up before
#'   they are squared, and shuffles move whole donors ([two_samples()]). If
#'   donors occur in both conditions, use `pair` instead of `unit`. With
#'   `adjust = ~ donor` in addition, the network is that within donors.
#' * `unit = "donor", pool = "mean"` makes one observation of all cells of a
#'   donor and cell type (pseudobulk). The network is that of donors: genes that
#'   are high in the same donors. It takes more donors, at least 10 in each
#'   condition.
#'
#' @section Error control:
#' Every cell type is tested as [kliep_infer()] tests two samples, with shuffles
#' of its own. `q_value` is adjusted by the method of Benjamini and Hochberg
#' over all edges of all cell types; a change is reported where it is at most
#' `fdr`, and so is the p-value of no change at all in its cell type. (`$global`
#' combines these over cell types by the method of Simes. It does not decide
#' what is reported: with many types and few shuffles it cannot be small.) The
#' rate holds for all reported edges together. It may be larger in one cell type
#' that is chosen after looking at all. For a type chosen in advance,
#' `found$fits[["T cell"]]` has the q-values of that type by itself. `$omnibus`
#' tests each edge for a change in any cell type.
#'
#' @section What is left out:
#' A cell type with too few cells or donors in a condition is left out with a
#' warning that gives the reason (class `kliep_warning_left_out`), and is listed
#' in `$left_out`. If few donors allow fewer than `n_perm` shuffles, but at
#' least 19, all of them are used.
#'
#' @param data All observations: a matrix or data frame with observations in
#'   rows, a `SummarizedExperiment`, such as a `SingleCellExperiment`, or an
#'   `ExpressionSet`.
#' @param group The condition of every observation: a factor or another vector,
#'   or the name of a column.
#' @param by The cell type of every observation: a factor or another vector, or
#'   the name of a column.
#' @param contrast Two of the conditions, numerator first. Needed if there are
#'   more than two.
#' @param spec The estimator: see [kliep_infer()]. `NULL` chooses the features
#'   as [kliep_auto()] does, the same for all cell types.
#' @param ... Other arguments of [two_samples()], such as `unit`, `pool`,
#'   `variables` or `adjust`, and settings of [kliep_spec()] by name.
#' @inheritParams kliep_infer
#' @return An object of class `kliep_by`, a kind of [kliep_groups()] whose
#'   contrasts are the cell types, with [print()], [summary()],
#'   [`plot()`][autoplot.kliep_groups], [`edges()`][edges.kliep_groups],
#'   [`tidy()`][tidy.change_path], [`glance()`][glance.change_path] and
#'   [kliep_report()]: `estimates`, `omnibus`, `contrasts`, `profiles`, `global`
#'   and `fits` as there, `conditions`, and `left_out`, a data frame of the cell
#'   types that were not tested (`contrast`) and why (`reason`).
#' @seealso `vignette("cells", package = "kliepnet")`.
#' @export
#' @examples
#' set.seed(1)
#' cells <- data.frame(matrix(rnorm(1200 * 5), 1200))
#' cells$donor <- rep(1:24, each = 50)
#' cells$condition <- ifelse(cells$donor <= 12, "case", "control")
#' cells$type <- rep(c("B cell", "T cell"), 600)
#' changed <- cells$condition == "case" & cells$type == "T cell"
#' cells$X2[changed] <- cells$X1[changed] + cells$X2[changed]
#' found <- kliep_by(cells, "condition", by = "type", unit = "donor")
#' found
#' edges(found)
kliep_by <- function(data, group, by, contrast = NULL, spec = NULL, fdr = 0.1,
                     level = 0.95, n_perm = 49, progress = interactive(),
                     ...) {
    call <- match.call()
    how <- check_inference(fdr, level, n_perm, progress)
    dots <- check_group_dots(list(...), "kliep_by")
    found <- find_parted(data, group, by)
    conditions <- check_contrast(contrast, levels(found$group))
    parts <- say_once(keep_possible(levels(found$by), function(part) {
        part_samples(found, part, conditions, dots)
    }))
    spec <- group_spec(spec, parts$done)
    fits <- keep_possible(names(parts$done), function(part) {
        samples <- parts$done[[part]]
        test_all_edges(samples, spec, with_possible(how, samples), call)
    })
    left_out <- rbind(parts$left_out, fits$left_out)
    warn_left_out(left_out)
    new_kliep_by(fits$done, found, conditions, left_out,
                 c(how, list(call = call)))
}

# ---- what is asked for -----------------------------------------------------

# The table without its columns of groups and parts, and both of these; `called`
# are the arguments that they come from.
find_parted <- function(data, group, by,
                        called = c(group = "`group`", by = "`by`")) {
    first <- find_grouped(data, by, called[["by"]])
    named <- is.data.frame(data) && is_column_name(group, nrow(data))
    # Named by both, a column would leave nothing to compare.
    second <- find_grouped(data, group, called[["group"]])
    values <- first$values
    if (named) values <- values[setdiff(names(values), group)]
    list(values = values, group = second$group, by = first$group)
}

# The two samples of one part. What has a value for each observation is cut to
# the same rows as the table.
part_samples <- function(found, part, conditions, dots) {
    at <- which(found$by == part)
    n <- length(found$by)
    values <- if (inherits(found$values, c("SummarizedExperiment",
                                           "ExpressionSet"))) {
        found$values[, at]
    } else {
        found$values[at, , drop = FALSE]
    }
    about <- intersect(names(dots), c("unit", "pair", "strata", "adjust"))
    dots[about] <- lapply(dots[about], function(value) {
        value <- in_row_order(value, observation_names(found$values))
        if (length(dim(value)) == 2L && nrow(value) == n) {
            value[at, , drop = FALSE]
        } else if (is.atomic(value) && length(value) == n) {
            value[at]
        } else {
            value
        }
    })
    present <- intersect(conditions, unique(found$group[at]))
    if (length(present) < 2L) {
        stop_kliep("group", paste0(
            "There is no observation of ",
            name_some(setdiff(conditions, present)), "."
        ))
    }
    samples <- find_samples(values, NULL, c(
        list(group = found$group[at], contrast = unname(conditions)), dots
    ))
    refuse_few(samples, part)
}

# Tests need ten observations of each condition: this error names the part that
# has fewer.
refuse_few <- function(samples, part) {
    n <- vapply(samples[c("x", "y")], nrow, 1L)
    if (min(n) >= 10L) return(samples)
    pooled <- !is.null(samples$design$pool)
    stop_kliep(
        "size",
        paste0("There are ", n[["x"]], " and ", n[["y"]],
               if (pooled) " units" else " observations",
               ", and tests need at least 10 in each condition."),
        hint = if (pooled) "Use all cells: `pool = \"none\"`."
    )
}

# All possible shuffles, if these are fewer than asked for, but enough to test.
with_possible <- function(how, samples) {
    layout <- design_layout(samples$design, nrow(samples$x), nrow(samples$y))
    most <- count_layout_shuffles(layout, alike = TRUE)
    if (most >= 19) how$n_perm <- min(how$n_perm, most)
    how
}

# `work` for all parts: the results by the names of the parts, and the parts for
# which it failed with the reasons. If it fails for all, the reason becomes an
# error of the call.
keep_possible <- function(parts, work) {
    first <- NULL
    done <- list()
    reasons <- character()
    for (part in parts) {
        value <- tryCatch(work(part), kliep_error = identity)
        if (inherits(value, "kliep_error")) {
            if (is.null(first)) first <- value
            reasons[part] <- conditionMessage(value)
        } else {
            done[[part]] <- value
        }
    }
    if (length(done) == 0L && !is.null(first)) stop(first)
    list(done = done, left_out = data.frame(contrast = names(reasons),
                                            reason = unname(reasons)))
}

warn_left_out <- function(left_out) {
    if (nrow(left_out) == 0L) return(invisible())
    reason <- sub("[.]?(\n.*)?$", "", left_out$reason)
    warn_kliep(
        "left_out",
        paste0("Left out: ", paste0("`", left_out$contrast, "` (", reason, ")",
                                    collapse = "; "), "."),
        hint = "`$left_out` of the result has the reasons in full."
    )
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_by <- function(fits, found, conditions, left_out, how) {
    parts <- names(fits)
    table <- data.frame(contrast = parts, x = conditions[["x"]],
                        y = conditions[["y"]])
    by <- factor(as.character(found$by), parts)
    result <- new_kliep_groups(fits, table, by, how, how$call,
                               gate = FALSE)
    result$profiles <- part_profiles(fits, conditions)
    result$odd <- NULL
    result$conditions <- conditions
    result$left_out <- left_out
    class(result) <- c("kliep_by", class(result))
    result
}

# The partial correlation of every edge in both conditions of every part.
part_profiles <- function(fits, conditions) {
    if (is.null(fits[[1L]]$estimates$partial_x)) return(NULL)
    parts <- Map(function(fit, part) {
        found <- fit$estimates
        data.frame(contrast = part, found[c("from", "to")],
                   group = rep(unname(conditions), each = nrow(found)),
                   partial = c(found$partial_x, found$partial_y))
    }, fits, names(fits))
    do.call(rbind, unname(parts))
}

units_of <- function(design) {
    part <- if (is.null(design$unit)) design$pair else design$unit
    if (is.null(part)) return(NULL)
    c(x = n_distinct(part$x), y = n_distinct(part$y))
}

#' @export
format.kliep_by <- function(x, ...) {
    c(
        paste0("<kliep_by> of ", count_of(nrow(x$contrasts), "part"),
               ", false discovery rate ", format(x$fdr)),
        paste0("  conditions x: ", x$conditions[["x"]],
               " (numerator), y: ", x$conditions[["y"]]),
        paste0("  variables  ", length(x$variables), ", with ",
               count_of(nrow(x$omnibus), "edge"), " in each part"),
        paste0("  features   ", name_features(x$spec$features)),
        format_design(x$fits[[1L]]),
        if (nrow(x$left_out) > 0L) paste0("  left out   ", name_some(
            x$left_out$contrast
        )),
        paste0("  any change p = ", format(x$global, digits = 2L))
    )
}

# What was found, in a few sentences.
say_parts <- function(x) {
    changed <- x$estimates[x$estimates$changed, ]
    if (nrow(changed) == 0L) {
        return(paste0("No change found in any part at a false discovery rate ",
                      "of ", format(x$fdr), "."))
    }
    times <- table(edge_label(changed$from, changed$to))
    several <- sum(times > 1L)
    paste0(
        count_of(nrow(changed), "change"), " of ",
        count_of(length(times), "edge"), ", in ",
        n_distinct(changed$contrast), " of ",
        count_of(nrow(x$contrasts), "part"), "; at a false discovery rate of ",
        format(x$fdr), " over all of them expect at most ",
        format(signif(nrow(changed) * x$fdr, 2L)), " to be false.",
        if (several > 0L) paste0(" ", count_of(several, "edge"),
                                 if (several == 1L) " changed" else
                                     " of these changed",
                                 " in more than one part.")
    )
}
