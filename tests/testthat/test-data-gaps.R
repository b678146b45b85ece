# Missing values: moments over what is known, and draws from the other
# variables.

one <- kliep_control(threads = 1L)

punch <- function(sample, share) {
    replace(sample, runif(length(sample)) < share, NA)
}

test_that("moments of pairs are those of the rows where both are known", {
    set.seed(1)
    z <- punch(matrix(rnorm(200), 40), 0.2)
    got <- pairwise_moments(z)
    both <- !is.na(z[, 1]) & !is.na(z[, 3])
    expect_equal(got$moments[1, 3], mean(z[both, 1] * z[both, 3]))
    expect_equal(got$n[1, 3], sum(both))
    bad <- matrix(c(1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1), 3)
    raised <- positive_definite(bad)
    expect_gt(min(eigen(raised)$values), 0)
    expect_equal(diag(raised), diag(bad))
    expect_identical(positive_definite(diag(3)), diag(3))
    expect_equal(crossprod(rows_with_moments(raised, 50)) / 50, raised)
})

test_that("variances of correlations are the sums of squared influences", {
    set.seed(2)
    z <- standardize_known(punch(matrix(rt(300, 5), 60), 0.2))
    got <- correlation_moments(z)
    i <- z[, 2]
    j <- z[, 4]
    both <- !is.na(i) & !is.na(j)
    r <- mean((i * j)[both])
    none <- function(values) ifelse(is.na(values), 0, values)
    influence <- none(i * j - r) / sum(both) - r / 2 *
        (none(i^2 - 1) / sum(!is.na(i)) + none(j^2 - 1) / sum(!is.na(j)))
    n <- sum(both)
    expect_equal(got$variance[2, 4], sum(influence^2) * n / (n - 2))
    expect_equal(got$r[2, 4], r)
})

test_that("without a gap the pairwise path is the path", {
    set.seed(3)
    pair <- sim_gaussian(d = 8, n = 150, n_changed = 3)
    samples <- check_samples(pair$x, pair$y)
    for (features in list(feat_gaussian(), feat_nonparanormal(),
                          feat_nonparanormal(2))) {
        problem <- new_problem(kliep_spec(features, nlambda = 10,
                                          control = one), samples)
        plain <- fit_problem(problem, samples)
        fit <- fit_pairwise(samples, problem, problem_settings(problem,
                                                               samples), NULL)
        expect_equal(fit$lambda2, plain$lambda2, tolerance = 1e-6)
        expect_equal(fit$value, plain$coefficients$value, tolerance = 1e-4)
        expect_equal(fit$center_x, plain$center$x)
        expect_equal(fit$scale_y, plain$scale$y)
    }
})

test_that("with 20 % missing, pairs find what complete data find", {
    set.seed(4)
    pair <- sim_gaussian(d = 12, n = 500, n_changed = 3, change = -0.8,
                         edge = 0.4)
    x <- punch(pair$x, 0.2)
    y <- punch(pair$y, 0.2)
    truth <- edge_text(pair$truth)
    path <- kliep_path(x, y, na = "pairwise", control = one)
    expect_true(all(path$diagnostics$status == "converged"))
    expect_setequal(edge_text(edges(path))[1:3], truth)
    expect_s3_class(edges(kliep_select(path, folds = 3)), "data.frame")
    expect_s3_class(kliep_stability(path, n_subsamples = 6), "kliep_stability")
    for (na in c("pairwise", "impute")) {
        found <- suppressMessages(kliep_auto(x, y, na = na, control = one))
        expect_true(all(truth %in% edge_text(edges(found))))
        expect_lte(nrow(edges(found)), 5)
        expect_match(format(found), "missing", all = FALSE)
    }
    # A result carries what is missing, and its draws.
    again <- kliep_infer(path, spec = feat_nonparanormal())
    expect_true(all(truth %in% edge_text(edges(again))))
})

test_that("an edge with fewer observations has the larger error", {
    set.seed(5)
    pair <- sim_gaussian(d = 6, n = 400, n_changed = 0)
    x <- pair$x
    x[sample(400, 250), 1] <- NA
    x[1, 2] <- NA
    found <- kliep_infer(x, pair$y, na = "pairwise", control = one)
    of <- found$estimates$from == "V1" | found$estimates$to == "V1"
    # Compared with the same edges in complete samples.
    full <- kliep_infer(pair$x, pair$y, control = one)
    more <- found$estimates$se / full$estimates$se
    expected <- sqrt((1 / 150 + 1 / 400) / (2 / 400))
    expect_equal(median(more[of]), expected, tolerance = 0.1)
    expect_equal(median(more[!of]), 1, tolerance = 0.1)
})

