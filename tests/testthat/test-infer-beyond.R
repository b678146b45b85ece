# Changes that correlations do not show: the column `q_beyond`.

# In x the spread of the second variable depends on the first: no correlation.
spread_pair <- function(n = 300, d = 5) {
    x <- matrix(stats::rnorm(n * d), n)
    x[, 2] <- x[, 2] * (0.3 + abs(x[, 1]))
    list(x = x, y = matrix(stats::rnorm(n * d), n))
}

# The terms of an edge in plain R, the product first; with `n_x` less what
# estimated ranks explain.
hermite_terms <- function(z, n_x, from, to) {
    of <- function(i, variable) power_values(hermite[[i]], z)[, variable]
    explained <- function(i, j, own, other) {
        parts <- vapply(seq_len(4 - i), function(k) {
            integrated <- power_values(integral(derivative(hermite[[i]]),
                                                hermite[[k]]), z)
            center_within(integrated, n_x)[, own] *
                mean(of(j, other) * of(k, own))
        }, numeric(nrow(z)))
        rowSums(parts)
    }
    i <- c(1, 1, 2, 2, 1, 3)
    j <- c(1, 2, 1, 2, 3, 1)
    mapply(function(i, j) {
        term <- of(i, from) * of(j, to)
        if (is.null(n_x)) return(term)
        term - explained(i, j, from, to) - explained(j, i, to, from)
    }, i, j)
}

