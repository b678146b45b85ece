# The two samples as a fit wants them: double matrices with the same columns in
# the same order, finite, with names. Everything that can be wrong with a sample
# is reported here.

# Both samples as double matrices with the same columns in the same order.
# Ising features bring their own coding of what a column holds.
# With `gaps`, values may be missing.
check_samples <- function(x, y, features = NULL, least = 2L, gaps = FALSE) {
    stop_transposed(x, y)
    coded <- if (is_mixed(features)) code_mixed(x, y, features) else
        if (identical(features$family, "ising")) code_two_valued(x, y)
    x <- check_sample(if (is.null(coded)) x else coded$x, "x", least, gaps)
    y <- check_sample(if (is.null(coded)) y else coded$y, "y", least, gaps)
    y <- match_columns(x, y)
    variables <- colnames(x)
    if (is.null(variables)) variables <- colnames(y)
    if (is.null(variables)) variables <- paste0("V", seq_len(ncol(x)))
    if (ncol(x) < 2L) {
        stop_kliep(
            "size",
            paste0("`x` and `y` must have at least 2 columns: got ", ncol(x),
                   "."),
            hint = "An edge joins two variables, so one alone has no network."
        )
    }
    dimnames(x) <- dimnames(y) <- NULL
    list(x = x, y = y, variables = variables, coding = coded$coding)
}

check_sample <- function(sample, arg, least = 2L, gaps = FALSE) {
    sample <- as_numeric_matrix(sample, arg)
    check_names(colnames(sample), arg)
    if (nrow(sample) < least) {
        stop_kliep(
            "size",
            paste0("`", arg, "` must have at least ",
                   count_of(least, "row"), " (observations): got ",
                   nrow(sample), "."),
            hint = "Rows are observations and columns are variables."
        )
    }
    check_finite(if (gaps) filled(sample) else sample, arg)
    if (!anyNA(sample)) stop_moments(sample, arg)
    sample
}

as_numeric_matrix <- function(sample, arg) {
    if (inherits(sample, "Matrix")) sample <- as.matrix(sample)
    if (is.data.frame(sample)) {
        check_column_types(sample, arg)
        return(plain_matrix(data.matrix(sample), names(sample)))
    }
    if (!is.matrix(sample)) {
        stop_kliep(
            "type",
            paste0("`", arg, "` must be a numeric matrix or a data frame: got ",
                   describe(sample), "."),
            hint = "Rows are observations and columns are variables."
        )
    }
    if (!is.numeric(sample) && !is.logical(sample)) {
        stop_kliep(
            "numeric",
            paste0("`", arg, "` must hold numbers: got a matrix of type ",
                   typeof(sample), "."),
            hint = "Convert it first, for instance with `as.numeric()`."
        )
    }
    plain_matrix(sample, colnames(sample))
}

# Drops every attribute but size and column names, so that classes such as
# `table` cannot change what arithmetic and subsetting mean further down.
plain_matrix <- function(values, names) {
    matrix(as.double(values), nrow(values), ncol(values),
           dimnames = if (!is.null(names)) list(NULL, names))
}

check_column_types <- function(sample, arg) {
    is_number <- vapply(sample, function(column) {
        (is.numeric(column) || is.logical(column)) && is.null(dim(column))
    }, logical(1L))
    if (all(is_number)) return(invisible())
    bad <- names(sample)[!is_number]
    types <- vapply(sample[!is_number], function(column) class(column)[1L], "")
    described <- paste0("`", bad, "` (", types, ")")
    shown <- paste(utils::head(described, 5L), collapse = ", ")
    if (length(bad) > 5L) shown <- paste0(shown, ", ...")
    stop_kliep(
        "numeric",
        paste0("`", arg, "` has ", count_of(length(bad), "column"),
               " without numbers: ", shown, "."),
        hint = paste("Drop these columns or convert them to numbers first;",
                     "`kliep_auto()` and `feat_mixed()` take columns of all",
                     "types.")
    )
}

check_names <- function(names, arg) {
    if (is.null(names)) return(invisible())
    unnamed <- which(is.na(names) | names == "")
    if (length(unnamed) > 0L) {
        stop_kliep(
            "names",
            paste0("`", arg, "` names some columns and not others: ",
                   count_of(length(unnamed), "column"),
                   " without a name, the first is column ", unnamed[1L], "."),
            hint = "Name all columns or none."
        )
    }
    twice <- unique(names[duplicated(names)])
    if (length(twice) > 0L) {
        stop_kliep(
            "names",
            paste0("`", arg, "` has duplicated column names: ",
                   name_some(twice), "."),
            hint = "Rename them, for instance with `make.unique()`."
        )
    }
}

