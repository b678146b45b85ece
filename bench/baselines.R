# Methods to compare with: whole paths against two graphical lasso paths of the
# package huge, one for each sample, as long and over the same range.

bench_baselines <- function() {
    small <- known_pair(d = 80, n = 150)
    large <- known_pair(d = 200, n = 400)
    rbind(
        against_huge("Flasso", small, function(pair, ...) {
            flasso_path(pair$x, pair$y, ...)
        }),
        against_huge("Flasso, lambda1 = 0", small, function(pair, ...) {
            flasso_path(pair$x, pair$y, lambda1 = 0, ...)
        }),
        against_huge("D-trace", large, function(pair, ...) {
            dtrace_path(pair$x, pair$y, ...)
        })
    )
}

# The same number of edges for each variable at every d.
known_pair <- function(d, n) {
    set.seed(1)
    sim_gaussian(d = d, n = n, density = 10 / d)
}

# Both in turns, on one thread: huge has no more.
against_huge <- function(what, pair, fit, nlambda = 20, ratio = 0.1,
                         rounds = 5L) {
    runs <- replicate(rounds, simplify = FALSE, {
        ours <- timed(function() {
            fit(pair, nlambda = nlambda, lambda_min_ratio = ratio,
                control = kliep_control(threads = 1))
        })
        theirs <- timed(function() {
            for (sample in pair[c("x", "y")]) {
                huge::huge(sample, method = "glasso", nlambda = nlambda,
                           lambda.min.ratio = ratio, verbose = FALSE)
            }
        })
        list(ours = ours$seconds, theirs = theirs$seconds,
             reached = sum(ours$value$diagnostics$status == "converged"))
    })
    median_of <- function(name) {
        stats::median(vapply(runs, `[[`, 0, name))
    }
    reached <- min(vapply(runs, `[[`, 0L, "reached"))
    speed <- median_of("theirs") / median_of("ours")
    bench_row(
        paste0(what, " path, d = ", ncol(pair$x), ", n = ", nrow(pair$x),
               ", ", nlambda, " values (", reached, " converged)"),
        show_seconds(median_of("ours")),
        show_ratio(speed, "x as fast as two huge glasso paths"),
        at_least(speed, 1, valid = reached == nlambda)
    )
}
