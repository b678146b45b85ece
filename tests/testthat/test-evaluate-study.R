small <- function() sim_gaussian(d = 6, n = 60, density = 0.4, n_changed = 2)
large <- function() sim_gaussian(d = 6, n = 120, density = 0.4, n_changed = 2)

methods <- list(
    kliep = function(x, y) kliep_path(x, y, nlambda = 8),
    turned = function(pair) kliep_path(pair$y, pair$x, nlambda = 5)
)

without_times <- function(study) study[names(study) != "seconds"]

test_that("a comparison has a row for each simulator, method and run", {
    set.seed(1)
    study <- compare_methods(list(small = small, large = large), methods,
                             runs = 3)
    expect_s3_class(study, c("compare_methods", "data.frame"), exact = TRUE)
    expect_equal(nrow(study), 12)
    expect_equal(study$simulator, rep(c("small", "large"), each = 6))
    expect_equal(study$method, rep(rep(c("kliep", "turned"), each = 3), 2))
    expect_equal(study$run, rep(1:3, 4))
    expect_true(all(study$average_precision > 0 &
                        study$average_precision <= 1))
    expect_true(all(study$seconds > 0))
    expect_true(all(is.na(study$error)))
})

test_that("scores are those of pr_curve() on the pair of the seed", {
    set.seed(2)
    study <- compare_methods(small, methods, runs = 2)
    withr::local_preserve_seed()
    for (row in seq_len(nrow(study))) {
        set_random_state(study$seed[[row]])
        pair <- small()
        path <- if (study$method[row] == "kliep") {
            methods$kliep(pair$x, pair$y)
        } else {
            methods$turned(pair)
        }
        found <- pr_curve(path, pair)
        expect_equal(study$average_precision[row], found$average_precision)
        expect_equal(study$area[row], found$area)
        expect_equal(study$area_roc[row], found$area_roc)
        expect_equal(study$f1[row], found$best$f1)
        # The corners that are kept hold the same scores.
        kept <- study$curve[[row]]
        expect_equal(average_precision(kept$curve), found$average_precision)
        expect_equal(area_pr(kept$curve, kept$n_changed), found$area)
        expect_equal(area_roc(kept$curve), found$area_roc)
        expect_equal(pr_average(kept)$curve, pr_average(found)$curve)
        expect_null(kept$ranking)
    }
})

test_that("a method's numbers do not depend on the methods before it", {
    noisy <- function(x, y) {
        kliep_path(x + rnorm(length(x)), y, nlambda = 5)
    }
    set.seed(3)
    study <- compare_methods(small, list(a = noisy, b = noisy), runs = 2)
    set.seed(3)
    other <- compare_methods(
        small, list(a = function(x, y) noisy(x, y + runif(1)), b = noisy),
        runs = 2
    )
    expect_identical(without_times(study[study$method == "b", ]),
                     without_times(other[other$method == "b", ]))
})

test_that("a failing method is a row with its error, and loses no other", {
    flaky <- function(x, y) {
        if (runif(1) < 0.5) stop("out of luck")
        warning("just so")
        kliep_path(x, y, nlambda = 4)
    }
    set.seed(4)
    expect_warning(
        study <- compare_methods(
            small, list(flaky = flaky, kliep = methods$kliep,
                        odd = function(x, y) "nothing"), runs = 6
        ),
        "fits failed; the first", class = "kliep_warning_comparison"
    )
    failed <- study$method == "flaky" & !is.na(study$error)
    expect_true(any(failed))
    expect_false(all(failed[study$method == "flaky"]))
    expect_true(all(study$error[failed] == "out of luck"))
    expect_true(all(is.na(study$average_precision[failed])))
    expect_true(all(is.na(study$seconds[failed])))
    flaky_fits <- study$method == "flaky" & !failed
    expect_true(all(study$warning[flaky_fits] == "just so"))
    expect_match(study$error[study$method == "odd"],
                 "must be a path of changes")
    expect_true(all(is.na(study$error[study$method == "kliep"])))
    table <- summary(study)
    expect_equal(table$failed, c(sum(failed), 0, 6))
    expect_equal(table$warned, c(sum(flaky_fits), 0, 0))
    scores <- study$average_precision[study$method == "kliep"]
    expect_equal(table$average_precision[2], mean(scores))
    expect_equal(table$se[2], sd(scores) / sqrt(6))
    expect_true(is.na(table$average_precision[3]))
})

