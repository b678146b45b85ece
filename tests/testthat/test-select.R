select_pair <- function(d = 6, n = 60, seed = 1) random_pair(d, n, seed = seed)

test_that("the score is the log-likelihood of what was held out", {
    pair <- select_pair()
    new <- select_pair(n = 40, seed = 2)
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- kliep_path(pair$x, pair$y, nlambda = 6, direction = direction)
        got <- holdout_scores(path, new$x, new$y)
        for (step in seq_along(path$lambda2)) {
            s_x <- predict(path, new$x, path$lambda2[step], sample = "x")
            s_y <- predict(path, new$y, path$lambda2[step])
            forward <- mean(s_x) - log(mean(exp(s_y)))
            backward <- mean(-s_y) - log(mean(exp(-s_x)))
            expect_equal(got$score[step], switch(
                direction, "p/q" = forward, "q/p" = backward,
                symmetric = forward + backward
            ))
            expect_equal(got$kl[step], forward)
        }
    }
})

test_that("the logistic score is the gain over guessing, at the best level", {
    set.seed(1)
    s_x <- matrix(rnorm(60, 1, 2), 20)
    s_y <- matrix(rnorm(90, -1, 3), 30)
    got <- logistic_scores(s_x, s_y)
    for (k in 1:3) {
        gain <- function(c) {
            (mean(plogis(s_x[, k] + c, log.p = TRUE)) +
                mean(plogis(-s_y[, k] - c, log.p = TRUE))) / 2 + log(2)
        }
        best <- optimize(gain, c(-10, 10), maximum = TRUE, tol = 1e-10)
        expect_equal(got$score[k], best$objective, tolerance = 1e-8)
    }
    none <- logistic_scores(0 * s_x, 0 * s_y)
    expect_equal(none$score, c(0, 0, 0))
    expect_equal(none$se, c(0, 0, 0))
    # However large a ratio is, what it gains is bounded.
    sure <- logistic_scores(1e6 + s_x, -1e6 + s_y)
    expect_equal(sure$score, rep(log(2), 3))
    expect_length(logistic_scores(s_x[, 0], s_y[, 0])$score, 0)
})

test_that("the standard error is that of repeated hold-out samples", {
    pair <- select_pair(d = 3, n = 200)
    for (direction in c("p/q", "q/p", "symmetric")) {
        fit <- kliep_change(pair$x, pair$y, lambda1 = 3, lambda2 = 0.05,
                            direction = direction)
        set.seed(1)
        runs <- lapply(seq_len(200), function(run) {
            draw <- function() matrix(rnorm(500 * 3), 500)
            holdout_scores(fit, draw() + 0.2 * draw(), draw())
        })
        runs <- do.call(rbind, runs)
        # 200 runs know a standard deviation to 5 %.
        expect_equal(mean(runs$se), sd(runs$score), tolerance = 0.2)
    }
})

test_that("scores survive ratios that overflow", {
    pair <- select_pair(d = 3, n = 20)
    path <- kliep_path(pair$x, pair$y, lambda1 = 1e-4, nlambda = 5)
    far <- 1e3 * pair$y
    scores <- holdout_scores(path, pair$x, far)
    expect_true(all(is.finite(scores$score)))
    expect_lt(min(scores$score), -1e4)
})

test_that("cross-validation is the mean over folds that anyone can repeat", {
    pair <- select_pair()
    full <- kliep_path(pair$x, pair$y, nlambda = 8)
    set.seed(4)
    chosen <- kliep_select(pair$x, pair$y, lambda2 = full$lambda2, folds = 3,
                           repeats = 1)
    set.seed(4)
    parts <- draw_folds(60, 60, 3)
    by_hand <- vapply(1:3, function(fold) {
        path <- kliep_path(pair$x[parts$x != fold, ],
                           pair$y[parts$y != fold, ], lambda2 = full$lambda2)
        holdout_scores(path, pair$x[parts$x == fold, ],
                       pair$y[parts$y == fold, ], "logistic")$score
    }, numeric(8))
    expect_equal(chosen$scores$score, rowMeans(by_hand))
    expect_equal(chosen$scores$se, apply(by_hand, 1, sd) / sqrt(3))
    expect_identical(chosen$scores$lambda2, full$lambda2)
    best <- which.max(rowMeans(by_hand))
    expect_identical(chosen$fit$lambda2, full$lambda2[best])
    expect_equal(coef(chosen), coef(full, full$lambda2[best]))
    expect_equal(edges(chosen), edges(full, full$lambda2[best])[1:3])
    expect_equal(predict(chosen, pair$y),
                 predict(full, pair$y, full$lambda2[best]))
})

