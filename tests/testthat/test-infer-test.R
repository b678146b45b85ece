test_pair <- function(d = 6, n = 40, seed = 1) {
    pair <- random_pair(d, n, seed = seed)
    colnames(pair$x) <- colnames(pair$y) <- paste0("g", seq_len(d))
    pair
}

# A change that can be found.
changed_pair <- function(d = 10, n = 300, seed = 1, density = 0.2) {
    set.seed(seed)
    sim_gaussian(d = d, n = n, density = density, edge = 0.4, n_changed = 4,
                 change = -0.8)
}

quick_test <- function(pair, ..., n_perm = 19, seed = 3, folds = 2,
                       nlambda = 6) {
    set.seed(seed)
    kliep_test(pair$x, pair$y, ..., n_perm = n_perm, folds = folds,
               nlambda = nlambda)
}

# Selects on shuffles of a pair, NULL for the pair itself.
selector <- function(pair, ..., block = NULL, align = TRUE, folds = 5,
                     rule = "best") {
    candidates <- check_candidates(NULL, list(...))
    design <- selection_design(folds, rule, NULL, candidates)
    units <- check_units(block, pair, design$folds)
    ready <- prepare_candidates(candidates, pair[c("x", "y")])
    pool <- pool_samples(ready, units, align)
    list(pool = pool, select = function(shuffle, down_to = Inf) {
        select_shuffle(shuffle, pool, ready$problems, design, down_to)
    })
}

# ---- the selection on a shuffle --------------------------------------------

test_that("a shuffle is selected on as kliep_select() would", {
    pair <- test_pair()
    both <- rbind(pair$x, pair$y)
    features <- list(feat_gaussian(), feat_polynomial(3))
    for (rule in c("best", "1se")) {
        for (shuffle in list(NULL, sort(sample.int(80, 40)))) {
            for (lambda1 in c(0.1, 0)) {
                ready <- selector(pair, align = FALSE, features = features,
                                  rule = rule, nlambda = 8, folds = 3,
                                  lambda1 = lambda1, lambda_min_ratio = 0.6)
                set.seed(5)
                got <- ready$select(shuffle)
                at <- if (is.null(shuffle)) 1:40 else shuffle
                set.seed(5)
                chosen <- kliep_select(
                    both[at, ], both[-at, ], features, rule = rule,
                    nlambda = 8, folds = 3, repeats = 1, lambda1 = lambda1,
                    lambda_min_ratio = 0.6
                )
                expect_equal(got$lambda2, chosen$fit$lambda2)
                expect_equal(got$score, max(chosen$scores$score, na.rm = TRUE))
                expect_identical(got$candidate, match(
                    chosen$scores$candidate[chosen$scores$selected],
                    unique(chosen$scores$candidate)
                ))
                found <- edge_weights(chosen$fit)
                expect_setequal(got$detected, edge_key(found, 6))
                expect_equal(got$weight[order(got$detected)],
                             found$weight[order(edge_key(found, 6))])
            }
        }
    }
})

test_that("a path that is cut off has the entries that count", {
    pair <- changed_pair(n = 100)
    select <- selector(pair, nlambda = 20)$select
    shuffle <- seq(2, 200, 2)
    whole <- with_run_seed(1, 1, select(shuffle, 0))
    for (down_to in c(0.05, 0.1, 0.2, Inf)) {
        cut <- with_run_seed(1, 1, select(shuffle, down_to))
        same <- c("candidate", "lambda2", "score", "lambda_max", "detected",
                  "weight")
        expect_identical(cut[same], whole[same])
        count <- function(one) {
            at <- one$enters >= down_to
            one$enters[at][order(one$entered[at])]
        }
        expect_identical(count(cut), count(whole))
        expect_lte(length(cut$entered), length(whole$entered))
    }
})

test_that("scores are looked at until they have fallen", {
    scores <- data.frame(score = c(0, 0.1, NA, -0.2, 0.05, -0.3, 0.6, -1),
                         se = 1:8 / 10, kl = 8:1)
    expect_identical(end_scores(scores, 2), scores)
    # 0.4 below the best, and not 0.3.
    ended <- end_scores(scores, 0.35)
    expect_identical(ended[1:6, ], scores[1:6, ])
    expect_true(all(is.na(ended[7:8, ])))
    expect_identical(end_scores(scores[0, ], 0.35), scores[0, ])
})

