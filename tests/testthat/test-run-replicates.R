draw_two <- function(task) task + rnorm(2)

test_that("the seed decides the numbers, and each task has its own", {
    run <- function(seed, tasks = 1:6) {
        set.seed(seed)
        run_replicates(tasks, draw_two, label = "a test")$values
    }
    first <- run(1)
    expect_length(first, 6)
    expect_identical(run(1), first)
    expect_false(identical(run(2), first))
    expect_false(anyDuplicated(unlist(run(1, rep(0, 6)))) > 0)
    # A task's numbers do not depend on how many follow it.
    expect_identical(run(1, 1:3), first[1:3])
})

test_that("the caller's generator moves by one draw, and keeps its kind", {
    withr::local_preserve_seed()
    suppressWarnings(set.seed(4, "Mersenne-Twister", "Box-Muller", "Rounding"))
    kind <- RNGkind()
    sample.int(.Machine$integer.max, 1)
    expected <- runif(3)
    set.seed(4)
    run_replicates(1:3, draw_two, label = "a test")
    expect_identical(RNGkind(), kind)
    expect_identical(runif(3), expected)
    set.seed(4)
    try(run_replicates(1:3, function(task) stop("no"), label = "a test"),
        silent = TRUE)
    expect_identical(runif(3), expected)
})

test_that("tasks, arguments and NULL values go through", {
    out <- run_replicates(list(a = 1, b = NULL, c = "x"),
                          function(task, more, other) list(task, more, other),
                          more = 2, other = NULL, label = "a test")
    expect_identical(out$values, list(list(1, 2, NULL), list(NULL, 2, NULL),
                                      list("x", 2, NULL)))
    expect_identical(
        run_replicates(1:2, function(task) NULL, label = "a test")$values,
        list(NULL, NULL)
    )
    expect_identical(
        run_replicates(list(), function(task) 1, label = "a test")$values,
        list()
    )
})

test_that("a failing task is reported with its seed and loses no other", {
    fun <- function(task) {
        value <- rnorm(1)
        if (task %in% c(2, 5)) stop("task ", task, " drew ", value)
        value
    }
    set.seed(3)
    whole <- run_replicates(1:6, function(task) rnorm(1), label = "a test")
    set.seed(3)
    expect_warning(out <- run_replicates(1:6, fun, label = "kliep_test()"),
                   "2 of 6 replicates of kliep_test\\(\\) failed",
                   class = "kliep_warning_replicate")
    expect_identical(out$values[-c(2, 5)], whole$values[-c(2, 5)])
    expect_null(out$values[[2]])
    expect_identical(out$failures$replicate, c(2L, 5L))
    expect_match(out$failures$message, "^task [25] drew")
    # The seed that is reported repeats the failure.
    withr::local_preserve_seed()
    assign(".Random.seed", out$failures$seed[[2]], envir = globalenv())
    expect_error(fun(5), out$failures$message[2], fixed = TRUE)
})

test_that("where everything fails there is an error", {
    expect_error(
        run_replicates(1:4, function(task) stop("no room"), label = "a test"),
        "4 of 4 replicates of a test failed:.*replicate 1: no room.*1 more",
        class = "kliep_error_replicate"
    )
})

# Runs tasks of 0.1 s, more of them than the limit leaves time for.
run_for <- function(seconds, run) {
    begun <- withr::local_tempfile(lines = character())
    setTimeLimit(elapsed = seconds, transient = TRUE)
    on.exit(setTimeLimit())
    expect_error(run(1:200, function(task) {
        cat(task, "\n", file = begun, append = TRUE)
        Sys.sleep(0.1)
    }, label = "a test"), "reached elapsed time limit")
    expect_lt(length(readLines(begun)), 200)
}

test_that("a time limit ends the run, not the task that it meets", {
    run_for(0.3, run_replicates)
})

test_that("a time limit leaves workers that can be used", {
    skip_on_cran()
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    run_for(2, run_replicates)
    run_for(2, map_tasks)
    expect_identical(map_tasks(1:3, identity, label = "Numbers"),
                     list(1L, 2L, 3L))
})

# Writes half of a reply to the main process, and the other half when the time
# limit is over: R looks at the limit while it waits for more of a message.
reply_slowly <- function(task) {
    if (task > 1) return(task)
    reply <- serialize(list(type = "VALUE", value = stats::rnorm(1e6)), NULL)
    half <- seq_len(length(reply) %/% 2L)
    open <- showConnections()
    socket <- rownames(open)[open[, "class"] == "sockconn"]
    main <- getConnection(as.integer(socket[1L]))
    writeBin(reply[half], main)
    flush(main)
    Sys.sleep(4)
    writeBin(reply[-half], main)
}

test_that("a time limit in the middle of a reply leaves usable workers", {
    skip_on_cran()
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    for (run in list(run_replicates, map_tasks)) {
        caught <- tryCatch({
            setTimeLimit(elapsed = 2, transient = TRUE)
            run(1:2, reply_slowly, label = "a test")
        }, error = identity, finally = setTimeLimit())
        # R's own error, as without workers.
        expect_identical(conditionMessage(caught), "reached elapsed time limit")
        expect_identical(map_tasks(1:3, identity, label = "Numbers"),
                         list(1L, 2L, 3L))
    }
})

