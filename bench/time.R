# How far to trust kliep_time(): false edges, power and coverage of its bands on
# series whose drift is known, beside windows and a difference of halves; and
# how long it takes.

# Finished runs are kept here, so that a table that was cut off goes on. Remove
# it where a method has changed.
time_folder <- file.path("build", "time")

# Rules were made on seeds below 1000.
time_seeds <- 7000L

bench_time <- function(settings = time_settings()) {
    dir.create(time_folder, showWarnings = FALSE, recursive = TRUE)
    known <- do.call(rbind, lapply(seq_len(nrow(settings)), function(k) {
        setting <- settings[k, ]
        message("time: ", setting$setting)
        runs <- lapply(seq_len(setting$runs), function(run) {
            time_run(setting, time_seeds + run - 1L)
        })
        time_rows(setting, do.call(rbind, runs))
    }))
    rbind(known, time_seconds())
}

# ---- settings --------------------------------------------------------------

time_setting <- function(shape, ...) {
    setting <- data.frame(shape, family = "gaussian", d = 10, n = 800,
                          changed = 2, change = 0.5, persistence = 0,
                          runs = 100L)
    given <- list(...)
    setting[names(given)] <- given
    setting
}

time_settings <- function() {
    shapes <- function(...) {
        rbind(time_setting("none", ...), time_setting("drift", ...),
              time_setting("jump", ...),
              time_setting("hub", changed = 4, change = 0.35, ...))
    }
    spins <- function(...) {
        rbind(time_setting("none", family = "ising", ...),
              time_setting("drift", family = "ising", change = 0.8, ...))
    }
    table <- rbind(shapes(), shapes(persistence = 0.6),
                   shapes(d = 20, n = 2000), spins(),
                   spins(persistence = 0.5))
    name <- paste0(table$family, " ", table$shape, ", d = ", table$d, ", n = ",
                   table$n, ifelse(table$persistence > 0,
                                   paste(", persistence", table$persistence),
                                   ""))
    cbind(setting = name, table)
}

time_series <- function(setting) {
    sim_drift(d = setting$d, n = setting$n, n_changed = setting$changed,
              change = setting$change, shape = setting$shape,
              persistence = setting$persistence, family = setting$family)
}

# ---- runs ------------------------------------------------------------------

# One row for each method.
time_run <- function(setting, seed) {
    name <- gsub("[^a-z0-9_]+", "-", tolower(setting$setting))
    file <- file.path(time_folder, paste0(name, "-", seed, ".rds"))
    if (file.exists(file)) return(readRDS(file))
    drifting <- with_seed(seed, time_series(setting))
    features <- if (setting$family == "ising") feat_ising() else feat_gaussian()
    set.seed(seed)
    seconds <- system.time(found <- kliep_time(
        drifting$series, features = features, control = one_thread(),
        progress = FALSE
    ))[["elapsed"]]
    run <- rbind(
        cbind(method = "kliep_time()", count_found(edges(found), drifting),
              band_coverage(found, drifting), seconds = seconds),
        cbind(method = "windows", windows_found(drifting, features),
              pointwise = NA, whole = NA, seconds = NA),
        cbind(method = "halves", halves_found(drifting, features),
              pointwise = NA, whole = NA, seconds = NA)
    )
    saveRDS(run, file)
    run
}

count_found <- function(found, drifting) {
    key <- function(edges) unique(paste(edges$from, edges$to))
    found <- key(found)
    truth <- key(drifting$truth)
    false <- sum(!found %in% truth)
    data.frame(any = length(found) > 0L, false = false,
               share = false / max(1, length(found)),
               power = mean(truth %in% found))
}

# The rate in the window of every time that the truth has: the mean with the
# weights of the window.
true_rate <- function(drifting, from, to, time, half) {
    u <- seq(-1, 1, length.out = 201)
    weight <- (1 - u^2)^2
    value <- function(t) {
        drifting$network(min(max(t, 0), 1))[from, to]
    }
    # Minus the derivative of the weight, against the value: no derivative of a
    # jump is taken.
    slope <- 4 * u * (1 - u^2)
    at <- vapply(time + half * u, value, 1)
    sum(slope * at) / (half * sum(weight))
}

