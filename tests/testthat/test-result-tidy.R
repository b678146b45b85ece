set.seed(12)
pair <- sim_gaussian(d = 6, n = 150, edge = 0.4, density = 0.3, n_changed = 3,
                     change = -0.8)
path <- kliep_path(pair$x, pair$y, nlambda = 8)
chosen <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3)
test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 6, folds = 3,
                   progress = FALSE)
stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 6,
                          progress = FALSE)
inferred <- debias_few(pair$x, pair$y, n_boot = 40, progress = FALSE)

first <- c("term", "from", "to", "estimate")

test_that("tidy() keeps its columns", {
    expect_named(tidy(path), c(first, "step", "lambda2"))
    expect_named(tidy(chosen), c(first, "enters"))
    expect_named(tidy(test), c(first, "enters", "shuffles", "p.value",
                               "adj.p.value", "paper", "kept"))
    expect_named(tidy(stable), c(first, "probability", "simultaneous",
                                 "kept"))
    expect_named(tidy(inferred), c(first, "std.error", "statistic", "p.value",
                                   "adj.p.value", "conf.low", "conf.high"))
})

test_that("tidy() of a path has every edge of every step", {
    table <- tidy(path)
    counts <- tabulate(table$step, length(path$lambda2))
    expect_equal(counts, path$diagnostics$n_edges)
    for (step in c(3, 8)) {
        rows <- table[table$step == step, ]
        found <- edges(path, path$lambda2[step])
        expect_equal(rows$estimate, found$weight)
        expect_equal(rows$term, paste(found$from, found$to, sep = ":"))
        expect_equal(unique(rows$lambda2), path$lambda2[step])
        only <- tidy(path, lambda2 = path$lambda2[step])
        expect_equal(only$estimate, rows$estimate)
    }
    nothing <- kliep_change(pair$x, pair$y, lambda2 = 10)
    expect_named(tidy(nothing), names(table))
    expect_equal(nrow(tidy(nothing)), 0)
})

test_that("tidy() of the others says what their own tables say", {
    expect_equal(tidy(chosen)$estimate, edges(chosen)$weight)
    expect_equal(tidy(test)$adj.p.value, test$edges$p_adjusted)
    expect_equal(sum(tidy(test)$kept), nrow(edges(test)))
    expect_equal(tidy(stable)$probability, stable$edges$probability)
    table <- tidy(inferred, level = 0.9)
    limits <- unname(confint(inferred, level = 0.9))
    expect_equal(cbind(table$conf.low, table$conf.high), limits)
    expect_equal(2 * stats::pnorm(-abs(table$statistic)), table$p.value)
})

head_columns <- c("method", "n_x", "n_y", "n_variables", "n_edges")

test_that("glance() keeps its columns, in one row", {
    of_path <- c(head_columns, "n_factors", "lambda1", "n_lambda2",
                 "lambda2_max", "lambda2_min", "converged", "kkt", "gap",
                 "effective_size", "seconds")
    expect_named(glance(path), of_path)
    expect_named(glance(chosen$fit), of_path)
    expect_named(glance(glasso_path(pair$x, pair$y, nlambda = 3)), of_path)
    expect_named(glance(chosen), c(head_columns, "criterion", "rule",
                                   "candidate", "lambda1", "lambda2",
                                   "score", "se", "kl", "converged",
                                   "effective_size"))
    expect_named(glance(test), c(head_columns, "lambda2", "score",
                                 "statistic", "p.value", "n_detected",
                                 "n_perm", "alpha", "adjust", "keep"))
    expect_named(glance(stable), c(head_columns, "q", "threshold",
                                   "expected_false", "n_named",
                                   "n_subsamples"))
    expect_named(glance(inferred), c(head_columns, "estimator", "level",
                                     "n_estimated", "n_failed", "statistic",
                                     "p.value", "n_boot"))
    for (object in list(path, chosen, chosen$fit, test, stable, inferred)) {
        row <- glance(object)
        expect_equal(nrow(row), 1)
        expect_equal(c(row$n_x, row$n_y, row$n_variables), c(150, 150, 6))
        expect_equal(row$n_edges, nrow(edges(object)))
    }
})

test_that("glance() says what the fit says", {
    row <- glance(path)
    expect_equal(row$kkt, max(path$diagnostics$kkt))
    expect_equal(row$effective_size, min(path$diagnostics$effective_size))
    expect_equal(row$lambda2_min, min(path$lambda2))
    expect_equal(row$n_factors, 21)
    ended <- path
    ended$diagnostics$status[8] <- "unbounded"
    expect_false(glance(ended)$converged)
    expect_equal(glance(ended)$lambda2_min, path$lambda2[7])
    expect_equal(glance(test)$p.value, test$global$p_value)
    without <- debias_few(pair$x, pair$y, n_boot = 0,
                           edges = data.frame(from = 1, to = 2),
                           progress = FALSE)
    expect_equal(glance(without)$p.value, NA_real_)
    expect_equal(glance(without)$n_estimated, 1)
})

test_that("the effective size is that of the fitted weights", {
    path <- paper_path(pair$x, pair$y, nlambda = 8)
    for (step in c(1, 4, 8)) {
        weight <- predict(path, pair$y, lambda2 = path$lambda2[step],
                          type = "ratio")
        expect_equal(path$diagnostics$effective_size[step],
                     sum(weight)^2 / sum(weight^2))
    }
    expect_equal(path$diagnostics$effective_size[1], 150)
    inverse <- paper_path(pair$x, pair$y, nlambda = 4, direction = "q/p")
    weight <- 1 / last_predict(inverse, pair$x, type = "ratio", sample = "x")
    expect_equal(inverse$diagnostics$effective_size[4],
                 sum(weight)^2 / sum(weight^2))
    closed <- kliep_path(pair$x, pair$y, nlambda = 3, normalizer = "gaussian")
    expect_true(all(is.na(closed$diagnostics$effective_size)))
})

test_that("typing errors are noticed", {
    expect_error(tidy(path, level = 0.1), class = "kliep_error_dots")
    expect_error(glance(test, digits = 3), class = "kliep_error_dots")
    expect_error(tidy(inferred, level = 2), class = "kliep_error")
})
