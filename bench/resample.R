# Which changes are real: what kliep_test() and kliep_stability() keep where
# there is nothing and where there is something to find, and what shuffles
# cost beyond the fits they make.

bench_resample <- function() {
    rbind(test_null_rows(), test_change_rows(), test_speed_rows(),
          fall_rows())
}

# On as many workers as there are cores, at most two.
on_workers <- function(work) {
    old <- future::plan("multisession", workers = max(thread_counts()))
    on.exit(future::plan(old))
    work
}

# ---- what is kept ----------------------------------------------------------

# Two samples of one network: whatever is found is false.
test_null_rows <- function(runs = 50L, d = 20, n = 100, n_perm = 39) {
    found <- on_workers(vapply(seq_len(runs), function(seed) {
        pair <- with_seed(seed, sim_gaussian(d = d, n = n, n_changed = 0))
        test <- with_seed(seed, kliep_test(pair$x, pair$y, kliep_spec_paper(),
                                           n_perm = n_perm,
                                           nlambda = 30))
        c(detected = nrow(test$edges) > 0, paper = any(test$edges$paper),
          kept = any(test$edges$kept), global = test$global$p_value <= 0.05)
    }, logical(4L)))
    counts <- rowSums(found)
    what <- paste0("no change, d = ", d, ", n = ", n, ", ", n_perm,
                   " shuffles: ")
    shown <- paste(counts, "of", runs, "runs")
    rows <- bench_row(paste0(what, c("any edge by CVLL alone",
                                     "any edge by the paper's rule",
                                     "any edge kept",
                                     "\"no change\" rejected at 0.05")), shown)
    for (row in 3:4) {
        goal <- at_most(counts[[row]] / runs, 0.1, "")
        rows$goal[row] <- "at most 10 %"
        rows$met[row] <- if (goal$met) "yes" else "no"
    }
    rows
}

# The later paper's change, +0.4 to -0.4.
test_change_rows <- function(seeds = 5L, d = 20, n = 400) {
    counts <- on_workers(vapply(seq_len(seeds), function(seed) {
        pair <- with_seed(seed, sim_gaussian(
            d = d, n = n, density = 0.1, edge = 0.4, n_changed = 8,
            change = -0.8
        ))
        test <- with_seed(seed, kliep_test(pair$x, pair$y, kliep_spec_paper(),
                                           n_perm = 59))
        stable <- with_seed(seed, kliep_stability(pair$x, pair$y,
                                                  kliep_spec_paper()))
        is_true <- function(edges) {
            paste(edges$from, edges$to) %in%
                paste(pair$truth$from, pair$truth$to)
        }
        true <- is_true(test$edges)
        paper <- test$edges$paper
        kept <- test$edges$kept
        held <- is_true(edges(stable))
        c(cvll_true = sum(true), cvll_false = sum(!true),
          paper_true = sum(true & paper), paper_false = sum(!true & paper),
          kept_true = sum(true & kept), kept_false = sum(!true & kept),
          stable_true = sum(held), stable_false = sum(!held),
          bound = stable$expected_false)
    }, numeric(9L)))
    change_rows(rowMeans(counts), paste0("change of 8 edges, d = ", d,
                                         ", n = ", n), seeds)
}

change_rows <- function(means, what, seeds) {
    shown <- function(by) {
        sprintf("%.1f true, %.1f false", means[[paste0(by, "_true")]],
                means[[paste0(by, "_false")]])
    }
    drops <- 1 - means[["kept_false"]] / means[["cvll_false"]]
    keeps <- means[["kept_true"]] / means[["cvll_true"]]
    rbind(
        bench_row(paste0(what, ": CVLL alone"), shown("cvll"),
                  paste("mean of", seeds, "seeds")),
        bench_row(paste0(what, ": the paper's rule"), shown("paper")),
        bench_row(paste0(what, ": kliep_test()"), shown("kept"),
                  sprintf("keeps %.0f %%, drops %.0f %%", 100 * keeps,
                          100 * drops),
                  list(text = "most", met = keeps > 0.5 && drops > 0.5)),
        bench_row(paste0(what, ": kliep_stability()"), shown("stable"),
                  sprintf("bound %.2f false", means[["bound"]]),
                  at_most(means[["stable_false"]], means[["bound"]], ""))
    )
}

# ---- what it costs ---------------------------------------------------------

# In units of kliep_select() on the same data, before and after, on one thread.
test_speed_rows <- function(d = 50, n = 100, n_perm = 100) {
    pair <- with_seed(1, sim_gaussian(d = d, n = n))
    control <- kliep_control(threads = 1)
    select <- function(seed) {
        timed(function() {
            with_seed(seed, kliep_select(pair$x, pair$y, kliep_spec_paper(),
                                         control = control))
        })$seconds
    }
    test <- function() {
        timed(function() {
            with_seed(1, kliep_test(pair$x, pair$y, kliep_spec_paper(),
                                    control = control,
                                    n_perm = n_perm))
        })
    }
    before <- vapply(1:10, select, 1)
    one <- test()
    after <- vapply(11:20, select, 1)
    two <- on_workers({
        # Workers take a moment to start.
        future.apply::future_lapply(1:2, function(k) loadNamespace("kliepnet"))
        test()
    })
    unit <- mean(c(before, after))
    ratio <- one$seconds / unit
    gain <- one$seconds / two$seconds
    same <- identical(one$value, two$value)
    what <- paste0("d = ", d, ", n = ", n, ": ")
    rbind(
        bench_row(paste0(what, "kliep_select(), 5 folds, one thread"),
                  show_seconds(unit)),
        bench_row(paste0(what, "kliep_test(), ", n_perm, " shuffles"),
                  show_seconds(one$seconds),
                  show_ratio(ratio, "x kliep_select()"), at_most(ratio, 100)),
        bench_row(paste0(what, "the same on two workers"),
                  show_seconds(two$seconds), show_ratio(gain, "x one worker"),
                  at_least(gain, 1.7, valid = same))
    )
}

