# Families beyond products and squares, and what all families have in common.

two_valued_pair <- function(d, n, seed = 1) {
    pair <- random_pair(d, n, seed = seed)
    lapply(pair, function(sample) 2 * (sample > 0) - 1)
}

literal <- function(power) {
    s <- function(a) sign(a) * abs(a)^power
    feat_custom(pair = function(a, b) cbind(s(a), s(b)),
                single = function(a) s(a))
}

families <- function() {
    list(
        gaussian = feat_gaussian(),
        linear = feat_gaussian(linear = TRUE),
        nonparanormal = feat_nonparanormal(2),
        polynomial = feat_polynomial(3),
        raw = feat_polynomial(3, basis = "raw"),
        interactions = feat_polynomial(4, terms = "interactions"),
        ising = feat_ising(),
        rbf = feat_rbf(0.7),
        custom = feat_custom(function(a, b) cbind(a * b, tanh(a + b)),
                             function(a) a^2),
        no_single = feat_custom(function(a, b) abs(a - b)),
        cliques = feat_cliques(list(1:2, 2:4, c(1, 5), 3, c(1, 2, 5)))
    )
}

pair_for <- function(name, d = 5, n = 30) {
    if (name == "ising") two_valued_pair(d, n) else random_pair(d, n)
}

test_that("every family is certified over all factors, in every direction", {
    for (name in names(families())) {
        pair <- pair_for(name)
        for (direction in c("p/q", "q/p", "symmetric")) {
            path <- paper_path(pair$x, pair$y, families()[[name]], nlambda = 4,
                               direction = direction)
            expect_gt(path$diagnostics$n_detected[4], 0)
            expect_certified(path, pair$x, pair$y)
        }
    }
})

test_that("the certificate's gradient is that of finite differences", {
    for (name in names(families())) {
        pair <- pair_for(name, d = 5, n = 15)
        path <- paper_path(pair$x, pair$y, families()[[name]], nlambda = 3)
        problem <- dense_problem(path, pair$x, pair$y)
        theta <- dense_theta(path, problem, 3) + 0.01
        loss <- function(theta) dense_objective(problem, theta, 0, 0)
        step <- 1e-5
        slope <- vapply(seq_along(theta), function(i) {
            shift <- step * (seq_along(theta) == i)
            (loss(theta - shift) - loss(theta + shift)) / (2 * step)
        }, 0)
        expect_equal(dense_xi(problem, theta)$xi, slope, tolerance = 1e-6)
    }
})

test_that("streamed products are those of a stored table", {
    pair <- random_pair(5, 30)
    same <- list(
        list(feat_gaussian(), feat_custom(function(a, b) a * b,
                                          function(a) a^2)),
        list(feat_nonparanormal(2),
             feat_custom(function(a, b) sign(a * b) * (a * b)^2,
                         function(a) a^4)),
        list(feat_polynomial(2, basis = "raw"),
             feat_custom(function(a, b) cbind(b, b^2, a, a * b, a^2),
                         function(a) cbind(a, a^2))),
        list(feat_rbf(0.7),
             feat_custom(function(a, b) exp(-(a - b)^2 / (2 * 0.7^2))))
    )
    for (two in same) {
        paths <- lapply(two, function(features) {
            paper_path(pair$x, pair$y, features, nlambda = 4,
                       control = kliep_control(tol = 1e-10))
        })
        expect_equal(paths[[1]]$lambda2, paths[[2]]$lambda2)
        expect_equal(paths[[1]]$coefficients, paths[[2]]$coefficients,
                     tolerance = 1e-4)
        expect_equal(paths[[1]]$diagnostics$objective,
                     paths[[2]]$diagnostics$objective, tolerance = 1e-8)
        expect_equal(last_predict(paths[[1]], pair$y),
                     last_predict(paths[[2]], pair$y), tolerance = 1e-4)
    }
})

test_that("the basis as printed in the paper sees no edge, the product does", {
    set.seed(3)
    pair <- sim_nonparanormal(d = 10, n = 400, n_changed = 5)
    product <- paper_path(pair$x, pair$y, feat_nonparanormal(2))
    printed <- paper_path(pair$x, pair$y, literal(2))
    # Where all but one of the changed edges have entered.
    key <- function(table) paste(table$from, table$to)
    found <- edges(product)
    lambda2 <- sort(found$enters[key(found) %in% key(pair$truth)],
                    decreasing = TRUE)[4]
    expect_gte(sum(key(edges(product, lambda2)) %in% key(pair$truth)), 4)
    expect_lt(printed$lambda_max, lambda2)
})

