# Interrupts, killed workers, full disks: nothing that was finished is lost, and
# the session goes on.

rscript <- function(arguments, ...) {
    processx::run(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", arguments),
        error_on_status = FALSE, timeout = 1800,
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":")), ...
    )
}

expect_interrupts_harmless <- function(trials, plan, latest) {
    skip_on_cran()
    # Under covr the library counts lines and is slower, so that interrupts come
    # at other moments.
    skip_on_covr()
    skip_on_os("windows")
    skip_if_not_installed("processx")
    skip_if_not(dir.exists("/proc/self"), "/proc is not there")
    table <- withr::local_tempfile()
    ended <- rscript(c(test_path("faults-interrupt.R"), table, 1, trials,
                       plan, latest))
    expect_true(file.exists(table), info = ended$stderr)
    found <- readRDS(table)
    expect_identical(found$wrong, rep("", trials))
    expect_true(all(found$ended %in% c("interrupted", "by itself")),
                info = paste(found$ended, collapse = "; "))
    expect_gte(mean(found$ended == "interrupted"), 0.75)
}

test_that("interrupts at random moments leave the session as it was", {
    expect_interrupts_harmless(8, "sequential", 0.4)
})

test_that("interrupts of parallel work leave workers that can be used", {
    expect_interrupts_harmless(4, "multisession", 1)
})

# A call of n_subsamples / 2 tasks, which a checkpoint lets go on.
stability_run <- function(checkpoint, n_subsamples) {
    pair <- random_pair(5, 30)
    set.seed(3)
    suppressMessages(
        kliep_stability(pair$x, pair$y, nlambda = 8,
                        n_subsamples = n_subsamples, checkpoint = checkpoint,
                        progress = FALSE),
        "kliep_message_checkpoint"
    )
}

# Sends a signal once so many tasks have finished.
signal_after <- function(tasks, folder, signal, pid) {
    system(sprintf(
        "(while [ $(ls %s 2>/dev/null | grep -c replicate) -lt %d ];
          do sleep 0.01; done; kill -%s %d)", folder, tasks, signal, pid
    ), wait = FALSE)
}

start_workers <- function() {
    future::plan(future::sequential)
    future::plan(future::multisession, workers = 2)
}

# Two of them for one test.
local_workers <- function(frame = parent.frame()) {
    skip_on_cran()
    skip_on_os("windows")
    old <- future::plan()
    withr::defer(future::plan(old), frame)
    start_workers()
}

# All edges that were ever named, with their probabilities: there are some.
expect_same_run <- function(resumed, whole) {
    expect_gt(nrow(whole$edges), 0)
    expect_identical(resumed$edges, whole$edges)
}

test_that("a run that was interrupted continues to the same result", {
    skip_on_cran()
    skip_on_os("windows")
    folder <- withr::local_tempfile()
    whole <- stability_run(NULL, 20)
    signal_after(4, folder, "INT", Sys.getpid())
    ended <- tryCatch(
        {
            stability_run(folder, 20)
            # Where all were done before the signal came.
            Sys.sleep(60)
        },
        interrupt = function(condition) "stopped"
    )
    expect_identical(ended, "stopped")
    expect_gte(length(list.files(folder, "^replicate")), 4)
    expect_same_run(stability_run(folder, 20), whole)
})

test_that("after an interrupt no worker goes on", {
    local_workers()
    folder <- withr::local_tempfile()
    signal_after(4, folder, "INT", Sys.getpid())
    # Far more than there is time for.
    ended <- tryCatch(
        run_replicates(1:2000, function(task) Sys.sleep(0.05),
                       label = "a test", checkpoint = folder),
        interrupt = function(condition) "stopped"
    )
    expect_identical(ended, "stopped")
    # A worker may finish its current task, and must not begin another one.
    repeat {
        written <- list.files(folder)
        Sys.sleep(1)
        if (identical(list.files(folder), written)) break
    }
    expect_lt(length(written), 1000)
})

