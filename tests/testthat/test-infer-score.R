# Tests of every edge given a support: against the formulas in plain R
# (helper-score.R), and what must hold whatever the numbers are.

one <- kliep_control(threads = 1)

score_pair <- function(d, n_x, n_y, seed = 1) {
    withr::with_seed(seed, {
        mixed <- function(n) {
            matrix(rnorm(n * d), n) %*% (diag(d) + matrix(rnorm(d^2), d) / d)
        }
        check_samples(mixed(n_x)^3, mixed(n_y))
    })
}

support_of <- function(numbers, d) {
    factors <- plain_factors(d)[numbers, ]
    data.frame(from = factors$i, to = factors$j)
}

test_that("scores, estimates and variances are those of the formula", {
    for (d in c(2, 3, 8, 9, 17, 26)) {
        samples <- score_pair(d, 41, 54)
        factors <- d * (d + 1) / 2
        for (size in c(0, 1, min(d, 7))) {
            numbers <- withr::with_seed(d, sort(sample.int(factors, size)))
            want <- plain_tests(samples$x, samples$y, numbers)
            got <- score_edges(by_deviation(samples), support_of(numbers, d),
                               one)
            for (part in names(want)) {
                expect_equal(got[[part]], want[[part]], tolerance = 1e-9)
            }
        }
    }
})

test_that("edges are covered at sizes around the blocks they are tested in", {
    # 128 edges of one variable are looked at together, eight in a panel.
    for (d in c(127, 130, 137)) {
        samples <- score_pair(d, 15, 25)
        support <- data.frame(from = c(1, 5, 9), to = c(d, 5, 20))
        got <- score_edges(by_deviation(samples), support, one)
        expect_length(got$numerator, d * (d - 1) / 2)
        # A few edges by a pair of samples that has only their variables.
        few <- c(1, 5, 9, 20, 77, d - 1, d)
        part <- list(x = samples$x[, few], y = samples$y[, few])
        small <- data.frame(from = match(support$from, few),
                            to = match(support$to, few))
        want <- score_edges(by_deviation(part), small, one)
        pairs <- pair_from_index(seq_along(want$numerator))
        at <- (few[pairs$to] - 1) * (few[pairs$to] - 2) / 2 + few[pairs$from]
        expect_equal(got$numerator[at], want$numerator, tolerance = 1e-9)
        expect_equal(got$variance[at], want$variance, tolerance = 1e-9)
        expect_equal(got$model[at], want$model, tolerance = 1e-9)
    }
})

test_that("a score over its information is the step to the estimate", {
    samples <- score_pair(8, 60, 50)
    support <- data.frame(from = c(1, 2), to = c(4, 2))
    without <- score_edges(by_deviation(samples), support, one)
    with <- score_edges(by_deviation(samples), rbind(support, c(3, 7)), one)
    at <- 6 * 5 / 2 + 3
    expect_equal(without$numerator[at] / without$information[at],
                 with$support[3])
    expect_identical(with$numerator[at], with$support[3])
    expect_identical(with$information[at], 1)
})

test_that("variances are moderated as in limma", {
    for (d in c(12, 25)) {
        samples <- score_pair(d, 80, 70)
        got <- score_edges(by_deviation(samples), support_of(c(2, 9, 20), d),
                           one)
        want <- plain_moderate(got)
        for (part in names(want)) {
            expect_equal(got$moderated[[part]], want[[part]], tolerance = 1e-7)
        }
    }
})

test_that("the null is that of shuffled samples", {
    samples <- score_pair(9, 22, 31)
    both <- rbind(samples$x, samples$y)
    shuffles <- withr::with_seed(1, replicate(5, sample.int(53, 22)))
    null <- rust_shuffle_null(plain_standardise(samples$x),
                              plain_standardise(samples$y), shuffles, 1L)
    both <- rbind(plain_standardise(samples$x), plain_standardise(samples$y))
    z <- apply(shuffles, 2, function(rows) {
        plain_moderate(plain_empty(both[rows, ], both[-rows, ]))$z
    })
    expect_equal(null$tail, sort(abs(as.vector(z))), tolerance = 1e-8)
    expect_equal(null$largest, apply(abs(z), 2, max), tolerance = 1e-8)
    expect_equal(null$squares, colSums(z^2), tolerance = 1e-8)
    seen <- plain_moderate(plain_empty(samples$x, samples$y))$z
    expect_equal(null$observed, c(max(abs(seen)), sum(seen^2)),
                 tolerance = 1e-8)
    expect_equal(null_quantile(null, 0.95),
                 quantile(abs(z), 0.95, names = FALSE))
    # Beyond the largest the tail of a normal takes over.
    at <- c(0, null$tail[c(3, 40)], 1, max(null$tail))
    expect_equal(p_from_null(at, null), vapply(at, function(value) {
        (1 + sum(null$tail >= value)) / (1 + null$count)
    }, 1))
    expect_lt(p_from_null(2 * max(null$tail), null), 1 / (1 + null$count))
})

