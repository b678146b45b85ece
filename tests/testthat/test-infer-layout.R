# How a design lets observations change places, and that tests, folds and halves
# go by it.

one <- kliep_control(threads = 1)
labels <- function(x, y) list(called = "", x = x, y = y)

test_that("whole units move, and stay within their group", {
    unit <- design_layout(list(unit = labels(c("a", "a", "b", "c", "c"),
                                             c("d", "e", "e", "f", "g"))), 5, 5)
    expect_identical(unit$unit, c(1L, 1L, 2L, 3L, 3L, 4L, 5L, 5L, 6L, 7L))
    expect_identical(c(unit$n_x, unit$n_y), c(3L, 4L))
    expect_identical(unit$added$y, c(4L, 5L, 5L, 6L, 7L))
    rows <- shuffled_rows(unit, list(c(1L, 4L, 6L)))
    expect_identical(rows[, 1], c(1L, 2L, 6L, 9L))
    strata <- design_layout(list(strata = labels(rep(c("m", "f"), c(4, 2)),
                                                 rep(c("m", "f"), c(3, 3)))),
                            6, 6)
    withr::local_seed(1)
    for (shuffle in draw_layout_shuffles(strata, 30, alike = TRUE)) {
        expect_identical(tabulate(strata$group[shuffle]), c(4L, 2L))
    }
    expect_identical(count_layout_shuffles(strata, alike = TRUE),
                     choose(7, 4) * choose(5, 2) - 1)
})

test_that("pairs exchange their sides", {
    pair <- design_layout(list(pair = labels(1:6, 6:1)), 6, 6)
    expect_true(pair$paired)
    expect_identical(pair$added$y, 6:1)
    withr::local_seed(1)
    drawn <- draw_layout_shuffles(pair, 31, alike = TRUE)
    expect_length(unique(drawn), 31)
    for (shuffle in drawn) expect_setequal(pair$group[shuffle], 1:6)
    expect_error(check_layout_n_perm(32, pair, TRUE),
                 "only 31 ways to shuffle within 6 pairs",
                 class = "kliep_error_n_perm")
    expect_identical(check_layout_n_perm(32, pair, FALSE), 32)
    # The same shuffles whichever sample is called x.
    turned <- design_layout(list(pair = labels(6:1, 1:6)), 6, 6)
    forth <- withr::with_seed(2, draw_layout_shuffles(pair, 5, TRUE))
    back <- withr::with_seed(2, draw_layout_shuffles(turned, 5, TRUE,
                                                     turned = TRUE))
    expect_identical(lapply(back, function(own) {
        rest <- setdiff(1:12, own)
        sort(ifelse(rest > 6L, rest - 6L, rest + 6L))
    }), forth)
})

test_that("folds and halves are made of units", {
    withr::local_seed(1)
    layout <- design_layout(list(unit = labels(rep(1:5, each = 3),
                                               rep(6:11, each = 2))), 15, 12)
    folds <- draw_layout_folds(layout, 2)
    expect_true(all(tapply(folds$x, rep(1:5, each = 3), function(fold) {
        length(unique(fold)) == 1L
    })))
    halves <- draw_layout_halves(layout)
    expect_identical(lengths(halves$x), c(6L, 6L))
    expect_identical(lengths(halves$y), c(6L, 6L))
    expect_length(intersect(halves$x[[1]], halves$x[[2]]), 0)
    expect_true(all(table((halves$x[[1]] - 1) %/% 3) == 3))
    paired <- design_layout(list(pair = labels(1:8, 8:1)), 8, 8)
    halves <- draw_layout_halves(paired)
    expect_setequal(9L - halves$y[[1]], halves$x[[1]])
    folds <- draw_layout_folds(paired, 4)
    expect_identical(rev(folds$y), folds$x)
})

# Cells of donors that differ in their means.
donor_cells <- function(donors, cells, d = 5, spread = 1) {
    unit <- rep(seq_len(donors), each = cells)
    effect <- matrix(rnorm(donors * d), donors) %*% matrix(0.7, d, d)
    spread * effect[unit, ] + matrix(rnorm(length(unit) * d), ncol = d)
}

test_that("without a unit of several rows, units change nothing but rounding", {
    pair <- withr::with_seed(3, sim_gaussian(d = 6, n = 60, n_changed = 2))
    plain <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))
    units <- withr::with_seed(1, kliep_infer(pair, unit = 1:120, control = one))
    expect_equal(units$estimates$z, plain$estimates$z, tolerance = 0.05)
    expect_equal(units$estimates$partial_x, plain$estimates$partial_x)
    expect_output(print(units), "design     60 \\+ 60 units")
})

