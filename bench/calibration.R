# How far to trust the edges that are reported: the share of false ones, the
# share of runs that report any where nothing changed, and the power, on
# settings that users meet. Truth is a changed partial correlation.

# Finished runs are kept here: see runs.R.
calibration_folder <- file.path("build", "calibration")

# Rules were made on seeds up to 200 and from 2001 to 2060; these are others.
calibration_seeds <- 5000L

bench_calibration <- function(settings = calibration_settings()) {
    runs <- calibration_runs(settings)
    table <- calibration_table(runs)
    # For the vignette on how far to trust the answer.
    saveRDS(table, file.path("inst", "paper", "calibration.rds"), version = 3)
    by <- split(table, factor(table$setting, unique(table$setting)))
    rbind(do.call(rbind, lapply(by, calibration_rows)),
          power_rows(table, settings))
}

# ---- settings --------------------------------------------------------------

# One row for each setting. `edge` is the value of the edges; where they change,
# they change sign or, with `change = "vanish"`, are zero in the second sample,
# of `n_y` observations. `fdr` is what is asked for.
calibration_settings <- function() {
    table <- rbind(sizes_settings(), network_settings(), margin_settings(),
                   rate_settings(), other_settings(), unchanged_settings(),
                   count_settings())
    cbind(setting = setting_name(table), table)
}

calibration_setting <- function(d, n, ...) {
    setting <- data.frame(d, n, n_y = n, graph = "random", density = 4 / d,
                          edge = if (n < 200) 0.4 else 0.3, changed = d %/% 4,
                          change = "sign", margins = "gaussian", fdr = 0.1,
                          runs = 50L)
    given <- list(...)
    setting[names(given)] <- given
    setting
}

over_values <- function(values, setting) {
    do.call(rbind, lapply(values, setting))
}

# From too little to plenty of data, and samples of unequal size. With many
# observations, edges that vanish are the harder ones: what is beside them
# differs in its variance.
sizes_settings <- function(row = calibration_setting) {
    rbind(
        over_values(c(20, 50, 100, 400, 1000, 5000), function(n) {
            row(20, n, changed = 5, density = 0.1)
        }),
        over_values(c(20, 50, 100, 400, 1000), function(n) row(50, n)),
        row(50, 5000),
        over_values(c(50, 100), function(n) row(200, n)),
        row(200, 400),
        row(200, 1000),
        row(1000, 200, changed = 100, runs = 10L),
        over_values(c(1000, 5000), function(n) {
            row(20, n, changed = 5, density = 0.1, edge = 0.5,
                change = "vanish")
        }),
        over_values(c(400, 1000), function(n) {
            row(50, n, edge = 0.5, change = "vanish")
        }),
        row(200, 400, edge = 0.5, change = "vanish"),
        row(50, 100, n_y = 400),
        row(50, 40, n_y = 400),
        row(20, 1000, density = 0.1, n_y = 50)
    )
}

network_settings <- function(row = calibration_setting) {
    rbind(
        over_values(c("scale_free", "hub"), function(graph) {
            rbind(row(200, 100, graph = graph),
                  row(200, 400, graph = graph))
        }),
        row(100, 400, density = 0.25, changed = 15, edge = 0.15),
        row(40, 400, density = 0.25, changed = 15, edge = 0.2),
        row(40, 1000, density = 0.25, changed = 15, edge = 0.2)
    )
}

calibration_margins <- c("nonparanormal", "t3", "lognormal", "shifted", "ties",
                         "outlier")

margin_settings <- function(row = calibration_setting) {
    of_size <- function(n) {
        over_values(calibration_margins, function(kind) {
            row(50, n, margins = kind)
        })
    }
    rbind(of_size(100), of_size(400), row(200, 400, margins = "t3"))
}

# Other false discovery rates.
rate_settings <- function(row = calibration_setting) {
    over_values(c(0.05, 0.2), function(fdr) {
        rbind(row(20, 400, changed = 5, density = 0.1, fdr = fdr),
              row(50, 100, fdr = fdr), row(50, 400, fdr = fdr),
              row(50, 400, margins = "t3", fdr = fdr))
    })
}