test_that("equal samples give ratios of one, whatever the features", {
    for (name in names(families())) {
        pair <- pair_for(name)
        fit <- paper_change(pair$x, pair$x, families()[[name]], lambda2 = 1e-3)
        expect_identical(predict(fit, pair$x, type = "ratio"), rep(1, 30))
        expect_identical(kl_divergence(fit)$fitted, 0)
    }
})

test_that("weights average to one on y, and predictions follow the formula", {
    for (name in names(families())) {
        pair <- pair_for(name)
        fit <- paper_change(pair$x, pair$y, families()[[name]], lambda2 = 0.05)
        expect_equal(mean(predict(fit, pair$y, type = "ratio")), 1)
        problem <- dense_problem(fit, pair$x, pair$y)
        theta <- dense_theta(fit, problem, 1)
        z <- standardised(pair$x, fit$center$x, fit$scale$x)
        features <- dense_features(z, with_polynomials(fit, pair$x, pair$y))
        scores <- as.vector(features$values %*% theta)
        expect_equal(predict(fit, pair$x, sample = "x"),
                     scores - fit$log_normalizer)
        expect_equal(predict(fit, pair$x[7, , drop = FALSE], sample = "x"),
                     scores[7] - fit$log_normalizer)
    }
})

test_that("a saved fit predicts the same after it is read again", {
    pair <- random_pair(4, 30)
    file <- withr::local_tempfile(fileext = ".rds")
    for (features in list(feat_custom(function(a, b) a * b), feat_rbf(1),
                          feat_cliques(list(1:3)))) {
        fit <- paper_change(pair$x, pair$y, features, lambda2 = 0.01)
        saveRDS(fit, file)
        expect_identical(predict(readRDS(file), pair$y), predict(fit, pair$y))
    }
})

# ---- Ising -----------------------------------------------------------------

test_that("two values of any kind give the same Ising fit", {
    pair <- two_valued_pair(4, 40)
    names <- c("a", "b", "c", "d")
    pair <- lapply(pair, `colnames<-`, names)
    fit <- function(x, y) {
        paper_path(x, y, feat_ising(), nlambda = 5)
    }
    plain <- fit(pair$x, pair$y)
    expect_identical(plain$spec$standardize, "none")
    expect_gt(nrow(edges(plain)), 0)
    as_factors <- function(sample, levels) {
        as.data.frame(lapply(as.data.frame(sample), function(column) {
            factor(ifelse(column > 0, "yes", "no"), levels)
        }))
    }
    frame <- function(sample) as.data.frame(sample > 0)
    coded <- list(
        list((pair$x + 1) / 2, (pair$y + 1) / 2),
        list(pair$x > 0, pair$y > 0),
        list(frame(pair$x), frame(pair$y)),
        list(as_factors(pair$x, c("no", "yes")),
             as_factors(pair$y, c("no", "yes"))),
        # The order of the levels is that of x.
        list(as_factors(pair$x, c("no", "yes")),
             as_factors(pair$y, c("yes", "no"))),
        list(ifelse(pair$x > 0, "yes", "no"), ifelse(pair$y > 0, "yes", "no")),
        list((pair$x + 1) / 2, frame(pair$y)),
        list(5 + pair$x, (5 + pair$y)[, 4:1])
    )
    for (samples in coded) {
        path <- fit(samples[[1]], samples[[2]])
        expect_equal(last_coef(path), last_coef(plain))
        expect_equal(last_predict(path, samples[[2]]),
                     last_predict(plain, pair$y))
    }
})

