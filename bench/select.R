# What selection costs beyond the fits it makes: 5-fold cross-validation over
# three candidates, each with 50 values of lambda2, in units of one path each.

bench_select <- function(d = 100, n = 100, rounds = 3L) {
    pair <- with_seed(1, sim_gaussian(d = d, n = n, density = 0.1))
    candidates <- list(feat_gaussian(), feat_nonparanormal(2),
                       feat_polynomial(2))
    runs <- do.call(rbind, lapply(seq_len(rounds), function(round) {
        paths <- timed(function() {
            lapply(candidates, function(features) {
                kliep_path(pair$x, pair$y, features,
                           spec = kliep_spec_paper())
            })
        })
        selection <- timed(function() {
            with_seed(1, kliep_select(pair$x, pair$y, kliep_spec_paper(),
                                      features = candidates))
        })
        data.frame(paths = paths$seconds, selection = selection$seconds)
    }))
    ratio <- stats::median(runs$selection / runs$paths)
    what <- paste0("d = ", d, ", n = ", n)
    rbind(
        bench_row(paste0(what, ": paths of three candidates"),
                  show_seconds(stats::median(runs$paths))),
        bench_row(paste0(what, ": 5-fold cross-validation of the three"),
                  show_seconds(stats::median(runs$selection)),
                  show_ratio(ratio, "x the paths"), at_most(ratio, 6))
    )
}
