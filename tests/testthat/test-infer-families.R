# kliep_infer() for features without a closed form: logistic tests.

one <- kliep_control(threads = 1)
spins <- withr::with_seed(31, {
    theta <- ising_chain(8, coupling = 0.4)
    sim_ising(theta, ising_change(theta, 2, change = -0.8), n = 300, thin = 20,
              burn_in = 200, threads = 1)
})
infer_spins <- function(x = spins$x, y = spins$y, ..., control = one) {
    withr::with_seed(1, kliep_infer(x, y, feat_ising(), ..., control = control))
}
spins_inferred <- infer_spins()

test_that("Ising: planted changes are found, with what is known of them", {
    found <- edges(spins_inferred)
    truth <- spins$truth
    at <- match(paste(found$from, found$to), paste(truth$from, truth$to))
    expect_setequal(stats::na.omit(at), 1:2)
    expect_lte(sum(is.na(at)), 1)
    expect_lt(max(abs(found$weight - truth$change[at]), na.rm = TRUE), 0.3)
    expect_named(found, c("from", "to", "weight", "se", "lower", "upper",
                          "p_value", "q_value", "test"))
    table <- spins_inferred$estimates
    expect_named(table, c("from", "to", "estimate", "se", "lower", "upper",
                          "p_value", "q_value", "test", "z", "df",
                          "in_support", "changed"))
    expect_identical(nrow(table), 28L)
    expect_identical(unique(table$test), "logistic")
    expect_false(anyNA(table))
    expect_equal(sum(table$in_support), nrow(spins_inferred$support))
})

test_that("every method of an inference takes it", {
    expect_output(print(spins_inferred), "of 28 edges changed")
    expect_output(print(summary(spins_inferred)), "logistic")
    limits <- confint(spins_inferred, level = 0.95)
    expect_equal(unname(limits[, 1]), spins_inferred$estimates$lower)
    expect_identical(nrow(tidy(spins_inferred)), 28L)
    expect_identical(glance(spins_inferred)$n_edges,
                     nrow(edges(spins_inferred)))
    for (type in c("intervals", "calibration", "graph", "matrix")) {
        expect_s3_class(autoplot(spins_inferred, type = type), "ggplot")
    }
    expect_identical(report_facts(spins_inferred, "diagnostics")$verdict,
                     c("good", "good"))
    expect_identical(nrow(report_steps(spins_inferred)), 1L)
})

test_that("swapping the samples turns signs and nothing else", {
    turned <- infer_spins(spins$y, spins$x)
    signed <- c("estimate", "z")
    turned$estimates[signed] <- -turned$estimates[signed]
    turned$estimates[c("lower", "upper")] <-
        -turned$estimates[c("upper", "lower")]
    expect_equal(turned$estimates, spins_inferred$estimates,
                 tolerance = 1e-12)
    expect_equal(turned$global, spins_inferred$global)
})

test_that("the numbers do not depend on the number of threads", {
    two <- infer_spins(control = kliep_control(threads = 2))
    expect_identical(two$estimates, spins_inferred$estimates)
})

test_that("edges are tested as glm() tests them, but for what is used up", {
    withr::local_seed(2)
    n <- c(70, 90)
    table <- matrix(rnorm(sum(n) * 6), sum(n))
    table[seq_len(n[1]), 2] <- table[seq_len(n[1]), 2] + 0.5
    from_x <- rep(1:0, n)
    fit <- function(columns) {
        glm(from_x ~ table[, columns], family = binomial,
            control = list(epsilon = 1e-14))
    }
    got <- logistic_tests(table, n[1], c(1L, 1L, 2L, 1L, 1L), c(2L, 4L), one)
    given <- fit(c(2, 5))
    rao <- function(columns) {
        anova(given, fit(c(2, 5, columns)), test = "Rao")$Rao[2]
    }
    # Two of 159 degrees of freedom.
    left <- 157 / 159
    expect_equal(got$groups$statistic[c(1, 3)], left * c(rao(1), rao(3:4)),
                 tolerance = 1e-8)
    expect_equal(exp(got$groups$log_p[3]),
                 pchisq(left * rao(3:4), 2, lower.tail = FALSE),
                 tolerance = 1e-8)
    # Whatever the basis of its columns.
    mixed <- table
    mixed[, 3:4] <- table[, 3:4] %*% matrix(c(2, 1, -1, 3), 2)
    expect_equal(logistic_tests(mixed, n[1], got$groups$df, c(2L, 4L),
                                one)$groups, got$groups)
    # Those of the support by their estimate and its usual error.
    expect_equal(got$estimate[c(2, 5)], unname(coef(given)[-1]),
                 tolerance = 1e-8)
    expect_equal(got$se[c(2, 5)],
                 unname(sqrt(diag(vcov(given)) / left))[-1], tolerance = 1e-6)
})

test_that("Firth's term adds half an observation to each cell", {
    table <- cbind(rep(c(1, 0, 1, 0), c(9, 3, 4, 8)), 1:24)
    got <- rust_logistic_tests(table, 12L, c(1L, 1L), list(
        firth = TRUE, support = 1L, tol = 1e-10, max_iter = 100L, threads = 1L,
        units = NULL
    ))
    expect_equal(got$estimate[1], log(9.5 * 8.5 / (3.5 * 4.5)))
    # There is an estimate where maximum likelihood has none.
    apart <- cbind(rep(1:0, c(12, 12)), 1:24)
    settings <- list(firth = TRUE, support = 1L, tol = 1e-8, max_iter = 100L,
                     threads = 1L, units = NULL)
    got <- rust_logistic_tests(apart + 0, 12L, c(1L, 1L), settings)
    expect_true(got$converged)
    expect_equal(got$estimate[1], 2 * log(12.5 / 0.5))
})

