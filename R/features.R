# What a factor of the network looks like: which functions of its variables
# the log density ratio is linear in.

# A product family: `pair` is a 2 x b matrix with one column of exponents
# (of the first, of the second variable) for each feature of an edge, `single`
# the exponents of a variable alone. Exponents apply to sign(x)|x|^power.
new_features <- function(family, power, pair, single, settings = list()) {
    structure(
        class = "features",
        list(family = family, power = power, pair = pair, single = single,
             settings = settings)
    )
}

#' Gaussian features
#'
#' The features of a Gaussian Markov network: an edge has the product of its
#' two variables, a variable alone its square,
#' \deqn{f_{uv}(x) = x_u x_v, \qquad f_{uu}(x) = x_u^2.}{
#'     f_uv(x) = x_u x_v,  f_uu(x) = x_u^2.}
#' With `linear = TRUE` a variable alone has
#' \eqn{f_{uu}(x) = (x_u^2, x_u)}{f_uu(x) = (x_u^2, x_u)}, so that a change of
#' mean is not taken for a change of variance. After
#' `standardize = "within"` both samples have mean zero and it is not needed.
#'
#' The coefficient of an edge is minus the difference of the two precision
#' matrices, \eqn{\theta_{uv} = -(\Theta^P - \Theta^Q)_{uv}}{theta_uv =
#' -(Theta_P - Theta_Q)_uv}, and that of a variable alone is half of it,
#' \eqn{\theta_{uu} = -(\Theta^P - \Theta^Q)_{uu} / 2}{theta_uu =
#' -(Theta_P - Theta_Q)_uu / 2}.
#'
#' @param linear Add the variable itself to the features of a variable alone?
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' feat_gaussian()
#' feat_gaussian(linear = TRUE)
feat_gaussian <- function(linear = FALSE) {
    linear <- check_flag(linear, "linear")
    new_features(
        family = "gaussian",
        power = 1,
        pair = matrix(c(1L, 1L), nrow = 2L),
        single = if (linear) c(2L, 1L) else 2L,
        settings = list(linear = linear)
    )
}

#' Nonparanormal features
#'
#' The features of a Gaussian Markov network of transformed variables,
#' \eqn{s = \mathrm{sign}(x) |x|^k}{s = sign(x) |x|^k} with a common `power`
#' \eqn{k}: an edge has the product of its two transformed variables, a
#' variable alone the square of its own,
#' \deqn{f_{uv}(x) = s_u s_v, \qquad f_{uu}(x) = s_u^2.}{
#'     f_uv(x) = s_u s_v,  f_uu(x) = s_u^2.}
#' A square root taken of Gaussian data is undone by `power = 2`.
#'
#' The transform comes after standardisation: with `standardize = "within"`
#' variables of different units are brought to one scale first.
#'
#' @param power The exponent \eqn{k}, positive.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @references
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197. (The basis printed there,
#' \eqn{(s_u, s_v, 1)}, has no interaction and cannot see an edge; the product
#' is the sufficient statistic.)
#' @export
#' @examples
#' feat_nonparanormal(power = 2)
feat_nonparanormal <- function(power = 2) {
    power <- check_positive(power, "power", "features")
    new_features(
        family = "nonparanormal",
        power = power,
        pair = matrix(c(1L, 1L), nrow = 2L),
        single = 2L,
        settings = list(power = power)
    )
}

#' Polynomial features
#'
#' Monomials up to a total `degree` \eqn{k}: an edge has those of its two
#' variables, a variable alone its powers,
#' \deqn{f_{uv}(x) = (x_u^p x_v^q : 1 \le p + q \le k), \qquad
#'     f_{uu}(x) = (x_u, x_u^2, \ldots, x_u^k).}{
#'     f_uv(x) = (x_u^p x_v^q : 1 <= p + q <= k),
#'     f_uu(x) = (x_u, x_u^2, ..., x_u^k).}
#' `terms = "all"` is the basis of the paper. It has the powers of each variable
#' in every edge, too, so that a change in one variable may be spread over its
#' edges; `terms = "interactions"` keeps in an edge only the monomials with both
#' variables (\eqn{p, q \ge 1}{p, q >= 1}).
#'
#' Coefficients of an edge are penalised together: it is detected with all of
#' them or not at all, and its weight is their norm.
#'
#' @param degree The total degree \eqn{k}: a whole number, 2 or more.
#' @param terms `"all"` monomials or the `"interactions"` alone.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' feat_polynomial(degree = 3)
#' feat_polynomial(degree = 4, terms = "interactions")
feat_polynomial <- function(degree = 4, terms = c("all", "interactions")) {
    degree <- as.integer(check_whole(degree, "degree", "features", least = 2))
    terms <- check_choice(terms, "terms", c("all", "interactions"))
    pair <- rbind(rep(0:degree, each = degree + 1L), 0:degree)
    least <- if (terms == "all") 0L else 1L
    used <- colSums(pair) >= 1L & colSums(pair) <= degree &
        pair[1L, ] >= least & pair[2L, ] >= least
    new_features(
        family = "polynomial",
        power = 1,
        pair = pair[, used, drop = FALSE],
        single = seq_len(degree),
        settings = list(degree = degree, terms = terms)
    )
}

#' @export
format.features <- function(x, ...) {
    symbol <- if (x$power == 1) "x" else "s"
    pair <- apply(x$pair, 2L, term_text, names = paste0(symbol, c("_u", "_v")))
    single <- vapply(x$single, term_text, "", names = paste0(symbol, "_u"))
    c(
        paste0("<features> ", x$family),
        paste0("  edge (u, v)    ", paste(pair, collapse = ", ")),
        paste0("  variable u     ", paste(single, collapse = ", ")),
        if (x$power != 1)
            paste0("  with           s = sign(x) |x|^", format(x$power))
    )
}

#' @export
print.features <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}

# The family and what was set about it, on one line.
name_features <- function(features) {
    set <- Filter(Negate(isFALSE), features$settings)
    paste(c(features$family, sprintf("%s = %s", names(set), set)),
          collapse = ", ")
}

# One term in words: exponents c(2, 1) of A and B give "A^2 B".
term_text <- function(exponents, names) {
    factors <- paste0(names, power_text(exponents))
    paste(factors[exponents > 0L], collapse = " ")
}

# The number of coefficients of an edge and of a variable alone.
edge_size <- function(features) ncol(features$pair)
single_size <- function(features) length(features$single)

# The part of a specification that Rust reads. Its pairs are (u, v) with u > v,
# so the exponent of `to` comes first there.
rust_features <- function(features) {
    list(power = as.double(features$power),
         pair = features$pair[2:1, , drop = FALSE],
         single = features$single)
}

# Names of the coefficients in rows (from, to, term), such as "A*B" and "A^2".
term_labels <- function(features, variables, from, to, term) {
    is_edge <- from != to
    labels <- character(length(from))
    edge <- which(is_edge)
    for (k in unique(term[edge])) {
        rows <- edge[term[edge] == k]
        labels[rows] <- paste0(
            with_power(variables[from[rows]], features$pair[1L, k]),
            if (all(features$pair[, k] > 0L)) "*",
            with_power(variables[to[rows]], features$pair[2L, k])
        )
    }
    single <- which(!is_edge)
    labels[single] <- paste0(
        variables[from[single]], power_text(features$single[term[single]])
    )
    labels
}

with_power <- function(names, exponent) {
    if (exponent == 0L) return("")
    paste0(names, power_text(exponent))
}

power_text <- function(exponent) {
    ifelse(exponent == 1L, "", paste0("^", exponent))
}