test_that("few shuffles of few edges do not make p-values too small", {
    # As many as 36 edges have in 49 shuffles, of an exact normal.
    p <- vapply(1:20, function(seed) {
        values <- withr::with_seed(seed, sort(abs(rnorm(36 * 49))))
        p_from_null(5, list(count = length(values), tail = values,
                            tail_from = 0, bins = numeric()))
    }, 1)
    # Stretched to the largest value of all it would be 1e-3 of that.
    expect_lt(abs(median(log(p / (2 * pnorm(-5))))), log(3))
    expect_gt(min(p), 2 * pnorm(-5) / 20)
})

test_that("a null in bins gives the p-values of all its values", {
    values <- sort(abs(qt(ppoints(2e5), 8)))
    null <- list(count = length(values), tail = values[values >= 2],
                 tail_from = 2,
                 bins = tabulate(floor(values[values < 2] * 4096) + 1, 8192))
    whole <- list(count = length(values), tail = values, tail_from = 0,
                  bins = numeric())
    z <- c(-7, -3, -1.2, 0, 1e-5, 0.3, 1.7, 1.99999, 2, 2.5, 4, 40)
    p <- p_from_null(z, null)
    expect_equal(p, p_from_null(z, whole), tolerance = 1e-5)
    for (most in c(0.1, 0.3)) {
        small <- p_from_null(z, null, most = most)
        expect_identical(small[p <= most], p[p <= most])
        expect_true(all(small[p > most] > most))
    }
    expect_equal(null_quantile(null, 0.5), null_quantile(whole, 0.5),
                 tolerance = 1e-3)
    expect_identical(null_quantile(null, 0.999), null_quantile(whole, 0.999))
})

test_that("more than a million values are kept in bins and a tail", {
    skip_on_cran()
    samples <- score_pair(210, 12, 12)
    null <- withr::with_seed(1, shuffle_null(samples, 49L, one))
    expect_identical(null$tail_from, 2)
    expect_equal(sum(null$bins) + length(null$tail), null$count)
    expect_false(is.unsorted(null$tail))
    expect_equal(max(null$tail), max(null$largest))
})

test_that("what is found is what adjusted p-values find", {
    set.seed(1)
    for (p in list(runif(50), runif(50)^4, c(1, 1), rep(1e-3, 9),
                   round(runif(200)^3, 2))) {
        for (level in c(0.01, 0.1, 0.5)) {
            expect_identical(found_at(p, level),
                             stats::p.adjust(p, "BH") <= level)
        }
    }
})

test_that("degrees of freedom are those of each edge by itself", {
    edges <- pair_from_index(seq_len(10))
    for (fitted in list(c(0L, 3L, 1L, 0L, 7L), integer(5L))) {
        lost <- fitted[edges$from] + fitted[edges$to]
        expect_identical(left_of_edges(fitted, edges, c(20, 31)),
                         freedom_left(lost, lost, c(20, 31)))
    }
})

test_that("node-wise partial correlations are those of glmnet's lasso", {
    skip_if_not_installed("glmnet")
    samples <- score_pair(12, 60, 70)
    delta <- 0.8
    got <- neighbour_tests(samples, one, deltas = c(1.5, delta))
    alone <- neighbour_tests(samples, one, deltas = delta)
    partial <- function(x) {
        x <- plain_standardise(x)
        n <- nrow(x)
        d <- ncol(x)
        lambda <- delta * sqrt(log(d) / n)
        b <- vapply(seq_len(d), function(j) {
            fit <- glmnet::glmnet(x[, -j], x[, j], lambda = lambda * 2:1,
                                  standardize = FALSE, intercept = FALSE,
                                  thresh = 1e-20)
            append(as.numeric(fit$beta[, 2]), 0, j - 1)
        }, numeric(d))
        residual <- x - x %*% b
        r <- crossprod(residual) / n
        debiased <- r + diag(r) * b + t(diag(r) * b)
        -(debiased / sqrt(tcrossprod(diag(r))))[upper.tri(r)]
    }
    expect_equal(alone$partial_x, partial(samples$x), tolerance = 1e-6)
    expect_equal(alone$partial_y, partial(samples$y), tolerance = 1e-6)
    expect_length(got$misfit, 2)
    expect_identical(got$chosen, which.min(got$misfit))
})

