# Bad input gets a clear, classed error, and nothing else.

pair <- random_pair(4, 30)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- c("a", "b", "c", "d")

fit <- function(...) paper_path(..., nlambda = 3)

test_that("errors carry their class, the general one and a hint", {
    error <- tryCatch(fit("a", y), error = identity)
    expect_s3_class(error, c("kliep_error_type", "kliep_error", "error",
                             "condition"), exact = TRUE)
    expect_match(conditionMessage(error), "got \"a\"", fixed = TRUE)
    expect_match(error$hint, "Rows are observations")
})

test_that("samples must be matrices or data frames of numbers", {
    expect_error(fit(NULL, y), class = "kliep_error_type")
    expect_error(fit(x, list(1)), class = "kliep_error_type")
    expect_error(fit(1:10, y), class = "kliep_error_type")
    text <- x
    storage.mode(text) <- "character"
    expect_error(fit(text, y), "character", class = "kliep_error_numeric")
    frame <- as.data.frame(x)
    frame$b <- factor(frame$b)
    frame$d <- as.character(frame$d)
    expect_error(fit(frame, y), "`b` (factor), `d` (character)", fixed = TRUE,
                 class = "kliep_error_numeric")
    frame <- as.data.frame(x)
    frame$b <- as.Date("2020-01-01") + seq_len(nrow(x))
    expect_error(fit(x, frame), "`b` (Date)", fixed = TRUE,
                 class = "kliep_error_numeric")
    frame <- as.data.frame(x)
    frame$b <- x[, 1:2]
    expect_error(fit(frame, y), "`b`", class = "kliep_error_numeric")
    expect_error(fit(x + 0i, y), "complex", class = "kliep_error_numeric")
})

test_that("integer and logical columns count as numbers", {
    whole <- round(10 * x)
    expected <- fit(whole, y)
    storage.mode(whole) <- "integer"
    expect_equal(last_coef(fit(whole, y)), last_coef(expected))
    frame <- as.data.frame(x)
    frame$a <- frame$a > 0
    number <- as.data.frame(x)
    number$a <- as.numeric(frame$a)
    expect_equal(last_coef(fit(frame, y)), last_coef(fit(number, y)))
    expect_equal(last_coef(fit(Matrix::Matrix(x), y)), last_coef(fit(x, y)))
})

test_that("missing and infinite values are located and counted", {
    for (bad in c(NA, NaN, Inf, -Inf)) {
        broken <- x
        broken[7, 3] <- bad
        broken[9, 4] <- bad
        expect_error(fit(broken, y), "2 NA, NaN or infinite values; .* row 7",
                     class = "kliep_error_missing")
        expect_error(fit(y, unname(broken)), "row 7, column 3",
                     class = "kliep_error_missing")
        expect_error(fit(as.data.frame(broken), y), "row 7, column `c`",
                     class = "kliep_error_missing")
    }
})

test_that("different columns are named on both sides", {
    other <- y
    colnames(other)[4] <- "e"
    expect_error(fit(x, other), "Only in `x`: `d`.\nOnly in `y`: `e`",
                 class = "kliep_error_dimension")
    expect_error(fit(x, y[, 1:3]), "got 4 and 3.\nOnly in `x`: `d`",
                 class = "kliep_error_dimension")
    expect_error(fit(unname(x), y[, 1:3]), "got 4 and 3",
                 class = "kliep_error_dimension")
    expect_match(
        tryCatch(fit(x, y[, 1:3]), error = conditionMessage),
        "intersect(colnames(x), colnames(y))", fixed = TRUE
    )
})

test_that("columns are matched by name, and by position without names", {
    expected <- last_coef(fit(x, y))
    expect_equal(last_coef(fit(x, y[, c("d", "b", "a", "c")])), expected)
    expect_equal(last_coef(fit(x, unname(y))), expected)
    expect_equal(last_coef(fit(unname(x), y)), expected)
    expect_equal(as.vector(last_coef(fit(unname(x), unname(y)))),
                 as.vector(expected))
    expect_equal(rownames(last_coef(fit(unname(x), unname(y)))),
                 paste0("V", 1:4))
})

