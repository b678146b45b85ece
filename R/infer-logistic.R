# Which edges changed, for features of any family: logistic regression of which
# sample a row is from.
#
# log p / q = theta'f + c is such a regression (Qin, 1998). The factors of a
# support are fitted, and every other factor is tested by its score given them.

# ---- all of it -------------------------------------------------------------

# As find_changes(), with one row for each edge.
find_logistic_changes <- function(samples, spec, fdr, shuffles, progress) {
    turned <- comes_second(samples$x, samples$y)
    if (turned) samples <- turn_samples(samples)
    drawn <- draw_layout_shuffles(layout_of(samples), shuffles, alike = TRUE)
    search <- function(spec) {
        search_groups(samples, spec, drawn, max(fdr, 0.1),
                      progress_bars(progress))
    }
    found <- search(spec)
    edges <- logistic_edges(found$model, found$chosen, if (turned) -1 else 1)
    global <- global_p_value(found$null)
    edges$changed <- global <= fdr & edges$q_value <= fdr
    if (any(edges$changed & edges$df > 1L) && found$model$within &&
            !is_mixed(spec$features)) {
        both <- search(as_spec(spec, list(standardize = "pooled")))
        edges$q_value <- confirm(
            edges$q_value, logistic_edges(both$model, both$chosen, 1)$p_value,
            fdr
        )
        edges$changed <- global <= fdr & edges$q_value <= fdr
    }
    chosen <- found$chosen
    list(edges = edges, global = global, fdr = fdr,
         support = support_pairs(found$model, chosen$support),
         null = found$null,
         coefficients = model_coefficients(found$model, chosen$tests,
                                           if (turned) -1 else 1),
         diagnostics = list(
             logistic = c(columns = sum(found$model$sizes),
                          fitted = chosen$fitted),
             support_size = nrow(chosen$support), steps = chosen$steps,
             full = found$full
         ))
}

# The tests of all groups given a support of a path with the same features.
# `full`, whether edges were left outside that belong in.
search_groups <- function(samples, spec, drawn, level, draw) {
    model <- design_model(feature_model(samples, spec), samples)
    null <- logistic_null(model, drawn, spec$control, draw("Shuffling"))
    path <- fit_problem(new_problem(screening_spec(spec), samples), samples,
                        on_progress = draw("Screening"))
    given <- logistic_given(model, null, spec$control, level)
    chosen <- choose_support(given, path, null)
    list(model = model, null = null, chosen = chosen,
         full = any(found_outside(chosen, given)))
}

# A sentence where the observations do not suffice for the support, or NULL.
say_full <- function(x) {
    if (!isTRUE(x$diagnostics$full) || !any(x$estimates$changed)) return(NULL)
    paste("There are too few observations to fit all edges that are found:",
          "unchanged edges beside changed ones may be among them. Features",
          "with fewer terms need fewer observations.")
}

# The path that screens treats both samples alike.
screening_spec <- function(spec) {
    as_spec(spec, list(
        lambda1 = 0.1, lambda2 = NULL, nlambda = 60L, lambda_min_ratio = NULL,
        penalty = "group_lasso", robust = 0, direction = "symmetric",
        normalizer = "empirical", solver = "auto"
    ))
}

# ---- the features of all factors -------------------------------------------