test_that("the numbers do not depend on the number of threads", {
    samples <- score_pair(33, 25, 31)
    shuffles <- withr::with_seed(1, replicate(7, sample.int(56, 25)))
    support <- data.frame(from = c(1, 2, 7), to = c(9, 2, 30))
    table <- rbind(samples$x, samples$y)
    run <- function(threads) {
        control <- kliep_control(threads = threads)
        list(score_edges(by_deviation(samples), support, control),
             rust_shuffle_null(samples$x, samples$y, shuffles, threads),
             neighbour_tests(samples, control),
             logistic_tests(table, 25, rep(1L, 33), 1:3, control))
    }
    expect_identical(run(1L), run(3L))
})

test_that("swapping the samples turns signs and nothing else", {
    for (n in list(c(30, 30), c(25, 40))) {
        samples <- score_pair(12, n[1], n[2])
        run <- function(x, y) {
            withr::with_seed(5, find_changes(x, y, control = one))
        }
        ahead <- run(samples$x, samples$y)
        back <- run(samples$y, samples$x)
        signed <- c("estimate", "z")
        back$edges[signed] <- -back$edges[signed]
        partial <- c("partial_x", "partial_y")
        back$edges[partial] <- back$edges[rev(partial)]
        expect_identical(back, ahead)
        # Also where the samples are not brought into one order.
        support <- data.frame(from = 1:2, to = 3:4)
        scaled <- by_deviation(samples)
        one_way <- score_edges(scaled, support, one)
        other <- score_edges(list(x = scaled$y, y = scaled$x), support, one)
        expect_equal(other$numerator, -one_way$numerator, tolerance = 1e-9)
        expect_equal(other$variance, one_way$variance, tolerance = 1e-9)
        expect_equal(other$model, one_way$model, tolerance = 1e-9)
    }
})

test_that("changed edges are found, and none where nothing changed", {
    withr::local_seed(1)
    pair <- sim_gaussian(d = 20, n = 500, n_changed = 4, density = 0.1,
                         edge = 0.4, change = -0.8)
    found <- find_changes(pair$x, pair$y, control = one)
    truth <- paste(pair$truth$from, pair$truth$to)
    seen <- paste(found$edges$from, found$edges$to)[found$edges$changed]
    expect_gte(sum(truth %in% seen), 2)
    expect_lte(sum(!(seen %in% truth)), 1)
    expect_lte(found$global, 0.1)
    expect_equal(nrow(found$edges), 190)
    expect_named(found$edges, c(
        "from", "to", "estimate", "se", "z", "p_value", "p_nodewise",
        "p_combined", "q_value", "in_support", "partial_x", "partial_y",
        "se_nodewise", "changed"
    ))
    expect_equal(sum(found$edges$in_support),
                 sum(found$support$from < found$support$to))
    same <- find_changes(pair$x[1:250, ], pair$x[251:500, ], control = one)
    expect_false(any(same$edges$changed))
})

test_that("a support holds what is found given it, or leaves no spread", {
    withr::local_seed(4)
    pair <- sim_gaussian(d = 20, n = 300, n_changed = 5, density = 0.1,
                         edge = 0.4, change = -0.8)
    samples <- check_samples(pair$x, pair$y)
    null <- shuffle_null(samples, 19L, one)
    path <- screening_path(by_deviation(samples), one)
    given <- score_given(by_deviation(samples), null, one)
    chosen <- choose_support(given, path, null)
    expect_false(any(found_outside(chosen, given)))
    expect_identical(chosen$steps[1], 0L)
    expect_false(is.unsorted(chosen$steps))
    # Noise does not make it grow to what the samples allow.
    same <- check_samples(pair$x[1:150, ], pair$x[151:300, ])
    null <- shuffle_null(same, 19L, one)
    none <- choose_support(score_given(by_deviation(same), null, one),
                           screening_path(by_deviation(same), one), null)
    expect_lt(nrow(none$support), 20)
})

test_that("samples that cannot be tested are refused with a reason", {
    samples <- score_pair(4, 20, 20)
    expect_error(find_changes(samples$x[1:9, ], samples$y),
                 class = "kliep_error_size")
    constant <- samples$x
    constant[, 2] <- 7
    expect_error(find_changes(constant, samples$y),
                 class = "kliep_error_constant")
    expect_error(find_changes(samples$x, samples$y, fdr = 1),
                 class = "kliep_error_argument")
    expect_error(find_changes(samples$x, samples$y[, -1]),
                 class = "kliep_error_dimension")
    # Factors of a variable that is there twice.
    twice <- function(x) cbind(x, x[, 1])
    copies <- list(x = twice(samples$x), y = twice(samples$y))
    support <- data.frame(from = c(1, 2), to = c(2, 5))
    expect_null(score_edges(by_deviation(copies), support, one))
    expect_silent(find_changes(copies$x, copies$y, control = one))
})

test_that("the smallest samples give numbers", {
    for (d in c(2, 3)) {
        samples <- score_pair(d, 10, 10)
        found <- find_changes(samples$x, samples$y, control = one)
        expect_equal(nrow(found$edges), d * (d - 1) / 2)
        expect_false(anyNA(found$edges))
    }
})

