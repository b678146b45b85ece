# Which edges changed: every edge is tested given a support that contains the
# changed factors, with a null distribution from shuffles.
#
# With D the difference of the precision matrices (y minus x) of two samples,
# G(D) = sym(S_x D S_y) - (S_x - S_y) is zero at the truth. It is solved on the
# factors that one step of the path selects, and every edge is tested by the
# residual of its own equation.
#
# Each variable is in units of its residual standard deviation given the others.
# In these units D is a difference of partial correlations. In units of the
# standard deviation itself, unchanged edges next to a changed one differ, too.

# ---- all of it -------------------------------------------------------------

# The edges that changed at a false discovery rate of `fdr`, none where the
# test of any change at all has a p-value above it. `design` says which
# observations belong together.
find_changes <- function(x, y, fdr = 0.1, shuffles = 49L,
                          control = kliep_control(), progress = FALSE,
                          design = NULL) {
    find_all_changes(list(as_contrast(x, y, design)), fdr, shuffles, control,
                     progress)[[1L]]
}

# The same in several contrasts, whose samples may be the same ones: what
# depends on a sample alone is computed once.
find_all_changes <- function(contrasts, fdr, shuffles, control,
                             progress = FALSE) {
    fdr <- check_fraction(fdr, "fdr")
    control <- check_control(control)
    check_score_memory(contrasts[[1L]], length(contrasts))
    draw <- progress_bars(progress)
    near <- regress_contrasts(contrasts, control, draw("Regressing"))
    bulk <- once_each(samples_in(contrasts), bulk_of)
    changes <- vector("list", length(contrasts))
    for (k in seq_along(contrasts)) {
        own <- list(near = near[[k]], bulk = bulk[2L * k - 1:0])
        changes[[k]] <- changes_in(contrasts[[k]], own, fdr, shuffles, control,
                                   progress)
        # One of many edges takes as much memory as its result.
        near[k] <- list(NULL)
    }
    changes
}

# The two samples of a contrast, checked. Both orders give the same numbers with
# opposite signs: they are brought into one order.
as_contrast <- function(x, y, design = NULL) {
    samples <- check_samples(x, y, least = 10L)
    samples$design <- design
    check_constant(samples, "within", none = FALSE)
    turned <- comes_second(samples$x, samples$y)
    if (turned) samples <- turn_samples(samples)
    c(samples, list(turned = turned))
}

# Of all contrasts, x before y.
samples_in <- function(contrasts) {
    unlist(lapply(contrasts, function(one) unname(one[c("x", "y")])),
           recursive = FALSE)
}

# `work` of all samples, done once for those that are equal.
once_each <- function(samples, work) {
    place <- first_places(samples)
    lapply(samples[!duplicated(place)], work)[match(place, unique(place))]
}

# Where the first sample is that equals each.
first_places <- function(samples) {
    place <- integer(length(samples))
    for (k in seq_along(samples)) {
        known <- unique(place[seq_len(k - 1L)])
        same <- vapply(samples[known], identical, NA, samples[[k]])
        place[k] <- c(known[same], k)[1L]
    }
    place
}

# `own` has what is known of the samples: `near`, the regressions of a contrast,
# and `bulk`, that of both.
changes_in <- function(samples, own, fdr, shuffles, control, progress) {
    draw <- progress_bars(progress)
    null <- shuffle_null(samples, shuffles, control, draw("Shuffling"),
                         own$bulk)
    near <- settle_neighbours(own$near, control, layout_of(samples)$added)
    # A support that is smaller than what is found at a rate of 0.1 leaves
    # changes out.
    found <- find_support(samples, near, null, control, max(fdr, 0.1), progress)
    near$p_value <- p_from_null(near$z, null)
    chosen <- found$chosen
    edges <- edge_table(samples, chosen, near, if (samples$turned) -1 else 1)
    global <- global_p_value(null)
    edges$changed <- global <= fdr & edges$q_value <= fdr
    list(edges = edges, global = global, fdr = fdr,
         support = chosen$support, null = null,
         diagnostics = score_diagnostics(chosen, near))
}

# The node-wise tests of two samples (`near`), by which they are scaled, and the
# tests given the support that was chosen (`chosen`).
find_support <- function(samples, near, null, control, level,
                         progress = FALSE) {
    layout <- layout_of(samples)
    scaled <- near[c("x", "y")]
    path <- screening_path(scaled, control, progress)
    given <- score_given(scaled, null, control, level, layout)
    chosen <- choose_support(given, path, null)
    chosen$p_value <- p_from_null(chosen$z, null)
    list(near = near, chosen = chosen, layout = layout)
}

