# kliep_auto(): the right features for what the data are, with reasons.

picked <- function(chosen) {
    chosen$scores$candidate[chosen$scores$selected]
}

# How often a pattern is picked on pairs of these seeds.
times_picked <- function(simulate, pattern, seeds = 1:3) {
    sum(vapply(seeds, function(seed) {
        set.seed(seed)
        pair <- simulate()
        grepl(pattern, picked(kliep_auto(pair$x, pair$y, nlambda = 8,
                                         folds = 3)))
    }, NA))
}

test_that("the features fit the data", {
    couplings <- ising_chain(6, 0.4)
    ising <- function() sim_ising(couplings, ising_change(couplings, 2), 150)
    expect_equal(times_picked(ising, "Ising"), 3)
    expect_gte(times_picked(function() sim_diamond(d = 4, n = 1000),
                            "polynomial"), 2)
    # The same change of a network, as it is and bent.
    strong <- function(simulate, ...) {
        simulate(d = 8, n = 500, edge = 0.4, change = -0.8, n_changed = 6, ...)
    }
    expect_equal(times_picked(function() strong(sim_gaussian), "^Gaussian$"),
                 3)
    expect_equal(times_picked(function() strong(sim_nonparanormal),
                              "power 2$"), 3)
    expect_equal(times_picked(function() strong(sim_nonparanormal, power = 2),
                              "power 1/2$"), 3)
})

test_that("many coefficients have to explain twice as much", {
    candidates <- list(
        list(label = "simple", spec = kliep_spec()),
        list(label = "rich", spec = kliep_spec(feat_polynomial(4)))
    )
    passed <- function(simple, rich, se = 0.001) {
        # The standard error that counts is that of the best score.
        pass_over(candidates, list(
            data.frame(score = c(simple, NA), se = c(9, NA)),
            data.frame(score = c(-1, rich, NA), se = c(9, se, NA))
        ))
    }
    expect_identical(passed(0.1, 0.19), "rich")
    expect_identical(passed(0.1, 0.21), character())
    # Twice nothing is nothing: then its own error is what it has to beat.
    for (simple in c(-0.1, 0, 1e-6)) {
        expect_identical(passed(simple, 0.01, se = 0.004), character())
        expect_identical(passed(simple, 0.01, se = 0.006), "rich")
        expect_identical(passed(simple, 0.01, se = NA), "rich")
        expect_identical(passed(simple, -0.01), "rich")
    }
    expect_identical(passed(0.1, 0.3, se = 0.2), "rich")
    expect_identical(pass_over(candidates[1], list()), character())
})

test_that("a polynomial that was passed over has its reason", {
    scores <- data.frame(
        candidate = c("simple", "rich"), lambda2 = 0.1, score = c(0.1, 0.15),
        se = 0.01, selected = c(TRUE, FALSE)
    )
    reason <- function(simple, rich, se) {
        scores$score <- c(simple, rich)
        scores$se <- se
        say_passed_over(list(scores = scores), "rich")
    }
    expect_match(reason(0.1, 0.15, 0.01), "but not twice as much")
    expect_match(reason(-0.01, 0.02, 0.015),
                 "within two standard errors \\(0.015 each\\) of nothing")
    expect_null(reason(0.1, 0.05, 0.01))
})

test_that("where nothing has changed there is seldom a polynomial", {
    nothing <- function() sim_gaussian(d = 4, n = 300, n_changed = 0)
    # Any score above zero would be enough for four of these.
    expect_lte(times_picked(nothing, "polynomial", seeds = 15:40), 1)
})

test_that("a choice comes with its reasons, and is a selection", {
    set.seed(1)
    pair <- sim_gaussian(d = 8, n = 400, n_changed = 4)
    chosen <- kliep_auto(pair$x, pair$y, nlambda = 8, folds = 3)
    expect_s3_class(chosen, c("kliep_auto", "kliep_select"), exact = TRUE)
    expect_output(print(chosen), "There are 400 \\+ 400 observations of 8")
    expect_output(print(chosen), "Tried by 3-fold cross-validation: Gaussian;")
    expect_output(print(chosen), paste0("Chose ", picked(chosen)))
    expect_identical(edges(chosen), edges(chosen$fit))
    expect_length(predict(chosen, pair$y), 400)
    expect_equal(chosen$fit$spec$direction, "symmetric")
    expect_true(all(is.finite(chosen$scores$score)))
})

test_that("what is tried depends on size and tails", {
    candidates <- function(x, y) {
        names(propose_specs(look_at_samples(list(x = x, y = y))))
    }
    set.seed(2)
    x <- matrix(rnorm(150 * 5), 150)
    expect_length(candidates(x, x[150:1, ] + 0.1), 4)
    # Few observations, heavy tails.
    expect_false(any(grepl("polynomial", candidates(x[1:50, ], x[51:99, ]))))
    tails <- matrix(stats::rt(150 * 5, 2), 150)
    expect_identical(candidates(tails, -tails),
                     c("Gaussian", "nonparanormal, power 1/2"))
    expect_true(look_at_samples(list(x = x > 0, y = x > 1))$two_valued)
    two <- data.frame(a = factor(rep(c("yes", "no"), 40)), b = rep(1:2, 40))
    expect_identical(candidates(two, two[80:1, ]), "Ising")
    counts <- matrix(stats::rpois(300, 4), 60)
    seen <- look_at_samples(list(x = counts, y = counts[60:1, ]))
    expect_true(seen$counts)
    expect_match(say_seen(seen), "counts")
})

test_that("one table and a group will do, and nonsense will not", {
    set.seed(3)
    pair <- sim_gaussian(d = 5, n = 60, n_changed = 2)
    both <- rbind(pair$x, pair$y)
    group <- rep(c("a", "b"), each = 60)
    set.seed(1)
    chosen <- kliep_auto(both, group = group, nlambda = 5, folds = 3)
    expect_s3_class(chosen, "kliep_auto")
    expect_error(kliep_auto(pair$x, "a"), class = "kliep_error")
    expect_error(kliep_auto(pair$x, pair$y, folds = 1),
                 class = "kliep_error_folds")
    expect_error(kliep_auto(pair$x, pair$y, features = feat_gaussian()),
                 class = "kliep_error")
})
