# Whatever two samples hold, a fit ends soon, in a certificate, a status with a
# name or a classed error, and never in NaN.

# ---- samples that real data may look like ----------------------------------

draw_table <- function(n, d, kind) {
    normal <- function() matrix(stats::rnorm(n * d), n)
    switch(
        kind,
        normal = normal(),
        scales = sweep(normal(), 2, 10^stats::runif(d, -8, 8), "*"),
        shifted = sweep(normal(), 2, 10^stats::runif(d, -2, 6), "+"),
        ties = round(normal()),
        outliers = {
            values <- normal()
            values[sample(length(values), 1)] <- 1e6
            values
        },
        heavy = matrix(stats::rt(n * d, 1), n),
        copies = normal()[sample(n, n, TRUE), , drop = FALSE],
        counts = matrix(stats::rpois(n * d, 0.7), n),
        equal = matrix(stats::rnorm(d), n, d, byrow = TRUE),
        line = outer(stats::rnorm(n), stats::rnorm(d))
    )
}

kinds <- c("normal", "scales", "shifted", "ties", "outliers", "heavy",
           "copies", "counts", "equal", "line")

draw_case <- function() {
    d <- sample(c(2, 3, 5, 9), 1)
    n <- sample(c(2, 3, 5, 20, 60), 2, TRUE)
    x <- draw_table(n[1], d, sample(kinds, 1))
    y <- draw_table(n[2], d, sample(kinds, 1))
    # Samples that a plane separates have the largest ratio there is.
    if (stats::runif(1) < 0.2) x <- x + 1e3
    list(
        x = x, y = y,
        features = sample(list(feat_gaussian(), feat_nonparanormal(2),
                               feat_polynomial(3), feat_rbf()), 1)[[1]],
        lambda1 = sample(c(0, 1e-3, 0.1, 10), 1),
        standardize = sample(c("within", "pooled", "none"), 1),
        direction = sample(c("p/q", "q/p", "symmetric"), 1),
        solver = sample(c("auto", "auto", "primal"), 1)
    )
}

fit_case <- function(case) {
    setTimeLimit(elapsed = 600, transient = TRUE)
    on.exit(setTimeLimit())
    withCallingHandlers(
        tryCatch(
            paper_path(case$x, case$y, case$features, case$lambda1,
                       nlambda = 6, standardize = case$standardize,
                       direction = case$direction, solver = case$solver,
                       control = kliep_control(max_iter = 2000)),
            kliep_error = identity
        ),
        kliep_warning = function(condition) invokeRestart("muffleWarning")
    )
}

statuses <- c("converged", "max_iter", "unbounded", "near_threshold")

expect_sound <- function(path, case) {
    if (inherits(path, "kliep_error")) {
        return(expect_true(nzchar(conditionMessage(path))))
    }
    rows <- path$diagnostics
    expect_true(all(rows$status %in% statuses))
    expect_false(any(is.nan(path$coefficients$value)))
    done <- rows[rows$status == "converged", ]
    expect_true(all(is.finite(done$objective)))
    if (case$lambda1 > 0) {
        expect_true(all(done$gap <= 1e-6 * pmax(abs(done$objective), 1e-3)))
    }
}

test_that("whatever the samples hold, a fit is certified or says why not", {
    skip_on_cran()
    ended <- character()
    for (seed in 1:150) {
        set.seed(seed)
        case <- draw_case()
        path <- fit_case(case)
        expect_sound(path, case)
        ended <- c(ended, if (inherits(path, "kliep_error")) "error" else
            path$diagnostics$status)
    }
    # The cases are hard and not hopeless.
    expect_gt(mean(ended == "converged"), 0.5)
})

test_that("selection, prediction and tests hold out as well", {
    skip_on_cran()
    for (seed in 1:20) {
        set.seed(1000 + seed)
        case <- draw_case()
        chosen <- withCallingHandlers(
            tryCatch(
                kliep_select(case$x, case$y, case$features, lambda1 = 0.1,
                             folds = 2, nlambda = 4,
                             standardize = case$standardize,
                             direction = case$direction),
                kliep_error = identity
            ),
            kliep_warning = function(condition) {
                invokeRestart("muffleWarning")
            }
        )
        if (inherits(chosen, "kliep_error")) {
            expect_true(nzchar(conditionMessage(chosen)))
        } else {
            expect_false(any(is.nan(chosen$scores$score)))
            expect_true(all(is.finite(predict(chosen, case$x))))
        }
    }
})
