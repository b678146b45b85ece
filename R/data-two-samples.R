# Where the two samples are in what a user has: two tables, one table and a
# group, an object of Bioconductor, a formula. All that fits is told apart
# here; everything after sees `x` and `y`.

#' The two samples in a table, a formula or an object of Bioconductor
#'
#' Finds the two samples that a change is learned from. There is rarely a need
#' to call it: [kliep_path()], [kliep_change()], [kliep_select()],
#' [kliep_test()], [kliep_stability()], [kliep_infer()] and the methods to
#' compare with ([glasso_path()] and the like) take the arguments below, too,
#' and find their samples with it.
#'
#' @section What `x` can be:
#' * one of two tables (matrices or data frames with observations in rows), the
#'   other one being `y`;
#' * one table with all observations, and `group`, a factor or vector that says
#'   which condition each is of; for a data frame also the name of its column
#'   with the conditions, which is then no variable;
#' * a formula `~ condition`, and the table as `data`: the columns that the
#'   formula uses are no variables;
#' * a `SummarizedExperiment` (also a `RangedSummarizedExperiment` or a
#'   `SingleCellExperiment`) or an `ExpressionSet`, with variables such as genes
#'   in rows, and `group`, the name of a column of `colData(x)` or `pData(x)`,
#'   or a formula with such an object as `data`. Two of these, one for each
#'   condition, are as good as two tables;
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
#' A value that is missing (`NA` or `NaN`) is an error that says where it is.
#' `na = "omit"` leaves out the observations with missing values among the
#' variables in use, or without a condition, and counts them in a message.
#' `na = "impute_median"` puts the median of the same variable and condition in
#' its place, with a warning: values that are made up weaken the dependence
#' between variables, and where one condition has more of them it may look like
#' a change. Infinite values are always an error.
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
#'   `ExpressionSet`, by name or number. `NULL` is the first, and `exprs`.
#' @param variables The variables to use, by name or number; `NULL` for all.
#' @param top_variable How many of these variables to keep: those with the
#'   largest variance over the observations of both conditions together, without
#'   missing ones. `NULL` keeps all.
#' @param na What to do about missing values; see the section below.
#' @param ... The arguments below, as far as they go with what `x` is.
#'
#' @return A list of `x` and `y`, matrices or data frames with observations in
#'   rows, in the order in which they came, and the same variables in columns;
#'   and `conditions`, the names of the two as `c(x = , y = )`, or `NULL` for
#'   two tables.
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
two_samples <- function(x, y = NULL, ...) {
    load_class_of(x)
    UseMethod("two_samples")
}

#' @rdname two_samples
#' @export
two_samples.default <- function(x, y = NULL, group = NULL, contrast = NULL,
                                variables = NULL, top_variable = NULL,
                                na = c("error", "omit", "impute_median"),
                                ...) {
    refuse_others(list(...), x)
    choice <- check_choices(variables, top_variable, na)
    if (is.null(group)) {
        stop_without_other(x, y)
        refuse_others(list(contrast = contrast), x)
        return(from_tables(x, y, choice))
    }
    stop_with_other(y)
    named <- is.data.frame(x) && is_column_name(group, nrow(x))
    values <- if (named) x[setdiff(names(x), group)] else x
    group <- find_group(group, if (is.data.frame(x)) x, x, "columns of `x`")
    from_groups(values, group, contrast, choice)
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
    top_variable = NULL, na = c("error", "omit", "impute_median"), ...) {
    refuse_others(list(...), x)
    from_assays(x, y, group, contrast, assay,
                check_choices(variables, top_variable, na))
}

#' @rdname two_samples
#' @export
two_samples.ExpressionSet <- function(
    x, y = NULL, group = NULL, contrast = NULL, assay = NULL, variables = NULL,
    top_variable = NULL, na = c("error", "omit", "impute_median"), ...) {
    refuse_others(list(...), x)
    from_assays(x, y, group, contrast, assay,
                check_choices(variables, top_variable, na))
}

#' @rdname two_samples
#' @export
two_samples.network_pair <- function(x, y = NULL, variables = NULL,
                                     top_variable = NULL,
                                     na = c("error", "omit", "impute_median"),
                                     ...) {
    refuse_others(list(...), x)
    stop_with_other(y)
    from_tables(x$x, x$y, check_choices(variables, top_variable, na))
}

# ---- at the top of every function that takes two samples -------------------

# The arguments of two_samples() that stand in the `...` of other functions.
sample_arguments <- function() {
    c("group", "contrast", "assay", "data", "variables", "top_variable", "na")
}

