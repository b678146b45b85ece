# kliep_infer(): every edge tested, and those that changed reported.

infer_pair <- withr::with_seed(21, sim_gaussian(
    d = 15, n = 400, density = 0.2, edge = 0.4, n_changed = 4, change = -0.8
))
inferred <- withr::with_seed(1, kliep_infer(infer_pair$x, infer_pair$y))

test_that("the edges that changed are reported, with what is known of them", {
    found <- edges(inferred)
    truth <- paste(infer_pair$truth$from, infer_pair$truth$to)
    expect_gte(sum(paste(found$from, found$to) %in% truth), 3)
    expect_lte(sum(!paste(found$from, found$to) %in% truth), 1)
    expect_named(found, c("from", "to", "weight", "se", "lower", "upper",
                          "p_value", "q_value", "test", "partial_x",
                          "partial_y", "shift", "q_beyond"))
    tests <- inferred$estimates
    expect_identical(tests$test == "direct",
                     tests$p_direct <= tests$p_nodewise)
    expect_equal(found$p_value, sort(found$p_value))
    expect_lte(inferred$global$p_value, 0.1)
    expect_identical(say_changes(inferred), paste0(
        nrow(found), " of 105 edges changed; at a false discovery rate of 0.1 ",
        "expect at most ", format(signif(nrow(found) * 0.1, 2)),
        " of them to be false."
    ))
    expect_output(print(inferred), paste(nrow(found), "of 105 edges changed"))
})

test_that("an estimate has the sign of the path's weight", {
    found <- edges(inferred)
    path <- kliep_path(infer_pair$x, infer_pair$y, nlambda = 20)
    weight <- as.matrix(last_coef(path))[cbind(found$from, found$to)]
    expect_equal(sign(found$weight), sign(weight))
    # Higher in x where the partial correlation is.
    expect_equal(sign(found$partial_x - found$partial_y), sign(found$weight))
})

test_that("it is what find_changes() finds, with intervals", {
    changes <- withr::with_seed(1, find_changes(infer_pair$x, infer_pair$y))
    table <- inferred$estimates
    direct <- table$test == "direct"
    expect_equal(table$estimate[direct], changes$edges$estimate[direct],
                 tolerance = 1e-8)
    expect_equal(table$q_value, changes$edges$q_value, tolerance = 1e-8)
    expect_identical(table$changed, changes$edges$changed)
    expect_equal(table$upper - table$estimate, 1.959964 * table$se,
                 tolerance = 1e-6)
    expect_equal(unname(confint(inferred)[, 1]), table$lower)
    wide <- confint(inferred, type = "simultaneous")
    expect_true(all(wide[, 1] < table$lower))
})

test_that("an estimate is that of the test with the smaller p-value", {
    table <- inferred$estimates
    near <- table[table$test == "node-wise", ]
    expect_gt(nrow(near), 10)
    expect_equal(near$estimate, near$partial_x - near$partial_y)
    # So a test that rejects has an interval without zero.
    clear <- table[pmin(table$p_direct, table$p_nodewise) < 0.01, ]
    expect_true(all(clear$lower * clear$upper > 0))
})

test_that("partial correlations are never beyond one", {
    # Nearly the same variable twice in y, few observations.
    samples <- withr::with_seed(4, {
        x <- matrix(rnorm(40 * 8), 40)
        y <- matrix(rnorm(20 * 8), 20)
        y[, 2] <- y[, 1] + 0.05 * y[, 2]
        list(x = x, y = y)
    })
    table <- withr::with_seed(1, kliep_infer(samples$x, samples$y))$estimates
    expect_lte(max(abs(c(table$partial_x, table$partial_y))), 1)
    expect_gt(table$partial_y[1], 0.9)
    # And the test goes by what is left of the difference.
    scores <- feature_samples(check_samples(samples$x, samples$y),
                              feat_nonparanormal())
    near <- neighbour_tests(check_samples(scores$x, scores$y), kliep_control())
    # A z is that of a t with many degrees of freedom.
    expect_equal(abs(near$z), abs(near$partial_x - near$partial_y) / near$se,
                 tolerance = 1e-4)
})

test_that("swapping the samples turns signs and nothing else", {
    turned <- withr::with_seed(1, kliep_infer(infer_pair$y, infer_pair$x))
    same <- c("se", "p_value", "q_value", "in_support", "changed")
    expect_equal(turned$estimates[same], inferred$estimates[same])
    expect_equal(turned$estimates$estimate, -inferred$estimates$estimate)
    expect_equal(turned$estimates$partial_x, inferred$estimates$partial_y)
    expect_equal(turned$global, inferred$global)
})

