# Series of observations whose network drifts in a known way.

#' A series whose network changes over time
#'
#' Draws a series of observations from a network in which some edges change over
#' time and all others stay the same, to try out [kliep_time()].
#'
#' @section Model:
#' At time \eqn{t}, from 0 to 1, a Gaussian observation has the precision matrix
#' \eqn{\Omega(t)}{Omega(t)} with a unit diagonal and minus the partial
#' correlations \eqn{\rho_{ij}(t)}{rho_ij(t)} beside it. They are `edge` along a
#' chain, and
#' * `"drift"`: that of `n_changed` edges, drawn at random outside of the chain
#'   and without a variable in common, goes from 0 to `change` along a straight
#'   line;
#' * `"jump"`: the same, in one step at the time `at`;
#' * `"hub"`: the first variable loses its `n_changed` edges as the second one
#'   gains edges with the same variables, from `change` to 0 and from 0 to
#'   `change` along a straight line; there is no chain;
#' * `"none"`: nothing changes.
#'
#' With `persistence` \eqn{\phi}{phi} observations follow each other,
#' \eqn{x_t = \Omega(t)^{-1/2} z_t}{x_t = Omega(t)^(-1/2) z_t}, \eqn{z_t = \phi
#' z_{t-1} + \sqrt{1 - \phi^2} e_t}{z_t = phi z_(t-1) + sqrt(1 - phi^2) e_t}; at
#' each time they have the distribution above.
#'
#' With `family = "ising"` observations are spins on a chain without fields,
#' whose couplings are `edge`; those of `n_changed` edges of the chain go from
#' there to `edge + change`. With this probability, `persistence`, two
#' neighbours agree or disagree as they did one observation before.
#'
#' @param d The number of variables.
#' @param n The length of the series; times are evenly spaced.
#' @param n_changed How many edges change; for a hub, how many it has.
#' @param change How far the partial correlation (coupling) of an edge changes.
#' @param shape How edges change.
#' @param edge The partial correlation (coupling) of the edges of the chain.
#' @param at For a jump, when: between 0 and 1.
#' @param persistence How much of one observation is left at the next, from 0
#'   to below 1.
#' @param family `"gaussian"` or `"ising"`.
#' @return An object of class `drift_series`: `series`, a data frame with a
#'   column `time` and one for each variable; `truth`, a data frame with the
#'   edges that change, `from`, `to` and `change`, from the first row to the
#'   last;
#'   `network`, a function of time that gives the matrix of partial correlations
#'   (couplings) then; and `settings`.
#' @export
#' @examples
#' set.seed(1)
#' drifting <- sim_drift(d = 6, n = 300, n_changed = 1, shape = "jump")
#' drifting
#' drifting$truth
#' drifting$network(0.9)
sim_drift <- function(d = 10, n = 500, n_changed = 2, change = 0.4,
                      shape = c("drift", "jump", "hub", "none"), edge = 0.25,
                      at = 0.5, persistence = 0,
                      family = c("gaussian", "ising")) {
    shape <- check_choice(shape, "shape", c("drift", "jump", "hub", "none"))
    family <- check_choice(family, "family", c("gaussian", "ising"))
    settings <- list(
        d = check_whole(d, "d", "size", least = 3),
        n = check_whole(n, "n", "size", least = 2),
        n_changed = check_whole(n_changed, "n_changed", least = 0),
        change = check_number(change, "change"), shape = shape,
        edge = check_number(edge, "edge"), at = check_fraction(at, "at"),
        persistence = check_persistence(persistence), family = family
    )
    check_pair_memory(settings$d, settings$n)
    parts <- drift_parts(settings)
    variables <- number_variables(settings$d)
    network <- function(time) {
        matrix <- drift_network(parts, settings, time)
        dimnames(matrix) <- list(variables, variables)
        matrix
    }
    time <- (seq_len(settings$n) - 1) / (settings$n - 1)
    values <- if (family == "gaussian") draw_drift(network, time, settings) else
        draw_spin_drift(network, time, settings)
    colnames(values) <- variables
    new_drift_series(values, time, network, settings)
}

# ---- networks --------------------------------------------------------------

