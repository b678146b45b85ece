# A pair of small Ising samples with two changed edges.
ising_pair <- function(d = 8, n = 300, seed = 1) {
    withr::with_seed(seed, {
        theta <- ising_chain(d, coupling = 0.4)
        other <- ising_change(theta, n_changed = 2, change = -0.6)
        sim_ising(theta, other, n = n, thin = 20, burn_in = 200, threads = 1)
    })
}

infer <- function(pair, ..., features = feat_ising(), n_boot = 0) {
    debias_few(pair$x, pair$y, features, ..., n_boot = n_boot,
               control = kliep_control(tol = 1e-8, threads = 1))
}

# ---- the formulas of the help page in plain R -------------------------------

products_of <- function(z) {
    at <- which(upper.tri(diag(ncol(z))), arr.ind = TRUE)
    z[, at[, 1]] * z[, at[, 2]]
}

weights_at <- function(theta, f_y) {
    score <- drop(f_y %*% theta)
    weight <- exp(score - max(score))
    weight / sum(weight)
}

curvature_at <- function(alpha, f_y) {
    mean <- drop(crossprod(f_y, alpha))
    crossprod(f_y, alpha * f_y) - tcrossprod(mean)
}

plain_refit <- function(set, f_x, f_y) {
    theta <- numeric(ncol(f_x))
    f <- f_y[, set, drop = FALSE]
    for (step in 1:60) {
        alpha <- weights_at(theta, f_y)
        gradient <- drop(crossprod(f, alpha)) - colMeans(f_x)[set]
        move <- solve(curvature_at(alpha, f), gradient)
        # Short enough not to need a line search.
        theta[set] <- theta[set] - move * min(1, 0.5 / max(abs(move)))
        if (max(abs(move)) < 1e-12) break
    }
    theta
}

plain_row <- function(curvature, k, lambda) {
    minimise <- function(level) {
        omega <- numeric(ncol(curvature))
        for (sweep in 1:500) {
            before <- omega
            for (t in seq_along(omega)) {
                free <- omega[t] * curvature[t, t] -
                    sum(curvature[t, ] * omega)
                omega[t] <- if (t == k) (free + 1) / curvature[t, t] else
                    sign(free) * max(0, abs(free) - level) / curvature[t, t]
            }
            if (max(abs(omega - before)) < 1e-13) break
        }
        omega
    }
    scale <- function(omega) sqrt(drop(omega %*% curvature %*% omega))
    off <- function(sigma) scale(minimise(lambda * sigma)) - sigma
    minimise(lambda * stats::uniroot(off, c(0.01, 100), tol = 1e-12)$root)
}

plain_error <- function(omega, alpha, f_x, f_y) {
    v_x <- drop(f_x %*% omega)
    v_y <- drop(f_y %*% omega)
    sqrt(sum(((v_x - mean(v_x)) / length(v_x))^2) +
             sum((alpha * (v_y - sum(alpha * v_y)))^2))
}

plain_edge <- function(k, first, f_x, f_y, estimator, refit, lambda) {
    s1 <- which(first != 0)
    start <- if (refit) plain_refit(union(k, s1), f_x, f_y) else first
    alpha <- weights_at(start, f_y)
    curvature <- curvature_at(alpha, f_y)
    omega <- plain_row(curvature, k, lambda)
    s2 <- union(k, which(omega != 0))
    on_set <- function(curvature, set) {
        row <- numeric(ncol(f_x))
        row[set] <- solve(curvature[set, set])[, set == k]
        row
    }
    if (estimator == "double_selection") {
        set <- union(s1, s2)
        start <- plain_refit(set, f_x, f_y)
        alpha <- weights_at(start, f_y)
        omega <- on_set(curvature_at(alpha, f_y), set)
        estimate <- start[k]
    } else {
        if (refit) omega <- on_set(curvature, s2)
        gradient <- drop(crossprod(f_y, alpha)) - colMeans(f_x)
        estimate <- start[k] - sum(omega * gradient)
    }
    c(estimate = estimate, se = plain_error(omega, alpha, f_x, f_y))
}

