# Pairs from two Ising models, and the matrices of couplings they are made from.

#' A pair of Ising samples with a known change
#'
#' Draws from two Ising models on \eqn{\{-1, +1\}^d}{(-1, +1)^d}:
#' \deqn{p(x) \propto \exp\Bigl(\sum_u \theta_{uu} x_u + \sum_{u<v}
#'   \theta_{uv} x_u x_v\Bigr)}{p(x) ~ exp(sum_u theta_uu x_u + sum_{u<v}
#'   theta_uv x_u x_v)}
#' with the couplings \eqn{\theta_{uv}}{theta_uv} off the diagonal of `theta_x`
#' and `theta_y`, and the external field on it. [ising_chain()],
#' [ising_tree()] and [ising_lattice()] make such matrices, and
#' [ising_change()] makes the second out of the first.
#'
#' @section Sampling:
#' One variable after the other is drawn given all others (Gibbs sampling).
#' `chains` independent chains start at random signs, leave out `burn_in`
#' sweeps over all variables and keep every `thin`-th from there on; they take
#' turns in the rows of a sample. The number of chains decides what is drawn,
#' the number of threads does not. `effective_size` says how many independent
#' draws a sample is worth: the smallest over the variables, judged by the
#' autocorrelations of \eqn{x_u}{x_u} (Geyer, 1992) and at most the size of the
#' sample; `NaN` if every variable has the same value in all draws. Below a
#' tenth of the size, a warning says so: strong couplings need a larger `thin`.
#'
#' @param theta_x,theta_y Symmetric matrices (dense, or sparse from Matrix) of
#'   the same size, with the same names if any.
#' @inheritParams sim_diamond
#' @return A `network_pair` as in [sim_gaussian()], with `theta_x` and
#'   `theta_y` as `networks$x` and `networks$y`, and the effective sample
#'   sizes `effective_size`. The `change` in `truth` is
#'   \eqn{\theta^x_{uv} - \theta^y_{uv}}{theta_x_uv - theta_y_uv}, the
#'   coefficient of \eqn{x_u x_v}{x_u x_v} in the log-ratio of the densities.
#'   A change of the field is not an edge and not listed.
#' @references
#' Geyer, C. J. (1992). Practical Markov chain Monte Carlo. *Statistical
#' Science* 7, 473-483.
#' @seealso [ising_chain()] for the matrices.
#' @export
#' @examples
#' set.seed(1)
#' theta_x <- ising_chain(10, coupling = 0.5)
#' theta_y <- ising_change(theta_x, n_changed = 2, change = -0.8)
#' pair <- sim_ising(theta_x, theta_y, n = 500)
#' pair
#' pair$truth
sim_ising <- function(theta_x, theta_y, n = 500, n_holdout = 0,
                      burn_in = 1000, thin = 100, chains = 8,
                      threads = NULL) {
    networks <- check_theta_pair(theta_x, theta_y)
    n <- check_sample_sizes(n)
    n_holdout <- check_holdout(n_holdout)
    check_pair_memory(ncol(networks$x), n, n_holdout)
    schedule <- chain_schedule(burn_in, thin, chains, threads)
    new_network_pair(
        family = "ising",
        samples = draw_chain_samples(networks, n, n_holdout, rust_draw_ising,
                                     schedule),
        truth = changed_edges(networks),
        networks = networks,
        settings = c(list(d = ncol(networks$x), n = n,
                          n_holdout = n_holdout),
                     schedule[c("burn_in", "thin", "chains")])
    )
}

# ---- matrices --------------------------------------------------------------

#' Couplings of an Ising model
#'
#' Makes symmetric matrices for [sim_ising()]. `ising_chain()` couples each
#' variable to the next, `ising_tree()` to its parent in a tree in which
#' everyone has `branches` children, and `ising_lattice()` to its neighbours on
#' a grid, numbered down the columns. `ising_change()` adds a change to some of
#' the couplings: the second network of a pair.
#'
#' @param d The number of variables.
#' @param coupling One number for all edges, or one for each in the order of
#'   `which(theta != 0 & upper.tri(theta))`: down the columns of the upper
#'   triangle.
#' @param field The external field on the diagonal: one number, or one for
#'   each variable.
#' @param branches The number of children in the tree.
#' @param rows,columns The size of the grid.
#' @param theta A symmetric matrix of couplings.
#' @param n_changed How many couplings change, picked at random from those
#'   that are not zero.
#' @param change What is added to them: one number, or one for each.
#' @param edges Which couplings change instead, zero or not: a data frame with
#'   columns `from` and `to`, by name or by number. `NULL` picks `n_changed`.
#' @return A sparse symmetric matrix with the names V1, V2, ... or those of
#'   `theta`.
#' @export
#' @examples
#' ising_chain(4, coupling = c(0.5, -0.5, 0.5))
#' ising_tree(7, coupling = 0.4, branches = 2)
#' theta <- ising_lattice(3, 3, coupling = 0.3, field = 0.1)
#' set.seed(1)
#' ising_change(theta, n_changed = 2, change = -0.6)
#' ising_change(theta, edges = data.frame(from = "V1", to = "V9"), change = 1)
ising_chain <- function(d, coupling = 0.4, field = 0) {
    d <- check_couplings(d)
    ising_matrix(data.frame(from = seq_len(d - 1), to = seq(2, d)), d,
                 coupling, field)
}

