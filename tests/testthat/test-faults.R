# Interrupts, killed workers, full disks: nothing that was finished is lost, and
# the session goes on.

rscript <- function(arguments, ...) {
    processx::run(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", arguments),
        error_on_status = FALSE, timeout = 240,
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":")), ...
    )
}

expect_interrupts_harmless <- function(trials, plan, latest) {
    skip_on_cran()
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

test_that("a run that was interrupted continues to the same result", {
    skip_on_cran()
    skip_on_os("windows")
    pair <- random_pair(5, 30)
    folder <- withr::local_tempfile()
    run <- function(checkpoint) {
        set.seed(3)
        suppressMessages(
            kliep_stability(pair$x, pair$y, nlambda = 8, n_subsamples = 20,
                            checkpoint = checkpoint, progress = FALSE),
            "kliep_message_checkpoint"
        )
    }
    whole <- run(NULL)
    # As soon as four of its ten tasks have finished.
    system(sprintf(
        "(while [ $(ls %s 2>/dev/null | grep -c replicate) -lt 4 ];
          do sleep 0.01; done; kill -INT %d)", folder, Sys.getpid()
    ), wait = FALSE)
    ended <- tryCatch(
        {
            run(folder)
            # Where all were done before the signal came.
            Sys.sleep(10)
        },
        interrupt = function(condition) "stopped"
    )
    expect_identical(ended, "stopped")
    expect_gte(length(list.files(folder, "^replicate")), 4)
    resumed <- run(folder)
    expect_identical(edges(resumed), edges(whole))
    expect_identical(resumed$stability, whole$stability)
})

test_that("a worker that is killed costs nothing that was finished", {
    skip_on_cran()
    skip_on_os("windows")
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    pair <- random_pair(5, 30)
    folder <- withr::local_tempfile()
    workers <- future.apply::future_sapply(1:2, function(i) {
        Sys.sleep(0.2)
        Sys.getpid()
    })
    run <- function(checkpoint) {
        set.seed(4)
        suppressMessages(
            kliep_stability(pair$x, pair$y, nlambda = 8, n_subsamples = 40,
                            checkpoint = checkpoint, progress = FALSE),
            "kliep_message_checkpoint"
        )
    }
    system(sprintf(
        "(while [ $(ls %s 2>/dev/null | grep -c replicate) -lt 3 ];
          do sleep 0.01; done; kill -9 %d)", folder, workers[1]
    ), wait = FALSE)
    expect_error(run(folder), "worker ended .* had finished",
                 class = "kliep_error_worker")
    expect_gte(length(list.files(folder, "^replicate")), 3)
    # As its hint says: set the plan anew, and repeat the call.
    future::plan(future::sequential)
    future::plan(future::multisession, workers = 2)
    resumed <- run(folder)
    future::plan(future::sequential)
    whole <- run(NULL)
    expect_identical(edges(resumed), edges(whole))
    expect_identical(resumed$stability, whole$stability)
})

test_that("a worker killed in a selection is an error that says so", {
    skip_on_cran()
    skip_on_os("windows")
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    expect_error(
        map_tasks(1:2, function(task) tools::pskill(Sys.getpid(), 9),
                  label = "Folds"),
        "worker ended .* Folds", class = "kliep_error_worker"
    )
    future::plan(future::sequential)
    future::plan(future::multisession, workers = 2)
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
    skip_if_not_installed("rmarkdown")
    skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not installed")
    folder <- withr::local_tempdir()
    old <- file.path(folder, "report.html")
    writeLines("old", old)
    pair <- random_pair(4, 20)
    path <- withr::local_tempfile()
    saveRDS(kliep_path(pair$x, pair$y, nlambda = 3), path)
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
