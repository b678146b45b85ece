# Which edges changed, where values are missing: the tests of complete samples
# on rows with the moments of all pairs, with the variance that each edge has
# from its own observations.

# As find_closed_changes(). The statistics at the empty support are those of the
# observations themselves: the difference of two correlations over the root of
# its variance, which counts the rows where both variables are known, and those
# where one is for the scales. Given a support, the statistics come from rows
# drawn to have the same moments, and are multiplied by the ratio of the two
# standard errors at the empty support.
find_pairwise_changes <- function(samples, spec, fdr, n_perm, progress) {
    if (!is.null(samples$design)) refuse_pairwise_design()
    turned <- comes_second(filled(samples$x), filled(samples$y))
    if (turned) samples <- turn_samples(samples)
    ready <- pairwise_samples(samples, spec$features, "within")
    draw <- progress_bars(progress)
    null <- pairwise_null(ready, n_perm, draw("Shuffling"))
    drawn <- rows_for_pairs(ready, samples$variables)
    near <- neighbour_tests(drawn, spec$control, draw("Regressing"))
    ratio <- error_ratio(ready, drawn)
    near$z <- near$z * ratio
    near$se <- near$se / ratio
    near$p_value <- p_from_null(near$z, null)
    scaled <- near[c("x", "y")]
    path <- screening_path(scaled, spec$control, progress)
    given <- score_given(scaled, null, spec$control, max(fdr, 0.1))
    given$test <- scaled_test(given$test, ratio, null, max(fdr, 0.1))
    chosen <- choose_support(given, path, null)
    edges <- edge_table(samples, chosen, near, if (turned) -1 else 1)
    global <- global_p_value(null)
    edges$changed <- global <= fdr & edges$q_value <= fdr
    # Both look at whole observations.
    edges[c("shift", "q_beyond")] <- NA_real_
    list(edges = edges, global = global, fdr = fdr, support = chosen$support,
         null = null, diagnostics = score_diagnostics(chosen, near))
}

filled <- function(values) replace(values, is.na(values), 0)

refuse_pairwise_design <- function() {
    stop_kliep(
        "design",
        paste("`na = \"pairwise\"` compares samples without strata, units and",
              "pairs."),
        hint = "`na = \"impute\"` completes observations first."
    )
}

# Tests given a support, with the errors of each edge's own observations.
scaled_test <- function(test, ratio, null, level) {
    force(test)
    function(support) {
        now <- test(support)
        if (is.null(now)) return(NULL)
        now$z <- now$z * ratio
        now$se <- now$se / ratio
        now$p_value <- p_from_null(now$z, null)
        now$found <- stats::p.adjust(now$p_value, "BH") <= level
        now
    }
}

# Rows of a Gaussian with the moments of all pairs, as many as pairs have on
# average.
rows_for_pairs <- function(ready, variables) {
    rows <- lapply(ready[c("x", "y")], function(part) {
        own <- pairwise_moments(part)
        at <- upper.tri(own$n)
        rows_with_moments(positive_definite(own$moments),
                          round(mean(own$n[at])))
    })
    c(rows, list(variables = variables))
}

# The standard error of every difference of correlations, from rows drawn to
# have the same moments in units of that from the observations.
error_ratio <- function(ready, drawn) {
    variance <- function(parts) {
        rust_moderate_tests(correlation_tests(parts$x, parts$y))$variance
    }
    sqrt(variance(drawn) / variance(ready))
}

# ---- correlations ----------------------------------------------------------

# For all edges the difference of correlations of two samples with gaps, its
# variance, that for Gaussian data, and the degrees of freedom of the first.
correlation_tests <- function(x, y) {
    a <- correlation_moments(standardize_known(x))
    b <- correlation_moments(standardize_known(y))
    upper <- upper.tri(a$r)
    variance <- (a$variance + b$variance)[upper]
    fourth <- (a$fourth + b$fourth)[upper]
    rows <- (a$n + b$n)[upper]
    list(
        numerator = (a$r - b$r)[upper], variance = variance,
        model = (1 + a$r * b$r)[upper] * (1 / a$n + 1 / b$n)[upper],
        freedom = 2 * variance^2 / pmax(fourth - 2 * variance^2 / rows, 1e-300)
    )
}

# The influence of a row on a correlation r of variables that are known in n
# rows together, and in n_i and n_j alone, is
#   (z_i z_j - r) / n - r / 2 ((z_i^2 - 1) / n_i + (z_j^2 - 1) / n_j),
# each term where the row has what it needs. The variance is the sum of its
# squares over rows, here by sums of products.
correlation_moments <- function(z) {
    known <- !is.na(z)
    z <- filled(z)
    q <- z^2
    n <- crossprod(known)
    own <- diag(n)
    r <- crossprod(z) / n
    both <- crossprod(q)
    cubes <- crossprod(q * z, z)
    squares <- crossprod(q, known)
    fourth <- diag(both)
    with_i <- (cubes - r * squares) / (n * own)
    between <- (both - squares - t(squares) + n) / outer(own, own)
    alone <- (fourth - own) / own^2
    variance <- (both - r^2 * n) / n^2 - r * (with_i + t(with_i)) +
        r^2 / 4 * (outer(alone, alone, "+") + 2 * between)
    # As n - 2 in place of n, for what is estimated.
    list(r = r, n = n, variance = pmax(variance, 1e-12) * n / pmax(n - 2, 1),
         fourth = crossprod(q^2) / n^4)
}

# ---- the null --------------------------------------------------------------

# As shuffle_null(): whole rows change places, with their gaps.
pairwise_null <- function(ready, shuffles, on_progress = NULL) {
    stack <- rbind(ready$x, ready$y)
    n_x <- nrow(ready$x)
    drawn <- c(list(seq_len(n_x)),
               draw_shuffles(n_x, nrow(ready$y), shuffles, alike = TRUE))
    z <- vapply(seq_along(drawn), function(k) {
        if (!is.null(on_progress)) on_progress(k, length(drawn))
        rows <- drawn[[k]]
        abs(rust_moderate_tests(correlation_tests(
            stack[rows, , drop = FALSE], stack[-rows, , drop = FALSE]
        ))$z)
    }, numeric(ncol(stack) * (ncol(stack) - 1) / 2))
    null_of_shuffles(matrix(z, ncol = length(drawn)))
}
