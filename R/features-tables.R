# Features that R functions compute: evaluated for every factor before a fit,
# and for the factors that matter at new observations.

# The features of every factor on the rows of `stack`, one column each, and
# the specification with what only the evaluation shows: how many features a
# factor has and what they are called. `scored` of the rows are weighted in
# the loss, and kept once more by the solver.
feature_table <- function(features, stack, variables, scored) {
    if (is_mixed(features)) return(mixed_table(features, stack, scored))
    colnames(stack) <- variables
    features <- resolve_sets(features, variables)
    features$shapes <- probe_shapes(features, stack)
    columns <- sum(count_sets(features, length(variables)) *
                       lengths(features$shapes))
    check_memory(8 * columns * (2 * nrow(stack) + scored),
                 paste("The features of", count_of(columns, "column")))
    sets <- factor_sets(features, length(variables))
    sizes <- lengths(features$shapes)[as.character(lengths(sets))]
    values <- matrix(0, nrow(stack), columns)
    last <- cumsum(sizes)
    for (k in which(sizes > 0L)) {
        values[, last[k] - seq.int(sizes[k] - 1L, 0L)] <-
            evaluate_factor(features, stack, sets[[k]])
    }
    list(features = features, values = values, sizes = unname(sizes))
}

# Cliques as column numbers of these variables.
resolve_sets <- function(features, variables) {
    if (features$kind != "cliques") return(features)
    features$sets <- lapply(features$cliques, function(set) {
        at <- if (is.character(set)) match(set, variables) else
            match(set, seq_along(variables))
        if (anyNA(at)) {
            stop_kliep(
                "features",
                paste0("`cliques` has variables that the samples do not: ",
                       name_some(set[is.na(at)]), "."),
                hint = paste0("The samples have ",
                              count_of(length(variables), "variable"), ": ",
                              name_some(variables), ".")
            )
        }
        sort(at)
    })
    twice <- duplicated(features$sets)
    if (any(twice)) {
        stop_kliep("features", paste0(
            "`cliques` has a set twice: ",
            name_some(variables[features$sets[[which(twice)[1L]]]]), "."
        ))
    }
    features
}

# The variables of every factor, in the order of their numbers: pairs and
# singles (1), (1, 2), (2), (1, 3), (2, 3), (3), ..., or the cliques.
factor_sets <- function(features, d) {
    if (features$kind == "cliques") return(features$sets)
    unlist(lapply(seq_len(d), function(to) {
        c(lapply(seq_len(to - 1L), c, to), list(to))
    }), recursive = FALSE)
}

# How many factors there are of each number of variables.
count_sets <- function(features, d) {
    if (features$kind == "cliques") return(table(lengths(features$sets)))
    c(`1` = d, `2` = d * (d - 1) / 2)
}

# Names of the features of a factor, by its number of variables: sets of equal
# size have the same. Found by evaluating the first of each size.
probe_shapes <- function(features, stack) {
    sets <- if (features$kind == "cliques") {
        features$sets[order(lengths(features$sets))]
    } else {
        list(1L, 1:2)
    }
    first <- sets[!duplicated(lengths(sets))]
    shapes <- lapply(first, probe_shape, features = features, stack = stack)
    stats::setNames(shapes, lengths(first))
}

probe_shape <- function(features, stack, set) {
    if (length(set) == 1L && features$kind == "custom" &&
        is.null(features$functions$single)) {
        return(character())
    }
    values <- call_features(features, stack, set)
    # A third of the rows: a half may be one sample, standardised by itself.
    some <- seq_len((nrow(stack) + 2L) %/% 3L)
    again <- call_features(features, stack[some, , drop = FALSE], set)
    apart <- again - values[some, , drop = FALSE]
    if (any(abs(apart) > 1e-8 * max(abs(values)))) {
        stop_kliep(
            "features",
            paste0(where_text(features, stack, set), " gives other values ",
                   "when it is called with fewer rows."),
            hint = "It must treat every row by itself: no means, no ranks."
        )
    }
    if (!is.null(colnames(values))) return(colnames(values))
    if (ncol(values) == 1L) return("f")
    paste0("f", seq_len(ncol(values)))
}

# One factor's features, in the shape that the first of its size had.
evaluate_factor <- function(features, stack, set) {
    if (is_mixed(features)) return(mixed_factor(features$columns, stack, set))
    values <- call_features(features, stack, set)
    shape <- features$shapes[[as.character(length(set))]]
    if (ncol(values) == length(shape)) return(values)
    stop_kliep("features", paste0(
        where_text(features, stack, set), " returned ",
        count_of(ncol(values), "feature"), ": got ", length(shape),
        " for the first set of this size."
    ))
}

# The user's function on some rows, as a matrix with a row for each.
call_features <- function(features, stack, set) {
    values <- tryCatch(
        if (features$kind == "cliques") {
            features$fun(stack[, set, drop = FALSE])
        } else if (length(set) == 1L) {
            features$functions$single(stack[, set])
        } else {
            features$functions$pair(stack[, set[1L]], stack[, set[2L]])
        },
        error = function(condition) {
            pass_time_limit(condition)
            stop_kliep("features", paste0(
                where_text(features, stack, set), " failed: ",
                conditionMessage(condition)
            ))
        }
    )
    check_feature_values(values, nrow(stack), features, stack, set)
}

check_feature_values <- function(values, rows, features, stack, set) {
    refuse <- function(...) {
        stop_kliep("features", paste0(where_text(features, stack, set),
                                      " returned ", ...))
    }
    if (is.data.frame(values)) values <- as.matrix(values)
    if (!is.numeric(values) && !is.logical(values)) {
        refuse(describe(values), ": numbers are needed.")
    }
    got <- if (is.matrix(values)) nrow(values) else length(values)
    if (got != rows || length(values) == 0L) {
        refuse(count_of(got, "value"), " for ", count_of(rows, "row"), ".")
    }
    if (!all(is.finite(values))) {
        refuse(count_of(sum(!is.finite(values)), "NA, NaN or infinite value"),
               ".")
    }
    if (!is.matrix(values)) values <- matrix(values, ncol = 1L)
    storage.mode(values) <- "double"
    values
}

# "`pair` of `a` and `b`", to begin a message with.
where_text <- function(features, stack, set) {
    fun <- if (features$kind == "cliques") "fun" else
        c("single", "pair")[length(set)]
    paste0("`", fun, "()` of ", name_some(colnames(stack)[set]))
}

# `f(z)'theta` on the rows of `z`, one column for each step, from the factors
# that are not zero.
table_scores <- function(features, z, coefficients, steps) {
    scores <- matrix(0, nrow(z), steps)
    factors <- split(seq_len(nrow(coefficients)),
                     list(coefficients$from, coefficients$to), drop = TRUE)
    for (rows in factors) {
        at <- coefficients[rows, ]
        set <- if (features$kind == "cliques") features$sets[[at$from[1L]]] else
            unique(c(at$from[1L], at$to[1L]))
        values <- evaluate_factor(features, z, set)
        theta <- matrix(0, ncol(values), steps)
        theta[cbind(at$term, at$step)] <- at$value
        scores <- scores + unname(values) %*% theta
    }
    scores
}
