# Tables that are not two samples of observations, by what they look like:
# variables in rows, a matrix of correlations, raw counts, a column twice, the
# column with the conditions. An error if nobody can mean it, a message if
# somebody may.

# ---- variables in rows -----------------------------------------------------

# Tables of expression mostly have genes in rows: then rows have the names that
# both samples share, and columns have others in each sample.
stop_transposed <- function(x, y) {
    common <- length(common_rows(x, y))
    if (common < 2L || 2L * common < min(nrow(x), nrow(y))) {
        return(invisible())
    }
    columns <- list(x = colnames(x), y = colnames(y))
    named <- !any(vapply(columns, is.null, NA))
    if (named && length(intersect(columns$x, columns$y)) > 0L) {
        return(invisible())
    }
    what <- paste0(
        "`x` and `y` seem to have their variables in rows: ",
        format(common, big.mark = ","), " rows have the same names in both",
        if (named) ", and no column does."
        else ", and their columns have no names."
    )
    # Without names of columns, rows may be the same patients, seen twice.
    if (!named) return(inform_kliep("transposed", what, hint_transpose()))
    stop_kliep("dimension", what, hint_transpose())
}

hint_transpose <- function() {
    paste("Rows must be observations and columns variables: if not, transpose",
          "both, `t(x)` and `t(y)`.")
}

# Names that rows of both tables have; those that R makes up do not count.
common_rows <- function(x, y) intersect(row_names(x), row_names(y))

row_names <- function(table) {
    if (length(dim(table)) != 2L) return(NULL)
    if (is.data.frame(table) && .row_names_info(table) < 0L) return(NULL)
    rownames(table)
}

# ---- moments instead of observations ---------------------------------------

# A table of observations is not symmetric.
stop_moments <- function(sample, arg) {
    kind <- moment_kind(sample)
    if (is.null(kind)) return(invisible())
    stop_kliep(
        "type",
        paste0("`", arg, "` is a ", kind, " matrix: ", nrow(sample), " x ",
               ncol(sample), ", and symmetric. The observations themselves ",
               "are needed."),
        hint = "Give them in rows, with the variables in columns."
    )
}

# "correlation", "covariance" or NULL.
moment_kind <- function(sample) {
    d <- ncol(sample)
    if (d < 3L || nrow(sample) != d) return(NULL)
    values <- unname(sample)
    if (!isSymmetric(values) || any(diag(values) <= 0)) return(NULL)
    scale <- sqrt(diag(values))
    shares <- values / outer(scale, scale)
    if (max(abs(shares)) > 1 + 1e-8) return(NULL)
    if (all(abs(scale - 1) < 1e-8)) "correlation" else "covariance"
}

# ---- the column with the conditions ----------------------------------------

# One value in all of `x` and another in all of `y`.
tells_samples_apart <- function(x, y) {
    is_constant(x) & is_constant(y) & x[1L, ] != y[1L, ]
}

stop_conditions <- function(columns) {
    if (length(columns) == 0L) return(invisible())
    one <- length(columns) == 1L
    stop_kliep(
        "constant",
        paste0(name_some(columns), if (one) " has" else " have",
               " one value in all of `x` and another in all of `y`, and ",
               if (one) "seems" else "seem", " to say which sample is ",
               "which."),
        hint = paste0("Drop ", if (one) "it" else "them", "; or give all ",
                      "observations in one table, and the name of that ",
                      "column as `group`.")
    )
}

# ---- what can be meant, and mostly is not ----------------------------------

# `found` is what a user gave, `samples` what was made of it, and `features` are
# those that are fitted. The samples of a result were checked when it was made.
notice_samples <- function(found, samples, features) {
    if (!is.null(found$result) || has_gaps(samples)) return(invisible())
    notice_twins(samples)
    notice_counts(samples, features)
}

# Columns that are the same in both samples. Columns of two values are so by
# chance.
notice_twins <- function(samples) {
    # Equal columns have equal sums, whatever the weights of the rows.
    weighted <- function(values) {
        drop(crossprod(sin(seq_len(nrow(values))), values))
    }
    sums <- signif(weighted(samples$x) + weighted(samples$y), 10L)
    again <- which(duplicated(sums))
    first <- match(sums[again], sums)
    column <- function(u) c(samples$x[, u], samples$y[, u])
    same <- vapply(seq_along(again), function(k) {
        values <- column(again[k])
        identical(values, column(first[k])) && length(unique(values)) > 2L
    }, NA)
    if (!any(same)) return(invisible())
    pairs <- paste0("`", samples$variables[first[same]], "` and `",
                    samples$variables[again[same]], "`")
    more <- length(pairs) - 3L
    inform_kliep("twins", paste0(
        "Columns have the same values in both samples: ",
        paste(utils::head(pairs, 3L), collapse = ", "),
        if (more > 0L) paste(" and", count_of(more, "more pair")), "."
    ), hint = "Their changes cannot be separated: keep one of them.")
}

# Ranks and spins do not care for large counts.
notice_counts <- function(samples, features) {
    if (is_ranked(features) || is_mixed(features) ||
        identical(features$family, "ising") || !are_raw_counts(samples)) {
        return(invisible())
    }
    largest <- max(samples$x, samples$y)
    inform_kliep(
        "counts",
        paste0("The values are counts, up to ",
               format(largest, big.mark = ",", scientific = FALSE),
               ": a few large ones may decide the fit."),
        hint = paste("Use `feat_nonparanormal()` or `kliep_auto()`, which use",
                     "ranks, or fit `log1p()` of them.")
    )
}

# Counts whose variance grows beyond their mean, such as reads of RNA.
are_raw_counts <- function(samples) {
    # The first row is enough to see that most tables are not of this kind.
    if (!is_counts(samples$x[1L, ]) || !is_counts(samples$x) ||
        !is_counts(samples$y)) {
        return(FALSE)
    }
    values <- rbind(samples$x, samples$y)
    mean <- colMeans(values)
    variance <- colMeans(sweep(values, 2L, mean)^2)
    max(values) >= 100 && stats::median(variance / pmax(mean, 1)) >= 5
}
