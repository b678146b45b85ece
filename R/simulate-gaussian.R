# Gaussian pairs, and what is made of them.

#' A pair of Gaussian samples with a known change
#'
#' Draws a Gaussian pair as Liu et al. (2014) do. The precision matrix of P has
#' `diag` on its diagonal and `edge` on a random share `density` of the pairs of
#' variables. That of Q, which `y` is drawn from, is the same but for
#' `n_changed` of these edges, picked at random, to which `change` is added.
#' The default turns +0.2 into -0.2. The paper prints a change of -0.1, which
#' at its sample sizes no method can see.
#'
#' Instead of at random, edges can be those of a scale-free network
#' (`graph = "scale_free"`), in which every variable after the first is linked
#' to an earlier one with a probability in proportion to the number of its
#' links (Barabasi and Albert 1999, *Science* 286, 509--512), or of stars
#' (`"hub"`): groups of up to twenty variables, each with one in its middle.
#'
#' In the terms of [kliep_path()] with Gaussian features, the change of an edge
#' is \eqn{\theta_{uv} = -(\Theta^P - \Theta^Q)_{uv}}{theta_uv =
#' -(Theta_P - Theta_Q)_uv}, which is `change` itself.
#'
#' @param d The number of variables.
#' @param n The number of observations: one number for both samples, or
#'   `c(x = , y = )`.
#' @param graph Where the edges are; see above.
#' @param density The share of pairs that are edges of P, between 0 and 1, for
#'   `graph = "random"`.
#' @param edge,diag The values of the edges and of the diagonal.
#' @param n_changed How many edges change, at most as many as P has.
#' @param change What is added to the changed edges in Q.
#' @param n_holdout Further observations of each sample, for validation.
#' @return A `network_pair`: a list with the samples `x` and `y`, the changed
#'   edges `truth` (a data frame `from`, `to`, `change`), the two precision
#'   matrices `networks$x` and `networks$y` (sparse), `settings`, and with
#'   `n_holdout > 0` the further samples `holdout$x` and `holdout$y`. The
#'   random numbers follow [set.seed()].
#' @inherit kliep_path references
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = c(x = 100, y = 200), n_changed = 3)
#' pair
#' pair$truth
sim_gaussian <- function(d = 40, n = 100, density = 0.25, edge = 0.2,
                         diag = 2, n_changed = 15, change = -0.4,
                         n_holdout = 0,
                         graph = c("random", "scale_free", "hub")) {
    d <- check_whole(d, "d", "size", least = 2)
    density <- check_density(density)
    change <- check_number(change, "change")
    graph <- check_choice(graph, "graph", c("random", "scale_free", "hub"))
    check_pair_memory(d, check_sample_sizes(n), check_holdout(n_holdout))
    edges <- switch(graph, random = draw_edges(d, density),
                    scale_free = draw_tree(d), hub = star_edges(d))
    changed <- draw_changed(nrow(edges), n_changed,
                            "Lower `n_changed` or raise `density` or `d`.")
    edges$change <- change * changed
    gaussian_pair(
        "gaussian", edges,
        list(d = d, n = n, graph = graph,
             density = if (graph == "random") density, edge = edge,
             diag = diag, n_changed = sum(changed), change = change,
             n_holdout = n_holdout),
        hint = paste("Lower `density`, `d` or the size of `edge` and",
                     "`change`, or raise `diag`.")
    )
}

# The pair of a set of edges, each with its change. `hint` says what to do about
# matrices that are not positive definite.
gaussian_pair <- function(family, edges, settings, hint) {
    settings$n <- check_sample_sizes(settings$n)
    settings$n_holdout <- check_holdout(settings$n_holdout)
    settings$edge <- check_number(settings$edge, "edge")
    settings$diag <- check_number(settings$diag, "diag")
    network <- function(change) {
        symmetric_matrix(edges, settings$edge + change, settings$diag,
                         number_variables(settings$d))
    }
    networks <- list(x = network(0), y = network(edges$change))
    check_positive_definite(networks$x, "x", hint)
    check_positive_definite(networks$y, "y", hint)
    new_network_pair(
        family = family,
        samples = draw_samples(networks, settings$n, settings$n_holdout,
                               draw_gaussian),
        # A precision matrix enters the log-density with a minus.
        truth = changed_edges(networks, sign = -1),
        networks = networks,
        settings = settings
    )
}

draw_gaussian <- function(precision, n) {
    values <- rust_draw_gaussian(unname(as.matrix(precision)), as.integer(n),
                                 draw_seed())
    colnames(values) <- colnames(precision)
    values
}

