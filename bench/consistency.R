# Support consistency (Liu et al. 2017): the share of runs in which exactly the
# changed edges are detected, against n / log m. It should rise from nothing
# to one over a range of n / log m that is the same for every m.

bench_consistency <- function(sizes = c(25, 64, 100),
                              ratios = seq(60, 150, by = 15), seeds = 100L) {
    shares <- expand.grid(m = sizes, ratio = ratios)
    shares$n <- round(shares$ratio * log(shares$m))
    runs <- Map(exact_runs, shares$m, shares$n, seeds)
    shares$share <- vapply(runs, function(run) mean(run$exact), 0)
    shares$missed <- vapply(runs, function(run) mean(run$missed), 0)
    shares$false <- vapply(runs, function(run) mean(run$false), 0)
    draw_consistency(shares, seeds, "build/consistency.png")
    failed <- sum(vapply(runs, function(run) sum(!run$converged), 0))
    rbind(
        do.call(rbind, lapply(ratios, consistency_row, shares, seeds)),
        middle_row(shares),
        reached_row("all: ", seeds * nrow(shares) - failed,
                    seeds * nrow(shares))
    )
}

# Seeds are the same for every m and n, and no two pairs are: the sizes differ.
exact_runs <- function(m, n, seeds) {
    do.call(rbind, lapply(seq_len(seeds), exact_run, m, n))
}

exact_run <- function(seed, m, n) {
    set.seed(seed)
    pair <- sim_lattice(m = m, n = n)
    fit <- kliep_change(pair$x, pair$y, spec = kliep_spec_paper(), lambda1 = 0,
                        lambda2 = 2 * sqrt(log(m) / n), standardize = "none",
                        control = kliep_control(threads = 1))
    found <- pr_curve(fit, pair)$points
    missed <- nrow(pair$truth) - found$tp
    data.frame(exact = missed == 0 & found$fp == 0, missed = missed,
               false = found$fp,
               converged = fit$diagnostics$status == "converged")
}

# One row for each n / log m, with all m side by side.
consistency_row <- function(ratio, shares, seeds) {
    rows <- shares[shares$ratio == ratio, ]
    goal <- if (ratio == min(shares$ratio)) {
        at_most(max(rows$share), 0.3, "")
    } else if (ratio == max(shares$ratio)) {
        at_least(min(rows$share), 0.85, "")
    }
    bench_row(
        paste0("exact support at n / log m = ", ratio, ", m = ",
               paste(rows$m, collapse = ", ")),
        paste(sprintf("%.2f", rows$share), collapse = ", "),
        sprintf("%.2f missed, %.2f false", mean(rows$missed),
                mean(rows$false)),
        goal
    )
}

# Where half the runs are exact, for information. The theorem is about large m:
# on a grid of 5 x 5 two edges in five lie at the border, where a change moves
# the covariances less, and half the runs are exact somewhat later.
middle_row <- function(shares) {
    middle <- vapply(split(shares, shares$m), function(rows) {
        stats::approx(rows$share, rows$ratio, 0.5, ties = mean)$y
    }, 0)
    bench_row(
        paste0("half exact at n / log m, m = ",
               paste(names(middle), collapse = ", ")),
        paste(sprintf("%.0f", middle), collapse = ", "),
        paste0(sprintf("%.2f", max(middle) / min(middle)), "x apart")
    )
}

draw_consistency <- function(shares, seeds, file) {
    shares$size <- factor(paste("m =", shares$m),
                          paste("m =", unique(shares$m)))
    shares$se <- sqrt(shares$share * (1 - shares$share) / seeds)
    # Both scales, to see on which the curves line up.
    both <- rbind(cbind(shares, x = shares$ratio, scale = "n / log m"),
                  cbind(shares, x = shares$n, scale = "n"))
    both$scale <- factor(both$scale, c("n / log m", "n"))
    plot <- ggplot2::ggplot(
        both, ggplot2::aes(x, share, colour = size, linetype = size)
    ) +
        ggplot2::geom_ribbon(
            ggplot2::aes(ymin = pmax(0, share - se),
                         ymax = pmin(1, share + se), fill = size),
            alpha = 0.15, colour = NA
        ) +
        ggplot2::geom_line(linewidth = 0.7) +
        ggplot2::geom_point(size = 1.5) +
        ggplot2::facet_wrap("scale", scales = "free_x",
                            strip.position = "bottom") +
        kliepnet:::scale_methods(levels(shares$size)) +
        ggplot2::coord_cartesian(ylim = c(0, 1)) +
        ggplot2::labs(x = NULL, y = "share of runs with the exact support") +
        kliepnet:::theme_kliepnet() +
        ggplot2::theme(strip.placement = "outside")
    ggplot2::ggsave(file, plot, width = 8, height = 4, dpi = 120,
                    bg = "white")
    message("bench: drawn to ", file)
}