# The first stage as a vector over all pairs.
first_of <- function(result) {
    d <- length(result$variables)
    at <- which(upper.tri(diag(d)), arr.ind = TRUE)
    key <- paste(result$variables[at[, 1]], result$variables[at[, 2]])
    theta <- numeric(length(key))
    theta[match(paste(result$first$from, result$first$to), key)] <-
        result$first$value
    theta
}

test_that("estimates and errors are those of the formulas", {
    pair <- ising_pair(d = 6)
    f_x <- products_of(pair$x)
    f_y <- products_of(pair$y)
    for (estimator in c("one_step", "double_selection")) {
        for (refit in c(TRUE, FALSE)) {
            got <- infer(pair, estimator = estimator, refit = refit)
            lambda <- sqrt(2 * log(15) / 300)
            expect_equal(got$settings$row_lambda, lambda)
            for (k in c(1, 4, 9)) {
                plain <- plain_edge(k, first_of(got), f_x, f_y, estimator,
                                    refit, lambda)
                expect_equal(got$estimates$estimate[k], plain[["estimate"]],
                             tolerance = 1e-5)
                expect_equal(got$estimates$se[k], plain[["se"]],
                             tolerance = 1e-5)
            }
        }
    }
})

test_that("the first stage is optimal for loadings in two passes", {
    pair <- ising_pair()
    got <- infer(pair)
    p <- 28
    lambda <- 1.01 * qnorm(1 - 0.05 / p)
    expect_equal(got$settings$lambda, lambda)
    f_x <- products_of(pair$x)
    f_y <- products_of(pair$y)
    theta <- numeric(p)
    for (pass in 1:2) {
        ratio <- nrow(f_y) * weights_at(theta, f_y)
        loading <- sqrt(apply(f_x, 2, var) / nrow(f_x) +
                            apply(ratio * f_y, 2, var) / nrow(f_y))
        penalty <- diag(8)
        penalty[upper.tri(penalty)] <- lambda * loading
        penalty <- pmax(penalty, t(penalty))
        fit <- paper_change(pair$x, pair$y, feat_ising(), lambda1 = 0,
                            lambda2 = 1, penalty_factor = penalty,
                            control = kliep_control(tol = 1e-9))
        theta <- as.matrix(coef(fit))[upper.tri(penalty)]
    }
    expect_gt(sum(theta != 0), 0)
    expect_equal(first_of(got), theta, tolerance = 1e-5)
})

test_that("standard errors are the effect of single observations", {
    # Twice the sample with both signs, so that the means have no effect: the
    # part of estimated means is left out.
    set.seed(1)
    draw <- function(r) {
        matrix(rnorm(120), 40) %*% chol(r^abs(outer(1:3, 1:3, "-")))
    }
    half <- list(x = draw(0.4), y = draw(0.6))
    both <- lapply(half, function(z) rbind(z, -z))
    times <- 20
    many <- lapply(both, function(z) z[rep(seq_len(80), times), ])
    for (features in list(feat_gaussian(), feat_nonparanormal(1.5))) {
        for (standardize in c("within", "none")) {
            estimate <- function(x, y) {
                infer(list(x = x, y = y), features = features,
                      estimator = "double_selection", lambda = 0.01,
                      row_lambda = 0.001,
                      standardize = standardize)$estimates
            }
            full <- estimate(many$x, many$y)
            square <- 0
            for (row in 1:40) {
                more_x <- estimate(rbind(many$x, both$x[row, ]), many$y)
                more_y <- estimate(many$x, rbind(many$y, both$y[row, ]))
                square <- square + 2 * times * (
                    (more_x$estimate - full$estimate)^2 +
                        (more_y$estimate - full$estimate)^2
                )
            }
            expect_equal(full$se, sqrt(square), tolerance = 0.01)
        }
    }
})