test_that("folds are of nearly equal size and follow the seed", {
    set.seed(1)
    parts <- draw_folds(23, 17, 5)
    expect_lte(diff(range(table(parts$x))), 1)
    expect_lte(diff(range(table(parts$y))), 1)
    set.seed(1)
    expect_identical(draw_folds(23, 17, 5), parts)
    expect_false(identical(draw_folds(23, 17, 5), parts))
})

test_that("unless asked, folds follow from the observations alone", {
    set.seed(1)
    samples <- list(x = matrix(rnorm(23 * 3), 23),
                    y = matrix(rnorm(17 * 3), 17))
    divide <- function(samples) {
        divide_samples(samples, list(repeats = NULL, folds = 5))
    }
    known <- divide(samples)
    state <- .Random.seed
    expect_identical(divide(samples), known)
    expect_identical(.Random.seed, state)
    expect_length(known, 10)
    expect_length(unique(known), 10)
    for (parts in known) {
        expect_identical(parts$folds, 5)
        expect_lte(diff(range(table(parts$x))), 1)
        expect_lte(diff(range(table(parts$y))), 1)
    }
    # In another order every row stays in its fold.
    at <- list(x = sample(23), y = sample(17))
    moved <- divide(list(x = samples$x[at$x, ], y = samples$y[at$y, ]))
    expect_identical(lapply(moved, `[[`, "x"),
                     lapply(known, function(parts) parts$x[at$x]))
    expect_identical(lapply(moved, `[[`, "y"),
                     lapply(known, function(parts) parts$y[at$y]))
    # The first column says no more than chance about the fold.
    first <- vapply(known, function(parts) {
        summary(stats::lm(samples$x[, 1] ~ factor(parts$x)))$r.squared
    }, 0)
    expect_lt(abs(mean(first) - 4 / 22), 0.12)
})

test_that("such folds are made of whole units and pairs", {
    set.seed(2)
    rows <- function(n) matrix(rnorm(n * 2), n)
    samples <- list(x = rows(24), y = rows(24))
    donors <- rep(1:12, each = 2)
    divide <- function(design) {
        divide_samples(c(samples, list(design = design)),
                       list(repeats = NULL, folds = 3))
    }
    for (parts in divide(list(unit = list(x = donors, y = donors)))) {
        for (side in c("x", "y")) {
            together <- tapply(parts[[side]], donors, function(fold) {
                length(unique(fold))
            })
            expect_true(all(together == 1))
            expect_identical(as.vector(table(parts[[side]])), rep(8L, 3))
        }
    }
    other <- sample(24)
    for (parts in divide(list(pair = list(x = 1:24, y = other)))) {
        expect_identical(parts$x[other], parts$y)
    }
})

test_that("candidates are all combinations, each with its own grid", {
    pair <- select_pair(d = 4, n = 40)
    set.seed(1)
    chosen <- kliep_select(
        pair$x, pair$y, lambda1 = c(0.1, 1), nlambda = 5, folds = 2,
        # With this no grid goes on.
        lambda_min_ratio = 0.1,
        features = list(feat_gaussian(), cubic = feat_polynomial(3))
    )
    expect_identical(unique(chosen$scores$features), c("gaussian", "cubic"))
    expect_identical(unique(chosen$scores$candidate), c(
        "gaussian, lambda1 = 0.1", "gaussian, lambda1 = 1",
        "cubic, lambda1 = 0.1", "cubic, lambda1 = 1"
    ))
    expect_identical(nrow(chosen$scores), 20L)
    expect_identical(sum(chosen$scores$selected), 1L)
    grids <- split(chosen$scores$lambda2, chosen$scores$candidate)
    expect_true(all(lengths(grids) == 5L))
    given <- kliep_select(pair$x, pair$y, lambda1 = c(0.1, 1), folds = 2,
                          lambda2 = c(0.3, 0.1))
    # No change may be added to one of them.
    grids <- split(given$scores$lambda2, given$scores$candidate)
    expect_identical(lapply(unname(grids), tail, 2),
                     list(c(0.3, 0.1), c(0.3, 0.1)))
})

