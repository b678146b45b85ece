pair <- random_pair(6, 60)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:6]
path <- kliep_path(x, y, nlambda = 10, features = feat_gaussian(TRUE),
                   control = kliep_control(tol = 1e-9))
last <- path$lambda2[10]

test_that("coef() is a sparse symmetric matrix with names", {
    theta <- coef(path, path$lambda2[6])
    expect_s4_class(theta, "dsCMatrix")
    expect_equal(dimnames(theta), list(LETTERS[1:6], LETTERS[1:6]))
    expect_true(Matrix::isSymmetric(theta))
    none <- coef(path, path$lambda_max)
    expect_s4_class(none, "dsCMatrix")
    expect_equal(Matrix::nnzero(none), 0)
})

test_that("the table, the matrix and the edges tell the same story", {
    theta <- as.matrix(coef(path, last))
    table <- coef(path, last, type = "table")
    expect_named(table, c("from", "to", "term", "value"))
    expect_true(all(table$value != 0))
    edge <- table[table$from != table$to, ]
    expect_equal(theta[cbind(edge$from, edge$to)], edge$value)
    expect_equal(edge$term, paste0(edge$from, "*", edge$to))
    single <- table[table$from == table$to, ]
    norms <- tapply(single$value^2, single$from, function(v) sqrt(sum(v)))
    expect_equal(diag(theta)[names(norms)], as.vector(norms),
                 ignore_attr = TRUE)
    found <- edges(path, last)
    expect_equal(theta[cbind(found$from, found$to)], found$weight)
    expect_equal(nrow(found), nrow(edge))
})

test_that("edges come strongest first, each with its entry", {
    found <- edges(path, last)
    expect_named(found, c("from", "to", "weight", "enters"))
    expect_false(is.unsorted(-abs(found$weight)))
    expect_true(all(match(found$from, LETTERS) < match(found$to, LETTERS)))
    for (row in seq_len(nrow(found))) {
        here <- vapply(path$lambda2, function(lambda2) {
            coef(path, lambda2)[found$from[row], found$to[row]] != 0
        }, NA)
        expect_equal(found$enters[row], max(path$lambda2[here]))
    }
})

test_that("equal weights keep the order of the variables", {
    tied <- path
    tied$coefficients <- data.frame(
        step = 10L, from = c(3L, 1L, 1L), to = c(4L, 3L, 2L), term = 1L,
        value = c(1, -1, 1)
    )
    expect_equal(edges(tied)$to, c("B", "C", "D"))
})

test_that("no edges give a table without rows", {
    none <- edges(path, path$lambda_max)
    expect_equal(nrow(none), 0)
    expect_named(none, c("from", "to", "weight", "enters"))
    table <- coef(path, path$lambda_max, type = "table")
    expect_equal(nrow(table), 0)
    expect_named(table, c("from", "to", "term", "value"))
    change <- kliep_change(x, y, lambda2 = 2 * path$lambda_max)
    expect_equal(nrow(edges(change)), 0)
    expect_output(print(change), "0 edges detected")
})

test_that("edges with several coefficients weigh by their norm", {
    groups <- path
    groups$spec$features <- product_features("polynomial", 1,
                                             matrix(1L, 2, 2), 2L)
    groups$coefficients <- data.frame(
        step = c(9L, 10L, 10L, 10L), from = c(1L, 1L, 1L, 2L),
        to = c(2L, 2L, 2L, 2L), term = c(1L, 1L, 2L, 1L),
        value = c(1, -3, 4, -2)
    )
    expect_equal(last_edges(groups)$weight, 5)
    # A ranking has the weight that an edge enters with.
    expect_equal(edges(groups)$weight, 1)
    expect_equal(last_coef(groups)["A", "B"], 5)
    expect_equal(last_coef(groups)["B", "B"], -2)
    expect_equal(edges(groups)$enters, path$lambda2[9])
})

test_that("lambda2 is looked up on the grid", {
    expect_error(coef(path), "10 values of `lambda2`.*kliep_select",
                 class = "kliep_error_lambda")
    expect_error(predict(path, y), class = "kliep_error_lambda")
    expect_error(as_igraph(path), class = "kliep_error_lambda")
    expect_silent(coef(path, path$lambda2[4] * (1 + 1e-10)))
    expect_message(theta <- coef(path, path$lambda2[4] * 1.001), "nearest",
                   class = "kliep_message")
    expect_equal(theta, coef(path, path$lambda2[4]))
    expect_error(coef(path, c(0.1, 0.2)), class = "kliep_error_lambda")
    expect_error(coef(path, -1), class = "kliep_error_lambda")
    expect_error(coef(path, last, type = "list"),
                 class = "kliep_error_argument")
})

test_that("there is nothing to see where the objective has no minimum", {
    ended <- path
    ended$diagnostics$status[10] <- "unbounded"
    expect_error(coef(ended, last), class = "kliep_error_unbounded")
    expect_error(edges(ended, last / 2), class = "kliep_error_unbounded")
    expect_error(predict(ended, y, last), class = "kliep_error_unbounded")
    expect_equal(last_coef(ended), coef(path, path$lambda2[9]))
    ended$diagnostics$status[] <- "unbounded"
    expect_error(coef(ended), class = "kliep_error_unbounded")
    expect_output(print(summary(ended)), "No fit")
    expect_s3_class(autoplot(ended), "ggplot")
})

test_that("20,000 variables are no burden", {
    big <- path
    big$variables <- paste0("V", seq_len(20000))
    big$coefficients <- data.frame(
        step = rep(1:10, each = 100), from = rep(1:100, 10),
        to = rep(20000L - 0:99, 10), term = 1L, value = 1
    )
    theta <- last_coef(big)
    expect_equal(dim(theta), c(20000, 20000))
    expect_lt(object.size(theta), 5e6)
    expect_equal(edges(big)$enters, rep(path$lambda2[1], 100))
    expect_equal(nrow(path_lines(big)), 1000)
})

# What varies from run to run or by machine does not belong in a snapshot.
steady <- function(object) {
    object$diagnostics$seconds <- 0.25
    object$diagnostics$iterations <- 7L
    object$diagnostics$kkt <- 1.5e-7
    object$diagnostics$gap <- 2.5e-8
    object
}

test_that("printing is short and says what matters", {
    change <- kliep_change(x, y, lambda2 = 0.2,
                           control = kliep_control(tol = 1e-9))
    expect_snapshot(steady(path))
    expect_snapshot(summary(steady(path)))
    expect_snapshot(steady(change))
    expect_snapshot(summary(steady(change)))
    without <- steady(path)
    without$diagnostics$gap <- NA_real_
    without$diagnostics$status[10] <- "unbounded"
    expect_snapshot(without)
})
