# Pairs from the diamond density, whose dependence is not a correlation.

#' A pair of diamond-shaped samples: dependence without correlation
#'
#' Draws from the distribution of Liu et al. (2014, section 5.3), whose
#' variables are uncorrelated and yet depend on each other:
#' \deqn{p(x) \propto \exp\Bigl(-\sum_u a\, x_u^2 - \sum_{(u,v) \in A} b\,
#'   x_u^2 x_v^2\Bigr)}{p(x) ~ exp(-sum_u a x_u^2 - sum_{(u,v) in A} b x_u^2
#'   x_v^2)}
#' with a = `diag` and b = `edge`. The edges A of P are a random share
#' `density[1]` of the pairs; those of Q are what is left of them after edges
#' have been removed at random, down to the share `density[2]`. The removed
#' edges are the changed ones.
#'
#' @section Sampling:
#' One variable after the other is updated by slice sampling with stepping out
#' (Neal, 2003). `chains` independent chains start near 0, leave out `burn_in`
#' sweeps over all variables and keep every `thin`-th from there on; they take
#' turns in the rows of a sample. The number of chains decides what is drawn,
#' the number of threads does not. `effective_size` says how many independent
#' draws a sample is worth: the smallest over the variables, judged by the
#' autocorrelations of \eqn{x_u^2}{x_u^2} (Geyer, 1992) and at most the size
#' of the sample. Below a tenth of it, a warning says so.
#'
#' @param density The share of pairs that are edges, in P and in Q. The second
#'   must not exceed the first.
#' @param edge,diag The coefficients of the edges and of the single variables.
#' @param burn_in,thin,chains The length and number of the Markov chains: see
#'   the section on sampling.
#' @param threads The number of threads; `NULL` for all that are available, as
#'   in [kliep_control()].
#' @inheritParams sim_gaussian
#' @return A `network_pair` as in [sim_gaussian()], with the coefficients a and
#'   b in the matrices `networks$x` and `networks$y`, and the effective sample
#'   sizes `effective_size`. The `change` in `truth` is that of the coefficient
#'   of \eqn{x_u^2 x_v^2}{x_u^2 x_v^2} in the log-ratio of the densities, which
#'   is minus `edge`.
#' @references
#' Geyer, C. J. (1992). Practical Markov chain Monte Carlo. *Statistical
#' Science* 7, 473-483.
#'
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26, 1169-1197.
#'
#' Neal, R. M. (2003). Slice sampling. *Annals of Statistics* 31, 705-767.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_diamond(n = 500)
#' pair
#' # No correlation to see, and yet the squares know of each other.
#' edge <- unlist(pair$truth[1, c("from", "to")])
#' cor(pair$x[, edge])[1, 2]
#' cor(pair$x[, edge]^2)[1, 2]
sim_diamond <- function(d = 9, n = 5000, density = c(0.35, 0.15), edge = 20,
                        diag = 2, n_holdout = 0, burn_in = 500, thin = 10,
                        chains = 8, threads = NULL) {
    d <- check_whole(d, "d", "size", least = 2)
    n <- check_sample_sizes(n)
    n_holdout <- check_holdout(n_holdout)
    check_pair_memory(d, n, n_holdout)
    density <- check_falling_densities(density)
    edge <- check_positive(edge, "edge")
    diag <- check_positive(diag, "diag")
    schedule <- chain_schedule(burn_in, thin, chains, threads)
    networks <- draw_thinned_networks(d, density, edge, diag)
    new_network_pair(
        family = "diamond",
        samples = draw_chain_samples(networks, n, n_holdout,
                                     rust_draw_diamond, schedule),
        truth = changed_edges(networks, sign = -1),
        networks = networks,
        settings = c(list(d = d, n = n, density = density, edge = edge,
                          diag = diag, n_holdout = n_holdout),
                     schedule[c("burn_in", "thin", "chains")])
    )
}

# P with the larger share of edges, and Q with those that are left.
draw_thinned_networks <- function(d, density, edge, diag) {
    edges <- draw_edges(d, density[1L])
    n_left <- round(density[2L] * d * (d - 1) / 2)
    left <- sort(sample.int(nrow(edges), n_left))
    variables <- number_variables(d)
    list(x = symmetric_matrix(edges, edge, diag, variables),
         y = symmetric_matrix(edges[left, ], edge, diag, variables))
}

check_falling_densities <- function(density) {
    if (!is.numeric(density) || length(density) != 2L) {
        stop_kliep("argument", paste0("`density` must be two numbers, the ",
                                      "share of edges in P and in Q: got ",
                                      describe(density), "."))
    }
    density <- c(check_density(density[[1L]], "density[1]"),
                 check_density(density[[2L]], "density[2]"))
    if (density[2L] <= density[1L]) return(density)
    stop_kliep(
        "argument",
        paste0("`density[2]` must not exceed `density[1]`: got ",
               format(density[2L]), " and ", format(density[1L]), "."),
        hint = "Q keeps some of the edges of P, and has no others."
    )
}
