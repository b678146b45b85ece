# Samples in objects of Bioconductor: their assays, and what is known about
# their observations.

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

from_assays <- function(x, y, group, contrast, assay, choice,
                        request = NULL) {
    values <- labelled_values(x, assay, choice$label)
    if (!is.null(y)) {
        if (!inherits(y, c("SummarizedExperiment", "ExpressionSet"))) {
            stop_kliep("type", paste0("`y` must be of the kind of `x`, ",
                                      describe(x), ": got ", describe(y), "."))
        }
        refuse_others(list(group = group, contrast = contrast), x)
        other <- labelled_values(y, assay, choice$label)
        choice["label"] <- list(NULL)
        return(from_tables(values, other, choice, request))
    }
    choice["label"] <- list(NULL)
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
    known <- known_of_samples(x)
    group <- find_group(group, known, values, known_as)
    from_groups(values, group, contrast, choice,
                read_design(request, known, rows_of(values), known_as))
}

labelled_values <- function(x, assay, label) {
    values <- assay_values(x, assay)
    if (is.null(label)) return(values)
    label_columns(values, find_label(x, label, colnames(values)))
}

# Observations in rows; sparse where the assay is.
assay_values <- function(x, assay) {
    values <- if (inherits(x, "ExpressionSet")) {
        names <- Biobase::assayDataElementNames(x)
        assay <- check_assay(assay, names, length(names))
        Biobase::assayDataElement(x, names[assay])
    } else {
        names <- SummarizedExperiment::assayNames(x)
        # Cells are compared by log counts; the first assay has raw counts.
        if (is.null(assay) && inherits(x, "SingleCellExperiment") &&
            "logcounts" %in% names) {
            assay <- "logcounts"
        }
        assay <- check_assay(assay, names,
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