# `table` has the features of every factor, both samples one below the other;
# `sets` are the variables of each factor, `sizes` its numbers of columns, and
# `tested` those of two variables or more, which come first unless the factors
# are cliques. `evaluate` makes such a table of other rows.
feature_model <- function(samples, spec) {
    if (is_mixed(spec$features)) return(mixed_model(samples, spec))
    d <- length(samples$variables)
    within <- spec$standardize == "within"
    stack <- rust_standardize_samples(samples$x, samples$y,
                                      spec$standardize)$stack
    colnames(stack) <- samples$variables
    features <- own_terms(resolve_sets(spec$features, samples$variables))
    if (is_table(features)) features$shapes <- probe_shapes(features, stack)
    sizes <- model_sizes(features, d)
    check_model_memory(features, sizes, d, nrow(stack))
    sets <- model_sets(features, d)
    evaluate <- function(stacks) set_values(features, stacks, sets)
    largest <- max(lengths(sets))
    columns <- model_columns(sets, sizes)
    slopes <- if (within) scale_slopes(evaluate, stack, largest)
    table <- function(stack, n_x = nrow(samples$x)) {
        values <- evaluate(rep(list(stack), largest))
        if (!within) return(values)
        off_scale(values, stack, n_x, slopes, columns)
    }
    list(features = features, variables = samples$variables,
         n_x = nrow(samples$x), stack = stack, within = within,
         scaled = seq_len(d), sets = sets, sizes = sizes,
         tested = which(lengths(sets) > 1L),
         # Did edges lose their powers of single variables to these variables?
         with_singles = !identical(features$pair, spec$features$pair),
         evaluate = table, table = table(stack))
}

# Powers of one variable are the same in all of its edges: they belong to the
# variable alone, and an edge keeps the terms with both.
own_terms <- function(features) {
    if (features$kind != "products") return(features)
    both <- colSums(features$pair > 0L) == 2L
    features$pair <- features$pair[, both, drop = FALSE]
    features
}

# All pairs, then the variables that have features alone; or the cliques.
model_sets <- function(features, d) {
    if (features$kind == "cliques") return(features$sets)
    pairs <- pair_from_index(seq_len(d * (d - 1) / 2))
    c(asplit(unname(as.matrix(pairs)), 1L),
      if (single_size(features) > 0L) as.list(seq_len(d)))
}

model_sizes <- function(features, d) {
    if (features$kind == "cliques") {
        return(unname(lengths(features$shapes)[
            as.character(lengths(features$sets))
        ]))
    }
    singles <- single_size(features)
    c(rep(edge_size(features), d * (d - 1) / 2),
      if (singles > 0L) rep(singles, d))
}

# The table, twice more while features are evaluated at other scales, and once
# in Rust.
check_model_memory <- function(features, sizes, d, rows) {
    check_memory(8 * sum(as.double(sizes)) * (4 * rows + 60),
                 paste("Tests of the features of", count_of(d, "variable")),
                 hint = "Use fewer variables, or features with fewer terms.")
}

# The variable at each place of the set of each column; NA where it has fewer.
model_columns <- function(sets, sizes) {
    lapply(seq_len(max(lengths(sets))), function(place) {
        rep(vapply(sets, function(set) as.integer(set[place]), 1L), sizes)
    })
}

# The features of all sets, where the first variable of a set is taken from the
# first of `stacks`, the second from the second.
set_values <- function(features, stacks, sets) {
    switch(features$kind,
           products = product_values(features, stacks),
           rbf = radial_values(features, stacks),
           table_values(features, stacks, sets))
}

product_values <- function(features, stacks) {
    d <- ncol(stacks[[1L]])
    pairs <- pair_from_index(seq_len(d * (d - 1) / 2))
    of <- function(stack, columns, exponent) {
        unname((sign(stack) * abs(stack)^features$power)^exponent)[
            , columns, drop = FALSE
        ]
    }
    edge <- lapply(seq_len(ncol(features$pair)), function(k) {
        of(stacks[[1L]], pairs$from, features$pair[1L, k]) *
            of(stacks[[2L]], pairs$to, features$pair[2L, k])
    })
    single <- lapply(features$single, of, stack = stacks[[1L]],
                     columns = seq_len(d))
    cbind(side_by_side(edge), side_by_side(single))
}

radial_values <- function(features, stacks) {
    d <- ncol(stacks[[1L]])
    pairs <- pair_from_index(seq_len(d * (d - 1) / 2))
    apart <- stacks[[1L]][, pairs$from, drop = FALSE] -
        stacks[[2L]][, pairs$to, drop = FALSE]
    unname(exp(-apart^2 / (2 * features$sigma^2)))
}

