pair <- random_pair(6, 60)
x <- pair$x
y <- pair$y

test_that("a path has a grid and one row of diagnostics for each value", {
    path <- paper_path(x, y, nlambda = 12, lambda_min_ratio = 0.2)
    expect_s3_class(path, c("kliep_path", "change_path"), exact = TRUE)
    expect_equal(path$lambda2[c(1, 12)], path$lambda_max * c(1, 0.2))
    expect_equal(diff(log(path$lambda2)), rep(log(0.2) / 11, 11))
    expect_named(path$diagnostics, c("lambda2", "objective", "gap", "kkt",
                                     "n_detected", "n_edges",
                                     "effective_size", "iterations", "status",
                                     "seconds"))
    expect_equal(path$diagnostics$lambda2, path$lambda2)
    expect_true(all(path$diagnostics$status == "converged"))
    expect_true(all(diff(path$diagnostics$objective) <= 1e-8))
})

test_that("the default grid has 50 values down to the documented ratio", {
    path <- paper_path(x, y)
    expect_length(path$lambda2, 50)
    expect_equal(path$lambda2[50], 0.1 * path$lambda_max)
})

test_that("the default grid ends sooner the more variables there are", {
    n <- c(100, 100)
    d <- c(40, 300, 1000, 10000)
    ratios <- vapply(d * (d + 1) / 2, default_lambda_min_ratio, 0, n = n)
    expect_identical(ratios[1], 0.1)
    expect_true(all(diff(ratios) > 0))
    expect_lt(ratios[4], 0.7)
})

test_that("without a change the default grid detects ten for each sample", {
    set.seed(5)
    x <- matrix(rnorm(50 * 300), 50)
    y <- matrix(rnorm(50 * 300), 50)
    path <- paper_path(x, y, nlambda = 5)
    # A ridge and correlated moments move it, but not by an order.
    expect_gt(path$diagnostics$n_detected[5], 10 * 100 / 5)
    expect_lt(path$diagnostics$n_detected[5], 10 * 100 * 5)
})

test_that("detected factors and edges are counted as they are listed", {
    path <- paper_path(x, y, nlambda = 8, features = feat_gaussian(TRUE))
    for (step in 1:8) {
        theta <- coef(path, path$lambda2[step])
        found <- edges(path, path$lambda2[step])
        expect_equal(nrow(found), path$diagnostics$n_edges[step])
        expect_equal(Matrix::nnzero(Matrix::triu(theta)),
                     path$diagnostics$n_detected[step])
    }
})

test_that("a change is a path of length one", {
    path <- paper_path(x, y, lambda2 = 0.1)
    change <- paper_change(x, y, lambda2 = 0.1)
    expect_s3_class(change, c("kliep_change", "change_path"), exact = TRUE)
    expect_equal(coef(change), coef(path))
    expect_equal(edges(change), edges(path)[c("from", "to", "weight")])
    expect_equal(nrow(change$diagnostics), 1)
})

test_that("kliep_change() passes its further arguments on", {
    change <- paper_change(x, y, lambda2 = 0.1, standardize = "pooled",
                           direction = "q/p", solver = "primal",
                           penalty_factor = c(single = 2, edge = 1),
                           control = kliep_control(tol = 1e-4))
    expect_equal(change$spec$standardize, "pooled")
    expect_equal(change$spec$direction, "q/p")
    expect_equal(change$spec$solver, "primal")
    expect_equal(change$spec$control$tol, 1e-4)
    expect_equal(change$spec$penalty_factor, c(single = 2, edge = 1))
})

test_that("standardisation uses the moments it says", {
    path <- paper_path(x, y, nlambda = 2)
    expect_equal(path$center, list(x = colMeans(x), y = colMeans(y)))
    expect_equal(path$scale$x / apply(x, 2, sd),
                 rep(path$scale$x[1] / sd(x[, 1]), 6))
    both <- rbind(x, y)
    path <- paper_path(x, y, nlambda = 2, standardize = "pooled")
    expect_equal(path$center$x, colMeans(both))
    expect_equal(path$center$x, path$center$y)
    expect_equal(path$scale$x, path$scale$y)
    path <- paper_path(x, y, nlambda = 2, standardize = "none")
    expect_equal(path$center$x, rep(0, 6))
    expect_equal(path$scale$y, rep(1, 6))
})

test_that("units do not matter once standardised", {
    units <- c(1000, 0.001, 5, 1, 1, 2)
    shift <- 1:6
    move <- function(z) sweep(sweep(z, 2, units, "*"), 2, shift, "+")
    for (how in c("within", "pooled")) {
        expect_equal(
            coef(paper_change(move(x), move(y), lambda2 = 0.1,
                              standardize = how)),
            coef(paper_change(x, y, lambda2 = 0.1, standardize = how)),
            tolerance = 1e-5
        )
    }
})

test_that("values that miss the tolerance are counted in a warning", {
    expect_warning(
        path <- paper_path(x, y, nlambda = 10, solver = "primal",
                           control = kliep_control(tol = 1e-10,
                                                   max_iter = 2)),
        "of 10 lambda2 values did not reach tol = 1e-10 \\(step.*worst KKT",
        class = "kliep_warning_max_iter"
    )
    expect_true(any(path$diagnostics$status == "max_iter"))
    expect_warning(
        paper_change(x, y, lambda2 = 0.01, solver = "primal",
                     control = kliep_control(tol = 1e-10, max_iter = 2)),
        "The fit did not reach tol = 1e-10", class = "kliep_warning_max_iter"
    )
})

test_that("steps are listed as ranges", {
    expect_equal(step_ranges(c(48, 49, 50)), "steps 48-50")
    expect_equal(step_ranges(c(1, 2, 3, 7)), "steps 1-3, 7")
    expect_equal(step_ranges(4), "step 4")
})

test_that("progress is reported and its errors are swallowed", {
    bar <- progress_bar("Fitting")
    expect_silent(bar(1, 2))
    expect_silent(bar("not a number", NULL))
    expect_no_error(paper_path(x, y, nlambda = 3, progress = TRUE))
})
