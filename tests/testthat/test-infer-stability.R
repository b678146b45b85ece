stable_pair <- function(seed = 1, ...) {
    set.seed(seed)
    sim_gaussian(d = 8, n = 200, density = 0.2, edge = 0.4, n_changed = 3,
                 change = -0.8, ...)
}

quick_stability <- function(pair, ..., n_subsamples = 20, seed = 2,
                            nlambda = 12) {
    set.seed(seed)
    kliep_stability(pair$x, pair$y, ..., n_subsamples = n_subsamples,
                    nlambda = nlambda)
}

# ---- bounds ----------------------------------------------------------------

# The best that can be found by trying: convex f^r by their second differences.
tail_by_trying <- function(mean, n, r, t, tries = 6) {
    probabilities <- function(par) {
        slope <- par[2] + c(0, cumsum(exp(par[-(1:2)])))
        power <- cumsum(c(exp(par[1]), slope))
        if (any(power <= 0)) return(NULL)
        mass <- power^(1 / r)
        if (!all(is.finite(mass))) return(NULL)
        mass / sum(mass)
    }
    tail <- function(mass) sum(mass[(t + 1):(n + 1)])
    loss <- function(par) {
        mass <- probabilities(par)
        if (is.null(mass)) return(10)
        1e5 * max(0, sum(0:n * mass) - mean * n)^2 - tail(mass)
    }
    best <- 0
    for (try in seq_len(tries)) {
        par <- c(rnorm(2), rnorm(n - 1, -3, 3))
        for (again in 1:2) {
            par <- optim(par, loss, control = list(maxit = 5000))$par
        }
        mass <- probabilities(par)
        allowed <- !is.null(mass) && sum(0:n * mass) <= mean * n + 1e-6
        if (allowed) best <- max(best, tail(mass))
    }
    best
}

test_that("no r-concave distribution has more in its tail, and one has that", {
    set.seed(1)
    for (case in list(c(0.1, 4, -1 / 2), c(0.05, 4, -1 / 4),
                      c(0.1, 5, -1 / 4))) {
        bound <- r_concave_tail(case[1], case[2], case[3])
        expect_identical(bound[seq_len(ceiling(2 * case[1] * case[2]))],
                         rep(1, ceiling(2 * case[1] * case[2])))
        for (t in 3:case[2]) {
            found <- tail_by_trying(case[1], case[2], case[3], t)
            expect_lte(found, bound[t] + 1e-5)
            expect_gte(found, bound[t] - 1e-3)
        }
    }
})

test_that("tails fall with the threshold and rise with the mean", {
    for (r in c(-1 / 2, -1 / 4)) {
        low <- r_concave_tail(0.01, 50, r)
        high <- r_concave_tail(0.04, 50, r)
        expect_true(all(diff(low) <= 1e-9))
        expect_true(all(diff(high) <= 1e-9))
        expect_true(all(low <= high + 1e-9))
        expect_gt(min(low), 0)
        # Never worse than Markov's inequality.
        open <- low < 1
        expect_true(all(low[open] <= 0.01 / (which(open) / 50)))
    }
    expect_identical(r_concave_tail(0.6, 10, -1 / 2), rep(1, 10))
})

test_that("the bounds are those of the theorems", {
    bounds <- false_bounds(50, 50, 1000)
    expect_equal(bounds$threshold, (51:100) / 100)
    expect_equal(bounds$none, 50^2 / 1000 / (2 * bounds$threshold - 1))
    at <- match(0.8, bounds$threshold)
    expect_equal(bounds$r_concave[at], 1000 * min(
        r_concave_tail(0.05^2, 50, -1 / 2)[30],
        r_concave_tail(0.05, 100, -1 / 4)[80]
    ))
    expect_true(all(bounds$r_concave < bounds$none))
    # No more edges are kept than there are.
    expect_lte(max(false_bounds(900, 50, 1000)$none), 1000)
})