# The terms of one factor next to each other.
side_by_side <- function(terms) {
    if (length(terms) == 0L) return(NULL)
    columns <- ncol(terms[[1L]])
    order <- as.vector(t(matrix(seq_len(columns * length(terms)), columns)))
    do.call(cbind, terms)[, order, drop = FALSE]
}

table_values <- function(features, stacks, sets) {
    do.call(cbind, lapply(sets, function(set) {
        own <- vapply(seq_along(set), function(place) {
            stacks[[place]][, set[place]]
        }, numeric(nrow(stacks[[1L]])))
        colnames(own) <- colnames(stacks[[1L]])[set]
        unname(evaluate_factor(features, own, seq_along(set)))
    }))
}

# ---- estimated scales ------------------------------------------------------

# How the mean of every column changes with the centre and the scale of its
# variables, over both samples: a list of both for each place of a set. Those
# that are not `scaled` have none.
scale_slopes <- function(evaluate, stack, largest, step = 0.05,
                         scaled = seq_len(ncol(stack))) {
    is_scaled <- rep(seq_len(ncol(stack)) %in% scaled, each = nrow(stack))
    at <- function(place, changed) {
        stacks <- rep(list(stack), largest)
        stacks[[place]] <- changed
        colMeans(evaluate(stacks))
    }
    slope <- function(place, change) {
        (at(place, stack + step * change) - at(place, stack - step * change)) /
            (2 * step)
    }
    lapply(seq_len(largest), function(place) {
        list(center = slope(place, is_scaled),
             scale = slope(place, stack * is_scaled))
    })
}

# Variables that are standardised in each sample have the same mean and mean
# square in both, so that a multiple of either, taken from a feature, changes no
# mean. With these multiples it no longer depends on the estimated centre and
# scale, to first order, and its variance is that of the test.
off_scale <- function(table, stack, n_x, slopes, columns) {
    square <- center_within(stack^2, n_x)
    for (place in seq_along(slopes)) {
        center <- slopes[[place]]$center
        scale <- slopes[[place]]$scale
        # Columns of variables that are not scaled have no slopes.
        known <- which(!is.na(columns[[place]]) & (center != 0 | scale != 0))
        # A variable at a time: products of its two columns with two rows take a
        # third of the time of tables of all products.
        for (at in split(known, columns[[place]][known])) {
            own <- columns[[place]][at[1L]]
            table[, at] <- table[, at] - cbind(stack[, own], square[, own]) %*%
                rbind(center[at], scale[at] / 2)
        }
    }
    table
}

center_columns <- function(x) x - rep(colMeans(x), each = nrow(x))

# ---- tests given a support -------------------------------------------------

# What choose_support() needs to know. Beyond a tenth of the observations
# maximum likelihood is biased, and the support ends.
logistic_given <- function(model, null, control, level) {
    list(
        most = Inf,
        test = function(support) {
            test_groups(model, support, null, control, level)
        },
        pairs = function(index) group_factors(model, model$tested[index]),
        # With few edges most may be found before the support holds a change.
        bulk = FALSE
    )
}

test_groups <- function(model, support, null, control, level) {
    groups <- support_groups(model, support)
    fitted <- sum(model$sizes[groups])
    if (fitted > most_fitted(model)) return(NULL)
    given <- tests_given(model, groups, null, control)
    if (is.null(given)) return(NULL)
    c(given, list(support = support, groups = groups, fitted = fitted,
                  found = stats::p.adjust(given$p_value, "BH") <= level))
}

# The tests of a model given some of its groups, with their |z| and p-values.
# NULL where these groups cannot be fitted.
tests_given <- function(model, groups, null, control) {
    tests <- fixed_tests(model, model$table, model$n_x, groups, control,
                         model$units)
    if (is.null(tests) || !tests$converged) return(NULL)
    z <- group_z(tests$groups[model$tested, ])
    p_value <- p_from_null(z, null)
    # Features that cannot be tested, such as constants, count as unchanged.
    none <- c(which(is.na(tests$groups$statistic[model$tested])),
              model$untested)
    z[none] <- 0
    p_value[none] <- 1
    list(tests = tests, z = z, p_value = p_value)
}

