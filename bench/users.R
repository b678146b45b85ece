# What users wait for, in processor seconds, against an older build of the
# package in the same run:
#   BEFORE=/library/of/the/older/build make bench ONLY=users
# Build one with `git clone . /tmp/before`, `git -C /tmp/before checkout COMMIT`
# and `sh /tmp/before/tools/install.sh /tmp/before/build/library`. Without
# BEFORE there are no ratios.

# One row for each work of users_once.R: how many times as fast as before it is
# to be, and what peer does the same.
user_works <- function() {
    work <- function(name, what, limit, peer = NA) {
        data.frame(name, what, limit, peer)
    }
    rbind(
        work("path-80", "default path, d = 80, n = 150, 50 lambda2", 6.6,
             "huge-80"),
        work("path-200", "default path, d = 200, n = 400, 50 lambda2", 4.6,
             "huge-200"),
        work("path-1000", "default path, d = 1,000, n = 200, 20 lambda2", 6,
             "huge-1000"),
        work("screen-200", "path of kliep_infer(), d = 200, n = 400", 4.6),
        work("auto-200", "kliep_auto(), d = 200, n = 400", 2),
        work("auto-1000", "kliep_auto(), d = 1,000, n = 200", 2),
        refit_works(work)
    )
}

bench_users <- function(works = user_works()) {
    before <- Sys.getenv("BEFORE")
    rows <- lapply(split(works, factor(works$name, works$name)), function(k) {
        message("users: ", k$what)
        user_row(k, before)
    })
    rbind(do.call(rbind, rows), two_threads_row(), given_share_rows())
}

# Tests of all edges given a support: share of the machine's peak, measured in
# the same run, and time and memory where there are many variables.
given_share_rows <- function() {
    peak <- printed_value(pass_output("$(rust_features)"), "peak_gflops")
    small <- user_rounds("given-200", c(now = ""))
    share <- 100 * stats::median(small$flops / small$seconds) / 1e9 / peak
    large <- user_rounds("given-1000", c(now = ""), times = 1L)
    what <- "tests given a support, d = 1,000, n = 200"
    rbind(
        bench_row("tests given a support, d = 200, n = 400",
                  show_seconds(stats::median(small$seconds)),
                  show_ratio(share, " % of peak"), at_least(share, 60, " %")),
        bench_row(what, show_seconds(large$seconds),
                  goal = at_most(large$seconds, 20, " s")),
        bench_row(paste0(what, ": memory added"),
                  paste(round(large$added), "MB"),
                  goal = at_most(large$added, 500, " MB"))
    )
}

# The median of some rounds in turns, so that a busy hour falls on both.
user_row <- function(work, before) {
    rounds <- if (nzchar(before)) {
        user_rounds(work$name, c(now = "", before = before))
    } else {
        user_rounds(work$name, c(now = ""))
    }
    middle <- function(column) {
        tapply(rounds[[column]], rounds$library, stats::median)
    }
    seconds <- middle("seconds")
    text <- show_seconds(seconds[["now"]])
    if (!is.na(work$peer)) {
        peer <- user_rounds(work$peer, c(now = ""), times = 1L)
        name <- if (startsWith(work$peer, "huge")) "huge's two paths" else
            "cv.glmnet() of its shape"
        text <- paste0(text, ", ", name, " ", show_seconds(peer$seconds))
    }
    if (!nzchar(before)) return(bench_row(work$what, text))
    ratio <- seconds[["before"]] / seconds[["now"]]
    # Both must have done the same work.
    result <- middle("result")
    same <- abs(result[["now"]] - result[["before"]]) <=
        1e-4 * max(abs(result), 1)
    bench_row(work$what, text,
              paste0(show_ratio(ratio), " as fast",
                     if (!same) ", other results"),
              if (!is.na(work$limit)) at_least(ratio, work$limit,
                                               valid = same))
}

user_rounds <- function(name, libraries, times = 3L, threads = 1L) {
    one <- function(round, library) {
        run <- user_run(name, libraries[[library]], threads)
        data.frame(library, as.list(run))
    }
    rounds <- expand.grid(library = names(libraries), round = seq_len(times),
                          stringsAsFactors = FALSE)
    do.call(rbind, Map(one, rounds$round, rounds$library))
}

# `library` is a folder, or empty for the build at hand.
user_run <- function(name, library = "", threads = 1L) {
    path <- c(if (nzchar(library)) library, Sys.getenv("R_LIBS"))
    measure(file.path("bench", "users_once.R"), c(name, threads),
            env = paste0("R_LIBS=", paste(path, collapse = ":")))
}

# By the clock: processor time cannot tell.
two_threads_row <- function() {
    if (max(thread_counts()) < 2L) return(NULL)
    elapsed <- vapply(1:2, function(threads) {
        rounds <- user_rounds("path-200", c(now = ""), 5L, threads)
        min(rounds$elapsed)
    }, 0)
    ratio <- elapsed[1L] / elapsed[2L]
    bench_row("default path, d = 200, n = 400, two threads",
              show_seconds(elapsed[2L]),
              paste(show_ratio(ratio), "as fast as one"),
              at_least(ratio, 1.7))
}