test_that("hold-out samples give the same as their scores", {
    pair <- select_pair()
    new <- select_pair(n = 30, seed = 9)
    chosen <- kliep_select(pair$x, pair$y, nlambda = 6, newx = new$x,
                           newy = new$y)
    expect_identical(chosen$criterion, "holdout")
    path <- kliep_path(pair$x, pair$y, nlambda = 6)
    expect_equal(chosen$scores[c("score", "se", "kl")],
                 holdout_scores(path, new$x, new$y, "logistic"))
    by_likelihood <- kliep_select(pair$x, pair$y, nlambda = 6, newx = new$x,
                                  newy = new$y, score = "likelihood")
    expect_equal(by_likelihood$scores[c("score", "se", "kl")],
                 holdout_scores(path, new$x, new$y))
    expect_equal(kl_divergence(chosen)$holdout,
                 chosen$scores$kl[chosen$scores$selected])
})

test_that("the divergence elsewhere on the path is the one held out there", {
    pair <- select_pair()
    new <- select_pair(n = 30, seed = 9)
    chosen <- kliep_select(pair$x, pair$y, lambda1 = c(0.1, 1), nlambda = 6,
                           newx = new$x, newy = new$y)
    path <- chosen$path
    for (step in c(2, 6)) {
        lambda2 <- path$lambda2[step]
        expect_equal(kl_divergence(chosen, lambda2 = lambda2),
                     kl_divergence(path, new$x, new$y, lambda2))
    }
    folded <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3)
    other <- which(!folded$scores$selected)[1]
    got <- kl_divergence(folded, lambda2 = folded$path$lambda2[other])
    expect_equal(got$lambda2, folded$path$lambda2[other])
    expect_equal(got$fitted, kl_divergence(folded$path)$fitted[other])
    expect_equal(got$holdout, folded$scores$kl[other])
})

test_that("one standard error picks the sparsest that is nearly as good", {
    table <- data.frame(candidate = rep(c("a", "b"), each = 4),
                        lambda2 = rep(c(4, 3, 2, 1), 2),
                        terms = 1,
                        score = c(1, 2, 5, 4, 4.5, 4.6, 4.7, 4.8),
                        se = rep(1.2, 8))
    expect_identical(choose_row(table, "best"), 3L)
    expect_identical(choose_row(table, "1se"), 3L)
    table$score[2] <- 3.9
    expect_identical(choose_row(table, "1se"), 2L)
    table$se[3] <- NA
    expect_identical(choose_row(table, "1se"), 3L)
})

test_that("no change wins where no score is above zero for certain", {
    table <- data.frame(candidate = rep(c("a", "b"), each = 2), terms = 1,
                        lambda2 = c(2, 1, 2, 1), score = c(0, -1, 0, -2),
                        se = 0.1)
    expect_identical(choose_row(table, "best"), 1L)
    table$score[4] <- 0.09
    # Of the candidate with the fewest coefficients, the first of them.
    expect_identical(choose_row(table, "best"), 1L)
    table$terms <- c(6, 6, 1, 1)
    expect_identical(choose_row(table, "best"), 3L)
    table$score[4] <- 0.11
    expect_identical(choose_row(table, "best"), 4L)
    # The scores of another method are not zero without a change.
    table$terms <- NA
    table$score <- table$score - 5
    expect_identical(choose_row(table, "best"), 4L)
})

test_that("no change wins over a grid that has edges everywhere", {
    set.seed(2)
    draw <- function() matrix(rnorm(40 * 6), 40)
    x <- draw()
    y <- draw()
    below <- c(0.1, 0.05)
    expect_true(all(kliep_path(x, y, lambda2 = below)$diagnostics$n_edges > 0))
    by_folds <- kliep_select(x, y, lambda2 = below)
    expect_lt(max(by_folds$scores$score[-1]), 0)
    expect_identical(nrow(edges(by_folds)), 0L)
    expect_identical(by_folds$scores$lambda2[-1], below)
    set.seed(3)
    apart <- kliep_select(x, y, lambda2 = below, newx = draw(), newy = draw())
    expect_equal(apart$scores$score[1], 0)
    expect_match(format(apart), "at lambda2 = 0.6282: no change", all = FALSE)
    # It is that of the simplest candidate, whichever comes first.
    both <- kliep_select(x, y, list(feat_polynomial(3), feat_gaussian()),
                         lambda2 = below)
    expect_identical(both$fit$spec$features$family, "gaussian")
    expect_identical(nrow(edges(both)), 0L)
    expect_identical(nrow(edges(apart)), 0L)
})

test_that("more terms have to lead by more than their standard error", {
    table <- data.frame(candidate = c("one", "six"), terms = c(1, 6),
                        lambda2 = 1, score = c(4, 5), se = c(3, 1.1))
    expect_identical(choose_row(table, "best"), 1L)
    table$se[2] <- 0.9
    expect_identical(choose_row(table, "best"), 2L)
    # Fewer terms win by any lead.
    table$score <- c(5, 4.9)
    expect_identical(choose_row(table, "best"), 1L)
})