test_that("groups have the numbers of the factors of a path", {
    model <- feature_model(list(x = spins$x, y = spins$y,
                                variables = colnames(spins$x)),
                           settle_spec(kliep_spec(feat_ising()),
                                       colnames(spins$x)))
    both <- rbind(spins$x, spins$y)
    expect_equal(model$table[, 3], unname(both[, 2] * both[, 3]))
    expect_equal(support_groups(model, data.frame(from = 2, to = 3)), 3)
    expect_equal(group_factors(model, 3), data.frame(from = 2L, to = 3L))
})

test_that("where nothing has changed no edge is reported", {
    halves <- list(x = spins$x[1:150, ], y = spins$x[151:300, ])
    none <- infer_spins(halves$x, halves$y)
    expect_gt(none$global$p_value, 0.1)
    expect_identical(nrow(edges(none)), 0L)
    expect_identical(nrow(none$support), 0L)
    radial <- withr::with_seed(2, kliep_infer(
        matrix(rnorm(60 * 5), 60), matrix(rnorm(60 * 5), 60), feat_rbf(),
        control = one
    ))
    expect_false(any(radial$estimates$changed))
})

test_that("edges with several coefficients are tested by all of them", {
    withr::local_seed(3)
    x <- matrix(rnorm(200 * 4), 200)
    y <- matrix(rnorm(200 * 4), 200)
    # A dependence without correlation, in x alone.
    x[, 2] <- scale(x[, 1]^2 + 0.7 * x[, 2])
    got <- kliep_infer(x, y, feat_polynomial(3), control = one)
    expect_identical(unique(got$estimates$df), 3L)
    found <- edges(got)
    expect_identical(paste(found$from, found$to)[1], "V1 V2")
    expect_true(all(got$estimates$estimate >= 0))
    expect_true(all(is.na(got$estimates$se)))
    expect_true(all(is.na(confint(got))))
    expect_output(print(got), "of 6 edges changed")
    expect_no_warning(ggplot2::ggplotGrob(autoplot(got)))
    # The same by functions of one's own.
    own <- feat_custom(function(a, b) cbind(a * b, a * b^2, a^2 * b),
                       function(a) cbind(a, a^2, a^3))
    same <- withr::with_seed(4, kliep_infer(x, y, own, control = one))
    product <- withr::with_seed(4, kliep_infer(
        x, y, feat_polynomial(3, terms = "interactions"), control = one
    ))
    expect_equal(same$null, product$null, tolerance = 1e-8)
})

test_that("an edge of cliques has the tests of its sets", {
    withr::local_seed(5)
    x <- matrix(rnorm(120 * 4), 120)
    y <- matrix(rnorm(120 * 4), 120)
    x[, 3] <- abs(x[, 3]) * sign(x[, 1] * x[, 2])
    got <- kliep_infer(x, y, feat_cliques(list(1:2, 1:3, 3:4, 4)),
                       control = one)
    table <- got$estimates
    expect_identical(paste(table$from, table$to),
                     c("V1 V2", "V1 V3", "V2 V3", "V3 V4"))
    expect_identical(table$df, c(2L, 1L, 1L, 1L))
    expect_identical(table$changed, c(TRUE, TRUE, TRUE, FALSE))
    # The pair 1, 2 is in two sets, of which the larger one changed.
    expect_equal(table$p_value[1], min(1, 2 * table$p_value[2]))
})

test_that("estimated scales do not count as changes of a feature", {
    withr::local_seed(6)
    # Strongly correlated, so that scales matter: the z of one feature, over
    # samples without a change, has variance one.
    z <- replicate(300, {
        draw <- function() {
            common <- rnorm(50)
            cbind(common + 0.3 * rnorm(50), common + 0.3 * rnorm(50))
        }
        samples <- list(x = draw(), y = draw(), variables = c("a", "b"))
        spec <- settle_spec(kliep_spec(feat_gaussian(linear = TRUE)),
                            samples$variables)
        model <- feature_model(samples, spec)
        logistic_tests(model$table, 50, model$sizes, integer(),
                       one)$groups$statistic[1]
    })
    expect_gt(mean(z), 0.75)
    expect_lt(mean(z), 1.35)
})

test_that("a feature that is constant has not changed", {
    x <- cbind(unname(spins$x[, 1:3]), 1, 1)
    y <- cbind(unname(spins$y[, 1:3]), 1, 1)
    got <- withr::with_seed(1, kliep_infer(
        x, y, feat_custom(function(a, b) a * b), standardize = "none",
        control = one
    ))
    constant <- got$estimates$from == "V4"
    expect_identical(got$estimates$p_value[constant], 1)
    expect_true(is.na(got$estimates$estimate[constant]))
    expect_false(anyNA(got$estimates$q_value))
})

test_that("bad input is one sentence", {
    refused <- function(class, ...) {
        expect_error(infer_spins(...), class = paste0("kliep_error_", class))
    }
    refused("size", spins$x[1:9, ])
    refused("n_perm", n_perm = 5)
    refused("argument", fdr = 1)
    refused("two_valued", spins$x + rnorm(length(spins$x)))
    expect_error(kliep_infer(spins$x, spins$y, feat_custom(
        function(a, b) stop("no")
    )), class = "kliep_error_features")
    expect_error(kliep_infer(cbind(unname(spins$x), 1),
                             cbind(unname(spins$y), 1), feat_polynomial(2)),
                 class = "kliep_error_constant")
    skip_if(is.na(free_memory()) || free_memory() > 1e12, "there is room")
    wide <- matrix(rnorm(20 * 600), 20)
    expect_error(kliep_infer(wide[1:10, ], wide[11:20, ],
                             feat_polynomial(100)),
                 "Tests of the features of 600 variables would take",
                 class = "kliep_error_memory")
})