test_that("a selection that ends chooses as one that does not", {
    set.seed(2)
    pair <- sim_gaussian(d = 8, n = 30, density = 0.2, edge = 0.4,
                         n_changed = 4, change = -0.8)
    coded <- feat_custom(function(a, b) cbind(a * b, a^2 * b^2))
    for (features in list(feat_gaussian(), feat_polynomial(2), coded)) {
        for (threads in 1:2) {
            spec <- kliep_spec(features, nlambda = 15, lambda_min_ratio = 0.02,
                               control = kliep_control(threads = threads))
            ready <- prepare_candidates(check_candidates(spec, list()), pair)
            parts <- with_run_seed(1, 1, draw_folds(30, 30, 3))
            problem <- ready$problems[[1]]
            whole <- score_problem(problem, ready$samples[[1]], parts, TRUE)
            ended <- score_problem(problem, ready$samples[[1]], parts)
            expect_identical(ended$table, whole$table)
            # The search ends early, and has seen all scores that are high
            # enough.
            looked <- !is.na(ended$table$score)
            expect_lt(sum(looked), 15)
            expect_false(anyNA(whole$scores$score))
            expect_lt(max(whole$scores$score[!looked]),
                      max(ended$table$score[looked]) - 0.3)
        }
    }
})

test_that("the scores of the data show the choice that was made", {
    table <- data.frame(candidate = "a", terms = 1, lambda2 = 4:1)
    choose <- function(score) {
        scores <- data.frame(score = score, se = 0.01, kl = 0)
        ended <- end_scores(scores, most_fall)
        table[c("score", "se")] <- ended[c("score", "se")]
        shown_scores(list(list(scores = scores)), table,
                     choose_row(table, "best"), "best")[[1]]$score
    }
    expect_identical(choose(c(0, 0.2, -0.3, -0.4)), c(0, 0.2, -0.3, -0.4))
    # The last score rises again, after the search has ended: it is not shown.
    expect_identical(choose(c(0, 0.2, -0.3, 0.3)), c(0, 0.2, -0.3, NA))
})

test_that("folds keep blocks whole", {
    unit <- c(1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 6, 6)
    set.seed(1)
    parts <- draw_unit_folds(unit, unit %in% c(1, 3, 5), 3)
    by_unit <- split(parts$x, unit[unit %in% c(1, 3, 5)])
    expect_true(all(lengths(lapply(by_unit, unique)) == 1))
    expect_setequal(parts$x, 1:3)
    expect_setequal(parts$y, 1:3)
    expect_length(parts$y, sum(unit %in% c(2, 4, 6)))
})

test_that("rows move only where they should be blind to location and scale", {
    pair <- test_pair()
    pooled <- selector(pair, features = list(feat_gaussian(), feat_rbf()),
                       standardize = "pooled")
    expect_length(pooled$pool$aligned, 0)
    expect_length(selector(pair, align = FALSE)$pool$aligned, 0)
    aligned <- selector(pair)$pool$aligned$plain
    both <- align_samples(pair$x, pair$y)
    expect_equal(aligned, rbind(both$x, both$y))
    moved <- pair
    moved$x <- sweep(sweep(pair$x, 2, 1:6, "*"), 2, 6:1)
    test <- quick_test(pair)
    same <- quick_test(moved)
    expect_equal(same[c("edges", "global", "shuffles")],
                 test[c("edges", "global", "shuffles")])
    other <- quick_test(moved, align = FALSE)
    expect_false(isTRUE(all.equal(other$shuffles, test$shuffles)))
})

# ---- p-values --------------------------------------------------------------

# What select_shuffle() returns, made up.
made_up <- function(entered, enters, detected = entered, candidate = 1L,
                    lambda_max = 1, score = 0) {
    list(candidate = candidate, lambda2 = 0.1, score = score,
         lambda_max = lambda_max, detected = detected,
         weight = rep(0.5, length(detected)), entered = entered,
         enters = enters, scores = NULL)
}

