# Changes that correlations do not show: the column `q_beyond`.

# In x the spread of the second variable depends on the first: no correlation.
spread_pair <- function(n = 300, d = 5) {
    x <- matrix(stats::rnorm(n * d), n)
    x[, 2] <- x[, 2] * (0.3 + abs(x[, 1]))
    list(x = x, y = matrix(stats::rnorm(n * d), n))
}

test_that("dependence without correlation is found, and said", {
    set.seed(1)
    pair <- spread_pair()
    found <- kliep_auto(pair$x, pair$y)
    table <- found$estimates
    beyond <- table$q_beyond <= 0.1
    expect_identical(paste(table$from, table$to)[beyond], "V1 V2")
    expect_false(table$changed[beyond])
    expect_match(say_changes(found),
                 "1 edge changes in a way that correlations do not show (V1",
                 fixed = TRUE)
    expect_output(print(found), "correlations do not\\s+show")
    expect_no_match(found$reasons, "No edge changes in a way")
    expect_match(report_summary(found), "correlations do not show")
})

test_that("it is the same for both orders, and for other margins of both", {
    set.seed(2)
    pair <- spread_pair()
    of <- function(x, y) {
        withr::with_seed(1, kliep_infer(x, y, n_perm = 19))$estimates$q_beyond
    }
    known <- of(pair$x, pair$y)
    expect_equal(of(pair$y, pair$x), known)
    expect_equal(of(exp(pair$x), exp(pair$y)), known)
})

test_that("a change of correlations is none beyond them", {
    set.seed(3)
    pair <- sim_gaussian(d = 6, n = 400, n_changed = 3, edge = 0.4,
                         change = -0.8)
    found <- kliep_auto(pair$x, pair$y)
    expect_gt(sum(found$estimates$changed), 0)
    expect_gt(min(found$estimates$q_beyond), 0.1)
    expect_match(found$reasons, "No edge changes in a way", all = FALSE)
    expect_null(say_beyond(found))
})

test_that("which edges changed does not depend on it", {
    set.seed(4)
    pair <- sim_gaussian(d = 6, n = 200, n_changed = 2)
    found <- withr::with_seed(1, kliep_infer(pair$x, pair$y, n_perm = 19))
    alone <- withr::with_seed(1, find_changes(pair$x, pair$y, shuffles = 19L))
    expect_identical(found$estimates$changed, alone$edges$changed)
    expect_equal(found$estimates$p_value, alone$edges$p_combined)
})

test_that("where there are too many edges it is left out, and said", {
    samples <- function(n, d) {
        list(x = matrix(0, n, d), y = matrix(0, n, d),
             variables = paste0("V", seq_len(d)))
    }
    expect_false(is_beyond_reach(samples(30, 100)))
    large <- samples(35, 100)
    expect_true(is_beyond_reach(large))
    q_value <- beyond_q_values(large, integer(), 19, kliep_control())
    expect_identical(q_value, rep(NA_real_, 4950))
    found <- list(estimates = data.frame(q_beyond = q_value), fdr = 0.1)
    expect_match(say_no_beyond(found), "fewer edges \\(there are 4,950\\)")
    expect_null(say_beyond(found))
})

test_that("with units of observations it is that of the units", {
    set.seed(6)
    pair <- spread_pair(n = 60, d = 4)
    donors <- rep(1:30, each = 2)
    found <- kliep_infer(pair$x, pair$y, unit = c(donors, 30 + donors),
                         n_perm = 19)$estimates$q_beyond
    expect_true(all(found > 0 & found <= 1))
})

test_that("polynomials are multiplied and integrated", {
    h <- function(i) function(z) power_values(hermite[[i]], z)
    for (i in 1:3) {
        for (k in 1:3) {
            slope <- function(z) power_values(derivative(hermite[[i]]), z)
            want <- stats::integrate(function(z) slope(z) * h(k)(z), 0, 1.3)
            expect_equal(power_values(integral(derivative(hermite[[i]]),
                                               hermite[[k]]), 1.3),
                         want$value)
            weighted <- function(z) h(i)(z) * h(k)(z) * stats::dnorm(z)
            expect_equal(stats::integrate(weighted, -Inf, Inf)$value,
                         as.numeric(i == k), tolerance = 1e-6)
        }
    }
})

# The mean of a term of ranks varies from sample to sample as that of the term
# with what ranks explain taken off.
test_that("what estimated ranks explain of a term is taken off", {
    set.seed(7)
    draw <- function(n) {
        z <- matrix(stats::rnorm(2 * n), n)
        z[, 2] <- 0.7 * z[, 1] + sqrt(1 - 0.7^2) * z[, 2]
        feature_samples(list(x = z, y = z[n:1, ], variables = c("a", "b")),
                        feat_nonparanormal())$x
    }
    drawn <- replicate(300, {
        z <- rbind(draw(200), draw(200))
        of <- function(terms) vapply(terms, stats::var, 0) / 100
        terms <- hermite_terms(z)
        cbind(apart = vapply(terms, function(term) {
            mean(term[1:200]) - mean(term[-(1:200)])
        }, 0), off = of(hermite_terms(z, 200)), plain = of(terms))
    })
    observed <- apply(drawn[, "apart", ], 1, stats::var)
    ratio <- observed / rowMeans(drawn[, "off", ])
    expect_true(all(ratio > 0.7 & ratio < 1.3))
    # Terms of correlated scores vary far less than they seem to.
    expect_true(all(observed < 0.6 * rowMeans(drawn[, "plain", ])))
    z <- rbind(draw(200), draw(200))
    plain <- hermite_terms(z)
    off <- hermite_terms(z, 200)
    apart <- function(term) mean(term[1:200]) - mean(term[201:400])
    expect_equal(vapply(off, apart, 0), vapply(plain, apart, 0))
})

test_that("a second test is adjusted for what the first has found", {
    q_value <- c(0.01, 0.05, 0.3, 0.02)
    p_value <- c(0.02, 0.9, 0.001, 0.03)
    expect_equal(confirm(q_value, p_value, 0.1), c(0.045, 0.9, 0.3, 0.045))
})
