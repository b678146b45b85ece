# Problems of other shapes, without goals: whole calls in units of one pass,
# and what a second thread gains.

bench_shapes <- function() {
    rbind(
        shape_rows(d = 1000, n = 100, lambda_min_ratio = 0.5),
        shape_rows(d = 300, n = 200, lambda_min_ratio = 0.1),
        shape_rows(d = 50, n = 5000, lambda_min_ratio = 0.1)
    )
}

shape_rows <- function(d, n, lambda_min_ratio) {
    runs <- time_paths(normal_pair(d, n), nlambda = 50,
                       lambda_min_ratio = lambda_min_ratio, rounds = 3L)
    what <- paste0("d = ", d, ", n = ", n, ", 50 values to ",
                   lambda_min_ratio)
    gain <- show_ratio(runs$call[1L] / runs$call, "x one thread")
    gain[1L] <- show_ratio(runs$call[1L] / runs$pass[1L], " passes")
    rbind(
        bench_row(paste0(what, ", ", show_threads(runs$threads)),
                  show_seconds(runs$call), gain),
        reached_row(paste0(what, ": "), min(runs$reached), runs$steps[1L])
    )
}
