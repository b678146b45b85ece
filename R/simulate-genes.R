# Pairs of expression data from a gene network, some interactions of which turn.

#' A pair of gene expression samples with a known change
#'
#' Draws expression of the genes of a directed network as SynTReN does (Van den
#' Bulcke et al., 2006), before and after some interactions have changed their
#' type, as in Liu et al. (2014, section 6.1).
#'
#' @section Kinetics:
#' A gene that nothing regulates is a *top regulator*: its level is
#' drawn uniformly between 0 and 1, for each observation. Any other gene
#' responds to its regulators. A regulator at level r counts as
#' \deqn{u = (r / K)^h}{u = (r / K)^h}
#' with a level K of half effect and a Hill coefficient h for each interaction;
#' h = 1 is Michaelis and Menten's kinetics. With A the sum of u over the
#' regulators that activate (`ac` and `du`) and R the sum over those that
#' repress (`re` and `du`), the activity of the promoter is
#' \deqn{a = \frac{A}{1 + A} \cdot \frac{1}{1 + R}}{a = A / (1 + A) / (1 + R)}
#' where the first part is 1 for a gene without activators. So a dual regulator
#' activates at low levels and represses at high ones. The activity is rescaled
#' to values from 0 to 1 by its lowest and highest values over all regulators
#' from 0 to 1, and cut there, for noise can take a regulator over 1:
#' \deqn{f = (a - a_{min}) / (a_{max} - a_{min})}{f = (a - a_min) / (a_max -
#'   a_min).}
#' The level of the gene is f times biological noise, which its targets see,
#' and what is observed is the level times measurement noise; both are
#' log-normal, \eqn{\exp(\sigma z)}{exp(sigma z)} with z standard normal. Top
#' regulators have both noises, too.
#'
#' Genes that regulate themselves or each other in a circle are iterated from
#' 0.5 to a steady state, in steps that get shorter until it is found. A circle
#' that nothing outside regulates is driven by its first gene, which counts as
#' a top regulator, and interactions into it have no effect.
#'
#' @section The change:
#' K and h are drawn for each interaction, K uniformly from the range `half` and
#' h from the whole numbers in the range `hill`. Then `n_changed` interactions
#' are picked at random, one for a pair of genes and none into a top regulator.
#' In the second network activation has become repression, repression
#' activation, and dual one of them at random. All else stays, K and h as well.
#'
#' The changed edges are the pairs of genes whose interaction has changed. A
#' change can show elsewhere, too: two regulators of one gene depend on each
#' other once its level is given, and how they do may change with its kinetics.
#'
#' @param network A `gene_network` from [yeast13()], [read_sif()] or
#'   [subnetwork()], or a data frame with columns `from`, `type` and `to`. With
#'   further columns `half` and `hill` these are its K and h.
#' @param n_changed How many interactions change their type.
#' @param half,hill Ranges of K and h: two numbers each.
#' @param biological_noise,measurement_noise Standard deviations of the
#'   logarithm, from 0 for none to 5.
#' @inheritParams sim_diamond
#' @return A `network_pair` as in [sim_gaussian()], where `networks$x` and
#'   `networks$y` are gene networks whose `interactions` have the columns
#'   `half` and `hill`. `truth` has the further columns `type_x` and `type_y`,
#'   and its `change` is positive where x is more of an activation than y: `ac`
#'   counts 1, `du` 0 and `re` -1.
#' @references
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26, 1169-1197.
#'
#' Van den Bulcke, T., Van Leemput, K., Naudts, B., van Remortel, P., Ma, H.,
#' Verschoren, A., De Moor, B. and Marchal, K. (2006). SynTReN: a generator of
#' synthetic gene expression data for design and analysis of structure
#' learning algorithms. *BMC Bioinformatics* 7, 43.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_genes()
#' pair
#' pair$truth
#' path <- kliep_path(pair$x, pair$y, features = feat_polynomial(2))
sim_genes <- function(network = yeast13(), n = 50, n_changed = 6,
                      half = c(0.25, 0.75), hill = c(1, 4),
                      biological_noise = 0.2, measurement_noise = 0.1,
                      n_holdout = 0, threads = NULL) {
    network <- check_network(network)
    n <- check_sample_sizes(n)
    n_holdout <- check_holdout(n_holdout)
    check_pair_memory(length(network$genes), n, n_holdout, per_pair = 0)
    half <- check_range(half, "half")
    hill <- check_hill(hill)
    noise <- list(
        biological_noise = check_noise(biological_noise, "biological_noise"),
        measurement_noise = check_noise(measurement_noise,
                                        "measurement_noise")
    )
    threads <- kliep_control(threads = threads)$threads
    before <- draw_kinetics(network, half, hill)
    changed <- draw_interactions(before, n_changed)
    networks <- list(x = before, y = change_types(before, changed))
    samples <- draw_samples(networks, n, n_holdout, function(network, n) {
        draw_expression(network, n, c(noise, list(threads = threads)))
    })
    new_network_pair(
        family = "genes",
        samples = samples,
        truth = changed_interactions(networks, changed),
        networks = networks,
        settings = c(list(d = length(network$genes), n = n,
                          n_changed = length(changed), half = half,
                          hill = hill), noise, list(n_holdout = n_holdout))
    )
}

