# The features of columns of several types, as the logistic tests of all edges
# want them: every edge less what the estimated scales of its normal scores
# explain, and columns alone that are fitted whatever the support is.

# As feature_model(). `scaled` are the columns that are standardised within each
# sample: alone they have nothing to fit, since their normal scores have the
# same mean and variance in both. The groups of `fixed` are always fitted.
mixed_model <- function(samples, spec) {
    features <- with_columns(spec$features, samples$coding)
    columns <- features$columns
    within <- spec$standardize == "within"
    d <- length(columns)
    samples <- score_samples(samples, features, spec$standardize)
    stack <- mixed_stack(samples, columns, spec$standardize)$stack
    scaled <- if (within) unname(which(scored_columns(columns))) else integer()
    alone <- setdiff(seq_len(d), scaled)
    pairs <- pair_from_index(seq_len(d * (d - 1) / 2))
    k <- unname(basis_sizes(columns))
    sizes <- c(k[pairs$from] * k[pairs$to],
               unname(single_sizes(columns))[alone])
    check_model_memory(features, sizes, d, nrow(stack))
    sets <- c(asplit(unname(as.matrix(pairs)), 1L), as.list(alone))
    evaluate <- function(stacks) mixed_values(columns, stacks, pairs, alone)
    slopes <- if (length(scaled) > 0L)
        scale_slopes(evaluate, stack, 2L, scaled = scaled)
    place <- model_columns(sets, sizes)
    table <- function(stack, n_x = nrow(samples$x)) {
        values <- evaluate(list(stack, stack))
        if (length(scaled) == 0L) return(values)
        off_scale(values, stack, n_x, slopes, place)
    }
    model <- list(
        features = features, variables = samples$variables,
        n_x = nrow(samples$x), stack = stack, within = length(scaled) > 0L,
        scaled = scaled, sets = sets, sizes = sizes,
        tested = seq_len(nrow(pairs)), with_singles = FALSE,
        untested = untested_edges(columns, pairs),
        evaluate = table, table = table(stack)
    )
    model$fixed <- shifted_columns(model, nrow(pairs) + seq_along(alone))
    model
}

# Edges of a value that is rare in one sample: no test can tell chance from
# change there.
untested_edges <- function(columns, pairs) {
    rare <- vapply(columns, function(own) isTRUE(own$rare), NA)
    if (!any(rare)) return(integer())
    inform_kliep("rare", paste0(
        "A value of ", name_some(names(columns)[rare]), " has fewer than ",
        least_level, " observations in a sample: ",
        if (sum(rare) == 1L) "its" else "their", " edges are not tested."
    ))
    which(rare[pairs$from] | rare[pairs$to])
}

# All edges, then the variables alone; the first variable of an edge is taken
# from the first of `stacks`.
mixed_values <- function(columns, stacks, pairs, alone) {
    bases <- lapply(stacks, function(stack) {
        Map(edge_basis, columns, asplit(stack, 2L))
    })
    edges <- Map(function(from, to) {
        outer_columns(bases[[1L]][[from]], bases[[2L]][[to]])
    }, pairs$from, pairs$to)
    singles <- lapply(alone, function(u) {
        single_basis(columns[[u]], stacks[[1L]][, u])
    })
    unname(do.call(cbind, c(edges, singles)))
}

# Columns alone that are fitted in all tests: all of them, as far as a twentieth
# of the observations has room for their coefficients; otherwise those whose
# margins differ most.
shifted_columns <- function(model, groups) {
    if (length(groups) == 0L) return(NULL)
    room <- nrow(model$table) / 20
    if (sum(model$sizes[groups]) <= room) return(groups)
    last <- cumsum(model$sizes)
    p_value <- vapply(groups, function(group) {
        own <- last[group] - seq.int(model$sizes[group] - 1L, 0L)
        margin_p_value(model$table[, own, drop = FALSE], model$n_x)
    }, 1)
    ranked <- groups[order(p_value)]
    kept <- cumsum(model$sizes[ranked]) <= room
    if (any(kept)) sort(ranked[kept])
}

# Hotelling's test of equal means, by chi-square.
margin_p_value <- function(values, n_x) {
    first <- seq_len(n_x)
    apart <- colMeans(values[first, , drop = FALSE]) -
        colMeans(values[-first, , drop = FALSE])
    n <- nrow(values)
    spread <- stats::var(values) * (1 / n_x + 1 / (n - n_x))
    statistic <- drop(apart %*% qr.solve(spread, apart))
    stats::pchisq(statistic, ncol(values), lower.tail = FALSE)
}