test_that("dependence without correlation is found and reported", {
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

test_that("no sentence denies the change that another one names", {
    set.seed(1)
    pair <- spread_pair()
    found <- kliep_auto(pair$x, pair$y)
    expect_false(any(found$estimates$changed))
    expect_gt(found$global$p_value, found$fdr)
    said <- c(format(found), found$reasons, say_changes(found),
              report_summary(found), say_control(found),
              volcano_caption(found, found$estimates),
              format(kliep_infer(pair$x, pair$y)), summary(found)$lines)
    denied <- grepl("no change|no edge is reported|chance alone|any change",
                    said, ignore.case = TRUE)
    expect_gt(sum(denied), 5)
    # Wherever there is said to be none, it is none of correlations.
    expect_match(said[denied], "correlations")
    expect_match(say_changes(found), "No change of correlations found.*But 1 ")
    # Where no edge is beyond correlations there is nothing to add.
    none <- found
    none$estimates$q_beyond <- 1
    expect_match(say_changes(none), "No change found", fixed = TRUE)
    expect_match(say_chance(none), "the samples .*: no edge is reported")
    expect_match(report_summary(none), "no change at all")
    expect_no_match(format(none), "correlations")
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

test_that("a change of correlations alone is not one beyond them", {
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
    expect_false(is_beyond_reach(samples(330, 100)))
    large <- samples(335, 100)
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
    # Without what the product explains of the others taken off.
    terms_of <- function(z, n_x = NULL) hermite_terms(z, n_x, 1, 2)
    apart <- function(terms) {
        colMeans(terms[1:200, ]) - colMeans(terms[201:400, ])
    }
    drawn <- replicate(300, {
        z <- rbind(draw(200), draw(200))
        of <- function(terms) apply(terms, 2, stats::var) / 100
        terms <- terms_of(z)
        cbind(apart = apart(terms), off = of(terms_of(z, 200)),
              plain = of(terms))
    })
    observed <- apply(drawn[, "apart", ], 1, stats::var)
    ratio <- observed / rowMeans(drawn[, "off", ])
    expect_true(all(ratio > 0.7 & ratio < 1.3))
    # Terms of correlated scores vary far less than they seem to.
    expect_true(all(observed < 0.6 * rowMeans(drawn[, "plain", ])))
    z <- rbind(draw(200), draw(200))
    expect_equal(apart(terms_of(z, 200)), apart(terms_of(z)))
})

test_that("features of edges are those of plain R, with or without ranks", {
    set.seed(8)
    pair <- spread_pair(n = 40, d = 4)
    samples <- list(x = pair$x, y = pair$y, variables = letters[1:4])
    for (pooled in c(FALSE, TRUE)) {
        model <- beyond_model(samples, pooled, kliep_control(threads = 1))
        z <- model$values[, 1:4]
        expect_identical(ncol(model$integrals), if (pooled) 0L else 24L)
        pairs <- pair_from_index(c(5, 2))
        got <- edge_features(model, c(5, 2))
        for (k in 1:2) {
            terms <- hermite_terms(z, if (!pooled) 40, pairs$from[k],
                                   pairs$to[k])
            product <- terms[, 1] - mean(terms[, 1])
            rest <- apply(terms[, -1], 2, function(term) {
                term - product * sum(term * product) / sum(product^2)
            })
            expect_equal(got$product[, k], product, tolerance = 1e-12)
            expect_equal(got$beyond[, 5 * (k - 1) + 1:5], rest,
                         tolerance = 1e-12)
        }
    }
})

test_that("it does not depend on how many edges are looked at together", {
    set.seed(9)
    pair <- spread_pair(n = 150, d = 5)
    samples <- list(x = pair$x, y = pair$y, variables = letters[1:5])
    drawn <- draw_layout_shuffles(layout_of(samples), 19, alike = TRUE)
    of <- function(at_once) {
        model <- beyond_model(samples, FALSE, kliep_control(threads = 1))
        model$at_once <- at_once
        null <- beyond_null(model, drawn)
        list(null = null, p_value = grow_support(
            model, list(members = integer(), products = 3L), null, 0.1
        ))
    }
    known <- of(1e6)
    # An edge joins the support, and is tested with itself left out.
    expect_lte(min(p.adjust(known$p_value, "BH")), 0.1)
    expect_equal(of(3 * 300 * 5), known)
    expect_equal(of(1), known)
})

# Rows of a t distribution are large together, whatever their correlations.
heavy_samples <- function(seed, n = 100, d = 8) {
    draw <- function() {
        matrix(stats::rnorm(n * d), n) / sqrt(stats::rchisq(n, 3) / 3)
    }
    withr::with_seed(seed, list(x = draw(), y = draw(),
                                variables = letters[seq_len(d)]))
}

test_that("shuffles that are ranked again have what the data have", {
    samples <- heavy_samples(1)
    drawn <- draw_layout_shuffles(layout_of(samples), 19, alike = TRUE)
    model <- beyond_model(samples, FALSE, kliep_control(threads = 1))
    same <- rank_again(model, seq_len(100))
    expect_equal(same$values, model$values)
    expect_equal(same$integrals, model$integrals)
    again <- rank_again(model, drawn[[1]])
    scores <- apply(again$values[1:100, 1:8], 2, sort)
    expect_equal(scores[, 1], sort(model$values[1:100, 1]), tolerance = 0.05)
    expect_equal(apply(scores, 2, stats::sd), rep(1, 8))
    # The statistics of the data, and larger ones than of shuffled scores.
    plain <- beyond_null(model, drawn)
    ranked <- ranked_null(model, drawn)
    expect_equal(ranked$observed, plain$observed)
    expect_gt(mean(ranked$squares), 1.05 * mean(plain$squares))
})

test_that("what shuffled scores alone would call a change is none", {
    # Nothing has changed in any of these.
    global <- vapply(1:12, function(seed) {
        samples <- heavy_samples(seed)
        set.seed(seed)
        drawn <- draw_layout_shuffles(layout_of(samples), 39, alike = TRUE)
        control <- kliep_control(threads = 1)
        model <- beyond_model(samples, FALSE, control)
        plain <- global_p_value(beyond_null(model, drawn))
        how <- list(shuffles = drawn, again = drawn[1:19], fdr = 0.1,
                    level = 0.1, control = control)
        c(plain, beyond_p_values(samples, integer(), how)$global)
    }, numeric(2))
    expect_true(all(global[2, ] >= global[1, ]))
    expect_lt(sum(global[2, ] <= 0.1), sum(global[1, ] <= 0.1))
    expect_identical(n_again(0.1), 19)
    expect_identical(n_again(0.01), 199)
})

test_that("units stay together where shuffles are ranked again", {
    samples <- heavy_samples(3, n = 40, d = 4)
    donors <- rep(1:20, each = 2)
    samples$design <- list(unit = list(x = donors, y = 20 + donors))
    drawn <- draw_layout_shuffles(layout_of(samples), 19, alike = TRUE)
    model <- beyond_model(samples, FALSE, kliep_control(threads = 1))
    plain <- beyond_null(model, drawn)
    expect_equal(ranked_null(model, drawn)$observed, plain$observed)
    again <- rank_again(model, drawn[[2]])
    of_x <- unique(again$units[1:40])
    expect_length(of_x, 20)
    expect_false(any(again$units[41:80] %in% of_x))
})

test_that("a second test is adjusted for what the first has found", {
    q_value <- c(0.01, 0.05, 0.3, 0.02)
    p_value <- c(0.02, 0.9, 0.001, 0.03)
    expect_equal(confirm(q_value, p_value, 0.1), c(0.045, 0.9, 0.3, 0.045))
})