# One row for each edge. Outside of the support the estimate is one step from
# zero, which is where the support has it.
edge_table <- function(samples, chosen, near, sign) {
    pairs <- pair_from_index(seq_along(chosen$p_value))
    tests <- chosen$tests
    inside <- match(pair_key(pairs), pair_key(chosen$support), 0L) > 0L
    combined <- combine_p_values(chosen$p_value, near$p_value)
    # Regressions give them the sign of the precision matrix.
    partial <- lapply(near[c("partial_x", "partial_y")], `-`)
    if (sign < 0) partial <- rev(partial)
    data.frame(
        from = samples$variables[pairs$from],
        to = samples$variables[pairs$to],
        estimate = sign * tests$numerator / tests$information,
        se = chosen$se,
        z = sign * chosen$z,
        p_value = chosen$p_value,
        p_nodewise = near$p_value,
        p_combined = combined,
        q_value = stats::p.adjust(combined, "BH"),
        in_support = inside,
        partial_x = partial[[1L]],
        partial_y = partial[[2L]],
        se_nodewise = near$se
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

check_score_memory <- function(samples, contrasts = 1) {
    d <- length(samples$variables)
    check_memory(
        # The regressions of all other contrasts are there meanwhile.
        score_bytes(samples) + 80 * (contrasts - 1) * d * (d - 1) / 2,
        paste("Tests of all edges of", count_of(d, "variable")),
        hint = "Use fewer variables."
    )
}

# Per edge a dozen numbers in Rust and in R, and some matrices.
score_bytes <- function(samples) {
    d <- length(samples$variables)
    300 * d * (d - 1) / 2 + 100 * (nrow(samples$x) + nrow(samples$y)) * d
}

pair_key <- function(pairs) (pairs$to - 1) * pairs$to / 2 + pairs$from

# ---- tests given a support -------------------------------------------------

# `scaled` has for each sample its `values` and the `squares` (mean 1) by which
# their scales were estimated. `support` has columns `from` <= `to`, numbers of
# variables; a variable alone is a factor, too. NULL where the samples cannot
# tell its factors apart.
score_edges <- function(scaled, support, control, on_progress = NULL,
                        units = NULL) {
    rust_score_edges(scaled$x, scaled$y,
                     list(from = as.integer(support$from),
                          to = as.integer(support$to)),
                     control$threads, on_progress, units)
}

no_factors <- function() data.frame(from = integer(), to = integer())

# ---- the null --------------------------------------------------------------

# |z| of all edges at the empty support over all shuffles, sorted; where these
# are more than a million, sorted from 2 upwards and counted in bins below.
# `largest` and `squares` are the maximum of |z| and the sum of squares of each
# shuffle, `observed` both for the samples as they are.
shuffle_null <- function(samples, shuffles, control, on_progress = NULL,
                         bulk = lapply(samples[c("x", "y")], bulk_of)) {
    layout <- layout_of(samples)
    drawn <- draw_layout_shuffles(layout, shuffles, alike = TRUE)
    aligned <- align_bulks(bulk)
    rust_shuffle_null(aligned$x, aligned$y, shuffled_rows(layout, drawn),
                      control$threads, on_progress, layout$added)
}

# The share of the null that is at least as far from zero, the test itself
# counted. Beyond what shuffles have seen, the tail of a normal that is
# stretched to agree where one in 10,000 lies, or the tenth largest: the largest
# by itself may lie anywhere. While a support is looked for only those up to
# `most` matter, and the others may be 1.
p_from_null <- function(z, null, most = 1) {
    size <- abs(z)
    if (most < 1) {
        least <- null_order(null, max(1, floor(null$count * (1 - most))))
        p <- rep(1, length(size))
        small <- which(size >= least)
        p[small] <- p_from_null(size[small], null)
        return(p)
    }
    p <- (null_beyond(size, null) + 1) / (null$count + 1)
    share <- max(1e-4, min(0.5, 10 / null$count))
    order <- ceiling(null$count * (1 - c(share, 1e-5)))
    at <- null_order(null, order)
    stretch <- at[1L] / stats::qnorm(1 - share / 2)
    far <- size > at[2L]
    p[far] <- pmin(p[far],
                   pmax(2 * stats::pnorm(-size[far] / stretch), 1e-300))
    p
}

# How many values of the null are at least this large.
null_beyond <- function(size, null) {
    beyond <- numeric(length(size))
    high <- size >= null$tail_from
    # Sizes in order are found from one to the next, which is twice as fast.
    large <- size[high]
    order <- order(large)
    large[order] <- length(null$tail) -
        findInterval(large[order], null$tail, left.open = TRUE)
    beyond[high] <- large
    if (all(high)) return(beyond)
    # Bins are equally wide: the place among their edges needs no search.
    place <- size[!high] / null$tail_from * length(null$bins)
    bin <- pmin(floor(place), length(null$bins) - 1)
    below <- c(0, cumsum(null$bins))
    less <- below[bin + 1] + (place - bin) * null$bins[bin + 1]
    replace(beyond, !high, null$count - less)
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
# squares of all. The better of both ranks is ranked among those of the
# shuffles, which accounts for the choice between two tests; exact where the
# samples are exchangeable.
global_p_value <- function(null) {
    # Equal values must stay equal in spite of rounding.
    place <- function(values) rank(-signif(values, 10L), ties.method = "max")
    largest <- place(c(null$observed[1L], null$largest))
    squares <- place(c(null$observed[2L], null$squares))
    # Of equal ones the one with the better other rank comes first.
    best <- pmin(largest, squares) +
        pmax(largest, squares) / (2 * length(largest))
    mean(best <= best[1L])
}

# What is left of a z where the variances of both samples, of `n` observations
# each, lose a degree of freedom for every coefficient that was fitted to the
# variables of its edge.
freedom_left <- function(lost_x, lost_y, n) {
    share <- function(lost, n) 1 / (n - pmin(lost, n / 2))
    sqrt(sum(1 / n) / (share(lost_x, n[1L]) + share(lost_y, n[2L])))
}

# The same where each edge loses what was `fitted` at both of its variables.
# These are few numbers, and each is looked up for many edges.
left_of_edges <- function(fitted, edges, n) {
    lost <- seq(0, 2 * max(fitted, 0))
    freedom_left(lost, lost, n)[fitted[edges$from] + fitted[edges$to] + 1L]
}

# How many independent observations both samples are worth.
effective_sizes <- function(scaled, units, control) {
    n <- c(nrow(scaled$x$values), nrow(scaled$y$values))
    if (is.null(units)) return(n)
    variance <- function(units) {
        score_edges(scaled, no_factors(), control, units = units)$variance
    }
    effect <- variance(units) / variance(NULL)
    c(effective_size(n[1L], units$x, effect),
      effective_size(n[2L], units$y, effect))
}

# Variances between units are larger than those of rows by as much as rows of a
# unit repeat each other: the design effect, here its median over tests. A unit
# of equal rows counts as one observation, a unit of independent rows as many.
effective_size <- function(n, units, effect) {
    min(n, max(n / stats::median(effect, na.rm = TRUE), n_distinct(units)))
}

# ---- which support ---------------------------------------------------------

# Supports come from this path. A selection that includes too many edges makes a
# good screen. The path ends with twice the edges of the largest support that is
# tried: its dense end is not needed, and would take most of the time.
screening_path <- function(scaled, control, progress = FALSE) {
    # Messages and warnings about the samples were given before.
    quietly <- function(path) {
        suppressMessages(suppressWarnings(path, classes = "kliep_warning"),
                         classes = "kliep_message")
    }
    spec <- kliep_spec(lambda1 = 0.1, direction = "symmetric",
                       normalizer = "gaussian", nlambda = 60L,
                       standardize = "none", control = control)
    found <- take_samples(scaled$x$values, scaled$y$values, list())
    most <- largest_support(nrow(scaled$x$values), nrow(scaled$y$values))
    quietly(fit_spec(spec, found, progress, NULL,
                     2 * ceiling(min(most, max(support_sizes)))))
}

# The most edges of a support, by the numbers of observations.
largest_support <- function(n_x, n_y) max(1, 0.75 * min(n_x, n_y))

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

# If a support is too small, it misses changes, and their neighbours look
# changed: they are found, or the z of all edges are too spread out. If it is
# too large, it costs power, and the tests of edges that entered it by chance
# are the ones most often wrong. So we take the first support on the path that
# has nothing found outside, or for which the bulk of all z has the spread of
# the null and no more is found outside than there is inside: where most edges
# are found, the others are not a bulk to judge by. `given` has the tests given
# a support, the numbers of the tested factors, the largest size of a support,
# and whether there are enough edges to judge by their bulk.
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
        if (is_enough(best, given, cut)) break
    }
    close_support(given, best)
}

is_enough <- function(best, given, cut) {
    outside <- sum(found_outside(best, given))
    if (outside == 0L || !given$bulk) return(outside == 0L)
    bulk <- abs(best$z[!best$found])
    quiet <- sum(bulk > cut) <= 0.05 * length(bulk)
    quiet && outside <= nrow(best$support)
}

# `layout` says how many observations, or units of them, there are.
score_given <- function(scaled, null, control, level = 0.1,
                        layout = design_layout(NULL, nrow(scaled$x$values),
                                               nrow(scaled$y$values))) {
    sizes <- effective_sizes(scaled, layout$added, control)
    edges <- edges_between(scaled)
    list(
        most = largest_support(layout$n_x, layout$n_y),
        test = function(support) {
            test_support(scaled, support, null, control, level, layout$added,
                         sizes, edges)
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

# The variables of all edges.
edges_between <- function(scaled) {
    d <- ncol(scaled$x$values)
    pair_from_index(seq_len(d * (d - 1) / 2))
}

# The tests given a support, and what they find. `edges` are the same for all
# supports.
test_support <- function(scaled, support, null, control, level, units = NULL,
                         sizes = effective_sizes(scaled, units, control),
                         edges = edges_between(scaled)) {
    tests <- score_edges(scaled, support, control, units = units)
    if (is.null(tests)) return(NULL)
    fitted <- tabulate(c(support$from, support$to), ncol(scaled$x$values))
    left <- left_of_edges(fitted, edges, sizes)
    z <- tests$moderated$z * left
    p_value <- p_from_null(z, null, most = level)
    list(support = support, tests = tests, z = z,
         se = sqrt(tests$moderated$variance) / left / tests$information,
         p_value = p_value,
         found = found_at(p_value, level))
}

# Whether stats::p.adjust(p_value, "BH") <= level. Adjusted p-values are no
# smaller than the p-values themselves, so that only those up to the level have
# to be sorted.
found_at <- function(p_value, level) {
    small <- sort(p_value[which(p_value <= level)])
    enough <- which(length(p_value) / seq_along(small) * small <= level)
    if (length(enough) == 0L) return(logical(length(p_value)))
    p_value <= small[max(enough)]
}

# Edges found outside the support belong in it: left out, they make their
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
                            deltas = penalty_steps, units = NULL) {
    tests <- regress_contrasts(list(samples), control, on_progress, deltas,
                               list(units))
    settle_neighbours(tests[[1L]], control, units)
}

# In units of sqrt(log(d) / n).
penalty_steps <- seq(2, 0.4, by = -0.2)

# The regressions of all contrasts, with the moderated tests of each at the
# penalty that was chosen for it. Equal samples are regressed once.
regress_contrasts <- function(contrasts, control, on_progress = NULL,
                              deltas = penalty_steps,
                              units = lapply(contrasts, function(one) {
                                  layout_of(one)$added
                              })) {
    samples <- samples_in(contrasts)
    place <- first_places(samples)
    number <- matrix(match(place, unique(place)), 2L)
    found <- rust_neighbour_tests(
        samples[unique(place)],
        lapply(seq_along(contrasts), function(k) {
            list(x = number[1L, k], y = number[2L, k], units = units[[k]])
        }),
        deltas, control$threads, on_progress
    )
    lapply(found$tests, function(tests) {
        tests[c("x", "y")] <- found$scaled[tests$scaled]
        tests$delta <- deltas[tests$chosen]
        tests
    })
}

# What is left of the z of a contrast by its degrees of freedom.
settle_neighbours <- function(tests, control, units = NULL) {
    pairs <- pair_from_index(seq_along(tests$partial_x))
    of_both <- function(size) (size[pairs$from] + size[pairs$to]) / 2
    tests$effective <- effective_sizes(tests[c("x", "y")], units, control)
    left <- freedom_left(of_both(tests$sizes_x), of_both(tests$sizes_y),
                         tests$effective)
    tests <- bound_partials(tests)
    tests$z <- tests$moderated$z * left
    tests$se <- sqrt(tests$moderated$variance) / left
    tests
}

# A debiased partial correlation of nearly equal variables may lie beyond one,
# and its difference from the other would be too large by the excess.
bound_partials <- function(tests) {
    before <- tests$partial_x - tests$partial_y
    bounded <- lapply(tests[c("partial_x", "partial_y")], function(values) {
        pmin(pmax(values, -1), 1)
    })
    tests[names(bounded)] <- bounded
    after <- tests$partial_x - tests$partial_y
    cut <- after != before
    tests$moderated$z[cut] <- (tests$moderated$z * after / before)[cut]
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