judge <- function(observed, shuffled, alpha = 0.25, adjust = "maxT",
                  keep = "adjusted", candidates = list(list(label = "a"))) {
    path <- kliep_path(test_pair(d = 9)$x, test_pair(d = 9, seed = 2)$y,
                       nlambda = 2)
    new_kliep_test(list(observed = observed, done = list(
        values = shuffled, failures = data.frame()
    )), list(alpha = alpha, adjust = adjust, keep = keep),
                   candidates, NULL, list(path = path))
}

test_that("p-values count the data and ties", {
    keys <- edge_key(data.frame(from = c(1, 2, 3), to = c(2, 5, 9)), 9)
    observed <- made_up(keys, c(0.8, 0.5, 0.5), score = 0.3)
    shuffled <- list(
        made_up(keys[1:2], c(0.9, 0.2), keys[1], score = 0.3),
        made_up(keys, c(0.1, 0.5, 0.4), keys[2:3], score = -0.1),
        made_up(numeric(), numeric(), score = 0.1),
        # Another edge altogether.
        made_up(12, 0.6, score = 0.4)
    )
    test <- judge(observed, shuffled)
    expect_identical(test$edges$from, c("g1", "g2", "g3"))
    expect_identical(test$edges$to, c("g2", "g5", "g9"))
    expect_equal(test$edges$p_value, c(2, 2, 1) / 5)
    # maxT: the largest are 0.9, 0.5, 0, 0.6; without the first edge 0.2, 0.5,
    # 0, 0.6, and the first edge's own p-value is a lower bound.
    expect_equal(test$edges$p_adjusted, c(2, 3, 3) / 5)
    expect_identical(test$edges$shuffles, c(1L, 1L, 1L))
    expect_identical(test$edges$paper, rep(TRUE, 3))
    expect_identical(test$edges$kept, rep(FALSE, 3))
    expect_equal(test$global$p_value, 3 / 5)
    expect_identical(judge(observed, shuffled, alpha = 0.4)$edges$kept,
                     c(TRUE, FALSE, FALSE))
    expect_identical(judge(observed, shuffled, keep = "paper")$edges$kept,
                     rep(TRUE, 3))
    expect_identical(judge(observed, shuffled, keep = "paper",
                           alpha = 0.24)$edges$kept, rep(FALSE, 3))
    for (method in stats::p.adjust.methods) {
        expect_equal(
            judge(observed, shuffled, adjust = method)$edges$p_adjusted,
            # Edges that are not detected have p-value 1.
            p.adjust(c(c(2, 2, 1) / 5, rep(1, 33)), method)[1:3]
        )
    }
})

test_that("maxT is that of its definition", {
    set.seed(1)
    keys <- edge_key(expand.grid(from = 1:3, to = 4:9), 9)
    draw <- function() {
        entered <- sample(keys, 10)
        made_up(entered, sample(seq(0.1, 1, 0.1), 10, TRUE),
                sample(entered, 6))
    }
    for (round in 1:20) {
        observed <- draw()
        shuffled <- replicate(30, draw(), simplify = FALSE)
        test <- judge(observed, shuffled)
        statistic <- test$edges$enters
        key <- edge_key(data.frame(
            from = as.numeric(sub("g", "", test$edges$from)),
            to = as.numeric(sub("g", "", test$edges$to))
        ), 9)
        one <- vapply(seq_along(key), function(k) {
            left <- setdiff(keys, key[statistic > statistic[k]])
            reach <- vapply(shuffled, function(shuffle) {
                at <- shuffle$entered %in% left
                max(0, shuffle$enters[at]) >= statistic[k]
            }, NA)
            (1 + sum(reach)) / 31
        }, 1)
        expect_equal(test$edges$p_adjusted, cummax(one))
        expect_true(all(test$edges$p_adjusted >= test$edges$p_value))
    }
})

test_that("candidates are compared in units of their own", {
    two <- list(list(label = "a"), list(label = "b"))
    observed <- made_up(12, 0.5, lambda_max = c(1, 10))
    shuffled <- list(made_up(12, 6, candidate = 2L, lambda_max = c(1, 10)),
                     made_up(12, 4, candidate = 2L, lambda_max = c(1, 10)))
    test <- judge(observed, shuffled, candidates = two)
    expect_equal(test$edges$p_value, 2 / 3)
    expect_equal(test$shuffles$enters, c(0.6, 0.4))
    expect_identical(test$shuffles$candidate, c("b", "b"))
})

