# Methods to compare with: whole paths against two graphical lasso paths of the
# package huge, one for each sample, as long and over the same range; and the
# paper's experiment without correlations against kliep_path().

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
        }),
        against_ratio()
    )
}

# Both networks by likelihoods, in units of the ratio by kliep_path().
against_ratio <- function(d = 9, n = 5000, points = 70000, nlambda = 20) {
    set.seed(1)
    pair <- sim_diamond(d = d, n = n)
    fits <- list(KLIEP = kliep_path, "IS-Flasso" = is_flasso_path,
                 "IS-Glasso" = is_glasso_path)
    runs <- lapply(names(fits), function(name) {
        drawn <- if (name != "KLIEP") list(points = points, seed = 1)
        asked <- c(list(pair$x, pair$y, feat_polynomial(4, basis = "raw"),
                        nlambda = nlambda), drawn)
        timed(function() do.call(fits[[name]], asked))
    })
    seconds <- vapply(runs, `[[`, 0, "seconds")
    reached <- vapply(runs, function(run) {
        sum(run$value$diagnostics$status == "converged")
    }, 0L)
    what <- paste0(names(fits)[-1L], " path, d = ", d, ", n = ", n, ", ",
                   format(points, big.mark = ","), " points, ", nlambda,
                   " values (", reached[-1L], " converged)")
    bench_row(what, show_seconds(seconds[-1L]),
              show_ratio(seconds[-1L] / seconds[1L], "x kliep_path()"))
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