#' @rdname ising_chain
#' @export
ising_tree <- function(d, coupling = 0.4, field = 0, branches = 2) {
    d <- check_couplings(d)
    branches <- check_whole(branches, "branches")
    child <- seq(2, d)
    ising_matrix(data.frame(from = (child - 2) %/% branches + 1, to = child),
                 d, coupling, field)
}

#' @rdname ising_chain
#' @export
ising_lattice <- function(rows, columns = rows, coupling = 0.4, field = 0) {
    rows <- check_whole(rows, "rows", "size")
    columns <- check_whole(columns, "columns", "size")
    d <- check_couplings(rows * columns, "rows * columns")
    ising_matrix(lattice_edges(rows, columns), d, coupling, field)
}

# About two couplings for each variable, with their places and names.
check_couplings <- function(d, arg = "d") {
    d <- check_whole(d, arg, "size", least = 2)
    check_memory(400 * d, paste("Couplings of", count_of(d, "variable")),
                 hint = paste0("Lower `", arg, "`."))
    d
}

ising_matrix <- function(edges, d, coupling, field) {
    coupling <- check_one_or_each(coupling, "coupling", nrow(edges), "edges")
    field <- check_one_or_each(field, "field", d, "variables")
    symmetric_matrix(edges, coupling, field, number_variables(d))
}

#' @rdname ising_chain
#' @export
ising_change <- function(theta, n_changed = 5, change = -0.4, edges = NULL) {
    theta <- check_theta(theta, "theta")
    if (is.null(edges)) {
        present <- matrix_edges(theta)
        changed <- draw_changed(nrow(present), n_changed,
                                "Lower `n_changed` or name the `edges`.")
        edges <- present[changed, ]
    } else {
        edges <- check_pairs(edges, colnames(theta), "`theta` does")
    }
    change <- check_one_or_each(change, "change", nrow(edges),
                                "changed couplings")
    theta + symmetric_matrix(edges, change, 0, colnames(theta))
}

# ---- arguments -------------------------------------------------------------

# A finite symmetric matrix, made sparse and given names.
check_theta <- function(theta, arg) {
    if (length(dim(theta)) != 2L) {
        stop_kliep("type", paste0("`", arg, "` must be a symmetric matrix: ",
                                  "got ", describe(theta), "."))
    }
    values <- unname(as_numeric_matrix(theta, arg))
    d <- ncol(values)
    if (nrow(values) != d || d < 2L) {
        stop_kliep("dimension",
                   paste0("`", arg, "` must be square, with at least 2 ",
                          "variables: got ", describe(values), "."))
    }
    check_finite(values, arg)
    if (!isSymmetric(values, tol = 0)) {
        stop_kliep(
            "symmetric",
            paste0("`", arg, "` must be symmetric: a coupling has one value."),
            hint = paste0("Pass `(", arg, " + t(", arg, ")) / 2`, or fill the ",
                          "other triangle.")
        )
    }
    variables <- theta_names(theta, arg)
    edges <- pair_from_index(which(values[upper.tri(values)] != 0))
    symmetric_matrix(edges, values[cbind(edges$from, edges$to)],
                     diag(values), variables)
}

theta_names <- function(theta, arg) {
    variables <- colnames(theta)
    if (is.null(variables)) return(number_variables(ncol(theta)))
    check_names(variables, arg)
    rows <- rownames(theta)
    if (is.data.frame(theta) || is.null(rows) || all(rows == variables)) {
        return(variables)
    }
    stop_kliep("names", paste0("`", arg, "` must have the same names in its ",
                               "rows as in its columns."))
}

# Two of them with the same variables in the same order. Names that only one
# of them has hold for both.
check_theta_pair <- function(theta_x, theta_y) {
    x <- check_theta(theta_x, "theta_x")
    y <- check_theta(theta_y, "theta_y")
    differ <- function(message) {
        stop_kliep("dimension", paste("`theta_x` and `theta_y` must have the",
                                      "same variables:", message))
    }
    if (ncol(x) != ncol(y)) {
        differ(paste0("got ", ncol(x), " and ", ncol(y), "."))
    }
    if (is.null(colnames(theta_x))) dimnames(x) <- dimnames(y)
    if (is.null(colnames(theta_y))) dimnames(y) <- dimnames(x)
    only_x <- setdiff(colnames(x), colnames(y))
    if (length(only_x) > 0L) {
        differ(paste0("`theta_y` does not have ", name_some(only_x), "."))
    }
    list(x = x, y = y[colnames(x), colnames(x)])
}

check_one_or_each <- function(value, arg, count, of_what) {
    if (is.numeric(value) && all(is.finite(value)) &&
        length(value) %in% c(1L, count)) {
        return(rep_len(as.double(value), count))
    }
    stop_kliep(
        "argument",
        paste0("`", arg, "` must be one finite number, or one for each of ",
               "the ", count, " ", of_what, ": got ", describe(value), ".")
    )
}