test_that("two of q, threshold and max_false give the third", {
    design <- function(q = NULL, threshold = NULL, max_false = 1,
                       assumption = "none") {
        design_stability(q, threshold, max_false, assumption, 50, 1225)
    }
    usual <- design()
    expect_identical(usual$threshold, 0.75)
    expect_equal(usual$q, floor(sqrt(0.5 * 1225)))
    expect_equal(usual$expected_false, usual$q^2 / 1225 / 0.5)
    sharp <- design(assumption = "r-concave")
    expect_gt(sharp$q, usual$q)
    expect_lte(sharp$expected_false, 1)
    more <- design(q = sharp$q + 1, threshold = 0.75,
                   assumption = "r-concave")
    expect_gt(more$expected_false, 1)
    given <- design(q = 20, max_false = 0.5)
    expect_lte(given$expected_false, 0.5)
    lower <- design(q = 20, threshold = given$threshold - 0.01)
    expect_gt(lower$expected_false, 0.5)
    # Between two shares of halves, the next one up counts.
    expect_identical(design(q = 20, threshold = 0.751)$expected_false,
                     design(q = 20, threshold = 0.76)$expected_false)
    expect_identical(design(max_false = 1e6)$q, 1225)
    expect_error(design(q = 600), "No threshold keeps to max_false = 1",
                 class = "kliep_error_argument")
    expect_error(design(max_false = 1e-4), "No `q` keeps to",
                 class = "kliep_error_argument")
})

# ---- naming edges ----------------------------------------------------------

test_that("the first edges are those that enter first", {
    pair <- stable_pair()
    path <- kliep_path(pair$x, pair$y, nlambda = 12)
    ranked <- edge_entries(path)
    for (q in c(1, 2, 5, 12, 28)) {
        named <- first_edges(path, q)
        expect_length(named$named, min(q, nrow(ranked)))
        expect_identical(anyDuplicated(named$named), 0L)
        at <- match(named$named, edge_key(ranked, 8))
        left <- setdiff(seq_len(nrow(ranked)), at)
        expect_gte(min(ranked$enters[at]), max(0, ranked$enters[left]))
        there <- edges(path, lambda2 = min(ranked$enters[at]))
        strongest <- match(there$from[1], path$variables) * 8 +
            match(there$to[1], path$variables)
        expect_equal(named$weight[match(strongest, named$named)],
                     there$weight[1])
    }
    nothing <- kliep_path(pair$x, pair$y, lambda2 = 10)
    expect_identical(first_edges(nothing, 3),
                     list(named = numeric(), weight = numeric()))
})

test_that("halves are halves", {
    for (n in c(8, 11)) {
        set.seed(1)
        halves <- draw_halves(n)
        expect_equal(lengths(halves), rep(n %/% 2, 2))
        expect_identical(anyDuplicated(unlist(halves)), 0L)
        expect_true(all(unlist(halves) %in% seq_len(n)))
    }
    expect_setequal(unlist(replicate(20, draw_halves(5))), 1:5)
})

test_that("probabilities are shares of halves and of pairs", {
    pairs <- list(
        list(list(named = c(10, 12), weight = c(1, 3)),
             list(named = c(12, 15), weight = c(-1, 2))),
        list(list(named = 12, weight = 4), list(named = 12, weight = 2))
    )
    table <- count_named(pairs, letters[1:8])
    expect_identical(table$from, c("a", "a", "a"))
    expect_identical(table$to, c("d", "g", "b"))
    expect_equal(table$probability, c(1, 0.25, 0.25))
    expect_equal(table$simultaneous, c(1, 0, 0))
    expect_equal(table$weight, c(2, 2, 1))
    none <- list(list(list(named = numeric(), weight = numeric()),
                      list(named = numeric(), weight = numeric())))
    expect_identical(nrow(count_named(none, letters)), 0L)
})

test_that("changed edges are stable, and others are not", {
    pair <- stable_pair()
    stable <- quick_stability(pair, n_subsamples = 30)
    truth <- paste(pair$truth$from, pair$truth$to)
    kept <- edges(stable)
    expect_identical(names(kept), c("from", "to", "weight", "probability",
                                    "simultaneous"))
    expect_gte(sum(paste(kept$from, kept$to) %in% truth), 2)
    expect_lte(sum(!paste(kept$from, kept$to) %in% truth), 1)
    expect_true(all(kept$weight[paste(kept$from, kept$to) %in% truth] < 0))
    all <- stable$edges
    # Every half has named q, and both halves of a pair at least 2 Pi - 1.
    expect_equal(sum(all$probability), stable$q)
    expect_true(all(all$simultaneous <= all$probability))
    expect_true(all(all$simultaneous >= 2 * all$probability - 1 - 1e-9))
    expect_identical(all$kept, all$probability >= stable$threshold)
})