test_that("duplicated and empty names are refused", {
    twice <- y
    colnames(twice)[2] <- "a"
    expect_error(fit(x, twice), "`a`", class = "kliep_error_names")
    colnames(twice)[2] <- ""
    expect_error(fit(x, twice), "column 2", class = "kliep_error_names")
    colnames(twice)[2] <- NA
    expect_error(fit(x, twice), "column 2", class = "kliep_error_names")
})

test_that("one variable or one observation is too few", {
    expect_error(fit(x[, 1, drop = FALSE], y[, 1, drop = FALSE]), "got 1",
                 class = "kliep_error_size")
    expect_error(fit(x[, 0], y[, 0]), class = "kliep_error_size")
    expect_error(fit(x[1, , drop = FALSE], y), "`x`.*got 1",
                 class = "kliep_error_size")
    expect_error(fit(x, y[0, ]), "`y`.*got 0", class = "kliep_error_size")
})

test_that("constant columns are refused where they cannot be standardised", {
    flat <- x
    flat[, "b"] <- 3
    expect_error(fit(flat, y), "`b`", class = "kliep_error_constant")
    expect_error(fit(y, flat), "`b`", class = "kliep_error_constant")
    other <- y
    other[, "b"] <- 3
    expect_error(fit(flat, other, standardize = "pooled"), "`b`",
                 class = "kliep_error_constant")
    other[, "b"] <- 4
    expect_s3_class(fit(flat, other, standardize = "pooled"), "change_path")
    expect_s3_class(fit(flat, other, standardize = "none"), "change_path")
    # A spread of rounding errors is none.
    flat[, "b"] <- 1e8 * (1 + (seq_len(nrow(x)) %% 2) * .Machine$double.eps)
    expect_error(fit(flat, y), "`b`", class = "kliep_error_constant")
})

test_that("lambdas must be finite and not negative", {
    for (bad in list(-1, NA, NaN, Inf, "a", NULL, c(0.1, 0.2), NA_real_)) {
        expect_error(fit(x, y, lambda1 = bad), class = "kliep_error_lambda")
    }
    for (bad in list(-1, NA_real_, c(0.2, NaN), Inf, "a", numeric(),
                     c(0.3, -0.1))) {
        expect_error(fit(x, y, lambda2 = bad), class = "kliep_error_lambda")
    }
    expect_error(fit(x, y, lambda2 = c(0.3, -0.1)), "-0.1 at position 2")
    expect_error(fit(x, y, lambda2 = c(0.3, 0.2, 0.2)), "more than once: 0.2",
                 class = "kliep_error_lambda")
    for (bad in list(0, 2.5, NA, "a", c(3, 4))) {
        expect_error(paper_path(x, y, nlambda = bad),
                     class = "kliep_error_lambda")
    }
    for (bad in list(0, 1, -1, 2, NA, "a")) {
        expect_error(fit(x, y, lambda_min_ratio = bad),
                     class = "kliep_error_lambda")
    }
})

test_that("a grid that is not decreasing is sorted, with a message", {
    expect_message(path <- paper_path(x, y, lambda2 = c(0.1, 0.3, 0.2)),
                   "sorted", class = "kliep_message")
    expect_equal(path$lambda2, c(0.3, 0.2, 0.1))
    expect_silent(paper_path(x, y, lambda2 = c(0.3, 0.2, 0.1)))
})

test_that("kliep_change() needs one lambda2", {
    expect_error(paper_change(x, y), "got none", class = "kliep_error_lambda")
    expect_error(paper_change(x, y, lambda2 = c(0.2, 0.1)), "got 2",
                 class = "kliep_error_lambda")
    expect_error(paper_change(x, y, lambda2 = -1),
                 class = "kliep_error_lambda")
})

test_that("features come from feat_*()", {
    expect_error(fit(x, y, features = feat_gaussian), "Call the function",
                 class = "kliep_error_features")
    expect_error(fit(x, y, features = "gaussian"), "got \"gaussian\"",
                 class = "kliep_error_features")
    expect_error(feat_gaussian(linear = NA), class = "kliep_error_argument")
})

