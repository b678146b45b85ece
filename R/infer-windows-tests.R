# Every edge tested in every window against the reference, for all of them at
# once: the tests of a drift, with the contrast of two periods for a slope.

# ---- one window ------------------------------------------------------------

# All edges with their estimates and p-values, and that of no change at all.
test_periods <- function(found, spec, test) {
    samples <- as_samples(found, spec$features)
    periods <- period_model(samples, spec$features, test$block)
    contrast <- list(periods$contrast)
    null <- time_null(periods$model, contrast, test$n_perm)
    chosen <- time_support(periods$model, contrast, null, max(test$fdr, 0.1))
    rates <- rates_given(periods$model, periods$contrast,
                         edge_number(chosen$support))
    pairs <- periods$model$pairs
    scale <- period_scales(periods, spec)
    scale <- scale[pairs$from] * scale[pairs$to]
    list(edges = data.frame(from = samples$variables[pairs$from],
                            to = samples$variables[pairs$to],
                            weight = rates$estimate / scale,
                            se = rates$se / scale, p_value = chosen$p_value),
         global = global_p_value(null))
}

# The blocks of both periods, those of the window first, and the contrast of
# their moments.
period_model <- function(samples, features, block) {
    closed <- has_closed_form(features)
    both <- if (closed) feature_samples(samples, features) else
        samples[c("x", "y")]
    units <- check_periods(both, features, block)
    blocks <- list(unit = c(units$x, units$y + max(units$x)))
    blocks$size <- tabulate(blocks$unit)
    first <- seq_along(blocks$size) <= max(units$x)
    blocks$begins <- c(TRUE, diff(first) != 0)
    share <- blocks$size / ifelse(first, nrow(both$x), nrow(both$y))
    # What is left of a block without the mean of its period is noise.
    smoother <- outer(first, first, `==`) * rep(share, each = length(share))
    values <- unname(rbind(both$x, both$y))
    make <- if (closed) gaussian_model else spin_model
    list(model = make(values, blocks, 2 / nrow(values), smoother),
         values = values,
         contrast = list(slope = ifelse(first, share, -share),
                         weight = share / 2, inside = seq_along(share),
                         scale = 1))
}

period_scales <- function(periods, spec) {
    if (!has_closed_form(spec$features)) return(rep(1, ncol(periods$values)))
    residual_scales(periods, spec$control)
}

# The blocks of both, of which each must have some.
check_periods <- function(samples, features, block) {
    check_time_features(features, "kliep_windows(fdr = )")
    n <- c(nrow(samples$x), nrow(samples$y))
    if (is.null(block)) {
        longest <- max(1, min(n) %/% 12)
        lag <- max(block_length(samples$x), block_length(samples$y))
        block <- min(longest, max(lag, ceiling(sum(n) / most_blocks)))
    }
    units <- list(x = cut_blocks(n[1L], block), y = cut_blocks(n[2L], block))
    least <- vapply(units, max, 1L)
    if (min(least) >= 8L) return(units)
    stop_kliep("block",
               paste0("Tests of windows need at least 8 blocks in each window ",
                      "and in the reference: got ", least[["x"]], " and ",
                      least[["y"]], "."),
               hint = "Shorten the blocks, or lengthen the windows.")
}

# ---- all windows -----------------------------------------------------------

# What is reported of every window, at a rate for all of them together.
adjust_windows <- function(values, fdr) {
    if (is.null(fdr)) return(values)
    p <- lapply(values, function(value) value$edges$p_value)
    window <- factor(rep(seq_along(p), lengths(p)), seq_along(p))
    q <- split(stats::p.adjust(unlist(p), "BH"), window)
    Map(function(value, q) {
        if (is.null(value)) return(NULL)
        value$edges$q_value <- q
        kept <- which(value$p_value <= fdr & q <= fdr)
        kept <- kept[order(value$edges$p_value[kept])]
        value$edges <- value$edges[kept, ]
        rownames(value$edges) <- NULL
        value
    }, values, q)
}
