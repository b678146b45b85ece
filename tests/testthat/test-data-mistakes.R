# Tables that are not two samples of observations, and arguments of other
# packages.

samples <- function(d = 6, n = c(30, 25)) {
    pair <- random_pair(d, n[1], n[2])
    colnames(pair$x) <- colnames(pair$y) <- paste0("gene", seq_len(d))
    pair
}

fit <- function(...) kliep_path(..., nlambda = 3)

# Rows with names, columns without.
named_rows <- function(n) {
    matrix(rnorm(6 * n), n, dimnames = list(paste0("p", seq_len(n)), NULL))
}

test_that("variables in rows are noticed by their names", {
    pair <- samples()
    genes <- lapply(pair, t)
    colnames(genes$x) <- paste0("a", 1:30)
    colnames(genes$y) <- paste0("b", 1:25)
    expect_error(fit(genes$x, genes$y), "variables in rows.*`t\\(x\\)`",
                 class = "kliep_error_dimension")
    # As many in both, where nothing else would be wrong.
    colnames(genes$x) <- paste0("a", 1:30)
    same <- genes$x
    colnames(same) <- paste0("b", 1:30)
    expect_error(fit(genes$x, same), "6 rows have the same names",
                 class = "kliep_error_dimension")
    expect_error(fit(as.data.frame(genes$x), as.data.frame(same)),
                 class = "kliep_error_dimension")
    # Without names of columns the rows may be the same patients.
    expect_message(fit(named_rows(30), named_rows(30)), "in rows",
                   class = "kliep_message_transposed")
})

test_that("kliep_auto() says once that variables may be in rows", {
    seen <- 0
    withCallingHandlers(
        kliep_auto(named_rows(30), named_rows(30), n_perm = 19),
        kliep_message_transposed = function(condition) {
            seen <<- seen + 1
            invokeRestart("muffleMessage")
        }
    )
    expect_equal(seen, 1)
})

test_that("without names the shape gives the hint", {
    genes <- list(x = matrix(rnorm(60), 6), y = matrix(rnorm(48), 6))
    expect_error(fit(genes$x, genes$y), "`t(x)`", fixed = TRUE,
                 class = "kliep_error_dimension")
    colnames(genes$x) <- paste0("a", 1:10)
    colnames(genes$y) <- paste0("b", 1:8)
    expect_error(fit(genes$x, genes$y), "`t(x)`", fixed = TRUE,
                 class = "kliep_error_dimension")
    expect_error(fit(genes$x, group = rep(1:2, 5)), "`t(x)`", fixed = TRUE,
                 class = "kliep_error_group")
})

test_that("the same patients twice are two samples", {
    pair <- samples(n = c(30, 30))
    rownames(pair$x) <- rownames(pair$y) <- paste0("patient", 1:30)
    expect_silent(fit(pair$x, pair$y))
    expect_silent(fit(as.data.frame(pair$x), as.data.frame(pair$y)))
})

test_that("matrices of correlations and covariances are refused", {
    pair <- samples()
    expect_error(fit(cor(pair$x), pair$y), "`x` is a correlation matrix",
                 class = "kliep_error_type")
    expect_error(fit(cor(pair$x), cor(pair$y)), "observations themselves are",
                 class = "kliep_error_type")
    expect_error(fit(pair$x, 2 * cov(pair$y)), "`y` is a covariance matrix",
                 class = "kliep_error_type")
    square <- matrix(rnorm(36), 6)
    expect_s3_class(fit(square, square + t(square) * 0.1), "kliep_path")
})

