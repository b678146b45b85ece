# What all edges of a variable, or of a set of variables, say together: p-values
# for hubs, and for sets such as pathways.

# One p-value for each of these groups of edges, by Cauchy's combination, which
# holds whatever their dependence. `rows` is a list of rows of the estimates.
combined_p <- function(estimates, rows) {
    vapply(rows, function(at) {
        if (length(at) == 0L) return(NA_real_)
        combine_cauchy(rbind(estimates$p_value[at]))
    }, 1)
}

# For every variable, whether anything about it has changed.
variable_p <- function(object) {
    table <- object$estimates
    at <- seq_len(nrow(table))
    ends <- factor(c(table$from, table$to), object$variables)
    p <- combined_p(table, split(c(at, at), ends))
    data.frame(variable = object$variables, p_value = unname(p),
               q_value = stats::p.adjust(p, "BH"))
}

#' Which sets of variables have changed
#'
#' Tests for every set of variables, such as the genes of a pathway, whether any
#' edge between its members has changed, and whether more has changed than
#' between as many variables drawn at random.
#'
#' @section Method:
#' `p_value` combines the p-values of all edges within a set by Cauchy's
#' distribution (see [kliep_groups()]), which holds whatever their dependence.
#' It asks about the set by itself: is there any change within it? `p_random`
#' compares the set with the other variables: the mean of the squared statistics
#' \eqn{z^2} of its edges is compared with those of `n_random` sets of as many
#' variables, drawn at random from all. A set may have changed, but no more than
#' other sets.
#'
#' @param fit The result of [kliep_infer()] or [kliep_auto()].
#' @param sets A named list of character vectors, or the name of a GMT file: one
#'   set in a line, its name, a description and its members, divided by tabs.
#' @param min_size The fewest variables that a set must have in the data;
#'   smaller ones are left out, with a message.
#' @param n_random The number of random sets.
#' @return A data frame with one row for each set, smallest p-value first:
#'   `set`, `size` (its variables in the data), `n_edges`, `n_changed` (those
#'   reported), `p_value`, `q_value` (by Benjamini and Hochberg, over sets),
#'   `p_random`, and `strongest`, the edge with the smallest p-value.
#' @seealso [hubs()] for single variables.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 12, n = 300, n_changed = 3)
#' result <- kliep_infer(pair$x, pair$y)
#' changed <- unique(c(pair$truth$from, pair$truth$to))
#' kliep_sets(result, list(changed = changed, first = colnames(pair$x)[1:5]))
kliep_sets <- function(fit, sets, min_size = 3, n_random = 999) {
    if (!inherits(fit, "kliep_infer")) {
        stop_kliep(
            "type",
            paste0("`kliep_sets()` needs tests of all edges: got ",
                   describe(fit), "."),
            hint = if (inherits(fit, "kliep_groups")) paste0(
                "Give one of its contrasts, such as `$fits[[",
                dQuote(fit$contrasts$contrast[1L], FALSE), "]]`."
            ) else "`kliep_infer()` and `kliep_auto()` make them."
        )
    }
    sets <- check_sets(sets, fit$variables,
                       check_whole(min_size, "min_size", least = 2))
    n_random <- check_whole(n_random, "n_random")
    table <- fit$estimates
    rows <- lapply(sets, edges_within, fit = fit)
    p <- combined_p(table, rows)
    found <- data.frame(
        set = names(sets), size = lengths(sets), n_edges = lengths(rows),
        n_changed = vapply(rows, function(at) sum(table$changed[at]), 1L),
        p_value = p, q_value = stats::p.adjust(p, "BH"),
        p_random = random_p(fit, sets, n_random),
        strongest = vapply(rows, function(at) {
            best <- at[which.min(table$p_value[at])]
            if (length(best) == 0L) return(NA_character_)
            edge_label(table$from[best], table$to[best])
        }, ""), row.names = NULL
    )
    found <- found[order(found$p_value), ]
    rownames(found) <- NULL
    found
}

edges_within <- function(set, fit) {
    which(fit$estimates$from %in% set & fit$estimates$to %in% set)
}

# The mean square of a set beside those of random sets of its size, for each
# size once.
random_p <- function(fit, sets, n_random) {
    d <- length(fit$variables)
    square <- matrix(0, d, d)
    at <- cbind(match(fit$estimates$from, fit$variables),
                match(fit$estimates$to, fit$variables))
    square[at] <- square[at[, 2:1, drop = FALSE]] <- fit$estimates$z^2
    mean_within <- function(set) sum(square[set, set]) / length(set)^2
    members <- lapply(sets, match, fit$variables)
    sizes <- unique(lengths(members))
    random <- lapply(sizes, function(size) {
        replicate(n_random, mean_within(sample.int(d, size)))
    })
    vapply(members, function(set) {
        null <- random[[match(length(set), sizes)]]
        (1 + sum(null >= mean_within(set))) / (1 + n_random)
    }, 1)
}

# A named list of the variables that each set has in the data.
check_sets <- function(sets, variables, min_size) {
    if (is_string(sets)) sets <- read_gmt(sets)
    if (!are_sets(sets)) {
        stop_kliep(
            "sets",
            paste0("`sets` must be a named list of names of variables, or a ",
                   "GMT file: got ", describe(sets), ".")
        )
    }
    sets <- lapply(sets, intersect, x = variables)
    few <- lengths(sets) < min_size
    if (!all(few)) {
        if (any(few)) say_left_out(names(sets)[few], min_size)
        return(sets[!few])
    }
    stop_kliep(
        "sets",
        paste0("None of ", count_of(length(sets), "set"), " has ",
               min_size, " of the ", count_of(length(variables), "variable"),
               ", such as ", name_some(variables, 3L), "."),
        hint = "Are the names of the same kind?"
    )
}

are_sets <- function(sets) {
    is.list(sets) && length(sets) > 0L && !is.null(names(sets)) &&
        all(nzchar(names(sets))) && all(vapply(sets, is.character, NA))
}

say_left_out <- function(names, min_size) {
    inform_kliep("sets", paste0(
        count_of(length(names), "set"), " with fewer than ", min_size,
        " of the variables", if (length(names) == 1L) " is" else " are",
        " left out: ", name_some(names), "."
    ))
}

read_gmt <- function(path) {
    if (!file.exists(path) || dir.exists(path)) {
        stop_kliep("sets", paste0("There is no file `", path, "`."))
    }
    parts <- strsplit(readLines(path, warn = FALSE), "\t", fixed = TRUE)
    parts <- parts[lengths(parts) > 2L]
    sets <- lapply(parts, function(part) unique(part[-(1:2)]))
    stats::setNames(sets, vapply(parts, `[`, "", 1L))
}
