# The closed-form normaliser. Its derivatives are tested in the core; here
# what a user sees of it.

# The fitted objective by the formulas of the help page, on full matrices.
closed_form <- function(path, x, y, step) {
    z <- list(x = standardised(x, path$center$x, path$scale$x),
              y = standardised(y, path$center$y, path$scale$y))
    z <- lapply(z, function(z) sign(z) * abs(z)^path$spec$features$power)
    s <- lapply(z, function(z) crossprod(z) / nrow(z))
    theta <- as.matrix(coef(path, path$lambda2[step]))
    e <- unname(theta + diag(diag(theta)))
    identity <- diag(nrow(e))
    terms <- list("p/q" = list(list(1, s$y, s$x)),
                  "q/p" = list(list(-1, s$x, s$y)))
    terms$symmetric <- c(terms[["p/q"]], terms[["q/p"]])
    value <- 0
    xi <- 0
    for (term in terms[[path$spec$direction]]) {
        m <- identity - term[[1]] * term[[2]] %*% e
        value <- value - 0.5 * determinant(m)$modulus -
            0.5 * term[[1]] * sum(term[[3]] * e)
        xi <- xi + term[[1]] * (term[[3]] - solve(m, term[[2]]))
    }
    t <- unname(theta)[upper.tri(theta, diag = TRUE)]
    xi <- xi[upper.tri(xi, diag = TRUE)]
    lambda2 <- path$lambda2[step]
    kkt <- ifelse(t == 0, pmax(0, abs(xi) - lambda2),
                  abs(xi - path$spec$lambda1 * t - lambda2 * sign(t)))
    list(objective = as.vector(value) + path$spec$lambda1 / 2 * sum(t^2) +
             lambda2 * sum(abs(t)), kkt = max(kkt))
}

test_that("fits with the Gaussian normaliser are certified", {
    # More observations than variables, and fewer.
    for (size in list(c(6, 40), c(15, 10))) {
        pair <- random_pair(size[1], size[2])
        for (direction in c("p/q", "q/p", "symmetric")) {
            path <- paper_path(pair$x, pair$y, nlambda = 5,
                               features = feat_nonparanormal(1.5),
                               normalizer = "gaussian", direction = direction)
            expect_true(all(path$diagnostics$status == "converged"))
            expect_gt(path$diagnostics$n_edges[5], 0)
            for (step in 1:5) {
                plain <- closed_form(path, pair$x, pair$y, step)
                expect_equal(path$diagnostics$objective[step],
                             plain$objective)
                expect_lt(abs(path$diagnostics$kkt[step] - plain$kkt), 1e-10)
            }
        }
    }
})

test_that("both normalisers agree as the samples grow", {
    apart <- vapply(c(500, 50000), function(n) {
        set.seed(1)
        pair <- sim_gaussian(d = 4, n = n, density = 0.8, n_changed = 2)
        theta <- lapply(c("empirical", "gaussian"), function(normalizer) {
            as.matrix(coef(paper_change(pair$x, pair$y, lambda2 = 0.02,
                                        normalizer = normalizer)))
        })
        max(abs(theta[[1]] - theta[[2]]))
    }, 0)
    # A hundred times the observations, a tenth of the Monte-Carlo error.
    expect_lt(apart[2], 0.3 * apart[1])
    expect_lt(apart[2], 0.02)
})

test_that("the Gaussian normaliser finds what changed", {
    set.seed(2)
    pair <- sim_gaussian(d = 15, n = 1500, n_changed = 5)
    path <- paper_path(pair$x, pair$y, normalizer = "gaussian",
                       direction = "symmetric")
    expect_gt(pr_curve(path, pair)$average_precision, 0.8)
    expect_output(print(path), "normalizer gaussian")
    expect_equal(mean(last_predict(path, pair$y, type = "ratio")), 1)
    set.seed(1)
    chosen <- kliep_select(pair$x, pair$y, normalizer = "gaussian",
                           direction = "symmetric", nlambda = 10, folds = 3)
    expect_gt(nrow(edges(chosen)), 0)
})

test_that("unpenalised and excluded factors are respected", {
    pair <- random_pair(5, 40)
    path <- paper_path(pair$x, pair$y, normalizer = "gaussian", nlambda = 4,
                       penalty_factor = c(single = 0, edge = 1),
                       standardize = "none")
    expect_true(all(path$diagnostics$status == "converged"))
    expect_identical(path$diagnostics$n_edges[1], 0L)
    expect_true(all(diag(as.matrix(coef(path, path$lambda2[1]))) != 0))
    kept_out <- paper_path(pair$x, pair$y, normalizer = "gaussian",
                           nlambda = 4,
                           penalty_factor = c(single = Inf, edge = 1))
    expect_true(all(diag(as.matrix(last_coef(kept_out))) == 0))
})

test_that("what the Gaussian normaliser does not fit is refused", {
    pair <- random_pair(4, 20)
    refused <- function(class, ...) {
        expect_error(paper_path(pair$x, pair$y, normalizer = "gaussian", ...),
                     class = paste0("kliep_error_", class))
    }
    refused("normalizer", features = feat_polynomial(3))
    refused("normalizer", features = feat_gaussian(linear = TRUE))
    refused("normalizer", features = feat_rbf(1))
    refused("normalizer", features = feat_custom(`*`))
    refused("solver", solver = "dual")
    expect_error(paper_path(pair$x, pair$y, normalizer = "poisson"),
                 class = "kliep_error_argument")
    small <- random_pair(8, 6)
    expect_error(paper_path(small$x, small$y, lambda1 = 0,
                            normalizer = "gaussian"), "singular",
                 class = "kliep_error_lambda")
    path <- paper_path(pair$x, pair$y, lambda1 = 0, normalizer = "gaussian",
                       nlambda = 5)
    expect_true(all(path$diagnostics$status == "converged"))
})
