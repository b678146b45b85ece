# Data nobody wants and everybody has.

test_that("a copy of a column shares its change", {
    pair <- random_pair(4, 40)
    x <- pair$x[, c(1, 2, 3, 4, 2)]
    y <- pair$y[, c(1, 2, 3, 4, 2)]
    expect_message(
        path <- paper_path(x, y, nlambda = 8,
                           control = kliep_control(tol = 1e-10)),
        class = "kliep_message_twins"
    )
    expect_certified(path, x, y)
    for (step in 1:8) {
        theta <- coef(path, path$lambda2[step])
        expect_equal(theta[1, 2], theta[1, 5], tolerance = 1e-3)
    }
})

test_that("collinear columns and fewer observations than variables are fine", {
    pair <- random_pair(5, 4, 3)
    x <- cbind(pair$x, pair$x[, 1] + pair$x[, 2], -pair$x[, 3])
    y <- cbind(pair$y, pair$y[, 1] + pair$y[, 2], -pair$y[, 3])
    path <- paper_path(x, y, nlambda = 8)
    expect_certified(path, x, y)
})

test_that("constant columns are fine where nothing divides by them", {
    pair <- random_pair(4, 40)
    x <- cbind(pair$x, 1, 0)
    y <- cbind(pair$y, 1, 0)
    path <- paper_path(x, y, nlambda = 8, standardize = "none")
    expect_certified(path, x, y)
    theta <- last_coef(path)
    expect_equal(theta[, 6], rep(0, 6), ignore_attr = TRUE)
    expect_equal(theta[5, 5], 0)
})

test_that("two observations are enough for a fit", {
    path <- paper_path(matrix(c(1, 2, 5, 3), 2), matrix(c(1, -2, 5, 3), 2),
                       nlambda = 5)
    expect_true(all(path$diagnostics$status == "converged"))
})

test_that("two variables are a network", {
    pair <- random_pair(2, 30)
    path <- paper_path(pair$x, pair$y, nlambda = 6)
    expect_equal(dim(last_coef(path)), c(2, 2))
    expect_certified(path, pair$x, pair$y)
})

test_that("outliers and bad scales still converge", {
    pair <- random_pair(5, 40)
    pair$x[3, 2] <- 50
    pair$y[7, ] <- -30
    for (standardize in c("within", "pooled")) {
        path <- paper_path(pair$x, pair$y, nlambda = 10,
                           standardize = standardize)
        expect_certified(path, pair$x, pair$y)
    }
})

test_that("binary and count data are numbers", {
    set.seed(1)
    x <- matrix(rbinom(200, 1, 0.4), 40)
    y <- matrix(rpois(200, 3), 40)
    path <- paper_path(x, y, nlambda = 5)
    expect_true(all(path$diagnostics$status == "converged"))
})

test_that("a grid above lambda_max detects nothing, and converges", {
    pair <- random_pair(5, 40)
    path <- paper_path(pair$x, pair$y, lambda2 = c(1e6, 1e5))
    expect_equal(path$diagnostics$n_detected, c(0, 0))
    expect_equal(path$diagnostics$objective, c(0, 0))
    expect_equal(path$diagnostics$status, rep("converged", 2))
})

test_that("steps that rounding swallows do not keep the primal solver", {
    x <- rbind(c(-3e6, 4e-8, 7e-8), c(-3.6e6, -1.6e-7, 2e-9))
    set.seed(1)
    y <- matrix(rpois(60, 0.7), 20)
    path <- NULL
    expect_loops(limit = 100, work = function() {
        suppressWarnings(classes = "kliep_warning", {
            path <<- paper_path(x, y, lambda1 = 1e-3, nlambda = 6,
                                standardize = "none", direction = "q/p",
                                solver = "primal",
                                control = kliep_control(max_iter = 2000))
        })
    })
    expect_true(all(path$diagnostics$status %in% c("converged", "max_iter")))
})

test_that("a constant is refused with a way out that there is", {
    pair <- random_pair(4, 30)
    pair$x[, 3] <- 0
    # These have no `standardize` that the hint could suggest.
    for (run in list(kliep_auto, kliep_infer, function(...) {
        kliep_path(..., features = feat_nonparanormal())
    })) {
        refused <- expect_error(run(pair$x, pair$y),
                                class = "kliep_error_constant")
        expect_match(conditionMessage(refused), "Drop it.", fixed = TRUE)
        expect_no_match(conditionMessage(refused), "standardize")
    }
    expect_error(kliep_path(pair$x, pair$y), "standardize = \"none\"",
                 class = "kliep_error_constant")
    expect_s3_class(kliep_path(pair$x, pair$y, standardize = "none"),
                    "change_path")
})