test_that("samples of one distribution have no edge to select", {
    found <- vapply(1:6, function(seed) {
        set.seed(seed)
        draw <- function() matrix(rnorm(40 * 6), 40)
        nrow(edges(kliep_select(draw(), draw(), nlambda = 8)))
    }, 1)
    expect_lte(sum(found > 0), 1)
})

test_that("repeats are averaged, and small samples have several", {
    pair <- select_pair(d = 4, n = 40)
    set.seed(3)
    both <- kliep_select(pair$x, pair$y, nlambda = 5, folds = 2, repeats = 2)
    set.seed(3)
    one <- lapply(1:2, function(round) {
        kliep_select(pair$x, pair$y, nlambda = 5, folds = 2, repeats = 1)
    })
    scores <- lapply(one, function(selection) selection$scores[1:5, ])
    expect_equal(both$scores$score[1:5],
                 (scores[[1]]$score + scores[[2]]$score) / 2)
    expect_equal(both$scores$se[1:5]^2,
                 (scores[[1]]$se^2 + scores[[2]]$se^2) / 2)
    several <- function(n) {
        samples <- list(x = matrix(rnorm(n), n), y = matrix(rnorm(500), 500))
        length(divide_samples(samples, list(repeats = NULL, folds = 2)))
    }
    expect_identical(vapply(c(10, 37, 100, 500), several, 1L),
                     c(10L, 9L, 3L, 1L))
    expect_error(kliep_select(pair$x, pair$y, repeats = 0),
                 class = "kliep_error_repeats")
})

test_that("a grid whose end is best goes on, unless it was given", {
    set.seed(1)
    pair <- sim_gaussian(d = 4, n = 500, density = 1, edge = 0.25,
                         n_changed = 6)
    chosen <- kliep_select(pair$x, pair$y, nlambda = 6, lambda1 = 0.01)
    first <- kliep_path(pair$x, pair$y, nlambda = 6, lambda1 = 0.01)$lambda2
    expect_equal(chosen$scores$lambda2[1:6], first)
    expect_gt(nrow(chosen$scores), 6)
    given <- kliep_select(pair$x, pair$y, lambda2 = first, lambda1 = 0.01)
    expect_identical(nrow(given$scores), 6L)
    expect_true(given$open_end)
    expect_match(format(given), "smallest lambda2 has the highest score",
                 all = FALSE)
})

test_that("an unbounded candidate is scored down to its last valid lambda2", {
    pair <- random_pair(8, 15, seed = 3)
    set.seed(2)
    chosen <- kliep_select(pair$x, pair$y, lambda1 = c(0, 1), folds = 3,
                           nlambda = 20, lambda_min_ratio = 0.05)
    ridgeless <- chosen$scores[chosen$scores$lambda1 == 0, ]
    scored <- !is.na(ridgeless$score)
    expect_true(any(scored))
    expect_false(all(scored))
    # Down to the last one, without a gap.
    expect_false(is.unsorted(!scored))
    expect_true(all(is.finite(chosen$scores$score[chosen$scores$lambda1 == 1])))
    expect_error(
        kliep_select(pair$x, pair$y, lambda1 = 0, folds = 3, lambda2 = 1e-4),
        class = "kliep_error_unbounded"
    )
})

test_that("every plan gives the same numbers", {
    skip_on_cran()
    pair <- select_pair(d = 4, n = 40)
    shift <- 0.3
    features <- list(
        feat_gaussian(),
        feat_custom(function(a, b) tanh(a + shift) * tanh(b), function(a) a^2)
    )
    select <- function() {
        set.seed(5)
        kliep_select(pair$x, pair$y, features, nlambda = 5)
    }
    one <- select()
    withr::defer(future::plan("sequential"))
    future::plan("multisession", workers = 2)
    two <- select()
    expect_identical(two$scores, one$scores)
    expect_identical(coef(two), coef(one))
})

test_that("progress is signalled for every path and fold", {
    pair <- select_pair(d = 3, n = 30)
    withr::local_options(progressr.enable = TRUE)
    steps <- 0
    withCallingHandlers(
        kliep_select(pair$x, pair$y, lambda2 = c(0.3, 0.2, 0.1), folds = 4,
                     repeats = 2),
        progression = function(condition) {
            if (condition$type == "update") steps <<- steps + condition$amount
        }
    )
    expect_identical(steps, 1 + 2 * 4)
})

