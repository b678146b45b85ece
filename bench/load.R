# Much of everything: many fits in one session, many variables, many shuffles.

bench_load <- function() {
    rbind(session_rows(), wide_rows(), shuffle_rows())
}

# A thousand fits, some refused and some stopped half-way. What a session takes
# for itself the first times (threads, caches, R's heap) is not growth.
session_rows <- function(fits = 1000L, first = 200L) {
    if (!file.exists("/proc/self/status")) {
        return(bench_row("memory of a session", "needs /proc/self/status"))
    }
    run <- measure(file.path("tests", "testthat", "session-load.R"),
                   c(fits, first), env = "MALLOC_ARENA_MAX=1")
    grown <- run[["late"]] - run[["early"]]
    ended <- run[c("fitted", "refused", "stopped")]
    rbind(
        bench_row(paste0(fits, " fits in one session: memory after ", first),
                  paste(round(run[["early"]]), "MB")),
        bench_row(paste0(fits, " fits in one session: added by the others"),
                  paste(round(grown, 1L), "MB"),
                  show_ratio(run[["late"]] / run[["early"]],
                             paste0("x that after ", first)),
                  at_most(grown, 10, " MB", sum(ended) == fits)),
        bench_row(paste0(fits, " fits in one session: fitted, refused, ",
                         "stopped by a time limit"),
                  paste(ended, collapse = ", "))
    )
}

# 200 million factors.
wide_rows <- function(d = 20000, n = 100) {
    run <- measure_memory(d, n, max(thread_counts()), degree = 1)
    what <- paste0("d = ", format(d, big.mark = ","), ", whole path")
    rbind(
        bench_row(what, show_seconds(run[["seconds"]]),
                  show_ratio(run[["seconds"]] / run[["pass"]], " passes")),
        reached_row(paste0(what, ": "), run[["reached"]], run[["steps"]])
    )
}

shuffle_rows <- function(d = 20, n = 100, n_perm = 1000) {
    set.seed(1)
    pair <- sim_gaussian(d = d, n = n, density = 0.1, edge = 0.4,
                         n_changed = 4, change = -0.8)
    selection <- timed(function() {
        kliep_select(pair$x, pair$y, kliep_spec_paper())
    })
    test <- timed(function() {
        kliep_test(pair$x, pair$y, kliep_spec_paper(), n_perm = n_perm,
                   progress = FALSE)
    })
    done <- test$value$n_perm
    what <- paste0("kliep_test(), d = ", d, ", ", n_perm, " shuffles")
    bench_row(what, show_seconds(test$seconds),
              show_ratio(test$seconds / selection$seconds,
                         "x one kliep_select()"),
              list(text = "all", met = done == n_perm))
}
