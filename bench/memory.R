# What a path adds to the memory of its process at its peak, each in a process
# of its own.

bench_memory <- function() {
    if (!file.exists("/proc/self/status")) {
        return(bench_row("peak memory", "needs /proc/self/status"))
    }
    threads <- thread_counts()
    rows <- lapply(threads, function(count) {
        memory_rows(d = 10000, threads = count, limit = 300)
    })
    rbind(do.call(rbind, rows),
          memory_rows(d = 20000, threads = max(threads), limit = 1000),
          # 500,500 factors with 7 million coefficients.
          memory_rows(d = 1000, threads = max(threads), limit = 1000,
                      degree = 4))
}

memory_rows <- function(d, threads, limit, n = 100, degree = 1) {
    run <- measure_memory(d, n, threads, degree)
    samples <- 2 * n * d * 8 / 1e6
    valid <- run[["reached"]] == run[["steps"]]
    what <- paste0("d = ", format(d, big.mark = ","), ", ",
                   if (degree > 1) paste0("degree ", degree, ", "),
                   show_threads(threads))
    rbind(
        bench_row(paste0(what, ": memory added"),
                  paste(round(run[["added"]]), "MB"),
                  show_ratio(run[["added"]] / samples, "x the samples"),
                  at_most(run[["added"]], limit, " MB", valid)),
        reached_row(paste0(what, ": "), run[["reached"]], run[["steps"]])
    )
}

measure_memory <- function(d, n, threads, degree, estimator = "paper") {
    measure(file.path("bench", "added_memory.R"),
            list(d, n, threads, degree, estimator))
}

# Run a script in another process; the last line that it prints says
# name=value, ...
measure <- function(script, arguments, env = character()) {
    arguments <- vapply(arguments, format, "", scientific = FALSE, trim = TRUE)
    output <- suppressWarnings(system2(
        file.path(R.home("bin"), "Rscript"), c(script, arguments),
        stdout = TRUE, env = env
    ))
    if (!is.null(attr(output, "status"))) {
        stop(script, " ", paste(arguments, collapse = " "), " failed.",
             call. = FALSE)
    }
    pairs <- strsplit(strsplit(output[length(output)], " ")[[1L]], "=")
    values <- vapply(pairs, `[`, "", 2L)
    values <- as.numeric(ifelse(values == "NA", NA, values))
    stats::setNames(values, vapply(pairs, `[`, "", 1L))
}
