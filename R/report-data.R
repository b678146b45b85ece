# What the script of a report is given: the edges with what the slider goes by,
# where variables begin in the graph, and the observations behind the edges.

# More edges than this would make the page slow and large.
report_most <- 2000L

# ---- edges and the slider --------------------------------------------------

# Everything about the edges of a report, computed once: the `table` of edges,
# those below the cut included, the `cut` of each edge, the `control` that the
# slider is, whether an edge is `shown` at first, and how many edges there are
# in `all`.
report_edges <- function(fit, lambda2 = NULL) {
    table <- report_edge_table(fit, lambda2)
    control <- report_control(fit, nrow(table))
    cut <- report_cuts(fit, table)
    # Beyond the last stop there is nothing to be seen.
    last <- replace(control, "at", length(control$stops))
    seen <- passes_control(cut, last)
    # A slider that counts ends with what the page holds.
    counts <- inherits(fit, c("change_path", "kliep_select"))
    all <- if (counts) nrow(table) else sum(seen)
    seen <- utils::head(which(seen), report_most)
    list(table = table[seen, , drop = FALSE], cut = cut[seen],
         control = control, all = all,
         shown = passes_control(cut[seen], control))
}

# Edges as edges() has them, with those that are not reported.
report_edge_table <- function(fit, lambda2) {
    table <- switch(
        report_kind(fit),
        kliep_infer = edges(fit, all = TRUE),
        kliep_debias = debiased_edges(fit),
        kliep_test = fit$edges,
        kliep_stability = fit$edges,
        kliep_windows = as.data.frame(unclass(summary(fit))),
        edges(fit, lambda2 = lambda2)
    )
    table[c("changed", "kept", "paper")] <- NULL
    rownames(table) <- NULL
    table
}

debiased_edges <- function(fit) {
    table <- fit$estimates[!is.na(fit$estimates$p_value), ]
    names(table)[names(table) == "estimate"] <- "weight"
    columns <- c("from", "to", "weight", "se", "lower", "upper", "p_value",
                 "q_value")
    table[order(table$p_value), columns]
}

# The number that decides whether an edge passes: for a false discovery rate
# the smallest one at which an edge is reported, which the test of no change at
# all may put above its q-value.
report_cuts <- function(fit, table) {
    switch(
        report_kind(fit),
        kliep_infer = pmax(table$q_value, fit$global$p_value),
        kliep_debias = table$q_value,
        kliep_test = if (fit$keep == "paper") table$shuffles / fit$n_perm else
            table$p_adjusted,
        kliep_stability = table$probability,
        kliep_windows = table$windows,
        kliep_time = pmax(table$q_value, fit$global$p_value),
        seq_len(nrow(table))
    )
}

passes_control <- function(cut, control) {
    if (length(control$stops) == 0L) return(rep(TRUE, length(cut)))
    stop <- control$stops[control$at]
    if (control$at_least) cut >= stop - 1e-9 else cut <= stop + 1e-9
}

# What the slider sets, its stops from few edges to many, and the number of the
# one to begin with; `says` is the setting in words. Without stops there is no
# slider.
report_control <- function(fit, n) {
    switch(
        report_kind(fit),
        kliep_infer = rate_control(fit$fdr),
        kliep_debias = rate_control(round(1 - fit$level, 10L)),
        kliep_test = test_control(fit),
        kliep_stability = new_control(
            "Selection probability, at least",
            "with a selection probability of %s or more",
            sort(unique(c(fit$threshold, seq(0.05, 1, by = 0.05))),
                 decreasing = TRUE), fit$threshold, at_least = TRUE
        ),
        kliep_windows = new_control(
            "Windows that have the edge, at least",
            "found in %s or more windows",
            rev(seq_len(max(1L, nrow(fit$windows)))), 1, at_least = TRUE
        ),
        # Edges beyond the rate that was asked for have no curves.
        kliep_time = rate_control(fit$fdr, most = fit$fdr),
        rank_control(n)
    )
}

new_control <- function(label, says, stops, begin, at_least = FALSE,
                        expects = FALSE) {
    list(label = label, says = says, stops = stops,
         at = which.min(abs(stops - begin)), at_least = at_least,
         expects = expects)
}

error_rates <- c(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25,
                 0.3, 0.4, 0.5)

rate_control <- function(fdr, most = 1) {
    stops <- sort(unique(c(fdr, error_rates)))
    new_control("False discovery rate", "at a false discovery rate of %s",
                stops[stops <= most], fdr, expects = TRUE)
}

