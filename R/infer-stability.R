# Which edges are found again and again in halves of the samples.

#' Stability selection of changes
#'
#' Keeps the edges that are selected in most random halves of the data, with a
#' bound on how many of them are false. Both samples are split at random into
#' halves, each half selects the `q` edges that enter its path first, and every
#' edge is counted: the complementary pairs of Shah and Samworth (2013). Edges
#' whose selection probability \eqn{\hat\Pi}{Pi} reaches a threshold
#' \eqn{\tau}{tau} are kept.
#'
#' @section The bound:
#' Call an edge *unlikely* if half of the observations select it with
#' probability at most \eqn{\theta = q / p}{theta = q / p}, where \eqn{p} is the
#' number of edges: no better than guessing. The number \eqn{V} of unlikely
#' edges that are kept nevertheless satisfies (their Theorem 1)
#' \deqn{E V \le \frac{1}{2 \tau - 1} \frac{q^2}{p}, \quad
#'     \tau > \frac{1}{2},}{
#'     E V <= q^2 / ((2 tau - 1) p), tau > 1/2,}
#' whatever the data and however edges are selected: `assumption = "none"`.
#' False edges are unlikely if selecting is not worse than guessing. By default
#' (`assumption = "r-concave"`) the sharper bound of their Section 3.3 is used,
#' \deqn{E V \le p \, \min\{D(\theta^2, 2 \tau - 1, B, -1/2),\;
#'     D(\theta, \tau, 2 B, -1/4)\},}{
#'     E V <= p min{D(theta^2, 2 tau - 1, B, -1/2), D(theta, tau, 2B, -1/4)},}
#' with \eqn{D(\eta, t, B, r)} the largest \eqn{P(X \ge t)} over \eqn{r}-concave
#' distributions on \eqn{\{0, 1/B, \ldots, 1\}}{{0, 1/B, ..., 1}} with mean at
#' most \eqn{\eta}{eta}. It holds where, for each unlikely edge, the share of
#' the \eqn{B} pairs in which both halves select it is distributed in such a way
#' with \eqn{r = -1/2}, and the share of the \eqn{2B} halves with
#' \eqn{r = -1/4}: distributions that fall off smoothly, as they do in
#' practice.
#'
#' Two of `q`, `threshold` and `max_false` decide the third. Unless specified,
#' the threshold is 0.75, and `q` is the largest number of edges with which at
#' most `max_false` false ones are expected. With `q` given, the threshold is
#' the lowest that keeps to `max_false`; with both given, `max_false` is not
#' used.
#'
#' @inheritSection kliep_test Parallel, and runs that are cut off
#'
#' @param x,y The two samples, as for [kliep_path()], or a result of this
#'   package as `x`: its samples and its estimator.
#' @param spec The estimator: see [kliep_spec()].
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. And settings of [kliep_spec()] by name, which replace
#'   those of `spec`.
#' @param n_subsamples The number of halves, twice that of pairs, so even.
#' @param q How many edges each half selects, or `NULL`.
#' @param threshold The selection probability that an edge needs, above 0.5,
#'   or `NULL`.
#' @param max_false How many false edges may be expected among those kept.
#' @param assumption What the bound rests on; see the section below.
#' @param checkpoint The name of a folder to keep finished pairs in, or `NULL`.
#' @param progress Show progress? [progressr::handlers()] decides how it looks.
#'
#' @return An object of class `kliep_stability`, with [print()],
#'   [`plot()`][autoplot.kliep_stability] and [edges()], which gives the edges
#'   that are kept. Its parts:
#'   * `edges`: a data frame with one row for each edge that was ever selected:
#'     `from`, `to`, `weight` (its mean over the halves that select it, at the
#'     `lambda2` where they have selected `q`), `probability`, `simultaneous`
#'     (the share of pairs in which both halves select it) and `kept`;
#'   * `q`, `threshold`, `assumption`, and `n_edges`, the number of edges there
#'     are;
#'   * `expected_false`: the bound on the expected number of false edges kept;
#'   * `bounds`: a data frame with that bound for every `threshold`, without an
#'     assumption (`none`) and with (`r_concave`);
#'   * `path`: the path on all data, without its times;
#'   * `failures`: the pairs that failed, with `message` and `seed`.
#'
#' @references
#' Shah, R. D. and Samworth, R. J. (2013). Variable selection with error
#' control: another look at stability selection. *Journal of the Royal
#' Statistical Society, Series B* 75(1), 55--80.
#'
#' Meinshausen, N. and Bühlmann, P. (2010). Stability selection. *Journal of
#' the Royal Statistical Society, Series B* 72(4), 417--473.
#' @seealso [kliep_test()]
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, edge = 0.4, density = 0.2,
#'                      n_changed = 4, change = -0.8)
#' stable <- kliep_stability(pair$x, pair$y, n_subsamples = 40, nlambda = 20)
#' stable
#' edges(stable)
#' pair$truth
#' plot(stable)
kliep_stability <- function(x, y = NULL, spec = NULL, n_subsamples = 100,
                            q = NULL, threshold = NULL, max_false = 1,
                            assumption = c("r-concave", "none"),
                            checkpoint = NULL, progress = interactive(), ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             spec_arguments()), "kliep_stability")
    n_pairs <- check_subsamples(n_subsamples)
    progress <- check_flag(progress, "progress")
    spec <- as_spec(if (is.null(spec)) found$result else spec, found$rest)
    check_halves(as_samples(found, spec$features))
    candidates <- check_candidates(spec, list())
    ready <- prepare_candidates(candidates, found)
    path <- fit_observed(ready, candidates)[[1L]]
    design <- design_stability(
        q, threshold, max_false,
        check_choice(assumption, "assumption", c("r-concave", "none")),
        n_pairs, n_possible_edges(path)
    )
    done <- run_replicates(
        seq_len(n_pairs), name_edges, samples = ready$samples[[1L]],
        problem = ready$problems[[1L]], q = design$q,
        label = "kliep_stability()", checkpoint = checkpoint,
        progress = progress
    )
    path <- with_samples(path, ready$samples[[1L]], NULL)
    with_conditions(new_kliep_stability(done, design, path, call), found)
}