test_that("intervals, p-values and their adjustments follow from the errors", {
    pair <- ising_pair()
    set.seed(2)
    got <- infer(pair, n_boot = 400, level = 0.9)
    table <- got$estimates
    z <- table$estimate / table$se
    expect_equal(table$lower, table$estimate - qnorm(0.95) * table$se)
    expect_equal(table$upper, table$estimate + qnorm(0.95) * table$se)
    expect_equal(table$p_value, 2 * pnorm(-abs(z)))
    expect_equal(table$q_value, p.adjust(table$p_value, "BH"))
    expect_equal(table$q_value_by, p.adjust(table$p_value, "BY"))
    plain <- sort(got$maxima$plain)[360]
    studentized <- sort(got$maxima$studentized)[360]
    expect_equal(table$upper_plain - table$estimate, rep(plain, 28))
    expect_equal(table$estimate - table$lower_studentized,
                 studentized * table$se)
    expect_equal(got$global$critical, c(plain, studentized))
    expect_equal(got$global$statistic, c(max(abs(table$estimate)),
                                         max(abs(z))))
    expect_equal(
        got$global$p_value,
        c((1 + sum(got$maxima$plain >= max(abs(table$estimate)))) / 401,
          (1 + sum(got$maxima$studentized >= max(abs(z)))) / 401)
    )
    # Other levels later on.
    expect_equal(unname(confint(got, type = "studentized")[, 1]),
                 table$lower_studentized)
    half <- confint(got, parm = 2:3, level = 0.5)
    expect_equal(dimnames(half), list(c("V1*V3", "V2*V3"),
                                      c("25 %", "75 %")))
    expect_equal(unname(half[, 2]),
                 table$estimate[2:3] + qnorm(0.75) * table$se[2:3])
    expect_null(infer(pair)$global)
})

test_that("the bootstrap has the distribution of the largest normal error", {
    pair <- ising_pair()
    set.seed(3)
    one <- infer(pair, edges = data.frame(from = 2, to = 5), n_boot = 4000)
    # Quantiles of 4000 draws, within four of their standard errors.
    for (level in c(0.5, 0.9)) {
        expect_equal(mean(one$maxima$studentized <= qnorm((1 + level) / 2)),
                     level, tolerance = 4 * sqrt(level * (1 - level) / 4000))
    }
    expect_equal(one$maxima$plain,
                 one$maxima$studentized * one$estimates$se)
    # Of 28 edges it is beyond that of one, and within Bonferroni's bound.
    all <- infer(pair, n_boot = 4000)
    expect_gt(quantile(all$maxima$studentized, 0.9), qnorm(0.99))
    expect_lt(quantile(all$maxima$studentized, 0.9), qnorm(1 - 0.05 / 28) + 0.1)
})

# ---- properties ------------------------------------------------------------

test_that("edges by themselves are what they are among all", {
    pair <- ising_pair()
    all <- infer(pair)$estimates
    some <- data.frame(from = c("V7", "V2"), to = c("V3", "V1"))
    few <- infer(pair, edges = some)$estimates
    at <- match(c("V3 V7", "V1 V2"), paste(all$from, all$to))
    expect_equal(few[1:4], all[at, 1:4], ignore_attr = TRUE,
                 tolerance = 1e-6)
    # Adjusted for two edges, not for 28.
    expect_equal(few$q_value, p.adjust(few$p_value, "BH"))
})

test_that("one seed gives the same on any number of threads", {
    pair <- random_pair(d = 6, n_x = 80)
    run <- function(threads) {
        set.seed(5)
        result <- debias_few(pair$x, pair$y, n_boot = 100,
                              control = kliep_control(threads = threads))
        result[c("estimates", "global", "maxima")]
    }
    expect_identical(run(1), run(2))
    set.seed(6)
    other <- debias_few(pair$x, pair$y, n_boot = 100)
    expect_false(identical(other$maxima, run(1)$maxima))
})