# Other features: spins whose couplings change by 0.2 to 0.6, and the diamond,
# where correlations show nothing.
other_settings <- function(row = calibration_setting) {
    rbind(
        over_values(c(0.2, 0.4, 0.6), function(edge) {
            row(25, 500, graph = "ising", edge = edge, changed = 5)
        }),
        row(25, 500, graph = "ising", edge = 0.4, changed = 0, runs = 200L),
        row(9, 500, graph = "diamond", changed = 8)
    )
}

# Nothing changed: levels need more runs than powers do.
unchanged_settings <- function() {
    row <- function(...) {
        calibration_setting(..., changed = 0, runs = 200L)
    }
    rbind(
        over_values(c(20, 50, 100, 400, 1000), function(n) {
            row(20, n, density = 0.1)
        }),
        over_values(c(20, 50, 100, 400, 1000), function(n) row(50, n)),
        row(20, 5000, density = 0.1),
        over_values(c(30, 100), function(n) row(200, n)),
        over_values(calibration_margins, function(kind) {
            row(50, 100, margins = kind)
        }),
        row(50, 40, n_y = 400),
        row(100, 400, density = 0.25, edge = 0.15)
    )
}

# Small counts, and counts of which more than half are zero.
count_settings <- function(row = calibration_setting) {
    over_values(c("counts", "zeros"), function(kind) {
        rbind(
            over_values(c(100, 400), function(n) {
                row(20, n, changed = 5, density = 0.1, margins = kind)
            }),
            row(20, 100, changed = 0, density = 0.1, margins = kind,
                runs = 200L)
        )
    })
}

setting_name <- function(table) {
    common <- ifelse(table$density > 0.2 & table$graph == "random", "dense",
                     table$graph)
    sizes <- ifelse(table$n == table$n_y, table$n,
                    paste(table$n, "+", table$n_y))
    paste0(common, ", ", ifelse(table$margins == "gaussian", "",
                                paste0(table$margins, ", ")),
           "d = ", table$d, ", n = ", sizes,
           ifelse(table$graph == "ising", paste0(", by ", table$edge), ""),
           ifelse(table$change == "vanish", ", vanishing", ""),
           ifelse(table$fdr == 0.1, "", paste0(", fdr ", table$fdr)),
           ifelse(table$changed == 0, ", no change", ""))
}

calibration_pair <- function(setting) {
    if (setting$graph == "ising") return(ising_pair(setting))
    if (setting$graph == "diamond") {
        return(sim_diamond(d = setting$d, n = setting$n))
    }
    pair <- gaussian_pair(setting)
    pair[c("x", "y")] <- with_margins(pair$x, pair$y, setting$margins)
    pair
}

# A few networks of large hubs have no Gaussian distribution, and are drawn
# again.
gaussian_pair <- function(setting) {
    for (attempt in 1:1000) {
        pair <- tryCatch(sim_gaussian(
            d = setting$d, n = c(x = setting$n, y = setting$n_y),
            graph = setting$graph, density = setting$density,
            edge = setting$edge, n_changed = setting$changed,
            change = setting$edge * if (setting$change == "sign") -2 else -1
        ), kliep_error_positive_definite = function(condition) NULL,
        kliep_error_size = function(condition) NULL)
        if (!is.null(pair)) return(pair)
    }
}

# A square grid of spins.
ising_pair <- function(setting) {
    side <- sqrt(setting$d)
    couplings <- ising_lattice(side, side, coupling = 0.4)
    changed <- if (setting$changed == 0) couplings else
        ising_change(couplings, setting$changed, change = -setting$edge)
    sim_ising(couplings, changed, setting$n)
}