test_that("Ising features say which column has more than two values", {
    pair <- two_valued_pair(4, 20)
    pair <- lapply(pair, `colnames<-`, c("a", "b", "c", "d"))
    more <- pair$x
    more[3, "c"] <- 0
    expect_error(paper_path(more, pair$y, feat_ising()), "`c` has 3",
                 class = "kliep_error_two_valued")
    expect_error(paper_path(pair$x, more, feat_ising()), "`c` has 3",
                 class = "kliep_error_two_valued")
    constant <- lapply(pair, function(sample) {
        sample[, "b"] <- 1
        sample
    })
    expect_error(paper_path(constant$x, constant$y, feat_ising()), "`b`",
                 class = "kliep_error_constant")
    lacking <- pair$x
    lacking[5, "d"] <- NA
    expect_error(paper_path(lacking, pair$y, feat_ising()), "`d`",
                 class = "kliep_error_missing")
    expect_error(paper_path(pair$x, pair$y[, 1:3], feat_ising()),
                 class = "kliep_error_dimension")
    expect_error(paper_path(1:10, pair$y, feat_ising()),
                 class = "kliep_error_type")
    fit <- paper_change(pair$x, pair$y, feat_ising(), lambda2 = 0.1)
    expect_error(predict(fit, more), "`c`", class = "kliep_error_two_valued")
    expect_error(predict(fit, pair$y[, 1:3]), class = "kliep_error_dimension")
})

# ---- cliques ---------------------------------------------------------------

test_that("cliques of two are edges", {
    pair <- random_pair(4, 40)
    sets <- utils::combn(4, 2, simplify = FALSE)
    path <- paper_path(pair$x, pair$y, feat_cliques(sets), nlambda = 5)
    edges <- paper_path(pair$x, pair$y, penalty_factor = c(single = Inf,
                                                           edge = 1),
                        nlambda = 5)
    expect_equal(path$lambda2, edges$lambda2)
    expect_equal(last_coef(path), last_coef(edges), tolerance = 1e-4)
    expect_equal(edges(path), edges(edges), tolerance = 1e-4)
    expect_identical(path$diagnostics$n_edges, edges$diagnostics$n_edges)
})

test_that("a clique counts for every edge within it", {
    pair <- random_pair(5, 60)
    pair <- lapply(pair, `colnames<-`, letters[1:5])
    features <- feat_cliques(list(c("a", "b", "c"), c("d", "b"), "e",
                                  c("b", "c", "d")))
    fit <- paper_change(pair$x, pair$y, features, lambda2 = 1e-3)
    table <- coef(fit, type = "table")
    expect_identical(table$clique, c("a:b:c", "b:d", "e", "b:c:d"))
    expect_identical(names(table), c("clique", "term", "value"))
    theta <- stats::setNames(table$value, table$clique)
    matrix <- coef(fit)
    # One set contains a and b, two contain b and c.
    expect_equal(matrix["a", "b"], theta[["a:b:c"]])
    expect_equal(matrix["a", "c"], theta[["a:b:c"]])
    expect_equal(matrix["b", "c"],
                 sqrt(theta[["a:b:c"]]^2 + theta[["b:c:d"]]^2))
    expect_equal(matrix["e", "e"], theta[["e"]])
    expect_identical(fit$diagnostics$n_edges, 5L)
    expect_identical(nrow(edges(fit)), 5L)
    expect_output(print(fit), "4 factors")
    expect_s3_class(plot(fit), "ggplot")
})

test_that("coefficients of functions of one's own have their names", {
    pair <- random_pair(3, 30)
    features <- feat_custom(function(a, b) cbind(product = a * b, sum = a + b),
                            function(a) a^2)
    fit <- paper_change(pair$x, pair$y, features, lambda2 = 0)
    table <- coef(fit, type = "table")
    expect_identical(
        table$term,
        c("f(V1)", "product(V1, V2)", "sum(V1, V2)", "product(V1, V3)",
          "sum(V1, V3)", "f(V2)", "product(V2, V3)", "sum(V2, V3)", "f(V3)")
    )
})

test_that("cliques take one penalty factor each", {
    pair <- random_pair(4, 40)
    features <- feat_cliques(list(1:3, 2:4, 1:2))
    path <- paper_path(pair$x, pair$y, features, nlambda = 4,
                       penalty_factor = c(1, Inf, 2))
    expect_certified(path, pair$x, pair$y)
    expect_false("V2:V3:V4" %in% last_coef(path, type = "table")$clique)
    expect_error(paper_path(pair$x, pair$y, features, penalty_factor = 1:2),
                 class = "kliep_error_penalty_factor")
})