test_that("the order of variables and the names of values are a choice", {
    pair <- ising_pair()
    got <- infer(pair)$estimates
    turned <- infer(list(x = pair$x[, 8:1], y = pair$y[, 8:1]))$estimates
    at <- match(paste(got$from, got$to), paste(turned$to, turned$from))
    expect_equal(turned$estimate[at], got$estimate, tolerance = 1e-5)
    expect_equal(turned$se[at], got$se, tolerance = 1e-5)
    flipped <- pair
    flipped$x[, 2] <- -flipped$x[, 2]
    flipped$y[, 2] <- -flipped$y[, 2]
    flipped <- infer(flipped)$estimates
    own <- got$from == "V2" | got$to == "V2"
    expect_equal(flipped$estimate, ifelse(own, -1, 1) * got$estimate,
                 tolerance = 1e-5)
    # 0 and 1 are as good as -1 and +1.
    coded <- lapply(pair[c("x", "y")], function(z) (z + 1) / 2)
    expect_equal(infer(coded)$estimates, got)
})

test_that("equal samples have no change", {
    pair <- random_pair(d = 5, n_x = 60)
    same <- infer(list(x = pair$y, y = pair$y), features = feat_gaussian())
    expect_equal(same$estimates$estimate, rep(0, 10), tolerance = 1e-8)
    expect_equal(nrow(same$first), 0)
    expect_equal(same$estimates$p_value, rep(1, 10), tolerance = 1e-6)
})

test_that("units do not matter under pooled scales", {
    pair <- random_pair(d = 5, n_x = 200)
    units <- c(1, 1000, 0.01, 5, 1)
    other <- lapply(pair, function(z) z %*% diag(units))
    run <- function(pair) {
        infer(pair, features = feat_gaussian(),
              standardize = "pooled")$estimates[3:4]
    }
    expect_equal(run(other), run(pair), tolerance = 1e-6)
})

test_that("scores are standard normal where nothing has changed", {
    skip_on_cran()
    set.seed(9)
    mix <- chol(0.5^abs(outer(1:5, 1:5, "-")))
    z <- replicate(100, {
        draw <- function(n) matrix(rnorm(n * 5), n) %*% mix
        pair <- list(x = draw(250), y = draw(400))
        table <- infer(pair, features = feat_gaussian())$estimates
        table$estimate / table$se
    })
    # 1000 scores, dependent by tens: a standard deviation to about 3 %.
    expect_equal(sd(z), 1, tolerance = 0.1)
    expect_lt(abs(mean(z)), 0.12)
    expect_equal(mean(abs(z) > qnorm(0.975)), 0.05, tolerance = 0.02 / 0.05)
})

# ---- what cannot be done ---------------------------------------------------

test_that("features with more than one coefficient are refused", {
    pair <- random_pair(d = 4, n_x = 40)
    for (features in list(feat_gaussian(linear = TRUE), feat_polynomial(2),
                          feat_rbf(), feat_custom(function(a, b) a * b),
                          feat_cliques(list(1:3)))) {
        expect_error(kliep_debias(pair$x, pair$y, features),
                     class = "kliep_error_features")
    }
    expect_error(kliep_debias(pair$x, pair$y, features = "gaussian"),
                 class = "kliep_error_features")
})

test_that("bad arguments are named", {
    pair <- random_pair(d = 4, n_x = 40)
    run <- function(...) kliep_debias(pair$x, pair$y, ...)
    edge <- function(from, to) data.frame(from = from, to = to)
    expect_error(run(edges = edge("V1", "Q")), "`Q`",
                 class = "kliep_error_argument")
    expect_error(run(edges = edge(1, 5)), "`5`",
                 class = "kliep_error_argument")
    expect_error(run(edges = edge(2, 2)), class = "kliep_error_argument")
    expect_error(run(edges = edge(1:2, 2:1)), class = "kliep_error_argument")
    expect_error(run(edges = edge(1, 2)[0, ]), "no rows",
                 class = "kliep_error_argument")
    expect_error(run(edges = "V1-V2"), class = "kliep_error_argument")
    for (level in list(0, 1, 95, NA, "0.9", c(0.9, 0.95))) {
        expect_error(run(level = level), "level",
                     class = "kliep_error_argument")
    }
    expect_error(run(n_boot = -1), class = "kliep_error_argument")
    expect_error(run(n_boot = 1.5), class = "kliep_error_argument")
    expect_error(run(lambda = 0), class = "kliep_error_lambda")
    expect_error(run(row_lambda = NA), class = "kliep_error_lambda")
    expect_error(run(estimator = "both"), class = "kliep_error_argument")
    expect_error(run(refit = NA), class = "kliep_error_argument")
    expect_error(run(lamda = 3), "lambda", class = "kliep_error_dots")
    expect_error(kliep_debias(pair$x[1:9, ], pair$y), "at least 10 rows",
                 class = "kliep_error_size")
    expect_error(kliep_debias(pair$x), class = "kliep_error_missing_sample")
    constant <- pair
    constant$y[, 2] <- 1
    expect_error(kliep_debias(constant$x, constant$y),
                 class = "kliep_error_constant")
})