# ---- what is not looked at --------------------------------------------------

# Whether a test that looks no further once the score of a selection has fallen
# by `most_fall` chooses as one that looks at all scores: on data of many kinds,
# and on a shuffle of each, by both rules.
fall_rows <- function(runs = 50L) {
    rows <- Map(function(what, setting) {
        message("resample: ", what)
        found <- do.call(rbind, on_all_cores(seq_len(runs), function(seed) {
            pair <- with_seed(seed, setting$draw())
            rbind(compare_choices(pair, setting$spec),
                  compare_choices(shuffle_pair(pair), setting$spec))
        }))
        fall_row(what, found)
    }, names(fall_settings()), fall_settings())
    do.call(rbind, rows)
}

fall_row <- function(what, found) {
    looked <- sprintf("%.0f %% of the grid", 100 * mean(found[, "looked"]))
    after <- found[!is.na(found[, "after"]), "after"]
    if (length(after) > 0L) {
        looked <- sprintf("%s, the rest %.2f or more below", looked,
                          -max(after))
    }
    bench_row(
        paste0("choices by all scores, ", what),
        sprintf("%.0f of %d the same", sum(found[, "same"]), nrow(found)),
        looked, list(text = "all", met = all(found[, "same"] == 1))
    )
}

fall_settings <- function() {
    gaussian <- function(n, n_changed, ..., d = 20) {
        function() {
            sim_gaussian(d = d, n = n, density = 0.15, edge = 0.3,
                         n_changed = n_changed, change = -0.6)
        }
    }
    # A common factor for each row, as from a t distribution.
    heavy <- function(n, n_changed) {
        function() {
            pair <- gaussian(n, n_changed)()
            lapply(pair[c("x", "y")], function(sample) {
                sample / sqrt(stats::rchisq(n, 3) / 3)
            })
        }
    }
    setting <- function(draw, ...) list(draw = draw, spec = kliep_spec(...))
    list(
        "Gaussian, n = 30, no change" = setting(gaussian(30, 0)),
        "Gaussian, n = 30, ten changes" = setting(gaussian(30, 10)),
        "Gaussian, n = 100, no change" = setting(gaussian(100, 0)),
        "Gaussian, n = 100, ten changes" = setting(gaussian(100, 10)),
        "Gaussian, n = 400, twenty changes" = setting(gaussian(400, 20)),
        "t3, n = 50, no change" = setting(heavy(50, 0)),
        "t3, n = 50, ten changes" = setting(heavy(50, 10)),
        "t3, n = 200, ten changes" = setting(heavy(200, 10)),
        "t3, n = 100, ten changes, the paper's estimator" =
            list(draw = heavy(100, 10), spec = kliep_spec_paper()),
        "t3, n = 100, ten changes, lambda1 = 0.001" =
            setting(heavy(100, 10), lambda1 = 0.001),
        "t3, n = 100, ten changes, normal scores" =
            setting(heavy(100, 10), feat_nonparanormal()),
        "diamond, n = 200, polynomials of degree 4" =
            setting(function() sim_diamond(n = 200), feat_polynomial(4)),
        "t3, d = 6, n = 60, polynomials of degree 3" = setting(function() {
            pair <- heavy(60, 10)()
            lapply(pair, function(sample) sample[, 1:6])
        }, feat_polynomial(3))
    )
}

shuffle_pair <- function(pair) {
    both <- rbind(scale(pair$x), scale(pair$y))
    at <- sample(nrow(both), nrow(pair$x))
    list(x = both[at, ], y = both[-at, ])
}

# `same`: whether both choices are; `looked`: at how much of the grid; `after`:
# the best of the other scores, less the best of all.
compare_choices <- function(pair, spec) {
    ns <- asNamespace("kliepnet")
    found <- ns$take_samples(pair$x, pair$y, list())
    ready <- ns$prepare_candidates(ns$check_candidates(spec, list()), found)
    samples <- ready$samples[[1L]]
    parts <- ns$draw_folds(nrow(samples$x), nrow(samples$y), 5)
    scored <- ns$score_problem(ready$problems[[1L]], samples, parts,
                               whole = TRUE)
    whole <- scored$table
    whole[c("score", "se")] <- scored$scores[c("score", "se")]
    same <- vapply(c("best", "1se"), function(rule) {
        ns$choose_row(whole, rule) == ns$choose_row(scored$table, rule)
    }, NA)
    late <- is.na(scored$table$score) & !is.na(whole$score)
    after <- if (any(late)) max(whole$score[late]) else NA
    c(same = all(same), looked = 1 - mean(late),
      after = after - max(whole$score, na.rm = TRUE))
}
