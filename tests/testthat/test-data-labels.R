# `label`: what variables are called, from the samples to every result.

pair <- random_pair(4, 24, 20)
colnames(pair$x) <- colnames(pair$y) <- c("p1", "p2", "p3", "p4")
both <- rbind(pair$x, pair$y)
group <- rep(c("case", "control"), c(24, 20))

test_that("labels are made unique, and their lack leaves the name", {
    known <- c("p1", "p2", "p3", "p4")
    expect_identical(unique_labels(c("CD74", "HLA", "HLA", NA), known),
                     c("CD74", "HLA (p2)", "HLA (p3)", "p4"))
    expect_identical(unique_labels(c("", "p1", "a", "b"), known),
                     c("p1", "p1 (p2)", "a", "b"))
    expect_identical(unique_labels(c("a", "a"), NULL), c("a (V1)", "a (V2)"))
    expect_false(anyDuplicated(unique_labels(rep("p1", 4), known)) > 0)
})

test_that("tables take one label for each column, or labels by name", {
    symbols <- c("CD74", "CD3D", "HLA-DRA", "IGHM")
    found <- two_samples(both, group = group, label = symbols)
    expect_identical(colnames(found$x), symbols)
    expect_identical(colnames(found$y), symbols)
    named <- c(p3 = "HLA-DRA", p9 = "none", p1 = "CD74")
    found <- two_samples(both, group = group, label = named)
    expect_identical(colnames(found$x), c("CD74", "p2", "HLA-DRA", "p4"))
    # In the order of the columns of `x`, also where those of `y` differ.
    found <- two_samples(pair$x, pair$y[, 4:1], label = symbols)
    expect_identical(colnames(found$y), rev(symbols))
    found <- two_samples(as.data.frame(both), group = group, label = symbols)
    expect_identical(names(found$x), symbols)
    found <- two_samples(both, group = group, label = symbols,
                         variables = c("IGHM", "CD74"))
    expect_identical(colnames(found$x), c("IGHM", "CD74"))
})

test_that("labels are checked", {
    expect_error(two_samples(both, group = group, label = c("a", "b")),
                 "each of 4 variables: got 2", class = "kliep_error_label")
    expect_error(two_samples(both, group = group, label = 1:4),
                 class = "kliep_error_label")
})

test_that("results, pictures and files have the labels", {
    symbols <- c("CD74", "CD3D", "HLA-DRA", "IGHM")
    path <- kliep_path(both, group = group, label = symbols, nlambda = 4)
    plain <- kliep_path(both, group = group, nlambda = 4)
    expect_identical(path$variables, symbols)
    expect_equal(path$coefficients, plain$coefficients)
    expect_true(all(edges(path)$from %in% symbols))
    expect_match(paste(capture.output(print(kliep_change(
        both, group = group, label = symbols, lambda2 = path$lambda2[4]
    ))), collapse = "\n"), "CD74")
    expect_match(path_lines(path)$edge[1], "CD|HLA|IGHM")
})

experiment <- function() {
    SummarizedExperiment::SummarizedExperiment(
        list(values = t(both)),
        rowData = data.frame(symbol = c("CD74", "HLA-DRA", "HLA-DRA", NA),
                             row.names = colnames(both)),
        colData = data.frame(group = group)
    )
}

test_that("a column of rowData() or fData() names the variables", {
    skip_if_not_installed("SummarizedExperiment")
    cells <- experiment()
    path <- kliep_path(cells, group = "group", label = "symbol", nlambda = 3)
    labels <- c("CD74", "HLA-DRA (p2)", "HLA-DRA (p3)", "p4")
    expect_identical(path$variables, labels)
    expect_error(two_samples(cells, group = "group", label = "Symbol"),
                 "`symbol`", class = "kliep_error_label")
    two <- two_samples(cells[, 1:24], cells[4:1, 25:44], label = "symbol")
    expect_identical(colnames(two$x), labels)
    expect_setequal(colnames(two$y), labels)
    formula <- kliep_path(~ group, data = cells, label = "symbol", nlambda = 3)
    expect_identical(formula$variables, labels)
    skip_if_not_installed("Biobase")
    set <- Biobase::ExpressionSet(
        t(`rownames<-`(both, seq_len(44))),
        Biobase::AnnotatedDataFrame(data.frame(group = group)),
        Biobase::AnnotatedDataFrame(data.frame(
            symbol = c("CD74", "HLA-DRA", "HLA-DRA", NA),
            row.names = colnames(both)
        ))
    )
    found <- two_samples(set, group = "group", label = "symbol")
    expect_identical(colnames(found$x), labels)
})

test_that("results go back into rowData() and metadata()", {
    skip_if_not_installed("SummarizedExperiment")
    cells <- experiment()
    change <- kliep_change(cells, group = "group", lambda2 = 0.05,
                           variables = c("p1", "p2", "p4"))
    got <- add_changes(cells, change)
    rows <- SummarizedExperiment::rowData(got)
    expect_identical(rows$symbol,
                     SummarizedExperiment::rowData(cells)$symbol)
    expect_identical(is.na(rows$kliep_degree), c(FALSE, FALSE, TRUE, FALSE))
    most <- hubs(change)
    expect_equal(rows[most$variable, "kliep_strength"], most$strength)
    expect_equal(rows[most$variable, "kliep_strongest"], most$strongest)
    about <- S4Vectors::metadata(got)$kliep
    expect_identical(about$edges, edges(change))
    expect_identical(about$conditions, c(x = "control", y = "case"))
    expect_identical(about$summary, glance(change))
    # Named by `label`, and back by the same.
    named <- kliep_change(cells, group = "group", lambda2 = 0.05,
                          label = "symbol")
    expect_error(add_changes(cells, named), "`label`",
                 class = "kliep_error_dimension")
    got <- add_changes(cells, named, label = "symbol", prefix = "new_")
    expect_false(anyNA(SummarizedExperiment::rowData(got)$new_degree))
    expect_error(add_changes(both, change), class = "kliep_error_type")
})