test_that("a worker that is killed costs nothing that was finished", {
    local_workers()
    folder <- withr::local_tempfile()
    # On a busy machine all may be done before the signal comes.
    for (trial in 1:5) {
        unlink(folder, recursive = TRUE)
        worker <- future.apply::future_sapply(1, function(i) Sys.getpid())
        signal_after(3, folder, "KILL", worker)
        ended <- tryCatch(stability_run(folder, 40), kliep_error = identity)
        if (inherits(ended, "kliep_error")) break
        start_workers()
    }
    expect_s3_class(ended, "kliep_error_worker")
    expect_match(conditionMessage(ended), "worker ended .* had finished")
    expect_gte(length(list.files(folder, "^replicate")), 3)
    # As its hint says: repeat the call.
    resumed <- stability_run(folder, 40)
    future::plan(future::sequential)
    expect_same_run(resumed, stability_run(NULL, 40))
})

test_that("a worker killed in a selection is an error that says so", {
    local_workers()
    expect_error(
        map_tasks(1:2, function(task) tools::pskill(Sys.getpid(), 9),
                  label = "Folds"),
        "worker ended .* Folds", class = "kliep_error_worker"
    )
    expect_identical(map_tasks(1:3, function(task) task^2, label = "Squares"),
                     list(1, 4, 9))
})

# ---- disks -----------------------------------------------------------------

# Runs the lines in a process whose files cannot grow beyond 16 kB.
with_small_files <- function(lines) {
    script <- withr::local_tempfile(fileext = ".R", lines = lines)
    withr::with_envvar(
        c(R_LIBS = paste(.libPaths(), collapse = ":")),
        system2("sh", c("-c", shQuote(paste(
            "trap '' XFSZ; ulimit -f 32;",
            file.path(R.home("bin"), "Rscript"), "--vanilla", script, "2>&1"
        ))), stdout = TRUE)
    )
}

test_that("a report that does not fit on the disk leaves the old one", {
    skip_on_cran()
    skip_on_os("windows")
    # What counts lines has to write more than that.
    skip_on_covr()
    folder <- withr::local_tempdir()
    made <- withr::local_tempfile(lines = strrep("x", 1e5))
    old <- file.path(folder, "report.html")
    writeLines("old", old)
    said <- with_small_files(c(
        paste0("ended <- try(kliepnet:::move_report('", made, "', '", old,
               "'), silent = TRUE)"),
        "cat(class(attr(ended, 'condition'))[1], '\\n', ended)"
    ))
    expect_match(said, "kliep_error_file", all = FALSE)
    expect_match(said, old, fixed = TRUE, all = FALSE)
    expect_identical(readLines(old), "old")
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE),
                     "report.html")
})

test_that("a report that cannot be made for want of room is an error of ours", {
    skip_on_cran()
    skip_on_os("windows")
    skip_on_covr()
    folder <- withr::local_tempdir()
    old <- file.path(folder, "report.html")
    writeLines("old", old)
    pair <- random_pair(4, 20)
    path <- withr::local_tempfile()
    saveRDS(kliep_change(pair$x, pair$y, lambda2 = 0.1), path)
    said <- with_small_files(c(
        "library(kliepnet)",
        paste0("path <- readRDS('", path, "')"),
        paste0("ended <- try(kliep_report(path, '", old,
               "', open = FALSE), silent = TRUE)"),
        "cat(class(attr(ended, 'condition')), '\\n', ended)",
        "cat('left:', length(list.files(tempdir(), 'kliep_report')), '\\n')"
    ))
    expect_match(said, "kliep_error_file", all = FALSE)
    expect_match(said, old, fixed = TRUE, all = FALSE)
    expect_match(said, "left: 0", all = FALSE)
    expect_identical(readLines(old), "old")
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE),
                     "report.html")
})

test_that("a checkpoint under a file, or on a full disk, is refused by name", {
    skip_on_cran()
    skip_on_os("windows")
    file <- withr::local_tempfile(lines = "mine")
    below <- file.path(file, "folder")
    pair <- random_pair(4, 20)
    expect_error(
        kliep_stability(pair$x, pair$y, n_subsamples = 2, checkpoint = below,
                        progress = FALSE),
        below, fixed = TRUE, class = "kliep_error_checkpoint"
    )
    expect_identical(readLines(file), "mine")
    skip_if_not(file.exists("/dev/full"), "/dev/full is not there")
    # The device that is always full stands for the file of a header.
    expect_match(write_checked("/dev/full/x", 1), "/dev/full")
})
