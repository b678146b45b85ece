# Whether the intervals of kliep_infer() hold the truth as often as they say,
# with no change, five and fifteen of them.

# Settings and runs as for the calibration; the tests were made on other seeds.
interval_seeds <- 7000L

bench_intervals <- function(settings = interval_settings()) {
    do.call(rbind, lapply(seq_len(nrow(settings)), function(k) {
        setting <- settings[k, ]
        message("intervals: ", setting$setting)
        covered <- in_runs(interval_seeds + seq_len(setting$runs), function() {
            interval_run(setting)
        })
        interval_rows(setting, do.call(rbind, covered))
    }))
}

interval_settings <- function(row = calibration_setting) {
    gaussian <- over_values(c(0, 5, 15), function(changed) {
        row(50, 400, changed = changed, runs = 100L)
    })
    spins <- over_values(c(0, 5), function(changed) {
        row(25, 500, graph = "ising", edge = 0.4, changed = changed,
            runs = 100L)
    })
    table <- rbind(gaussian, row(20, 1000, density = 0.1, changed = 5,
                                 runs = 100L), spins)
    cbind(setting = paste0(setting_name(table), ", ", table$changed,
                           " changes"), table)
}

# The share of edges whose interval holds the truth: of all edges, of those that
# changed, of the others in the support; and of all of them at once.
interval_run <- function(setting) {
    pair <- calibration_pair(setting)
    spins <- setting$graph == "ising"
    result <- kliep_infer(
        pair$x, pair$y, if (spins) feat_ising() else feat_nonparanormal(),
        control = one_thread(), progress = FALSE
    )
    truth <- true_changes(pair, spins)
    table <- result$estimates
    holds <- function(limits) limits[, 1L] <= truth & truth <= limits[, 2L]
    inside <- holds(table[c("lower", "upper")])
    data.frame(
        all = mean(inside), changed = mean(inside[truth != 0]),
        support = mean(inside[truth == 0 & table$in_support]),
        together = all(holds(confint(result, type = "simultaneous")))
    )
}

# In the units of the estimates: couplings of spins, partial correlations
# otherwise, those of x less those of y.
true_changes <- function(pair, spins) {
    of <- if (spins) as.matrix else function(network) {
        -stats::cov2cor(as.matrix(network))
    }
    change <- of(pair$networks$x) - of(pair$networks$y)
    change <- change[upper.tri(change)]
    replace(change, abs(change) < 1e-10, 0)
}

interval_rows <- function(setting, runs) {
    one <- function(name, what, goal = FALSE) {
        values <- runs[[name]][!is.na(runs[[name]])]
        if (length(values) == 0L) return(NULL)
        bench_row(
            paste0(setting$setting, ": ", what),
            sprintf("%.3f (%.3f)", mean(values), standard_error_of(values)),
            sprintf("%d runs", length(values)),
            if (goal) list(text = "within .02 of .95",
                           met = abs(mean(values) - 0.95) <= 0.02)
        )
    }
    rbind(one("all", "all edges", TRUE),
          one("changed", "those that changed", TRUE),
          one("support", "unchanged, in the support"),
          one("together", "all at once"))
}
