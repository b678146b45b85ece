# Changes of an edge that correlations do not show: logistic score tests of
# polynomials of normal scores beyond the product, given the edges that changed.

# ---- all of it -------------------------------------------------------------

# For every edge a q-value of a change beyond correlations; NA for all where
# there are too many. `found` are the numbers of the edges that changed by their
# correlations, strongest first.
#
# In ranks of each sample, margins make no difference, but an unchanged edge
# beside a changed one may differ, since its variable has another margin. In
# ranks of both samples together it is the other way round. An edge counts where
# it differs in both: what is found by the first is tested again by the second.
beyond_q_values <- function(samples, found, shuffles, control, fdr = 0.1,
                            on_progress = NULL) {
    d <- length(samples$variables)
    level <- max(fdr, 0.1)
    if (is_beyond_reach(samples)) return(rep(NA_real_, d * (d - 1) / 2))
    scored <- feature_samples(samples, feat_nonparanormal())
    if (comes_second(scored$x, scored$y)) samples <- turn_samples(samples)
    drawn <- draw_layout_shuffles(layout_of(samples), shuffles, alike = TRUE)
    how <- list(shuffles = drawn, again = utils::head(drawn, n_again(fdr)),
                fdr = fdr, level = level, control = control)
    of <- function(...) beyond_p_values(samples, found, how, ...)
    own <- of(on_progress = on_progress)
    q_value <- stats::p.adjust(own$p_value, "BH")
    if (own$global <= level && any(q_value <= level)) {
        q_value <- confirm(q_value, of(pooled = TRUE)$p_value, level)
    }
    pmax(q_value, own$global)
}

# The q-values of a second test of what the first has found, adjusted for as
# many, where they are larger.
confirm <- function(q_value, p_value, level) {
    found <- which(q_value <= level)
    q_value[found] <- pmax(q_value[found],
                           stats::p.adjust(p_value[found], "BH"))
    q_value
}

# Each shuffle that is ranked again takes as long as the data: no more of them
# than it takes to reject at the false discovery rate.
n_again <- function(fdr) max(19, ceiling(2 / fdr) - 1)

# Features of more numbers would take longer than a user waits for all other
# tests: half a second for 20 variables, a few for 200 and more.
most_beyond <- function(d) 2e5 * min(d, 200)

is_beyond_reach <- function(samples) {
    d <- length(samples$variables)
    rows <- nrow(samples$x) + nrow(samples$y)
    rows * (3 * d * (d - 1) + 4 * d) > most_beyond(d)
}

# The p-value of every edge in ranks of each sample or of both, and that of
# no such change at all.
#
# Shuffles of the scores are soon made, but ranks of each sample have the same
# margins in both, and shuffled ones do not. Where rows are large together, as
# in a t distribution, shuffled terms vary less than those of the data. So what
# looks like a change is compared with shuffles that are ranked again.
beyond_p_values <- function(samples, found, how, on_progress = NULL,
                            pooled = FALSE) {
    level <- how$level
    model <- beyond_model(samples, pooled, how$control)
    null <- beyond_null(model, how$shuffles, on_progress)
    global <- global_p_value(null)
    if (!pooled && global <= level) {
        null <- ranked_null(model, how$again)
        again <- global_p_value(null)
        if (again > how$fdr) global <- max(global, again)
    }
    support <- list(
        members = integer(), products = found,
        # Margins may differ between the samples here.
        variables = if (pooled) differing_variables(model)
    )
    support <- shorten_support(model, support)
    # Without a change, nothing joins the support.
    if (!pooled && global > level) level <- 0
    list(p_value = grow_support(model, support, null, level), global = global)
}

# The variables whose margins differ most, as many as leave half of what may be
# fitted.
differing_variables <- function(model) {
    size <- length(model$alone)
    tests <- logistic_tests(side_by_side(model$alone), model$n_x,
                            rep(size, model$d), integer(), model$control,
                            units = model$units)
    utils::head(order(-tests$groups$statistic),
                as.integer(most_fitted(model) / 2 / size))
}

# The weakest products are left out, so that a quarter of what may be fitted
# stays free.
shorten_support <- function(model, support) {
    while (length(support$products) > 0L &&
               n_fitted(model, support) > 0.75 * most_fitted(model)) {
        support$products <- utils::head(support$products, -1L)
    }
    support
}

# ---- the features ----------------------------------------------------------

