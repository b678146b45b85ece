# Many independent tasks, each with random numbers of its own: permutations,
# subsamples, runs of a simulation. They run on the user's future::plan(),
# signal progress by progressr, and can be written to a checkpoint as they
# finish.

# Calls fun(task, ...) for every element of `tasks`. What comes back is the
# same on every plan, in whichever order the tasks end, and whether or not a
# checkpoint held some of them.
#
# A task that fails is reported with its seed in a warning of class
# kliep_warning_replicate, and the others are kept. Where all fail it is an
# error. What tasks warn of is counted and reported once.
#
# Returns a list: `values`, NULL for a task that failed; `failures`, a data
# frame with the columns `replicate`, `message` and `seed`; and `seeds`, the
# state of .Random.seed at which each task begins.
#
# `label` says what a task is part of, such as "kliep_test()". `progress` is
# for users who have not asked progressr to show progress themselves.
#
# `seed` is for callers that need random numbers of their own for the run, and
# have to know it before the tasks.
run_replicates <- function(tasks, fun, ..., label, checkpoint = NULL,
                           progress = FALSE, seed = run_seed()) {
    force(seed)
    state <- random_state()
    on.exit(set_random_state(state))
    # What other processes have finished must outlive them.
    passing <- is.null(checkpoint) && future::nbrOfWorkers() > 1L
    if (passing) checkpoint <- tempfile("kliepnet-checkpoint-")
    run <- describe_run(tasks, fun, list(...), label, seed, checkpoint)
    folder <- open_checkpoint(checkpoint, run)
    run <- folder$run
    done <- read_replicates(folder$path, run)
    pending <- which(vapply(done, is.null, TRUE))
    streams <- random_streams(run$seed, length(tasks))
    if (length(pending) > 0L) {
        done[pending] <- show_progress(progress, run_pending(
            tasks[pending], pending, fun, list(...), streams[pending],
            folder$path, run
        ))
    }
    close_checkpoint(folder$path, done, passing)
    collect_replicates(done, streams, label)
}

# Progress is signalled always, which costs next to nothing, and shown here
# only if asked.
show_progress <- function(progress, work) {
    if (!progress) return(work)
    progressr::with_progress(work, enable = TRUE)
}

run_pending <- function(tasks, numbers, fun, args, streams, folder, run) {
    signal <- progressr::progressor(length(tasks), message = run$label)
    work <- Map(function(task, number) list(task = task, number = number),
                tasks, numbers)
    if (is_sequential()) {
        return(Map(function(one, stream) {
            set_random_state(stream)
            run_replicate(one, fun, args, folder, run["digest"], signal)
        }, work, streams))
    }
    carried <- carried_with(list(fun, args))
    with_workers(
        function(mark) {
            future.apply::future_lapply(
                unname(work), run_replicate, fun = fun, args = args,
                folder = folder, run = run["digest"], signal = signal,
                mark = mark, future.seed = streams,
                future.globals = carried$globals,
                future.packages = carried$packages,
                # Several chunks for each worker even out tasks of different
                # length.
                future.scheduling = 4
            )
        },
        # Tasks catch their own errors: this one is about a worker.
        failed = function(condition) stop_worker(folder, run, condition)
    )
}

stop_worker <- function(folder, run, condition) {
    what <- paste0("A parallel worker ended while it was at work on ",
                   run$label)
    reason <- worker_reason(condition)
    if (is.null(folder)) {
        stop_kliep("worker", paste0(what, ".\n", reason),
                   hint = "The workers have been restarted: repeat the call.")
    }
    finished <- sum(file.exists(replicate_file(folder, seq_len(run$n))))
    stop_kliep(
        "worker",
        paste0(what, "; ", finished, " of ", count_of(run$n, "replicate"),
               " had finished.\n", reason),
        hint = paste0("The workers have been restarted: repeat the call with ",
                      "`checkpoint = ", dQuote(folder, FALSE),
                      "`, which holds them.")
    )
}

# One task, on whichever worker. It is written before it is handed back: the
# main process may not live to receive it.
run_replicate <- function(work, fun, args, folder, run, signal,
                          mark = NULL) {
    if (!is_awaited(mark)) return(NULL)
    warned <- character()
    outcome <- tryCatch(
        withCallingHandlers(
            list(value = do.call(fun, c(list(work$task), args),
                                 quote = TRUE)),
            warning = function(condition) {
                warned <<- c(warned, conditionMessage(condition))
                invokeRestart("muffleWarning")
            }
        ),
        error = function(condition) {
            pass_time_limit(condition)
            list(error = conditionMessage(condition))
        }
    )
    outcome$warned <- unique(warned)
    # Failures are not kept: when the task runs again, it may succeed.
    if (!is.null(folder) && is.null(outcome$error)) {
        outcome$unsaved <- write_replicate(folder, run, work$number, outcome)
    }
    signal()
    outcome
}

# ---- what became of them ---------------------------------------------------

collect_replicates <- function(done, streams, label) {
    failed <- which(vapply(done, function(one) !is.null(one$error), TRUE))
    failures <- data.frame(
        replicate = failed,
        message = vapply(done[failed], `[[`, "", "error")
    )
    failures$seed <- streams[failed]
    report_failures(failures, length(done), label)
    report_warnings(lapply(done, `[[`, "warned"), label)
    list(values = lapply(done, `[[`, "value"), failures = failures,
         seeds = streams)
}

report_failures <- function(failures, n, label, most = 3L) {
    failed <- nrow(failures)
    if (failed == 0L) return(invisible())
    shown <- utils::head(failures, most)
    seeds <- vapply(shown$seed, function(seed) {
        paste0("c(", paste0(seed, "L", collapse = ", "), ")")
    }, "")
    text <- paste0(
        failed, " of ", count_of(n, "replicate"), " of ", label, " failed:\n",
        paste0("- replicate ", shown$replicate, ": ", shown$message,
               "\n  (.Random.seed ", seeds, ")", collapse = "\n"),
        if (failed > most) paste0("\n- and ", failed - most, " more")
    )
    if (failed == n) stop_kliep("replicate", text)
    warn_kliep("replicate", text, hint = "The others are kept.")
}

report_warnings <- function(warned, label) {
    which <- which(lengths(warned) > 0L)
    if (length(which) == 0L) return(invisible())
    warn_kliep("replicate_warned", paste0(
        length(which), " of ", count_of(length(warned), "replicate"), " of ",
        label, " gave a warning; the first, in replicate ", which[1L], ": ",
        warned[[which[1L]]][1L]
    ))
}
