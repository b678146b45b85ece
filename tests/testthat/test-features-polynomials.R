# Orthonormal polynomials in the place of powers. That fits with them are
# solutions, and what they are at new observations, is tested with all families
# against stats::poly().

polynomial_pair <- withr::with_seed(5, sim_genes(n = 60))[c("x", "y")]

polynomial_path <- function(pair = polynomial_pair, ...) {
    kliep_path(pair$x, pair$y, feat_polynomial(3), nlambda = 6, ...)
}

test_that("a fit does not depend on units, where nothing standardises", {
    moved <- lapply(polynomial_pair, function(sample) {
        sweep(sweep(sample, 2, seq_len(ncol(sample)), "*"), 2, 13:1)
    })
    fits <- lapply(list(polynomial_pair, moved), polynomial_path,
                   standardize = "none")
    expect_equal(fits[[1]]$lambda2, fits[[2]]$lambda2)
    expect_equal(edges(fits[[1]]), edges(fits[[2]]), tolerance = 1e-4)
    raw <- lapply(list(polynomial_pair, moved), function(pair) {
        kliep_path(pair$x, pair$y, feat_polynomial(3, basis = "raw"),
                   nlambda = 1, standardize = "none")$lambda_max
    })
    expect_gt(raw[[2]], 10 * raw[[1]])
})

test_that("observations held out get the polynomials of the fit", {
    train <- lapply(polynomial_pair, function(sample) unname(sample[1:40, ]))
    new <- lapply(polynomial_pair, function(sample) unname(sample[41:60, ]))
    path <- polynomial_path(train)
    problem <- c(new_problem(path$spec, samples_of(path)),
                 score = "likelihood")
    divided <- list(list(x = train$x, y = train$y, new_x = new$x,
                         new_y = new$y))
    expect_equal(refit_scores(problem, divided, path$lambda2),
                 list(holdout_scores(path, new$x, new$y)))
    # Row by row or together: those at hand make no difference.
    together <- last_predict(path, new$x, sample = "x")
    expect_identical(last_predict(path, new$x[3, , drop = FALSE],
                                  sample = "x"), together[3])
    expect_equal(mean(last_predict(path, train$x, sample = "x")),
                 kl_divergence(path, lambda2 = last_lambda2(path))$fitted)
})

test_that("another fit makes polynomials of its own", {
    path <- polynomial_path()
    half <- lapply(polynomial_pair, function(sample) sample[1:30, ])
    again <- kliep_path(half$x, half$y, nlambda = 6, spec = path)
    expect_identical(again$recurrence, polynomial_path(half)$recurrence)
    expect_false(identical(again$recurrence, path$recurrence))
})

test_that("variables of few values have few polynomials", {
    few <- lapply(polynomial_pair, function(sample) {
        sample[, 1] <- sample[, 1] > median(sample[, 1])
        sample[, 2] <- findInterval(sample[, 2], quantile(sample[, 2], 1:2 / 3))
        sample
    })
    path <- polynomial_path(few, standardize = "pooled")
    expect_true(all(path$diagnostics$status == "converged"))
    terms <- last_coef(path, type = "table")
    expect_true(all(is.finite(terms$value)))
    first <- path$variables[1]
    own <- terms[grepl(paste0("p[23]\\(", first, "\\)"), terms$term), ]
    expect_true(all(own$value == 0))
})

test_that("coefficients and features say what they belong to", {
    features <- feat_polynomial(2)
    expect_identical(
        term_labels(features, c("a", "b"), from = c(1, 1, 1, 2),
                    to = c(2, 2, 2, 2), term = c(1, 4, 5, 2)),
        c("p1(b)", "p1(a)*p1(b)", "p2(a)", "p2(b)")
    )
    expect_output(print(features), "p_1(x_u) p_1(x_v)", fixed = TRUE)
    expect_output(print(features), "orthonormal polynomials")
    raw <- feat_polynomial(2, basis = "raw")
    expect_output(print(raw), "x_u x_v", fixed = TRUE)
    expect_identical(name_features(raw),
                     "polynomial, degree = 2, terms = all, basis = raw")
})

test_that("the product weighs most, and high degrees are not lost", {
    weights <- polynomial_weights(100)
    expect_identical(weights[1], 1)
    expect_false(is.unsorted(-weights))
    expect_gt(min(weights), 0)
})

test_that("genes: powers swamp what orthonormal polynomials see", {
    precision <- vapply(1:4, function(seed) {
        pair <- withr::with_seed(seed, sim_genes(n = 50))
        vapply(c("orthonormal", "raw"), function(basis) {
            features <- feat_polynomial(4, basis = basis)
            path <- kliep_path(pair$x, pair$y, features, nlambda = 20)
            pr_curve(path, pair)$average_precision
        }, 0)
    }, numeric(2))
    expect_gt(mean(precision[1, ]), mean(precision[2, ]) + 0.1)
})
