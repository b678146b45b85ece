# Paths over 50 million factors, in units of one pass over all of them.

bench_genome <- function(d = 10000, n = 100) {
    runs <- time_genome(normal_pair(d, n), thread_counts())
    labels <- paste0("d = 10,000, ", show_threads(runs$threads))
    rbind(
        do.call(rbind, Map(genome_rows, labels, split(runs, runs$threads), 4)),
        if (nrow(runs) == 2L)
            bench_row("d = 10,000, two threads: whole call",
                      show_seconds(runs$call[2L]),
                      show_ratio(runs$call[1L] / runs$call[2L],
                                 "x one thread")),
        # Other data of that size, for information.
        genome_rows("changed blocks of 40", time_genome(block_pair(d, n))),
        genome_rows("a common factor", time_genome(factor_pair(d, n)))
    )
}

time_genome <- function(pair, threads = 1L) {
    time_paths(pair, nlambda = 20, lambda_min_ratio = 0.7, threads = threads)
}

# `most` is the goal in passes, if there is one.
genome_rows <- function(what, run, most = NULL) {
    ratio <- run$call / run$pass
    rbind(
        bench_row(paste0(what, ": one pass"), show_seconds(run$pass)),
        bench_row(paste0(what, ": whole call"), show_seconds(run$call),
                  show_ratio(ratio, " passes"),
                  if (!is.null(most))
                      at_most(ratio, most, " passes",
                              run$reached == run$steps)),
        bench_row(paste0(what, ": passes made"), paste(run$passes)),
        reached_row(paste0(what, ": "), run$reached, run$steps)
    )
}
