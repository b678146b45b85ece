draw_one <- function(task, by = 1) by * task + rnorm(1)

run_in <- function(folder, seed = 1, n = 6, fun = draw_one, ...) {
    set.seed(seed)
    suppressMessages(
        run_replicates(seq_len(n), fun, ..., label = "a test",
                       checkpoint = folder),
        "kliep_message_checkpoint"
    )
}

# Whole ones: a process that is killed may leave a part of one.
replicate_files <- function(folder) {
    list.files(folder, "^replicate-[0-9]+\\.checkpoint$", full.names = TRUE)
}

snapshot_of <- function(folder) {
    files <- list.files(folder, full.names = TRUE)
    lapply(stats::setNames(files, files), function(file) {
        readBin(file, "raw", file.size(file))
    })
}

refused <- function(code, pattern) {
    expect_error(code, pattern, class = "kliep_error_checkpoint")
}

test_that("a run continues from any subset, with the identical result", {
    folder <- withr::local_tempfile()
    whole <- run_in(NULL)
    expect_identical(run_in(folder), whole)
    expect_length(replicate_files(folder), 6)
    expect_identical(run_in(folder), whole)
    for (lost in list(1, 6, 2:5, 1:6)) {
        unlink(replicate_files(folder)[lost])
        expect_identical(run_in(folder), whole)
        expect_length(replicate_files(folder), 6)
    }
})

test_that("what is there is not run again, and what failed is", {
    folder <- withr::local_tempfile()
    log <- withr::local_tempfile()
    fun <- function(task) {
        cat(task, "\n", file = log, append = TRUE)
        if (task == 2 && !file.exists(paste0(log, ".ok"))) stop("not yet")
        warning("careful")
        task
    }
    expect_warning(
        expect_warning(run_in(folder, n = 3, fun = fun), "not yet"), "careful"
    )
    expect_length(replicate_files(folder), 2)
    file.create(paste0(log, ".ok"))
    # The warnings of replicates that were kept are told again.
    expect_warning(out <- run_in(folder, n = 3, fun = fun),
                   "3 of 3 .* careful")
    expect_identical(out$values, list(1L, 2L, 3L))
    expect_identical(scan(log, quiet = TRUE), c(1, 2, 3, 2))
    unlink(paste0(log, ".ok"))
})

test_that("a resumed run keeps the numbers it was begun with", {
    folder <- withr::local_tempfile()
    first <- run_in(folder, seed = 1)
    unlink(replicate_files(folder)[2:4])
    expect_identical(run_in(folder, seed = 2), first)
})

test_that("another run is refused by name, and nothing is written over", {
    folder <- withr::local_tempfile()
    run_in(folder)
    before <- snapshot_of(folder)
    refused(run_in(folder, n = 7), "run.checkpoint.*differs in `tasks`")
    refused(run_in(folder, by = 2), "differs in `by`")
    refused(run_in(folder, fun = function(task) task), "`function`")
    scale <- 2
    scaled <- function(task) scale * task
    other <- withr::local_tempfile()
    run_in(other, fun = scaled)
    scale <- 3
    refused(run_in(other, fun = scaled), "`function`")
    expect_identical(snapshot_of(folder), before)
})

test_that("threads and where a function stands do not matter", {
    folder <- withr::local_tempfile()
    fun <- function(task, control) task
    run_in(folder, fun = fun, control = kliep_control(threads = 1))
    again <- eval(parse(text = "function(task, control)   task", keep.source =
                            TRUE))
    expect_length(run_in(folder, fun = again,
                         control = kliep_control(threads = 2))$values, 6)
    refused(run_in(folder, fun = fun, control = kliep_control(tol = 1e-3)),
            "`control`")
})

test_that("a replicate of another run is refused by its name", {
    folder <- withr::local_tempfile()
    other <- withr::local_tempfile()
    run_in(folder)
    run_in(other, seed = 2)
    file.copy(replicate_files(other)[3], folder, overwrite = TRUE)
    refused(run_in(folder), "replicate-000003.checkpoint` belongs to another")
    # Nor may a replicate stand in for another one.
    file.copy(replicate_files(folder)[2], replicate_files(folder)[3],
              overwrite = TRUE)
    refused(run_in(folder), "replicate-000003.checkpoint` belongs to another")
})

test_that("damage anywhere is seen, named and left as it is", {
    folder <- withr::local_tempfile()
    run_in(folder)
    file <- replicate_files(folder)[4]
    bytes <- readBin(file, "raw", file.size(file))
    damaged <- function(bytes) {
        writeBin(bytes, file)
        refused(run_in(folder), "replicate-000004.checkpoint` is damaged")
        expect_identical(readBin(file, "raw", 1e6), bytes)
    }
    damaged(raw())
    damaged(bytes[1:10])
    damaged(bytes[-length(bytes)])
    damaged(c(bytes, as.raw(0)))
    damaged(charToRaw("not a checkpoint, but long enough to look like one"))
    set.seed(1)
    for (trial in 1:40) {
        at <- sample(length(bytes), 1)
        bit <- as.raw(2^sample(0:7, 1))
        damaged(replace(bytes, at, xor(bytes[at], bit)))
    }
    # A valid checksum, but not a file of this package.
    unlink(file)
    expect_null(write_checked(file, 3))
    refused(run_in(folder), "replicate-000004.checkpoint` is not a checkpoint")
    unlink(file)
    expect_null(write_checked(file, list(number = 4)))
    refused(run_in(folder), "replicate-000004.checkpoint` belongs to another")
    unlink(file)
    dir.create(file)
    refused(run_in(folder), "replicate-000004.checkpoint` cannot be read")
    unlink(file, recursive = TRUE)
    header <- file.path(folder, "run.checkpoint")
    writeBin(readBin(header, "raw", 1e6)[-80], header)
    refused(run_in(folder), "run.checkpoint` is damaged")
})