test_that("a mark that was seen and is gone means that nobody waits", {
    mark <- withr::local_tempfile()
    expect_true(is_awaited(mark))
    file.create(mark)
    expect_true(is_awaited(mark))
    unlink(mark)
    expect_false(is_awaited(mark))
})

test_that("what tasks warn of is counted and told once", {
    fun <- function(task) {
        if (task > 2) warning("late")
        if (task > 2) warning("late")
        task
    }
    caught <- list()
    out <- withCallingHandlers(
        run_replicates(1:5, fun, label = "a test"),
        warning = function(condition) {
            caught <<- c(caught, list(condition))
            invokeRestart("muffleWarning")
        }
    )
    expect_length(caught, 1)
    expect_s3_class(caught[[1]], "kliep_warning_replicate_warned")
    expect_match(conditionMessage(caught[[1]]),
                 "3 of 5 replicates .* in replicate 3: late")
    expect_identical(out$values, as.list(1:5))
})

test_that("progress is signalled once for each task", {
    withr::local_options(progressr.enable = TRUE)
    steps <- 0
    withCallingHandlers(
        run_replicates(1:5, draw_two, label = "a test"),
        progression = function(condition) {
            if (condition$type == "update") steps <<- steps + condition$amount
        }
    )
    expect_equal(steps, 5)
})

test_that("two workers give the same, with all that functions need", {
    skip_on_cran()
    folder <- withr::local_tempfile()
    run <- function(checkpoint = NULL) {
        set.seed(5)
        suppressWarnings(run_replicates(
            1:7, function(task, methods) {
                if (task == 3) stop("third")
                methods$shift(rnorm(task))
            }, methods = list(shift = shifted), label = "a test",
            checkpoint = checkpoint
        ))
    }
    # Functions of the global environment, as users write them.
    shifted <- eval(quote(function(x) shift_by_offset(x)), globalenv())
    environment(shifted) <- globalenv()
    assign("test_offset", 10, globalenv())
    assign("shift_by_offset", eval(quote(function(x) x + test_offset),
                                   globalenv()), globalenv())
    withr::defer(rm("test_offset", "shift_by_offset", envir = globalenv()))
    one <- run()
    expect_gt(min(unlist(one$values)), 4)
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    expect_identical(run(), one)
    expect_identical(run(folder), one)
    future::plan(future::sequential)
    expect_message(expect_identical(run(folder), one),
                   "6 of 7 replicates", class = "kliep_message_checkpoint")
})

test_that("a hundred tasks cost next to nothing", {
    skip_on_cran()
    run <- function() run_replicates(1:100, identity, label = "a test")
    run()
    expect_loops(run, 5)
})

test_that("a worker that is killed loses nothing that was finished", {
    skip_on_cran()
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    mark <- withr::local_tempfile()
    run <- function(checkpoint = NULL) {
        set.seed(6)
        run_replicates(1:16, function(task, mark) {
            value <- rnorm(1)
            if (task == 9 && !file.exists(mark)) {
                file.create(mark)
                tools::pskill(Sys.getpid(), 9)
            }
            value
        }, mark = mark, label = "a test", checkpoint = checkpoint)
    }
    failure <- expect_error(run(), "of 16 replicates had finished",
                            class = "kliep_error_worker")
    folder <- sub('.*checkpoint = "([^"]*)".*', "\\1", failure$hint)
    expect_gt(length(list.files(folder, "^replicate")), 0)
    future::plan(future::sequential)
    resumed <- suppressMessages(run(folder))
    expect_identical(resumed, run())
    unlink(folder, recursive = TRUE)
})

test_that("an interrupt ends the run and keeps what was finished", {
    skip_on_cran()
    skip_on_os("windows")
    folder <- withr::local_tempfile()
    mark <- withr::local_tempfile()
    run <- function(checkpoint) {
        set.seed(7)
        run_replicates(1:6, function(task) {
            if (task == 4 && !file.exists(mark)) {
                file.create(mark)
                tools::pskill(Sys.getpid(), tools::SIGINT)
                Sys.sleep(60)
            }
            rnorm(1)
        }, label = "a test", checkpoint = checkpoint)
    }
    kind <- RNGkind()
    ended <- tryCatch(run(folder), interrupt = function(condition) "stopped")
    expect_identical(ended, "stopped")
    expect_identical(RNGkind(), kind)
    expect_length(list.files(folder, "^replicate"), 3)
    expect_identical(suppressMessages(run(folder)), run(NULL))
})

test_that("a run has random numbers besides those of its tasks", {
    folder <- withr::local_tempfile()
    run <- function(seed, checkpoint = NULL) {
        set.seed(seed)
        own <- run_seed(checkpoint)
        tasks <- with_run_seed(own, 1, as.list(sample.int(1000, 4)))
        values <- suppressMessages(run_replicates(
            tasks, function(task) task + runif(1), label = "a test",
            checkpoint = checkpoint, seed = own
        ))$values
        list(values, with_run_seed(own, 2, runif(2)), runif(1))
    }
    first <- run(1, folder)
    expect_identical(run(1), first)
    expect_false(identical(run(2), first))
    # The caller's generator moves by one draw.
    set.seed(1)
    sample.int(.Machine$integer.max, 1)
    expect_identical(first[[3]], runif(1))
    # A run that is resumed has what it was begun with.
    unlink(file.path(folder, "replicate-000003.checkpoint"))
    expect_identical(run(2, folder)[1:2], first[1:2])
    expect_false(run(2, folder)[[3]] == first[[3]])
})
