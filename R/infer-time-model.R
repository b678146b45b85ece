# What a window of a series says about rates: the slope of every edge's
# moment, how it depends on the rates of a support, and what every block of
# rows adds to it.
#
# A model has `pairs`, its `blocks`, the block means of the `moments` of edges,
# variance(edges, window), up to a factor the variance of the noise of edges in
# all blocks as far as their moments determine it, the model `among` some
# variables, and local(window), which returns for all edges the `slope`; the
# `noise` of every block, by which it adds to a slope, without what drifts;
# `own`, the slope that a rate of one gives its own edge; against(columns),
# those that rates of one at these edges give all edges, and toward(columns),
# those that all edges give these; hessian(columns), the symmetric part that
# screens; and curvature(columns, rates), what the noise in the moments
# themselves adds, for blocks inside. `smoother` is the matrix that smooths the
# moments of blocks: what it leaves is noise. Slopes and noise are those of
# blocks without what they have in common with the next ones, and `lags` has the
# autocovariances of rows that this leaves.

# ---- windows ---------------------------------------------------------------

# `slope` has the weights of a local line's slope (Epanechnikov's kernel), and
# `weight` those of the moments: (1 - u^2)^2, of which the former is minus the
# derivative. NULL where too few blocks lie in the window.
time_window <- function(blocks, center, half) {
    u <- (blocks$time - center) / half
    kernel <- blocks$size * pmax(1 - u^2, 0)
    if (sum(kernel > 0) < 8L) return(NULL)
    apart <- blocks$time - sum(kernel * blocks$time) / sum(kernel)
    spread <- sum(kernel * apart^2)
    if (spread < 1e-10 * sum(kernel)) return(NULL)
    weight <- blocks$size * pmax(1 - u^2, 0)^2
    list(center = center, half = half, slope = kernel * apart / spread,
         weight = weight / sum(weight), inside = which(kernel > 0))
}

# The windows that are tested: all of the span, halves and quarters of it, each
# beginning in the middle of the one before.
scale_halves <- c(1 / 2, 1 / 4, 1 / 8)

test_windows <- function(blocks) {
    windows <- lapply(seq_along(scale_halves), function(scale) {
        half <- scale_halves[scale]
        lapply(seq(half, 1 - half, by = half), function(center) {
            window <- time_window(blocks, center, half)
            # Variances of a few blocks by themselves mean little.
            if (length(window$inside) < 12L) return(NULL)
            c(window, scale = scale)
        })
    })
    Filter(Negate(is.null), unlist(windows, recursive = FALSE))
}

# All rows by their number, and no slope.
whole_window <- function(blocks) {
    count <- length(blocks$size)
    list(weight = blocks$size / sum(blocks$size), slope = numeric(count),
         inside = seq_len(count))
}

# What a smoother leaves, with the variance that noise has without it.
noise_left <- function(moments, smoother) {
    (moments - smoother %*% moments) / noise_root(smoother)
}

noise_root <- function(smoother) {
    sqrt(pmax(1 - 2 * diag(smoother) + rowSums(smoother^2), 1e-3))
}

# Local lines over half of the span.
drift_smoother <- function(blocks) line_weights(blocks$time, blocks$time, 1 / 4)

# ---- Gaussian features -----------------------------------------------------

# `removed` is the share of rows that went into the means that were taken off.
gaussian_model <- function(values, blocks, removed = 0,
                           smoother = drift_smoother(blocks)) {
    level <- block_moments(values, blocks)
    persistence <- gaussian_persistence(values, level, blocks, smoother,
                                        removed)
    free <- free_moments(values, level, persistence, blocks)
    model <- new_gaussian_model(level, free, blocks, smoother)
    model$persistence <- persistence$products
    with_dependence(model, values, smoother)
}

# The means of blocks: `products` of all pairs, and `squares`.
block_moments <- function(values, blocks) {
    upper <- upper.tri(diag(ncol(values)))
    rows <- split(seq_len(nrow(values)), blocks$unit)
    moments <- lapply(unname(rows), function(at) {
        crossprod(values[at, , drop = FALSE]) / length(at)
    })
    bind <- function(part) do.call(rbind, lapply(moments, part))
    list(products = bind(function(moment) moment[upper]), squares = bind(diag))
}