test_that("penalty factors are checked", {
    bad <- list(
        c(1, 2), rep(1, 9), -1, NA_real_, "a", 0, Inf, matrix(1, 3, 3),
        matrix(seq_len(16), 4), c(single = 1, other = 2), numeric()
    )
    for (value in bad) {
        expect_error(fit(x, y, penalty_factor = value),
                     class = "kliep_error_penalty_factor")
    }
    expect_error(fit(x, y, penalty_factor = rep(1, 9)), "got 9")
    expect_error(fit(x, y, penalty_factor = c(1, -2)), "-2 at position 2")
    named <- matrix(1, 4, 4, dimnames = list(letters[1:4], letters[2:5]))
    expect_error(fit(x, y, penalty_factor = named), "`a`",
                 class = "kliep_error_penalty_factor")
})

test_that("control settings are checked", {
    for (bad in list(0, 1, -1, NA, "a", c(0.1, 0.2))) {
        expect_error(kliep_control(tol = bad), class = "kliep_error_control")
    }
    for (bad in list(0, 1.5, NA, "a", 1e10)) {
        expect_error(kliep_control(max_iter = bad),
                     class = "kliep_error_control")
        expect_error(kliep_control(threads = bad),
                     class = "kliep_error_control")
    }
    expect_error(fit(x, y, control = list(tol = 0.1)),
                 class = "kliep_error_control")
    expect_identical(kliep_control()$threads,
                     as.integer(parallelly::availableCores()))
})

test_that("cores are counted again where options or variables say less", {
    withr::local_options(mc.cores = NULL)
    all <- kliep_control()$threads
    for (cores in 1:2) {
        withr::local_options(mc.cores = cores)
        expect_identical(kliep_control()$threads, min(cores, all))
    }
    withr::local_options(mc.cores = NULL)
    expect_identical(kliep_control()$threads, all)
    withr::local_envvar("_R_CHECK_LIMIT_CORES_" = "TRUE")
    expect_identical(kliep_control()$threads, min(2L, all))
})

test_that("choices and flags are checked", {
    expect_error(fit(x, y, standardize = "yes"), "\"within\"",
                 class = "kliep_error_argument")
    expect_error(fit(x, y, direction = "x/y"), class = "kliep_error_argument")
    expect_error(fit(x, y, solver = c("primal", "dual")),
                 class = "kliep_error_argument")
    expect_error(fit(x, y, progress = NA), class = "kliep_error_argument")
    expect_error(fit(x, y, solver = "dual", lambda1 = 0), "lambda1 > 0",
                 class = "kliep_error_solver")
})

test_that("arguments nobody reads are typing errors", {
    expect_error(fit(x, y, standardise = "none"), "Did you mean `standardize`",
                 class = "kliep_error_dots")
    expect_error(paper_change(x, y, lambda2 = 0.1, penalty.factor = 1),
                 "Did you mean `penalty_factor`", class = "kliep_error_dots")
    path <- fit(x, y)
    expect_error(coef(path, what = 1), class = "kliep_error_dots")
    expect_error(edges(path, what = 1), class = "kliep_error_dots")
    expect_error(predict(path, x, typ3 = 1), class = "kliep_error_dots")
    expect_error(autoplot(path, colour = 1), class = "kliep_error_dots")
    expect_error(coef(path, NULL, "matrix", 1), class = "kliep_error_dots")
})

test_that("features that overflow are an error that names the column", {
    huge <- x
    huge[3, "b"] <- 1e200
    expect_error(fit(huge, y, standardize = "none"), "column `b`",
                 class = "kliep_error_overflow")
    expect_error(fit(y, huge, standardize = "none"), "standardize",
                 class = "kliep_error_overflow")
})

test_that("column order and names may be anything", {
    colnames(x) <- colnames(y) <- c("a b", "%s%n", "\u03b1", "`")
    path <- fit(x, y)
    expect_setequal(unlist(edges(path)[c("from", "to")]), colnames(x))
    broken <- x
    broken[1, 2] <- NA
    expect_error(fit(broken, y), "`%s%n`", class = "kliep_error_missing")
})

test_that("a sample that is not given is named", {
    expect_error(paper_path(x), "`y` is missing",
                 class = "kliep_error_missing_sample")
    expect_error(kliep_path(), "`x`, `y` are missing",
                 class = "kliep_error_missing_sample")
    expect_error(paper_change(x, lambda2 = 1),
                 class = "kliep_error_missing_sample")
})

test_that("edges of something else is a classed error", {
    expect_error(edges(1), "got 1", class = "kliep_error_type")
})
