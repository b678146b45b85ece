# Which edges changed: every edge tested given a support that takes up what
# has changed, with a null from shuffles.
#
# With D the difference of the precision matrices (y less x) of two samples
# standardised one by one, G(D) = sym(S_x D S_y) - (S_x - S_y) is zero at the
# truth. It is solved on the factors that one step of the path selects, and
# every edge is tested by what is left of its own equation.

# ---- all of it -------------------------------------------------------------

# The edges that changed at a false discovery rate of `fdr`, none where the
# test of any change at all has a p-value above it. Both orders of the samples
# give the same numbers with opposite signs: they are brought into one order.
find_changes <- function(x, y, fdr = 0.1, shuffles = 49L,
                          control = kliep_control(), progress = FALSE) {
    samples <- check_samples(x, y, least = 10L)
    check_constant(samples, "within")
    fdr <- check_fraction(fdr, "fdr")
    control <- check_control(control)
    check_score_memory(samples)
    turned <- comes_second(samples$x, samples$y)
    if (turned) samples[c("x", "y")] <- samples[c("y", "x")]
    draw <- function(name) if (progress) progress_bar(name)
    null <- shuffle_null(samples, shuffles, control, draw("Shuffling"))
    path <- screening_path(samples, control)
    # A support that holds less than what is found at .1 leaves changes out.
    chosen <- choose_support(score_given(samples, null, control, max(fdr, 0.1)),
                             path, null)
    near <- neighbour_tests(samples, control, draw("Regressing"))
    near$p_value <- p_from_null(near$moderated$z, null)
    edges <- edge_table(samples, chosen, near, if (turned) -1 else 1)
    global <- global_p_value(null)
    edges$changed <- global <= fdr & edges$q_value <= fdr
    list(edges = edges, global = global, fdr = fdr,
         support = chosen$support, null = null,
         diagnostics = score_diagnostics(chosen, near))
}

# One row for each edge. Outside of the support the estimate is one step from
# zero, which is where the support has it.
edge_table <- function(samples, chosen, near, sign) {
    pairs <- pair_from_index(seq_along(chosen$p_value))
    tests <- chosen$tests
    moderated <- tests$moderated
    inside <- match(pair_key(pairs), pair_key(chosen$support), 0L) > 0L
    combined <- combine_p_values(chosen$p_value, near$p_value)
    # Regressions give them the sign of the precision matrix.
    partial <- lapply(near[c("partial_x", "partial_y")], `-`)
    if (sign < 0) partial <- rev(partial)
    data.frame(
        from = samples$variables[pairs$from],
        to = samples$variables[pairs$to],
        estimate = sign * tests$numerator / tests$information,
        se = sqrt(moderated$variance) / tests$information,
        z = sign * moderated$z,
        p_value = chosen$p_value,
        p_nodewise = near$p_value,
        p_combined = combined,
        q_value = stats::p.adjust(combined, "BH"),
        in_support = inside,
        partial_x = partial[[1L]],
        partial_y = partial[[2L]]
    )
}

# `df` and `prior`: degrees of freedom of one variance by itself and those it
# gains from the others; `common`: the variance in units of a Gaussian's.
score_diagnostics <- function(chosen, near) {
    of <- function(moderated) unlist(moderated[c("df", "prior", "common")])
    list(direct = of(chosen$tests$moderated), nodewise = of(near$moderated),
         support_size = nrow(chosen$support), steps = chosen$steps,
         delta = near$delta)
}

# Whether `x` comes after `y` in an order that does not depend on which is
# called what: the larger sample first, and of two equally large ones the one
# with the larger value where they first differ.
comes_second <- function(x, y) {
    if (nrow(x) != nrow(y)) return(nrow(x) < nrow(y))
    differ <- which(x != y)
    length(differ) > 0L && x[differ[1L]] < y[differ[1L]]
}

# Per edge a dozen numbers in Rust and in R, and some matrices.
check_score_memory <- function(samples) {
    d <- length(samples$variables)
    check_memory(
        300 * d * (d - 1) / 2 + 100 * (nrow(samples$x) + nrow(samples$y)) * d,
        paste("Tests of all edges of", count_of(d, "variable")),
        hint = "Use fewer variables."
    )
}

