# What every result has: a table, a matrix, a summary, a picture, by one
# vocabulary.

test_that("every result has every method, and none is R's default", {
    results <- result_objects()[c("path", "change", "select", "auto", "test",
                                  "stability", "inference", "tests", "windows",
                                  "groups", "time", "flasso", "glasso",
                                  "dtrace", "moment",
                                  "is_flasso", "is_glasso")]
    verbs <- c("coef", "summary", "as.data.frame", "edges", "tidy", "glance",
               "plot", "print", "format")
    for (name in names(results)) {
        for (verb in verbs) {
            methods <- paste(verb, class(results[[name]]), sep = ".")
            own <- vapply(methods, exists, NA, envir = asNamespace("kliepnet"),
                          inherits = FALSE)
            expect_true(any(own), label = paste(verb, "of", name))
        }
    }
})

test_that("the class of a result is that of its function", {
    found <- result_objects()
    first <- vapply(found, function(one) class(one)[1L], "")
    named <- c(path = "kliep_path", change = "kliep_change",
               select = "kliep_select", test = "kliep_test",
               stability = "kliep_stability", inference = "kliep_debias",
               tests = "kliep_infer",
               auto = "kliep_auto", groups = "kliep_groups",
               windows = "kliep_windows",
               time = "kliep_time", drift = "drift_series",
               flasso = "flasso_path", glasso = "glasso_path",
               dtrace = "dtrace_path", moment = "moment_path",
               is_flasso = "is_flasso_path", is_glasso = "is_glasso_path",
               curve = "pr_curve", comparison = "compare_methods")
    expect_identical(first[names(named)], named)
})

test_that("one word for one thing in every table", {
    found <- result_objects()
    tables <- list(found$test$edges, found$stability$edges,
                   found$inference$estimates, found$tests$estimates,
                   found$windows$edges, found$time$estimates,
                   found$time$rates, edges(found$time),
                   found$select$scores, edges(found$inference))
    columns <- unique(unlist(lapply(tables, names)))
    # Other words for what these have names for.
    expect_false(any(c("p", "pval", "p.value", "adjusted", "p_bh", "p_by",
                       "fdr", "q", "std.error", "level") %in% columns))
    # broom's own names.
    tested <- found[c("test", "inference", "tests", "windows", "time")]
    tidied <- unique(unlist(lapply(tested, function(one) names(tidy(one)))))
    expect_false(any(c("p_value", "p_adjusted", "q_value", "se") %in% tidied))
})

test_that("coef() of a result is the matrix of what it reports", {
    found <- result_objects()
    for (name in c("test", "stability")) {
        expect_equal(as.matrix(coef(found[[!!name]])),
                     as.matrix(found[[!!name]]))
    }
    estimates <- coef(found$inference)
    table <- found$inference$estimates
    expect_equal(as.matrix(estimates)[cbind(table$from, table$to)],
                 table$estimate)
    expect_equal(as.matrix(estimates), t(as.matrix(estimates)))
    windows <- coef(found$windows)
    expect_named(windows, as.character(found$windows$windows$window))
    expect_identical(coef(found$windows, window = 2), windows[["2"]])
})

test_that("as.data.frame() has all edges, edges() those that are reported", {
    found <- result_objects()
    expect_identical(as.data.frame(found$test), found$test$edges)
    expect_identical(as.data.frame(found$stability), found$stability$edges)
    expect_identical(as.data.frame(found$inference), found$inference$estimates)
    expect_identical(as.data.frame(found$select), edges(found$select))
    path <- as.data.frame(found$path)
    last <- path[path$step == max(path$step), c("from", "to", "weight")]
    expect_equal(last, last_edges(found$path)[c("from", "to", "weight")],
                 ignore_attr = TRUE)
    expect_error(as.data.frame(found$test, all = TRUE),
                 class = "kliep_error_dots")
})

test_that("summary() prints tables with their titles", {
    found <- result_objects()
    for (name in c("path", "change", "select", "test", "stability",
                   "inference", "tests", "time", "curve")) {
        about <- summary(found[[name]])
        expect_s3_class(about, "kliep_summary")
        shown <- paste(utils::capture.output(print(about)), collapse = "\n")
        for (title in names(about$tables)) {
            expect_match(shown, title, fixed = TRUE)
        }
    }
})

test_that("a test that detects nothing does not count a part of it", {
    test <- result_objects()$test
    test$edges <- test$edges[0, ]
    expect_match(format(test), "^  detected   0 edges$", all = FALSE)
})

test_that("printing names no object that the user may not have", {
    found <- result_objects()
    for (name in c("path", "select", "auto", "test", "stability", "inference",
                   "tests", "windows", "time", "drift", "comparison",
                   "groups")) {
        shown <- paste(utils::capture.output(print(found[[name]])),
                       collapse = "\n")
        expect_match(shown, "Next: ")
        expect_no_match(
            sub(".*Next: ", "", shown),
            "[a-z]\\((path|chosen|test|stable|result|found|fit|study)[,)]"
        )
    }
})

test_that("path[i] is the path at these steps", {
    found <- result_objects()
    for (name in c("path", "flasso", "glasso", "is_glasso", "moment")) {
        path <- found[[name]]
        n <- length(path$lambda2)
        part <- path[2:n]
        expect_identical(class(part), class(path))
        expect_identical(part$lambda2, path$lambda2[2:n])
        expect_identical(part$diagnostics$n_edges,
                         path$diagnostics$n_edges[2:n])
        for (lambda2 in part$lambda2) {
            expect_equal(coef(part, lambda2), coef(path, lambda2))
        }
        expect_identical(path[-1], part)
        expect_identical(path[path$lambda2 < path$lambda2[1]], part)
    }
    path <- found$path
    expect_identical(path[seq_along(path$lambda2)], path)
    expect_identical(path[], path)
    expect_identical(path["variables"], list(variables = path$variables))
    pair <- call_samples()
    expect_equal(predict(path[3:4], pair$y, path$lambda2[4]),
                 predict(path, pair$y, path$lambda2[4]))
    for (wrong in list(0, 5, -9, c(1, -1), NA, TRUE, NULL, list(1), 1:9)) {
        expect_error(path[wrong], class = "kliep_error_argument")
    }
})

test_that("nobs() counts both samples", {
    found <- result_objects()
    for (name in c("path", "change", "select", "test", "stability",
                   "inference", "tests", "auto", "flasso")) {
        expect_equal(nobs(found[[name]]), 44)
    }
})

test_that("summary() knows simulated pairs, networks and settings", {
    found <- result_objects()
    spec <- found$path$spec
    for (object in list(found$net, yeast13(), spec, spec$features,
                        spec$control)) {
        shown <- utils::capture.output(print(summary(object)))
        expect_identical(shown[1], format(object)[1])
    }
    expect_identical(summary(found$net)$tables[["edges that changed"]],
                     found$net$truth)
    shown <- utils::capture.output(print(summary(found$auto)))
    expect_identical(shown[1], paste("*", found$auto$reasons[1]))
    expect_error(summary(spec, all = TRUE), class = "kliep_error_dots")
})
