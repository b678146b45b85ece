# The border to Rust, with two routines that only fail or wait: no panic and
# no R condition may cross it unseen.

test_that("a panic is a classed error, wherever in Rust it happens", {
    # A message is text, not a format.
    for (place in c("main", "worker", "pool")) {
        error <- expect_error(
            rust_probe_panic("100%s %n wrong", place),
            class = "kliep_error_panic"
        )
        expect_match(conditionMessage(error), "100%s %n wrong", fixed = TRUE)
        expect_match(conditionMessage(error), "probe.rs", fixed = TRUE)
    }
    expect_equal(rust_probe_wait(0), 0L)
})

test_that("a panic prints nothing of its own", {
    skip_if_not_installed("callr")
    messages <- withr::local_tempfile()
    callr::r(function() {
        try(kliepnet:::rust_probe_panic("quiet", "pool"), silent = TRUE)
        NULL
    }, stderr = messages)
    expect_equal(readLines(messages), character())
})

test_that("arguments of the wrong kind are refused, not misread", {
    expect_error(rust_probe_wait("long"), "`seconds` must be one number",
                 class = "kliep_error_argument")
    expect_error(rust_probe_wait(NA_real_), class = "kliep_error_argument")
    expect_error(rust_probe_wait(c(1, 2)), class = "kliep_error_argument")
    expect_error(rust_probe_wait(-1), class = "kliep_error_argument")
    expect_error(rust_probe_wait(Inf), class = "kliep_error_argument")
    expect_error(rust_probe_panic(NA_character_),
                 class = "kliep_error_argument")
    expect_error(call_rust(.Call(wrap__probe_wait, 0, "draw")),
                 "`on_progress` must be NULL or a function",
                 class = "kliep_error_argument")
})

test_that("progress is reported at a limited rate, and at the end", {
    seen <- NULL
    steps <- rust_probe_wait(0.5, function(done, total) {
        seen <<- rbind(seen, c(done, total))
    })
    expect_gte(nrow(seen), 2L)
    expect_lte(nrow(seen), 6L)
    expect_true(all(diff(seen[, 1L]) > 0))
    expect_equal(seen[nrow(seen), 1L], steps)
    expect_true(all(seen[, 2L] == 50))
})

test_that("an error while drawing progress does not stop the work", {
    expect_gt(rust_probe_wait(0.3, function(done, total) stop("no %s")), 0L)
})

test_that("an interrupt stops the work and can be caught", {
    skip_on_os("windows")
    # One that arrives while R draws, and one that arrives while it waits.
    during <- function(done, total) {
        tools::pskill(Sys.getpid(), tools::SIGINT)
        Sys.sleep(60)
    }
    after <- function(done, total) tools::pskill(Sys.getpid(), tools::SIGINT)
    for (interrupt in list(during, after)) {
        took <- system.time(
            out <- tryCatch(rust_probe_wait(60, interrupt),
                            interrupt = function(condition) condition)
        )
        expect_s3_class(out, c("interrupt", "condition"), exact = TRUE)
        # A small part of what was left of it.
        expect_lt(took[["elapsed"]], 60 / 4)
        expect_equal(rust_probe_wait(0), 0L)
    }
})

test_that("an interrupt nobody catches ends a script", {
    skip_on_os("windows")
    skip_if_not_installed("processx")
    script <- withr::local_tempfile(fileext = ".R", lines = c(
        "work <- function() {",
        "    on.exit(cat('left in order\\n'))",
        "    kliepnet:::rust_probe_wait(30, function(done, total) {",
        "        tools::pskill(Sys.getpid(), tools::SIGINT)",
        "    })",
        "}",
        "work()",
        "cat('not reached\\n')"
    ))
    out <- processx::run(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
        error_on_status = FALSE, timeout = 600,
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
    )
    expect_false(out$timeout)
    expect_gt(out$status, 0)
    expect_match(out$stdout, "left in order")
    expect_no_match(out$stdout, "not reached")
})

test_that("a time limit is R's own error", {
    on.exit(setTimeLimit())
    error <- tryCatch({
        setTimeLimit(elapsed = 0.2, transient = TRUE)
        rust_probe_wait(30)
    }, error = identity)
    setTimeLimit()
    expect_s3_class(error, c("simpleError", "error", "condition"),
                    exact = TRUE)
    expect_match(conditionMessage(error), "time limit")
})