with_margins <- function(x, y, kind) {
    d <- ncol(x)
    # Each row divided by what makes a t with three degrees of freedom of it.
    heavy <- function(x) x / sqrt(stats::rchisq(nrow(x), 3) / 3)
    bend <- function(x) sign(x) * abs(x)^1.5 + x
    # Poisson with mean 2, and negative binomial with 58 % zeros.
    count <- function(x) stats::qpois(stats::pnorm(scale(x)), 2)
    sparse <- function(x) {
        matrix(stats::qnbinom(stats::pnorm(scale(x)), size = 0.5, mu = 1),
               nrow(x))
    }
    switch(kind,
        gaussian = list(x, y),
        nonparanormal = list(bend(x), bend(y)),
        t3 = list(heavy(x), heavy(y)),
        lognormal = list(exp(1.5 * x), exp(1.5 * y)),
        shifted = list(x, sweep(sweep(y, 2L, exp(stats::rnorm(d)), "*"), 2L,
                                3 * stats::rnorm(d), "+")),
        ties = list(round(2 * x), round(2 * y)),
        counts = list(count(x), count(y)),
        zeros = list(sparse(x), sparse(y)),
        outlier = list(replace(x, cbind(1L, seq_len(d)),
                               10 * stats::rnorm(d)), y)
    )
}

# Which edges changed, in the order of tests: (1, 2), (1, 3), (2, 3), ...
changed_truth <- function(pair, setting) {
    d <- setting$d
    if (setting$graph %in% c("ising", "diamond")) {
        names <- colnames(pair$x)
        pairs <- which(upper.tri(diag(d)), arr.ind = TRUE)
        key <- function(from, to) paste(pmin(from, to), pmax(from, to))
        return(key(pairs[, 1L], pairs[, 2L]) %in%
                   key(match(pair$truth$from, names),
                       match(pair$truth$to, names)))
    }
    partial <- lapply(pair$networks, function(network) {
        stats::cov2cor(as.matrix(network))
    })
    apart <- abs(partial$x - partial$y) > 1e-10
    apart[upper.tri(apart)]
}

# ---- methods ---------------------------------------------------------------

# A method takes both samples and a false discovery rate and returns `found`,
# TRUE for each edge that it reports, and what else is of interest.
calibration_methods <- function(setting, run) {
    if (setting$graph == "ising") return(list("kliep_auto()" = method_auto))
    if (setting$graph == "diamond") {
        return(list("kliep_auto()" = method_auto,
                    "polynomial" = method_polynomial("within"),
                    "polynomial, pooled" = method_polynomial("pooled")))
    }
    # The prototype is slow.
    slow <- setting$d > 50 || setting$fdr != 0.1 || run > 10L
    c(list("kliep_auto()" = method_auto,
           "node-wise" = on_ranks(method_nodewise)),
      if (!slow && has_prototype())
          list("prototype" = on_ranks(method_prototype)))
}

on_ranks <- function(method) {
    function(x, y, fdr) {
        both <- npn_transform(x, y)
        method(both$x, both$y, fdr)
    }
}

one_thread <- function() kliep_control(threads = 1)

reported_edges <- function(result) {
    list(found = result$estimates$changed, global = result$global$p_value,
         support = nrow(result$support))
}

method_auto <- function(x, y, fdr) {
    reported_edges(kliep_auto(x, y, fdr = fdr, control = one_thread(),
                              progress = FALSE))
}

method_polynomial <- function(standardize) {
    function(x, y, fdr) {
        reported_edges(kliep_infer(
            x, y, features = feat_polynomial(4), fdr = fdr,
            standardize = standardize, control = one_thread(),
            progress = FALSE
        ))
    }
}

# The plain R that the tests were first tried in, which is no part of this tree:
# beside it, or where KLIEPNET_SHARED says.
prototype_file <- function() {
    file.path(Sys.getenv("KLIEPNET_SHARED", file.path("..", "shared")),
              "prototypes", "score_tests.R")
}

has_prototype <- function() {
    file.exists(prototype_file()) && requireNamespace("glmnet", quietly = TRUE)
}

method_prototype <- function(x, y, fdr) {
    prototype <- new.env()
    sys.source(prototype_file(), prototype)
    result <- prototype$changed_edges(unname(x), unname(y), fdr)
    low <- pmin(result$edges$from, result$edges$to)
    high <- pmax(result$edges$from, result$edges$to)
    list(found = seq_len(choose(ncol(x), 2)) %in%
             ((high - 1) * (high - 2) / 2 + low),
         global = result$global, support = result$support)
}

