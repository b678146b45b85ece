# Time that does not depend on the machine, nor on what else it does: of the
# processor, in units of a loop that is timed beside it. A unit is some tenth
# of a second; the least of three is taken.
in_loops <- function(work) {
    seconds <- function(work) sum(system.time(work())[c(1L, 2L)])
    loop <- function() {
        total <- 0
        for (i in seq_len(3e6)) total <- total + i %% 7
        total
    }
    least <- Inf
    for (trial in 1:3) least <- min(least, seconds(work) / seconds(loop))
    least
}