test_that("a first stage without minimum says what to do", {
    pair <- ising_pair(d = 10, n = 30)
    expect_error(infer(pair, lambda = 0.01), "Raise `lambda`",
                 class = "kliep_error_unbounded")
})

test_that("a first stage that does not reach its tolerance says so", {
    pair <- random_pair(d = 5, n_x = 60)
    expect_warning(
        debias_few(pair$x, pair$y, lambda = 0.1,
                   control = kliep_control(max_iter = 1)),
        "first stage did not reach tol = 1e-06.*Raise `max_iter`",
        class = "kliep_warning_max_iter"
    )
})

test_that("weights that are worth less than half of y are warned of", {
    pair <- ising_pair()
    edge <- data.frame(from = 1, to = 2)
    warned <- expect_warning(
        got <- kliep_debias(pair$x, pair$y, feat_ising(), edge, n_boot = 0),
        "half of its 300 observations for 1 of 1 edge, as few as",
        class = "kliep_warning_effective_size"
    )
    size <- got$diagnostics$effective_size
    expect_match(conditionMessage(warned), format(size, digits = 3),
                 fixed = TRUE)
    # The weights of the fit without penalty on the support of both stages.
    plain <- infer(pair, edges = edge, refit = FALSE, estimator = "one_step")
    f_y <- products_of(pair$y)
    theta <- numeric(ncol(f_y))
    at <- which(upper.tri(diag(8)), arr.ind = TRUE)
    names(theta) <- paste0("V", at[, 1], " V", at[, 2])
    first <- plain$first
    theta[paste(first$from, first$to)] <- first$value
    expect_equal(plain$diagnostics$effective_size,
                 1 / sum(weights_at(theta, f_y)^2), tolerance = 1e-8)
    expect_gt(plain$diagnostics$effective_size, size)
    expect_output(print(got), paste0("worth at least ",
                                     format(size, digits = 3),
                                     " of the 300 observations of y"))
    facts <- report_facts(got, "diagnostics")
    expect_match(facts$verdict[grepl("effective", facts$what)], "^caution")
    # None where nothing has changed.
    same <- list(x = pair$y[1:150, ], y = pair$y[151:300, ])
    expect_silent(kliep_debias(same$x, same$y, feat_ising(), edge, n_boot = 0))
})

test_that("edges that cannot be estimated are missing, with the reason", {
    pair <- ising_pair(d = 5, n = 100)
    # V1 and V2 always agree in x: a ratio without penalty has no end.
    pair$x[, 2] <- pair$x[, 1]
    edge <- data.frame(from = c(1, 3), to = c(2, 4))
    run <- function(...) {
        infer(pair, edges = edge, n_boot = 50, lambda = 1e3, ...)
    }
    expect_warning(got <- run(estimator = "one_step"), "1 of 2 edges",
                   class = "kliep_warning_not_estimated")
    expect_equal(got$diagnostics$status, c("no_refit", "estimated"))
    expect_true(all(is.na(got$estimates[1, -(1:2)])))
    expect_false(anyNA(got$estimates[2, ]))
    # One test of two was possible, and is adjusted for by itself.
    expect_equal(got$estimates$q_value[2], got$estimates$p_value[2])
    expect_equal(nrow(edges(got, rule = "plain", alpha = 0.99)), 1)
    expect_warning(run(), class = "kliep_warning_not_estimated")
    expect_no_warning(run(estimator = "one_step", refit = FALSE))
    # All of them.
    pair$y[, 2] <- pair$y[, 1]
    expect_warning(got <- infer(pair, edges = edge[1, ], n_boot = 50,
                                lambda = 1e3, refit = FALSE), "one value",
                   class = "kliep_warning_not_estimated")
    expect_null(got$global)
    expect_output(print(got), "NA")
})

