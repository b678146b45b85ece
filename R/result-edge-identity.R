# What an edge is: two variables, whichever way round. Everything that tells
# edges apart, numbers them or finds their variables does so here.

# The two ends in order: from < to.
ordered_ends <- function(from, to) {
    data.frame(from = pmin(from, to), to = pmax(from, to))
}

# Names are looked up, numbers are columns; NA for what is neither.
end_numbers <- function(end, variables) {
    if (is.numeric(end)) return(match(end, seq_along(variables)))
    match(as.character(end), variables)
}

# Pairs of variables, by name or number, as numbers with from < to. `who` does
# not have what is unknown.
check_pairs <- function(edges, variables, who) {
    if (!is.data.frame(edges) || !all(c("from", "to") %in% names(edges))) {
        stop_kliep("argument",
                   paste0("`edges` must be a data frame with columns `from` ",
                          "and `to`: got ", describe(edges), "."))
    }
    from <- end_numbers(edges$from, variables)
    to <- end_numbers(edges$to, variables)
    unknown <- c(edges$from[is.na(from)], edges$to[is.na(to)])
    if (length(unknown) > 0L) {
        stop_kliep("argument", paste0("`edges` names variables that ", who,
                                      " not have: ", name_some(unknown), "."))
    }
    pairs <- ordered_ends(from, to)
    if (any(from == to) || anyDuplicated(pairs)) {
        stop_kliep("argument", paste("`edges` must name pairs of different",
                                     "variables, each pair once."))
    }
    pairs
}

# ---- keys ------------------------------------------------------------------

# A number for each edge, from < to. As doubles: d^2 leaves the integers at
# d = 50,000.
edge_key <- function(edges, d) edges$from * as.double(d) + edges$to

# The inverse of edge_key().
edge_ends <- function(key, d) {
    from <- (key - 1) %/% d
    list(from = from, to = key - from * d)
}

# One number for each step and pair: comparing rows of data frames is slow.
pair_keys <- function(rows) {
    d <- max(0, rows$to)
    rows$step * as.double(d)^2 + edge_key(rows, d)
}

# A text for each edge whose ends are names, whichever way round.
edge_text <- function(edges) {
    ends <- ordered_ends(as.character(edges$from), as.character(edges$to))
    paste(ends$from, ends$to, sep = "\r")
}

# ---- by number -------------------------------------------------------------

# The variables of factors by number: (1, 1), (1, 2), (2, 2), (1, 3), ...
factor_pairs <- function(factor) {
    to <- ceiling((sqrt(8 * factor + 1) - 1) / 2)
    list(from = as.integer(factor - to * (to - 1) / 2), to = as.integer(to))
}

# The same without variables alone: (1, 2), (1, 3), (2, 3), (1, 4), ...
pair_from_index <- function(index) {
    pair <- factor_pairs(index)
    data.frame(from = pair$from, to = pair$to + 1L)
}