test_that("the variable with most missing values is not the top finding", {
    # Missing values replaced by the median would bring it to the top: all its
    # correlations shrink in one sample.
    couplings <- ising_chain(20, coupling = 0.7)
    top <- vapply(1:4, function(run) {
        set.seed(run)
        pair <- sim_ising(couplings, couplings, n = 250, threads = 1)
        x <- punch(pair$x, 0.02)
        x[sample(250, 150), 10] <- NA
        first <- function(na) {
            found <- suppressMessages(suppressWarnings(
                kliep_auto(x, pair$y, na = na, control = one)
            ))
            best <- edges(found, all = TRUE)[1L, ]
            c("V10" %in% c(best$from, best$to), nrow(edges(found)) > 0L)
        }
        c(first("impute"), first("impute_median"))
    }, logical(4))
    expect_gte(sum(top[3, ] & top[4, ]), 3)
    expect_lte(sum(top[1, ] & top[2, ]), 1)
})

test_that("99 spins with 2 % missing show what complete data show", {
    set.seed(7)
    couplings <- ising_chain(99, coupling = 0.5)
    other <- ising_change(couplings, n_changed = 3, change = -1)
    pair <- sim_ising(other, couplings, n = 300, threads = 1)
    truth <- edge_text(pair$truth)
    x <- punch(pair$x, 0.02)
    y <- punch(pair$y, 0.02)
    found <- suppressMessages(kliep_auto(x, y, na = "impute", n_perm = 19,
                                         control = one))
    expect_gte(sum(truth %in% edge_text(edges(found))), 2)
    expect_lte(sum(!edge_text(edges(found)) %in% truth), 1)
    # Omitting leaves about 13 % of the rows.
    expect_lt(mean(stats::complete.cases(x)), 0.25)
})

test_that("draws have the dependence of what is known, and its types", {
    set.seed(8)
    n <- 600
    z <- rnorm(n)
    sample <- data.frame(
        a = z + rnorm(n), b = exp(z),
        c = cut(z + rnorm(n) / 2, c(-Inf, -0.5, 0.5, Inf), c("l", "m", "h")),
        d = z > 0
    )
    gaps <- matrix(runif(n * 4) < 0.3, n)
    torn <- sample
    for (u in 1:4) torn[gaps[, u], u] <- NA
    full <- impute_once(torn, missing_values(torn), "x")
    expect_false(anyNA(full))
    expect_identical(levels(full$c), levels(sample$c))
    expect_type(full$d, "logical")
    expect_identical(full$a[!gaps[, 1]], sample$a[!gaps[, 1]])
    expect_true(all(full$b %in% torn$b))
    expect_equal(cor(full$a, log(full$b)), cor(sample$a, log(sample$b)),
                 tolerance = 0.15)
    expect_equal(cor(full$d, as.integer(full$c)),
                 cor(sample$d, as.integer(sample$c)), tolerance = 0.15)
})

test_that("Rubin's rules add what differs between completions", {
    p <- rbind(rep(0.01, 5), c(0.001, 0.01, 0.05, 0.2, 0.4))
    same <- combine_signed(p, matrix(1, 2, 5))
    expect_equal(same[1], 0.01, tolerance = 1e-3)
    expect_gt(same[2], mean(p[2, ]) / 2)
    # Signs that differ leave nothing.
    turned <- combine_signed(p[1, , drop = FALSE],
                             rbind(c(1, -1, 1, -1, 1)))
    expect_gt(turned, 0.5)
    expect_equal(combine_squares(p[1, , drop = FALSE], 3), 0.01,
                 tolerance = 1e-3)
    expect_equal(combine_one_sided(rep(0.02, 5)), 0.02, tolerance = 1e-6)
})

test_that("what does not go with missing values is refused in a sentence", {
    set.seed(9)
    pair <- sim_gaussian(d = 5, n = 60, n_changed = 1)
    x <- pair$x
    x[1, 1] <- NA
    expect_error(kliep_path(x, pair$y), class = "kliep_error_missing")
    refused <- function(expr, pattern) {
        expect_error(expr, pattern, class = "kliep_error_missing")
    }
    refused(kliep_path(x, pair$y, feat_polynomial(2), na = "pairwise"),
            "Gaussian and nonparanormal")
    refused(kliep_path(x, pair$y, na = "pairwise", normalizer = "empirical"),
            "needs `normalizer")
    refused(kliep_test(x, pair$y, na = "pairwise"), "complete observations")
    refused(kliep_debias(x, pair$y, na = "pairwise"), "complete observations")
    apart <- pair$x
    apart[1:30, 1] <- NA
    apart[31:60, 2] <- NA
    refused(kliep_path(apart, pair$y, na = "pairwise"),
            "10 observations of every pair")
    apart[, 3] <- NA
    refused(suppressMessages(kliep_path(apart, pair$y, na = "impute")),
            "0 values that is not missing")
})