# `level` has block_moments(), and `free` the same without what blocks have in
# common.
new_gaussian_model <- function(level, free, blocks, smoother) {
    model <- list(pairs = pair_from_index(seq_len(ncol(level$products))),
                  blocks = blocks, smoother = smoother, level = level,
                  free = free, left = lapply(free, noise_left, smoother))
    model$moments <- function(edges) level$products[, edges, drop = FALSE]
    model$variance <- function(edges, window) {
        at <- model$pairs[edges, ]
        noise_variance(block_correlations(level, at, t(window$weight)),
                       block_correlations(level, at, smoother))
    }
    model$local <- function(window) gaussian_local(model, window)
    # Rates depend on the variables of the support and of the edge alone.
    model$among <- function(variables) {
        inside <- model$pairs$from %in% variables &
            model$pairs$to %in% variables
        only <- function(moments) {
            list(products = moments$products[, inside, drop = FALSE],
                 squares = moments$squares[, variables, drop = FALSE])
        }
        new_gaussian_model(only(level), only(free), blocks, smoother)
    }
    model
}

# With R the correlations in the window, Theta the rates and T(G)_ij = G_ij -
# R_ij (G_ii + G_jj) / 2, which takes off what a change of scale would do, the
# slope of R is T(R Theta R). A block enters by E = Z - (q R + R q) / 2, where Z
# are its moments and q their diagonal.
gaussian_local <- function(model, window) {
    correlation <- window_correlation(model, window$weight)
    pairs <- model$pairs
    noise <- correlation_noise(model$left, pairs, correlation)
    r <- correlation$matrix
    sums <- lapply(model$free, function(moments) {
        crossprod(window$slope, moments)
    })
    list(
        slope = drop(correlation_noise(sums, pairs, correlation)),
        noise = noise,
        own = 1 - correlation$edges^2,
        against = function(columns) scale_free(r, pairs, columns, TRUE),
        toward = function(columns) scale_free(r, pairs, columns, FALSE),
        hessian = function(columns) {
            of <- index_products(r, pairs, columns)
            of$ik * of$jl + of$il * of$jk
        },
        curvature = function(columns, rates) {
            gaussian_curvature(list(r = r, pairs = pairs, noise = noise),
                               window$inside, columns, rates)
        }
    )
}

# The correlations by the weights of a window, and the scales of variables.
window_correlation <- function(model, weight) {
    pairs <- model$pairs
    scale <- 1 / sqrt(drop(crossprod(weight, model$level$squares)))
    edges <- drop(crossprod(weight, model$level$products)) *
        scale[pairs$from] * scale[pairs$to]
    # Rounding, and blocks without any spread.
    edges <- pmin(pmax(edges, -0.999), 0.999)
    matrix <- diag(length(scale))
    matrix[cbind(pairs$from, pairs$to)] <- edges
    matrix[cbind(pairs$to, pairs$from)] <- edges
    list(matrix = matrix, edges = edges, scale = scale)
}

# The correlations of some edges by rows of weights.
block_correlations <- function(level, pairs, weights) {
    smooth <- function(part, columns) {
        weights %*% level[[part]][, columns, drop = FALSE]
    }
    # Local lines may leave the range of variances.
    scale <- pmax(smooth("squares", pairs$from), 0.1) *
        pmax(smooth("squares", pairs$to), 0.1)
    r <- smooth("products", edge_number(pairs)) / sqrt(scale)
    pmin(pmax(r, -0.95), 0.95)
}

# The variance of E in all blocks (rows), of independent Gaussian rows: with the
# correlation s, that of x y - r (x^2 + y^2) / 2 is (1 + r^2) (1 + s^2) - 4 r s.
noise_variance <- function(here, blocks) {
    here <- rep(here, each = nrow(blocks))
    (1 + here^2) * (1 + blocks^2) - 4 * here * blocks
}

# E of all rows of moments.
correlation_noise <- function(moments, pairs, correlation) {
    scale <- correlation$scale
    each <- nrow(moments$products)
    own <- moments$squares * rep(scale^2, each = each)
    moments$products * rep(scale[pairs$from] * scale[pairs$to], each = each) -
        0.5 * rep(correlation$edges, each = each) *
            (own[, pairs$from, drop = FALSE] + own[, pairs$to, drop = FALSE])
}

# The entries of R between edges i - j (rows) and k - l (columns).
index_products <- function(r, pairs, columns) {
    of <- function(end, other) r[end, other, drop = FALSE]
    k <- pairs$from[columns]
    l <- pairs$to[columns]
    list(ik = of(pairs$from, k), jl = of(pairs$to, l),
         il = of(pairs$from, l), jk = of(pairs$to, k))
}

# T(R Theta R) of all edges for rates at `columns`, or of these for rates at
# all edges, one row for each of all.
scale_free <- function(r, pairs, columns, against) {
    of <- index_products(r, pairs, columns)
    edge <- r[cbind(pairs$from, pairs$to)]
    taken <- if (against) edge * (of$ik * of$il + of$jk * of$jl) else
        rep(edge[columns], each = nrow(pairs)) *
            (of$ik * of$jk + of$il * of$jl)
    of$ik * of$jl + of$il * of$jk - taken
}

