# Independent tasks without random numbers on the user's future::plan().

# fun(task, ...) for every task, in order; an error in one is the error of
# all. Progress is signalled by progressr.
map_tasks <- function(tasks, fun, ..., label) {
    signal <- progressr::progressor(length(tasks), message = label)
    if (is_sequential()) {
        return(lapply(tasks, run_task, fun = fun, args = list(...),
                      signal = signal))
    }
    carried <- carried_with(list(tasks, fun, list(...)))
    with_workers(
        future.apply::future_lapply(
            tasks, run_task, fun = fun, args = list(...), signal = signal,
            future.seed = NULL, future.globals = carried$globals,
            future.packages = carried$packages, future.scheduling = 4
        ),
        failed = function(condition) {
            stop_kliep(
                "worker",
                paste0("A parallel worker ended while it was at work: ",
                       label, ".\n", worker_reason(condition)),
                hint = "Set `future::plan()` anew and repeat the call."
            )
        }
    )
}

# Futures gain nothing on one process, as within a worker, and cost their
# set-up. An error in one would not keep the next from its turn.
is_sequential <- function() inherits(future::plan(), "sequential")

# Evaluates `work`, which hands tasks to the workers of the plan. After an
# interrupt or at the end of a time limit these may still be about to answer,
# and would do so to the next who asks: they are started anew.
with_workers <- function(work, failed) {
    tryCatch(
        work,
        interrupt = function(condition) {
            suspendInterrupts(renew_workers())
            resume_interrupt()
        },
        FutureError = failed,
        error = function(condition) {
            if (is_time_limit(condition)) renew_workers()
            stop(condition)
        }
    )
}

renew_workers <- function() {
    if (future::nbrOfWorkers() == 1L) return(invisible())
    plan <- future::plan("list")
    future::plan(future::sequential)
    future::plan(plan)
}

# Is this R's own error at the end of setTimeLimit()? By its text, in the
# session's language: it has no class.
is_time_limit <- function(condition) {
    limits <- c("reached elapsed time limit", "reached CPU time limit",
                "reached session elapsed time limit",
                "reached session CPU time limit")
    conditionMessage(condition) %in% gettext(limits, domain = "R")
}

# What future says on the sizes of variables is not the reason.
worker_reason <- function(condition) {
    sub(" The total size of.*", "", conditionMessage(condition))
}

run_task <- function(task, fun, args, signal) {
    value <- do.call(fun, c(list(task), args), quote = TRUE)
    signal()
    value
}

# Where several processes are at work, one thread is enough for each.
threads_for_plan <- function(control) {
    if (future::nbrOfWorkers() > 1) control$threads <- 1L
    control
}
