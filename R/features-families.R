# The families of features: one constructor each, with its formula.

# A product family: `pair` is a 2 x b matrix with one column of exponents
# (of the first, of the second variable) for each feature of an edge, `single`
# the exponents of a variable alone. Exponents apply to sign(x)|x|^power, or to
# the normal score of x where the features are of ranks (`ranks = TRUE`, in
# `...`). With `weights` orthonormal polynomials take the place of powers.
product_features <- function(family, power, pair, single, settings = list(),
                             standardize = "within", ...) {
    new_features("products", family, settings, standardize, power = power,
                 pair = pair, single = single, ...)
}

#' Gaussian features
#'
#' Describes a Gaussian Markov network: an edge has the product of its two
#' variables, a variable alone its square,
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
    product_features(
        family = "gaussian",
        power = 1,
        pair = matrix(c(1L, 1L), nrow = 2L),
        single = if (linear) c(2L, 1L) else 2L,
        settings = list(linear = linear)
    )
}

#' Nonparanormal features
#'
#' Describes a Gaussian Markov network of transformed variables
#' \eqn{s_u = h_u(x_u)}{s_u = h_u(x_u)}: an edge has the product of its two
#' transformed variables, a variable alone the square of its own,
#' \deqn{f_{uv}(x) = s_u s_v, \qquad f_{uu}(x) = s_u^2.}{
#'     f_uv(x) = s_u s_v,  f_uu(x) = s_u^2.}
#' Without a `power`, \eqn{s_u}{s_u} is the normal score of an observation,
#' which depends on its rank alone: \eqn{\Phi^{-1}(r / (n + 1))}{Phi^-1(r / (n +
#' 1))} with \eqn{r} its rank among the \eqn{n} of its sample, averaged over
#' ties. They are those of [npn_transform()]. Any monotone transform of a
#' variable leaves the fit as it is, and outliers and heavy tails cost little.
#' With a `power` \eqn{k}, \eqn{s = \mathrm{sign}(x) |x|^k}{s = sign(x) |x|^k}
#' for all variables alike: a square root taken of Gaussian data is undone by
#' `power = 2`.
#'
#' @section Normal scores:
#' Ranks take the place of standardisation. `standardize = "within"`, the
#' default, ranks each sample by itself, which removes every difference between
#' the distributions of single variables; `"pooled"` ranks the observations of
#' both together, which leaves such differences in. The scores are brought to
#' mean zero and variance one in the same way, which matters where there are
#' ties. `"none"` is refused.
#'
#' Scores are recomputed for every fit: of each half, fold, window and
#' shuffle. [kliep_test()] with `align = TRUE` shuffles observations by their
#' scores within the samples, so that the distributions of single variables
#' make no difference to it; [kliep_infer()] shuffles the scores themselves.
#'
#' A new observation is mapped as the sample it belongs to, value by value: to
#' the score of an equal value of that sample, on a line between the scores of
#' the two values around it, and beyond the ends to the score at the end. So
#' [`predict()`][predict.change_path] has to know which sample that is, as with
#' all features that are standardised within the samples; with `"pooled"` there
#' is one map for both. For this, a fit keeps the sorted values of every
#' variable, also with `kliep_control(keep_samples = FALSE)`.
#'
#' The intervals of [kliep_debias()] take the scores as given.
#'
#' @section Powers:
#' The transform comes after standardisation: with `standardize = "within"`
#' variables of different units are brought to one scale first.
#'
#' @param power The exponent \eqn{k}, positive, or `NULL` for normal scores.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @references
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197. (The basis printed there,
#' \eqn{(s_u, s_v, 1)}, has no interaction and cannot see an edge; the product
#' is the sufficient statistic.)
#' @inherit npn_transform references
#' @export
#' @examples
#' feat_nonparanormal()
#' feat_nonparanormal(power = 2)
#'
#' # No monotone transform of a variable makes a difference to normal scores.
#' set.seed(1)
#' pair <- sim_gaussian(d = 8, n = 200, n_changed = 3)
#' path <- kliep_path(pair$x, pair$y, feat_nonparanormal())
#' bent <- kliep_path(exp(pair$x), pair$y^3, feat_nonparanormal())
#' all.equal(edges(path), edges(bent))
feat_nonparanormal <- function(power = NULL) {
    if (!is.null(power)) power <- check_positive(power, "power", "features")
    product_features(
        family = "nonparanormal",
        power = if (is.null(power)) 1 else power,
        pair = matrix(c(1L, 1L), nrow = 2L),
        single = 2L,
        settings = list(power = power),
        ranks = is.null(power)
    )
}

#' Polynomial features
#'
#' Describes dependence by polynomials up to a total `degree` \eqn{k}: an edge
#' has products of those of its two variables, a variable alone its own,
#' \deqn{f_{uv}(x) = (p_i(x_u) p_j(x_v) : 1 \le i + j \le k), \qquad
#'     f_{uu}(x) = (p_1(x_u), \ldots, p_k(x_u)).}{
#'     f_uv(x) = (p_i(x_u) p_j(x_v) : 1 <= i + j <= k),
#'     f_uu(x) = (p_1(x_u), ..., p_k(x_u)).}
#' `terms = "all"` has the polynomials of each variable in every edge, too
#' (\eqn{i = 0} or \eqn{j = 0}, with \eqn{p_0 = 1}), as in the paper, so that a
#' change in one variable may be spread over its edges;
#' `terms = "interactions"` keeps in an edge only the products of both
#' variables (\eqn{i, j \ge 1}{i, j >= 1}).
#'
#' Coefficients of an edge are penalised together: it is detected with all of
#' them or not at all, and its weight is their norm.
#'
#' @section Basis:
#' With `basis = "raw"` \eqn{p_i(x) = x^i}{p_i(x) = x^i}, as in the paper.
#' Fourth powers of standardised variables are then far larger than products,
#' and heavy tails make them larger still, so that the norm of an edge mostly
#' measures its powers.
#'
#' With `basis = "orthonormal"` the \eqn{p_i}{p_i} are orthonormal over the
#' (standardised) observations of both samples together, for every variable by
#' itself: \eqn{p_i}{p_i} has mean zero and mean square one, and no correlation
#' with those of other degrees. Products of independent variables are
#' orthonormal then, and a change counts by its size and not by its degree. Each
#' is multiplied by \eqn{0.8^{(i - 1)^2}}{0.8^((i - 1)^2)}: the product of two
#' variables weighs most, \eqn{p_2 p_2} 0.64 of it and \eqn{p_1 p_3} 0.41. The
#' weights were found on [sim_genes()], [sim_diamond()] and [sim_gaussian()];
#' `make bench ONLY=features` in the source tree judges them on other samples
#' and generators: no worse than powers on any, as good as
#' [feat_nonparanormal()] on networks of 13 genes, and behind it with 50 genes
#' and on monotone transforms of Gaussian data. A variable with no more values
#' than the degree has fewer polynomials, and zero in the place of the others.
#'
#' Coefficients are those of the weighted polynomials, and called
#' `p2(A)*p1(B)` where the raw ones are `A^2*B`. Every resample has its own
#' polynomials; new observations get those of the fit, which `$recurrence`
#' stores.
#'
#' @param degree The total degree \eqn{k}: a whole number from 2 to 100.
#' @param terms `"all"` products or the `"interactions"` alone.
#' @param basis `"orthonormal"` polynomials, or powers (`"raw"`).
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @inherit kliep_path references
#' @export
#' @examples
#' feat_polynomial(degree = 3)
#' feat_polynomial(degree = 4, terms = "interactions")
#' feat_polynomial(degree = 4, basis = "raw")
feat_polynomial <- function(degree = 4, terms = c("all", "interactions"),
                            basis = c("orthonormal", "raw")) {
    degree <- as.integer(check_whole(degree, "degree", "features", least = 2,
                                     most = 100))
    terms <- check_choice(terms, "terms", c("all", "interactions"))
    basis <- check_choice(basis, "basis", c("orthonormal", "raw"))
    pair <- rbind(rep(0:degree, each = degree + 1L), 0:degree)
    least <- if (terms == "all") 0L else 1L
    used <- colSums(pair) >= 1L & colSums(pair) <= degree &
        pair[1L, ] >= least & pair[2L, ] >= least
    product_features(
        family = "polynomial",
        power = 1,
        pair = pair[, used, drop = FALSE],
        single = seq_len(degree),
        # The default is not printed.
        settings = list(degree = degree, terms = terms,
                        basis = if (basis == "raw") basis),
        weights = if (basis == "orthonormal") polynomial_weights(degree)
    )
}

# The product of two variables must weigh more than higher terms, which are as
# noisy and change less often. Below the smallest weight, the scores of a high
# degree would be lost in rounding.
polynomial_weights <- function(degree) {
    pmax(0.8^((seq_len(degree) - 1)^2), 1e-3)
}

#' Ising features
#'
#' Describes an Ising network, for variables with two values: an edge has the
#' product of its two variables, a variable alone has no feature,
#' \deqn{f_{uv}(x) = x_u x_v, \qquad x_u \in \{-1, +1\}.}{
#'     f_uv(x) = x_u x_v,  x_u in {-1, +1}.}
#' This is the family to use for binary data, be it coded 0/1, -1/+1, `FALSE`
#' and `TRUE`, or as factors or text with two values. Each column is recoded
#' to -1 (the smaller value, or the first level) and +1, the same in both
#' samples, and not standardised unless asked for. The square of a variable
#' would be constant, so there is none.
#'
#' The coefficient of an edge is the difference of the couplings,
#' \eqn{\theta_{uv} = \theta^P_{uv} - \theta^Q_{uv}}{theta_uv =
#' theta_P,uv - theta_Q,uv}, in the -1/+1 coding; exchanging the two values of
#' one variable reverses the sign of its edges.
#'
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' feat_ising()
#' set.seed(1)
#' x <- data.frame(a = rbinom(80, 1, 0.5), b = rbinom(80, 1, 0.5))
#' y <- transform(x, b = ifelse(runif(80) < 0.8, a, 1 - a))
#' edges(kliep_change(x, y, feat_ising(), lambda2 = 0.1))
feat_ising <- function() {
    product_features(
        family = "ising",
        power = 1,
        pair = matrix(c(1L, 1L), nrow = 2L),
        single = integer(),
        standardize = "none"
    )
}

#' Radial features
#'
#' Describes an edge by one feature, which falls with the distance of its two
#' variables,
#' \deqn{f_{uv}(x) = e^{-(x_u - x_v)^2 / (2 \sigma^2)};}{
#'     f_uv(x) = exp(-(x_u - x_v)^2 / (2 sigma^2));}
#' a variable alone has none. It sees whether two variables stay close to each
#' other, whatever the shape of their dependence. With no features of single
#' variables, a change in the spread of one variable may show in its edges:
#' after `standardize = "within"` both samples have the same variances.
#'
#' The features of all edges are kept in memory during a fit: 8 bytes for
#' each pair of variables and observation (of `y` for `direction = "p/q"`). A
#' fit that would need more than is free stops before it starts.
#'
#' @param sigma The width \eqn{\sigma}{sigma}, positive, in units of the
#'   standardised variables.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' feat_rbf(sigma = 0.5)
feat_rbf <- function(sigma = 1) {
    sigma <- check_positive(sigma, "sigma", "features")
    new_features("rbf", "rbf", list(sigma = sigma), sigma = sigma)
}

#' Features of your own
#'
#' Describes edges by any function of two variables, and variables alone by any
#' function of one,
#' \deqn{f_{uv}(x) = \mathtt{pair}(x_u, x_v), \qquad
#'     f_{uu}(x) = \mathtt{single}(x_u).}{
#'     f_uv(x) = pair(x_u, x_v),  f_uu(x) = single(x_u).}
#'
#' The functions get the (standardised) values of all observations at once
#' and return a number for each, or a matrix with one row for each and several
#' features in columns, whose names label the coefficients. They must treat
#' every observation by itself, since the fitted ratio is evaluated at new
#' ones by [`predict()`][predict.change_path]; this is tried on the first pair.
#' A constant feature has no effect and cannot be detected.
#'
#' They are called once for every pair and variable, before the fit, and their
#' values are kept: 8 bytes for each feature and observation, about three times
#' over. A fit that would need more than is free stops before it starts. The
#' product families ([feat_gaussian()], [feat_nonparanormal()],
#' [feat_polynomial()]) keep nothing and reach far more variables.
#'
#' @param pair A function of two numeric vectors, the values of `from` and `to`.
#' @param single A function of one numeric vector, or `NULL` for no features of
#'   variables alone.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 8, n = 300, n_changed = 3)
#' # Products of ranks within -1 to 1, say, for heavy tails.
#' squash <- function(a) a / (1 + abs(a))
#' features <- feat_custom(
#'     pair = function(a, b) squash(a) * squash(b),
#'     single = function(a) squash(a)^2
#' )
#' features
#' edges(kliep_change(pair$x, pair$y, features, lambda2 = 0.05))
feat_custom <- function(pair, single = NULL) {
    pair <- check_function(pair, "pair")
    if (!is.null(single)) single <- check_function(single, "single")
    new_features("custom", "custom", list(), functions = list(pair = pair,
                                                              single = single))
}

#' Features of larger cliques
#'
#' Describes dependence among sets of variables, not only pairs: the factor of a
#' set
#' \eqn{C} has the features \eqn{f_C(x) = \mathtt{fun}(x_C)}{f_C(x) =
#' fun(x_C)}, by default the product of its variables,
#' \eqn{\prod_{u \in C} x_u}{prod(x_u : u in C)}.
#'
#' A change of a factor is a change of every edge within its set. So
#' [edges()] and the matrix of [coef()] give for each pair of variables the
#' norm of the coefficients of all detected sets that contain it (with its
#' sign, where there can be only one), and `coef(type = "table")` lists the
#' sets themselves. `penalty_factor` takes one number, or one for each set.
#'
#' @param cliques A list of index sets: names of variables, or column numbers.
#' @param fun A function of a numeric matrix with one row for each observation
#'   and one named column for each variable of the set, which returns a number
#'   for each row, or a matrix with one row for each and several features in
#'   columns. As for [feat_custom()], it must treat every row by itself.
#' @return A feature specification for [kliep_path()] and [kliep_change()].
#' @export
#' @examples
#' feat_cliques(list(c("a", "b"), c("a", "b", "c")))
#' # All sets of three of four variables.
#' feat_cliques(utils::combn(4, 3, simplify = FALSE))
feat_cliques <- function(cliques, fun = NULL) {
    cliques <- check_cliques(cliques)
    named <- !is.null(fun)
    fun <- if (named) check_function(fun, "fun") else row_products
    new_features("cliques", "cliques", list(), cliques = cliques, fun = fun,
                 default = !named)
}

row_products <- function(z) Reduce(`*`, asplit(z, 2L))