check_finite <- function(sample, arg, hint = hint_missing()) {
    bad <- which(!is.finite(sample))
    if (length(bad) == 0L) return(invisible())
    row <- (bad[1L] - 1L) %% nrow(sample) + 1L
    column <- (bad[1L] - 1L) %/% nrow(sample) + 1L
    name <- colnames(sample)[column]
    label <- if (is.null(name)) column else paste0("`", name, "`")
    stop_kliep(
        "missing",
        paste0("`", arg, "` must be finite everywhere: got ",
               count_of(length(bad), "NA, NaN or infinite value"),
               "; the first is ", format(sample[bad[1L]]),
               " in row ", row, ", column ", label, "."),
        hint = if (takes_na(arg) && is.na(sample[bad[1L]])) hint else
            "Drop or impute these values first."
    )
}

# Arguments that come with an argument `na`.
takes_na <- function(arg) arg %in% c("x", "y", "series", "reference")

# Columns are matched by name where both samples have names, and by position
# otherwise.
match_columns <- function(x, y) {
    if (is.null(colnames(x)) || is.null(colnames(y))) {
        if (ncol(x) == ncol(y)) return(y)
        stop_kliep(
            "dimension",
            paste0("`x` and `y` must have the same columns: got ", ncol(x),
                   " and ", ncol(y), "."),
            hint = if (nrow(x) == nrow(y)) hint_transpose() else
                "Name the columns of both to have them matched by name."
        )
    }
    if (identical(colnames(x), colnames(y))) return(y)
    if (!setequal(colnames(x), colnames(y))) stop_other_columns(x, y)
    y[, colnames(x), drop = FALSE]
}

stop_other_columns <- function(x, y) {
    only_x <- setdiff(colnames(x), colnames(y))
    only_y <- setdiff(colnames(y), colnames(x))
    stop_kliep(
        "dimension",
        paste0(
            "`x` and `y` must have the same columns: got ", ncol(x),
            " and ", ncol(y), ".",
            if (length(only_x) > 0L)
                paste0("\nOnly in `x`: ", name_some(only_x), "."),
            if (length(only_y) > 0L)
                paste0("\nOnly in `y`: ", name_some(only_y), ".")
        ),
        hint = if (length(only_x) == ncol(x) && nrow(x) == nrow(y))
            hint_transpose() else
            "Subset both to `intersect(colnames(x), colnames(y))`."
    )
}

# The columns that are standardised.
scaled_part <- function(samples, features) {
    if (!is_mixed(features)) return(samples)
    at <- scored_columns(features$columns)
    list(x = samples$x[, at, drop = FALSE], y = samples$y[, at, drop = FALSE],
         variables = samples$variables[at])
}

# A constant column cannot be divided by its standard deviation. `none` says
# whether the error may suggest `standardize = "none"`.
check_constant <- function(samples, standardize, none = TRUE) {
    if (ncol(samples$x) == 0L) return(invisible())
    if (standardize == "within") {
        apart <- tells_samples_apart(samples$x, samples$y)
        stop_conditions(samples$variables[apart])
    }
    constant <- switch(
        standardize,
        within = is_constant(samples$x) | is_constant(samples$y),
        pooled = is_constant(samples$x) & is_constant(samples$y) &
            is_constant(rbind(samples$x[1L, ], samples$y[1L, ])),
        none = FALSE
    )
    if (!any(constant)) return(invisible())
    bad <- samples$variables[constant]
    where <- if (standardize == "within") "in `x` or in `y`" else
        "over `x` and `y` together"
    stop_kliep(
        "constant",
        paste0(count_of(length(bad), "column"),
               if (length(bad) == 1L) " is" else " are", " constant ", where,
               ": ", name_some(bad), ".", if (none) paste0(
                   " `standardize = \"", standardize,
                   "\"` would divide by zero."
               )),
        hint = paste0("Drop ", if (length(bad) == 1L) "it" else "them",
                      if (none) " or use `standardize = \"none\"`", ".")
    )
}

# All values equal to the first, up to a few rounding errors. Two rows rule
# out nearly every column before all rows are looked at.
is_constant <- function(sample) {
    first <- sample[1L, ]
    slack <- 4 * .Machine$double.eps * abs(first)
    constant <- abs(sample[2L, ] - first) <= slack
    suspect <- which(constant)
    rest <- t(sample[, suspect, drop = FALSE])
    constant[suspect] <-
        rowSums(abs(rest - first[suspect]) > slack[suspect]) == 0
    constant
}
