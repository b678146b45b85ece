# How often kliep_test() rejects "no change" at .05 where it is true, whatever
# the margins: by its global test, and by keeping any edge at all.

# Finished runs are kept here, as those of the calibration are.
level_folder <- file.path("build", "level")

# The alignment of samples was made on seeds below 3300.
level_seeds <- 4000L

bench_level <- function(settings = level_settings()) {
    dir.create(level_folder, showWarnings = FALSE, recursive = TRUE)
    do.call(rbind, lapply(seq_len(nrow(settings)), function(k) {
        setting <- settings[k, ]
        message("level: ", setting$setting)
        runs <- on_all_cores(level_seeds + seq_len(setting$runs) - 1L,
                             level_run, setting = setting)
        level_rows(setting, do.call(rbind, runs))
    }))
}

# Every kind of margin, in small samples and in unequal ones.
level_settings <- function() {
    of_size <- function(kinds, d, n, n_y = n, runs = 200L) {
        over_values(kinds, function(kind) {
            calibration_setting(d, n, n_y = n_y, density = 2 / d, changed = 0,
                                margins = kind, runs = runs)
        })
    }
    kinds <- c("gaussian", calibration_margins)
    table <- rbind(of_size(kinds, 20, 50), of_size(kinds, 20, 100),
                   of_size(kinds, 20, 40, 120),
                   of_size(c("gaussian", "t3", "shifted"), 50, 100,
                           runs = 100L))
    cbind(setting = setting_name(table), table)
}

# With 19 shuffles a test at .05 has to come first of twenty, and the level of
# one that is exact is .05.
level_run <- function(seed, setting) {
    file <- run_file(setting$setting, seed, level_folder)
    if (file.exists(file)) return(readRDS(file))
    pair <- with_seed(seed, calibration_pair(setting))
    set.seed(seed)
    # Of the processor: other runs go on beside this one.
    seconds <- sum(system.time(test <- kliep_test(
        pair$x, pair$y, n_perm = 19, folds = 2, nlambda = 5,
        control = one_thread(), progress = FALSE
    ))[c("user.self", "sys.self")])
    run <- data.frame(global = test$global$p_value <= 0.05,
                      kept = any(test$edges$kept), seconds = seconds)
    saveRDS(run, file)
    run
}

level_rows <- function(setting, runs) {
    share <- function(rejected) {
        error <- sqrt(0.05 * 0.95 / length(rejected))
        bench_row("", sprintf("%.3f (%.3f)", mean(rejected), error),
                  goal = at_most(mean(rejected) - 2 * error, 0.05,
                                 " within two errors"))
    }
    rows <- rbind(share(runs$global), share(runs$kept))
    rows$what <- paste0(setting$setting, c(": rejected", ": any edge kept"))
    rows$ratio <- sprintf("%d runs, %s", nrow(runs),
                          show_seconds(stats::median(runs$seconds)))
    rows
}