test_that("nothing detected is a result", {
    test <- judge(made_up(numeric(), numeric()), list(made_up(12, 1)))
    expect_identical(dim(test$edges), c(0L, 9L))
    for (method in c("BH", "hommel")) {
        expect_identical(nrow(edges(judge(made_up(numeric(), numeric()),
                                          list(made_up(12, 1)),
                                          adjust = method))), 0L)
    }
    expect_s3_class(autoplot(test), "ggplot")
})

test_that("edges that cannot be detected do not count", {
    pair <- test_pair(d = 4)
    possible <- function(...) {
        n_possible_edges(kliep_path(pair$x, pair$y, nlambda = 2, ...))
    }
    expect_equal(possible(), 6)
    expect_equal(possible(penalty_factor = c(single = 0, edge = 1)), 6)
    weights <- matrix(1, 4, 4)
    weights[1, 2] <- weights[2, 1] <- weights[3, 3] <- Inf
    expect_equal(possible(penalty_factor = weights), 5)
    expect_equal(possible(features = feat_cliques(list(1:3, c(2, 3), 4))), 3)
})

# ---- what it is for --------------------------------------------------------

test_that("where nothing has changed, hardly anything is kept", {
    set.seed(1)
    runs <- lapply(1:16, function(run) {
        pair <- sim_gaussian(d = 6, n = 60, n_changed = 0)
        # Where nothing is detected there would be nothing to keep.
        kliep_test(pair$x, pair$y, n_perm = 19, lambda2 = c(0.3, 0.2))
    })
    detected <- vapply(runs, function(test) nrow(test$edges) > 0, NA)
    found <- vapply(runs, function(test) nrow(edges(test)) > 0, NA)
    expect_gte(sum(detected), 4)
    expect_lte(sum(found), 1)
    p_value <- vapply(runs, function(test) test$global$p_value, 1)
    expect_lte(sum(p_value <= 0.05), 3)
    expect_gt(mean(p_value), 0.3)
})

test_that("where edges have changed, these are kept and others dropped", {
    pair <- changed_pair(d = 12, n = 400)
    test <- quick_test(pair, folds = 5, nlambda = 20)
    truth <- paste(pair$truth$from, pair$truth$to)
    true <- paste(test$edges$from, test$edges$to) %in% truth
    expect_gte(sum(true & test$edges$kept), 3)
    expect_gte(sum(!true), 3)
    expect_lte(sum(!true & test$edges$kept), 1)
    expect_equal(test$global$p_value, 1 / 20)
    kept <- edges(test)
    expect_identical(names(kept), c("from", "to", "weight", "enters",
                                    "shuffles", "p_value", "p_adjusted"))
    expect_identical(nrow(kept), sum(test$edges$kept))
    chosen <- edges(test$selection)
    expect_setequal(paste(test$edges$from, test$edges$to),
                    paste(chosen$from, chosen$to))
})

test_that("splits of one heavy-tailed sample are not told apart", {
    set.seed(7)
    splits <- replicate(12, simplify = FALSE, {
        pair <- sim_gaussian(d = 10, n = 80, n_changed = 0)
        one <- rbind(pair$x, pair$y) / sqrt(rchisq(160, 3) / 3)
        list(x = one[1:80, ], y = one[81:160, ])
    })
    for (align in c(TRUE, FALSE)) {
        p_values <- vapply(splits, function(pair) {
            quick_test(pair, align = align, nlambda = 4)$global$p_value
        }, 1)
        expect_lte(sum(p_values <= 0.05), 2)
        expect_gt(mean(p_values), 0.3)
    }
})

test_that("location and scale of the variables are no change", {
    elsewhere <- function(y) {
        d <- ncol(y)
        sweep(sweep(y, 2, exp(rnorm(d)), "*"), 2, 3 * rnorm(d), "+")
    }
    set.seed(8)
    pairs <- replicate(10, simplify = FALSE, {
        pair <- sim_gaussian(d = 8, n = 60, n_changed = 0)
        list(x = pair$x, y = elsewhere(pair$y))
    })
    p_values <- vapply(pairs, function(pair) {
        quick_test(pair, nlambda = 4)$global$p_value
    }, 1)
    expect_lte(sum(p_values <= 0.05), 2)
    expect_gt(mean(p_values), 0.3)
    # And do not hide one.
    pair <- changed_pair()
    pair$y <- elsewhere(pair$y)
    expect_equal(quick_test(pair)$global$p_value, 1 / 20)
})