test_that("the column with the conditions is named as such", {
    pair <- samples()
    marked <- list(x = cbind(pair$x, case = 1), y = cbind(pair$y, case = 0))
    expect_error(fit(marked$x, marked$y), "`case` has one value in all of `x`",
                 class = "kliep_error_constant")
    expect_error(kliep_auto(marked$x, marked$y), "as `group`",
                 class = "kliep_error_constant")
    binary <- lapply(marked, function(values) (values > 0.5) + 0)
    expect_error(kliep_auto(binary$x, binary$y), "`case` has one value",
                 class = "kliep_error_constant")
    # Constant by chance, and not another value in each.
    flat <- lapply(pair, function(values) cbind(values, flat = 2))
    expect_error(fit(flat$x, flat$y), "would divide by zero",
                 class = "kliep_error_constant")
})

test_that("a column that comes twice gets one message", {
    pair <- samples()
    twice <- lapply(pair, function(values) cbind(values, copy = values[, 2]))
    said <- character()
    withCallingHandlers(
        kliep_infer(twice$x, twice$y, n_perm = 19),
        kliep_message = function(condition) {
            said <<- c(said, conditionMessage(condition))
            invokeRestart("muffleMessage")
        }
    )
    expect_length(said, 1)
    expect_match(said, "`gene2` and `copy`")
    expect_silent(fit(pair$x, pair$y))
    # Two values are the same by chance.
    spins <- sign(pair$x)
    expect_silent(kliep_path(cbind(spins, copy = spins[, 1]),
                             cbind(sign(pair$y), copy = sign(pair$y)[, 1]),
                             feat_ising(), nlambda = 3))
})

test_that("raw counts get a message, other whole numbers do not", {
    withr::local_seed(1)
    reads <- function(n) matrix(rnbinom(6 * n, mu = 300, size = 1), n)
    x <- reads(40)
    y <- reads(30)
    expect_message(fit(x, y), "counts, up to", class = "kliep_message_counts")
    expect_silent(fit(x, y, features = feat_nonparanormal()))
    expect_silent(fit(log1p(x), log1p(y)))
    grades <- function(n) matrix(sample(5, 6 * n, TRUE), n)
    expect_silent(fit(grades(40), grades(30)))
    # A result brings samples of which this has been said.
    path <- suppressMessages(fit(x, y))
    expect_silent(kliep_path(path, nlambda = 3))
})

test_that("`lambda` and `s` of glmnet are named as what they are here", {
    pair <- samples()
    for (fun in list(kliep_path, kliep_change, kliep_select, kliep_test,
                     kliep_stability)) {
        expect_error(fun(pair$x, pair$y, lambda = 0.1), "is `lambda2`",
                     class = "kliep_error_dots")
    }
    # No penalty decides what this one reports.
    expect_error(kliep_infer(pair$x, pair$y, lambda = 0.1),
                 "needs no penalty.*`lambda2`", class = "kliep_error_dots")
    expect_error(kliep_spec(lambda = 0.1), "is `lambda2`",
                 class = "kliep_error_dots")
    expect_error(kliep_spec_paper(lambda = 0.1), "is `lambda2`",
                 class = "kliep_error_dots")
    path <- fit(pair$x, pair$y)
    expect_error(coef(path, s = 0.1), "is `lambda2`",
                 class = "kliep_error_dots")
    # No argument is spelled like this one, and `...` is not suggested.
    error <- tryCatch(coef(path, abc = 1), error = conditionMessage)
    expect_no_match(error, "Did you mean")
})

test_that("predict() says that it needs newdata", {
    pair <- samples()
    change <- kliep_change(pair$x, pair$y, lambda2 = 0.2)
    expect_error(predict(change), "needs `newdata`",
                 class = "kliep_error_missing_sample")
    chosen <- kliep_select(pair$x, pair$y, nlambda = 3, folds = 2)
    expect_error(predict(chosen), "needs `newdata`",
                 class = "kliep_error_missing_sample")
})

test_that("kliep_auto(features = ) names both functions that take some", {
    pair <- samples()
    error <- tryCatch(kliep_auto(pair$x, pair$y, features = feat_gaussian()),
                      kliep_error_dots = conditionMessage)
    expect_match(error, "kliep_infer()", fixed = TRUE)
    expect_match(error, "kliep_select()", fixed = TRUE)
})
