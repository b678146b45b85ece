# How times are taken: in turns, so that what else the machine does falls on
# all alike, and as medians.

# The value of a call and its seconds, without the garbage of earlier ones.
timed <- function(work) {
    gc()
    begun <- Sys.time()
    value <- work()
    list(value = value,
         seconds = as.numeric(Sys.time() - begun, units = "secs"))
}

# The steps of a path that reached the tolerance it was asked for, by the
# solver's own word and by the gap.
reached_gap <- function(path) {
    steps <- path$diagnostics
    scale <- pmax(abs(steps$objective), 1e-3)
    steps$status == "converged" & steps$gap <= path$spec$control$tol * scale
}

# One and two threads, where there are two cores.
thread_counts <- function() {
    unique(pmin(1:2, parallelly::availableCores()[[1L]]))
}

# Seconds of whole calls of kliep_path() and of one pass over all factors, a
# row for each number of threads. The first round warms up, unless it took so
# long that it has to do.
time_paths <- function(pair, nlambda, lambda_min_ratio,
                       threads = thread_counts(), rounds = 5L) {
    one_round <- function(round) {
        do.call(rbind, lapply(threads, time_path, pair, nlambda,
                              lambda_min_ratio))
    }
    runs <- one_round(0L)
    if (sum(runs$call) < 5) {
        runs <- do.call(rbind, lapply(seq_len(rounds), one_round))
    }
    cbind(
        stats::aggregate(cbind(pass, call) ~ threads, runs, stats::median),
        stats::aggregate(cbind(steps, reached, passes) ~ threads, runs,
                         min)[-1L]
    )
}

time_path <- function(threads, pair, nlambda, lambda_min_ratio) {
    run <- timed(function() {
        kliep_path(pair$x, pair$y, spec = kliep_spec_paper(),
                   nlambda = nlambda, lambda_min_ratio = lambda_min_ratio,
                   control = kliep_control(tol = 1e-6, threads = threads))
    })
    reached <- reached_gap(run$value)
    data.frame(threads = threads, pass = pass_seconds(pair, threads),
               call = run$seconds, steps = length(reached),
               reached = sum(reached), passes = run$value$passes)
}

# ---- what R users do not see -----------------------------------------------

# One pass over all factors, by the clock of the Rust library.
pass_seconds <- function(pair, threads) {
    kliepnet:::rust_full_pass(pair$x, pair$y, gaussian_terms(),
                              pass_settings(pair, threads))$seconds
}

gaussian_terms <- function() kliepnet:::rust_features(feat_gaussian())

# The settings that kliep_path() hands to Rust.
pass_settings <- function(pair, threads) {
    variables <- paste0("V", seq_len(ncol(pair$x)))
    spec <- kliepnet:::settle_spec(
        kliep_spec_paper(control = kliep_control(threads = threads)), variables
    )
    d <- length(variables)
    # No factors are penalised together.
    c(kliepnet:::rust_settings(spec, d * (d + 1) / 2,
                               c(nrow(pair$x), nrow(pair$y))),
      list(penalty_groups = NULL))
}
