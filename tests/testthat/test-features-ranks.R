# Normal scores as features: what npn_transform() makes of the samples, made
# wherever a fit is made.

ranks_pair <- local({
    pair <- withr::with_seed(7, sim_gaussian(d = 6, n = 80, density = 0.5,
                                             edge = 0.4, n_changed = 3,
                                             change = -0.8))
    colnames(pair$x) <- colnames(pair$y) <- letters[1:6]
    pair[c("x", "y")]
})

# One monotone function for every column, another in each sample.
bend <- function(pair) {
    functions <- list(exp, function(z) z^3, atan, function(z) 5 * z - 9,
                      stats::pnorm, function(z) sign(z) * sqrt(abs(z)))
    bent <- function(sample, functions) {
        for (u in seq_along(functions)) {
            sample[, u] <- functions[[u]](sample[, u])
        }
        sample
    }
    list(x = bent(pair$x, functions), y = bent(pair$y, rev(functions)))
}

# Three values for each variable, not equally often.
tie <- function(pair) {
    lapply(pair, function(sample) {
        sample[] <- findInterval(sample, c(-0.3, 1))
        sample
    })
}

ranked <- function(...) kliep_path(..., features = feat_nonparanormal())

fitted_parts <- c("lambda2", "lambda_max", "coefficients", "log_normalizer",
                  "mean_score", "center", "scale")

test_that("a path is that of the transformed samples, exactly", {
    for (pair in list(ranks_pair, bend(ranks_pair), tie(ranks_pair))) {
        both <- npn_transform(pair$x, pair$y)
        for (given in list(list(), list(direction = "p/q"),
                           list(normalizer = "empirical", nlambda = 5),
                           list(solver = "dual", nlambda = 3),
                           list(solver = "primal", nlambda = 3),
                           list(penalty = "mcp", robust = 0.1, nlambda = 3))) {
            path <- do.call(ranked, c(unname(pair), given))
            plain <- do.call(kliep_path, c(unname(both), given))
            expect_identical(path[fitted_parts], plain[fitted_parts])
        }
    }
    expect_equal(path$spec$features, feat_nonparanormal())
    both <- npn_transform(ranks_pair$x, ranks_pair$y + 1, ranks = "pooled")
    expect_identical(
        ranked(ranks_pair$x, ranks_pair$y + 1,
               standardize = "pooled")[fitted_parts],
        kliep_path(both$x, both$y, standardize = "pooled")[fitted_parts]
    )
})

test_that("inference is that of the transformed samples, exactly", {
    pair <- bend(ranks_pair)
    both <- npn_transform(pair$x, pair$y)
    same <- function(fun, part, ...) {
        ours <- withr::with_seed(2, fun(pair$x, pair$y,
                                        features = feat_nonparanormal(), ...))
        theirs <- withr::with_seed(2, fun(both$x, both$y, ...))
        expect_identical(ours[part], theirs[part])
    }
    same(kliep_infer, c("estimates", "global", "null"), n_perm = 19)
    same(kliep_debias, c("estimates", "global"), n_boot = 20)
})

test_that("no monotone transform makes a difference to any function", {
    bent <- bend(ranks_pair)
    same <- function(fun, part, ...) {
        results <- lapply(list(ranks_pair, bent), function(pair) {
            withr::with_seed(3, fun(pair$x, pair$y,
                                    features = feat_nonparanormal(), ...))
        })
        expect_identical(results[[1]][[part]], results[[2]][[part]])
    }
    same(kliep_path, "coefficients")
    same(kliep_change, "coefficients", lambda2 = 0.2)
    same(kliep_stability, "edges", n_subsamples = 6, nlambda = 10)
    same(kliep_test, "edges", n_perm = 19, nlambda = 5, folds = 2)
    same(is_flasso_path, "coefficients", nlambda = 2, points = 500, seed = 1)
})