pair_key <- function(pairs) (pairs$to - 1) * pairs$to / 2 + pairs$from

# ---- tests given a support -------------------------------------------------

# `support` has columns `from` <= `to`, numbers of variables; a variable alone
# is a factor, too. NULL where the samples cannot tell its factors apart.
score_edges <- function(samples, support, control, on_progress = NULL) {
    rust_score_edges(samples$x, samples$y,
                     list(from = as.integer(support$from),
                          to = as.integer(support$to)),
                     control$threads, on_progress)
}

no_factors <- function() data.frame(from = integer(), to = integer())

# ---- the null --------------------------------------------------------------

# |z| of all edges at the empty support over all shuffles, sorted; where these
# are more than a million, sorted from 2 upwards and counted in bins below.
# `largest` and `squares` are the maximum of |z| and the sum of squares of each
# shuffle, `observed` both for the samples as they are.
shuffle_null <- function(samples, shuffles, control, on_progress = NULL) {
    drawn <- draw_shuffles(nrow(samples$x), nrow(samples$y), shuffles,
                           alike = TRUE)
    rust_shuffle_null(samples$x, samples$y, do.call(cbind, drawn),
                      control$threads, on_progress)
}

# The share of the null that is at least as far from zero, the test itself
# counted. Beyond what shuffles have seen, the tail of a normal that is
# stretched to agree where one in 10,000 lies.
p_from_null <- function(z, null) {
    size <- abs(z)
    p <- (null_beyond(size, null) + 1) / (null$count + 1)
    order <- ceiling(null$count * (1 - c(1e-4, 1e-5)))
    at <- null_order(null, order)
    stretch <- at[1L] / stats::qnorm(1 - 0.5e-4)
    far <- size > at[2L]
    p[far] <- pmin(p[far],
                   pmax(2 * stats::pnorm(-size[far] / stretch), 1e-300))
    p
}

# How many values of the null are at least this large.
null_beyond <- function(size, null) {
    tail <- length(null$tail)
    beyond <- tail - findInterval(size, null$tail, left.open = TRUE)
    low <- size < null$tail_from
    if (!any(low)) return(beyond)
    below <- c(0, cumsum(null$bins))
    edges <- seq(0, null$tail_from, length.out = length(below))
    less <- stats::approx(edges, below, size[low])$y
    replace(beyond, low, null$count - less)
}

# The values of the null at these places in its order.
null_order <- function(null, order) {
    in_bins <- null$count - length(null$tail)
    low <- order <= in_bins
    value <- numeric(length(order))
    value[!low] <- null$tail[order[!low] - in_bins]
    if (!any(low)) return(value)
    below <- c(0, cumsum(null$bins))
    edges <- seq(0, null$tail_from, length.out = length(below))
    value[low] <- stats::approx(below, edges, order[low], ties = "ordered")$y
    value
}

null_quantile <- function(null, level) {
    place <- 1 + (null$count - 1) * level
    ends <- null_order(null, c(floor(place), ceiling(place)))
    ends[1L] + (place - floor(place)) * (ends[2L] - ends[1L])
}

# Whether anything has changed at all, by the largest test and by the sum of
# squares of all; exact where the samples are exchangeable.
global_p_value <- function(null) {
    rank <- function(shuffled, observed) {
        (1 + sum(shuffled >= observed)) / (length(shuffled) + 1)
    }
    min(1, 2 * min(rank(null$largest, null$observed[1L]),
                   rank(null$squares, null$observed[2L])))
}

# ---- which support ---------------------------------------------------------

# Supports come from here. A selection that takes in too much makes a good
# screen.
screening_path <- function(samples, control) {
    suppressWarnings(classes = "kliep_warning", kliep_path(
        samples$x, samples$y, lambda1 = 0.1, direction = "symmetric",
        normalizer = "gaussian", nlambda = 60L, control = control
    ))
}

# Sizes that are tried, in edges.
support_sizes <- c(0, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 60,
                   75, 90, 110, 130, 155, 180, 210, 240)