test_control <- function(fit) {
    stops <- sort(unique(c(fit$alpha, error_rates)))
    if (fit$keep == "paper") {
        return(new_control("Share of shuffles that detect the edge, at most",
                           "detected in a share of at most %s of all shuffles",
                           stops, fit$alpha))
    }
    new_control(paste0("Adjusted p-value (", fit$adjust, "), at most"),
                "with an adjusted p-value of at most %s", stops, fit$alpha)
}

# Without error rates the slider counts.
rank_control <- function(n) {
    steps <- c(1, 2, 3, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500,
               750, 1000, 1500, report_most)
    n <- min(n, report_most)
    stops <- if (n > 1) unique(c(steps[steps < n], n)) else numeric()
    new_control("Number of edges, the strongest first",
                "the strongest %s by rank", stops, n)
}

# What the slider means, and what it does not.
say_control <- function(fit) {
    switch(
        report_kind(fit),
        kliep_infer = paste0(
            "The slider sets the false discovery rate: the expected share of ",
            "false edges among those shown. Set it before you look: a rate ",
            "that is chosen to keep one edge controls nothing.",
            if (fit$global$p_value > min(error_rates)) paste0(
                " Below ", format(fit$global$p_value, digits = 2L), ", the ",
                "p-value of no ", change_tested(fit), " at all, no edge is ",
                "reported."
            )
        ),
        kliep_debias = paste(
            "The slider sets the false discovery rate: the expected share of",
            "false edges among those shown. Set it before you look."
        ),
        kliep_test = paste(
            "The slider also shows edges that were detected but not kept. Its",
            "initial position shows the edges that the test reports."
        ),
        kliep_stability = paste(
            "The slider sets the selection probability. The bound on false",
            "edges holds for its initial position, the threshold."
        ),
        kliep_windows = paste(
            "The slider counts windows. How often an edge is found is not an",
            "error rate, as windows may overlap."
        ),
        kliep_time = paste(
            "The slider sets the false discovery rate, up to the one that was",
            "asked for: the expected share of false edges among those shown."
        ),
        paste0(
            "This result has no q-values: the slider counts edges by rank, ",
            "and says nothing about how many of them are false. `",
            judging_verb(path_of(fit)), "` ",
            if (is_baseline(path_of(fit))) "chooses a number of them." else
                "tests every edge."
        )
    )
}

# ---- the graph -------------------------------------------------------------

# The variables with an edge, by number, and the edges between them.
report_graph <- function(fit, found) {
    table <- found$table
    names <- unique(c(table$from, table$to))
    from <- match(table$from, names)
    to <- match(table$to, names)
    place <- start_places(from, to, length(names), found$shown)
    list(variables = names, x = place[, 1L], y = place[, 2L], from = from - 1L,
         to = to - 1L, weight = table$weight, sign = report_signs(fit, table),
         cut = found$cut)
}

# Zero where a weight is the norm of several coefficients.
report_signs <- function(fit, table) {
    if (inherits(fit, "kliep_windows")) {
        fits <- Filter(Negate(is.null), fit$fits)
        return(sign(table$weight) * all(vapply(fits, is_signed, NA)))
    }
    path <- path_of(fit)
    one <- has_one_coefficient(path$spec$features,
                               match(table$from, path$variables),
                               match(table$to, path$variables))
    sign(table$weight) * as.vector(one)
}

# The layout of the edges that are shown at first; other variables stand where
# they do in the layout of all edges.
start_places <- function(from, to, n, shown) {
    if (n == 0L) return(matrix(0, 0L, 2L))
    place <- place_vertices(from, to, n)
    if (any(shown) && !all(shown)) {
        first <- place_vertices(from[shown], to[shown], n)
        at <- unique(c(from[shown], to[shown]))
        place[at, ] <- first[at, ]
    }
    place
}

# Large graphs go by forces, from a spiral: nothing here is random.
place_vertices <- function(from, to, n, large = 250L) {
    if (length(unique(c(from, to))) <= large) {
        return(graph_layout(from, to, n))
    }
    turn <- seq_len(n) * pi * (3 - sqrt(5))
    start <- sqrt(seq_len(n)) * cbind(cos(turn), sin(turn))
    graph <- igraph::make_graph(rbind(from, to), n, directed = FALSE)
    igraph::layout_with_fr(igraph::simplify(graph), coords = start,
                           niter = 300L, start.temp = sqrt(n), grid = "grid")
}

# ---- observations ----------------------------------------------------------

