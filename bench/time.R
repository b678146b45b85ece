# How far to trust kliep_time(): false edges, power and coverage of its bands on
# series whose drift is known, beside windows and a difference of halves; and
# how long it takes.

# Finished runs are kept here: see runs.R.
time_folder <- file.path("build", "time")

# Rules were made on seeds below 2000, and after a look at some from 8500 on.
time_seeds <- 20000L

# Runs take turns over the settings, so that each setting has about as many runs
# if MINUTES ends the group early. Each run has a core of its own. The methods
# to compare with come last.
bench_time <- function(settings = time_settings(),
                       minutes = as.numeric(Sys.getenv("MINUTES", "Inf"))) {
    dir.create(time_folder, showWarnings = FALSE, recursive = TRUE)
    until <- Sys.time() + 60 * min(minutes, 1e6)
    tasks <- rbind(time_tasks(settings$runs, "ours"),
                   time_tasks(settings$runs, "others"))
    on_all_cores(seq_len(nrow(tasks)), function(task) {
        if (Sys.time() > until) return(NULL)
        with(tasks[task, ], time_run(settings[k, ], time_seeds + run - 1L,
                                     whose))
    })
    table <- time_table(settings)
    # For the vignette on returns.
    saveRDS(table, file.path("inst", "paper", "drift.rds"), version = 3)
    rows <- split(table, factor(table$setting, unique(table$setting)))
    rbind(do.call(rbind, lapply(rows, time_rows)),
          if (Sys.time() <= until) time_seconds())
}

# Cores take every other task. With settings forwards and backwards in turn,
# each core gets all of them.
time_tasks <- function(runs, whose) {
    do.call(rbind, lapply(seq_len(max(runs)), function(run) {
        k <- which(runs >= run)
        data.frame(k = if (run %% 2 == 0) rev(k) else k, run = run,
                   whose = whose)
    }))
}

# The runs that are done, summed up: one row for each setting and method.
time_table <- function(settings) {
    do.call(rbind, lapply(seq_len(nrow(settings)), function(k) {
        setting <- settings[k, ]
        seeds <- time_seeds + seq_len(setting$runs) - 1L
        files <- vapply(seeds, time_file, "", setting = setting)
        runs <- do.call(rbind, lapply(files[file.exists(files)], readRDS))
        if (is.null(runs)) return(NULL)
        order <- intersect(c("kliep_time()", "windows", "halves"), runs$method)
        by <- split(runs, factor(runs$method, order))
        do.call(rbind, lapply(by, function(of) {
            cbind(setting, method = of$method[1L], sum_up(of))
        }))
    }))
}