# How often bands of reported edges that do change hold the true rate.
band_coverage <- function(found, drifting) {
    rates <- merge(found$rates, drifting$truth[c("from", "to")])
    if (nrow(rates) == 0L) return(data.frame(pointwise = NA, whole = NA))
    truth <- mapply(true_rate, rates$from, rates$to, rates$time,
                    MoreArgs = list(drifting = drifting,
                                    half = found$bandwidth))
    whole <- rates$lower_all <= truth & truth <= rates$upper_all
    data.frame(pointwise = mean(rates$lower <= truth & truth <= rates$upper),
               whole = mean(tapply(whole, paste(rates$from, rates$to), all)))
}

# The first quarter as a reference, and three windows against it.
windows_found <- function(drifting, features) {
    width <- nrow(drifting$series) %/% 4L
    found <- suppressWarnings(kliep_windows(
        drifting$series, reference = c(0, 0.2499), width = width,
        features = features, fdr = 0.1, nlambda = 3, folds = 2,
        control = one_thread(), progress = FALSE
    ), classes = "kliep_warning")
    count_found(edges(found), drifting)
}

halves_found <- function(drifting, features) {
    values <- as.matrix(drifting$series[-1L])
    first <- seq_len(nrow(values) %/% 2L)
    found <- kliep_infer(values[-first, ], values[first, ], features = features,
                         control = one_thread(), progress = FALSE)
    count_found(edges(found), drifting)
}

# ---- rows ------------------------------------------------------------------

time_rows <- function(setting, runs) {
    changes <- setting$shape != "none"
    rows <- lapply(split(runs, factor(runs$method, unique(runs$method))),
                   method_row, changes = changes)
    rows <- do.call(rbind, rows)
    rows$what <- paste0(setting$setting, ": ", rows$what)
    if (!changes) return(rows)
    ours <- runs[runs$method == "kliep_time()", ]
    rbind(rows, coverage_row(setting, ours, "pointwise", "bands at a time"),
          coverage_row(setting, ours, "whole", "bands of all times"))
}

method_row <- function(runs, changes) {
    rate <- if (changes) runs$share else as.numeric(runs$any)
    error <- stats::sd(rate) / sqrt(nrow(runs))
    limit <- at_most(mean(rate) - 2 * max(error, 1e-9), 0.1,
                     " within two errors")
    bench_row(
        paste0(runs$method[1L], if (changes) ", false share" else ", any edge"),
        sprintf("%.3f (%.3f)", mean(rate), error),
        if (changes) sprintf("power %.2f, %d runs", mean(runs$power),
                             nrow(runs)) else sprintf("%d runs", nrow(runs)),
        if (runs$method[1L] == "kliep_time()") limit
    )
}

coverage_row <- function(setting, runs, column, what) {
    cover <- runs[[column]][!is.na(runs[[column]])]
    if (length(cover) < 2L) return(NULL)
    error <- stats::sd(cover) / sqrt(length(cover))
    bench_row(paste0(setting$setting, ": ", what),
              sprintf("%.3f (%.3f)", mean(cover), error),
              sprintf("%d runs", length(cover)),
              list(text = ".95 within .03",
                   met = abs(mean(cover) - 0.95) <= 0.03))
}

# One thread, 50 times.
time_seconds <- function() {
    one <- function(d, limit) {
        drifting <- with_seed(1, sim_drift(d = d, n = 2000, n_changed = 3))
        set.seed(1)
        seconds <- system.time(kliep_time(
            drifting$series, control = one_thread(), progress = FALSE
        ))[["elapsed"]]
        bench_row(paste0("d = ", d, ", 2,000 rows, 50 times"),
                  show_seconds(seconds), "",
                  at_most(seconds, limit, " s"))
    }
    rbind(one(50, 5), one(200, 60))
}
