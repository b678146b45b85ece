# Several fits in one call of Rust are those made one by one.

many_pair <- local({
    set.seed(11)
    sim_gaussian(d = 8, n = 40, edge = 0.4, n_changed = 3, change = -0.8)
})

many_problem <- function(...) {
    found <- take_samples(many_pair$x, many_pair$y, list())
    candidates <- check_candidates(kliep_spec(..., nlambda = 12), list())
    ready <- prepare_candidates(candidates, found)
    list(problem = ready$problems[[1]], samples = ready$samples[[1]])
}

halves_of <- function(samples) {
    list(list(x = samples$x[1:20, ], y = samples$y[1:20, ]),
         list(x = samples$x[21:40, ], y = samples$y[18:40, ]))
}

test_that("paths are those of one fit after the other", {
    for (features in list(feat_gaussian(), feat_nonparanormal(),
                          feat_polynomial(2), feat_rbf())) {
        ready <- many_problem(features, control = kliep_control(threads = 2))
        divided <- halves_of(ready$samples)
        many <- refit_many(ready$problem, divided)
        alone <- lapply(divided, refit, problem = ready$problem)
        for (at in 1:2) {
            expect_identical(many[[at]]$lambda2, alone[[at]]$lambda2)
            expect_identical(edge_entries(many[[at]]),
                             edge_entries(alone[[at]]))
            expect_identical(edge_weights(many[[at]], 6),
                             edge_weights(alone[[at]], 6))
        }
    }
})

test_that("a path may end with a number of edges", {
    ready <- many_problem()
    divided <- halves_of(ready$samples)
    whole <- refit_many(ready$problem, divided)
    few <- refit_many(ready$problem, divided, most_edges = 3)
    for (at in 1:2) {
        expect_lt(length(few[[at]]$lambda2), length(whole[[at]]$lambda2))
        expect_identical(first_edges(few[[at]], 3), first_edges(whole[[at]], 3))
    }
    # More than there are: the whole path.
    expect_identical(refit_many(ready$problem, divided, most_edges = 1000),
                     whole)
})

test_that("features that R computes are fitted one by one", {
    features <- feat_custom(function(a, b) cbind(a * b, a^2 * b))
    ready <- many_problem(features)
    divided <- halves_of(ready$samples)
    alone <- lapply(divided, refit, problem = ready$problem)
    expect_identical(lapply(refit_many(ready$problem, divided, most_edges = 2),
                            edge_entries), lapply(alone, edge_entries))
})

test_that("the number of threads changes nothing", {
    chosen <- lapply(c(1, 2, 3), function(threads) {
        set.seed(3)
        kliep_select(many_pair$x, many_pair$y, nlambda = 10, folds = 4,
                     control = kliep_control(threads = threads))$scores
    })
    expect_identical(chosen[[2]], chosen[[1]])
    expect_identical(chosen[[3]], chosen[[1]])
})

test_that("an error says which of the fits it is about", {
    ready <- many_problem()
    divided <- lapply(halves_of(ready$samples), function(half) {
        list(x = half$x, y = half$y, new_x = half$x, new_y = half$y)
    })
    divided[[2]]$x[, 3] <- 1
    named <- function(at, work) {
        tryCatch(work, kliep_error = function(condition) {
            stop("fit ", at, ": ", conditionMessage(condition))
        })
    }
    expect_error(refit_scores(ready$problem, divided, c(0.5, 0.2), named),
                 "^fit 2: 1 column is constant")
    # What Rust finds is an error of its fit, too.
    divided[[2]]$x[, 3] <- 1e200 * (1:20)
    problem <- many_problem(feat_polynomial(4, basis = "raw"),
                            standardize = "none")$problem
    expect_error(refit_scores(problem, divided, c(0.5, 0.2), named),
                 "^fit 2: ")
})

test_that("the intercept of the logistic score is the best one", {
    set.seed(1)
    s_x <- cbind(rnorm(9), rnorm(9, sd = 30), 0, c(rep(-200, 8), 500), 1e-9)
    s_y <- cbind(rnorm(7), rnorm(7, sd = 30) - 50, 0, c(rep(300, 6), -100), 0)
    level <- rust_logistic_scores(s_x, s_y)$intercept
    balance <- function(k, by) {
        mean(plogis(s_x[, k] + level[k] + by)) +
            mean(plogis(s_y[, k] + level[k] + by)) - 1
    }
    for (k in seq_along(level)) {
        expect_lte(balance(k, -1e-6), 1e-12)
        expect_gte(balance(k, 1e-6), -1e-12)
    }
})