# With what a model fits in any case. Where that separates the samples, as a
# level of one of them alone does, Firth's fit is there.
fixed_tests <- function(model, table, n_x, groups, control, units) {
    fit <- function(firth) {
        logistic_tests(table, n_x, model$sizes, c(groups, model$fixed), control,
                       units = units, firth = firth)
    }
    tests <- fit(FALSE)
    if (is.null(model$fixed) || isTRUE(tests$converged)) return(tests)
    fit(TRUE)
}

# Variances between units cannot tell more coefficients apart than there are
# units; half of them leave some to estimate the variances from.
most_fitted <- function(model) {
    most <- length(model$layout$unit) / 10
    if (is.null(model$units)) most else min(most, max(model$units) / 2)
}

# Factors of a path as groups of columns, and back.
support_groups <- function(model, support) {
    if (model$features$kind == "cliques") return(support$from)
    edges <- sum(lengths(model$sets) == 2L)
    alone <- support$from == support$to
    singles <- edges + c(support$from[alone],
                         if (model$with_singles) unlist(support[!alone, ]))
    # Single columns are fitted in any case, as far as there is room for them.
    if (is_mixed(model$features)) singles <- integer()
    within <- support[!alone, ]
    sort(unique(c((within$to - 1) * (within$to - 2) / 2 + within$from,
                  singles)))
}

group_factors <- function(model, groups) {
    if (model$features$kind == "cliques") {
        return(data.frame(from = groups, to = groups))
    }
    pair_from_index(groups)
}

# The tails of all groups on one scale, that of |z|.
group_z <- function(groups) {
    tail <- groups$log_p - log(2)
    z <- stats::qnorm(tail, lower.tail = FALSE, log.p = TRUE)
    pmax(0, replace(z, is.na(z), 0))
}

# Groups of adjacent columns of `table`, given the groups in `support`: the
# first `n_x` rows are those of x. `sizes` are the columns of each group. Those
# of the support are referred to F, since they are fitted, the others to
# chi-square. What is fitted makes residuals smaller than they are, by the share
# of the rows that it uses up, or of what rows of units are worth, and
# statistics larger (Sur, Chen and Candes, 2019). NULL where the columns of the
# support depend on each other.
logistic_tests <- function(table, n_x, sizes, support, control,
                           on_progress = NULL, units = NULL, firth = FALSE) {
    fitted <- sum(sizes[support])
    settings <- list(
        # Beyond a tenth of the rows maximum likelihood is biased upwards.
        firth = firth || fitted > nrow(table) / 10,
        support = as.integer(support), tol = 1e-8, max_iter = 100L,
        threads = control$threads, units = units
    )
    tests <- rust_logistic_tests(table, n_x, as.integer(sizes), settings,
                                 on_progress)
    if (is.null(tests)) return(NULL)
    inside <- seq_along(sizes) %in% support
    n <- nrow(table)
    if (!is.null(units) && fitted > 0) {
        settings["units"] <- list(NULL)
        rows <- rust_logistic_tests(table, n_x, as.integer(sizes), settings)
        n <- effective_size(n, units, tests$se^2 / rows$se^2)
    }
    left <- max(1, n - 1 - fitted)
    share <- left / (n - 1)
    statistic <- share * tests$statistic
    log_p <- ifelse(
        inside,
        stats::pf(statistic / sizes, sizes, left, lower.tail = FALSE,
                  log.p = TRUE),
        chisq_tail(statistic, sizes)
    )
    missing <- function(value) replace(value, is.nan(value), NA)
    list(
        groups = data.frame(statistic = missing(statistic), df = sizes,
                            log_p = missing(log_p), in_support = inside),
        estimate = missing(tests$estimate),
        se = missing(tests$se / sqrt(share)),
        converged = tests$converged, firth = settings$firth
    )
}

