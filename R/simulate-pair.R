# Pairs of samples whose change is known, and what all simulators share: random
# edges, the two networks as matrices, the changed edges, samples of both, and
# how a pair prints.

# The only place the class is set. `networks` holds the two parameter matrices
# in the family's own terms, `truth` the changed edges, `effective_size` what
# draws that hang together are worth, and `series` both samples in the order of
# their times.
new_network_pair <- function(family, samples, truth, networks, settings) {
    structure(
        class = "network_pair",
        list(family = family, x = samples$x, y = samples$y, truth = truth,
             networks = networks, settings = settings,
             holdout = samples$holdout,
             effective_size = samples$effective_size,
             series = samples$series)
    )
}

# ---- networks --------------------------------------------------------------

# `n` of the pairs of `d` variables, in column order.
draw_edges <- function(d, density) {
    pairs <- d * (d - 1) / 2
    pair_from_index(sort(sample.int(pairs, round(density * pairs))))
}

# Neighbours on a grid of `rows` x `columns` variables that are numbered down
# its columns.
lattice_edges <- function(rows, columns) {
    number <- matrix(seq_len(rows * columns), rows, columns)
    down <- cbind(c(number[-rows, ]), c(number[-1L, ]))
    across <- cbind(c(number[, -columns]), c(number[, -1L]))
    edges <- rbind(down, across)
    edges <- edges[order(edges[, 2L], edges[, 1L]), , drop = FALSE]
    data.frame(from = edges[, 1L], to = edges[, 2L])
}

# A tree that grows by preferential attachment.
draw_tree <- function(d) {
    links <- rep(0, d)
    from <- vapply(seq_len(d)[-1L], function(to) {
        # The second variable can only be linked to the first.
        at <- if (to == 2L) 1L else
            sample.int(to - 1L, 1L, prob = links[seq_len(to - 1L)])
        links[c(at, to)] <<- links[c(at, to)] + 1
        at
    }, 1L)
    data.frame(from = from, to = seq_len(d)[-1L])
}

# Stars of up to twenty variables, the first of each in its middle.
star_edges <- function(d, size = 20L) {
    star <- (seq_len(d) - 1L) %/% size
    middle <- star * size + 1L
    leaf <- seq_len(d) != middle
    data.frame(from = middle[leaf], to = which(leaf))
}

# TRUE for `n_changed` of `n_edges` edges.
draw_changed <- function(n_edges, n_changed, hint) {
    n_changed <- check_whole(n_changed, "n_changed", least = 0)
    if (n_changed > n_edges) {
        stop_kliep(
            "argument",
            paste0("`n_changed` must not exceed the number of edges: got ",
                   count_of(n_changed, "change"), " and ",
                   count_of(n_edges, "edge"), "."),
            hint = hint
        )
    }
    seq_len(n_edges) %in% sample.int(n_edges, n_changed)
}

symmetric_matrix <- function(edges, edge, diag, variables) {
    d <- length(variables)
    Matrix::sparseMatrix(
        i = c(seq_len(d), edges$from), j = c(seq_len(d), edges$to),
        x = c(rep_len(diag, d), rep_len(edge, nrow(edges))), dims = c(d, d),
        symmetric = TRUE, dimnames = list(variables, variables)
    )
}

number_variables <- function(d) paste0("V", seq_len(d))

# The edges of a symmetric matrix as column numbers, with their values.
matrix_edges <- function(network) {
    upper <- Matrix::mat2triplet(Matrix::triu(network, 1L))
    edges <- data.frame(from = upper$i, to = upper$j, value = upper$x)
    edges <- edges[edges$value != 0, ]
    edges <- edges[order(edges$to, edges$from), ]
    rownames(edges) <- NULL
    edges
}

# The edges that differ, with the change of their coefficient in the log-ratio
# of the densities: `sign` is the sign with which the matrices enter those.
changed_edges <- function(networks, sign = 1) {
    changed <- matrix_edges(networks$x - networks$y)
    variables <- colnames(networks$x)
    data.frame(from = variables[changed$from], to = variables[changed$to],
               change = sign * changed$value)
}

# ---- samples ---------------------------------------------------------------

# Samples of both networks, and further ones where asked for.
draw_samples <- function(networks, n, n_holdout, draw) {
    list(
        x = draw(networks$x, n[["x"]]),
        y = draw(networks$y, n[["y"]]),
        holdout = if (n_holdout > 0) {
            list(x = draw(networks$x, n_holdout),
                 y = draw(networks$y, n_holdout))
        }
    )
}

# sample() reads a single number as a range.
draw_some <- function(values, size, replace = FALSE) {
    values[sample.int(length(values), size, replace)]
}

# ---- arguments -------------------------------------------------------------

check_sample_sizes <- function(n) {
    if (is.numeric(n) && length(n) == 1L) n <- c(x = n[[1L]], y = n[[1L]])
    if (!is.numeric(n) || length(n) != 2L || !setequal(names(n), c("x", "y"))) {
        stop_kliep("size", paste0("`n` must be one number or `c(x = , y = )`: ",
                                  "got ", describe(n), "."))
    }
    c(x = check_whole(n[["x"]], "n", "size"),
      y = check_whole(n[["y"]], "n", "size"))
}

check_holdout <- function(n_holdout) {
    check_whole(n_holdout, "n_holdout", least = 0)
}

check_density <- function(density, arg = "density") {
    density <- check_number(density, arg)
    if (density >= 0 && density <= 1) return(density)
    stop_kliep("argument", paste0("`", arg, "` must be between 0 and 1: got ",
                                  format(density), "."))
}

# ---- printing --------------------------------------------------------------

#' @export
format.network_pair <- function(x, ...) {
    c(
        paste0("<network_pair> ", x$family),
        paste0("  samples   x: ", nrow(x$x), ", y: ", nrow(x$y),
               " observations of ", count_of(ncol(x$x), "variable"),
               if (!is.null(x$holdout))
                   paste0(" (and ", nrow(x$holdout$x), " each held out)")),
        format_effective_size(x$effective_size),
        if (!is.null(x$series))
            paste0("  series    times 1 to ", nrow(x$series),
                   ", change at ", x$settings$change_at),
        paste0("  networks  x: ", count_of(count_edges(x$networks$x), "edge"),
               ", y: ", count_of(count_edges(x$networks$y), "edge"), "; ",
               nrow(x$truth), " changed"),
        format_settings_list(x$settings)
    )
}

count_edges <- function(network) nrow(network_edges(network))

# The edges of either kind of network as column numbers with from < to. An
# interaction of a gene with itself is none, and two of a pair are one.
network_edges <- function(network) {
    if (!inherits(network, "gene_network")) {
        return(matrix_edges(network)[c("from", "to")])
    }
    arrows <- network_for_rust(network)
    edges <- unique(ordered_ends(arrows$from, arrows$to))
    edges[edges$from != edges$to, ]
}

format_effective_size <- function(effective_size) {
    if (is.null(effective_size)) return(NULL)
    paste0("  worth     ", paste0(names(effective_size), ": ",
                                  round(effective_size), collapse = ", "),
           " independent draws (effective size)")
}

format_settings_list <- function(settings) {
    values <- vapply(settings, function(value) {
        value <- unique(value)
        # format() would pad words to one width.
        paste(if (is.character(value)) value else format(value),
              collapse = "/")
    }, "")
    text <- paste0(names(settings), "=", values, collapse = ", ")
    strwrap(text, 78L, initial = "  settings  ", prefix = strrep(" ", 12L))
}

#' @export
print.network_pair <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}