# The terms of an edge, h_i(z_u) h_j(z_v) in Hermite's polynomials, the product
# first. The others are taken given the product: what it explains of them does
# not count as beyond. There are many edges, so that edge_features() makes these
# terms from polynomials when they are needed.
#
# Scores of each sample are estimated ranks, on which the mean of a term depends
# by the integral of h_i' times the regression of h_j(z_v) on z_u. This integral
# has the same mean in both samples, so that taking it off changes no test but
# its variance.
beyond_model <- function(samples, pooled, control) {
    units <- if (pooled) "pooled" else "within"
    scored <- feature_samples(samples, feat_nonparanormal(), units)
    z <- unname(rbind(scored$x, scored$y))
    layout <- layout_of(samples)
    c(
        beyond_values(z, nrow(scored$x), pooled),
        list(
            # Ranks of each sample leave no difference of single variables, but
            # with edges that change the ratio has their squares.
            alone = if (pooled) list(z, z^2, z^3, z^4) else list(z^2),
            d = ncol(z), within = FALSE, layout = layout,
            units = unlist(layout$added, use.names = FALSE),
            control = control,
            # This many numbers of features are held at a time.
            at_once = 1e6
        )
    )
}

# What features of edges are made of, from the scores of both samples.
beyond_values <- function(z, n_x, pooled = FALSE) {
    list(values = do.call(cbind, lapply(hermite, power_values, z = z)),
         integrals = if (pooled) matrix(0, nrow(z), 0L) else
             rank_integrals(z, n_x),
         n_x = n_x)
}

# The features of these edges: `beyond`, five columns for each, and `product`.
edge_features <- function(model, edges) {
    pairs <- pair_from_index(edges)
    rust_beyond_features(
        model$values, model$integrals,
        list(from = as.integer(pairs$from), to = as.integer(pairs$to)),
        model$control$threads
    )
}

beyond_terms <- 5L

# Integrals of h_i' h_k for i + k up to 4, all variables of one before those of
# the next, centred in each sample.
rank_integrals <- function(z, n_x) {
    of <- function(i, k) {
        center_within(power_values(integral(derivative(hermite[[i]]),
                                            hermite[[k]]), z), n_x)
    }
    i <- rep(1:3, 3:1)
    do.call(cbind, Map(of, i, sequence(3:1)))
}

# Coefficients of z^0, z^1, ...
hermite <- list(c(0, 1), c(-1, 0, 1) / sqrt(2), c(0, -3, 0, 1) / sqrt(6))

derivative <- function(p) p[-1L] * seq_along(p[-1L])

# Of the product of two polynomials, from 0.
integral <- function(p, q) {
    product <- numeric(length(p) + length(q) - 1L)
    for (k in seq_along(p)) {
        at <- k - 1L + seq_along(q)
        product[at] <- product[at] + p[k] * q
    }
    c(0, product / seq_along(product))
}

power_values <- function(p, z) {
    Reduce(function(value, next_one) value * z + next_one, rev(p), 0 * z)
}

center_within <- function(x, n_x) {
    first <- seq_len(n_x)
    x[first, ] <- center_columns(x[first, , drop = FALSE])
    x[-first, ] <- center_columns(x[-first, , drop = FALSE])
    x
}

# ---- all edges -------------------------------------------------------------

chunk_edges <- function(model, edges) {
    size <- max(1, model$at_once %/% (nrow(model$values) * beyond_terms))
    unname(split(edges, (seq_along(edges) - 1L) %/% size))
}

all_edges <- function(model) seq_len(model$d * (model$d - 1) / 2)

beyond_null <- function(model, shuffles, on_progress = NULL) {
    chunks <- chunk_edges(model, all_edges(model))
    statistic <- lapply(seq_along(chunks), function(k) {
        if (!is.null(on_progress)) on_progress(k, length(chunks))
        own <- model[c("layout", "units", "within")]
        own$table <- edge_features(model, chunks[[k]])$beyond
        own$sizes <- rep(beyond_terms, length(chunks[[k]]))
        shuffle_statistics(own, shuffles, model$control)
    })
    null_of_statistics(do.call(rbind, statistic), beyond_terms)
}

# The same null, where each shuffle has its own ranks.
ranked_null <- function(model, shuffles) {
    drawn <- c(list(seq_len(model$layout$n_x)), shuffles)
    statistic <- vapply(drawn, function(units) {
        beyond_statistics(rank_again(model, units))
    }, numeric(length(all_edges(model))))
    null_of_statistics(matrix(statistic, ncol = length(drawn)), beyond_terms)
}

# A model with these units as x, in ranks of the samples that they make.
rank_again <- function(model, units) {
    rows <- which(model$layout$unit %in% units)
    z <- model$values[, seq_len(model$d), drop = FALSE]
    scored <- rust_standardize_samples(
        normal_scores(z[rows, , drop = FALSE]),
        normal_scores(z[-rows, , drop = FALSE]), "within"
    )$stack
    own <- beyond_values(scored, length(rows))
    model[names(own)] <- own
    order <- c(rows, seq_len(nrow(z))[-rows])
    model["units"] <- list(model$units[order])
    model
}

# Of all edges, at the empty support.
beyond_statistics <- function(model) {
    statistic <- lapply(chunk_edges(model, all_edges(model)), function(chunk) {
        table <- edge_features(model, chunk)$beyond
        sizes <- rep(beyond_terms, length(chunk))
        if (is.null(model$units)) {
            return(rust_logistic_shuffles(table, sizes,
                                          cbind(seq_len(model$n_x)),
                                          model$control$threads))
        }
        logistic_tests(table, model$n_x, sizes, integer(), model$control,
                       units = model$units)$groups$statistic
    })
    unlist(statistic)
}