chisq_tail <- function(statistic, df) {
    stats::pchisq(statistic, df, lower.tail = FALSE, log.p = TRUE)
}

# ---- the null --------------------------------------------------------------

# |z| of all factors at the empty support over all shuffles, each given by the
# units that become x, as shuffle_null() has it. Variables that are standardised
# in each sample are so in each shuffle.
logistic_null <- function(model, shuffles, control, on_progress = NULL) {
    statistic <- shuffle_statistics(model, shuffles, control, on_progress)
    tested <- setdiff(model$tested, model$untested)
    null_of_statistics(statistic[tested, , drop = FALSE], model$sizes[tested])
}

# The statistics of all groups, in the data and in every shuffle: a column for
# each.
shuffle_statistics <- function(model, shuffles, control, on_progress = NULL) {
    layout <- model$layout
    drawn <- c(list(seq_len(layout$n_x)), shuffles)
    designed <- !is.null(model$units) || !is.null(model$fixed)
    statistic <- if (model$within || designed) {
        statistics <- if (designed) designed_statistics else
            shuffled_statistics
        vapply(seq_along(drawn), function(k) {
            if (!is.null(on_progress)) on_progress(k, length(drawn))
            rows <- which(layout$unit %in% drawn[[k]])
            statistics(model, rows, control)
        }, numeric(length(model$sizes)))
    } else {
        rust_logistic_shuffles(model$table, as.integer(model$sizes),
                               do.call(cbind, drawn), control$threads,
                               on_progress)
    }
    matrix(statistic, ncol = length(drawn))
}

null_of_statistics <- function(statistic, df) {
    log_p <- chisq_tail(statistic, df)
    null_of_shuffles(matrix(group_z(list(log_p = log_p)),
                            ncol = ncol(statistic)))
}

# |z| of all edges, in the data and in every shuffle: a column for each.
null_of_shuffles <- function(z) {
    largest <- apply(z, 2L, max)
    squares <- colSums(z^2)
    list(count = length(z) - nrow(z), tail = sort(z[, -1L]), tail_from = 0,
         bins = numeric(), largest = largest[-1L], squares = squares[-1L],
         observed = c(largest[1L], squares[1L]))
}

shuffled_statistics <- function(model, rows, control) {
    rust_logistic_shuffles(model$evaluate(shuffled_stack(model, rows)),
                           as.integer(model$sizes), cbind(seq_len(model$n_x)),
                           control$threads)
}

# Variables that are standardised in each sample, with these rows as x.
shuffled_stack <- function(model, rows) {
    first <- seq_along(rows)
    stack <- rbind(model$stack[rows, , drop = FALSE],
                   model$stack[-rows, , drop = FALSE])
    at <- model$scaled
    stack[first, at] <- standardize_columns(stack[first, at, drop = FALSE])
    stack[-first, at] <- standardize_columns(stack[-first, at, drop = FALSE])
    stack
}

# Mean zero and variance one; zero where a shuffle leaves one value.
standardize_columns <- function(x) {
    x <- center_columns(x)
    root <- sqrt(colSums(x^2) / (nrow(x) - 1))
    x / rep(ifelse(root > 0, root, 1), each = nrow(x))
}

# ---- strata and units ------------------------------------------------------

# A model that knows how its observations change places. Strata have constants
# of their own, columns that are fitted whatever the support is; units have
# variances.
design_model <- function(model, samples) {
    layout <- layout_of(samples)
    model$layout <- layout
    model$units <- unlist(layout$added, use.names = FALSE)
    strata <- samples$design$strata
    if (is.null(strata)) return(model)
    labels <- c(strata$x, strata$y)
    own <- unique(labels)[-1L]
    model$strata <- vapply(own, function(stratum) {
        as.double(labels == stratum)
    }, numeric(length(labels)))
    model$fixed <- c(model$fixed, length(model$sizes) + seq_along(own))
    model$sizes <- c(model$sizes, rep(1L, length(own)))
    model$table <- cbind(model$table, unname(model$strata))
    model
}