test_that("a failing simulator fails its own runs only", {
    set.seed(5)
    expect_warning(
        study <- compare_methods(
            list(bad = function() stop("no data"), odd = function() 3,
                 small = small),
            methods, runs = 2
        ), "8 of 12 fits failed", class = "kliep_warning_comparison"
    )
    expect_equal(study$error[study$simulator == "bad"],
                 rep("simulate: no data", 4))
    expect_match(study$error[study$simulator == "odd"], "got 3")
    expect_true(all(is.na(study$error[study$simulator == "small"])))
})

test_that("a time limit ends the comparison, not the method that it meets", {
    # The limit begins there, so that it is met there.
    wait <- function() {
        setTimeLimit(elapsed = 0.1, transient = TRUE)
        repeat sqrt(2)
    }
    stopped <- function(simulate, methods) {
        on.exit(setTimeLimit())
        expect_error(compare_methods(simulate, methods, runs = 2),
                     "reached elapsed time limit")
    }
    stopped(small, list(slow = function(x, y) wait(), kliep = methods$kliep))
    stopped(function() wait(), methods)
})

test_that("a comparison continues from its checkpoint with the same numbers", {
    folder <- withr::local_tempfile()
    run <- function(checkpoint = NULL) {
        set.seed(6)
        suppressMessages(compare_methods(list(small = small, large = large),
                                         methods, runs = 3,
                                         checkpoint = checkpoint))
    }
    whole <- run()
    expect_identical(without_times(run(folder)), without_times(whole))
    unlink(file.path(folder, sprintf("replicate-%06d.checkpoint", c(2, 5))))
    expect_identical(without_times(run(folder)), without_times(whole))
    set.seed(6)
    expect_error(compare_methods(small, methods, runs = 3,
                                 checkpoint = folder),
                 "`tasks`, `simulate`", class = "kliep_error_checkpoint")
})

test_that("two workers give the same table", {
    skip_on_cran()
    run <- function() {
        set.seed(7)
        without_times(compare_methods(small, methods, runs = 3))
    }
    one <- run()
    old <- future::plan(future::multisession, workers = 2)
    withr::defer(future::plan(old))
    expect_identical(run(), one)
})

test_that("bad arguments get a classed error", {
    bad <- function(...) {
        expect_error(compare_methods(...), class = "kliep_error_argument")
    }
    bad(3, methods)
    bad(small, list())
    bad(small, kliep_path)
    bad(small, list(kliep_path))
    bad(small, list(a = kliep_path, a = kliep_path))
    bad(small, list(a = "kliep_path"))
    bad(list(small), methods)
    bad(small, methods, runs = 0)
    bad(small, methods, rank = "size")
    bad(small, methods, progress = NA)
})

test_that("a comparison prints and draws", {
    set.seed(8)
    study <- compare_methods(list(small = small, large = large), methods,
                             runs = 2)
    shown <- study
    shown$seconds <- 0.5
    shown$average_precision <- rep(c(0.4, 0.8), 4)
    shown$area <- shown$f1 <- 0.25
    expect_snapshot(shown)
    draws <- function(plot) {
        expect_s3_class(plot, "ggplot")
        file <- withr::local_tempfile(fileext = ".png")
        ggplot2::ggsave(file, plot, width = 5, height = 4, dpi = 50)
        expect_gt(file.size(file), 0)
    }
    draws(autoplot(study))
    draws(autoplot(study, type = "score"))
    draws(autoplot(study[study$simulator == "small" & study$run == 1, ]))
    none <- suppressWarnings(
        compare_methods(small, list(no = function(x, y) stop("no")), runs = 1)
    )
    draws(autoplot(none))
    expect_output(print(none), "failed")
    withr::local_pdf(NULL)
    expect_invisible(plot(study))
    # Columns alone print as a data frame.
    expect_output(print(study[c("method", "run")]), "kliep +1")
})

test_that("a task is no larger where there are many", {
    first <- function(runs) {
        length(serialize(comparison_tasks(c("a", "b"), runs)[1, ], NULL))
    }
    expect_identical(first(1000), first(2))
})