test_that("folders that are none are refused", {
    strange <- withr::local_tempdir()
    writeLines("mine", file.path(strange, "notes.txt"))
    refused(run_in(strange), "not a checkpoint, and holds other files: `notes")
    expect_identical(list.files(strange), "notes.txt")
    refused(run_in(file.path(strange, "notes.txt")), "is a file")
    refused(run_in(file.path(strange, "notes.txt", "in")), "cannot be made")
    for (bad in list(1, NA_character_, "", c("a", "b"), TRUE)) {
        expect_error(run_in(bad), "name of a folder",
                     class = "kliep_error_argument")
    }
})

test_that("a checkpoint that cannot be written loses no result", {
    folder <- withr::local_tempfile()
    fun <- function(task) {
        if (task == 3) unlink(folder, recursive = TRUE)
        rnorm(1)
    }
    expect_warning(out <- run_in(folder, fun = fun),
                   "4 replicates could not be written",
                   class = "kliep_warning_checkpoint")
    expect_identical(out, run_in(NULL, fun = fun))
})

test_that("no room on the disk loses no result and leaves no half file", {
    # Its limit would cut what covr and the Rust library write of their own.
    skip_on_covr()
    skip_on_cran()
    skip_on_os("windows")
    folder <- withr::local_tempfile()
    script <- withr::local_tempfile(fileext = ".R", lines = c(
        "fun <- function(task) if (task == 2) 1 else rnorm(1e4)",
        "run <- function(checkpoint) {",
        "    set.seed(1)",
        "    kliepnet:::run_replicates(1:3, fun, label = 'a test',",
        "                              checkpoint = checkpoint)",
        "}",
        paste0("out <- withCallingHandlers(run('", folder, "'),"),
        "    kliep_warning_checkpoint = function(condition) {",
        "        cat(conditionMessage(condition), '\\n')",
        "        invokeRestart('muffleWarning')",
        "    })",
        "cat('same:', identical(out, run(NULL)), '\\n')"
    ))
    # A limit on the size of files stands in for the disk.
    output <- withr::with_envvar(
        c(R_LIBS = paste(.libPaths(), collapse = ":")),
        system2("sh", c("-c", shQuote(paste(
            "trap '' XFSZ; ulimit -f 8;",
            file.path(R.home("bin"), "Rscript"), "--vanilla", script
        ))), stdout = TRUE)
    )
    expect_match(output, "2 replicates could not be written.*problem writing",
                 all = FALSE)
    expect_match(output, "same: TRUE", all = FALSE)
    expect_identical(list.files(folder),
                     c("replicate-000002.checkpoint", "run.checkpoint"))
})

test_that("kill -9 loses nothing that was finished", {
    skip_on_cran()
    skip_if_not_installed("processx")
    folder <- withr::local_tempfile()
    mark <- withr::local_tempfile()
    # No more than 20 before it is killed.
    script <- withr::local_tempfile(fileext = ".R", lines = c(
        paste0("mark <- '", mark, "'"),
        "slow <- function(task) {",
        "    while (task > 20 && !file.exists(mark)) Sys.sleep(0.01)",
        "    list(task, rnorm(50))",
        "}",
        "run <- function(checkpoint) {",
        "    set.seed(8)",
        "    kliepnet:::run_replicates(1:40, slow, label = 'a test',",
        "                              checkpoint = checkpoint)",
        "}"
    ))
    child <- processx::process$new(
        file.path(R.home("bin"), "Rscript"),
        c("--vanilla", "-e", paste0("source('", script, "'); run('", folder,
                                    "')")),
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
    )
    withr::defer(child$kill())
    until <- Sys.time() + 600
    while (length(replicate_files(folder)) < 8 && Sys.time() < until) {
        Sys.sleep(0.02)
    }
    child$signal(9)
    child$wait()
    file.create(mark)
    finished <- length(replicate_files(folder))
    expect_gte(finished, 8)
    expect_lt(finished, 40)
    # As one killed while it wrote.
    file.create(paste0(replicate_files(folder)[1], ".1a2b.part"))
    here <- new.env(parent = globalenv())
    sys.source(script, here)
    expect_message(resumed <- here$run(folder),
                   paste(finished, "of 40 replicates"),
                   class = "kliep_message_checkpoint")
    expect_identical(resumed, here$run(NULL))
    expect_length(list.files(folder), 41)
})
