# Pairs that are drawn by Markov chains: how long these run, and what their
# draws are worth.

# What Rust wants to know about the chains.
chain_schedule <- function(burn_in, thin, chains, threads) {
    list(
        burn_in = as.integer(check_whole(burn_in, "burn_in", least = 0)),
        thin = as.integer(check_whole(thin, "thin")),
        chains = as.integer(check_whole(chains, "chains")),
        threads = kliep_control(threads = threads)$threads
    )
}

# Samples of both networks and their effective sizes. `draw` is the Rust
# routine.
draw_chain_samples <- function(networks, n, n_holdout, draw, schedule) {
    drawn <- draw_samples(networks, n, n_holdout, function(network, n) {
        drawn <- draw(unname(as.matrix(network)), as.integer(n), schedule,
                      draw_seed())
        colnames(drawn$sample) <- colnames(network)
        drawn
    })
    effective_size <- c(x = drawn$x$effective, y = drawn$y$effective)
    warn_slow_chains(effective_size, n)
    list(x = drawn$x$sample, y = drawn$y$sample,
         holdout = if (n_holdout > 0) lapply(drawn$holdout, `[[`, "sample"),
         effective_size = effective_size)
}

# Draws that are worth less than a tenth of their number are easily overrated.
warn_slow_chains <- function(effective_size, n) {
    slow <- which(effective_size < n / 10)
    if (length(slow) == 0L) return(invisible())
    warn_kliep(
        "mixing",
        paste0("The chains mix slowly: ",
               paste0("the ", n[slow], " draws of `", names(n)[slow],
                      "` are worth ", round(effective_size[slow]),
                      " independent ones", collapse = ", "), "."),
        hint = "Raise `thin`, and `burn_in` with it."
    )
}
