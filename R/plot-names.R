# Names of variables and edges that fit into a picture, and still differ.

edge_label <- function(from, to) {
    short <- short_name(c(from, to))
    n <- length(from)
    paste(short[seq_len(n)], short[n + seq_len(n)], sep = " - ")
}

# Long names lose their middle: identifiers differ at the end. Where that makes
# two names equal, they keep the part in which they differ, and if need be all
# of it.
short_name <- function(name, most = 16L) {
    # A line break in a name would take the place of its neighbours.
    name <- gsub("[[:space:]]+", " ", name)
    known <- unique(name)
    short <- cut_middle(known, most)
    for (group in split(seq_along(known), short)) {
        if (length(group) > 1L) {
            short[group] <- differing_part(known[group], most)
        }
    }
    clash <- short %in% short[duplicated(short)]
    short[clash] <- known[clash]
    short[match(name, known)]
}

cut_middle <- function(name, most) {
    size <- nchar(name)
    half <- (most - 1L) %/% 2L
    cut <- paste0(substr(name, 1L, half), "~",
                  substr(name, size - half, size))
    ifelse(size > most, cut, name)
}

# As many characters as fit, up to the last in which these names differ.
differing_part <- function(names, most) {
    letters <- strsplit(names, "")
    prefix <- common_length(letters)
    suffix <- common_length(lapply(letters, rev))
    size <- nchar(names)
    end <- pmax(pmin(size - suffix, size), prefix + 1L)
    start <- pmax(1L, end - most + 3L)
    # Two marks would take more than they spare.
    start[start == 2L] <- 1L
    paste0(ifelse(start > 1L, "~", ""), substr(names, start, end),
           ifelse(end < size, "~", ""))
}

# How many of their first letters are the same.
common_length <- function(letters) {
    least <- min(lengths(letters))
    same <- vapply(seq_len(least), function(k) {
        length(unique(vapply(letters, `[`, "", k))) == 1L
    }, NA)
    sum(cumprod(same))
}