check_positive_definite <- function(precision, which, hint) {
    precision <- as.matrix(precision)
    root <- value_or(chol(precision), NULL)
    if (!is.null(root)) return(invisible())
    smallest <- min(eigen(precision, symmetric = TRUE,
                          only.values = TRUE)$values)
    stop_kliep(
        "positive_definite",
        paste0("The precision matrix of `", which, "` is not positive ",
               "definite: its smallest eigenvalue is ",
               format(smallest, digits = 3L), "."),
        hint = hint
    )
}

# ---- what is made of Gaussian pairs ----------------------------------------

#' A pair of nonparanormal samples with a known change
#'
#' Draws the Gaussian pair of [sim_gaussian()] and transforms every variable:
#' \deqn{x_u = \mathrm{sign}(z_u)\,|z_u|^{k}}{x_u = sign(z_u) |z_u|^k}
#' with k = `power` and z Gaussian. The network and its change are those of z.
#' The inverse power makes it Gaussian again, so that
#' `feat_nonparanormal(1 / power)` are the right features:
#' [feat_nonparanormal()] with power 2 for the default.
#'
#' @param ... Arguments of [sim_gaussian()], by name.
#' @param power The power k, positive.
#' @return A `network_pair` as in [sim_gaussian()]; `networks` are the
#'   precision matrices of z, and the `change` in `truth` is the coefficient of
#'   \eqn{z_u z_v}{z_u z_v} in the log-ratio of the densities.
#' @inherit kliep_path references
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_nonparanormal(d = 10, n = 500, n_changed = 3)
#' pair
#' path <- kliep_path(pair$x, pair$y, features = feat_nonparanormal(2))
sim_nonparanormal <- function(..., power = 1 / 2) {
    power <- check_positive(power, "power")
    check_dots(list(...), names(formals(sim_gaussian)), "sim_nonparanormal")
    pair <- sim_gaussian(...)
    bend <- function(z) sign(z) * abs(z)^power
    samples <- list(x = bend(pair$x), y = bend(pair$y))
    if (!is.null(pair$holdout)) samples$holdout <- lapply(pair$holdout, bend)
    new_network_pair("nonparanormal", samples, pair$truth, pair$networks,
                     c(pair$settings, list(power = power)))
}

#' A pair of Gaussian samples on a lattice
#'
#' Draws the pair on which the support consistency of the method was studied
#' (Liu, Suzuki, Relator, Sese, Sugiyama and Fukumizu, 2017): `m` variables on
#' a square grid, whose precision matrix has `diag` on its diagonal and `edge`
#' between neighbours on the grid, but for `n_changed` edges, picked at random,
#' which are `edge` in P and `-edge` in Q.
#'
#' @param m The number of variables, a square: 25 makes a grid of 5 x 5,
#'   numbered down its columns.
#' @param n_changed How many edges change their sign.
#' @inheritParams sim_gaussian
#' @return A `network_pair` as in [sim_gaussian()]. The `change` in `truth` is
#'   \eqn{-(\Theta^P - \Theta^Q)_{uv}}{-(Theta_P - Theta_Q)_uv}, which is
#'   -2 `edge`.
#' @references
#' Liu, S., Suzuki, T., Relator, R., Sese, J., Sugiyama, M. and Fukumizu, K.
#' (2017). Support consistency of direct sparse-change learning in Markov
#' networks. *Annals of Statistics* 45, 959-990.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_lattice(m = 25, n = 500)
#' pair
#' pair$truth
sim_lattice <- function(m = 25, n = 100, edge = 0.4, diag = 2, n_changed = 4,
                        n_holdout = 0) {
    m <- check_whole(m, "m", "size", least = 4)
    side <- sqrt(m)
    if (side != round(side)) {
        stop_kliep("size", paste0("`m` must be a square number: got ",
                                  format(m), "."),
                   hint = paste0("The nearest are ", floor(side)^2, " and ",
                                 ceiling(side)^2, "."))
    }
    edge <- check_number(edge, "edge")
    check_pair_memory(m, check_sample_sizes(n), check_holdout(n_holdout))
    edges <- lattice_edges(side, side)
    changed <- draw_changed(nrow(edges), n_changed,
                            "Lower `n_changed` or raise `m`.")
    edges$change <- -2 * edge * changed
    gaussian_pair(
        "lattice", edges,
        list(d = m, n = n, edge = edge, diag = diag, n_changed = sum(changed),
             change = -2 * edge, n_holdout = n_holdout),
        hint = "Lower the size of `edge` or raise `diag`."
    )
}