# For the edges of `found`, the observations of their variables; NULL where the
# result does not carry them. `graph` numbers the variables.
report_evidence <- function(fit, found, graph, room = 4e5) {
    path <- path_of(fit)
    samples <- path$samples
    if (is.null(samples) || nrow(found$table) == 0L) return(NULL)
    columns <- match(graph$variables, path$variables)
    n <- c(nrow(samples$x), nrow(samples$y))
    # Two letters for each value. If there is no room for all, observations are
    # left out rather than variables.
    drawn <- pmin(n, max(60L, min(250L, room %/% (4 * length(columns)))))
    kept <- utils::head(seq_along(columns), room %/% (2 * sum(drawn)))
    both <- Map(function(sample, n, drawn) {
        rows <- unique(round(seq(1, n, length.out = drawn)))
        sample[rows, columns[kept], drop = FALSE]
    }, samples[c("x", "y")], n, drawn)
    low <- pmin(column_ends(both$x, min), column_ends(both$y, min))
    high <- pmax(column_ends(both$x, max), column_ends(both$y, max))
    c(
        list(n = n, shown = c(nrow(both$x), nrow(both$y)), low = low,
             high = high, variables = kept - 1L,
             x = pack_columns(both$x, low, high),
             y = pack_columns(both$y, low, high),
             levels = lapply(seq_along(kept), function(k) {
                 value_labels(path$coding[[graph$variables[kept[k]]]], low[k],
                              high[k])
             })),
        edge_correlations(samples, columns[graph$from + 1L],
                          columns[graph$to + 1L], path$spec$features)
    )
}

column_ends <- function(values, end) unname(apply(values, 2L, end))

# What the lowest and the highest number of a coded column stand for; nothing
# for any other column.
value_labels <- function(coding, low, high) {
    if (is.list(coding)) return(as.character(coding$labels[c(low, high)]))
    as.character(coding)
}

base64_letters <- c(LETTERS, letters, 0:9, "+", "/")

# Each column as a text with two letters for each value: 4,096 steps from `low`
# to `high` are finer than a dot.
pack_columns <- function(values, low, high) {
    width <- ifelse(high > low, high - low, 1)
    vapply(seq_along(low), function(u) {
        step <- round(4095 * (values[, u] - low[u]) / width[u])
        paste0(base64_letters[step %/% 64 + 1], base64_letters[step %% 64 + 1],
               collapse = "")
    }, "")
}

# Of all observations, as the features see them: by ranks, or by values.
edge_correlations <- function(samples, from, to, features) {
    ranked <- is_ranked(features)
    of <- function(sample) {
        if (ranked) sample <- apply(sample, 2L, rank)
        suppressWarnings(vapply(seq_along(from), function(e) {
            stats::cor(sample[, from[e]], sample[, to[e]])
        }, 1))
    }
    list(correlation = json_one(if (ranked) "rank correlation" else
        "correlation"), r_x = of(samples$x), r_y = of(samples$y))
}

# What to say below the observations.
say_evidence <- function(fit, evidence) {
    if (is.null(evidence)) {
        if (inherits(fit, "kliep_time")) return(paste(
            "A drift does not keep its observations. The curves below show the",
            "rate of each edge over time."
        ))
        if (inherits(fit, "kliep_windows")) return(paste(
            "Windows do not keep their observations: `kliep_infer()` of one",
            "window and the reference does."
        ))
        return(if (is_baseline(path_of(fit))) paste(
            "Paths of other methods do not carry the samples, so that the",
            "observations behind an edge cannot be shown."
        ) else paste(
            "This result does not carry its samples, so that the observations",
            "behind an edge cannot be shown: `kliep_control(keep_samples =",
            "TRUE)` keeps them."
        ))
    }
    paste("Values as observed, with a least-squares line. An edge is about the",
          "dependence that is left given all other variables, which a scatter",
          "of two cannot show alone.")
}

# ---- all of it -------------------------------------------------------------

report_json <- function(fit, found, graph, evidence) {
    control <- found$control
    if (length(control$stops) > 1L) {
        control$at <- json_one(control$at - 1L)
        for (part in c("label", "says", "at_least", "expects")) {
            control[[part]] <- json_one(control[[part]])
        }
    } else {
        control <- NULL
    }
    as_json(c(graph, list(
        conditions = condition_names(fit), control = control,
        evidence = evidence
    )))
}

# What the two samples are called.
condition_names <- function(fit) {
    known <- known_conditions(fit)
    if (is.null(known)) return(c("x", "y"))
    as.character(known[c("x", "y")])
}
