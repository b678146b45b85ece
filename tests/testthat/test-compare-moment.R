pair <- random_pair(5, 40, 30)
x <- pair$x
y <- pair$y

test_that("the change is the difference of moments above the threshold", {
    for (standardize in c("within", "pooled", "none")) {
        path <- moment_path(x, y, nlambda = 6, standardize = standardize)
        zx <- standardised(x, path$center$x, path$scale$x)
        zy <- standardised(y, path$center$y, path$scale$y)
        difference <- crossprod(zx) / 40 - crossprod(zy) / 30
        for (step in 1:6) {
            kept <- difference * (abs(difference) > path$lambda2[step])
            expect_equal(as.matrix(coef(path, path$lambda2[step])), kept,
                         ignore_attr = TRUE)
        }
    }
})

test_that("it starts where kliep_path() starts", {
    for (standardize in c("within", "pooled", "none")) {
        expect_equal(
            moment_path(x, y, nlambda = 2,
                        standardize = standardize)$lambda_max,
            paper_path(x, y, nlambda = 2,
                       standardize = standardize)$lambda_max
        )
    }
})

test_that("the score is the squared distance of the moments", {
    path <- moment_path(x, y, nlambda = 6)
    new <- random_pair(5, 50, 60, seed = 2)
    zx <- standardised(new$x, path$center$x, path$scale$x)
    zy <- standardised(new$y, path$center$y, path$scale$y)
    difference <- crossprod(zx) / 50 - crossprod(zy) / 60
    distance <- vapply(path$lambda2, function(lambda2) {
        sum((as.matrix(coef(path, lambda2)) - difference)^2)
    }, 0)
    scores <- holdout_scores(path, new$x, new$y)
    expect_equal(scores$score, -distance / 2 + sum(difference^2) / 2)
    expect_equal(scores$se[1], 0)
    expect_true(all(scores$se[-1] > 0))
})
