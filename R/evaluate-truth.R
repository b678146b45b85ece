# The changed edges, where they are known, in whichever form they come.

# As column numbers with from < to, each edge once.
check_truth <- function(truth, variables) {
    if (inherits(truth, "network_pair")) truth <- truth$truth
    edges <- if (is.data.frame(truth)) {
        truth_from_table(truth, variables)
    } else if (is_adjacency(truth)) {
        truth_from_matrix(truth, variables)
    } else {
        stop_truth(truth)
    }
    unique(ordered_ends(edges$from, edges$to))
}

stop_truth <- function(truth) {
    stop_kliep(
        "truth",
        paste0("`truth` must be a `network_pair`, a data frame with columns ",
               "`from` and `to`, or an adjacency matrix: got ",
               describe(truth), "."),
        hint = "The simulators `sim_*()` give a pair with its changed edges."
    )
}

is_adjacency <- function(truth) {
    length(dim(truth)) == 2L && nrow(truth) == ncol(truth) &&
        (is.numeric(truth) || is.logical(truth) || inherits(truth, "Matrix"))
}

truth_from_table <- function(truth, variables) {
    if (!all(c("from", "to") %in% names(truth))) stop_truth(truth)
    ends <- lapply(truth[c("from", "to")], end_numbers, variables)
    stop_unknown(c(truth$from[is.na(ends$from)], truth$to[is.na(ends$to)]))
    itself <- which(ends$from == ends$to)
    if (length(itself) > 0L) {
        stop_kliep(
            "truth",
            paste0("`truth` joins variables to themselves: ",
                   name_some(variables[ends$from[itself]]), "."),
            hint = "An edge joins two variables: drop these rows."
        )
    }
    as.data.frame(ends)
}

truth_from_matrix <- function(truth, variables) {
    names <- rownames(truth)
    if (is.null(names)) names <- colnames(truth)
    if (is.null(names) && nrow(truth) != length(variables)) {
        stop_kliep(
            "truth",
            paste0("`truth` must have one row and column for each of the ",
                   count_of(length(variables), "variable"), ": got ",
                   describe(truth), "."),
            hint = "Name its rows and columns to have them matched by name."
        )
    }
    if (is.null(names)) names <- variables
    stop_unknown(setdiff(union(names, colnames(truth)), variables))
    if (!is.null(colnames(truth)) && !identical(colnames(truth), names)) {
        stop_kliep("truth", "`truth` must name its rows and columns alike.",
                   hint = "Reorder its columns: `m[, rownames(m)]`.")
    }
    if (any(is.na(truth))) {
        stop_kliep("truth", "`truth` must not have missing values.",
                   hint = "An entry other than zero is a changed edge.")
    }
    cells <- Matrix::which(truth != 0, arr.ind = TRUE)
    edges <- data.frame(from = match(names[cells[, 1L]], variables),
                        to = match(names[cells[, 2L]], variables))
    # The diagonal is about single variables.
    edges[edges$from != edges$to, ]
}

stop_unknown <- function(unknown) {
    if (length(unknown) == 0L) return(invisible())
    stop_kliep(
        "truth",
        paste0("`truth` names variables that are not in the fit: ",
               name_some(unique(as.character(unknown))), ".")
    )
}

# TRUE for edges in `truth`, whichever way round it names them.
is_changed <- function(object, found, truth) {
    if (is.null(truth)) return(rep(FALSE, nrow(found)))
    truth <- check_truth(truth, object$variables)
    d <- length(object$variables)
    edge_key(found, d) %in% edge_key(truth, d)
}