test_that("which sample is called x makes no difference to the global test", {
    for (n in c(40, 30)) {
        pair <- test_pair()
        pair$x <- pair$x[1:n, ]
        turned <- quick_test(list(x = pair$y, y = pair$x))
        test <- quick_test(pair)
        expect_equal(turned$global$p_value, test$global$p_value)
        expect_equal(turned$shuffles$largest, test$shuffles$largest)
    }
})

test_that("the global test is that of kliep_infer() on the shuffles", {
    pair <- test_pair()
    test <- quick_test(pair, align = FALSE)
    expect_identical(test$global$test, "edges")
    seen <- plain_moderate(plain_empty(pair$x, pair$y))$z
    expect_equal(test$global$largest, max(abs(seen)), tolerance = 1e-8)
    expect_equal(test$global$squares, sum(seen^2), tolerance = 1e-8)
    expect_equal(quick_test(pair)$global$largest, test$global$largest)
    expect_equal(glance(test)$statistic, test$global$largest)
    # Of powers, where these are the features.
    root <- quick_test(pair, features = feat_nonparanormal(0.5))
    signed <- lapply(pair, function(sample) {
        sample <- scale(sample)
        sign(sample) * sqrt(abs(sample))
    })
    seen <- rust_shuffle_null(signed$x, signed$y, matrix(1:40), 1L)$observed
    expect_equal(root$global$largest, seen[1])
    # Blocks of several sizes.
    days <- rep(1:7, c(3, 4, 5, 6, 7, 7, 8))
    blocks <- quick_test(pair, block = list(x = days, y = days))
    expect_identical(blocks$global$test, "edges")
    expect_equal(blocks$global$largest, test$global$largest)
    # By the score where there is more to compare than correlations.
    for (other in list(quick_test(pair, standardize = "none"),
                       quick_test(pair, features = feat_polynomial(2)),
                       quick_test(test_pair(n = 9)))) {
        expect_identical(other$global$test, "score")
        expect_true(all(is.na(other$shuffles$largest)))
        expect_equal(other$global$p_value, p_value_of(other$global$score,
                                                      other$shuffles$score))
    }
})

test_that("the better of two ranks is ranked again", {
    null <- list(observed = c(9, 5), largest = c(1:8, 10), squares = 1:9)
    # Second in one; so is the shuffle that is third in the other, and the last
    # is first in both.
    expect_equal(global_p_value(null), 3 / 10)
    null$observed <- c(11, 0)
    # First in one; so is the last shuffle, which has the better other rank.
    expect_equal(global_p_value(null), 2 / 10)
    null$observed <- c(11, 10)
    expect_equal(global_p_value(null), 1 / 10)
    null$observed <- c(0, 0)
    expect_equal(global_p_value(null), 1)
    # Uniform where the data are one of the shuffles.
    withr::local_seed(1)
    p_values <- replicate(2000, {
        values <- rnorm(20)
        other <- values + rnorm(20)
        global_p_value(list(observed = c(values[1], other[1]),
                            largest = values[-1], squares = other[-1]))
    })
    expect_lt(abs(mean(p_values <= 0.05) - 0.05), 0.015)
    expect_lt(abs(mean(p_values <= 0.5) - 0.5), 0.035)
})

test_that("blocks guard against dependence in time", {
    series <- function(n, d = 4, rho = 0.9) {
        noise <- matrix(rnorm(n * d), n)
        apply(noise, 2, stats::filter, rho, method = "recursive")
    }
    set.seed(1)
    p_values <- vapply(1:8, function(run) {
        pair <- list(x = series(100), y = series(100))
        c(rows = quick_test(pair, seed = run)$global$p_value,
          blocks = quick_test(pair, seed = run, block = 20)$global$p_value)
    }, numeric(2))
    rejected <- rowSums(p_values <= 0.1)
    expect_gte(rejected[["rows"]], 6)
    expect_lte(rejected[["blocks"]], 2)
})