test_that("where nothing has changed it says so", {
    one <- withr::with_seed(3, sim_gaussian(d = 12, n = 200, n_changed = 2))$x
    none <- withr::with_seed(4, kliep_infer(one[1:100, ], one[101:200, ]))
    expect_gt(none$global$p_value, 0.1)
    expect_identical(nrow(edges(none)), 0L)
    expect_output(print(none), "No change found: none of 66 edges")
    expect_s3_class(autoplot(none, type = "calibration"), "ggplot")
    # The ranking below the cut is one call away, and marked as such.
    all <- edges(none, all = TRUE)
    expect_identical(nrow(all), 66L)
    expect_false(any(all$changed))
})

test_that("another false discovery rate needs no new tests", {
    strict <- edges(inferred, fdr = 1e-4)
    loose <- edges(inferred, fdr = 0.5)
    expect_true(all(strict$q_value <= 1e-4))
    expect_gte(nrow(loose), nrow(edges(inferred)))
})

test_that("features with a power test the powers of the samples", {
    root <- lapply(infer_pair[c("x", "y")], function(sample) {
        sample <- scale(sample)
        sign(sample) * sqrt(abs(sample))
    })
    direct <- withr::with_seed(5, kliep_infer(root$x, root$y))
    powered <- withr::with_seed(5, kliep_infer(infer_pair$x, infer_pair$y,
                                               feat_nonparanormal(0.5)))
    # Scaling by n or n - 1 is all that differs, and does not matter here.
    expect_equal(powered$estimates$z, direct$estimates$z, tolerance = 1e-6)
})

test_that("the quantiles of calibration are those of all edges", {
    points <- calibration_points(inferred)
    expect_equal(max(points$observed), max(abs(inferred$estimates$z)))
    expect_equal(points$observed, sort(points$observed))
    expect_equal(sum(points$style == "changed"),
                 sum(inferred$estimates$changed))
})

test_that("bad input is one sentence", {
    x <- infer_pair$x
    y <- infer_pair$y
    refused <- function(class, ...) {
        expect_error(kliep_infer(...), class = paste0("kliep_error_", class))
    }
    refused("size", x[1:9, ], y)
    refused("size", x, y[1:9, ])
    constant <- x
    constant[, 3] <- 1
    refused("constant", constant, y)
    for (fdr in list(0, 1, -0.1, 1.5, NA_real_, "0.1", c(0.1, 0.2), NULL)) {
        refused("argument", x, y, fdr = fdr)
    }
    refused("argument", x, y, level = 2)
    refused("n_perm", x, y, n_perm = 5)
    refused("argument", x, y, standardize = "pooled")
    refused("dots", x, y, alpha = 0.1)
})

test_that("what is refused leaves the session and the samples as they were", {
    samples <- infer_pair[c("x", "y")]
    before <- lapply(samples, function(sample) sample + 0)
    constant <- samples$x
    constant[, 3] <- 1
    calls <- list(
        size = function() kliep_infer(samples$x[1:9, ], samples$y),
        constant = function() kliep_infer(constant, samples$y),
        argument = function() kliep_infer(samples$x, samples$y, fdr = 2)
    )
    wide <- withr::with_seed(2, matrix(rnorm(3e5), 10))
    if (isTRUE(free_memory() < 1e11)) {
        calls$memory <- function() kliep_infer(wide, wide)
    }
    set.seed(9)
    state <- .Random.seed
    for (class in names(calls)) {
        condition <- expect_error(calls[[class]](),
                                  class = paste0("kliep_error_", class))
        # What is wrong in one sentence, and what to do about it in another.
        said <- strsplit(conditionMessage(condition), "\n")[[1]]
        expect_lte(length(said), 2)
        expect_match(said[1], "\\.$")
        expect_no_match(said[1], "\\. [A-Z]")
    }
    expect_identical(.Random.seed, state)
    expect_identical(samples, before)
    again <- withr::with_seed(1, kliep_infer(samples$x, samples$y))
    expect_identical(again$estimates, inferred$estimates)
})

test_that("a report says that no weights can collapse", {
    facts <- report_facts(inferred, "diagnostics")
    expect_match(facts$value[facts$what == "effective sample size"],
                 "no observation is weighted")
})
