# The routines of the Rust library, called directly with what they are not made
# for: a value or a failure that names its reason, in a process of its own.

test_that("no call of a routine ends in a panic, a crash or NaN", {
    skip_on_cran()
    skip_on_os(c("windows", "mac"))
    skip_if_not_installed("processx")
    log <- withr::local_tempfile()
    complaints <- withr::local_tempfile()
    # With a limit, memory that is not there is refused on every system.
    ended <- processx::run(
        "sh",
        c("-c", "ulimit -v 8000000; exec \"$@\"", "sh",
          file.path(R.home("bin"), "Rscript"), "--vanilla",
          test_path("fuzz-binding.R"), log, complaints, 6),
        error_on_status = FALSE, timeout = 1800,
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
    )
    last <- utils::tail(readLines(log), 1)
    expect_identical(last, "whole", info = paste(last, ended$stderr))
    expect_identical(readLines(complaints), character())
    expect_identical(ended$stderr, "")
})