# ---- what is asked for -----------------------------------------------------

check_subsamples <- function(n_subsamples) {
    n_subsamples <- check_whole(n_subsamples, "n_subsamples", least = 2)
    check_replicates_memory(n_subsamples, 0, "n_subsamples")
    if (n_subsamples %% 2 != 0) {
        stop_kliep(
            "argument",
            paste0("`n_subsamples` must be even, as halves come in pairs: ",
                   "got ", n_subsamples, "."),
            hint = paste0("Take ", n_subsamples + 1, ".")
        )
    }
    n_subsamples / 2
}

check_halves <- function(samples) {
    n <- c(nrow(samples$x), nrow(samples$y))
    if (min(n) >= 4L) return(invisible())
    stop_kliep(
        "size",
        paste0("Halves need at least 2 observations of each sample: got ",
               n[1L], " and ", n[2L], " in all."),
        hint = "Collect more."
    )
}

# `q`, the threshold and the bound, whichever of them were given.
design_stability <- function(q, threshold, max_false, assumption, n_pairs,
                             n_edges) {
    max_false <- check_positive(max_false, "max_false")
    if (!is.null(threshold)) threshold <- check_threshold(threshold)
    if (!is.null(q)) q <- check_q(q, n_edges)
    if (is.null(q)) {
        if (is.null(threshold)) threshold <- 0.75
        q <- largest_q(threshold, max_false, assumption, n_pairs, n_edges)
    }
    bounds <- false_bounds(q, n_pairs, n_edges)
    column <- bound_column(assumption)
    if (is.null(threshold)) {
        threshold <- least_threshold(bounds, column, max_false, q)
    }
    list(q = q, threshold = threshold, assumption = assumption,
         n_pairs = n_pairs, n_edges = n_edges, bounds = bounds,
         expected_false = bounds[[column]][threshold_row(bounds, threshold)])
}

check_threshold <- function(threshold) {
    threshold <- check_number(threshold, "threshold")
    if (threshold > 0.5 && threshold <= 1) return(threshold)
    stop_kliep(
        "argument",
        paste0("`threshold` must be above 0.5 and at most 1: got ",
               format(threshold), "."),
        hint = "Between 0.6 and 0.9 the result depends little on it."
    )
}

check_q <- function(q, n_edges) {
    q <- check_whole(q, "q")
    if (q <= n_edges) return(q)
    stop_kliep("argument",
               paste0("`q` must not exceed the number of edges, ",
                      format(n_edges, big.mark = ","), ": got ",
                      format(q, big.mark = ","), "."))
}

bound_column <- function(assumption) {
    switch(assumption, none = "none", "r-concave" = "r_concave")
}

largest_q <- function(threshold, max_false, assumption, n_pairs, n_edges) {
    halves <- bound_halves(n_pairs)
    at <- threshold_row(list(threshold = halves / (2 * n_pairs)), threshold)
    bound <- function(q) {
        false_bounds(q, n_pairs, n_edges, bound_column(assumption),
                     halves[at])[[2L]]
    }
    if (bound(1) > max_false) {
        stop_kliep(
            "argument",
            paste0("No `q` keeps to max_false = ", format(max_false),
                   ": the bound on false edges is ",
                   format(bound(1), digits = 2L),
                   " with q = 1 and threshold = ", format(threshold), "."),
            hint = "Raise `max_false` or `threshold`."
        )
    }
    # The bound rises with q.
    low <- 1
    high <- n_edges
    if (bound(high) <= max_false) return(high)
    while (high - low > 1) {
        middle <- (low + high) %/% 2
        if (bound(middle) <= max_false) low <- middle else high <- middle
    }
    low
}

