# Ctrl-C in a child process: the fit stops within a second and the session
# goes on.

# Seconds from an interrupt to the end of a fit, in a process of its own.
interrupt_a_fit <- function() {
    script <- withr::local_tempfile(fileext = ".R", lines = c(
        "library(kliepnet)",
        "set.seed(1)",
        "x <- matrix(rnorm(300 * 1500), 300)",
        "y <- matrix(rnorm(300 * 1500), 300)",
        "control <- kliep_control(tol = 1e-10, max_iter = 1e6)",
        "out <- tryCatch({",
        "    cat('fitting\\n')",
        "    kliep_path(x, y, lambda1 = 1e-3, lambda_min_ratio = 1e-3,",
        "               solver = 'primal', control = control)},",
        "    interrupt = function(condition) 'interrupted'",
        ")",
        "cat('ended:', if (is.character(out)) out else 'by itself', '\\n')",
        "small <- kliep_path(x[, 1:4], y[, 1:4], nlambda = 3)",
        "cat('usable:', nrow(small$diagnostics), '\\n')"
    ))
    child <- processx::process$new(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
        stdout = "|", stderr = "|",
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
    )
    withr::defer(child$kill())
    wait_for <- function(pattern, seconds) {
        text <- character()
        until <- Sys.time() + seconds
        alive <- TRUE
        while (alive && Sys.time() < until) {
            # Asked before reading: what it says last is read as well.
            alive <- child$is_alive()
            child$poll_io(50)
            text <- c(text, child$read_output_lines())
            if (any(grepl(pattern, text))) return(text)
        }
        stop("no line `", pattern, "` in: ", paste(text, collapse = " | "),
             child$read_all_error())
    }
    wait_for("fitting", 600)
    # In the middle of it, however slowly it gets there.
    busy <- function() ps::ps_cpu_times(child$as_ps_handle())[["user"]]
    begun <- busy()
    while (busy() < begun + 1) Sys.sleep(0.02)
    expect_true(child$is_alive())
    sent <- Sys.time()
    child$interrupt()
    text <- wait_for("ended:", 600)
    took <- as.numeric(Sys.time() - sent, units = "secs")
    expect_match(text, "ended: interrupted", all = FALSE)
    if (!any(grepl("usable", text))) text <- wait_for("usable:", 600)
    expect_match(text, "usable: 3", all = FALSE)
    child$wait(600000)
    expect_equal(child$get_exit_status(), 0)
    took
}

test_that("an interrupt stops a long fit and leaves the session usable", {
    skip_on_cran()
    skip_if_not_installed("processx")
    skip_on_os("windows")
    # What else the machine does may delay one of them, not all.
    for (trial in 1:6) {
        took <- interrupt_a_fit()
        if (took < 1) break
    }
    expect_lt(took, 1)
})
