pair <- random_pair(4, 30, 25)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:4]

test_that("transforms agree with huge's where there are no ties", {
    skip_if_not_installed("huge")
    for (method in c("shrinkage", "truncation", "skeptic")) {
        peer <- huge::huge.npn(x, npn.func = method, verbose = FALSE)
        expect_equal(npn_transform(x, method = method), peer,
                     tolerance = 1e-12)
    }
    peer <- huge::huge.npn(x, npn.func = "truncation", npn.thresh = 0.1,
                           verbose = FALSE)
    expect_equal(npn_transform(x, method = "truncation", threshold = 0.1),
                 peer, tolerance = 1e-12)
})

test_that("a monotone transform of the variables makes no difference", {
    warped <- cbind(exp(x[, 1]), x[, 2]^3, 5 * x[, 3] - 2, atan(x[, 4]))
    colnames(warped) <- colnames(x)
    for (method in c("shrinkage", "truncation", "skeptic")) {
        expect_equal(npn_transform(warped, method = method),
                     npn_transform(x, method = method))
    }
})

test_that("every variable comes out with mean zero and variance one", {
    z <- npn_transform(x)
    expect_equal(colMeans(z), rep(0, 4), ignore_attr = TRUE,
                 tolerance = 1e-12)
    expect_equal(apply(z, 2, sd), rep(1, 4), ignore_attr = TRUE)
    expect_equal(apply(z, 2, order), apply(x, 2, order), ignore_attr = TRUE)
})

test_that("two samples are ranked on their own or together", {
    own <- npn_transform(x, y)
    expect_equal(own, list(x = npn_transform(x), y = npn_transform(y)))
    pooled <- npn_transform(x, y + 1, ranks = "pooled")
    both <- npn_transform(rbind(x, y + 1))
    expect_equal(rbind(pooled$x, pooled$y), both)
    expect_gt(mean(pooled$y), mean(pooled$x))
    expect_equal(npn_transform(x, y, "skeptic", ranks = "pooled"),
                 npn_transform(x, y, "skeptic"))
})

test_that("columns of a pair are matched by name, and rows keep theirs", {
    named <- x
    rownames(named) <- paste0("row", seq_len(nrow(x)))
    shuffled <- npn_transform(named, y[, 4:1])
    expect_equal(colnames(shuffled$y), LETTERS[1:4])
    expect_equal(shuffled$y, npn_transform(y))
    expect_equal(rownames(shuffled$x), rownames(named))
    expect_equal(colnames(npn_transform(as.data.frame(x))), LETTERS[1:4])
})

test_that("ties and constant columns are no obstacle", {
    tied <- cbind(a = rep(1:3, 10), b = 7, c = seq_len(30))
    z <- npn_transform(tied)
    expect_true(all(is.finite(z)))
    expect_equal(z[, "b"], rep(0, 30))
    expect_length(unique(z[, "a"]), 3)
    # The scale is that of a variable without ties.
    expect_equal(z[, "c"], npn_transform(tied[, 3:1])[, "c"])
    rho <- npn_transform(tied, method = "skeptic")
    expect_equal(rho["b", ], c(a = 0, b = 1, c = 0))
})

test_that("bad input gets the errors of kliep_path()", {
    expect_error(npn_transform(x[1:2, ]), class = "kliep_error_size")
    expect_error(npn_transform(x, y[1:2, ]), class = "kliep_error_size")
    expect_error(npn_transform("x"), class = "kliep_error_type")
    expect_error(npn_transform(x, y[, 1:3]), class = "kliep_error_dimension")
    expect_error(npn_transform(x, method = "gauss"),
                 class = "kliep_error_argument")
    expect_error(npn_transform(x, threshold = 0.1),
                 class = "kliep_error_argument")
    expect_error(npn_transform(x, method = "truncation", threshold = 0.5),
                 class = "kliep_error_argument")
    expect_error(npn_transform(x, methods = "skeptic"),
                 class = "kliep_error_dots")
    broken <- x
    broken[3, 2] <- NA
    expect_error(npn_transform(broken), class = "kliep_error_missing")
})
