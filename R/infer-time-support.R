# Which edges take part in a drift: a path of supports that are the same at all
# times, and the one that is enough.

# ---- the path --------------------------------------------------------------

# Minimises sum_w (b_w' H_w b_w / 2 - b_w' g_w) + lambda sum_e |b_e| over the
# rates of all windows w, where the rates of an edge are a group; slopes and
# rates of each window are in units of the slope's standard error, up to a
# common factor. In the shape of a change_path as far as path_support() looks.
time_path <- function(model, windows, most, nlambda = 40L, ratio = 0.1) {
    locals <- lapply(windows, model$local)
    unit <- vapply(windows, function(window) sqrt(sum(window$slope^2)), 1)
    slopes <- do.call(cbind, lapply(locals, `[[`, "slope"))
    slopes <- slopes / rep(unit, each = nrow(slopes))
    hessians <- lapply(locals, `[[`, "hessian")
    lambda <- max(sqrt(rowSums(slopes^2))) *
        ratio^(seq_len(nlambda) / nlambda)
    state <- list(active = integer(), columns = vector("list", length(windows)),
                  rates = matrix(0, 0L, length(windows)))
    steps <- list()
    for (at in seq_along(lambda)) {
        state <- solve_groups(state, slopes, hessians, lambda[at])
        found <- state$active[rowSums(state$rates^2) > 0]
        steps[[at]] <- found
        if (length(found) > most) break
    }
    support_path(steps, model$pairs)
}

support_path <- function(steps, pairs) {
    at <- unlist(steps)
    list(
        diagnostics = data.frame(n_edges = lengths(steps)),
        coefficients = data.frame(step = rep(seq_along(steps), lengths(steps)),
                                  from = pairs$from[at], to = pairs$to[at],
                                  value = rep(1, length(at)))
    )
}

# All groups that have joined are solved by descent, and those that violate the
# conditions of optimality join, until none does.
solve_groups <- function(state, slopes, hessians, lambda) {
    repeat {
        if (length(state$active) > 0L) {
            state$rates <- descend_groups(state, slopes, lambda)
        }
        size <- sqrt(rowSums(slopes_left(state, slopes)^2))
        size[state$active] <- 0
        new <- which(size > lambda * (1 + 1e-6))
        if (length(new) == 0L) return(state)
        new <- new[utils::head(order(-size[new]), 10L)]
        state$columns <- Map(function(columns, hessian) {
            cbind(columns, hessian(new))
        }, state$columns, hessians)
        state$active <- c(state$active, new)
        state$rates <- rbind(state$rates, matrix(0, length(new),
                                                 ncol(slopes)))
    }
}

slopes_left <- function(state, slopes) {
    if (length(state$active) == 0L) return(slopes)
    slopes - vapply(seq_along(state$columns), function(window) {
        drop(state$columns[[window]] %*% state$rates[, window])
    }, numeric(nrow(slopes)))
}

# Descent over the groups that have joined. The largest curvature over windows
# bounds that of a group.
descend_groups <- function(state, slopes, lambda, sweeps = 200L) {
    active <- state$active
    rates <- state$rates
    among <- lapply(state$columns, function(columns) {
        columns[active, , drop = FALSE]
    })
    bound <- do.call(pmax, lapply(among, diag))
    left <- slopes[active, , drop = FALSE]
    for (window in seq_along(among)) {
        left[, window] <- left[, window] - among[[window]] %*% rates[, window]
    }
    columns <- lapply(seq_along(active), function(group) {
        vapply(among, function(matrix) matrix[, group], numeric(length(active)))
    })
    for (sweep in seq_len(sweeps)) {
        moved <- 0
        for (group in seq_along(active)) {
            pull <- left[group, ] + bound[group] * rates[group, ]
            size <- sqrt(sum(pull^2))
            now <- pull * max(0, 1 - lambda / size) / bound[group]
            move <- now - rates[group, ]
            if (all(move == 0)) next
            rates[group, ] <- now
            left <- left - matrix(columns[[group]], length(active)) *
                rep(move, each = length(active))
            moved <- max(moved, abs(move) * bound[group])
        }
        if (moved < 1e-4 * lambda) break
    }
    rates
}

# ---- the choice ------------------------------------------------------------

# The inverse of pair_from_index().
edge_number <- function(pairs) {
    (pairs$to - 1) * (pairs$to - 2) / 2 + pairs$from
}

# As choose_support() of two samples, by the statistic over all windows.
time_support <- function(model, windows, null, level) {
    scales <- vapply(windows, `[[`, 1, "scale")
    test <- function(support) {
        z <- z_given(model, windows, edge_number(support))
        if (is.null(z)) return(NULL)
        size <- over_scales(scale_maxima(z, scales), null$offset)
        p_value <- p_from_null(size, null)
        list(support = support, z = size, windows = z, p_value = p_value,
             found = stats::p.adjust(p_value, "BH") <= level)
    }
    most <- max(2, min(60, length(model$blocks$unit) / 10))
    given <- list(most = most, test = test, pairs = pair_from_index,
                  bulk = TRUE)
    chosen <- choose_support(given, time_path(model, windows, most), null)
    hold_in_doubt(chosen, given, model)
}

# ---- doubtful edges --------------------------------------------------------

# Where changes are hardly larger than their errors, a support lacks some of
# them, and has other edges by chance: an unchanged edge is found in the place
# of a change beside it, or by what the chance edges leave. So what is found has
# the largest of its p-values given the support, given the support with the
# rivals of what is found, and given nothing but the other edges found. An edge
# that does change loses little by that.
hold_in_doubt <- function(chosen, given, model) {
    found <- which(chosen$found)
    inside <- edge_number(chosen$support)
    rivals <- rivals_of(found, chosen, model)
    supports <- list(if (length(rivals) > 0L) union(inside, rivals),
                     if (!all(inside %in% found)) found)
    for (support in Filter(length, supports)) {
        other <- given$test(given$pairs(support))
        if (is.null(other)) next
        weaker <- found[other$p_value[found] > chosen$p_value[found]]
        for (part in c("z", "p_value")) {
            chosen[[part]][weaker] <- other[[part]][weaker]
        }
    }
    chosen
}

# Edges outside of the support that may change by their own p-value, and whose
# change would show at one that is found.
rivals_of <- function(found, chosen, model) {
    if (length(found) == 0L) return(integer())
    local <- model$local(whole_window(model$blocks))
    shown <- abs(local$against(found)) /
        sqrt(outer(local$own, local$own[found]))
    near <- do.call(pmax, asplit(shown, 2L)) > 0.1
    rivals <- setdiff(which(near & chosen$p_value < 0.05),
                      c(edge_number(chosen$support), found))
    first <- order(chosen$p_value[rivals])
    rivals[utils::head(first, max(3L, length(found)))]
}
