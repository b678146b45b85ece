# How far to trust `q_beyond`, changes that correlations do not show: how often
# any edge has one where there is none, and what is found on the diamond.

# Finished runs are kept here, as those of the calibration are.
beyond_folder <- file.path("build", "beyond")

# The test was made on seeds from 9800 to 9863, and the null of shuffles that
# are ranked again after runs from 9900 and on 30000 to 30023; these are others.
beyond_seeds <- 40000L

bench_beyond <- function(settings = beyond_settings()) {
    table <- beyond_table(settings)
    # For the vignette on how far to trust the answer.
    saveRDS(table, file.path("inst", "paper", "beyond.rds"), version = 3)
    rbind(do.call(rbind, lapply(split(table, seq_len(nrow(table))),
                                beyond_row)),
          heavy_truth_row())
}

# Nothing changed; then correlations alone; then the diamond, where correlations
# show nothing. As the settings of the calibration, sparser and smaller.
beyond_settings <- function() {
    row <- function(n, ...) {
        calibration_setting(20, n, density = 0.1, ...)
    }
    none <- function(n, margins) {
        row(n, changed = 0, margins = margins, runs = 200L)
    }
    table <- rbind(
        over_values(c("gaussian", "t3", "lognormal", "counts", "zeros"),
                    function(kind) none(100, kind)),
        none(400, "t3"),
        over_values(c("gaussian", "shifted", "t3", "zeros"), function(kind) {
            row(400, changed = 5, margins = kind)
        }),
        calibration_setting(9, 500, graph = "diamond", changed = 8),
        calibration_setting(9, 2000, graph = "diamond", changed = 8,
                            runs = 20L)
    )
    cbind(setting = setting_name(table), table)
}

# ---- runs ------------------------------------------------------------------

# One edge is beyond correlations on the diamond alone.
beyond_run <- function(seed, setting) {
    file <- run_file(setting$setting, seed, beyond_folder)
    if (file.exists(file)) return(readRDS(file))
    pair <- with_seed(seed, calibration_pair(setting))
    set.seed(seed)
    found <- kliep_auto(unname(pair$x), unname(pair$y), fdr = setting$fdr,
                        control = one_thread(), progress = FALSE)$estimates
    beyond <- found$q_beyond <= setting$fdr
    changed <- changed_truth(pair, setting)
    truth <- setting$graph == "diamond" & changed
    of_beyond <- function(which) sum(beyond & which) / max(1, sum(beyond))
    run <- data.frame(
        setting = setting$setting, seed = seed, any = any(beyond),
        false_share = of_beyond(!truth),
        # Of rows that are large together such an edge is not wrong; see the
        # vignette.
        at_changed = of_beyond(!truth & changed),
        power = if (any(truth)) mean(beyond[truth]) else NA,
        by_correlation = sum(found$changed)
    )
    saveRDS(run, file)
    run
}

beyond_table <- function(settings) {
    dir.create(beyond_folder, showWarnings = FALSE, recursive = TRUE)
    do.call(rbind, lapply(seq_len(nrow(settings)), function(k) {
        message("beyond: ", settings$setting[k])
        runs <- do.call(rbind, on_all_cores(
            beyond_seeds + seq_len(settings$runs[k]) - 1L, beyond_run,
            setting = settings[k, ]
        ))
        data.frame(
            setting = settings$setting[k], changed = settings$changed[k],
            runs = nrow(runs), any = mean(runs$any),
            false_share = mean(runs$false_share),
            false_share_se = standard_error_of(runs$false_share),
            at_changed = mean(runs$at_changed),
            power = mean(runs$power), power_se = standard_error_of(runs$power),
            by_correlation = mean(runs$by_correlation)
        )
    }))
}

beyond_row <- function(row) {
    none <- row$changed == 0
    error <- sqrt(0.1 * 0.9 / row$runs)
    found <- sprintf("false share %.2f (%.2f)", row$false_share,
                     row$false_share_se)
    more <- if (is.na(row$power)) sprintf(
        ", at changed edges %.2f", row$at_changed
    ) else sprintf(", power %.2f (%.2f)", row$power, row$power_se)
    bench_row(
        row$setting,
        if (none) sprintf("any edge in %.3f", row$any) else paste0(found, more),
        paste(row$runs, "runs"),
        if (none) at_most(row$any - 2 * error, 0.1, " within two errors") else
            at_most(row$false_share - 2 * row$false_share_se, 0.1,
                    " within two errors")
    )
}

# What is there to find where rows have a multivariate t distribution and one
# correlation of two changes its sign: how far the test of an edge, given the
# product of the edge that changes, is from its mean without a change, in
# squared standard errors of 400 + 400 observations.
heavy_truth_row <- function(n = 1e5, d = 6L) {
    network <- diag(d)
    network[cbind(c(1:4), c(2, 1, 4, 3))] <- 0.3
    turned <- network
    turned[cbind(1:2, 2:1)] <- -0.3
    draw <- function(network) {
        z <- matrix(stats::rnorm(n * d), n) %*% chol(solve(network))
        z / sqrt(stats::rchisq(n, 3) / 3)
    }
    samples <- with_seed(1, list(x = draw(network), y = draw(turned),
                                 variables = letters[seq_len(d)]))
    core <- asNamespace("kliepnet")
    model <- core$beyond_model(samples, FALSE, one_thread())
    support <- core$support_features(model, list(members = integer(),
                                                 products = 1L))
    edges <- core$all_edges(model)
    tests <- core$logistic_tests(
        cbind(support$table, core$edge_features(model, edges)$beyond), n,
        c(support$sizes, rep(5L, length(edges))), seq_along(support$sizes),
        one_thread()
    )
    apart <- (tests$groups$statistic[-seq_along(support$sizes)] - 5) / n * 400
    bench_row(
        "t3, one correlation changes its sign, 100,000 rows",
        sprintf("at its edge %.1f, at others at most %.2f", apart[1L],
                max(apart[-1L])), "squared errors of n = 400"
    )
}