least_threshold <- function(bounds, column, max_false, q) {
    enough <- which(bounds[[column]] <= max_false)
    if (length(enough) > 0L) return(bounds$threshold[enough[1L]])
    stop_kliep(
        "argument",
        paste0("No threshold keeps to max_false = ", format(max_false),
               " with q = ", q, ": even at 1 the bound is ",
               format(min(bounds[[column]]), digits = 2L), "."),
        hint = "Lower `q` or raise `max_false`."
    )
}

# ---- bounds ----------------------------------------------------------------

# The expected number of unlikely edges that are kept, at most, at every
# threshold that the share of 2 * n_pairs halves can take, or at some.
false_bounds <- function(q, n_pairs, n_edges,
                         columns = c("none", "r_concave"),
                         halves = bound_halves(n_pairs)) {
    threshold <- halves / (2 * n_pairs)
    theta <- q / n_edges
    bounds <- data.frame(threshold = threshold)
    if ("none" %in% columns) {
        bounds$none <- pmin(n_edges, q * theta / (2 * threshold - 1))
    }
    if ("r_concave" %in% columns) {
        both <- r_concave_tail(theta^2, n_pairs, -1 / 2, halves - n_pairs)
        any <- r_concave_tail(theta, 2 * n_pairs, -1 / 4, halves)
        bounds$r_concave <- n_edges * pmin(both, any)
    }
    bounds
}

# More than half of the halves.
bound_halves <- function(n_pairs) seq(n_pairs + 1, 2 * n_pairs)

# A threshold between two possible values acts like the next one up.
threshold_row <- function(bounds, threshold) {
    which(bounds$threshold >= threshold - 1e-9)[1L]
}

# The largest P(X >= t / n), t of 1, ..., n, of r-concave distributions (r < 0)
# on 0, 1/n, ..., 1 with mean `mean`. It is attained where the probabilities
# are (a + i)^(1/r) for i = 0, ..., k and as much as the mean asks for at
# k + 1: one distribution for each a, so a line to search. Up to twice the mean
# nothing better than 1 is claimed.
r_concave_tail <- function(mean, n, r, t = seq_len(n)) {
    total <- mean * n
    tail <- rep(1, length(t))
    open <- which(t > ceiling(2 * total))
    if (length(open) == 0L) return(tail)
    shapes <- tail_shapes(total, n, r)
    found <- vapply(shapes, tail_of_shape, numeric(n), total = total, n = n,
                    r = r)
    found <- matrix(found, nrow = n)
    tail[open] <- vapply(t[open], function(t) {
        best <- which.max(found[t, ])
        around <- shapes[pmax(1L, pmin(best + c(-1L, 1L), length(shapes)))]
        refined <- stats::optimize(function(log_shape) {
            tail_of_shape(exp(log_shape), total, n, r)[t]
        }, log(around), maximum = TRUE, tol = 1e-8)
        max(found[t, best], refined$objective)
    }, 1)
    tail
}

# Where to begin the search: evenly, and at every a that needs no more than
# 0, ..., k for the mean, where k changes.
tail_shapes <- function(total, n, r) {
    k <- seq(floor(2 * total) + 1, n)
    low <- rep(log(1e-12), length(k))
    high <- rep(log(1e9), length(k))
    at <- matrix(0:n, length(k), n + 1L, byrow = TRUE)
    has <- at <= k
    for (halving in 1:60) {
        middle <- (low + high) / 2
        above <- shape_mean(exp(middle), at, has, r) > total
        high <- ifelse(above, middle, high)
        low <- ifelse(above, low, middle)
    }
    # With the upper end, k is still enough.
    evenly <- seq(min(high), log(1e6), length.out = 300L)
    exp(sort(unique(c(high, evenly))))
}

# The mean of the probabilities (a + i)^(1/r), i = 0, ..., k, for several: a row
# of `at` holds the i, and `has` those up to k.
shape_mean <- function(shape, at, has, r) {
    height <- has * (1 + at / shape)^(1 / r)
    rowSums(at * height) / rowSums(height)
}

