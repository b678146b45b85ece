# Columns with two values, in whatever type they come, as -1 and +1.

# What the two values of every column are, over both samples, and the samples
# recoded. What is not a table of columns is left to the checks that follow.
code_two_valued <- function(x, y) {
    both <- list(x = two_valued_columns(x), y = two_valued_columns(y))
    if (any(vapply(both, is.null, NA))) return(NULL)
    by_name <- !is.null(names(both$x)) && !is.null(names(both$y))
    at <- if (by_name) match(names(both$x), names(both$y)) else
        match(seq_along(both$x), seq_along(both$y))
    labels <- names(both$x)
    if (is.null(labels)) labels <- names(both$y)
    if (is.null(labels)) labels <- paste0("V", seq_along(both$x))
    coding <- Map(function(column, other, name) {
        two_values(column, if (!is.na(other)) both$y[[other]], name)
    }, both$x, at, labels[seq_along(both$x)])
    coding <- stats::setNames(coding, labels[seq_along(both$x)])
    stop_split(both, at, names(coding))
    names_y <- if (by_name) names(both$y) else names(coding)[seq_along(both$y)]
    list(x = recode(both$x, coding[seq_along(both$x)], names(both$x)),
         y = recode(both$y, coding[names_y], names(both$y)),
         coding = coding)
}

# The column with the conditions has two values, too.
stop_split <- function(both, at, labels) {
    apart <- vapply(seq_along(both$x), function(u) {
        other <- if (!is.na(at[u])) both$y[[at[u]]]
        values <- lapply(list(both$x[[u]], other), function(column) {
            unique(as.character(column[!is.na(column)]))
        })
        all(lengths(values) == 1L) && values[[1L]] != values[[2L]]
    }, NA)
    stop_conditions(labels[apart])
}

# New observations in the coding of a fit; what has other columns is left to
# the checks that follow.
code_newdata <- function(newdata, coding) {
    columns <- two_valued_columns(newdata)
    if (length(columns) != length(coding)) return(newdata)
    if (!is.null(names(columns)) && !identical(names(columns), names(coding))) {
        return(newdata)
    }
    if (is_mixed_coding(coding)) return(code_new_mixed(columns, coding))
    recode(columns, coding, names(columns))
}

# A list of plain vectors, one for each column; factors become text, with
# their levels in order.
two_valued_columns <- function(sample) {
    if (inherits(sample, "Matrix")) sample <- as.matrix(sample)
    if (is.matrix(sample)) {
        columns <- lapply(seq_len(ncol(sample)), function(u) sample[, u])
        return(stats::setNames(columns, colnames(sample)))
    }
    if (!is.data.frame(sample)) return(NULL)
    lapply(as.list(sample), function(column) {
        if (is.factor(column)) droplevels(column) else column
    })
}

# The smaller value and the larger one. A column of `y` alone is a mismatch
# that a later check names.
two_values <- function(column, other, name) {
    levels <- if (is.factor(column) || is.factor(other)) {
        union(levels(as.factor(column)), levels(as.factor(other)))
    } else {
        sort(unique(c(column, other)))
    }
    if (length(levels) > 2L) {
        stop_kliep(
            "two_valued",
            paste0("Ising features need columns with two values: `", name,
                   "` has ", length(levels), " (",
                   paste(format(utils::head(levels, 4L), trim = TRUE),
                         collapse = ", "),
                   if (length(levels) > 4L) ", ...", ")."),
            hint = paste("Drop the column, cut it in two, or use other",
                         "features.")
        )
    }
    if (length(levels) < 2L) {
        stop_kliep(
            "constant",
            paste0("Column `", name, "` has one value only in both samples."),
            hint = "Drop it: a constant has no edges."
        )
    }
    levels
}

# A matrix of -1 and +1; missing values stay missing, and a value that the
# coding does not have is an error.
recode <- function(columns, coding, names) {
    coded <- Map(function(column, levels, name) {
        if (is.null(levels)) return(rep(1, length(column)))
        text <- if (is.factor(column)) as.character(column) else column
        code <- 2 * match(text, levels) - 3
        unknown <- which(is.na(code) & !is.na(text))
        if (length(unknown) > 0L) {
            stop_kliep("two_valued", paste0(
                "Column `", name, "` has a value that the fit did not: ",
                format(text[unknown[1L]]), ", not ",
                paste(format(levels, trim = TRUE), collapse = " or "), "."
            ))
        }
        code
    }, columns, coding, if (is.null(names)) names(coding) else names)
    matrix(unlist(coded, use.names = FALSE), ncol = length(columns),
           dimnames = if (!is.null(names)) list(NULL, names))
}
