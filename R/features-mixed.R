# Features of columns of several types: products of what stands for the values
# of two columns.

#' Features of columns of several types
#'
#' Describes a network of numeric, two-valued, categorical, ordered and count
#' columns. Each column is coded by one or several features, and an edge has
#' all products of the features of its two columns,
#' \deqn{f_{uv}(x) = b_u(x_u) \otimes b_v(x_v), \qquad f_{uu}(x) = a_u(x_u),}{
#'     f_uv(x) = b_u(x_u) (x) b_v(x_v),  f_uu(x) = a_u(x_u),}
#' so that
#' \deqn{\log p / q = \sum_u \theta_u^\top a_u(x_u) + \sum_{u < v}
#'     b_u(x_u)^\top \Theta_{uv} b_v(x_v) + c.}{
#'     log p / q = sum_u theta_u' a_u(x_u) +
#'     sum_{u < v} b_u(x_u)' Theta_uv b_v(x_v) + c.}
#' An edge is the group of all its
#' coefficients \eqn{\Theta_{uv}}{Theta_uv}: it is detected, tested and reported
#' as a whole, and its weight is their norm. [edge_cells()] shows the change
#' level by level.
#'
#' @section Types:
#' * `"two_valued"`, two values of any class: \eqn{b_u} is one for the second
#'   value, centred and scaled, and \eqn{a_u} the same.
#' * `"categorical"`, factors and text: indicators of \eqn{k} levels, as
#'   \eqn{k - 1} columns, for both.
#' * `"ordered"`, ordered factors and whole numbers with 3 to 7 values:
#'   \eqn{b_u} is the normal score of the level, \eqn{a_u} has \eqn{k - 1}
#'   polynomials of it.
#' * `"count"`, whole numbers from 0 with at least a tenth of zeros: \eqn{b_u}
#'   is \eqn{t = \log(1 + x)}{t = log(1 + x)} or \eqn{\sqrt x}{root x}, and zero
#'   as a state; \eqn{a_u} has \eqn{t^2} as well.
#' * `"numeric"`, all other numbers: \eqn{b_u} is the normal score \eqn{s},
#'   \eqn{a_u} has \eqn{s} and \eqn{s^2}.
#'
#' Counts with few zeros are numeric unless specified, as ranks describe them
#' well. Zero is a state of its own where 10 % to 90 % of the values are zero. A
#' level with fewer than 5 observations in either sample is merged with the
#' rarest other level, or with a neighbour if levels are ordered, and a message
#' says so. Where one of two values has fewer than 5 observations,
#' [kliep_infer()] does not test the edges of the column.
#'
#' @section What a change of an edge is:
#' Both samples share one coding, except for normal scores, and every column
#' has features of its own. Where the shares of levels shift, for example with
#' more smokers in `x`, while each level keeps its relation to the other
#' columns, \eqn{\Theta_{uv}}{Theta_uv} is zero: a shifted margin is not a
#' changed edge. [kliep_infer()] always fits the features of single columns (of
#' the most shifted ones, with as many coefficients as a twentieth of the
#' observations); a path penalises them like edges unless `penalty_factor` is
#' specified.
#'
#' Normal scores are those of [feat_nonparanormal()]: ranks within each sample
#' with `standardize = "within"`, the default, so that heavy tails cost little
#' and a shift of location and scale makes no difference; ranks over both
#' samples with `"pooled"`, where a shift shows in the features of the single
#' column. `"none"` is refused.
#'
#' @section How types are weighted:
#' In samples without dependence all columns of \eqn{b_u} are uncorrelated and
#' have variance one, so that a norm is the root mean square of the change of
#' the log-ratio over all cells. A factor of \eqn{k} coefficients has the
#' penalty factor \eqn{\sqrt{q_k / q_1}}{sqrt(q_k / q_1)}, with \eqn{q_k} the
#' quantile \eqn{1 - 1 / T} of chi-square with \eqn{k} degrees of freedom and
#' \eqn{T} the number of edges: where nothing changed, each of the \eqn{T}
#' edges is as likely to be the first on the path, whatever its types. A
#' `penalty_factor` that is given multiplies it.
#'
#' @section Where it is used:
#' [kliep_auto()] uses these features for data frames with columns of several
#' types. [kliep_infer()] tests the coefficients of an edge together, by
#' chi-square, as its section *Any other features* describes. [kliep_test()]
#' shuffles observations, so that its global test counts a shifted margin as a
#' difference between the samples; its edges are those of the path.
#' [kliep_debias()], [kliep_groups()] and [kliep_time()] do not take these
#' features.
#'
#' @param types Types of columns, in place of those found from the values: a
#'   named vector or list, such as `c(stage = "ordered", visits = "count")`.
#' @param counts The transform of counts, `"log1p"` or `"root"`.
#' @param max_levels The largest number of levels; a column with more is
#'   refused.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @seealso [edge_cells()] for the table behind an edge.
#' @export
#' @examples
#' set.seed(1)
#' n <- 300
#' draw <- function(slope) {
#'     smoker <- factor(sample(c("no", "former", "yes"), n, TRUE))
#'     data.frame(age = rnorm(n), smoker = smoker,
#'                cough = rbinom(n, 1, plogis(slope * (smoker == "yes"))),
#'                visits = rpois(n, 0.8))
#' }
#' path <- kliep_path(draw(2), draw(0), feat_mixed(c(visits = "count")))
#' path
#' head(edges(path))
#' edge_cells(path, "smoker", "cough", lambda2 = path$lambda2[20])
feat_mixed <- function(types = NULL, counts = c("log1p", "root"),
                       max_levels = 12) {
    counts <- check_choice(counts, "counts", c("log1p", "root"))
    max_levels <- check_whole(max_levels, "max_levels", "features", least = 2)
    new_features("mixed", "mixed",
                 list(counts = if (counts == "root") counts),
                 types = check_types(types), counts = counts,
                 max_levels = max_levels)
}

