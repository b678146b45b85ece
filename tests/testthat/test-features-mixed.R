# Columns of several types: which they are, what stands for them, and that what
# is found is what has changed.

one <- kliep_control(threads = 1L)

# Five types; `cough` depends on `smoker` by `slope`, `visits` on `age`.
mixed_sample <- function(n, slope = 0, smokers = c(1, 1, 1)) {
    smoker <- sample(c("no", "former", "yes"), n, TRUE, smokers)
    age <- rt(n, 3)
    data.frame(
        age = age, smoker = factor(smoker, c("no", "former", "yes")),
        stage = factor(sample(1:4, n, TRUE), labels = c("I", "II", "III",
                                                        "IV"), ordered = TRUE),
        cough = rbinom(n, 1, plogis(slope * (smoker == "yes") - slope / 3)),
        visits = rnbinom(n, mu = 3 * exp(0.2 * pmax(pmin(age, 2), -2)),
                         size = 1),
        weight = rnorm(n, 70, 10)
    )
}

test_that("types are found, and replaced where they are named", {
    set.seed(1)
    x <- mixed_sample(60)
    y <- mixed_sample(60)
    type <- function(...) {
        vapply(code_mixed(x, y, feat_mixed(...))$coding, `[[`, "", "type")
    }
    expect_identical(type(), c(age = "numeric", smoker = "categorical",
                               stage = "ordered", cough = "two_valued",
                               visits = "count", weight = "numeric"))
    expect_identical(type(c(stage = "categorical", visits = "numeric"))[
        c("stage", "visits")
    ], c(stage = "categorical", visits = "numeric"))
    x$rating <- sample(1:5, 60, TRUE)
    y$rating <- sample(1:5, 60, TRUE)
    expect_identical(type()[["rating"]], "ordered")
    x$smoker <- as.character(x$smoker)
    expect_identical(type()[["smoker"]], "categorical")
})

test_that("what stands for levels is uncorrelated and of variance one", {
    share <- c(0.5, 0.2, 0.25, 0.05)
    for (basis in list(level_basis(share), ordered_basis(share)$single)) {
        expect_equal(drop(share %*% basis), numeric(3))
        expect_equal(crossprod(basis * sqrt(share)), diag(3))
    }
    expect_true(all(diff(ordered_basis(share)$basis) > 0))
    expect_true(diff(level_basis(c(0.3, 0.7))) > 0)
    # Rare levels are joined, of ordered ones with a neighbour.
    counts <- rbind(c(20, 2, 9, 30), c(20, 9, 2, 30))
    expect_identical(join_levels(counts, FALSE), c(1L, 2L, 2L, 3L))
    counts <- rbind(c(2, 20, 3, 30), c(9, 20, 9, 30))
    expect_identical(join_levels(counts, TRUE), c(1L, 1L, 1L, 2L))
})

test_that("every path is certified, and predict() averages to one over y", {
    set.seed(2)
    x <- mixed_sample(150, 2)
    y <- mixed_sample(150)
    for (standardize in c("within", "pooled")) {
        path <- kliep_path(x, y, feat_mixed(), nlambda = 12, control = one,
                           standardize = standardize)
        expect_true(all(path$diagnostics$status == "converged"))
        expect_lt(max(path$diagnostics$gap), 1e-6)
        first <- edges(path)[1L, ]
        expect_setequal(c(first$from, first$to), c("smoker", "cough"))
        at <- path$lambda2[8]
        ratio <- predict(path, y, lambda2 = at, type = "ratio", sample = "y")
        expect_equal(mean(ratio), 1, tolerance = 1e-6)
        # Columns in another order are the same observations.
        expect_equal(predict(path, rev(y), lambda2 = at, type = "ratio"),
                     ratio)
    }
    expect_error(predict(path, transform(y, smoker = "never"), lambda2 = at),
                 class = "kliep_error_type_of_column")
    table <- coef(path, lambda2 = at, type = "table")
    expect_true(all(c("smoker[1]*cough", "smoker[2]*cough", "visits[0]") %in%
                        table$term))
})

test_that("levels in another order, or of other names, make no difference", {
    set.seed(3)
    x <- mixed_sample(120, 2)
    y <- mixed_sample(120)
    other <- function(sample) {
        sample$smoker <- factor(sample$smoker, c("yes", "no", "former"),
                                c("a", "b", "c"))
        sample$age <- exp(sample$age / 3)
        sample
    }
    fit <- function(x, y) {
        kliep_change(x, y, feat_mixed(), lambda2 = 0.1, control = one)
    }
    expect_equal(as.matrix(coef(fit(x, y))),
                 as.matrix(coef(fit(other(x), other(y)))), tolerance = 1e-4)
    cells <- edge_cells(fit(x, y), "cough", "smoker")
    again <- edge_cells(fit(other(x), other(y)), "smoker", "cough")
    expect_named(cells, c("smoker", "cough", "change", "n_x", "n_y"))
    expect_equal(cells$change[cells$smoker == "yes"],
                 again$change[again$smoker == "a"], tolerance = 1e-3)
    expect_identical(sum(cells$n_x), 120L)
})

test_that("the norm of an edge is the root mean square of its cells", {
    set.seed(4)
    fit <- kliep_change(mixed_sample(120, 2), mixed_sample(120), feat_mixed(),
                        lambda2 = 0.1, control = one)
    cells <- edge_cells(fit, "smoker", "cough")
    share <- outer(fit$coding$smoker$share, fit$coding$cough$share)
    found <- edges(fit)
    norm <- found$weight[found$from == "smoker" & found$to == "cough"]
    expect_equal(sqrt(sum(share * cells$change^2)), norm)
    # Counts: the state of zero beside the transform.
    own <- fit$coding$visits
    map <- level_map(own)
    apart <- count_scores(own, 0) - count_scores(own, 3)
    expect_equal(drop(edge_basis(own, 0) - edge_basis(own, 3)),
                 map["zero", ] + map["+1", ] * apart, ignore_attr = TRUE)
})

