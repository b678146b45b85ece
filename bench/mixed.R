# Columns of several types, and values that are missing: designs as those of
# designs.R, with what most people do in their place.

# No rule was made on these seeds.
mixed_seeds <- 9000L

mixed_settings <- function() {
    lapply(list(
        "12 columns of four types" = mixed_design,
        "12 columns of four types, shares of levels shifted" = shifted_design,
        "12 numeric columns, 20 % missing, by pairs" = gaps_design,
        "12 numeric columns, 20 % missing, drawn" = drawn_design,
        "12 columns of four types, 20 % missing, drawn" = mixed_gaps_design,
        "30 spins, 5 % missing, drawn" = spin_gaps_design
    ), structure, seeds = mixed_seeds, about = "columns")
}

# What is found with arguments `used`, and by another way.
find_by_ways <- function(truth, used, ignored) {
    find <- function(arguments) {
        found <- tryCatch(
            do.call(kliep_auto, c(arguments, list(control = one_thread(),
                                                  progress = FALSE))),
            # Samples that are too small to be tested show nothing.
            kliep_error_size = function(condition) NULL,
            kliep_error_constant = function(condition) NULL,
            kliep_error_conditions = function(condition) NULL
        )
        if (is.null(found)) character() else edge_names(edges(found))
    }
    list(truth = edge_names(truth), find = function(way) {
        suppressMessages(find(if (way) used else ignored))
    })
}

# ---- columns of several types ----------------------------------------------

# A pairwise network of numeric, two-valued, categorical and ordered columns;
# `changed` of its edges have the other sign in x, and with a `shift` some
# levels are more frequent there.
mixed_pair <- function(changed, n, shift = 0) {
    maps <- rep(list(NULL, rbind(-1, 1), stats::contr.helmert(3) / sqrt(2),
                     cbind(-2:2 / sqrt(2))), c(4, 3, 3, 2))
    names(maps) <- paste0(rep(c("n", "t", "c", "o"), c(4, 3, 3, 2)),
                          c(1:4, 1:3, 1:3, 1:2))
    sizes <- vapply(maps, function(map) if (is.null(map)) 1L else ncol(map), 1L)
    pairs <- utils::combn(length(maps), 2L)
    at <- pairs[, sample.int(ncol(pairs), 12L)]
    coupling <- lapply(seq_len(12L), function(k) {
        numeric <- all(vapply(maps[at[, k]], is.null, NA))
        theta <- matrix(stats::rnorm(prod(sizes[at[, k]])), sizes[at[1L, k]])
        theta / sqrt(sum(theta^2)) * if (numeric) 0.3 else 0.5
    })
    fields <- lapply(maps, function(map) stats::rnorm(NROW(map), 0, 0.3))
    draw <- function(coupling, fields) {
        mixed_draws(maps, at, coupling, fields, n)
    }
    y <- draw(coupling, fields)
    of <- seq_len(changed)
    coupling[of] <- lapply(coupling[of], `-`)
    for (u in c("t1", "c1", "o1")) {
        fields[[u]][NROW(maps[[u]])] <- fields[[u]][NROW(maps[[u]])] + shift
    }
    list(x = draw(coupling, fields), y = y,
         truth = data.frame(from = names(maps)[at[1L, of]],
                            to = names(maps)[at[2L, of]]))
}

# By Gibbs sampling, a chain for each observation.
mixed_draws <- function(maps, at, coupling, fields, n, sweeps = 60L) {
    state <- lapply(maps, function(map) {
        if (is.null(map)) stats::rnorm(n) else
            sample.int(nrow(map), n, replace = TRUE)
    })
    scores <- function(u) {
        if (is.null(maps[[u]])) cbind(state[[u]]) else
            maps[[u]][state[[u]], , drop = FALSE]
    }
    for (sweep in seq_len(sweeps)) {
        for (u in seq_along(maps)) {
            pull <- 0
            for (k in which(colSums(at == u) > 0L)) {
                first <- at[1L, k] == u
                theta <- if (first) t(coupling[[k]]) else coupling[[k]]
                pull <- pull + scores(at[if (first) 2L else 1L, k]) %*% theta
            }
            state[[u]] <- draw_column(maps[[u]], pull, fields[[u]], n)
        }
    }
    as.data.frame(Map(mixed_column, state, maps, names(maps)))
}

mixed_column <- function(values, map, name) {
    if (!is.null(map)) {
        return(factor(letters[values], letters[seq_len(nrow(map))],
                      ordered = startsWith(name, "o")))
    }
    if (name %in% c("n1", "n2")) exp(values) else values
}

draw_column <- function(map, pull, field, n) {
    if (is.null(map)) return(drop(pull) + stats::rnorm(n))
    logit <- rep(field, each = n) + if (is.matrix(pull)) pull %*% t(map) else 0
    noise <- -log(-log(stats::runif(n * nrow(map))))
    max.col(matrix(logit + noise, n))
}

# At the median, or the first level against the others.
dichotomise <- function(pair) {
    Map(function(x, y) {
        if (!is.factor(x)) {
            cut <- stats::median(c(x, y))
            return(list(x > cut, y > cut))
        }
        codes <- lapply(list(x, y), as.integer)
        cut <- stats::median(unlist(codes))
        cut <- if (cut == 1) 1.5 else cut - 0.5
        lapply(codes, `>`, cut)
    }, pair$x, pair$y)
}

two_valued_pair <- function(pair) {
    halves <- dichotomise(pair)
    lapply(1:2, function(part) {
        1 * vapply(halves, `[[`, logical(nrow(pair$x)), part)
    })
}

mixed_design <- function(changed, n = 300, shift = 0) {
    pair <- mixed_pair(changed, n, shift)
    find_by_ways(pair$truth, list(pair$x, pair$y), two_valued_pair(pair))
}

shifted_design <- function(changed) mixed_design(changed, shift = 0.8)

# ---- missing values --------------------------------------------------------

with_gaps <- function(sample, share) {
    gaps <- matrix(stats::runif(prod(dim(sample))) < share, nrow(sample))
    for (u in seq_len(ncol(sample))) sample[gaps[, u], u] <- NA
    sample
}

find_with_gaps <- function(pair, share, na) {
    x <- with_gaps(pair$x, share)
    y <- with_gaps(pair$y, share)
    find_by_ways(pair$truth, list(x, y, na = na), list(x, y, na = "omit"))
}

gaps_design <- function(changed, n = 300, na = "pairwise") {
    pair <- gaussian_pair(calibration_setting(12, n, density = 0.15, edge = 0.5,
                                              changed = changed))
    find_with_gaps(pair, 0.2, na)
}

drawn_design <- function(changed) gaps_design(changed, na = "impute")

mixed_gaps_design <- function(changed, n = 300) {
    find_with_gaps(mixed_pair(changed, n), 0.2, "impute")
}

spin_gaps_design <- function(changed, n = 300) {
    strong <- ising_chain(30, coupling = 0.5)
    other <- if (changed > 0) ising_change(strong, changed, change = -0.9) else
        strong
    find_with_gaps(sim_ising(other, strong, n, threads = 1), 0.05, "impute")
}
