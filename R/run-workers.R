# Independent tasks without random numbers on the user's future::plan().

# fun(task, ...) for every task, in order; an error in one is the error of
# all. Progress is signalled by progressr, by the `size` of a task: how many
# fits it is.
map_tasks <- function(tasks, fun, ..., label, size = one_fit) {
    signal <- progressr::progressor(sum(vapply(tasks, size, 1)),
                                    message = label)
    if (is_sequential()) {
        return(lapply(tasks, run_task, fun = fun, args = list(...),
                      signal = signal, size = size))
    }
    args <- list(...)
    carried <- carried_with(list(tasks, fun, args))
    with_workers(
        function(mark) {
            future.apply::future_lapply(
                tasks, run_task, fun = fun, args = args, signal = signal,
                size = size, mark = mark, future.seed = NULL,
                future.globals = carried$globals,
                future.packages = carried$packages, future.scheduling = 4
            )
        },
        failed = function(condition) {
            stop_kliep(
                "worker",
                paste0("A parallel worker ended while it was at work: ",
                       label, ".\n", worker_reason(condition)),
                hint = "The workers have been restarted: repeat the call."
            )
        }
    )
}

one_fit <- function(task) 1

# Futures gain nothing on one process, as within a worker, and cost their
# set-up. An error in one would not keep the next from its turn.
is_sequential <- function() inherits(future::plan(), "sequential")

# Calls `work`, which hands tasks to the workers of the plan, with the mark
# that is_awaited() looks for. After an interrupt, at the end of a time limit
# and where a worker was lost, others may still be about to answer, and would
# do so to the next call that asks: all of them are restarted.
with_workers <- function(work, failed) {
    mark <- tempfile("kliepnet-awaited-")
    file.create(mark)
    # Some plans, such as batchtools, use random numbers when tasks are sent
    # off; those of the caller must not change.
    state <- get0(".Random.seed", globalenv(), inherits = FALSE)
    on.exit({
        unlink(mark)
        if (!is.null(state)) set_random_state(state)
    })
    stop_waiting <- function() {
        unlink(mark)
        renew_workers()
    }
    tryCatch(
        work(mark),
        interrupt = function(condition) {
            suspendInterrupts(stop_waiting())
            resume_interrupt()
        },
        error = function(condition) {
            limit <- time_limit_of(condition)
            lost <- inherits(condition, "FutureError")
            if (lost || !is.null(limit)) stop_waiting()
            if (!is.null(limit)) stop(limit, call. = FALSE)
            if (lost) failed(condition)
            stop(condition)
        }
    )
}

renew_workers <- function() {
    if (future::nbrOfWorkers() == 1L) return(invisible())
    plan <- future::plan("list")
    if (has_own_cluster(plan[[1L]])) {
        warn_kliep(
            "worker",
            paste("The workers of a cluster that was made elsewhere may still",
                  "be busy with this call."),
            hint = paste("Stop the cluster, make a new one and pass it to",
                         "`future::plan()`.")
        )
        return(invisible())
    }
    future::plan(future::sequential)
    future::plan(plan)
}

# Was the plan given a cluster object, which only its owner can restart?
has_own_cluster <- function(plan) {
    inherits(formals(plan)$workers, "cluster")
}

# Whether the main process still waits for the result of this one. The mark is a
# file that exists as long as the main process waits. A worker that has seen it
# and no longer does can stop; a worker on another machine never sees it and
# goes on. The main process itself has no mark.
is_awaited <- function(mark) {
    if (is.null(mark)) return(TRUE)
    if (file.exists(mark)) {
        assign(mark, TRUE, envir = marks_seen)
        return(TRUE)
    }
    !exists(mark, envir = marks_seen, inherits = FALSE)
}

marks_seen <- new.env(parent = emptyenv())

# The reason without what future adds about the sizes of variables.
worker_reason <- function(condition) {
    sub(" The total size of.*", "", conditionMessage(condition))
}

run_task <- function(task, fun, args, signal, size, mark = NULL) {
    if (!is_awaited(mark)) return(NULL)
    value <- do.call(fun, c(list(task), args), quote = TRUE)
    signal(amount = size(task))
    value
}

# Where several processes are at work, one thread is enough for each.
threads_for_plan <- function(control) {
    if (future::nbrOfWorkers() > 1) control$threads <- 1L
    control
}