# What noise in R adds to the slope less T(R Theta R), for the blocks inside:
# the derivative of the latter along E.
gaussian_curvature <- function(local, inside, columns, rates) {
    pairs <- local$pairs
    r <- local$r
    d <- nrow(r)
    theta <- matrix(0, d, d)
    theta[cbind(pairs$from, pairs$to)[columns, , drop = FALSE]] <- rates
    theta <- theta + t(theta)
    active <- which(colSums(theta != 0) > 0)
    lifted <- (theta %*% r)[active, , drop = FALSE]
    number <- matrix(nrow(pairs) + 1L, d, d)
    number[cbind(pairs$from, pairs$to)] <- seq_len(nrow(pairs))
    number[cbind(pairs$to, pairs$from)] <- seq_len(nrow(pairs))
    noise <- cbind(local$noise[inside, , drop = FALSE], 0)
    blocks <- length(inside)
    # E Theta R of all blocks in one product: rows are blocks within variables.
    product <- matrix(noise[, as.vector(number[, active])], blocks * d) %*%
        lifted
    dim(product) <- c(blocks, d * d)
    at <- function(i, j) product[, (j - 1L) * d + i, drop = FALSE]
    own <- at(seq_len(d), seq_len(d))
    edge <- rep(r[cbind(pairs$from, pairs$to)], each = blocks)
    level <- colSums(t(r[, active, drop = FALSE]) * lifted)
    level <- rep((level[pairs$from] + level[pairs$to]) / 2, each = blocks)
    edge * (own[, pairs$from, drop = FALSE] + own[, pairs$to, drop = FALSE]) +
        level * local$noise[inside, , drop = FALSE] -
        at(pairs$from, pairs$to) - at(pairs$to, pairs$from)
}

# ---- spins -----------------------------------------------------------------

# Products of spins, with what the spins by themselves explain taken off, so
# that fields may drift as they like.
spin_model <- function(values, blocks, removed = 0,
                       smoother = drift_smoother(blocks)) {
    d <- ncol(values)
    model <- new_spin_model(values, numeric(d * (d - 1) / 2), blocks, smoother)
    table <- free_of_fields(model, rep(1 / nrow(values), nrow(values)))
    persistence <- table_persistence(table, blocks, smoother)
    model <- new_spin_model(values, persistence, blocks, smoother)
    with_dependence(model, values, smoother)
}

new_spin_model <- function(values, persistence, blocks, smoother) {
    pairs <- pair_from_index(seq_along(persistence))
    model <- list(pairs = pairs, blocks = blocks, values = values,
                  persistence = persistence, smoother = smoother)
    model$moments <- function(edges) {
        at <- pairs[edges, ]
        rowsum(values[, at$from, drop = FALSE] * values[, at$to, drop = FALSE],
               blocks$unit) / blocks$size
    }
    model$variance <- function(edges, window) {
        1 - pmin((smoother %*% model$moments(edges))^2, 0.95)
    }
    model$local <- function(window) spin_local(model, window)
    model$among <- function(variables) {
        inside <- pairs$from %in% variables & pairs$to %in% variables
        new_spin_model(values[, variables, drop = FALSE],
                       persistence[inside], blocks, smoother)
    }
    model
}

# d/dt E f = Cov(f) theta', by the weights of the window.
spin_local <- function(model, window) {
    unit <- model$blocks$unit
    size <- model$blocks$size
    rows <- (window$weight / size)[unit]
    table <- free_of_fields(model, rows)
    means <- carry_over(unname(rowsum(table, unit)) / size,
                        function(at) table[at, , drop = FALSE],
                        model$persistence, model$blocks)
    within <- unit %in% window$inside
    inner <- table[within, , drop = FALSE]
    covariance <- function(columns) {
        crossprod(table * rows, table[, columns, drop = FALSE])
    }
    list(
        slope = drop(crossprod(window$slope, means)),
        noise = noise_left(means, model$smoother),
        own = colSums(rows * table^2),
        against = covariance, toward = covariance, hessian = covariance,
        curvature = function(columns, rates) {
            score <- drop(inner[, columns, drop = FALSE] %*% rates)
            spread <- covariance(columns) %*% rates
            products <- rowsum(inner * score, unit[within])
            rep(drop(spread), each = length(window$inside)) -
                unname(products) / size[window$inside]
        }
    )
}

# The products of all pairs, less their regression on the spins.
free_of_fields <- function(model, weight) {
    values <- model$values
    products <- values[, model$pairs$from, drop = FALSE] *
        values[, model$pairs$to, drop = FALSE]
    fields <- cbind(1, values)
    # A spin that does not move in the window explains nothing.
    inverse <- solve(crossprod(fields * weight, fields) +
                         diag(1e-8, ncol(fields)))
    products - fields %*% (inverse %*% crossprod(fields * weight, products))
}