check_types <- function(types) {
    if (is.null(types)) return(NULL)
    given <- unlist(types)
    if (!is.character(given) || length(given) != length(types) ||
            !all_named_once(types)) {
        stop_kliep(
            "features",
            paste0("`types` must name the type of columns, each once: got ",
                   describe(types), "."),
            hint = "Such as `c(stage = \"ordered\", visits = \"count\")`."
        )
    }
    unknown <- setdiff(given, mixed_types)
    if (length(unknown) == 0L) return(given)
    stop_kliep(
        "features",
        paste0("`types` has ", name_some(unknown), ", which is not a type."),
        hint = paste0("Types are ", paste(dQuote(mixed_types, FALSE),
                                          collapse = ", "), ".")
    )
}

all_named_once <- function(values) {
    !is.null(names(values)) && all(nzchar(names(values))) &&
        !anyDuplicated(names(values))
}

format_mixed <- function(x) {
    of <- if (is.null(x$columns)) x$types else
        vapply(x$columns, `[[`, "", "type")
    sizes <- table(of)
    c("  edge (u, v)    all products of b_u and b_v",
      "  variable u     a_u",
      "  with           b and a by the type of a column: ?feat_mixed",
      if (length(of) > 0L) paste0(
          "  types          ",
          paste0(sizes, " ", gsub("_", "-", names(sizes)), collapse = ", "),
          if (is.null(x$columns)) ", others as found"
      ))
}

# ---- values ----------------------------------------------------------------

# The specification with the columns of some samples.
with_columns <- function(features, coding) {
    if (!is_mixed(features)) return(features)
    features$columns <- coding
    features
}

# What edges are made of, for the coded and scored values of one column.
edge_basis <- function(own, values) {
    if (own$type == "numeric") return(cbind(values))
    if (!is.null(own$index)) return(own$basis[values, , drop = FALSE])
    t <- count_scores(own, values)
    cbind(t, if (!is.null(own$zero))
        off_line(as.double(values == 0), t, own$zero))
}

single_basis <- function(own, values) {
    if (own$type == "numeric") return(cbind(values, (values^2 - 1) / sqrt(2)))
    if (!is.null(own$index)) return(own$single[values, , drop = FALSE])
    edge <- edge_basis(own, values)
    cbind(edge, if (!is.null(own$square))
        off_line(edge[, 1L]^2, edge[, 1L], own$square))
}

count_scores <- function(own, values) {
    (bend_counts(values, own$transform) - own$center) / own$scale
}

# How many columns an edge has of each variable, and a variable alone.
basis_sizes <- function(columns) {
    vapply(columns, function(own) {
        if (!is.null(own$index)) return(ncol(own$basis))
        if (own$type == "numeric") 1L else 1L + ("zero" %in% names(own))
    }, 1L)
}

