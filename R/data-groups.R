# One table and the condition of each observation: `group` as values, as the
# name of a column or as a formula, and `contrast`, which of them are x and y.

# One table and a factor of conditions; `read` has what is known of a design.
from_groups <- function(values, group, contrast, choice, read = NULL) {
    if (anyNA(group) && choice$na != "omit") stop_missing_group(group, values)
    group <- without_unknown(group, read, values, choice$na)
    conditions <- check_contrast(contrast, levels(group))
    values <- label_columns(values, choice$label)
    values <- pick_variables(values, choice$variables)
    if (anyNA(group)) {
        inform_kliep("missing", paste0(
            "`na = \"omit\"` leaves out ",
            count_of(sum(is.na(group)), "observation"), " without a condition",
            if (!is.null(read)) " or design", "."
        ))
    }
    rows <- lapply(conditions, function(level) which(group == level))
    parts <- lapply(rows, function(at) values[at, , drop = FALSE])
    parts <- top_columns(parts, choice$top_variable)
    stop_unusable(parts, rows, values, choice$na)
    rows <- Map(`[`, rows, kept_rows(parts, choice$na))
    parts <- without_missing(parts, choice$na, conditions)
    with_design(settle_draws(parts, read, rows), conditions, choice$na)
}

# ---- groups ----------------------------------------------------------------

# One text is the name of a column, unless it is the only value there is.
is_column_name <- function(group, n) {
    is.character(group) && length(group) == 1L && n != 1L
}

# The condition of every observation as a factor without unused levels. `known`
# has the columns that may be named, which an error calls `known_as`.
find_group <- function(group, known, values, known_as) {
    if (!length(dim(values)) == 2L) as_numeric_matrix(values, "x")
    n <- nrow(values)
    if (!is.null(known) && is_column_name(group, n)) {
        group <- known_column(group, known, known_as)
    }
    check_group(in_row_order(group, rownames(values)), n, ncol(values))
}

# Values, or rows of a data frame, that are named after the observations, in the
# order of these. Automatic row numbers are not names.
in_row_order <- function(value, observations) {
    own <- if (is.atomic(value)) names(value) else
        if (is.data.frame(value) && .row_names_info(value) > 0L) rownames(value)
    if (is.null(own) || anyDuplicated(own) > 0L ||
        !setequal(own, observations)) {
        return(value)
    }
    at <- match(observations, own)
    if (is.data.frame(value)) value[at, , drop = FALSE] else value[at]
}

# The names of the observations in a table or an experiment.
observation_names <- function(data) {
    experiment <- inherits(data, c("SummarizedExperiment", "ExpressionSet"))
    if (experiment) colnames(data) else rownames(data)
}

known_column <- function(name, known, known_as, wanted = "to group by") {
    if (name %in% names(known)) return(known[[name]])
    distance <- utils::adist(name, names(known), ignore.case = TRUE)
    near <- names(known)[which(distance == min(Inf, distance) & distance <= 3)]
    stop_kliep(
        if (wanted == "to name variables by") "label" else "group",
        paste0("There is no `", name, "` ", wanted, "; the ", known_as, " are ",
               if (length(names(known)) > 0L) name_some(names(known), 20L) else
                   "none", "."),
        hint = if (length(near) > 0L) paste0("Did you mean `", near[1L], "`?")
    )
}

check_group <- function(group, n, columns = 0L) {
    # A column of Bioconductor may be of a class of its own, such as Rle.
    if (isS4(group)) group <- as.vector(group)
    if (!is.atomic(group) || length(dim(group)) > 1L) {
        stop_kliep("group", paste0("`group` must be a factor or a vector: got ",
                                   describe(group), "."))
    }
    if (length(group) != n) {
        stop_kliep(
            "group",
            paste0("`group` must have one value for each of ",
                   count_of(n, "observation"), ": got ", length(group), "."),
            hint = if (is_column_name(group, n))
                paste("A matrix has no columns to group by: give the values,",
                      "or a data frame.") else if (length(group) == columns)
                paste0("`x` has ", columns, " columns: if these are the ",
                       "observations, transpose it, `t(x)`.")
        )
    }
    if (is.factor(group)) return(droplevels(group))
    # The same order in every locale.
    factor(group, sort(unique(as.vector(group)), method = "radix"))
}

# The two conditions, numerator first.
check_contrast <- function(contrast, levels) {
    if (is.null(contrast)) return(default_contrast(levels))
    if (!is.atomic(contrast) || length(contrast) != 2L || anyNA(contrast) ||
        anyDuplicated(contrast) > 0L) {
        stop_kliep("contrast",
                   paste0("`contrast` must name two conditions: got ",
                          describe(contrast), "."),
                   hint = "Numerator first: `c(\"treated\", \"control\")`.")
    }
    contrast <- as.character(contrast)
    unknown <- setdiff(contrast, levels)
    if (length(unknown) > 0L) {
        stop_kliep("contrast",
                   paste0("`group` has no ", name_some(unknown),
                          "; its levels are ", name_some(levels, 20L), "."))
    }
    c(x = contrast[1L], y = contrast[2L])
}

# The first level is the reference.
default_contrast <- function(levels) {
    if (length(levels) == 2L) return(c(x = levels[2L], y = levels[1L]))
    stop_kliep(
        "group",
        paste0("`group` must have two levels: got ", length(levels),
               if (length(levels) > 0L) paste0(", ", name_some(levels, 10L)),
               "."),
        hint = if (length(levels) > 2L)
            paste0("Choose two, numerator first, such as `contrast = c(",
                   paste(dQuote(levels[2:1], FALSE), collapse = ", "), ")`.")
    )
}

stop_missing_group <- function(group, values) {
    absent <- which(is.na(group))
    stop_kliep(
        "group",
        paste0("`group` is missing for ",
               count_of(length(absent), "observation"), "; the first is ",
               name_row(values, absent[1L]), "."),
        hint = "`na = \"omit\"` leaves these observations out."
    )
}

# ---- formulas --------------------------------------------------------------

# The term that stands for the conditions in `~ condition`.
check_one_term <- function(formula) {
    terms <- if (!"." %in% all.vars(formula)) stats::terms(formula)
    if (length(formula) == 2L && length(attr(terms, "term.labels")) == 1L &&
        attr(terms, "order") == 1L) {
        return(attr(terms, "variables")[[2L]])
    }
    stop_kliep(
        "formula",
        paste0("A formula must have one term and no left side: got `",
               paste(deparse(formula), collapse = " "), "`."),
        hint = paste("Such as `~ condition`. `variables` chooses variables,",
                     "and `~ interaction(a, b)` has a condition for each pair.")
    )
}

evaluate_term <- function(term, known, environment) {
    absent <- all.vars(term)
    absent <- absent[!absent %in% names(known) &
                         !vapply(absent, exists, NA, envir = environment)]
    if (length(absent) > 0L) {
        known_column(absent[1L], known, "columns of `data`")
    }
    eval(term, known, environment)
}

# What is known about the observations of a table, as a list of columns.
known_of_samples <- function(data) {
    if (is.data.frame(data)) return(as.list(data))
    if (inherits(data, "SummarizedExperiment")) {
        return(as.list(SummarizedExperiment::colData(data)))
    }
    if (inherits(data, "ExpressionSet")) return(as.list(Biobase::pData(data)))
    list()
}
