# Values that are missing or infinite: refused with their place, left out,
# replaced, or kept for moments of pairs.

na_choices <- c("error", "omit", "pairwise", "impute", "impute_median")

without_missing <- function(parts, na, conditions = NULL) {
    if (na %in% c("error", "pairwise")) return(parts)
    missing <- lapply(parts, missing_values)
    if (!any(unlist(missing))) return(parts)
    switch(na, omit = omit_rows(parts, missing, conditions),
           impute = impute_draws(parts, missing),
           impute_median = impute_medians(parts, missing))
}

# Which observations without_missing() leaves.
kept_rows <- function(parts, na) {
    lapply(parts, function(part) {
        if (na != "omit") return(seq_len(nrow(part)))
        which(rowSums(missing_values(part)) == 0)
    })
}

omit_rows <- function(parts, missing, conditions) {
    keep <- lapply(missing, function(part) rowSums(part) == 0)
    dropped <- vapply(c("x", "y"), function(part) {
        paste0(sum(!keep[[part]]), " of ",
               count_of(length(keep[[part]]), "observation"), " of `", part,
               "`", if (!is.null(conditions))
                   paste0(" (", conditions[[part]], ")"))
    }, "")
    inform_kliep("missing", paste0(
        "`na = \"omit\"` leaves out ", paste(dropped, collapse = " and "),
        ", which have missing values."
    ))
    Map(function(part, rows) part[rows, , drop = FALSE], parts, keep)
}

impute_medians <- function(parts, missing) {
    for (part in c("x", "y")) {
        values <- parts[[part]]
        for (at in which(colSums(missing[[part]]) > 0)) {
            gaps <- missing[[part]][, at]
            values[gaps, at] <- column_median(values[!gaps, at], at,
                                              colnames(values), part)
        }
        parts[[part]] <- values
    }
    counts <- vapply(missing, sum, 1L)
    variables <- sum(colSums(missing$x) + colSums(missing$y) > 0)
    warn_kliep(
        "imputed",
        paste0(count_of(sum(counts), "missing value"), " (", counts[["x"]],
               " in `x`, ", counts[["y"]], " in `y`) of ",
               count_of(variables, "variable"),
               if (sum(counts) == 1L) " is" else " are",
               " now the median of the same variable and condition."),
        hint = paste("This weakens the dependence on other variables:",
                     "`na = \"impute\"` and \"pairwise\" do not.")
    )
    parts
}

column_median <- function(values, at, names, part) {
    if (is.numeric(values) && length(values) > 0L) {
        return(stats::median(values))
    }
    name <- if (is.null(names)) at else names[at]
    stop_kliep(
        "missing",
        paste0("Column `", name, "` of `", part, "` has missing values, and ",
               if (length(values) == 0L) "no others" else
                   paste("no median, as it is", class(values)[1L]), "."),
        hint = "Leave the variable out, or use `na = \"omit\"`."
    )
}

# Values that no fit can use, with the place they have in the user's table.
stop_unusable <- function(parts, rows, values, na) {
    bad <- lapply(parts, unusable_values, na = na)
    counts <- vapply(bad, function(part) c(sum(part), sum(rowSums(part) > 0)),
                     numeric(2L))
    if (sum(counts) == 0) return(invisible())
    places <- lapply(c("x", "y"), function(part) {
        at <- which(bad[[part]], arr.ind = TRUE)
        data.frame(row = rows[[part]][at[, 1L]], column = at[, 2L])
    })
    places <- do.call(rbind, places)
    first <- places[order(places$row, places$column)[1L], ]
    variable <- colnames(parts$x)[first$column]
    stop_kliep(
        "missing",
        paste0("There must be no ", if (na == "error") "missing or ",
               "infinite values: got ", sum(counts[1L, ]), " in ",
               count_of(sum(counts[2L, ]), "observation"),
               "; the first is in ", name_row(values, first$row),
               ", variable `",
               if (is.null(variable)) first$column else variable, "`."),
        hint = if (na == "error") hint_missing()
    )
}

hint_missing <- function() {
    paste("`na = \"omit\"` leaves out observations with missing values,",
          "`na = \"pairwise\"` uses what is known of each pair of numeric",
          "variables, and `na = \"impute\"` draws missing values from the",
          "others.")
}

unusable_values <- function(part, na) {
    bad <- infinite_values(part)
    if (na == "error") bad <- bad | missing_values(part)
    bad
}

infinite_values <- function(part) {
    by_column(part, function(column) is.numeric(column) & is.infinite(column))
}

missing_values <- function(part) by_column(part, is.na)

# A matrix of TRUE and FALSE; columns of a type that has to be refused anyway
# are left to the check that does so.
by_column <- function(part, test) {
    if (!is.data.frame(part)) return(test(part))
    found <- vapply(part, function(column) {
        if (!is.atomic(column) || length(dim(column)) > 1L) {
            return(logical(nrow(part)))
        }
        test(column)
    }, logical(nrow(part)))
    matrix(found, nrow(part), dimnames = list(NULL, names(part)))
}

name_row <- function(values, row) {
    name <- rownames(values)[row]
    if (is.null(name) || identical(name, as.character(row))) {
        return(paste("row", row))
    }
    paste0("row ", row, " (`", name, "`)")
}