test_that("a selection says what is wrong with its arguments", {
    pair <- select_pair(d = 3, n = 12)
    select <- function(...) kliep_select(pair$x, pair$y, ...)
    refused <- function(class, ...) {
        expect_error(select(...), class = paste0("kliep_error_", class))
    }
    refused("features", features = list())
    refused("features", features = "gaussian")
    refused("features", features = list(feat_gaussian(), 1))
    refused("lambda", lambda1 = numeric())
    refused("lambda", lambda1 = c(0.1, -1))
    refused("lambda", lambda2 = c(0.1, NA))
    refused("folds", folds = 13)
    refused("folds", folds = 1)
    refused("folds", folds = 2.5)
    refused("argument", criterion = "aic")
    refused("argument", rule = "2se")
    refused("argument", criterion = "cv", newx = pair$x, newy = pair$y)
    refused("missing_sample", criterion = "holdout")
    refused("missing_sample", newx = pair$x)
    refused("dimension", newx = pair$x[, 1:2], newy = pair$y)
    refused("dots", lambda3 = 1)
    refused("control", control = list())
    named <- `colnames<-`(pair$y, c("a", "b", "c"))
    refused("dimension", newx = pair$x, newy = named)
    expect_error(kliep_select(pair$x), class = "kliep_error_missing_sample")
    expect_error(kliep_select(pair$x[1:2, ], pair$y, folds = 2),
                 class = "kliep_error_folds")
})

test_that("a fold that cannot be fitted is named", {
    pair <- select_pair(d = 3, n = 12)
    pair$x[, 2] <- c(1, rep(0, 11))
    expect_error(kliep_select(pair$x, pair$y, folds = 3), "Without fold",
                 class = "kliep_error_constant")
})

test_that("a selection prints its choice and draws its scores", {
    pair <- select_pair(d = 4, n = 40)
    set.seed(1)
    chosen <- kliep_select(pair$x, pair$y, list(feat_gaussian(),
                                                feat_polynomial(3)),
                           nlambda = 6)
    expect_output(print(chosen), "5-fold cross-validation")
    expect_output(print(chosen), "candidate +lambda2 +score")
    plot <- ggplot2::autoplot(chosen)
    drawn <- ggplot2::layer_data(plot, 3)
    expect_identical(length(unique(drawn$colour)), 2L)
    expect_setequal(round(drawn$y, 10), round(chosen$scores$score, 10))
    expect_equal(ggplot2::layer_data(plot, 4)$x, -log10(chosen$fit$lambda2))
    grDevices::pdf(NULL)
    withr::defer(grDevices::dev.off())
    expect_identical(plot(chosen)$data, plot$data)
    expect_error(autoplot(chosen, colour = 1), class = "kliep_error_dots")
})

# ---- divergence ------------------------------------------------------------

test_that("the divergence is that of the Gaussians it was drawn from", {
    set.seed(1)
    precision <- list(x = matrix(c(2, 0.8, 0.8, 2), 2), y = diag(2, 2))
    draw <- function(theta, n) matrix(rnorm(2 * n), n) %*% chol(solve(theta))
    x <- draw(precision$x, 20000)
    y <- draw(precision$y, 20000)
    path <- kliep_path(x, y, lambda1 = 0, lambda2 = 1e-3,
                       standardize = "none")
    ratio <- precision$y %*% solve(precision$x)
    truth <- 0.5 * (sum(diag(ratio)) - 2 - log(det(ratio)))
    got <- kl_divergence(path, draw(precision$x, 20000),
                         draw(precision$y, 20000))
    expect_equal(got$fitted, truth, tolerance = 0.1)
    expect_equal(got$holdout, truth, tolerance = 0.1)
    expect_identical(names(got), c("lambda2", "fitted", "holdout"))
})

test_that("the fitted divergence is the mean log ratio over x", {
    pair <- select_pair()
    for (direction in c("p/q", "q/p", "symmetric")) {
        path <- kliep_path(pair$x, pair$y, nlambda = 4, direction = direction)
        means <- vapply(path$lambda2, function(lambda2) {
            mean(predict(path, pair$x, lambda2, sample = "x"))
        }, 0)
        expect_equal(kl_divergence(path)$fitted, means)
        expect_true(all(is.na(kl_divergence(path)$holdout)))
        one <- kl_divergence(path, lambda2 = path$lambda2[3])
        expect_equal(one$fitted, means[3])
    }
    expect_error(kl_divergence(1), class = "kliep_error_type")
    expect_error(kl_divergence(path, newx = pair$x),
                 class = "kliep_error_missing_sample")
})
