# The paper's timing experiment: the default solver against the package's own
# dual L-BFGS and plain primal, on one thread.

bench_solvers <- function(sizes = c(40, 50, 60, 70, 80), repetitions = 7L) {
    runs <- do.call(rbind, lapply(sizes, time_solver_set, repetitions))
    rbind(
        do.call(rbind, lapply(sizes, solver_rows, runs, "solver")),
        solver_rows(80, runs, "call"),
        reached_row("all three: ", sum(runs$reached), sum(runs$steps))
    )
}

# Every repetition is another pair, on which the solvers take turns.
time_solver_set <- function(d, repetitions) {
    one <- function(seed) {
        set.seed(seed)
        pair <- sim_gaussian(d = d, n = 150)
        do.call(rbind, lapply(c("auto", "dual", "primal"), time_solver, pair))
    }
    do.call(rbind, lapply(seq_len(repetitions), one))
}

# Seconds of a whole call, and those that the solver itself reports. The other
# solvers get all the iterations they need to reach the gap.
time_solver <- function(method, pair) {
    run <- timed(function() {
        kliep_path(pair$x, pair$y, spec = kliep_spec_paper(),
                   lambda2 = 10^seq(0, -4, length.out = 20L), solver = method,
                   control = kliep_control(tol = 1e-6, max_iter = 1e5,
                                           threads = 1))
    })
    reached <- reached_gap(run$value)
    data.frame(d = ncol(pair$x), method = method, call = run$seconds,
               solver = sum(run$value$diagnostics$seconds),
               reached = sum(reached), steps = length(reached))
}

# `clock` is the column of seconds to compare.
solver_rows <- function(d, runs, clock) {
    runs <- runs[runs$d == d, ]
    seconds <- tapply(runs[[clock]], runs$method, stats::median)
    valid <- all(runs$reached == runs$steps)
    ratio <- seconds / seconds[["auto"]]
    label <- if (clock == "call") ", whole call" else ""
    row <- function(method, least = NULL) {
        bench_row(
            paste0("d = ", d, ", ", method, label),
            show_seconds(seconds[[method]]),
            show_ratio(ratio[[method]]),
            if (!is.null(least) && d == 80)
                at_least(ratio[[method]], least, valid = valid)
        )
    }
    rbind(row("auto"), row("dual", 7), row("primal", 4))
}