# The factors of the last step with at most `size` edges.
path_support <- function(path, size) {
    if (size == 0) return(no_factors())
    step <- max(which(path$diagnostics$n_edges <= size), 1L)
    at <- path$coefficients$step == step & path$coefficients$value != 0
    found <- unique(path$coefficients[at, c("from", "to")])
    data.frame(from = pmin(found$from, found$to),
               to = pmax(found$from, found$to))
}

# Too small a support leaves changes out, and their neighbours look changed:
# they are found, or the z of all edges spread. Too large a one costs power, and
# estimates of what it took in by chance are the tests most often wrong. So it
# is the first on the path with nothing found outside, or with the bulk of all z
# that of the null. `given` has the tests given a support, the factors that are
# tested by number, the most edges of a support, and whether there are enough
# edges for the bulk of them to tell.
choose_support <- function(given, path, null) {
    cut <- null_quantile(null, 0.95)
    best <- NULL
    for (size in support_sizes[support_sizes <= given$most]) {
        support <- path_support(path, size)
        if (!is.null(best) && nrow(support) == nrow(best$support)) next
        now <- given$test(support)
        # Factors that depend on each other end the search.
        if (is.null(now)) break
        now$steps <- c(best$steps, nrow(now$support))
        best <- now
        bulk <- abs(best$z[!best$found])
        closed <- !any(found_outside(best, given))
        quiet <- given$bulk && sum(bulk > cut) <= 0.05 * length(bulk)
        if (closed || quiet) break
    }
    close_support(given, best)
}

score_given <- function(samples, null, control, level = 0.1) {
    list(
        most = max(1, 0.75 * min(nrow(samples$x), nrow(samples$y))),
        test = function(support) {
            test_support(samples, support, null, control, level)
        },
        pairs = pair_from_index,
        bulk = TRUE
    )
}

# Which of the edges found are not in the support.
found_outside <- function(best, given) {
    found <- given$pairs(which(best$found))
    !(pair_key(found) %in% pair_key(best$support))
}

# The tests given a support, and what they find.
test_support <- function(samples, support, null, control, level) {
    tests <- score_edges(samples, support, control)
    if (is.null(tests)) return(NULL)
    z <- tests$moderated$z
    p_value <- p_from_null(z, null)
    list(support = support, tests = tests, z = z, p_value = p_value,
         found = stats::p.adjust(p_value, "BH") <= level)
}

# What is found outside the support belongs in it: left out, it makes its
# neighbours look changed, the more so the larger the samples are.
close_support <- function(given, best) {
    for (round in 1:6) {
        found <- which(best$found)
        pairs <- given$pairs(found)
        new <- found_outside(best, given)
        if (!any(new)) break
        first <- order(best$p_value[found[new]])
        first <- utils::head(first, max(10, ceiling(sum(new) / 2)))
        support <- rbind(best$support, pairs[new, , drop = FALSE][first, ])
        now <- given$test(support)
        if (is.null(now)) break
        now$steps <- c(best$steps, nrow(now$support))
        best <- now
    }
    best
}

# ---- the other test --------------------------------------------------------

# Debiased partial correlations by regressions of every variable on the
# others. The penalty is the one of `deltas` whose z have the tails of a normal.
# With few observations they have more beyond, and the shuffled null of the
# other test, which is wider than a normal too, serves them better.
neighbour_tests <- function(samples, control, on_progress = NULL,
                            deltas = seq(2, 0.4, by = -0.2)) {
    tests <- rust_neighbour_tests(samples$x, samples$y, deltas,
                                  control$threads, on_progress)
    tests$delta <- deltas[tests$chosen]
    tests
}

# Two p-values of one edge by their Cauchy combination, which holds whatever
# their dependence (Liu and Xie, 2020).
combine_p_values <- function(p, q) {
    cauchy <- function(p) {
        tan((0.5 - pmin(pmax(p, 1e-15), 1 - 1e-15)) * pi)
    }
    0.5 - atan((cauchy(p) + cauchy(q)) / 2) / pi
}
