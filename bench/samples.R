# Samples of many variables. sim_gaussian() factors a d x d matrix, which at
# d = 10,000 takes longer than what is to be measured.

# Two samples without a change: what is detected is noise, and noise has the
# most factors close to the threshold. Made in place: garbage left behind
# would hide memory that a fit takes.
normal_pair <- function(d, n) {
    set.seed(1)
    x <- stats::rnorm(n * d)
    y <- stats::rnorm(n * d)
    dim(x) <- dim(y) <- c(n, d)
    list(x = x, y = y)
}

# The paper's construction side by side, each block with changes of its own.
block_pair <- function(d, n, size = 40) {
    set.seed(1)
    blocks <- lapply(seq_len(d / size), function(block) {
        sim_gaussian(d = size, n = n)
    })
    bind <- function(sample) {
        unname(do.call(cbind, lapply(blocks, `[[`, sample)))
    }
    list(x = bind("x"), y = bind("y"))
}

# Every variable correlated with every other, as measured genes are.
factor_pair <- function(d, n, loading = 0.7) {
    pair <- normal_pair(d, n)
    list(x = pair$x + loading * stats::rnorm(n),
         y = pair$y + loading * stats::rnorm(n))
}

# `work` is not evaluated before the seed is set.
with_seed <- function(seed, work) {
    set.seed(seed)
    work
}