test_that("cells of donors are not taken for independent", {
    pair <- withr::with_seed(5, list(x = donor_cells(8, 20),
                                     y = donor_cells(8, 20)))
    unit <- rep(1:16, each = 20)
    plain <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))
    honest <- withr::with_seed(1, kliep_infer(pair$x, pair$y, unit = unit,
                                              control = one))
    expect_gt(stats::median(honest$estimates$se / plain$estimates$se), 1.5)
    expect_gt(honest$global$p_value, plain$global$p_value)
    expect_gt(honest$global$p_value, 0.1)
    # Turning the samples turns signs and nothing else.
    turned <- withr::with_seed(1, kliep_infer(
        pair$y, pair$x, unit = unit[c(161:320, 1:160)], control = one
    ))
    expect_equal(turned$estimates$z, -honest$estimates$z, tolerance = 1e-9)
    expect_equal(turned$global, honest$global)
})

test_that("rows of a unit are worth as much as they do not repeat each other", {
    rows <- rep(1:12, each = 25)
    units <- list(x = rows, y = 12L + rows)
    worth <- function(share) {
        scaled <- withr::with_seed(8, lapply(1:2, function(side) {
            common <- matrix(rnorm(12 * 6), 12)[rows, ]
            own <- matrix(rnorm(300 * 6), 300)
            values <- sqrt(share) * common + sqrt(1 - share) * own
            values <- scale(values) * sqrt(300 / 299)
            list(values = values, squares = values^2)
        }))
        names(scaled) <- c("x", "y")
        effective_sizes(scaled, units, one)[1]
    }
    # A product of two variables that units share by s is shared by s^2, and the
    # design effect of m rows is 1 + (m - 1) s^2: 1, 3.2, 16 and 25 here.
    expect_gt(worth(0), 200)
    expect_true(worth(0.3) > 50 && worth(0.3) < 200)
    expect_true(worth(0.8) > 12 && worth(0.8) < 35)
    expect_identical(worth(1), 12)
})

test_that("what is fitted costs degrees of freedom of units, not of rows", {
    pair <- withr::with_seed(6, list(x = matrix(rnorm(100), 20),
                                     y = matrix(rnorm(100), 20)))
    support <- data.frame(from = 1:2, to = 2:3)
    null <- withr::with_seed(1, list(count = 999L, tail_from = 0,
                                     tail = sort(abs(rnorm(999))),
                                     bins = numeric()))
    of_copies <- function(copies, units = TRUE) {
        rows <- rep(1:20, each = copies)
        scaled <- lapply(pair, function(values) {
            values <- scale(values)[rows, ] * sqrt(20 / 19)
            list(values = values, squares = values^2)
        })
        test_support(scaled, support, null, one, 0.1,
                     if (units) list(x = rows, y = 20L + rows))
    }
    once <- of_copies(1)
    # Rows three times over tell no more than once.
    thrice <- of_copies(3)
    expect_equal(thrice$z, once$z, tolerance = 1e-8)
    expect_equal(thrice$se, once$se, tolerance = 1e-8)
    # Three coefficients have to do with the first edge, none with the last.
    left <- once$z / once$tests$moderated$z
    expect_equal(left[c(1, 10)], sqrt(c(17 / 20, 1)))
    # Rows without units are as many as there are.
    rows <- of_copies(3, units = FALSE)
    expect_equal((rows$z / rows$tests$moderated$z)[1], sqrt(57 / 60))
})

test_that("a logistic fit costs degrees of freedom of units, too", {
    table <- withr::with_seed(7, matrix(rnorm(80 * 4), 80))
    of_copies <- function(copies) {
        rows <- rep(1:80, each = copies)
        logistic_tests(table[rows, ], 40 * copies, rep(1L, 4), 1:2, one,
                       units = rows)
    }
    once <- of_copies(1)
    thrice <- of_copies(3)
    expect_equal(thrice$groups, once$groups, tolerance = 1e-6)
    expect_equal(thrice$se, once$se, tolerance = 1e-6)
})

test_that("what both sides of a pair share does not count", {
    shared <- withr::with_seed(7, 2 * matrix(rnorm(60 * 5), 60))
    pair <- withr::with_seed(8, list(x = shared + rnorm(300) / 2,
                                     y = shared + rnorm(300) / 2))
    plain <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))
    paired <- withr::with_seed(1, kliep_infer(
        pair$x, pair$y, pair = rep(1:60, 2), control = one
    ))
    expect_lt(stats::median(paired$estimates$se / plain$estimates$se), 0.7)
})

