# Without the ridge the objective has no minimum below a threshold, which an
# independent linear programme finds.
skip_if_not_installed("lpSolve")

threshold_case <- function(seed, direction = "p/q", penalty_factor = NULL) {
    pair <- random_pair(5, 14, 12, seed = seed)
    path <- paper_path(pair$x, pair$y, nlambda = 2, direction = direction,
                       penalty_factor = penalty_factor)
    list(x = pair$x, y = pair$y, direction = direction,
         penalty_factor = penalty_factor, lambda_max = path$lambda_max,
         threshold = unbounded_threshold(path, pair$x, pair$y))
}

fit_at <- function(case, lambda2) {
    paper_change(case$x, case$y, lambda1 = 0, lambda2 = lambda2,
                 direction = case$direction,
                 penalty_factor = case$penalty_factor)
}

test_that("the status is right on both sides of the threshold", {
    m <- matrix(c(0.5, 1.5)[1 + (row(diag(5)) + col(diag(5))) %% 2], 5)
    cases <- c(
        lapply(1:4, threshold_case),
        lapply(5:6, threshold_case, direction = "q/p"),
        lapply(7:8, threshold_case, direction = "symmetric"),
        lapply(9:10, threshold_case, penalty_factor = m)
    )
    for (case in cases) {
        expect_lt(case$threshold, case$lambda_max)
        fit <- fit_at(case, case$threshold * 1.05)
        expect_certified(fit, case$x, case$y)
        expect_error(fit_at(case, case$threshold * 0.95),
                     class = "kliep_error_unbounded")
    }
})

test_that("close to the threshold nothing false is claimed", {
    case <- threshold_case(1)
    for (share in c(0.999, 0.9999, 1, 1.0001, 1.001)) {
        status <- tryCatch(
            suppressWarnings(fit_at(case, case$threshold * share))$
                diagnostics$status,
            kliep_error_unbounded = function(condition) "unbounded"
        )
        expect_false(status == "converged" && share < 1)
        expect_false(status == "unbounded" && share > 1)
    }
})

test_that("a path ends at the threshold, with a warning that names it", {
    case <- threshold_case(2)
    grid <- case$threshold * c(1.5, 1.2, 1.1, 0.9, 0.8)
    expect_warning(
        path <- paper_path(case$x, case$y, lambda1 = 0, lambda2 = grid),
        paste0("lambda2 = ", format(grid[4], digits = 4)), fixed = TRUE,
        class = "kliep_warning_unbounded"
    )
    expect_equal(path$lambda2, grid[1:4])
    expect_equal(path$diagnostics$status, c(rep("converged", 3), "unbounded"))
    expect_equal(path$diagnostics$objective[4], -Inf)
    expect_false(4 %in% path$coefficients$step)
    expect_equal(last_coef(path), coef(path, grid[3]))
    expect_error(coef(path, grid[4]), class = "kliep_error_unbounded")
    expect_s3_class(autoplot(path), "ggplot")
})

test_that("the error of a single fit says what to do", {
    case <- threshold_case(3)
    expect_error(fit_at(case, case$threshold / 2), "set `lambda1 > 0`",
                 class = "kliep_error_unbounded")
    fit <- paper_change(case$x, case$y, lambda1 = 0.01,
                        lambda2 = case$threshold / 2)
    expect_equal(fit$diagnostics$status, "converged")
})

test_that("a fit too close to the threshold warns", {
    path <- paper_path(random_pair(4, 30)$x, random_pair(4, 30)$y, nlambda = 3)
    path$diagnostics$status[3] <- "near_threshold"
    expect_warning(warn_unfinished(path), "step 3",
                   class = "kliep_warning_near_threshold")
})