sum_up <- function(runs) {
    mean_error <- function(values, name) {
        values <- values[!is.na(values)]
        if (length(values) < 2L) values <- c(NA, NA)
        stats::setNames(c(mean(values), stats::sd(values) /
                              sqrt(length(values))), paste0(name, c("", "_se")))
    }
    numbers <- c(mean_error(as.numeric(runs$any), "any"),
                 mean_error(runs$share, "share"),
                 mean_error(runs$power, "power"),
                 mean_error(runs$pointwise, "pointwise"),
                 mean_error(runs$whole, "whole"),
                 mean_error(runs$all_pointwise, "all_pointwise"),
                 mean_error(runs$all_whole, "all_whole"),
                 mean_error(runs$times, "times"),
                 mean_error(runs$global <= 0.1, "global"))
    data.frame(done = nrow(runs), followed = sum(!is.na(runs$all_whole)),
               t(numbers),
               seconds = stats::median(runs$seconds))
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
    pair <- function(...) {
        rbind(time_setting("none", ...), time_setting("drift", ...))
    }
    table <- rbind(shapes(), shapes(persistence = 0.6),
                   pair(persistence = 0.3), pair(persistence = 0.8), spins(),
                   spins(persistence = 0.5), pair(d = 20, n = 500),
                   pair(d = 20, n = 2000))
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

time_file <- function(setting, seed) {
    run_file(setting$setting, seed, time_folder)
}

# One row for each method. What is in the file already is not run again.
time_run <- function(setting, seed, whose) {
    file <- time_file(setting, seed)
    done <- if (file.exists(file)) readRDS(file)
    of <- list(ours = "kliep_time()", others = c("windows", "halves"))[[whose]]
    # Without the bands of all edges, runs of ours are old ones.
    old <- done$method == "kliep_time()" & setting$shape != "none" &
        is.na(done$all_whole)
    if (all(of %in% done$method[!old])) return(done)
    done <- done[!done$method %in% of, ]
    drifting <- with_seed(seed, time_series(setting))
    features <- if (setting$family == "ising") feat_ising() else feat_gaussian()
    set.seed(seed)
    rows <- if (whose == "ours") drift_row(drifting, features) else
        rbind(other_row("windows", windows_found(drifting, features)),
              other_row("halves", halves_found(drifting, features)))
    done <- rbind(done, rows)
    saveRDS(done, file)
    done
}

drift_row <- function(drifting, features) {
    seconds <- time_of(found <- kliep_time(
        drifting$series, features = features, edges = drifting$truth,
        control = one_thread(), progress = FALSE
    ))
    reported <- merge(found$rates, drifting$truth[c("from", "to")])
    covered <- function(rates) band_coverage(rates, drifting, found$bandwidth)
    every <- covered(found$followed)
    cbind(method = "kliep_time()", count_found(edges(found), drifting),
          covered(reported), all_pointwise = every$pointwise,
          all_whole = every$whole, times = false_times(found, drifting),
          global = found$global$p_value,
          persistence = found$persistence, seconds = seconds)
}

# Of the processor: the machine may be doing other things.
time_of <- function(code) {
    sum(system.time(code)[c("user.self", "sys.self")])
}

other_row <- function(method, found) {
    cbind(method, found, pointwise = NA, whole = NA, all_pointwise = NA,
          all_whole = NA, times = NA, global = NA, persistence = NA,
          seconds = NA)
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

# The share of false ones among the edges and times that are said to change:
# those of edges that do not, and times whose window has no change of an edge
# that does, as before and after a jump.
false_times <- function(found, drifting) {
    said <- found$rates[found$rates$changing, ]
    if (nrow(said) == 0L) return(0)
    key <- function(edges) paste(edges$from, edges$to)
    rate <- mapply(true_rate, said$from, said$to, said$time,
                   MoreArgs = list(drifting = drifting, half = found$bandwidth))
    mean(!key(said) %in% key(drifting$truth) | abs(rate) < 1e-8)
}

# How often bands hold the true rate: those of reported edges that do change,
# and those of all edges that change, which are not selected.
band_coverage <- function(rates, drifting, half) {
    if (nrow(rates) == 0L) return(data.frame(pointwise = NA, whole = NA))
    truth <- mapply(true_rate, rates$from, rates$to, rates$time,
                    MoreArgs = list(drifting = drifting, half = half))
    whole <- rates$lower_all <= truth & truth <= rates$upper_all
    data.frame(pointwise = mean(rates$lower <= truth & truth <= rates$upper),
               whole = mean(tapply(whole, paste(rates$from, rates$to), all)))
}

# The first quarter as a reference, and three windows against it. The promise is
# about the share of false ones among edges in windows: an edge that is found in
# all three counts three times.
windows_found <- function(drifting, features) {
    width <- nrow(drifting$series) %/% 4L
    reference <- c(0, 0.2499)
    found <- suppressWarnings(kliep_windows(
        drifting$series, reference = reference, width = width,
        features = features, fdr = 0.1, nlambda = 3, folds = 2,
        control = one_thread(), progress = FALSE
    ), classes = "kliep_warning")
    found <- edges(found)
    false <- sum(!mapply(differs, found$from, found$to, found$start, found$end,
                         MoreArgs = list(drifting, reference)))
    counts <- count_found(found, drifting)
    counts$false <- false
    counts$share <- false / max(1, nrow(found))
    counts
}

# Whether the mean of an edge in a window is another than in the reference.
differs <- function(from, to, start, end, drifting, reference) {
    level <- function(start, end) {
        times <- seq(start, end, length.out = 101)
        mean(vapply(times, function(time) drifting$network(time)[from, to], 1))
    }
    abs(level(start, end) - level(reference[1L], reference[2L])) > 1e-8
}

halves_found <- function(drifting, features) {
    values <- as.matrix(drifting$series[-1L])
    first <- seq_len(nrow(values) %/% 2L)
    found <- kliep_infer(values[-first, ], values[first, ], features = features,
                         control = one_thread(), progress = FALSE)
    count_found(edges(found), drifting)
}

# ---- rows ------------------------------------------------------------------

time_rows <- function(table) {
    ours <- table[table$method == "kliep_time()", ]
    changes <- ours$shape != "none"
    rows <- lapply(seq_len(nrow(table)), function(k) {
        method_row(table[k, ], changes)
    })
    rbind(do.call(rbind, rows), times_row(ours),
          coverage_row(ours, "pointwise", "bands of found edges at each time"),
          coverage_row(ours, "whole", "bands of found edges at all times"),
          coverage_row(ours, "all_pointwise", "bands of all at each time"),
          coverage_row(ours, "all_whole", "bands of all at all times"))
}

method_row <- function(row, changes) {
    rate <- if (changes) row$share else row$any
    error <- if (changes) row$share_se else row$any_se
    limit <- at_most(rate - 2 * max(error, 1e-9), 0.1, " within two errors")
    bench_row(
        paste0(row$setting, ": ", row$method,
               if (changes) ", false share" else ", any edge"),
        sprintf("%.3f (%.3f)", rate, error),
        if (changes) sprintf("power %.2f, %d runs", row$power, row$done) else
            sprintf("%d runs", row$done),
        # Halves promise nothing where rows are dependent.
        if (row$method %in% c("kliep_time()", "windows")) limit
    )
}

times_row <- function(ours) {
    if (ours$shape == "none" || is.na(ours$times)) return(NULL)
    bench_row(paste0(ours$setting, ": false share of edges and times"),
              sprintf("%.3f (%.3f)", ours$times, ours$times_se), "",
              at_most(ours$times - 2 * ours$times_se, 0.1,
                      " within two errors"))
}

coverage_row <- function(ours, column, what) {
    cover <- ours[[column]]
    if (is.na(cover)) return(NULL)
    runs <- if (startsWith(column, "all")) ours$followed else ours$done
    bench_row(paste0(ours$setting, ": ", what),
              sprintf("%.3f (%.3f)", cover, ours[[paste0(column, "_se")]]),
              sprintf("%d runs", runs),
              list(text = ".95 within .03",
                   met = round(abs(cover - 0.95), 8L) <= 0.03))
}

# One thread, 50 times.
time_seconds <- function() {
    one <- function(d, limit) {
        drifting <- with_seed(1, sim_drift(d = d, n = 2000, n_changed = 3))
        set.seed(1)
        seconds <- time_of(kliep_time(
            drifting$series, control = one_thread(), progress = FALSE
        ))
        bench_row(paste0("d = ", d, ", 2,000 rows, 50 times"),
                  show_seconds(seconds), "of the processor",
                  at_most(seconds, limit, " s"))
    }
    rbind(one(50, 5), one(200, 60))
}
