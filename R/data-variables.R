# Which of the variables are used, by name or number or by their variance, and
# what they are called.

check_choices <- function(variables, top_variable, na, label = NULL) {
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
         na = check_choice(na, "na", na_choices),
         label = check_label_argument(label))
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

# Number, mean and sum of squared deviations of the known values of each column.
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

# ---- what they are called --------------------------------------------------

check_label_argument <- function(label) {
    if (is.null(label) || is.factor(label) || is.character(label)) {
        return(label)
    }
    stop_kliep("label", paste0("`label` must hold names of the variables: got ",
                               describe(label), "."))
}

# The table with its columns called by their labels, from here on and
# everywhere: in results, pictures, reports and files.
label_columns <- function(values, label) {
    if (is.null(label) || length(dim(values)) != 2L) return(values)
    known <- colnames(values)
    label <- match_label(label, known, ncol(values))
    colnames(values) <- unique_labels(label, known)
    values
}

# One label for each column: by the names of `label`, or by place.
match_label <- function(label, known, n) {
    if (!is.null(names(label)) && !is.null(known)) {
        return(as.character(label)[match(known, names(label))])
    }
    if (length(label) == n) return(as.character(label))
    stop_kliep(
        "label",
        paste0("`label` must have one name for each of ",
               count_of(n, "variable"), ": got ", length(label), "."),
        hint = paste("Or give it names, to be matched with those of the",
                     "variables.")
    )
}

# Two probes of one gene have the same symbol: both say which they are. One
# without a label keeps its own name.
unique_labels <- function(label, known) {
    if (is.null(known)) known <- paste0("V", seq_along(label))
    absent <- is.na(label) | label == ""
    label[absent] <- known[absent]
    twice <- label %in% label[duplicated(label)] & label != known
    label[twice] <- paste0(label[twice], " (", known[twice], ")")
    make.unique(label)
}

# The labels of the rows of an object of Bioconductor: a column of what is known
# of them, or as given.
find_label <- function(x, label, rows) {
    if (!is_column_name(label, nrow(x))) {
        return(match_label(label, rows, nrow(x)))
    }
    is_set <- inherits(x, "ExpressionSet")
    known <- as.list(if (is_set) Biobase::fData(x) else
        SummarizedExperiment::rowData(x))
    column <- known_column(label, known, wanted = "to name variables by",
                           known_as = paste0("columns of `", if (is_set)
                               "fData" else "rowData", "(x)`"))
    as.character(as.vector(column))
}
