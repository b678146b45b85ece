# Blocks of edges that are penalised together (`penalty_groups`): what users
# give, and the number of the block of every factor, which Rust reads.

# Checks the shape alone: the variables are not known yet.
check_penalty_groups <- function(penalty_groups, group_share, spec) {
    share <- check_number(group_share, "group_share", "penalty_groups")
    if (share < 0 || share > 1) {
        stop_kliep("penalty_groups",
                   paste0("`group_share` must be from 0 to 1: got ",
                          format(share), "."))
    }
    if (is.null(penalty_groups)) return(NULL)
    if (!is_group_shape(penalty_groups)) stop_group_shape(penalty_groups)
    stop_group_setting(spec)
    penalty_groups
}

# Labels, edges with their groups, or sets of variables.
is_group_shape <- function(groups) {
    if (is.data.frame(groups)) {
        return(all(c("from", "to", "group") %in% names(groups)))
    }
    if (!is.list(groups)) {
        return(is.atomic(groups) && is.null(dim(groups)) && length(groups) > 1L)
    }
    length(groups) > 0L && all(vapply(groups, is_name_set, NA))
}

is_name_set <- function(set) {
    is.character(set) && length(set) > 0L && !anyNA(set)
}

stop_group_shape <- function(penalty_groups) {
    stop_kliep(
        "penalty_groups",
        paste0("`penalty_groups` must be a label for each variable, a list of ",
               "sets of variables, or a data frame of `from`, `to` and ",
               "`group`: got ", describe(penalty_groups), "."),
        hint = paste("Such as `list(c(\"A\", \"B\", \"C\"), \"D\")`: the edges",
                     "among A, B and C, and those of the hub D.")
    )
}

# What the one solver of blocks does not do.
stop_group_setting <- function(spec) {
    wrong <- c(
        if (spec$penalty != "group_lasso")
            paste0("penalty = \"", spec$penalty, "\""),
        if (spec$normalizer == "gaussian") "normalizer = \"gaussian\"",
        if (spec$solver == "dual") "solver = \"dual\"",
        if (spec$features$kind == "cliques") "features of cliques"
    )
    if (length(wrong) == 0L) return(invisible())
    stop_kliep(
        "penalty_groups",
        paste0("`penalty_groups` does not go with ",
               paste(wrong, collapse = " and "), "."),
        hint = paste("It takes the group lasso, the empirical normaliser and",
                     "the solver \"auto\" or \"primal\".")
    )
}

# The block of every factor in the order of `m[upper.tri(m, diag = TRUE)]`,
# counted from 1; 0 is a factor by itself. Variables alone are by themselves.
block_numbers <- function(penalty_groups, variables) {
    if (is.null(penalty_groups)) return(NULL)
    blocks <- if (is.data.frame(penalty_groups)) {
        blocks_of_edges(penalty_groups, variables)
    } else if (is.list(penalty_groups)) {
        blocks_of_sets(penalty_groups, variables)
    } else {
        blocks_of_labels(penalty_groups, variables)
    }
    diag(blocks) <- NA
    blocks <- blocks[upper.tri(blocks, diag = TRUE)]
    numbers <- match(blocks, unique(blocks[!is.na(blocks)]), 0L)
    if (any(duplicated(numbers[numbers > 0L]))) return(numbers)
    stop_kliep(
        "penalty_groups",
        "`penalty_groups` has no group of two edges or more.",
        hint = "Without groups, leave it out."
    )
}

# A symmetric matrix with the block of every edge, NA for none. The edges of
# variables with one label are a block, and so are those between two labels.
blocks_of_labels <- function(labels, variables) {
    if (!is.null(names(labels))) {
        stop_unknown_variables(names(labels), variables)
        labels <- labels[match(variables, names(labels))]
    } else if (length(labels) != length(variables)) {
        stop_kliep(
            "penalty_groups",
            paste0("`penalty_groups` must have a label for each of ",
                   count_of(length(variables), "variable"), ": got ",
                   length(labels), "."),
            hint = "With names, labels go by the names of the variables."
        )
    }
    number <- match(labels, unique(labels[!is.na(labels)]))
    several <- length(unique(number))
    outer(number, number, function(a, b) pmin(a, b) * several + pmax(a, b))
}

# A set of one variable stands for all edges of it; an edge between two of
# these hubs is by itself.
blocks_of_sets <- function(sets, variables) {
    stop_unknown_variables(unlist(sets), variables)
    blocks <- matrix(NA_integer_, length(variables), length(variables))
    sets <- lapply(sets, function(set) match(unique(set), variables))
    for (k in which(lengths(sets) > 1L)) {
        own <- sets[[k]]
        twice <- which(!is.na(blocks[own, own]), arr.ind = TRUE)
        if (nrow(twice) > 0L) stop_two_groups(variables[own[twice[1L, ]]])
        blocks[own, own] <- k
        blocks[cbind(own, own)] <- NA
    }
    hubs <- unlist(sets[lengths(sets) == 1L])
    for (hub in hubs) {
        inside <- setdiff(which(!is.na(blocks[hub, ])), hubs)
        if (length(inside) > 0L) stop_two_groups(variables[c(hub, inside[1L])])
        blocks[hub, ] <- blocks[, hub] <- length(sets) + hub
    }
    blocks[hubs, hubs] <- NA
    blocks
}

blocks_of_edges <- function(edges, variables) {
    from <- as.character(edges$from)
    to <- as.character(edges$to)
    stop_unknown_variables(c(from, to), variables)
    at <- cbind(match(from, variables), match(to, variables))
    at <- cbind(pmin(at[, 1L], at[, 2L]), pmax(at[, 1L], at[, 2L]))
    twice <- which(duplicated(at))
    if (length(twice) > 0L) stop_two_groups(variables[at[twice[1L], ]])
    blocks <- matrix(NA_integer_, length(variables), length(variables))
    blocks[at] <- match(edges$group, unique(edges$group))
    blocks[at[, 2:1, drop = FALSE]] <- blocks[at]
    blocks
}

stop_unknown_variables <- function(names, variables) {
    unknown <- setdiff(names, variables)
    if (length(unknown) == 0L) return(invisible())
    stop_kliep(
        "penalty_groups",
        paste0("`penalty_groups` names ", name_some(unknown), ", which ",
               if (length(unknown) == 1L) "is not a variable." else
                   "are not variables."),
        hint = "`intersect()` with the names of the columns leaves these out."
    )
}

stop_two_groups <- function(edge) {
    edge <- sort(edge)
    stop_kliep(
        "penalty_groups",
        paste0("The edge between ", name_some(edge[1L]), " and ",
               name_some(edge[2L]), " is in two groups of `penalty_groups`."),
        hint = "Groups must not overlap: leave it in one of them."
    )
}
