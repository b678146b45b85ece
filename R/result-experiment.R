# Results back into the object of Bioconductor that the samples came from.

#' Add what changed to a SummarizedExperiment
#'
#' Stores a result in the object that holds the data: the changes around each
#' variable in `rowData()`, and the changed edges in `metadata()`.
#'
#' @param x A `SummarizedExperiment`, or an object that extends it: the one that
#'   the samples came from, or another one with the same variables.
#' @inheritParams as_igraph
#' @param object A path, a fit, a selection, a test, a stability selection or an
#'   inference.
#' @param label The names that the variables of the result have, where these are
#'   not the row names of `x`: what was given as `label` to [two_samples()].
#' @param prefix What the names of the new columns begin with.
#' @return `x` with further columns of `rowData(x)`, `NA` for variables that
#'   were not used: `kliep_degree`, the number of edges of a variable that
#'   changed; `kliep_strength`, the sum of their absolute changes; and
#'   `kliep_strongest`, the variable with which the change is largest. And with
#'   `metadata(x)$kliep`, a list of `edges` (as [edges()] gives them),
#'   `summary` (as [`glance()`][glance.change_path] gives it) and
#'   `conditions`, which of them is `x` and which is `y`. Columns and metadata
#'   of the same names are replaced.
#' @seealso [write_graph_file()] for other programs.
#' @export
#' @examplesIf requireNamespace("SummarizedExperiment", quietly = TRUE)
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' cells <- SummarizedExperiment::SummarizedExperiment(
#'     list(values = t(rbind(pair$x, pair$y))),
#'     colData = data.frame(condition = rep(c("treated", "control"),
#'                                          each = 300))
#' )
#' found <- kliep_auto(cells, group = "condition")
#' cells <- add_changes(cells, found)
#' SummarizedExperiment::rowData(cells)
add_changes <- function(x, object, lambda2 = NULL, label = NULL,
                        prefix = "kliep_", ...) {
    load_class_of(x)
    check_experiment(x)
    if (!is_string(prefix)) {
        stop_kliep("argument", paste0("`prefix` must be a string: got ",
                                      describe(prefix), "."))
    }
    graph <- change_graph(object, lambda2, ...)
    at <- match(labels_of_rows(x, label), graph$variables)
    check_same_variables(at, graph$variables)
    changes <- vertex_changes(graph)[at, c("degree", "strength", "strongest")]
    names(changes) <- paste0(prefix, names(changes))
    rows <- SummarizedExperiment::rowData(x)
    for (name in names(changes)) rows[[name]] <- changes[[name]]
    SummarizedExperiment::rowData(x) <- rows
    about <- S4Vectors::metadata(x)
    about$kliep <- list(edges = graph$table, summary = glance(object),
                        conditions = object$conditions)
    S4Vectors::metadata(x) <- about
    x
}

check_experiment <- function(x) {
    if (inherits(x, "SummarizedExperiment")) return(invisible())
    stop_kliep(
        "type",
        paste0("`x` must be a SummarizedExperiment: got ", describe(x), "."),
        hint = "`edges()` and `hubs()` return plain tables."
    )
}

# What the rows of an experiment are called as variables.
labels_of_rows <- function(x, label) {
    rows <- rownames(x)
    if (is.null(label)) return(rows)
    unique_labels(find_label(x, label, rows), rows)
}

check_same_variables <- function(at, variables) {
    absent <- setdiff(seq_along(variables), at)
    if (length(absent) == 0L) return(invisible())
    stop_kliep(
        "dimension",
        paste0(length(absent), " of ", count_of(length(variables), "variable"),
               " of the result ", if (length(absent) == 1L) "is" else "are",
               " not among the rows of `x`: ",
               name_some(variables[absent]), "."),
        hint = paste("If the variables were named by `label`, give the same",
                     "`label` here.")
    )
}