# As published (Xia, Cai and Cai, 2015), except that the penalties are two to a
# tenth and not four.
method_nodewise <- function(x, y, fdr, deltas = seq(2, 0.1, by = -0.1)) {
    samples <- kliepnet:::check_samples(x, y)
    d <- ncol(x)
    model <- function(partial, n) {
        rho <- partial * (abs(partial) >= 2 * sqrt(log(d) / n))
        (1 - rho^2)^2 / n
    }
    share <- stats::pnorm(sqrt(log(d)), lower.tail = FALSE)
    points <- share * (1:10) / 10
    best <- list(misfit = Inf)
    for (delta in deltas) {
        tests <- kliepnet:::neighbour_tests(samples, one_thread(),
                                            deltas = delta)
        w <- (tests$partial_x - tests$partial_y) /
            sqrt(model(tests$partial_x, nrow(x)) +
                     model(tests$partial_y, nrow(y)))
        beyond <- vapply(stats::qnorm(1 - points), function(cut) {
            sum(abs(w) > cut)
        }, 0)
        misfit <- sum((beyond / (points * d * (d - 1)) - 1)^2)
        if (misfit < best$misfit) best <- list(misfit = misfit, w = w)
    }
    list(found = nodewise_cut(abs(best$w), d, fdr))
}

nodewise_cut <- function(w, d, fdr) {
    cuts <- sort(w[w <= 2 * sqrt(log(d))])
    false <- d * (d - 1) * stats::pnorm(cuts, lower.tail = FALSE)
    reported <- length(w) + 1 - seq_along(cuts)
    fine <- which(false / pmax(reported, 1) <= fdr)
    w >= if (length(fine) > 0L) cuts[fine[1L]] else 2 * sqrt(log(d))
}

# The share of the changed edges that the best cut of the path's ranking has
# with a false share of at most .2.
oracle_power <- function(pair, setting) {
    if (setting$changed == 0) return(NA_real_)
    features <- switch(setting$graph, ising = feat_ising(),
                       diamond = feat_polynomial(4), feat_nonparanormal())
    path <- kliep_path(pair$x, pair$y, features, lambda1 = 0.1, nlambda = 40,
                       control = one_thread())
    power_at(pr_curve(path, pair), 0.2)
}

# ---- runs ------------------------------------------------------------------

# All runs of all settings, each on a core of its own. Small samples come first:
# a bench that is ended early has then finished more settings.
calibration_runs <- function(settings, first = calibration_seeds,
                             folder = calibration_folder) {
    dir.create(folder, showWarnings = FALSE, recursive = TRUE)
    by_size <- order(settings$d^2 * (settings$n + settings$n_y))
    parts <- lapply(by_size, function(k) {
        setting <- settings[k, ]
        message("calibration: ", setting$setting)
        do.call(rbind, without_beyond(on_all_cores(
            first + seq_len(setting$runs) - 1L, calibration_run,
            setting = setting, folder = folder
        )))
    })
    do.call(rbind, parts[order(by_size)])
}

# A method that is in the file already is not run again.
calibration_run <- function(seed, setting, folder) {
    methods <- calibration_methods(setting, seed - calibration_seeds + 1L)
    file <- run_file(setting$setting, seed, folder)
    done <- if (file.exists(file)) readRDS(file)
    left <- setdiff(c(names(methods), "oracle"), done$method)
    if (length(left) == 0L) return(done)
    pair <- with_seed(seed, calibration_pair(setting))
    new <- lapply(left, function(method) {
        set.seed(seed)
        values <- if (method == "oracle") {
            list(power = oracle_power(pair, setting))
        } else {
            measure_method(methods[[method]], pair, setting)
        }
        empty <- list(power = NA, false_share = NA, any = NA, reported = NA,
                      support = NA, global = NA, seconds = NA, error = NA)
        as.data.frame(c(list(setting = setting$setting, fdr = setting$fdr,
                             seed = seed, method = method),
                        utils::modifyList(empty, values)))
    })
    done <- rbind(done, do.call(rbind, new))
    saveRDS(done, file)
    done
}

measure_method <- function(method, pair, setting) {
    truth <- changed_truth(pair, setting)
    # Of the processor: other runs go on beside this one.
    seconds <- sum(system.time(result <- tryCatch(
        method(unname(pair$x), unname(pair$y), setting$fdr),
        error = function(condition) list(error = conditionMessage(condition))
    ))[c("user.self", "sys.self")])
    if (!is.null(result$error)) return(result["error"])
    found <- result$found
    values <- list(
        power = if (any(truth)) mean(found[truth]) else NA,
        false_share = sum(found & !truth) / max(1, sum(found)),
        any = any(found), reported = sum(found), support = result$support,
        global = result$global, seconds = seconds
    )
    values[lengths(values) > 0L]
}

