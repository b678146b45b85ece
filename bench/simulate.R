# How long the simulators take that loop, and what the draws of Markov chains
# are worth.

bench_simulate <- function() {
    lattice <- ising_lattice(10, coupling = 0.3)
    rbind(
        simulate_rows("sim_diamond(), both samples of 5000 draws",
                      sim_diamond, goal = 2),
        simulate_rows("sim_ising(), 10 x 10 lattice, 1000 draws",
                      function(threads) {
                          sim_ising(lattice, ising_change(lattice), n = 1000,
                                    threads = threads)
                      }),
        simulate_rows("sim_genes(), yeast13(), 5000 observations",
                      function(threads) sim_genes(n = 5000, threads = threads))
    )
}

# The median of five runs on one thread, and on two.
simulate_rows <- function(what, simulate, goal = NULL) {
    threads <- thread_counts()
    runs <- replicate(5L, lapply(threads, function(count) {
        timed(function() simulate(threads = count))
    }), simplify = FALSE)
    seconds <- vapply(seq_along(threads), function(k) {
        stats::median(vapply(runs, function(run) run[[k]]$seconds, 0))
    }, 0)
    gain <- show_ratio(seconds[1L] / seconds, "x one thread")
    gain[1L] <- ""
    rows <- bench_row(paste0(what, ", ", show_threads(threads)),
                      show_seconds(seconds), gain)
    if (!is.null(goal)) {
        met <- at_most(seconds[1L], goal, " s")
        rows$goal[1L] <- met$text
        rows$met[1L] <- if (met$met) "yes" else "no"
    }
    rbind(rows, worth_row(what, runs[[1L]][[1L]]$value))
}

worth_row <- function(what, pair) {
    if (is.null(pair$effective_size)) return(NULL)
    share <- pair$effective_size / c(nrow(pair$x), nrow(pair$y))
    bench_row(paste0(what, ": effective size"),
              paste(round(min(pair$effective_size)), "draws"),
              show_ratio(min(share), " of their number"))
}