test_that("cliques that make no sense are refused", {
    for (bad in list(list(), 1:3, list(character()), list(c(1, 1)),
                     list(1:2, NA), list(TRUE), "a", NULL)) {
        expect_error(feat_cliques(bad), class = "kliep_error_features")
    }
    expect_error(feat_cliques(list(1:2), fun = "prod"),
                 class = "kliep_error_features")
    pair <- random_pair(3, 20)
    for (bad in list(list(c("a", "b")), list(3:4), list(0:1), list(1.5),
                     list(1:2, 2:1))) {
        expect_error(paper_path(pair$x, pair$y, feat_cliques(bad)),
                     class = "kliep_error_features")
    }
})

# ---- functions of the user's own -------------------------------------------

test_that("custom functions are checked for shape, finiteness and rows", {
    pair <- random_pair(3, 20)
    pair <- lapply(pair, `colnames<-`, c("a", "b", "c"))
    refused <- function(fun, message) {
        expect_error(paper_path(pair$x, pair$y, feat_custom(fun)), message,
                     class = "kliep_error_features")
        expect_error(
            paper_path(pair$x, pair$y, feat_cliques(list(1:2), function(z) {
                fun(z[, 1], z[, 2])
            })), message, class = "kliep_error_features"
        )
    }
    refused(function(a, b) a[-1], "`a`, `b` returned 39 values for 40 rows")
    refused(function(a, b) 1, "returned 1 value ")
    refused(function(a, b) NULL, "returned NULL")
    refused(function(a, b) as.character(a), "numbers are needed")
    refused(function(a, b) matrix(0, 40, 0), "returned")
    refused(function(a, b) ifelse(seq_along(a) == 2, NA, a), "1 NA")
    refused(function(a, b) a / 0, "infinite")
    refused(function(a, b) stop("no such luck"), "no such luck")
    refused(function(a, b) a - mean(a), "by itself")
    # A time limit is not the function's fault.
    late <- tryCatch(
        kliep_path(pair$x, pair$y, feat_custom(function(a, b) {
            stop("reached elapsed time limit")
        })), error = identity
    )
    expect_false(inherits(late, "kliep_error"))
    expect_identical(conditionMessage(late), "reached elapsed time limit")
    expect_error(feat_custom(1), class = "kliep_error_features")
    expect_error(feat_custom(`*`, single = "square"),
                 class = "kliep_error_features")
    sizes <- feat_custom(function(a, b) {
        if (any(b == max_c)) cbind(a, b) else a * b
    })
    max_c <- max(scale(pair$x)[, 3])
    expect_error(paper_path(pair$x, pair$y, sizes), "first set of this size",
                 class = "kliep_error_features")
})

test_that("what does not fit into memory is refused before it is allocated", {
    pair <- random_pair(60, 50)
    # 1770 pairs with 4000 features each on 100 rows: 17 GB three times over.
    many <- feat_custom(function(a, b) matrix(a * b, length(a), 4000))
    free <- free_memory()
    skip_if(is.na(free), "nobody knows how much memory is free")
    skip_if(free > 1e11, "this machine has more memory than the test asks for")
    pair$x <- pair$x[rep(1:50, 8), ] + 0
    expect_error(paper_path(pair$x, pair$y, many), "would take .* is free",
                 class = "kliep_error_memory")
    wide <- matrix(rnorm(2 * 60000), 2)
    expect_error(paper_path(wide, wide, feat_rbf(1)),
                 class = "kliep_error_memory")
})

test_that("free memory is a number of bytes", {
    expect_true(is.na(free_memory()) || free_memory() > 0)
    expect_error(check_memory(1e18, "This"), "This would take 1 EB|1000 PB",
                 class = "kliep_error_memory")
    expect_silent(check_memory(8, "This"))
})

test_that("families print what they are", {
    expect_snapshot(feat_ising())
    expect_snapshot(feat_rbf(0.5))
    expect_snapshot(feat_custom(function(a, b) a * b))
    expect_snapshot(feat_cliques(list(1:3, 2:4, 5)))
    expect_snapshot(feat_cliques(list(1:3), fun = function(z) {
        cbind(apply(z, 1, prod), apply(z, 1, max), apply(z, 1, min))
    }))
    expect_error(feat_rbf(0), class = "kliep_error_features")
})
