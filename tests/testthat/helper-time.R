# Time that does not depend on the machine, nor on what else it does: of the
# processor, in units of a loop that is timed beside it. A unit is some tenth
# of a second, of which a tenth is timed.
in_loops <- function(work) {
    # Without the collection that comes first: it takes longer than the loop.
    seconds <- function(work) {
        sum(system.time(work(), gcFirst = FALSE)[c(1L, 2L)])
    }
    loop <- function() {
        total <- 0
        for (i in seq_len(3e5)) total <- total + i %% 7
        total
    }
    seconds(work) / (10 * seconds(loop))
}

# Is the least of three within the limit? The others are not needed once one
# is.
expect_loops <- function(work, limit, label = NULL) {
    for (trial in 1:3) {
        took <- in_loops(work)
        if (took < limit) break
    }
    expect_lt(took, limit, label = label)
}