# The two samples of a call, the names of their conditions, and `rest`, what
# its `...` holds besides.
find_samples <- function(x, y, dots) {
    # Also where a function that calls this one passes on what it did not get.
    if (missing(y)) y <- NULL
    if (missing(x)) stop_missing_samples(c("x", if (is.null(y)) "y"))
    about <- names(dots) %in% sample_arguments()
    if (length(about) == 0L) about <- rep(FALSE, length(dots))
    found <- do.call(two_samples, c(list(x, y), dots[about]), quote = TRUE)
    c(found[c("x", "y", "conditions")], list(rest = dots[!about]))
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
        hint = "`?two_samples` says what goes with what."
    )
}

# S3 methods for an S4 class, and for what extends it, are found once the
# package that defines it is loaded, which it is not for an object from a file.
load_class_of <- function(x) {
    package <- attr(class(x), "package")
    if (!isS4(x) || is.null(package) || package == ".GlobalEnv" ||
        requireNamespace(package, quietly = TRUE)) {
        return(invisible())
    }
    stop_kliep(
        "package",
        paste0("An object of class <", class(x)[1L], "> needs the package `",
               package, "`, which is not installed."),
        hint = paste0("For instance `BiocManager::install(\"", package, "\")`.")
    )
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
    } else if (!is.null(names(group)) && is.atomic(group) &&
                   setequal(names(group), rownames(values)) &&
                   !anyDuplicated(names(group))) {
        group <- group[rownames(values)]
    }
    check_group(group, n)
}

known_column <- function(name, known, known_as) {
    if (name %in% names(known)) return(known[[name]])
    distance <- utils::adist(name, names(known), ignore.case = TRUE)
    near <- names(known)[which(distance == min(Inf, distance) & distance <= 3)]
    stop_kliep(
        "group",
        paste0("There is no `", name, "` to group by; the ", known_as, " are ",
               if (length(names(known)) > 0L) name_some(names(known), 20L) else
                   "none", "."),
        hint = if (length(near) > 0L) paste0("Did you mean `", near[1L], "`?")
    )
}

check_group <- function(group, n) {
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
                      "or a data frame.")
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

# What stands for the conditions in `~ condition`.
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

# ---- objects of Bioconductor -----------------------------------------------

from_assays <- function(x, y, group, contrast, assay, choice) {
    values <- assay_values(x, assay)
    if (!is.null(y)) {
        if (!inherits(y, c("SummarizedExperiment", "ExpressionSet"))) {
            stop_kliep("type", paste0("`y` must be of the kind of `x`, ",
                                      describe(x), ": got ", describe(y), "."))
        }
        refuse_others(list(group = group, contrast = contrast), x)
        return(from_tables(values, assay_values(y, assay), choice))
    }
    known_as <- paste0("columns of `", if (inherits(x, "ExpressionSet"))
        "pData" else "colData", "(x)`")
    if (is.null(group)) {
        stop_kliep(
            "missing_sample",
            paste("`group` is missing: it says which observations are of which",
                  "sample."),
            hint = paste0("Name one of the ", known_as, ": ",
                          name_some(names(known_of_samples(x)), 20L), ".")
        )
    }
    group <- find_group(group, known_of_samples(x), values, known_as)
    from_groups(values, group, contrast, choice)
}

# Observations in rows; sparse where the assay is.
assay_values <- function(x, assay) {
    values <- if (inherits(x, "ExpressionSet")) {
        names <- Biobase::assayDataElementNames(x)
        assay <- check_assay(assay, names, length(names))
        Biobase::assayDataElement(x, names[assay])
    } else {
        assay <- check_assay(assay, SummarizedExperiment::assayNames(x),
                             length(SummarizedExperiment::assays(x)))
        SummarizedExperiment::assay(x, assay)
    }
    if (!is.matrix(values) && !inherits(values, "Matrix")) {
        values <- as.matrix(values)
    }
    Matrix::t(values)
}

# The number of the assay among `n` that may have names.
check_assay <- function(assay, names, n) {
    if (is.null(assay)) assay <- if ("exprs" %in% names) "exprs" else 1
    known <- if (is.character(assay)) names else seq_len(n)
    at <- if (length(assay) == 1L) match(assay, known, 0L) else 0L
    if (at > 0L) return(at)
    stop_kliep(
        "assay",
        paste0("There is no assay ", describe(assay), " among ", n,
               if (length(names) > 0L) paste0(": ", name_some(names, 20L)),
               ".")
    )
}

# ---- variables and missing values ------------------------------------------

check_choices <- function(variables, top_variable, na) {
    if (!is.null(variables) && !is_variable_set(variables)) {
        stop_kliep("variables",
                   paste0("`variables` must hold names or column numbers, ",
                          "each once: got ", describe(variables), "."))
    }
    if (!is.null(top_variable)) {
        top_variable <- check_whole(top_variable, "top_variable", "variables",
                                    least = 2)
    }
    list(variables = variables, top_variable = top_variable,
         na = check_choice(na, "na", c("error", "omit", "impute_median")))
}