test_that("a support that is too large for a refit costs no estimates", {
    # The first stage detects more than 40 observations can fit unpenalised.
    pair <- withr::with_seed(2, sim_gaussian(
        d = 20, n = 40, density = 0.2, edge = 0.4, n_changed = 8, change = -0.8
    ))
    expect_warning(got <- kliep_debias(pair$x, pair$y, n_boot = 20),
                   "one Newton step", class = "kliep_warning_one_step")
    expect_gt(sum(got$diagnostics$status == "one_step"), 0)
    known <- is_estimated(got$diagnostics$status)
    expect_gt(mean(known), 0.9)
    expect_false(anyNA(got$estimates[known, ]))
    expect_output(print(got), paste(sum(got$diagnostics$status == "one_step"),
                                    "by one step from the penalised"))
})

# ---- methods ---------------------------------------------------------------

test_that("edges() rejects by the rule asked for", {
    pair <- ising_pair()
    set.seed(1)
    got <- infer(pair, n_boot = 500)
    table <- got$estimates
    found <- edges(got)
    expect_named(found, c("from", "to", "weight", "se", "lower", "upper",
                          "p_value", "q_value"))
    expect_equal(nrow(found), sum(table$q_value <= 0.05))
    expect_true(all(paste(pair$truth$from, pair$truth$to) %in%
                        paste(found$from, found$to)))
    expect_false(is.unsorted(found$p_value))
    expect_equal(nrow(edges(got, rule = "BY")), sum(table$q_value_by <= 0.05))
    expect_equal(nrow(edges(got, rule = "pointwise")),
                 sum(table$p_value < 0.05))
    expect_equal(nrow(edges(got, rule = "studentized")),
                 sum(table$lower_studentized > 0 |
                         table$upper_studentized < 0))
    expect_equal(nrow(edges(got, alpha = 0.5)), sum(table$q_value <= 0.5))
    without <- infer(pair)
    expect_error(edges(without, rule = "plain"), "n_boot",
                 class = "kliep_error_argument")
    expect_error(confint(without, type = "studentized"), "n_boot",
                 class = "kliep_error_argument")
    expect_error(confint(without, parm = 29), class = "kliep_error_argument")
    expect_error(edges(got, rule = "holm"), class = "kliep_error_argument")
})

test_that("printing says what was done", {
    pair <- ising_pair()
    set.seed(1)
    got <- infer(pair, n_boot = 100, level = 0.9)
    expect_output(print(got), "28 edges by double selection (SparKLIE+2)",
                  fixed = TRUE)
    expect_output(print(got), "90 % intervals")
    expect_output(print(got), "any change p = ")
    expect_output(print(got), "and 18 more")
    other <- infer(pair, estimator = "one_step", refit = FALSE)
    expect_output(print(other), "SparKLIE+1", fixed = TRUE)
    expect_output(print(other), "no refit")
})

test_that("the plot shows intervals in the order of the estimates", {
    pair <- ising_pair()
    set.seed(1)
    got <- infer(pair, n_boot = 100)
    changed <- got$estimates$q_value <= 0.05
    lines <- interval_lines(got, changed, pair, 5)
    expect_equal(nrow(lines), 5)
    expect_setequal(lines$p_value, sort(got$estimates$p_value)[1:5])
    expect_false(is.unsorted(lines$estimate))
    known <- lines$change != 0
    expect_equal(sum(known), 2)
    expect_equal(as.character(lines$style[known]),
                 ifelse(lines$estimate[known] > 0, "higher in x",
                        "higher in y"))
    for (plot in list(autoplot(got, truth = pair$truth),
                      autoplot(infer(pair)))) {
        expect_s3_class(plot, "ggplot")
        expect_no_error(ggplot2::ggplot_build(plot))
    }
    expect_error(autoplot(got, truth = 1), class = "kliep_error_truth")
})