# The statistics of all groups given the strata, with these rows as x.
designed_statistics <- function(model, rows, control) {
    order <- c(rows, seq_len(nrow(model$table))[-rows])
    table <- if (model$within) {
        # Scales are estimated from as many rows as x has in this shuffle.
        cbind(model$evaluate(shuffled_stack(model, rows), length(rows)),
              unname(model$strata[order, , drop = FALSE]))
    } else {
        model$table[order, , drop = FALSE]
    }
    tests <- fixed_tests(model, table, length(rows), NULL, control,
                         model$units[order])
    tests$groups$statistic
}

# ---- edges -----------------------------------------------------------------

# One row for each edge. An edge with one coefficient has an estimate with its
# error and a sign; several have their norm.
logistic_edges <- function(model, chosen, sign) {
    groups <- model$tested
    last <- cumsum(model$sizes)[groups]
    sizes <- model$sizes[groups]
    single <- sizes == 1L
    tests <- chosen$tests
    coefficient <- sign * tests$estimate[last]
    square <- rowsum(tests$estimate^2, rep(seq_along(model$sizes),
                                           model$sizes))[groups, ]
    factors <- data.frame(
        estimate = ifelse(single, coefficient, sqrt(square)),
        se = ifelse(single, tests$se[last], NA_real_),
        z = chosen$z * ifelse(single & !is.na(coefficient),
                              base::sign(coefficient), 1),
        p_value = chosen$p_value,
        df = sizes,
        in_support = groups %in% chosen$groups
    )
    edges <- if (model$features$kind == "cliques") {
        clique_edges(model$sets[groups], factors)
    } else {
        cbind(pair_from_index(seq_along(groups)), factors)
    }
    edges$from <- model$variables[edges$from]
    edges$to <- model$variables[edges$to]
    edges$q_value <- stats::p.adjust(edges$p_value, "BH")
    edges
}

# Every coefficient of edges between columns of several types, for their tables.
model_coefficients <- function(model, tests, sign) {
    if (!is_mixed(model$features)) return(NULL)
    sizes <- model$sizes[model$tested]
    pairs <- pair_from_index(rep(seq_along(sizes), sizes))
    data.frame(pairs, term = sequence(sizes),
               value = sign * tests$estimate[seq_len(sum(sizes))])
}

# An edge of several sets has the smallest of their p-values, times their
# number, and the norm of all their coefficients.
clique_edges <- function(sets, factors) {
    pairs <- lapply(sets, utils::combn, 2L)
    number <- rep(seq_along(sets), vapply(pairs, ncol, 1L))
    ends <- as.data.frame(t(do.call(cbind, pairs)))
    names(ends) <- c("from", "to")
    key <- pair_key(ends)
    rows <- lapply(split(seq_along(key), key), function(at) {
        own <- factors[number[at], ]
        best <- own[which.min(own$p_value), ]
        best[c("from", "to")] <- ends[at[1L], ]
        if (length(at) == 1L) return(best)
        best$estimate <- sqrt(sum(own$estimate^2))
        best$se <- NA_real_
        best$z <- abs(best$z)
        best$p_value <- min(1, length(at) * best$p_value)
        best$df <- sum(own$df)
        best$in_support <- any(own$in_support)
        best
    })
    do.call(rbind, unname(rows))
}

# The factors of a support by their variables; a clique as its pairs.
support_pairs <- function(model, support) {
    if (model$features$kind != "cliques") return(support)
    pairs <- lapply(model$sets[support$from], function(set) {
        if (length(set) == 1L) return(rbind(c(set, set)))
        t(utils::combn(set, 2L))
    })
    if (length(pairs) == 0L) return(no_factors())
    pairs <- as.data.frame(unique(do.call(rbind, pairs)))
    stats::setNames(pairs, c("from", "to"))
}