# Two tables: what is not asked for is left as it is, for the checks of a fit.
from_tables <- function(x, y, choice) {
    parts <- list(x = x, y = y)
    asked <- !is.null(choice$variables) || !is.null(choice$top_variable) ||
        choice$na != "error"
    if (asked) {
        for (part in c("x", "y")) {
            if (length(dim(parts[[part]])) != 2L) {
                as_numeric_matrix(parts[[part]], part)
            }
            parts[[part]] <- pick_variables(parts[[part]], choice$variables)
        }
        parts$y <- match_columns(parts$x, parts$y)
        parts <- without_missing(top_columns(parts, choice$top_variable),
                                 choice$na)
    }
    c(parts, list(conditions = NULL))
}

# One table and a factor of conditions.
from_groups <- function(values, group, contrast, choice) {
    if (anyNA(group) && choice$na != "omit") stop_missing_group(group, values)
    conditions <- check_contrast(contrast, levels(group))
    values <- pick_variables(values, choice$variables)
    if (anyNA(group)) {
        inform_kliep("missing", paste0(
            "`na = \"omit\"` leaves out ",
            count_of(sum(is.na(group)), "observation"), " without a condition."
        ))
    }
    rows <- lapply(conditions, function(level) which(group == level))
    parts <- lapply(rows, function(at) values[at, , drop = FALSE])
    parts <- top_columns(parts, choice$top_variable)
    stop_unusable(parts, rows, values, choice$na)
    c(without_missing(parts, choice$na, conditions),
      list(conditions = conditions))
}

pick_variables <- function(values, variables) {
    if (is.null(variables)) return(values)
    known <- if (is.numeric(variables)) seq_len(ncol(values)) else
        colnames(values)
    unknown <- setdiff(variables, known)
    if (length(unknown) > 0L) {
        stop_kliep(
            "variables",
            paste0(length(unknown), " of ",
                   count_of(length(variables), "variable"),
                   if (length(unknown) == 1L) " is" else " are",
                   " not in the data: ", name_some(unknown), "."),
            hint = if (is.null(colnames(values)))
                "The columns have no names: give numbers." else
                paste0("There are ", count_of(ncol(values), "variable"),
                       ", such as ", name_some(colnames(values), 3L), ".")
        )
    }
    values[, variables, drop = FALSE]
}

# The columns of largest variance, in the order in which they stand.
top_columns <- function(parts, top_variable) {
    if (is.null(top_variable)) return(lapply(parts, dense_part))
    d <- ncol(parts$x)
    if (top_variable > d) {
        stop_kliep(
            "variables",
            paste0("`top_variable` must not exceed the number of variables, ",
                   d, ": got ", top_variable, "."),
            hint = "Leave it out to use all."
        )
    }
    variance <- joint_variance(lapply(parts, column_sums))
    at <- sort(order(-variance)[seq_len(top_variable)])
    lapply(parts, function(part) dense_part(part[, at, drop = FALSE]))
}

dense_part <- function(part) {
    if (inherits(part, "Matrix")) as.matrix(part) else part
}

# Number, mean and sum of squares about it, column by column, of what is there.
column_sums <- function(part) {
    if (inherits(part, "Matrix")) {
        n <- nrow(part) - Matrix::colSums(is.na(part))
        mean <- Matrix::colSums(part, na.rm = TRUE) / n
        squares <- Matrix::colSums(part^2, na.rm = TRUE) - n * mean^2
    } else {
        part <- as_numeric_matrix(part, "x")
        n <- colSums(!is.na(part))
        mean <- colMeans(part, na.rm = TRUE)
        squares <- colSums(sweep(part, 2L, mean)^2, na.rm = TRUE)
    }
    list(n = n, mean = mean, squares = squares)
}

# Over both parts. A column with an infinite value has no variance, and comes
# first: it is not left out silently. One without values comes last.
joint_variance <- function(sums) {
    x <- sums$x
    y <- sums$y
    n <- x$n + y$n
    apart <- ifelse(x$n * y$n == 0, 0, x$n * y$n / n * (x$mean - y$mean)^2)
    variance <- (x$squares + y$squares + apart) / (n - 1)
    infinite <- x$n > 0 & !is.finite(x$mean) | y$n > 0 & !is.finite(y$mean)
    ifelse(infinite, Inf, ifelse(n < 2, -Inf, variance))
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
        hint = if (na == "error") paste(
            "`na = \"omit\"` leaves out observations with missing values,",
            "`na = \"impute_median\"` fills them in."
        )
    )
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

without_missing <- function(parts, na, conditions = NULL) {
    if (na == "error") return(parts)
    missing <- lapply(parts, missing_values)
    if (!any(unlist(missing))) return(parts)
    if (na == "omit") omit_rows(parts, missing, conditions) else
        impute_medians(parts, missing)
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
                     "`na = \"omit\"` does not.")
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
