# Ctrl-C in a child process: the fit stops within a second and the session
# goes on.

test_that("an interrupt stops a long fit and leaves the session usable", {
    skip_on_cran()
    skip_if_not_installed("processx")
    skip_on_os("windows")
    script <- withr::local_tempfile(fileext = ".R", lines = c(
        "library(kliepnet)",
        "set.seed(1)",
        "x <- matrix(rnorm(300 * 1500), 300)",
        "y <- matrix(rnorm(300 * 1500), 300)",
        "control <- kliep_control(tol = 1e-10, max_iter = 1e6)",
        "for (trial in 1:3) {",
        "    cat('fitting\\n')",
        "    out <- tryCatch(",
        "        kliep_path(x, y, lambda1 = 1e-3, lambda_min_ratio = 1e-3,",
        "                   solver = 'primal', control = control),",
        "        interrupt = function(condition) 'interrupted'",
        "    )",
        "    cat('ended:', if (is.character(out)) out else 'by itself', '\\n')",
        "}",
        "small <- kliep_path(x[, 1:4], y[, 1:4], nlambda = 3)",
        "cat('usable:', nrow(small$diagnostics), '\\n')"
    ))
    child <- processx::process$new(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
        stdout = "|", stderr = "|",
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
    )
    withr::defer(child$kill())
    text <- character()
    # The line that matches; what comes after it waits for the next call.
    wait_for <- function(pattern, seconds) {
        until <- Sys.time() + seconds
        while (Sys.time() < until) {
            child$poll_io(50)
            text <<- c(text, child$read_output_lines())
            found <- grep(pattern, text)
            if (length(found) > 0) {
                line <- text[found[1]]
                text <<- text[-seq_len(found[1])]
                return(line)
            }
            if (!child$is_alive()) break
        }
        stop("no line `", pattern, "` in: ", paste(text, collapse = " | "),
             child$read_all_error())
    }
    took <- vapply(1:3, function(trial) {
        wait_for("fitting", 60)
        Sys.sleep(1)
        sent <- Sys.time()
        child$interrupt()
        expect_match(wait_for("ended:", 30), "ended: interrupted")
        as.numeric(Sys.time() - sent, units = "secs")
    }, 0)
    # What else the machine does may delay one of them, not all.
    expect_lt(min(took), 1)
    expect_match(wait_for("usable:", 30), "usable: 3")
    child$wait(10000)
    expect_equal(child$get_exit_status(), 0)
})