test_that("observations held out are mapped by those that were fitted", {
    train <- lapply(ranks_pair, function(sample) sample[1:50, ])
    new <- lapply(ranks_pair, function(sample) sample[51:80, ])
    path <- ranked(train$x, train$y, nlambda = 5)
    both <- npn_transform(train$x, train$y)
    plain <- kliep_path(both$x, both$y, nlambda = 5)
    mapped <- lapply(c(x = "x", y = "y"), function(part) {
        vapply(letters[1:6], function(u) {
            stats::approx(train[[part]][, u], both[[part]][, u],
                          new[[part]][, u], rule = 2)$y
        }, numeric(30))
    })
    expect_equal(holdout_scores(path, new$x, new$y),
                 holdout_scores(plain, mapped$x, mapped$y))
    problem <- c(new_problem(path$spec, samples_of(path)),
                 score = "likelihood")
    divided <- list(list(x = unname(train$x), y = unname(train$y),
                         new_x = unname(new$x), new_y = unname(new$y)))
    expect_equal(refit_scores(problem, divided, path$lambda2),
                 list(holdout_scores(path, new$x, new$y)))
    chosen <- kliep_select(train$x, train$y, feat_nonparanormal(),
                           criterion = "holdout", newx = new$x,
                           newy = new$y, lambda2 = path$lambda2)
    expect_equal(chosen$scores$score,
                 holdout_scores(path, new$x, new$y, "logistic")$score)
    points <- is_flasso_path(train$x, train$y, feat_nonparanormal(), points =
                                 500, seed = 1, nlambda = 2)
    peer <- is_flasso_path(both$x, both$y, points = 500, seed = 1, nlambda = 2)
    expect_equal(path_scores(points, new$x, new$y),
                 path_scores(peer, mapped$x, mapped$y))
})

test_that("predictions at the rows of a sample are its own fitted values", {
    for (pair in list(ranks_pair, tie(ranks_pair))) {
        both <- npn_transform(pair$x, pair$y)
        for (keep in c(TRUE, FALSE)) {
            control <- kliep_control(keep_samples = keep)
            fit <- kliep_change(pair$x, pair$y, feat_nonparanormal(),
                                lambda2 = 0.1, control = control)
            plain <- kliep_change(both$x, both$y, lambda2 = 0.1)
            for (part in c("x", "y")) {
                expect_identical(predict(fit, pair[[part]], sample = part),
                                 predict(plain, both[[part]], sample = part))
            }
            expect_equal(mean(predict(fit, pair$x, sample = "x")),
                         kl_divergence(fit)$fitted)
        }
    }
})

test_that("new values are mapped in order, and not beyond the ends", {
    margin <- structure(cbind(c(1, 2, 2, 2, 5), c(-1, 0, 1, 2, 3)),
                        columns = 1:2)
    scores <- normal_scores(margin)
    at <- c(-1e300, 1, 1.5, 2, 3, 5, 1e300)
    got <- score_newdata(cbind(at, at), margin)[, 1]
    expect_identical(got[c(1, 2, 4, 6, 7)], scores[c(1, 1, 2, 5, 5), 1])
    expect_equal(got[3], mean(scores[1:2, 1]))
    expect_false(is.unsorted(got))
})

test_that("a few wild values cost little", {
    wild <- ranks_pair
    for (u in 1:6) wild$x[u, u] <- 1e6
    # How far the order of all edges is that without them.
    kept <- function(features) {
        entry <- function(pair) {
            found <- edges(kliep_path(pair$x, pair$y, features,
                                      lambda_min_ratio = 0.01))
            found$enters[match(outer(letters[1:6], letters[1:6], paste)[
                upper.tri(diag(6))], paste(found$from, found$to))]
        }
        stats::cor(entry(wild), entry(ranks_pair), method = "spearman",
                   use = "complete.obs")
    }
    expect_gt(kept(feat_nonparanormal()), 0.9)
    expect_lt(kept(feat_gaussian()), 0.8)
})

test_that("results say what they are, and continue with their samples", {
    path <- ranked(ranks_pair$x, ranks_pair$y, nlambda = 5)
    expect_output(print(path), "features   nonparanormal (normal scores)",
                  fixed = TRUE)
    expect_output(print(path$spec), "nonparanormal (normal scores)",
                  fixed = TRUE)
    expect_output(print(feat_nonparanormal()), "normal score of the rank of x")
    expect_null(path$spec$features$settings$power)
    expect_identical(
        withr::with_seed(4, kliep_infer(path, n_perm = 19)$estimates),
        withr::with_seed(4, kliep_infer(ranks_pair$x, ranks_pair$y, n_perm = 19,
                                        feat_nonparanormal())$estimates)
    )
    facts <- report_facts(path, "data")
    expect_false("variables in x" %in% facts$what)
    expect_true(all(c("from", "to") %in% names(generics::tidy(path))))
})

test_that("what cannot be ranked is refused", {
    refused <- function(class, ...) {
        expect_error(ranked(...), class = paste0("kliep_error_", class))
    }
    refused("argument", ranks_pair$x, ranks_pair$y, standardize = "none")
    constant <- ranks_pair$x
    constant[, 2] <- 4
    refused("constant", constant, ranks_pair$y)
    refused("lambda", ranks_pair$x, cbind(ranks_pair$y[, -1],
                                          a = exp(ranks_pair$y[, 2])),
            lambda1 = 0, normalizer = "gaussian")
    for (bad in list(0, -1, NA, "ranks", c(1, 2))) {
        expect_error(feat_nonparanormal(bad), class = "kliep_error_features")
    }
})