test_that("progress is told, and an interrupt or a time limit ends it", {
    samples <- score_pair(40, 30, 30)
    shuffles <- withr::with_seed(1, replicate(9, sample.int(60, 30)))
    calls <- list(
        function(f) {
            score_edges(by_deviation(samples), data.frame(from = 1, to = 2),
                        one, f)
        },
        function(f) rust_shuffle_null(samples$x, samples$y, shuffles, 1L, f),
        function(f) neighbour_tests(samples, one, f)
    )
    for (call in calls) {
        seen <- NULL
        call(function(done, total) seen <<- c(done, total))
        expect_identical(seen[1], seen[2])
        stopped <- tryCatch(call(function(done, total) {
            stop(structure(class = c("interrupt", "condition"), list()))
        }), interrupt = function(condition) "interrupted")
        expect_identical(stopped, "interrupted")
    }
    skip_on_cran()
    large <- score_pair(700, 100, 100)
    done <- 0
    expect_error({
        setTimeLimit(elapsed = 0.5)
        on.exit(setTimeLimit())
        withr::with_seed(1, shuffle_null(large, 400L, one, function(now, all) {
            done <<- now
        }))
    }, "time limit")
    setTimeLimit()
    expect_lt(done, 400)
})

test_that("given a support, the prototype has the same numbers", {
    skip_on_cran()
    skip_if_not_installed("glmnet")
    file <- Sys.getenv("KLIEPNET_SHARED")
    if (file == "") {
        up <- normalizePath(".")
        while (dirname(up) != up && !dir.exists(file.path(up, "shared"))) {
            up <- dirname(up)
        }
        file <- file.path(up, "shared")
    }
    file <- file.path(file, "prototypes", "score_tests.R")
    skip_if_not(file.exists(file), "no prototype here (KLIEPNET_SHARED)")
    prototype <- new.env()
    sys.source(file, prototype)
    withr::local_seed(3)
    pair <- sim_gaussian(d = 40, n = c(x = 150, y = 120))
    samples <- check_samples(pair$x, pair$y)
    m <- prototype$moments(samples$x, samples$y)
    shuffles <- replicate(19, sample.int(270, 150))
    both <- rbind(m$x, m$y)
    z <- apply(shuffles, 2, function(rows) {
        prototype$moderate(prototype$empty_tests(
            prototype$standardise(both[rows, ]),
            prototype$standardise(both[-rows, ])
        ))$z
    })
    null <- rust_shuffle_null(m$x, m$y, shuffles, 1L)
    expect_equal(null$tail, sort(abs(as.vector(z))), tolerance = 1e-8)
    # Twice the smaller of two p-values bounds that of the better one.
    expect_lte(global_p_value(null), prototype$any_change(m, z))
    path <- screening_path(by_deviation(samples), one)
    want <- prototype$choose_support(m, path, z)
    # We stop at smaller supports than the prototype does; given its own, the
    # numbers are the same.
    got <- test_support(by_deviation(samples),
                        support_of(want$support, 40), null, one, 0.1)
    expect_equal(got$tests$numerator, want$tests$num, tolerance = 1e-8)
    expect_equal(got$tests$variance, want$tests$v, tolerance = 1e-8)
    expect_equal(got$tests$model, want$tests$h, tolerance = 1e-8)
    expect_equal(got$tests$freedom, want$tests$df, tolerance = 1e-8)
    expect_equal(got$tests$moderated$z, want$z, tolerance = 1e-8)
    # Beyond the null the prototype goes by its largest value alone.
    seen <- abs(want$z) <= max(null$tail)
    expect_equal(p_from_null(got$tests$moderated$z, null)[seen], want$p[seen],
                 tolerance = 1e-8)
    # The prototype's lasso is less exact.
    near <- neighbour_tests(samples, one)
    expect_equal(near$moderated$z, prototype$neighbourhood_tests(m),
                 tolerance = 0.01)
    p <- runif(50)
    expect_equal(combine_p_values(p, rev(p)), prototype$combine(p, rev(p)))
})

test_that("the screening path ends early, with the supports of a whole one", {
    pair <- withr::with_seed(1, sim_gaussian(d = 30, n = 40, n_changed = 6))
    scaled <- neighbour_tests(check_samples(pair$x, pair$y), one)[c("x", "y")]
    short <- screening_path(scaled, one)
    whole <- kliep_path(scaled$x$values, scaled$y$values, nlambda = 60,
                        standardize = "none", control = one, progress = FALSE)
    expect_lt(length(short$lambda2), 60)
    for (size in support_sizes[support_sizes <= 30]) {
        expect_identical(path_support(short, size), path_support(whole, size))
    }
    expect_gt(max(short$diagnostics$n_edges), 30)
})
