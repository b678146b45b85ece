# kliep_auto(): features that suit the data, the edges that changed, and why.

test_that("features suit the data", {
    features <- function(pair) {
        kliep_auto(pair$x, pair$y, n_perm = 19)$spec$features$name
    }
    set.seed(1)
    couplings <- ising_chain(5, 0.4)
    ising <- sim_ising(couplings, ising_change(couplings, 2), 100)
    expect_identical(features(ising), feat_ising()$name)
    gaussian <- sim_gaussian(d = 5, n = 60, n_changed = 2)
    expect_identical(features(gaussian), feat_nonparanormal()$name)
})

test_that("it is kliep_infer() with these features, and says why", {
    set.seed(1)
    pair <- sim_gaussian(d = 8, n = 400, n_changed = 4)
    found <- withr::with_seed(2, kliep_auto(pair$x, pair$y, fdr = 0.2,
                                            level = 0.9))
    expect_s3_class(found, c("kliep_auto", "kliep_infer"), exact = TRUE)
    same <- withr::with_seed(2, kliep_infer(
        pair$x, pair$y, features = feat_nonparanormal(), fdr = 0.2, level = 0.9
    ))
    expect_equal(found$estimates, same$estimates)
    expect_equal(found$global, same$global)
    expect_output(print(found), "There are 400 \\+ 400 observations of 8")
    expect_output(print(found), "normal scores of their ranks")
    expect_output(print(found), "Chance alone does not explain")
    expect_output(print(found), "edges changed; at a false discovery rate")
    expect_match(report_facts(found, "settings")$value, "Chance alone",
                 all = FALSE)
})

test_that("nothing is reported where nothing has changed", {
    set.seed(2)
    x <- sim_gaussian(d = 10, n = 120, n_changed = 0)$x
    found <- kliep_auto(x[1:60, ], x[61:120, ])
    expect_equal(nrow(edges(found)), 0)
    expect_gt(found$global$p_value, 0.1)
    expect_output(print(found), "Chance alone can explain")
    expect_output(print(found), "No change found")
})

test_that("monotone transforms of single variables make no difference", {
    set.seed(3)
    pair <- sim_gaussian(d = 6, n = 100, n_changed = 3)
    bent <- pair
    bent$x[, 2] <- exp(bent$x[, 2])
    bent$y[, 4] <- bent$y[, 4]^3 + 5
    # How far the margins are apart is what `shift` goes by.
    auto <- function(pair) {
        found <- withr::with_seed(1, kliep_auto(pair$x, pair$y))$estimates
        found[names(found) != "shift"]
    }
    expect_equal(auto(bent), auto(pair))
})

test_that("what is seen depends on values and tails", {
    look <- function(x, y) look_at_samples(list(x = x, y = y))
    set.seed(2)
    x <- matrix(rnorm(150 * 5), 150)
    expect_false(look(x, x[150:1, ] + 0.1)$heavy)
    tails <- matrix(stats::rt(150 * 5, 2), 150)
    expect_true(look(tails, -tails)$heavy)
    expect_match(say_features(look(tails, -tails)), "extreme values")
    expect_true(look(x > 0, x > 1)$two_valued)
    two <- data.frame(a = factor(rep(c("yes", "no"), 40)), b = rep(1:2, 40))
    expect_true(look(two, two[80:1, ])$two_valued)
    counts <- matrix(stats::rpois(300, 4), 60)
    seen <- look(counts, counts[60:1, ])
    expect_true(seen$counts)
    expect_match(say_seen(seen), "counts")
    expect_match(say_features(seen), "such as zeros, share their mean rank")
    expect_no_match(say_seen(seen), "zero")
    zeros <- look(counts * (counts > 4), counts[60:1, ] * (counts > 4))
    expect_match(say_seen(zeros), "[0-9]+ % of the values zero")
    expect_no_match(say_features(look(x, -x)), "share their mean rank")
})

test_that("one table and a group will do, and nonsense will not", {
    set.seed(3)
    pair <- sim_gaussian(d = 5, n = 60, n_changed = 2)
    both <- rbind(pair$x, pair$y)
    found <- kliep_auto(both, group = rep(c("a", "b"), each = 60))
    expect_s3_class(found, "kliep_auto")
    expect_error(kliep_auto(pair$x, "a"), class = "kliep_error")
    expect_error(kliep_auto(pair$x, pair$y, fdr = 1),
                 class = "kliep_error_argument")
    expect_error(kliep_auto(pair$x[1:9, ], pair$y),
                 class = "kliep_error_size")
    expect_error(kliep_auto(pair$x, pair$y, spec = kliep_spec()),
                 "chooses the features itself: got `spec`.*kliep_infer",
                 class = "kliep_error_dots")
    expect_error(kliep_auto(pair$x, pair$y, features = feat_gaussian()),
                 "kliep_infer", class = "kliep_error")
})

test_that("every long step has a bar, which ends", {
    withr::local_options(cli.progress_show_after = 0,
                         cli.progress_handlers_only = "logger")
    pair <- random_pair(5, 30)
    shown <- capture.output(
        found <- kliep_auto(pair$x, pair$y, n_perm = 19, progress = TRUE)
    )
    expect_length(grep("created$", shown), 4)
    expect_length(grep("terminated", shown), 4)
    quiet <- capture.output(
        found <- kliep_auto(pair$x, pair$y, n_perm = 19, progress = FALSE)
    )
    expect_length(quiet, 0)
})

test_that("there is no penalty to give", {
    samples <- matrix(0, 3, 2)
    expect_error(kliep_auto(samples, samples, lambda = 0.1),
                 "`kliep_path()` has one, `lambda2`",
                 class = "kliep_error_dots", fixed = TRUE)
})
