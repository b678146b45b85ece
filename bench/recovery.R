# Whether the right edges come out, on data whose change is known: average
# precision over seeds, and what selection picks.

bench_recovery <- function() {
    rbind(diamond_rows(), ising_rows(), power_row(), degree_row())
}

# The paper's diamond: no correlation, so that Gaussian features see nothing.
diamond_rows <- function(seeds = 5L) {
    families <- list(gaussian = feat_gaussian(),
                     "polynomial, degree 4" = feat_polynomial(4, basis = "raw"),
                     "its interactions" = feat_polynomial(4, "interactions",
                                                          "raw"))
    precision <- vapply(seq_len(seeds), function(seed) {
        pair <- with_seed(seed, sim_diamond(d = 9, n = 5000))
        vapply(families, function(features) {
            recovered(kliep_path(pair$x, pair$y, features, nlambda = 30,
                                 spec = kliep_spec_paper()), pair)
        }, 0)
    }, numeric(length(families)))
    precision_rows("diamond, d = 9, n = 5000", precision,
                   better = "polynomial, degree 4", than = "gaussian")
}

ising_rows <- function(seeds = 10L, sizes = c(50, 100, 200, 400)) {
    couplings <- ising_chain(30, 0.4)
    precision <- vapply(seq_len(seeds), function(seed) {
        vapply(sizes, function(n) {
            pair <- with_seed(seed, sim_ising(
                couplings, ising_change(couplings, 6), n
            ))
            recovered(kliep_path(pair$x, pair$y, feat_ising(),
                                 spec = kliep_spec_paper()), pair)
        }, 0)
    }, numeric(length(sizes)))
    rownames(precision) <- paste("n =", sizes)
    means <- rowMeans(precision)
    rows <- precision_rows("Ising chain, d = 30", precision)
    last <- nrow(rows)
    rows$goal[last] <- "rises with n"
    rows$met[last] <- if (all(diff(means) > 0)) "yes" else "no"
    rows
}

power_row <- function(seeds = 10L) {
    powers <- vapply(seq_len(seeds), function(seed) {
        pair <- with_seed(seed, sim_nonparanormal(
            d = 10, n = 500, density = 0.3, edge = 0.4, n_changed = 10,
            change = -0.8
        ))
        chosen <- with_seed(seed, kliep_select(
            pair$x, pair$y, kliep_spec_paper(),
            features = lapply(1:3, feat_nonparanormal)
        ))
        chosen$fit$spec$features$power
    }, 0)
    picked_row("square roots of Gaussians: power 2 picked", powers == 2)
}

degree_row <- function(seeds = 5L) {
    degrees <- vapply(seq_len(seeds), function(seed) {
        pair <- with_seed(seed, sim_diamond(d = 9, n = 5000,
                                            n_holdout = 5000))
        chosen <- kliep_select(pair$x, pair$y, kliep_spec_paper(),
                               features = lapply(2:4, feat_polynomial,
                                                 basis = "raw"),
                               newx = pair$holdout$x, newy = pair$holdout$y,
                               nlambda = 20)
        chosen$fit$spec$features$settings$degree
    }, 1L)
    picked_row("diamond: degree 4 (x_u^2 x_v^2) picked", degrees == 4L)
}

# ---- rows ------------------------------------------------------------------

recovered <- function(path, pair) pr_curve(path, pair)$average_precision

# Mean and standard error over seeds, in columns.
precision_rows <- function(what, precision, better = NULL, than = NULL) {
    means <- rowMeans(precision)
    errors <- apply(precision, 1L, stats::sd) / sqrt(ncol(precision))
    rows <- bench_row(
        paste0(what, ", ", rownames(precision)),
        sprintf("%.3f (se %.3f)", means, errors),
        paste("average precision,", ncol(precision), "seeds")
    )
    if (!is.null(better)) {
        at <- match(better, rownames(precision))
        rows$goal[at] <- paste("far above", than)
        rows$met[at] <- if (means[[better]] > means[[than]] + 0.2) "yes" else
            "no"
    }
    rows
}

picked_row <- function(what, picked) {
    bench_row(what, paste(sum(picked), "of", length(picked)), "",
              list(text = "most", met = mean(picked) > 0.5))
}
