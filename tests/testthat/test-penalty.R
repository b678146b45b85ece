pair <- random_pair(5, 40)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:5]

tight <- kliep_control(tol = 1e-10)

test_that("one number scales lambda2", {
    expect_equal(
        coef(kliep_change(x, y, lambda2 = 0.05, penalty_factor = 2,
                          control = tight)),
        coef(kliep_change(x, y, lambda2 = 0.1, control = tight)),
        tolerance = 1e-4
    )
})

test_that("the ways to write penalty factors agree", {
    m <- matrix(3, 5, 5)
    diag(m) <- 0.5
    fit <- function(penalty_factor) {
        kliep_change(x, y, lambda2 = 0.05, penalty_factor = penalty_factor,
                     control = tight)
    }
    named <- coef(fit(c(edge = 3, single = 0.5)))
    expect_equal(coef(fit(m)), named, tolerance = 1e-4)
    expect_equal(coef(fit(m[upper.tri(m, diag = TRUE)])), named,
                 tolerance = 1e-4)
})

test_that("a named matrix is matched by name", {
    m <- matrix(1, 5, 5, dimnames = list(LETTERS[1:5], LETTERS[1:5]))
    m["A", "C"] <- m["C", "A"] <- 7
    m["B", "B"] <- 3
    order <- c(4, 2, 5, 1, 3)
    expect_equal(
        coef(kliep_change(x, y, lambda2 = 0.05, penalty_factor = m)),
        coef(kliep_change(x, y, lambda2 = 0.05,
                          penalty_factor = m[order, order]))
    )
})

test_that("unequal factors satisfy their own optimality conditions", {
    m <- withr::with_seed(1, matrix(runif(25, 0.2, 3), 5))
    m <- (m + t(m)) / 2
    path <- kliep_path(x, y, nlambda = 8, penalty_factor = m)
    expect_equal(path$lambda_max, dense_lambda_max(path, x, y))
    expect_certified(path, x, y)
    expect_equal(path$diagnostics$n_detected[1], 0)
    expect_gt(path$diagnostics$n_detected[2], 0)
})

test_that("Inf keeps a factor out", {
    strongest <- edges(kliep_change(x, y, lambda2 = 0.05))[1, ]
    m <- matrix(1, 5, 5, dimnames = list(LETTERS[1:5], LETTERS[1:5]))
    m[strongest$from, strongest$to] <- Inf
    m[strongest$to, strongest$from] <- Inf
    path <- kliep_path(x, y, nlambda = 6, penalty_factor = m)
    expect_certified(path, x, y)
    for (lambda2 in path$lambda2) {
        expect_equal(coef(path, lambda2)[strongest$from, strongest$to], 0)
    }
    path <- kliep_path(x, y, nlambda = 6,
                       penalty_factor = c(single = Inf, edge = 1))
    expect_true(all(with(path$coefficients, from != to)))
})

test_that("zero leaves a factor in, and lambda_max allows for it", {
    path <- kliep_path(x, y, nlambda = 6,
                       penalty_factor = c(single = 0, edge = 1),
                       standardize = "none")
    expect_certified(path, x, y)
    expect_equal(path$diagnostics$n_detected[1], 5)
    expect_equal(path$diagnostics$n_edges[1], 0)
    expect_gt(path$diagnostics$n_edges[2], 0)
    above <- kliep_path(x, y, lambda2 = path$lambda_max * c(1, 0.999),
                        penalty_factor = c(single = 0, edge = 1),
                        standardize = "none")
    expect_equal(above$diagnostics$n_edges[1], 0)
    expect_gte(above$diagnostics$n_edges[2], 1)
})