test_that("blocks of one row are as good as none", {
    pair <- test_pair()
    parts <- c("edges", "global", "shuffles")
    expect_identical(quick_test(pair, block = 1)[parts],
                     quick_test(pair)[parts])
})

test_that("other features and several candidates go through", {
    set.seed(1)
    network <- ising_chain(5, 0.5)
    pair <- sim_ising(network, ising_change(network, 2), 60)
    words <- function(sample) {
        as.data.frame(ifelse(sample > 0, "yes", "no"), stringsAsFactors = TRUE)
    }
    test <- quick_test(list(x = words(pair$x), y = words(pair$y)),
                       features = feat_ising())
    same <- quick_test(pair, features = feat_ising())
    expect_equal(test$edges, same$edges)
    expect_length(predict(test$selection, words(pair$y)), 60)
    test <- quick_test(pair, lambda1 = c(0.1, 1), standardize = "none",
                       features = list(feat_ising(), feat_gaussian()))
    expect_length(unique(test$selection$scores$candidate), 4)
    test <- quick_test(test_pair(d = 5), spec = kliep_spec_paper(), lambda1 = 0,
                       lambda2 = c(0.5, 0.3, 0.05))
    expect_true(all(test$edges$enters %in% c(0.5, 0.3, 0.05)))
})

test_that("cliques of two and of one give the p-values of the family", {
    pair <- changed_pair(d = 5, n = 150, density = 0.6)
    sets <- c(utils::combn(5, 2, simplify = FALSE), 5:1)
    squares <- function(z) {
        apply(z, 1, prod) * if (ncol(z) == 1) z[, 1] else 1
    }
    family <- quick_test(pair, normalizer = "empirical")
    cliques <- quick_test(pair, features = feat_cliques(sets, squares))
    expect_gt(length(unique(family$edges$p_value)), 2)
    columns <- c("from", "to", "shuffles", "p_value", "p_adjusted", "kept")
    expect_equal(cliques$edges[columns], family$edges[columns])
    expect_equal(cliques$edges$enters, family$edges$enters, tolerance = 1e-6)
})

test_that("the edges of a clique share its entry and its p-value", {
    pair <- changed_pair(d = 5, n = 150, density = 0.6, seed = 3)
    # The products of neighbours in a circle.
    circle <- function(z) z * z[, c(2:ncol(z), 1)]
    test <- quick_test(pair, features = feat_cliques(list(1:3, 4:5), circle))
    together <- test$edges[test$edges$to != "V5", ]
    expect_setequal(paste(together$from, together$to),
                    c("V1 V2", "V1 V3", "V2 V3"))
    for (column in c("enters", "shuffles", "p_value", "p_adjusted")) {
        expect_length(unique(together[[column]]), 1)
    }
})

# ---- plans, checkpoints, failures ------------------------------------------

test_that("one seed gives one result, whatever the threads", {
    pair <- test_pair()
    test <- quick_test(pair)
    expect_identical(quick_test(pair), test)
    expect_false(identical(quick_test(pair, seed = 4)$shuffles,
                           test$shuffles))
    one <- quick_test(pair, control = kliep_control(threads = 1))
    two <- quick_test(pair, control = kliep_control(threads = 2))
    parts <- c("edges", "global", "shuffles")
    expect_identical(one[parts], two[parts])
    # The caller's generator moves by one number.
    set.seed(3)
    sample.int(.Machine$integer.max, 1)
    expected <- runif(1)
    quick_test(pair)
    expect_identical(runif(1), expected)
})

test_that("progress is signalled for every shuffle", {
    withr::local_options(progressr.enable = TRUE)
    steps <- 0
    withCallingHandlers(
        quick_test(test_pair(d = 3), n_perm = 7, alpha = 0.2),
        progression = function(condition) {
            if (condition$type == "update") steps <<- steps + condition$amount
        }
    )
    expect_equal(steps, 1 + 7)
})

