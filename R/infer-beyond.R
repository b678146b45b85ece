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
beyond_q_values <- function(samples, found, shuffles, control, level = 0.1,
                            on_progress = NULL) {
    d <- length(samples$variables)
    if (is_beyond_reach(samples)) return(rep(NA_real_, d * (d - 1) / 2))
    scored <- feature_samples(samples, feat_nonparanormal())
    if (comes_second(scored$x, scored$y)) samples <- turn_samples(samples)
    drawn <- draw_layout_shuffles(layout_of(samples), shuffles, alike = TRUE)
    of <- function(...) {
        beyond_p_values(samples, found, drawn, control, level, ...)
    }
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

# Tables of more numbers would take longer than all other tests of a call.
most_beyond <- 2e6

is_beyond_reach <- function(samples) {
    d <- length(samples$variables)
    rows <- nrow(samples$x) + nrow(samples$y)
    rows * (3 * d * (d - 1) + 4 * d) > most_beyond
}

# The p-value of every edge in ranks of each sample or of both, and that of
# no such change at all.
beyond_p_values <- function(samples, found, drawn, control, level,
                            on_progress = NULL, pooled = FALSE) {
    model <- beyond_model(samples, pooled)
    null <- logistic_null(tested_alone(model), drawn, control, on_progress)
    support <- list(
        members = integer(), products = found,
        # Here margins may differ.
        variables = if (pooled) differing_variables(model, control)
    )
    support <- shorten_support(model, support)
    list(p_value = grow_support(model, support, null, control, level),
         global = global_p_value(null))
}

# The variables whose margins differ most, as many as leave half of what may be
# fitted.
differing_variables <- function(model, control) {
    alone <- 2L * length(model$tested) + seq_len(model$d)
    tests <- logistic_tests(model$table, model$n_x, model$sizes, integer(),
                            control, units = model$units)
    most <- as.integer(most_fitted(model) / 2 / model$sizes[alone[1L]])
    utils::head(order(-tests$groups$statistic[alone]), most)
}

# Without the weakest products, so that a quarter of what may be fitted is left.
shorten_support <- function(model, support) {
    fitted <- function() sum(model$sizes[beyond_groups(model, support)])
    while (length(support$products) > 0L &&
               fitted() > 0.75 * most_fitted(model)) {
        support$products <- utils::head(support$products, -1L)
    }
    support
}

# ---- the features ----------------------------------------------------------

# As feature_model(): groups of the terms of every edge beyond the product, then
# the products, then the variables alone.
beyond_model <- function(samples, pooled) {
    d <- length(samples$variables)
    units <- if (pooled) "pooled" else "within"
    scored <- feature_samples(samples, feat_nonparanormal(), units)
    z <- unname(rbind(scored$x, scored$y))
    n_x <- nrow(scored$x)
    terms <- hermite_terms(z, if (!pooled) n_x)
    edges <- ncol(terms[[1L]])
    product <- center_columns(terms[[1L]])
    square <- colSums(product^2)
    # What the product explains of a term is not beyond it.
    beyond <- lapply(terms[-1L], function(term) {
        slope <- colSums(term * product) / ifelse(square > 0, square, 1)
        term - product * rep(slope, each = nrow(z))
    })
    # Ranks of each sample leave no difference of single variables, but with
    # edges that change the ratio has their squares.
    alone <- if (pooled) list(z, z^2, z^3, z^4) else list(z^2)
    layout <- layout_of(samples)
    list(table = cbind(side_by_side(beyond), product, side_by_side(alone)),
         sizes = rep(c(length(beyond), 1L, length(alone)), c(edges, edges, d)),
         tested = seq_len(edges), d = d, n_x = n_x, within = FALSE,
         layout = layout, units = unlist(layout$added, use.names = FALSE))
}

# h_i(z_u) h_j(z_v) of all edges, the product first, in Hermite's polynomials.
# With `n_x` the scores are those of each sample: the mean of a term then
# depends on the estimated ranks, by the integral of h_i' times the regression
# of h_j(z_v) on z_u. This integral has the same mean in both samples, so that
# taking it off changes no test but its variance.
hermite_terms <- function(z, n_x = NULL) {
    pairs <- pair_from_index(seq_len(ncol(z) * (ncol(z) - 1) / 2))
    of <- lapply(hermite, power_values, z = z)
    off <- function(term, i, j, variable, other) {
        for (k in seq_len(4L - i)) {
            own <- power_values(integral(derivative(hermite[[i]]),
                                         hermite[[k]]), z)
            own <- center_within(own, n_x)[, variable, drop = FALSE]
            slope <- (crossprod(of[[j]], of[[k]]) / nrow(z))[
                cbind(other, variable)
            ]
            term <- term - own * rep(slope, each = nrow(z))
        }
        term
    }
    lapply(list(c(1, 1), c(1, 2), c(2, 1), c(2, 2), c(1, 3), c(3, 1)),
           function(degree) {
        i <- degree[1L]
        j <- degree[2L]
        term <- of[[i]][, pairs$from, drop = FALSE] *
            of[[j]][, pairs$to, drop = FALSE]
        if (is.null(n_x)) return(term)
        term <- off(term, i, j, pairs$from, pairs$to)
        off(term, j, i, pairs$to, pairs$from)
    })
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

# Shuffles need the groups that are tested and no others.
tested_alone <- function(model) {
    columns <- seq_len(sum(model$sizes[model$tested]))
    model$table <- model$table[, columns, drop = FALSE]
    model$sizes <- model$sizes[model$tested]
    model
}

# ---- tests given a support -------------------------------------------------

# A support as groups of the model: `members` are edges that change beyond
# correlations, and are fitted with their products, `products` those that change
# by them, strongest first; both with their variables. `variables` are fitted
# whatever the edges are.
beyond_groups <- function(model, support) {
    edges <- length(model$tested)
    products <- as.integer(union(support$products, support$members))
    pairs <- pair_from_index(products)
    variables <- unique(c(support$variables, pairs$from, pairs$to))
    as.integer(c(support$members, edges + products, 2 * edges + variables))
}

# One edge after the other joins the support, the strongest first, until no
# other is found; its members are tested by their scores with themselves left
# out.
grow_support <- function(model, support, null, control, level) {
    test <- function(support) {
        groups <- beyond_groups(model, support)
        if (sum(model$sizes[groups]) > most_fitted(model)) return(NULL)
        tests_given(model, groups, null, control)$p_value
    }
    p_value <- test(support)
    if (is.null(p_value)) return(rep(1, length(model$tested)))
    repeat {
        found <- which(stats::p.adjust(p_value, "BH") <= level)
        new <- setdiff(found, support$members)
        if (length(new) == 0L) return(p_value)
        support$members <- c(support$members, new[which.min(p_value[new])])
        now <- test(support)
        if (is.null(now)) return(p_value)
        for (edge in support$members) {
            without <- support
            without$members <- setdiff(support$members, edge)
            without$products <- union(support$products, edge)
            alone <- test(without)
            now[edge] <- if (is.null(alone)) 1 else alone[edge]
        }
        p_value <- now
    }
}

# ---- what is said ----------------------------------------------------------

beyond_edges <- function(x) {
    x$estimates[which(x$estimates$q_beyond <= x$fdr), , drop = FALSE]
}

# A sentence where there are such edges, or NULL.
say_beyond <- function(x) {
    beyond <- beyond_edges(x)
    if (nrow(beyond) == 0L) return(NULL)
    beyond <- beyond[order(beyond$q_beyond), ]
    named <- utils::head(paste0(beyond$from, " - ", beyond$to), 3L)
    paste0(count_of(nrow(beyond), "edge"),
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