# Levels of half effect and Hill coefficients, where the network has none.
draw_kinetics <- function(network, half, hill) {
    arrows <- network$interactions
    size <- nrow(arrows)
    if (is.null(arrows$half)) {
        arrows$half <- stats::runif(size, half[1L], half[2L])
    }
    if (is.null(arrows$hill)) {
        arrows$hill <- draw_some(seq(hill[1L], hill[2L]), size, TRUE)
    }
    valid <- function(values) {
        is.numeric(values) && all(is.finite(values) & values > 0)
    }
    if (!valid(arrows$half) || !valid(arrows$hill)) {
        stop_kliep("network", paste("The columns `half` and `hill` of a",
                                    "network must be positive numbers."))
    }
    new_gene_network(arrows, network$genes)
}

# Numbers of the interactions that change: one of a pair, and only such as have
# an effect.
draw_interactions <- function(network, n_changed) {
    arrows <- network$interactions
    able <- which(arrows$from != arrows$to &
                      !arrows$to %in% top_regulators(network))
    able <- draw_some(able, length(able))
    able <- able[!duplicated(edge_text(arrows)[able])]
    changed <- draw_changed(length(able), n_changed,
                            "Lower `n_changed` or take a larger network.")
    sort(able[changed])
}

change_types <- function(network, changed) {
    type <- network$interactions$type[changed]
    dual <- type == "du"
    new <- ifelse(type == "ac", "re", "ac")
    new[dual] <- draw_some(c("ac", "re"), sum(dual), TRUE)
    network$interactions$type[changed] <- new
    network
}

changed_interactions <- function(networks, changed) {
    x <- networks$x$interactions[changed, ]
    y <- networks$y$interactions[changed, ]
    effect <- c(ac = 1, re = -1, du = 0)
    data.frame(from = x$from, to = x$to,
               change = unname(effect[x$type] - effect[y$type]),
               type_x = x$type, type_y = y$type)
}

draw_expression <- function(network, n, settings) {
    drawn <- rust_draw_genes(network_for_rust(network), as.integer(n),
                             settings, draw_seed())
    if (drawn$unsettled > 0L) {
        stop_kliep(
            "steady_state",
            paste0("In ", drawn$unsettled, " of ", n, " observations the ",
                   "loops of the network reached no steady state."),
            hint = "Lower `hill`, or take an interaction out of the loop."
        )
    }
    colnames(drawn$sample) <- network$genes
    drawn$sample
}

# ---- arguments -------------------------------------------------------------

check_range <- function(range, arg) {
    two <- is.numeric(range) && length(range) == 2L
    if (two && all(is.finite(range), range > 0, diff(range) >= 0)) {
        return(as.double(range))
    }
    stop_kliep("argument",
               paste0("`", arg, "` must be two positive numbers, the smaller ",
                      "first: got ", describe(range), "."))
}

check_hill <- function(hill) {
    hill <- check_range(hill, "hill")
    if (all(hill == round(hill))) return(hill)
    stop_kliep("argument", paste0("`hill` must be whole numbers: got ",
                                  paste(format(hill), collapse = " and "),
                                  "."))
}

check_noise <- function(noise, arg) {
    noise <- check_number(noise, arg)
    if (noise >= 0 && noise <= 5) return(noise)
    stop_kliep("argument", paste0("`", arg, "` must be from 0 to 5: got ",
                                  format(noise), "."))
}