test_that("a shuffle that fails is reported with its seed and left out", {
    pair <- test_pair(d = 3, n = 24)
    # In a shuffle few values but zeros may be left to one sample.
    pair$x[, 1] <- pair$y[, 1] <- rep(c(1, rep(0, 7)), 3)
    warned <- NULL
    test <- withCallingHandlers(
        quick_test(pair, n_perm = 40, folds = 2, nlambda = 3, align = FALSE),
        kliep_warning_replicate = function(condition) {
            warned <<- conditionMessage(condition)
            invokeRestart("muffleWarning")
        }
    )
    failed <- nrow(test$failures)
    expect_gt(failed, 0)
    expect_lt(failed, 30)
    expect_match(warned, paste(failed, "of 40 replicates of kliep_test\\(\\)"))
    expect_match(test$failures$message[1], "constant")
    expect_identical(test$n_perm, 40L - failed)
    expect_identical(nrow(test$shuffles), 40L - failed)
    expect_match(paste(format(test), collapse = "\n"),
                 paste("failed +", failed))
})

run_script <- function(folder, plan) {
    c(
        "library(kliepnet)",
        paste0("future::plan(", plan, ")"),
        "set.seed(1)",
        "pair <- sim_gaussian(d = 6, n = 60, n_changed = 3)",
        paste0("run <- function(checkpoint) {"),
        "    set.seed(2)",
        "    kliep_test(pair$x, pair$y, n_perm = 50, folds = 2, nlambda = 6,",
        "               checkpoint = checkpoint)",
        "}",
        paste0("folder <- '", folder, "'")
    )
}

# Starts the test in another process, ends that by force once some shuffles
# are written, and gives their number.
kill_midway <- function(folder, plan, after = 15) {
    script <- withr::local_tempfile(
        fileext = ".R", lines = c(run_script(folder, plan), "run(folder)")
    )
    child <- processx::process$new(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
        env = c("current", R_LIBS = paste(.libPaths(), collapse = ":")),
        cleanup_tree = TRUE
    )
    withr::defer(end_tree(child))
    written <- function() length(list.files(folder, "^replicate.*checkpoint$"))
    until <- Sys.time() + 600
    while (written() < after && child$is_alive() && Sys.time() < until) {
        Sys.sleep(0.005)
    }
    child$signal(9)
    child$wait()
    end_tree(child)
    written()
}

test_that("kill -9 in the middle, and the call repeated: the same object", {
    skip_on_cran()
    skip_if_not_installed("processx")
    here <- new.env(parent = globalenv())
    old <- future::plan()
    withr::defer(future::plan(old))
    eval(parse(text = run_script("", "'sequential'")), here)
    whole <- here$run(NULL)
    for (plan in c("'sequential'", "'multisession', workers = 2")) {
        # On a busy machine all may be done before it is killed.
        for (trial in 1:5) {
            folder <- withr::local_tempfile()
            finished <- kill_midway(folder, plan)
            if (finished < 50) break
        }
        expect_gte(finished, 15)
        expect_lt(finished, 50)
        eval(parse(text = run_script(folder, plan)), here)
        expect_message(resumed <- here$run(folder),
                       paste(finished, "of 50 replicates"),
                       class = "kliep_message_checkpoint")
        expect_identical(resumed, whole)
        expect_identical(here$run(NULL), whole)
    }
    # Nor does a resumed run depend on the plan or seed of the session.
    future::plan("sequential")
    unlink(file.path(folder, "replicate-000007.checkpoint"))
    set.seed(99)
    expect_message(
        again <- kliep_test(here$pair$x, here$pair$y, n_perm = 50, folds = 2,
                            nlambda = 6, checkpoint = folder),
        "49 of 50 replicates", class = "kliep_message_checkpoint"
    )
    parts <- setdiff(names(whole), c("call", "selection"))
    expect_identical(again[parts], whole[parts])
})

test_that("the checkpoint of other data is refused", {
    pair <- test_pair(d = 3)
    folder <- withr::local_tempfile()
    quick_test(pair, checkpoint = folder, n_perm = 3, alpha = 0.3)
    refused <- function(message, ..., pair = test_pair(d = 3)) {
        expect_error(quick_test(pair, checkpoint = folder, alpha = 0.3, ...),
                     message, class = "kliep_error_checkpoint")
    }
    refused("differs in `tasks`", n_perm = 4)
    refused("`samples`", n_perm = 3, pair = test_pair(d = 3, seed = 2))
    refused("`problems`", n_perm = 3, lambda1 = 0.2)
    # What is made of the shuffles is not part of them.
    expect_message(quick_test(pair, checkpoint = folder, n_perm = 3,
                              alpha = 0.4, adjust = "BH", keep = "paper"),
                   "3 of 3 replicates", class = "kliep_message_checkpoint")
})