# The p-values of these edges given a support that they do not belong to. NULL
# if it cannot be fitted.
beyond_given <- function(model, support, edges, null) {
    if (n_fitted(model, support) > most_fitted(model)) return(NULL)
    if (length(edges) == 0L) return(numeric())
    fitted <- support_features(model, support)
    p_value <- lapply(chunk_edges(model, edges), function(chunk) {
        own <- model[c("n_x", "units")]
        own$table <- cbind(fitted$table, edge_features(model, chunk)$beyond)
        own$sizes <- c(fitted$sizes, rep(beyond_terms, length(chunk)))
        own$tested <- length(fitted$sizes) + seq_along(chunk)
        tests_given(own, seq_along(fitted$sizes), null, model$control)$p_value
    })
    if (any(lengths(p_value) == 0L)) NULL else unlist(p_value)
}

# ---- supports --------------------------------------------------------------

# `members` are edges that change beyond correlations, and are fitted with their
# products, `products` those that change by them, strongest first; both with
# their variables. `variables` are fitted whatever the edges are.
support_parts <- function(support) {
    products <- union(support$products, support$members)
    pairs <- pair_from_index(products)
    list(members = support$members, products = products,
         variables = unique(c(support$variables, pairs$from, pairs$to)))
}

n_fitted <- function(model, support) {
    sum(lengths(support_parts(support)) *
            c(beyond_terms, 1L, length(model$alone)))
}

# The columns of a support, and the sizes of their groups.
support_features <- function(model, support) {
    parts <- support_parts(support)
    size <- length(model$alone)
    alone <- side_by_side(lapply(model$alone, function(power) {
        power[, parts$variables, drop = FALSE]
    }))
    list(table = cbind(
        if (length(parts$members) > 0L)
            edge_features(model, parts$members)$beyond,
        if (length(parts$products) > 0L)
            edge_features(model, parts$products)$product,
        alone
    ), sizes = rep(c(beyond_terms, 1L, size), lengths(parts)))
}

# One edge after the other joins the support, the strongest first, until no
# other is found; its members are tested by their scores with themselves left
# out.
grow_support <- function(model, support, null, level) {
    p_value <- beyond_given(model, support, all_edges(model), null)
    if (is.null(p_value)) return(rep(1, length(all_edges(model))))
    repeat {
        found <- which(stats::p.adjust(p_value, "BH") <= level)
        new <- setdiff(found, support$members)
        if (length(new) == 0L) return(p_value)
        support$members <- c(support$members, new[which.min(p_value[new])])
        others <- setdiff(all_edges(model), support$members)
        now <- beyond_given(model, support, others, null)
        if (is.null(now)) return(p_value)
        p_value[others] <- now
        for (edge in support$members) {
            without <- support
            without$members <- setdiff(support$members, edge)
            without$products <- union(support$products, edge)
            alone <- beyond_given(model, without, edge, null)
            p_value[edge] <- if (is.null(alone)) 1 else alone
        }
    }
}

# ---- what is said ----------------------------------------------------------

beyond_edges <- function(x) {
    x$estimates[which(x$estimates$q_beyond <= x$fdr), , drop = FALSE]
}

# What all other tests of an inference are about: only changes of correlations,
# if other changes were found.
change_tested <- function(x) {
    if (has_beyond(x)) "change of correlations" else "change"
}

has_beyond <- function(x) any(x$estimates$q_beyond <= x$fdr, na.rm = TRUE)

# A sentence where there are such edges, or NULL.
say_beyond <- function(x) {
    beyond <- beyond_edges(x)
    if (nrow(beyond) == 0L) return(NULL)
    beyond <- beyond[order(beyond$q_beyond), ]
    named <- utils::head(paste0(beyond$from, " - ", beyond$to), 3L)
    paste0(if (!any(x$estimates$changed)) "But ",
           count_of(nrow(beyond), "edge"),
           if (nrow(beyond) == 1L) " changes" else " change",
           " in a way that correlations do not show (",
           paste(named, collapse = ", "),
           if (nrow(beyond) > 3L) ", ...", "): see the column `q_beyond` of ",
           "`$estimates`.")
}

# What kliep_auto() says where there are none, or none were looked for.
say_no_beyond <- function(x) {
    q_value <- x$estimates$q_beyond
    if (is.null(q_value) || any(q_value <= x$fdr, na.rm = TRUE)) return(NULL)
    if (!anyNA(q_value)) {
        return("No edge changes in a way that correlations do not show.")
    }
    paste0("Changes that correlations do not show were not tested: by ",
           "default this needs fewer edges (there are ",
           format(length(q_value), big.mark = ","), ") or observations, and ",
           "no missing values. `kliep_infer(features = feat_polynomial())` ",
           "tests them.")
}