# ---- tables ----------------------------------------------------------------

# Means over runs, one row for each setting and method. `lead` is that of its
# power over the node-wise test's on the same samples.
calibration_table <- function(runs) {
    key <- paste(runs$setting, runs$method)
    parts <- split(runs, factor(key, unique(key)))
    table <- do.call(rbind, unname(lapply(parts, function(rows) {
        failed <- !is.na(rows$error)
        kept <- rows[!failed, ]
        # The node-wise test fails now and then.
        lead <- kept$power - nodewise_power(kept, runs)
        lead <- lead[!is.na(lead)]
        data.frame(
            setting = rows$setting[1L], fdr = rows$fdr[1L],
            method = rows$method[1L],
            runs = nrow(rows), failed = sum(failed),
            false_share = mean(kept$false_share),
            false_share_se = standard_error_of(kept$false_share),
            any = mean(kept$any), power = mean(kept$power),
            power_se = standard_error_of(kept$power),
            lead = mean(lead), lead_se = standard_error_of(lead),
            reported = mean(kept$reported), support = mean(kept$support),
            global = mean(kept$global <= kept$fdr),
            seconds = stats::median(kept$seconds)
        )
    })))
    table$missed <- is_missed(table)
    table
}

nodewise_power <- function(rows, runs) {
    other <- runs[runs$method == "node-wise" &
                      runs$setting == rows$setting[1L], ]
    other$power[match(rows$seed, other$seed)]
}

# The promise of a false discovery rate, by two errors: of the share of false
# edges or, where nothing changed, of runs that report any, at most .1.
is_missed <- function(table) {
    ifelse(is.na(table$power),
           table$any - 2 * sqrt(0.1 * 0.9 / table$runs) > 0.1,
           table$false_share - 2 * table$false_share_se > table$fdr)
}

calibration_rows <- function(table) {
    oracle <- table$power[table$method == "oracle"]
    rows <- table[table$method != "oracle", ]
    none <- is.na(oracle)
    shown <- bench_row(
        paste0(rows$setting, ": ", rows$method),
        if (none) sprintf("any edge in %.3f", rows$any) else sprintf(
            "false share %.2f (%.2f), power %.2f (oracle %.2f)",
            rows$false_share, rows$false_share_se, rows$power, oracle
        ),
        sprintf("%d runs, %s", rows$runs, show_seconds(rows$seconds))
    )
    ours <- rows$method == "kliep_auto()"
    shown$goal[ours] <- paste("at most", if (none) 0.1 else rows$fdr[1L],
                              "within two errors")
    shown$met[ours] <- if (rows$missed[ours]) "no" else "yes"
    shown
}

# In how many settings kliep_auto() has the power that was asked for: that of
# the node-wise test where this keeps its level, and nine tenths of the oracle's
# where there are at least 400 observations of each sample.
power_rows <- function(table, settings) {
    of <- function(method) {
        rows <- table[table$method == method, ]
        rows[match(settings$setting, rows$setting), ]
    }
    ours <- of("kliep_auto()")
    other <- of("node-wise")
    level_kept <- !is.na(ours$lead) & !other$missed
    row <- function(what, met, goal = "all") {
        reached <- if (goal == "all") all(met) else mean(met) > 0.5
        bench_row(what, paste(sum(met), "of", length(met), "settings"),
                  goal = list(text = goal, met = reached))
    }
    many <- !is.na(ours$power) & pmin(settings$n, settings$n_y) >= 400
    share <- ours$power / of("oracle")$power
    rbind(
        row("power at least the node-wise test's where that keeps its level",
            ours$lead[level_kept] >= 0),
        row("the same within two errors",
            (ours$lead + 2 * ours$lead_se)[level_kept] >= 0),
        row("power at least 90 % of the oracle's, n >= 400",
            share[many] >= 0.9, "most")
    )
}