test_that("where nothing has changed, few edges are kept", {
    set.seed(1)
    runs <- lapply(1:6, function(run) {
        pair <- sim_gaussian(d = 8, n = 80, n_changed = 0)
        kliep_stability(pair$x, pair$y, n_subsamples = 20, nlambda = 8)
    })
    kept <- vapply(runs, function(stable) nrow(edges(stable)), 1L)
    expect_lte(mean(kept), runs[[1]]$expected_false)
})

# ---- plans, checkpoints, failures ------------------------------------------

test_that("a seed gives the same on two workers and from a checkpoint", {
    skip_on_cran()
    pair <- stable_pair()
    folder <- withr::local_tempfile()
    one <- quick_stability(pair)
    old <- future::plan("multisession", workers = 2)
    withr::defer(future::plan(old))
    expect_identical(quick_stability(pair), one)
    drop_call <- function(stable) stable[names(stable) != "call"]
    expect_identical(drop_call(quick_stability(pair, checkpoint = folder)),
                     drop_call(one))
    future::plan(old)
    unlink(file.path(folder, "replicate-000004.checkpoint"))
    expect_message(
        again <- quick_stability(pair, checkpoint = folder, seed = 9),
        "9 of 10 replicates", class = "kliep_message_checkpoint"
    )
    expect_identical(drop_call(again), drop_call(one))
})

test_that("pairs that fail are reported, and the bound accounts for them", {
    pair <- random_pair(3, 20)
    pair$x[, 1] <- c(1, 1, 1, rep(0, 17))
    expect_warning(
        stable <- quick_stability(pair, n_subsamples = 40, q = 1,
                                  threshold = 0.75),
        "replicates of kliep_stability\\(\\) failed",
        class = "kliep_warning_replicate"
    )
    left <- 20 - nrow(stable$failures)
    expect_identical(stable$n_subsamples, 2 * left)
    expect_identical(nrow(stable$bounds), as.integer(left))
    expect_lte(max(stable$edges$probability), 1)
})

# ---- arguments, printing, pictures -----------------------------------------

test_that("stability selection says what is wrong with its arguments", {
    pair <- stable_pair()
    refused <- function(class, ..., message = NULL) {
        expect_error(kliep_stability(pair$x, pair$y, ...), message,
                     class = paste0("kliep_error_", class))
    }
    expect_error(kliep_stability(pair$x),
                 class = "kliep_error_missing_sample")
    expect_error(kliep_stability(pair$x[1:3, ], pair$y),
                 class = "kliep_error_size")
    refused("argument", n_subsamples = 7, message = "even.*\nTake 8")
    refused("argument", n_subsamples = 0)
    refused("argument", threshold = 0.5)
    refused("argument", threshold = 1.1)
    refused("argument", q = 0)
    refused("argument", q = 29, message = "number of edges, 28")
    refused("argument", max_false = 0)
    refused("argument", assumption = "unimodal")
    refused("argument", checkpoint = TRUE)
    refused("lambda", lambda1 = c(0.1, 1))
    refused("features", features = list(feat_gaussian(), feat_rbf()))
    refused("dots", folds = 3)
    refused("dots", n_perm = 3)
    stable <- quick_stability(pair, n_subsamples = 4)
    expect_error(edges(stable, lambda2 = 1), class = "kliep_error_argument")
})

test_that("stability selection prints and draws what it found", {
    skip_on_cran()
    stable <- quick_stability(stable_pair())
    expect_snapshot(print(stable))
    dots <- edge_fates(stable, 4)
    expect_identical(nrow(dots), 4L)
    expect_identical(as.character(dots$fate),
                     ifelse(stable$edges$kept[1:4], "kept", "dropped"))
    plot <- autoplot(stable)
    expect_s3_class(plot, "ggplot")
    file <- withr::local_tempfile(fileext = ".png")
    ggplot2::ggsave(file, plot, width = 5, height = 4, dpi = 50)
    expect_gt(file.size(file), 0)
})
