# What users wait for, in processor seconds, against an older build of the
# package in the same run:
#   BEFORE=/library/of/the/older/build make bench ONLY=users
# Build one with `git clone . /tmp/before`, `git -C /tmp/before checkout COMMIT`
# and `sh /tmp/before/tools/install.sh /tmp/before/build/library`; 3b55a56 is
# the commit before this table was begun. Without BEFORE the only ratios are
# those to other packages.

# One row for each work of users_once.R: how many times as fast as before it is
# to be, what peer does the same, how many times as fast as that it is to be,
# and the most seconds it is to take where nothing else is asked.
user_works <- function() {
    work <- function(name, what, limit = NA, peer = NA, peer_limit = NA,
                     most = NA) {
        data.frame(name, what, limit, peer, peer_limit, most)
    }
    rbind(
        work("path-80", "default path, d = 80, n = 150, 50 lambda2", 6.6,
             "huge-80"),
        work("path-200", "default path, d = 200, n = 400, 50 lambda2", 4.6,
             "huge-200"),
        work("path-1000", "default path, d = 1,000, n = 200, 20 lambda2", 6,
             "huge-1000"),
        work("paper-80", paste("the paper's timing path, d = 80, n = 150,",
                               "20 lambda2"), peer = "scipy-80",
             peer_limit = 20),
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
    passes <- pass_output("$(rust_features)")
    rbind(do.call(rbind, rows), two_threads_row(), pass_share_row(passes),
          given_share_rows(printed_value(passes, "peak_gflops")))
}

# One pass over all factors.
pass_share_row <- function(passes) {
    share <- 100 * printed_value(passes, "pass_of_peak")
    bench_row("one pass over all factors, d = 5,000",
              paste(printed_value(passes, "pass_gflops"), "Gflop/s"),
              show_ratio(share, " % of peak"), at_least(share, 80, " %"))
}

# Tests of all edges given a support: share of the machine's peak, measured in
# the same run, and time and memory where there are many variables.
given_share_rows <- function(peak) {
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
    libraries <- c(now = "", before = before)
    rounds <- user_rounds(work$name, libraries[c(TRUE, nzchar(before))])
    middle <- function(column) {
        tapply(rounds[[column]], rounds$library, stats::median)
    }
    seconds <- middle("seconds")
    peer <- user_peer(work, seconds[["now"]])
    goals <- list(peer$goal, if (!is.na(work$most)) {
        at_most(seconds[["now"]], work$most, " s")
    })
    ratio <- peer$ratio
    if (nzchar(before)) {
        times <- seconds[["before"]] / seconds[["now"]]
        same <- same_result(middle("result"))
        ratio <- c(paste0(show_ratio(times), " as fast as before",
                          if (!same) ", other results"), ratio)
        goals <- c(list(if (!is.na(work$limit)) {
            at_least(times, work$limit, valid = same)
        }), goals)
    }
    goals <- Filter(Negate(is.null), goals)
    bench_row(work$what, show_seconds(seconds[["now"]]),
              paste(ratio, collapse = "; "),
              if (length(goals) > 0L) goals[[1L]])
}

# Both must have done the same work.
same_result <- function(result) {
    abs(result[["now"]] - result[["before"]]) <= 1e-4 * max(abs(result), 1)
}

# How many times as fast as another package, where there is one.
user_peer <- function(work, seconds) {
    if (is.na(work$peer)) return(NULL)
    family <- sub("-.*", "", work$peer)
    name <- c(huge = "huge's two paths", glmnet = "cv.glmnet() of its shape",
              scipy = "SciPy's L-BFGS on the dual")[[family]]
    if (!has_peer(family)) return(list(ratio = paste("without", name)))
    peer <- user_rounds(work$peer, c(now = ""))
    times <- stats::median(peer$seconds) / seconds
    list(ratio = paste0(show_ratio(times), " as fast as ", name),
         goal = if (!is.na(work$peer_limit)) at_least(times, work$peer_limit))
}

has_peer <- function(family) {
    if (family != "scipy") return(requireNamespace(family, quietly = TRUE))
    found <- nzchar(python_with("scipy"))
    if (!found) {
        message("users: python3 has no SciPy (python3-scipy on Debian), so ",
                "that its L-BFGS is left out")
    }
    found
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