test_that("spins in strata: what differs by stratum is not a change", {
    theta <- ising_chain(5, coupling = 0)
    strong <- ising_chain(5, coupling = 0.8)
    draw <- function(n, theta) {
        sim_ising(theta, theta, n = n, thin = 10, burn_in = 50, threads = 1)$x
    }
    spins <- withr::with_seed(9, list(
        x = rbind(draw(200, strong), draw(50, theta)),
        y = rbind(draw(50, strong), draw(200, theta))
    ))
    stratum <- rep(c("a", "b", "a", "b"), c(200, 50, 50, 200))
    infer <- function(...) {
        withr::with_seed(1, kliep_infer(spins$x, spins$y, feat_ising(),
                                        control = one, ...))
    }
    ignored <- infer()
    within <- infer(strata = stratum)
    expect_gt(sum(ignored$estimates$changed), 0)
    expect_identical(sum(within$estimates$changed), 0L)
    expect_output(print(within), "design     2 strata")
    # Given the stratum, by glm().
    both <- rbind(spins$x, spins$y)
    fit <- stats::glm(rep(1:0, each = 250) ~ stratum, family = "binomial")
    fits <- stats::update(fit, . ~ . + I(both[, 1] * both[, 2]))
    score <- stats::anova(fit, fits, test = "Rao")$Rao[2]
    at <- design_model(
        feature_model(list(x = spins$x, y = spins$y, variables = letters[1:5]),
                      settle_spec(kliep_spec(feat_ising()), letters[1:5])),
        list(x = spins$x, y = spins$y, design = list(
            strata = labels(stratum[1:250], stratum[251:500])
        ))
    )
    got <- logistic_tests(at$table, 250, at$sizes, at$fixed, one)
    # One of 499 degrees of freedom is used up.
    expect_equal(got$groups$statistic[1], 498 / 499 * score, tolerance = 1e-6)
    expect_error(kliep_auto(matrix(rnorm(200), 40), matrix(rnorm(200), 40),
                            strata = rep(1:2, 40)), "`adjust` removes",
                 class = "kliep_error_design")
})

test_that("spins of units have variances between units", {
    spins <- withr::with_seed(10, sim_ising(ising_chain(5), n = 120, thin = 10,
                                            burn_in = 50, threads = 1,
                                            theta_y = ising_chain(5)))
    twice <- lapply(spins[c("x", "y")], function(z) z[rep(1:120, each = 3), ])
    infer <- function(pair, ...) {
        withr::with_seed(1, kliep_infer(pair$x, pair$y, feat_ising(),
                                        control = one, n_perm = 19, ...))
    }
    # Rows three times over tell no more than once.
    once <- infer(spins, unit = 1:240)
    more <- infer(twice, unit = rep(1:240, each = 3))
    expect_equal(more$global, once$global, tolerance = 1e-6)
    expect_equal(more$estimates$se, once$estimates$se, tolerance = 1e-6)
})

test_that("a design travels with a result, and all tests go by it", {
    pair <- withr::with_seed(11, list(x = donor_cells(8, 10),
                                      y = donor_cells(8, 10)))
    unit <- rep(1:16, each = 10)
    path <- kliep_path(pair$x, pair$y, unit = unit, nlambda = 5, control = one)
    expect_output(print(path), "design     8 \\+ 8 units")
    expect_identical(path$samples$design$unit$y, as.character(unit[81:160]))
    test <- withr::with_seed(1, kliep_test(path, n_perm = 19, folds = 2))
    expect_gt(test$global$p_value, 0.05)
    expect_error(kliep_test(path, n_perm = 19, block = 5), "Leave out `block`",
                 class = "kliep_error_argument")
    expect_error(kliep_debias(path), "assumes independent observations",
                 class = "kliep_error_design")
    stable <- withr::with_seed(1, kliep_stability(path, n_subsamples = 6))
    expect_s3_class(stable, "kliep_stability")
    again <- withr::with_seed(1, kliep_infer(path, n_perm = 19))
    direct <- withr::with_seed(1, kliep_infer(pair$x, pair$y, unit = unit,
                                              n_perm = 19, control = one))
    expect_equal(again$estimates, direct$estimates)
    select <- withr::with_seed(1, kliep_select(path, folds = 2))
    expect_s3_class(select, "kliep_select")
})

test_that("an uneven batch is not a change once its effects are removed", {
    pair <- withr::with_seed(14, {
        n <- 300
        batch <- c(rep(0:1, each = n / 2), rep(0:1, c(0.9, 0.1) * n))
        values <- matrix(rnorm(2 * n * 5), ncol = 5) +
            outer(batch, c(4, 4, 0, 0, 0))
        list(x = values[1:n, ], y = values[n + 1:n, ], batch = batch)
    })
    ignored <- withr::with_seed(1, kliep_auto(pair$x, pair$y, control = one))
    adjusted <- withr::with_seed(1, kliep_auto(
        pair$x, pair$y, adjust = data.frame(batch = pair$batch), control = one
    ))
    expect_gt(sum(ignored$estimates$changed), 0)
    expect_identical(sum(adjusted$estimates$changed), 0L)
    expect_output(print(adjusted), "adjusted for batch, which costs 2 \\+ 2")
})
