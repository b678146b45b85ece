# What every method to compare with has to do, whatever it computes.

pair <- random_pair(5, 40, 30)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:5]
# Each as a function of the samples and the grid.
fits <- list(
    moment = moment_path,
    glasso = glasso_path,
    dtrace = dtrace_path,
    flasso = function(x, y, lambda2 = NULL, ...) {
        # At lambda_max one of the two regressions of an edge starts to split.
        flasso_path(x, y, lambda1 = 0.05, lambda2 = lambda2,
                    symmetrize = "or", ...)
    },
    is_glasso = function(x, y, lambda2 = NULL, ...) {
        is_glasso_path(x, y, lambda2 = lambda2, points = 300, seed = 1,
                       control = kliep_control(tol = 1e-9), ...)
    },
    is_flasso = function(x, y, lambda2 = NULL, ...) {
        is_flasso_path(x, y, lambda2 = lambda2, points = 300, seed = 1,
                       control = kliep_control(tol = 1e-9), ...)
    }
)
paths <- lapply(fits, function(fit) fit(x, y, nlambda = 8))

test_that("all give a change_path that works like kliep_path()'s", {
    for (method in names(paths)) {
        path <- paths[[method]]
        expect_s3_class(path, "change_path")
        expect_equal(path$method, method)
        expect_named(path$diagnostics,
                     names(kliep_path(x, y, nlambda = 2)$diagnostics))
        expect_length(path$lambda2, 8)
        expect_equal(path$lambda2[1], path$lambda_max)
        expect_true(all(path$diagnostics$status == "converged"))
        expect_equal(path$diagnostics$n_edges[1], 0)
        found <- edges(path)
        expect_named(found, c("from", "to", "weight", "enters"))
        expect_equal(nrow(found), path$diagnostics$n_edges[8])
        theta <- last_coef(path)
        expect_equal(dimnames(theta), list(LETTERS[1:5], LETTERS[1:5]))
        expect_equal(Matrix::nnzero(Matrix::triu(theta)),
                     path$diagnostics$n_detected[8])
        expect_s3_class(autoplot(path), "ggplot")
    }
})

test_that("printing names the method and its penalty", {
    for (method in names(paths)) {
        text <- format(paths[[method]])
        expect_match(text, paste0("method +", method, ": "), all = FALSE)
        expect_match(text, "penalty +.*lambda2", all = FALSE)
        expect_false(any(grepl("NA|NULL|numeric\\(0\\)", text)))
        expect_output(print(paths[[method]]), "Next: .*edges\\(\\)")
        expect_output(print(summary(paths[[method]])), "edges detected")
    }
})

test_that("exchanging the samples turns the sign", {
    for (method in names(paths)) {
        path <- paths[[method]]
        turned <- refit_baseline(path, y, x)
        expect_equal(edges(turned)$weight, -edges(path)$weight)
        expect_equal(edges(turned)$from, edges(path)$from)
        expect_equal(edges(turned)$enters, edges(path)$enters)
    }
})

test_that("the default grid ends where that of kliep_path() does", {
    wide <- random_pair(60, 4, 4, seed = 2)
    ends <- function(path) path$lambda2[2] / path$lambda2[1]
    expected <- ends(kliep_path(wide$x, wide$y, nlambda = 2))
    # More than the tenth that few factors have.
    expect_gt(expected, 0.2)
    methods <- fits[c("moment", "glasso", "flasso")]
    for (method in names(methods)) {
        path <- methods[[method]](wide$x, wide$y, nlambda = 2)
        expect_equal(ends(path), expected)
    }
    # The others cannot be fitted down there in a moment.
    samples <- list(x = wide$x, y = wide$y, variables = 1:60)
    grid <- check_grid(NULL, 2, NULL)
    expect_equal(rust_grid(grid, samples)$lambda_min_ratio, expected)
    cliques <- feat_cliques(list(1:2, 2:3))
    expect_equal(rust_grid(grid, samples, cliques)$lambda_min_ratio, 0.1)
})

