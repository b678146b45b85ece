# Random numbers: everything that draws takes them from the user's generator,
# by one number that seeds a stream, in Rust or of a task.

# One number from R's generator, to seed a stream in Rust; of so many bits.
draw_seed <- function(bits = 52) floor(stats::runif(1L) * 2^bits)

# A seed that a user may give, and gets to see: a whole number as R has them.
check_seed <- function(seed) {
    if (is.null(seed)) return(draw_seed(bits = 31))
    check_whole(seed, "seed", least = 0)
}

# ---- streams of tasks ------------------------------------------------------

# One stream of L'Ecuyer's generator for each task: far apart, and the same
# whoever runs the task.
random_streams <- function(seed, n) {
    set.seed(seed, "L'Ecuyer-CMRG", "Inversion", "Rejection")
    streams <- vector("list", n)
    stream <- random_state()
    for (task in seq_len(n)) {
        streams[[task]] <- stream
        stream <- parallel::nextRNGStream(stream)
    }
    streams
}

# The one number that the caller's generator gives away, or that with which
# the run of this checkpoint was begun.
run_seed <- function(checkpoint = NULL) {
    seed <- sample.int(.Machine$integer.max, 1L)
    begun <- begun_seed(checkpoint)
    if (is.null(begun)) seed else begun
}

# Evaluates `work` with random numbers that belong to the run, but to none of
# its tasks; `place` tells several such pieces of work apart.
with_run_seed <- function(seed, place, work) {
    state <- random_state()
    on.exit(set_random_state(state))
    stream <- random_streams(seed, 1L)[[1L]]
    for (step in seq_len(place)) stream <- parallel::nextRNGSubStream(stream)
    set_random_state(stream)
    work
}

random_state <- function() get(".Random.seed", envir = globalenv())

set_random_state <- function(state) {
    assign(".Random.seed", state, envir = globalenv())
}
