# Fits of many kinds in one process, one after the other, and how its memory
# grows: a test runs a few hundred of them, `make bench ONLY=load` a thousand.
#   Rscript session-load.R <fits> <fits before the first look>
# The last line is "early=MB late=MB heap=MB" and how often each kind ended as
# it should: resident memory after so many fits and at the end, and what R's
# own heap has gained in between. What is freed does not go back to the system
# at once, so that each is the least of several looks, and a process started
# with MALLOC_ARENA_MAX=1 holds less of it back.

suppressPackageStartupMessages(library(kliepnet))

# ---- what is done ----------------------------------------------------------

set.seed(1)
pair <- sim_gaussian(d = 12, n = 80, n_changed = 4)
wide <- list(x = matrix(rnorm(200 * 2000), 200),
             y = matrix(rnorm(200 * 2000), 200))
ended <- c(fitted = 0, refused = 0, stopped = 0)

fitted <- function(value) {
    stopifnot(length(value) > 0L)
    ended[["fitted"]] <<- ended[["fitted"]] + 1
}

# A fit that takes minutes, with 50 ms to do it in.
stop_early <- function() {
    on.exit(setTimeLimit())
    tryCatch({
        setTimeLimit(elapsed = 0.05, transient = TRUE)
        kliep_path(wide$x, wide$y, lambda1 = 1e-3, lambda_min_ratio = 1e-3,
                   solver = "primal",
                   control = kliep_control(tol = 1e-10, max_iter = 1e6))
    }, error = function(condition) {
        stopifnot(grepl("time limit", conditionMessage(condition)))
        ended[["stopped"]] <<- ended[["stopped"]] + 1
    })
}

refuse <- function() {
    tryCatch(
        kliep_path(pair$x, pair$y[, -1L]),
        kliep_error_dimension = function(condition) {
            ended[["refused"]] <<- ended[["refused"]] + 1
        }
    )
}

few <- function(fit, ...) fitted(fit(pair$x, pair$y, nlambda = 10, ...))

kinds <- list(
    function() few(kliep_path),
    function() few(kliep_path, feat_polynomial(2), penalty = "mcp"),
    function() few(kliep_select, folds = 3),
    function() {
        suppressWarnings(fitted(kliep_debias(pair$x, pair$y, n_boot = 50)),
                         classes = "kliep_warning_effective_size")
    },
    function() few(flasso_path),
    function() fitted(edges(kliep_change(pair$x, pair$y, lambda2 = 0.1))),
    refuse,
    stop_early
)

# ---- what it costs ---------------------------------------------------------

# In MB, of the process and of R's heap, after R has tidied up.
memory_now <- function() {
    heap <- sum(gc()[, 2L])
    line <- grep("^VmRSS:", readLines("/proc/self/status"), value = TRUE)
    c(process = as.numeric(gsub("[^0-9]", "", line)) * 1024 / 1e6,
      heap = heap)
}

# Do so many fits, a round of all kinds after the other, and take the least of
# the looks after the last rounds. A look also collects R's garbage, of which
# there is otherwise more at one time than at another.
work_through <- function(fits, looks = 3L) {
    seen <- lapply(seq_len(fits / length(kinds)), function(round) {
        for (kind in kinds) kind()
        memory_now()
    })
    do.call(pmin, utils::tail(seen, looks))
}

fits <- as.integer(commandArgs(TRUE))
early <- work_through(fits[2L])
late <- work_through(fits[1L] - fits[2L])
cat("early=", early[["process"]], " late=", late[["process"]],
    " heap=", late[["heap"]] - early[["heap"]], " ",
    paste0(names(ended), "=", ended, collapse = " "), "\n", sep = "")
