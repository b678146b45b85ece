# What make cluster tries on Slurm and on two hosts, as far as it can be tried
# without either.

test_that("to send tasks off takes no random number from the caller", {
    withr::local_seed(1)
    expected <- runif(2)
    withr::local_seed(1)
    with_workers(function(mark) runif(1), failed = stop)
    expect_identical(runif(2), expected)
})

test_that("a session without random numbers so far can send tasks off", {
    withr::local_preserve_seed()
    suppressWarnings(rm(".Random.seed", envir = globalenv()))
    expect_identical(with_workers(function(mark) 1, failed = stop), 1)
})

test_that("the template of a job has places for what batchtools fills in", {
    template <- readLines(system.file("examples", "slurm.tmpl",
                                      package = "kliepnet"))
    for (name in c("job.name", "log.file", "uri")) {
        expect_true(any(grepl(paste0("<%= ", name, " %>"), template)))
    }
})