single_sizes <- function(columns) {
    vapply(columns, function(own) {
        if (!is.null(own$index)) return(ncol(own$single))
        if (own$type == "numeric") return(2L)
        1L + sum(c("zero", "square") %in% names(own))
    }, 1L)
}

# The columns of one basis change fastest.
outer_columns <- function(first, second) {
    k <- ncol(first)
    unname(first[, rep(seq_len(k), ncol(second)), drop = FALSE] *
               second[, rep(seq_len(ncol(second)), each = k), drop = FALSE])
}

# The features of one factor.
mixed_factor <- function(columns, stack, set) {
    if (length(set) == 1L) {
        return(unname(single_basis(columns[[set]], stack[, set])))
    }
    outer_columns(edge_basis(columns[[set[1L]]], stack[, set[1L]]),
                  edge_basis(columns[[set[2L]]], stack[, set[2L]]))
}

# As feature_table(), with each basis made once.
mixed_table <- function(features, stack, scored) {
    columns <- features$columns
    sizes <- mixed_sizes(columns)
    check_memory(8 * sum(as.double(sizes)) * (2 * nrow(stack) + scored),
                 paste("The features of", count_of(sum(sizes), "column")))
    bases <- Map(edge_basis, columns, asplit(stack, 2L))
    values <- lapply(seq_along(columns), function(v) {
        c(lapply(seq_len(v - 1L), function(u) {
            outer_columns(bases[[u]], bases[[v]])
        }), list(single_basis(columns[[v]], stack[, v])))
    })
    values <- do.call(cbind, unlist(values, recursive = FALSE))
    list(features = features, values = unname(values), sizes = sizes)
}

# The number of coefficients of every factor: (1), (1, 2), (2), (1, 3), ...
mixed_sizes <- function(columns) {
    d <- length(columns)
    pairs <- factor_pairs(seq_len(d * (d + 1) / 2))
    k <- unname(basis_sizes(columns))
    ifelse(pairs$from == pairs$to, unname(single_sizes(columns))[pairs$from],
           k[pairs$from] * k[pairs$to])
}

# Penalty factors under which every factor is equally likely to be the first to
# enter if nothing has changed.
mixed_weights <- function(sizes, d) {
    level <- 1 - 1 / max(2, d * (d - 1) / 2)
    sqrt(stats::qchisq(level, sizes) / stats::qchisq(level, 1))
}

# Both samples one below the other, with normal scores brought to mean zero and
# variance one, and what this takes of further observations.
mixed_stack <- function(samples, columns, standardize) {
    scored <- which(scored_columns(columns))
    d <- length(columns)
    stack <- unname(rbind(samples$x, samples$y))
    result <- list(stack = stack, center_x = numeric(d), scale_x = rep(1, d),
                   center_y = numeric(d), scale_y = rep(1, d))
    if (length(scored) == 0L) return(result)
    standard <- rust_standardize_samples(
        samples$x[, scored, drop = FALSE], samples$y[, scored, drop = FALSE],
        standardize
    )
    result$stack[, scored] <- standard$stack
    for (part in names(result)[-1L]) result[[part]][scored] <- standard[[part]]
    result
}

# ---- names -----------------------------------------------------------------

# "a*b", "a[1]*b[2]" where a column has several; "a[0]" is zero as a state.
mixed_labels <- function(features, variables, from, to, term) {
    columns <- features$columns
    edge <- Map(basis_labels, columns, variables)
    single <- Map(single_labels, columns, variables)
    mapply(function(from, to, term) {
        if (from == to) return(single[[from]][term])
        k <- length(edge[[from]])
        paste0(edge[[from]][(term - 1L) %% k + 1L], "*",
               edge[[to]][(term - 1L) %/% k + 1L])
    }, from, to, term)
}

basis_labels <- function(own, variable) {
    if (own$type == "count") {
        return(c(variable, if (!is.null(own$zero)) paste0(variable, "[0]")))
    }
    k <- if (is.null(own$index)) 1L else ncol(own$basis)
    if (k == 1L) variable else paste0(variable, "[", seq_len(k), "]")
}

single_labels <- function(own, variable) {
    if (own$type == "numeric") return(c(variable, paste0(variable, "^2")))
    if (own$type == "count") {
        return(c(basis_labels(own, variable),
                 if (!is.null(own$square)) paste0(variable, "^2")))
    }
    k <- ncol(own$single)
    if (k == 1L) variable else paste0(variable, "[", seq_len(k), "]")
}