test_that("equal samples have no change", {
    for (method in names(fits)) {
        path <- fits[[method]](x, x, 0.05)
        # Two fits by themselves may round differently.
        expect_lt(max(0, abs(path$coefficients$value)), 1e-10)
        if (method != "is_glasso") {
            expect_equal(path$diagnostics$n_detected, 0)
        }
    }
})

test_that("just below lambda_max there is an edge", {
    for (method in names(fits)) {
        path <- fits[[method]](x, y, paths[[method]]$lambda_max * c(1, 0.99))
        expect_equal(path$diagnostics$n_edges == 0, c(TRUE, FALSE))
    }
})

test_that("permuting the variables permutes the change", {
    order <- c(3, 1, 5, 2, 4)
    # Points are drawn for the variables in their order.
    for (method in setdiff(names(fits), c("is_glasso", "is_flasso"))) {
        path <- paths[[method]]
        permuted <- refit_baseline(path, x[, order], y[, order])
        expect_equal(as.matrix(last_coef(permuted))[LETTERS[1:5], LETTERS[1:5]],
                     as.matrix(last_coef(path)), tolerance = 1e-3)
    }
})

test_that("predict() says why there is nothing to predict", {
    for (method in names(paths)) {
        expect_error(predict(paths[[method]], x), "density ratio",
                     class = "kliep_error_method")
    }
})

test_that("bad input gets the errors of kliep_path()", {
    broken <- x
    broken[2, 3] <- NA
    flat <- x
    flat[, 2] <- 1
    for (fit in fits) {
        expect_error(fit(x), class = "kliep_error_missing_sample")
        expect_error(fit(x, "y"), class = "kliep_error_type")
        expect_error(fit(broken, y), class = "kliep_error_missing")
        expect_error(fit(x[1:2, ], y), "at least 3",
                     class = "kliep_error_size")
        expect_error(fit(x, y[1:2, ]), class = "kliep_error_size")
        expect_error(fit(x[, 1, drop = FALSE], y[, 1, drop = FALSE]),
                     class = "kliep_error_size")
        expect_error(fit(x, y[, 1:3]), class = "kliep_error_dimension")
        expect_error(fit(flat, y), class = "kliep_error_constant")
        expect_error(fit(x, y, nlambda = 0), class = "kliep_error_lambda")
        expect_error(fit(x, y, lambda_min_ratio = 2),
                     class = "kliep_error_lambda")
        expect_error(fit(x, y, standardize = "all"),
                     class = "kliep_error_argument")
        expect_error(fit(x, y, nlamda = 3), "Did you mean",
                     class = "kliep_error_dots")
        expect_error(fit(1e200 * x, y, standardize = "none"),
                     class = "kliep_error_overflow")
        expect_error(fit(x, y, -1), class = "kliep_error_lambda")
        expect_error(fit(x, y, c(0.1, 0.1)), class = "kliep_error_lambda")
        expect_message(fit(x, y, c(0.1, 0.2)), class = "kliep_message_lambda")
    }
})

test_that("a singular covariance is no error", {
    few <- random_pair(12, 5, 6)
    for (fit in fits) {
        # The D-trace loss of these has no minimum much further down.
        path <- suppressWarnings(
            fit(few$x, few$y, nlambda = 5, lambda_min_ratio = 0.7),
            classes = "kliep_warning_importance"
        )
        expect_equal(path$diagnostics$status, rep("converged", 5))
    }
})

test_that("huge and tiny units make no difference to scaled samples", {
    for (method in names(paths)) {
        path <- refit_baseline(paths[[method]], 1e160 * x, 1e-160 * y)
        expect_equal(edges(path)$weight, edges(paths[[method]])$weight,
                     tolerance = 1e-6)
    }
})

test_that("`lambda`, as other packages call it, is pointed to `lambda2`", {
    for (fit in list(moment_path, glasso_path, dtrace_path, flasso_path,
                     is_glasso_path, is_flasso_path)) {
        expect_error(fit(x, y, lambda = 0.1), "is `lambda2`",
                     class = "kliep_error_dots", fixed = TRUE)
    }
})
