# Real data from end to end: expression of genes in B-cell acute lymphoblastic
# leukaemia, with and without the BCR/ABL fusion gene.

skip_unless_leukaemia <- function() {
    for (package in c("Biobase", "ALL")) {
        skip_if(!requireNamespace(package, quietly = TRUE),
                paste("Bioconductor's package", package, "is not installed"))
    }
}

# B cells alone, of all kinds.
leukaemia <- function() {
    loaded <- new.env()
    utils::data("ALL", package = "ALL", envir = loaded)
    loaded$ALL[, startsWith(as.character(loaded$ALL$BT), "B")]
}

choose_genes <- function(...) {
    set.seed(1)
    kliep_select(..., lambda1 = 1, normalizer = "gaussian", nlambda = 12,
                 folds = 3)
}

test_that("an ExpressionSet goes in, and edges between genes come out", {
    skip_unless_leukaemia()
    cells <- leukaemia()
    chosen <- choose_genes(cells, group = "mol.biol", top_variable = 100,
                           contrast = c("BCR/ABL", "NEG"))
    expect_identical(chosen$conditions, c(x = "BCR/ABL", y = "NEG"))
    expect_identical(chosen$fit$n, c(x = 37L, y = 42L))
    expect_output(print(chosen), "x: BCR/ABL (numerator), y: NEG", fixed = TRUE)

    values <- t(Biobase::exprs(cells))
    kind <- as.character(cells$mol.biol)
    both <- values[kind %in% c("BCR/ABL", "NEG"), ]
    top <- order(-apply(both, 2, stats::var))[1:100]
    expect_setequal(chosen$path$variables, colnames(values)[top])

    found <- edges(chosen)
    expect_gt(nrow(found), 0)
    expect_true(all(c(found$from, found$to) %in% Biobase::featureNames(cells)))
    # Detected are edges whose correlations do differ: far more than others.
    at <- chosen$path$variables
    difference <- abs(stats::cor(values[kind == "BCR/ABL", at]) -
                          stats::cor(values[kind == "NEG", at]))
    detected <- difference[cbind(found$from, found$to)]
    expect_gt(stats::median(detected),
              2 * stats::median(difference[upper.tri(difference)]))
    expect_true(all(chosen$path$diagnostics$status == "converged"))

    by_hand <- choose_genes(values[kind == "BCR/ABL", at],
                            values[kind == "NEG", at])
    expect_identical(edges(by_hand), found)
    expect_identical(by_hand$scores, chosen$scores)
})

test_that("all kinds of leukaemia at once need a contrast", {
    skip_unless_leukaemia()
    expect_error(kliep_select(leukaemia(), group = "mol.biol"),
                 "got 5, `ALL1/AF4`, `BCR/ABL`", class = "kliep_error_group")
    expect_error(kliep_select(leukaemia(), group = "molecular"),
                 "mol.biol", class = "kliep_error_group")
})
