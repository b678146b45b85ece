# Which changes are real: what kliep_test() and kliep_stability() keep where
# there is nothing and where there is something to find, and what shuffles
# cost beyond the fits they make.

bench_resample <- function() {
    rbind(test_null_rows(), test_change_rows(), test_speed_rows())
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