test_that("where nothing changed each type is as often the first", {
    set.seed(5)
    first <- replicate(120, {
        draw <- function() {
            data.frame(a = rnorm(80), b = rnorm(80), c = rnorm(80),
                       u = factor(sample(4, 80, TRUE)),
                       v = factor(sample(4, 80, TRUE)))
        }
        path <- kliep_path(draw(), draw(), feat_mixed(), nlambda = 30,
                           control = one, progress = FALSE)
        found <- edges(path)[1L, ]
        (found$from %in% c("u", "v")) + (found$to %in% c("u", "v"))
    })
    # 3 edges have one coefficient, 6 have three and one has nine.
    expected <- c(3, 6, 1) / 10
    got <- tabulate(first + 1L, 3L) / 120
    expect_true(all(abs(got - expected) < 3 * sqrt(expected * (1 - expected) /
                                                       120)))
})

test_that("kliep_auto() finds a mixed change and says what it took", {
    set.seed(6)
    x <- mixed_sample(250, 2.5)
    y <- mixed_sample(250)
    found <- withr::with_seed(1, kliep_auto(x, y, control = one))
    expect_s3_class(found, "kliep_auto")
    expect_identical(found$spec$features$kind, "mixed")
    expect_match(found$reasons[1L],
                 "1 is categorical, 1 is count, 2 are numeric")
    expect_setequal(unlist(edges(found)[1L, c("from", "to")]),
                    c("smoker", "cough"))
    expect_identical(found$estimates$df[found$estimates$from == "smoker" &
                                            found$estimates$to == "cough"], 2L)
    cells <- edge_cells(found, "smoker", "cough")
    expect_gt(cells$change[cells$smoker == "yes" & cells$cough == "1"], 0.2)
    # The other way round every sign turns.
    turned <- withr::with_seed(1, kliep_auto(y, x, control = one))
    expect_equal(edge_cells(turned, "smoker", "cough")$change, -cells$change)
})

test_that("a shifted margin is not an edge", {
    # `cough` goes with `smoker` in both samples alike, and there are far more
    # smokers in x: correlations and shares differ, the relation does not.
    set.seed(7)
    any <- vapply(1:10, function(run) {
        x <- mixed_sample(400, 2, smokers = c(1, 1, 4))
        y <- mixed_sample(400, 2, smokers = c(4, 1, 1))
        nrow(edges(kliep_auto(x, y, control = one)))
    }, 1)
    expect_lte(sum(any > 0), 3)
})

test_that("selection, stability, tests and pictures take mixed columns", {
    set.seed(8)
    x <- mixed_sample(120, 3)[c("age", "smoker", "cough", "visits")]
    y <- mixed_sample(120)[c("age", "smoker", "cough", "visits")]
    path <- kliep_path(x, y, feat_mixed(), nlambda = 8, control = one)
    selected <- kliep_select(path, folds = 3)
    expect_true("smoker" %in% unlist(edges(selected)))
    expect_s3_class(edge_cells(selected, "smoker", "cough"), "data.frame")
    stable <- kliep_stability(path, n_subsamples = 10)
    expect_true("cough" %in% unlist(stable$edges[1L, ]))
    tested <- kliep_test(path, n_perm = 19, folds = 2)
    expect_lte(tested$global$p_value, 0.1)
    expect_s3_class(autoplot(path), "ggplot")
    expect_s3_class(autoplot(selected), "ggplot")
    expect_output(print(path$spec$features), "1 two-valued")
    file <- withr::local_tempfile(fileext = ".html")
    kliep_report(selected, file = file)
    expect_true(file.exists(file))
})

test_that("what cannot be a mixed column is named in one sentence", {
    set.seed(9)
    x <- mixed_sample(60)
    y <- mixed_sample(60)
    refused <- function(x, y, class, pattern, ...) {
        expect_error(kliep_path(x, y, feat_mixed(...)), pattern,
                     class = paste0("kliep_error_", class))
    }
    dated <- function(sample) cbind(sample, day = Sys.Date() + 1:60)
    refused(dated(x), dated(y), "type_of_column", "`day` is of class <Date>")
    named <- function(sample) cbind(sample, id = paste0("p", 1:60))
    refused(named(x), named(y), "type_of_column", "`id` has 60 levels")
    refused(transform(x, cough = 1), y, "constant",
            "`cough` has one value only in `x`")
    refused(transform(x, cough = 1), transform(y, cough = 1), "constant",
            "one value only in both samples")
    refused(x, y, "type_of_column", "does not have|do not have",
            types = c(nothing = "count"))
    refused(x, y, "type_of_column", "`smoker` cannot be numeric",
            types = c(smoker = "numeric"))
    refused(x, y, "type_of_column", "`weight` cannot be a count",
            types = c(weight = "count"))
    refused(x, y, "type_of_column", "`stage` cannot be two-valued",
            types = c(stage = "two_valued"))
    expect_error(feat_mixed(c(a = "number")), "not a type",
                 class = "kliep_error_features")
    expect_error(feat_mixed("numeric"), class = "kliep_error_features")
    path <- kliep_path(x, y, feat_mixed(), nlambda = 3, control = one)
    expect_error(kliep_infer(path, spec = feat_gaussian()),
                 class = "kliep_error_features")
    expect_error(edge_cells(1, "a", "b"), class = "kliep_error_type")
    expect_error(edge_cells(path, "age", "nothing", path$lambda2[2]),
                 class = "kliep_error_argument")
})
