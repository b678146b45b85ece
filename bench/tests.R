# How long the tests of all edges take on one thread, and what they add to the
# memory of their process.

bench_tests <- function() {
    rbind(
        given_rows(d = 200, n = 400, size = 120, limit = 1),
        given_rows(d = 1000, n = 200, size = 150, limit = 20,
                   memory = 500),
        auto_rows(d = 20, n = 1000, limit = 0.5),
        auto_rows(d = 200, n = 100, limit = 5),
        auto_rows(d = 1000, n = 200)
    )
}

# Tests of all edges, given a support.
given_rows <- function(d, n, size, limit, memory = NULL) {
    run <- measure(file.path("bench", "tests_once.R"), c(d, n, size))
    what <- paste0("all edges, d = ", format(d, big.mark = ","), ", n = ", n,
                   ", ", run[["support"]], " in the support")
    rows <- bench_row(what, show_seconds(run[["seconds"]]),
                      paste0(round(run[["edges"]] / run[["seconds"]] / 1e3),
                             " thousand edges a second"),
                      at_most(run[["seconds"]], limit, " s"))
    if (is.null(memory)) return(rows)
    rbind(rows, bench_row(paste0(what, ": memory added"),
                          paste(round(run[["added"]]), "MB"),
                          goal = at_most(run[["added"]], memory, " MB")))
}

# The whole of kliep_auto().
auto_rows <- function(d, n, limit = NULL) {
    run <- measure(file.path("bench", "tests_once.R"), c(d, n, 0))
    bench_row(paste0("kliep_auto(), d = ", format(d, big.mark = ","),
                     ", n = ", n),
              show_seconds(run[["seconds"]]),
              paste(round(run[["added"]]), "MB"),
              if (!is.null(limit)) at_most(run[["seconds"]], limit, " s"))
}
