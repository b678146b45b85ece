# A session does not grow, whatever is done in it: a slice of what
# `make bench ONLY=load` does a thousand times. And a slice of its scaling.

# What a session of so many fits prints, after a first look at its memory.
run_session <- function(fits, first) {
    run <- processx::run(
        file.path(R.home("bin"), "Rscript"),
        c("--vanilla", test_path("session-load.R"), fits, first),
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"),
                MALLOC_ARENA_MAX = "1"),
        timeout = 1800
    )
    line <- strsplit(trimws(run$stdout), "\n")[[1L]]
    pairs <- strsplit(strsplit(line[length(line)], " ")[[1L]], "=")
    values <- as.numeric(vapply(pairs, `[`, "", 2L))
    names(values) <- vapply(pairs, `[`, "", 1L)
    values
}

test_that("fits, refusals and interrupted fits leave no memory behind", {
    skip_on_cran()
    skip_on_covr()
    skip_if_not(file.exists("/proc/self/status"), "no /proc/self/status here")
    skip_if_not_installed("processx")
    # A process may keep 8 MB once, on a busy machine; a leak is in each.
    for (trial in 1:3) {
        values <- run_session(120, 72)
        if (values[["late"]] - values[["early"]] < 8) break
    }

    # Six of every eight fit, one is refused and one is stopped half-way.
    expect_equal(values[c("fitted", "refused", "stopped")],
                 c(fitted = 90, refused = 15, stopped = 15))
    # The first 72 set up threads and caches. The least that one of the six
    # fits stopped since then could leave behind is one of its samples, 3.2 MB,
    # which makes 19 MB.
    expect_lt(values[["late"]] - values[["early"]], 8)
    expect_lt(values[["heap"]], 1)
})

test_that("the scaling that the vignette draws repeats, but for its times", {
    stored <- readRDS(system.file("paper", "scaling.rds",
                                  package = "kliepnet"))
    expect_true(all(stored$reached == stored$steps))
    expect_gte(max(stored$d), 20000)
    settings <- attr(stored, "settings")
    row <- stored[stored$estimator == "paper" & stored$d == 1000 &
                      stored$n == 50, ]
    # As bench/samples.R draws them.
    set.seed(1)
    x <- matrix(stats::rnorm(row$n * row$d), row$n)
    y <- matrix(stats::rnorm(row$n * row$d), row$n)
    path <- paper_path(x, y, lambda1 = settings$lambda1,
                       nlambda = settings$nlambda,
                       lambda_min_ratio = settings$lambda_min_ratio,
                       control = kliep_control(threads = settings$threads))
    expect_equal(max(path$diagnostics$n_edges), row$edges)
    expect_equal(path$passes, row$passes)
})