# P(X >= t), t = 1, ..., n, of the distribution with this `a` and with mean
# `total` on 0, ..., n; zero if there is none.
tail_of_shape <- function(shape, total, n, r) {
    at <- 0:n
    # Relative to the first, so that no power overflows.
    height <- (1 + at / shape)^(1 / r)
    mass <- cumsum(height)
    moment <- cumsum(at * height)
    # The place of what is left over, k + 1.
    last <- sum(moment <= total * mass)
    if (last == n + 1L) return(rep(0, n))
    left <- (total * mass[last] - moment[last]) / (last - total)
    whole <- mass[last] + left
    below <- c(mass[seq_len(last)], rep(whole, n + 1L - last))
    1 - below[seq_len(n)] / whole
}

# ---- halves ----------------------------------------------------------------

# Both halves of one split: the edges that each names, as numbers.
name_edges <- function(pair, samples, problem, q) {
    rows <- if (is.null(samples$design)) {
        lapply(samples[c("x", "y")], function(sample) draw_halves(nrow(sample)))
    } else {
        draw_layout_halves(layout_of(samples))
    }
    divided <- lapply(1:2, function(half) {
        Map(function(sample, halves) sample[halves[[half]], , drop = FALSE],
            samples[c("x", "y")], rows)
    })
    lapply(refit_many(problem, divided, most_edges = q), first_edges, q = q)
}

# Of an odd number one is left out.
draw_halves <- function(n) {
    size <- n %/% 2L
    order <- sample.int(n)
    list(order[seq_len(size)], order[size + seq_len(size)])
}

# The `q` edges that enter first, the strongest first where several enter at
# once, and their weights where the last of them has entered.
first_edges <- function(path, q) {
    d <- length(path$variables)
    entries <- edge_entries(path)
    last <- sort(entries$enters, decreasing = TRUE)[min(q, nrow(entries))]
    if (nrow(entries) == 0L) return(list(named = numeric(), weight = numeric()))
    step <- match(last, path$lambda2)
    there <- edge_weights(path, step)
    at <- match(edge_key(entries, d), edge_key(there, d))
    weight <- ifelse(is.na(at), 0, there$weight[at])
    named <- order(-entries$enters, -abs(weight), entries$from, entries$to)
    named <- utils::head(named, q)
    list(named = edge_key(entries[named, ], d), weight = weight[named])
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_stability <- function(done, design, path, call) {
    pairs <- Filter(Negate(is.null), done$values)
    if (length(pairs) < design$n_pairs) {
        design <- design_stability(design$q, design$threshold, 1,
                                   design$assumption, length(pairs),
                                   design$n_edges)
    }
    table <- count_named(pairs, path$variables)
    table$kept <- table$probability >= design$threshold - 1e-9
    structure(
        class = "kliep_stability",
        list(
            edges = table,
            q = design$q,
            threshold = design$threshold,
            assumption = design$assumption,
            n_edges = design$n_edges,
            expected_false = design$expected_false,
            bounds = design$bounds,
            n_subsamples = 2 * length(pairs),
            path = path,
            failures = done$failures,
            call = call
        )
    )
}

count_named <- function(pairs, variables) {
    halves <- unlist(pairs, recursive = FALSE)
    named <- unlist(lapply(halves, `[[`, "named"))
    weight <- unlist(lapply(halves, `[[`, "weight"))
    key <- sort(unique(named))
    both <- unlist(lapply(pairs, function(pair) {
        intersect(pair[[1L]]$named, pair[[2L]]$named)
    }))
    at <- match(named, key)
    ends <- edge_ends(key, length(variables))
    count <- tabulate(at, length(key))
    table <- data.frame(
        from = variables[ends$from],
        to = variables[ends$to],
        weight = as.vector(tapply(weight, factor(at, seq_along(key)), mean)),
        probability = count / length(halves),
        simultaneous = tabulate(match(both, key), length(key)) / length(pairs)
    )
    table <- table[order(-table$probability, -table$simultaneous,
                         -abs(table$weight)), ]
    rownames(table) <- NULL
    table
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_stability <- function(x, ...) {
    c(
        paste0("<kliep_stability> by ", count_of(x$n_subsamples / 2, "pair"),
               " of halves"),
        format_head(x$path)[-1L],
        format_settings(x$path),
        paste0("  selected   ", x$q, " of ", count_of(x$n_edges, "edge"),
               " by each half"),
        paste0("  kept       ", count_of(sum(x$edges$kept), "edge"),
               " with probability ", format(x$threshold, digits = 3L),
               " or more"),
        paste0("  false      at most ", format(x$expected_false, digits = 2L),
               " expected (assumption: ", x$assumption, ")"),
        if (nrow(x$failures) > 0L)
            paste0("  failed     ", count_of(nrow(x$failures), "pair"),
                   ", left out")
    )
}

#' @export
print.kliep_stability <- function(x, most = 10L, ...) {
    cat(format(x), sep = "\n")
    print_kept(edges(x), most)
    cat("\nNext: edges(), plot(), $edges for all that were selected, $bounds\n")
    invisible(x)
}
