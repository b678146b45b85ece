# Run in a process of its own by test-faults.R and by `make bench ONLY=faults`:
# interrupts long calls at random moments, and looks at what is left.
#
#   Rscript faults-interrupt.R <table> <seed> <trials> <plan> <latest>
#
# The interrupts come within the `latest` seconds of a call. Writes a row for
# each trial: how the call ended, after how many seconds, and
# what was wrong with the session then ("" for nothing).

suppressPackageStartupMessages(library(kliepnet))
arguments <- commandArgs(TRUE)
trials <- as.integer(arguments[3])
parallel <- arguments[4] == "multisession"
if (parallel) future::plan(future::multisession, workers = 2)
one <- kliep_control(threads = 1)
two <- kliep_control(tol = 1e-12, max_iter = 1e6, threads = 2)

set.seed(1)
draw <- function(d, n) matrix(rnorm(n * d), n)
x <- draw(30, 60)
y <- draw(30, 50)
wide <- list(x = draw(400, 100), y = draw(400, 100))
small <- kliep_path(x[, 1:5], y[, 1:5], nlambda = 5, control = one)

# Each takes far longer than the moment at which it is interrupted.
long_calls <- list(
    kliep_path = function() {
        kliep_path(wide$x, wide$y, feat_polynomial(3), 1e-3,
                   lambda_min_ratio = 1e-3, control = two)
    },
    kliep_change = function() {
        kliep_change(wide$x, wide$y, lambda1 = 1e-4, lambda2 = 1e-4,
                     control = two, solver = "primal")
    },
    kliep_select = function() {
        # A worker that is interrupted goes on to the end of its path.
        kliep_select(wide$x[, 1:100], wide$y[, 1:100], feat_polynomial(3),
                     lambda1 = 1e-3)
    },
    kliep_test = function() kliep_test(x, y, n_perm = 1e4, progress = FALSE),
    kliep_stability = function() {
        kliep_stability(x, y, n_subsamples = 1e4, progress = FALSE)
    },
    kliep_debias = function() {
        kliep_debias(draw(60, 600), draw(60, 600), n_boot = 1e5, control = two)
    },
    kliep_auto = function() kliep_auto(wide$x, wide$y),
    kliep_windows = function() {
        kliep_windows(draw(20, 4000), draw(20, 100), width = 40,
                      progress = FALSE)
    },
    flasso_path = function() {
        flasso_path(wide$x, wide$y, lambda1 = 1e-3, lambda_min_ratio = 1e-3,
                    control = two)
    },
    dtrace_path = function() {
        dtrace_path(wide$x, wide$y, lambda_min_ratio = 0.05, control = two)
    },
    glasso_path = function() {
        glasso_path(wide$x[, 1:80], wide$y[, 1:80], nlambda = 1000)
    },
    is_flasso_path = function() is_flasso_path(x, y, control = two),
    is_glasso_path = function() is_glasso_path(x, y, control = two),
    compare_methods = function() {
        compare_methods(function() sim_gaussian(d = 20, n = 50),
                        list(kliep = function(x, y) kliep_path(x, y)),
                        runs = 1e4, progress = FALSE)
    },
    sim_gaussian = function() sim_gaussian(d = 20, n = 2e6),
    sim_diamond = function() sim_diamond(n = 1e6),
    sim_ising = function() {
        sim_ising(ising_chain(50), ising_chain(50), n = 1e5)
    },
    sim_genes = function() sim_genes(n = 1e6),
    kliep_report = function() {
        repeat kliep_report(small, tempfile(fileext = ".html"), open = FALSE)
    }
)
if (parallel) {
    long_calls <- long_calls[c("kliep_select", "kliep_test", "kliep_stability",
                               "kliep_windows", "compare_methods")]
}

# ---- one trial -------------------------------------------------------------

threads_now <- function() length(list.files("/proc/self/task"))

# Threads and processes that were told to end take a moment.
stays_above <- function(count, limit, patience = 600) {
    until <- Sys.time() + patience
    while (count() > limit) {
        if (Sys.time() > until) return(TRUE)
        Sys.sleep(0.02)
    }
    FALSE
}

children_now <- function() length(ps::ps_children(ps::ps_handle()))

# What is wrong with the session, compared to what it was; "" if nothing.
complaint <- function(before) {
    again <- kliep_path(x[, 1:5], y[, 1:5], nlambda = 5, control = one)
    wrong <- c(
        if (!identical(again$coefficients, small$coefficients)) "another fit",
        if (!identical(RNGkind(), before$kind)) "another generator",
        if (sink.number() > 0) "a sink",
        if (length(grDevices::dev.list()) > before$devices) "a device",
        if (!identical(getwd(), before$folder)) "another folder",
        if (stays_above(threads_now, before$threads)) "threads left",
        if (stays_above(children_now, before$children)) "processes left",
        if (parallel && !works_in_parallel()) "no parallel work"
    )
    paste(wrong, collapse = ", ")
}

works_in_parallel <- function() {
    found <- kliep_stability(x[, 1:4], y[, 1:4], n_subsamples = 4,
                             progress = FALSE)
    inherits(found, "kliep_stability")
}

# An interrupt comes from outside of R, at its time. The mark has this time,
# and is there once it has come.
interrupt_after <- function(seconds, mark) {
    system(sprintf(
        "(sleep %.3f; date +%%s.%%N > %s.now; kill -INT %d; mv %s.now %s)",
        seconds, mark, Sys.getpid(), mark, mark
    ), wait = FALSE)
}

# One that comes too late must not hit the next trial.
wait_for_mark <- function(mark) {
    while (!file.exists(mark)) {
        tryCatch(Sys.sleep(0.05), interrupt = function(condition) NULL)
    }
    # R takes note of one that is there.
    tryCatch(Sys.sleep(0.05), interrupt = function(condition) NULL)
}

run_trial <- function(name, seconds) {
    before <- list(kind = RNGkind(), devices = length(grDevices::dev.list()),
                   folder = getwd(), threads = threads_now(),
                   children = children_now())
    mark <- tempfile("mark")
    ended <- tryCatch(
        {
            interrupt_after(seconds, mark)
            suppressWarnings(long_calls[[name]]())
            "by itself"
        },
        interrupt = function(condition) "interrupted",
        error = function(condition) {
            paste("error:", conditionMessage(condition))
        }
    )
    ended_at <- as.numeric(Sys.time())
    wait_for_mark(mark)
    delay <- ended_at - as.numeric(readLines(mark))
    data.frame(name = name, seconds = seconds, ended = ended, delay = delay,
               wrong = tryCatch(complaint(before), error = conditionMessage))
}

set.seed(as.integer(arguments[2]))
plan <- data.frame(
    name = rep_len(sample(names(long_calls)), trials),
    seconds = round(stats::runif(trials, 0.02, as.numeric(arguments[5])), 3)
)
invisible(works_in_parallel())
rows <- NULL
for (trial in seq_len(trials)) {
    rows <- rbind(rows, run_trial(plan$name[trial], plan$seconds[trial]))
    saveRDS(rows, arguments[1])
}
future::plan(future::sequential)