# The edges of the chain, those that rise from nothing and those that fall to
# it, as pairs of numbers.
drift_parts <- function(settings) {
    d <- settings$d
    chain <- cbind(seq_len(d - 1), seq_len(d)[-1L])
    none <- chain[0L, , drop = FALSE]
    count <- if (settings$shape == "none") 0 else settings$n_changed
    room <- c(gaussian = d %/% 2 - 1, ising = d - 1)[[settings$family]]
    if (settings$shape == "hub") room <- d - 2
    if (count > room) {
        stop_kliep("size", paste0("`n_changed` must be at most ", room,
                                  " with ", count_of(d, "variable"), ": got ",
                                  settings$n_changed, "."))
    }
    if (settings$family == "ising") {
        if (settings$shape == "hub") {
            stop_kliep("argument", "Spins lie on a chain, which has no hub.",
                       hint = "Use another `shape`.")
        }
        return(list(chain = chain, falls = none,
                    rises = chain[sort(sample.int(d - 1L, count)), ,
                                  drop = FALSE]))
    }
    if (settings$shape == "hub") {
        leaves <- seq_len(count) + 2
        return(list(chain = none, falls = cbind(rep(1, count), leaves),
                    rises = cbind(rep(2, count), leaves)))
    }
    list(chain = chain, falls = none, rises = distant_pairs(d, count))
}

# Pairs without a variable in common, of which none is of the chain.
distant_pairs <- function(d, count) {
    repeat {
        ends <- matrix(sample.int(d, 2 * count), ncol = 2L)
        ends <- cbind(pmin(ends[, 1L], ends[, 2L]), pmax(ends[, 1L],
                                                         ends[, 2L]))
        if (all(ends[, 2L] - ends[, 1L] > 1)) return(ends)
    }
}

drift_network <- function(parts, settings, time) {
    level <- if (settings$shape == "jump") as.numeric(time >= settings$at) else
        time
    matrix <- matrix(0, settings$d, settings$d)
    add <- function(matrix, ends, value) {
        matrix[ends] <- matrix[ends] + value
        matrix
    }
    matrix <- add(matrix, parts$chain, settings$edge)
    matrix <- add(matrix, parts$rises, settings$change * level)
    matrix <- add(matrix, parts$falls, settings$change * (1 - level))
    matrix + t(matrix)
}

# ---- draws -----------------------------------------------------------------

# Persistent Gaussian innovations, one row for each time.
persistent_normal <- function(n, d, persistence) {
    values <- matrix(stats::rnorm(n * d), n, d)
    if (persistence == 0) return(values)
    values[-1L, ] <- sqrt(1 - persistence^2) * values[-1L, ]
    apply(values, 2L, stats::filter, filter = persistence,
          method = "recursive")
}

draw_drift <- function(network, time, settings) {
    for (ends in c(0, 0.5, 1)) {
        check_positive_definite(diag(settings$d) - network(ends), "series",
                                "Lower `edge`, `change` or `n_changed`.")
    }
    values <- persistent_normal(length(time), settings$d,
                                settings$persistence)
    for (row in seq_along(time)) {
        root <- chol(diag(settings$d) - network(time[row]))
        values[row, ] <- backsolve(root, values[row, ])
    }
    values
}

# Without fields the neighbours on a chain agree independently of each other.
draw_spin_drift <- function(network, time, settings) {
    d <- settings$d
    n <- length(time)
    bonds <- matrix(0, n, d - 1L)
    first <- ifelse(stats::runif(n) < 0.5, -1, 1)
    for (row in seq_len(n)) {
        coupling <- network(time[row])[cbind(seq_len(d - 1L), seq_len(d)[-1L])]
        now <- ifelse(stats::runif(d - 1L) < stats::plogis(2 * coupling), 1, -1)
        kept <- row > 1L & stats::runif(d - 1L) < settings$persistence
        bonds[row, ] <- ifelse(kept, bonds[max(row - 1L, 1L), ], now)
    }
    first * cbind(1, t(apply(bonds, 1L, cumprod)))
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_drift_series <- function(values, time, network, settings) {
    moved <- network(1) - network(0)
    at <- which(moved != 0 & upper.tri(moved), arr.ind = TRUE)
    at <- at[order(at[, 2L], at[, 1L]), , drop = FALSE]
    structure(
        class = "drift_series",
        list(
            series = data.frame(time = time, values),
            truth = data.frame(from = colnames(values)[at[, 1L]],
                               to = colnames(values)[at[, 2L]],
                               change = moved[at]),
            network = network, settings = settings
        )
    )
}

#' @export
format.drift_series <- function(x, ...) {
    set <- x$settings
    c(
        paste0("<drift_series> ", set$family, ", shape ", set$shape),
        paste0("  series    ", count_of(set$n, "observation"), " of ",
               count_of(set$d, "variable"),
               if (set$persistence > 0)
                   paste0(", persistence ", format(set$persistence))),
        paste0("  changing  ", count_of(nrow(x$truth), "edge"), " by ",
               format(set$change))
    )
}

#' @export
print.drift_series <- function(x, ...) {
    cat(format(x), sep = "\n")
    cat("\nNext: kliep_time($series), $truth, $network()\n")
    invisible(x)
}