# ---- arguments, printing, pictures -----------------------------------------

test_that("a test says what is wrong with its arguments", {
    pair <- test_pair(d = 3, n = 12)
    refused <- function(class, ..., message = NULL) {
        expect_error(kliep_test(pair$x, pair$y, ...), message,
                     class = paste0("kliep_error_", class))
    }
    expect_error(kliep_test(pair$x), class = "kliep_error_missing_sample")
    expect_error(kliep_test(pair$x, pair$y[, 1:2]),
                 class = "kliep_error_dimension")
    refused("n_perm", n_perm = 0)
    refused("n_perm", n_perm = choose(24, 12))
    refused("n_perm", n_perm = 20, block = 4, folds = 3)
    refused("argument", alpha = 0)
    refused("argument", alpha = 1.2)
    refused("argument", adjust = "FDR")
    refused("argument", keep = "all")
    refused("argument", align = 1)
    refused("argument", progress = "yes")
    refused("argument", checkpoint = 1)
    refused("block", block = -1)
    refused("folds", folds = 30)
    refused("folds", block = 4, folds = 4,
            message = "3 and 3 blocks")
    refused("dots", perms = 3, message = "Did you mean `n_perm`")
    refused("dots", criterion = "holdout")
    refused("dots", newx = pair$x)
    refused("argument", standardize = "both")
    refused("argument", direction = "up")
    refused("lambda", lambda1 = -1)
    refused("lambda", nlambda = 0)
    refused("control", control = list())
    refused("features", features = "gaussian")
    pair$x[, 2] <- 1
    refused("constant")
})

test_that("too few shuffles to find anything are warned of", {
    pair <- test_pair(d = 3)
    expect_warning(quick_test(pair, n_perm = 18), "Set `n_perm` to 19",
                   class = "kliep_warning_n_perm")
    expect_silent(quick_test(pair, n_perm = 19))
    expect_silent(quick_test(pair, n_perm = 3, keep = "paper"))
})

test_that("edges() of a test has no lambda2", {
    test <- quick_test(test_pair(d = 3))
    expect_error(edges(test, lambda2 = 0.1), class = "kliep_error_argument")
    expect_error(edges(test, all = TRUE), class = "kliep_error_dots")
    expect_s3_class(edges(test$selection, lambda2 = test$selection$fit$lambda2),
                    "data.frame")
})

test_that("a test prints what it found", {
    skip_on_cran()
    pair <- changed_pair()
    # Digits that are printed do not depend on how a solver gets there.
    exact <- kliep_control(tol = 1e-10)
    expect_snapshot(print(quick_test(pair, folds = 5, nlambda = 20,
                                     control = exact)))
    expect_snapshot(print(quick_test(pair, keep = "paper", adjust = "BH",
                                     n_perm = 10, control = exact)))
})

test_that("the pictures draw what they should", {
    test <- quick_test(changed_pair(), folds = 5, nlambda = 20)
    dots <- edge_fates(test, 3)
    expect_identical(nrow(dots), 3L)
    expect_identical(dots$edge[1],
                     paste(test$edges$from[1], test$edges$to[1],
                           sep = " - "))
    # The line is the smallest value at which the strongest edge is dropped.
    at <- critical_value(test)
    p_value_at <- function(value) p_value_of(value, test$shuffles$enters)
    expect_gt(p_value_at(at), test$alpha)
    expect_lte(p_value_at(at + 1e-9), test$alpha)
    for (type in c("edges", "global")) {
        plot <- autoplot(test, type = type)
        expect_s3_class(plot, "ggplot")
        file <- withr::local_tempfile(fileext = ".png")
        ggplot2::ggsave(file, plot, width = 5, height = 4, dpi = 50)
        expect_gt(file.size(file), 0)
    }
    expect_error(autoplot(test, type = "both"), class = "kliep_error_argument")
})
