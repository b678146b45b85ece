# Whatever the two samples come in, the fit is that of two matrices.

set.seed(11)
pair <- sim_gaussian(d = 6, n = c(x = 60, y = 50), edge = 0.4, n_changed = 3,
                     change = -0.8)
# Conditions in turns, so that nothing depends on their order.
turn <- sample(110)
both <- rbind(pair$x, pair$y)[turn, ]
rownames(both) <- sprintf("s%03d", turn)
condition <- rep(c("treated", "control"), c(60, 50))[turn]
x <- both[condition == "treated", ]
y <- both[condition == "control", ]
cells <- data.frame(both, condition = condition)
conditions <- c(x = "treated", y = "control")

experiment <- function() {
    skip_if_not_installed("SummarizedExperiment")
    suppressMessages(SummarizedExperiment::SummarizedExperiment(
        assays = list(counts = t(exp(both)), log = t(both)),
        colData = data.frame(condition = condition, batch = 1,
                             row.names = rownames(both))
    ))
}

expression_set <- function() {
    skip_if_not_installed("Biobase")
    suppressMessages(Biobase::ExpressionSet(
        t(both), Biobase::AnnotatedDataFrame(cells["condition"])
    ))
}

# Without the parts that are meant to differ.
bare <- function(result) {
    result$call <- NULL
    result$conditions <- NULL
    if (!is.null(result$diagnostics$seconds)) result$diagnostics$seconds <- NULL
    for (part in c("fit", "path", "selection")) {
        if (!is.null(result[[part]])) result[[part]] <- bare(result[[part]])
    }
    result
}

entry_functions <- list(
    kliep_path = function(...) kliep_path(..., nlambda = 4),
    kliep_change = function(...) kliep_change(..., lambda2 = 0.2),
    kliep_select = function(...) kliep_select(..., nlambda = 4, folds = 2),
    kliep_test = function(...) {
        kliep_test(..., nlambda = 4, folds = 2, n_perm = 3, keep = "paper")
    },
    kliep_stability = function(...) {
        kliep_stability(..., nlambda = 4, n_subsamples = 4, q = 2,
                        threshold = 0.75)
    },
    kliep_debias = function(...) kliep_debias(..., n_boot = 10),
    glasso_path = function(...) glasso_path(..., nlambda = 3),
    flasso_path = function(...) flasso_path(..., nlambda = 3),
    dtrace_path = function(...) dtrace_path(..., nlambda = 3),
    moment_path = function(...) moment_path(..., nlambda = 3),
    is_glasso_path = function(...) {
        is_glasso_path(..., nlambda = 2, points = 2000)
    },
    is_flasso_path = function(...) {
        is_flasso_path(..., nlambda = 2, points = 2000)
    }
)

run <- function(name, ...) {
    set.seed(1)
    entry_functions[[name]](...)
}

for (name in names(entry_functions)) {
    test_that(paste0(name, "() finds its samples in all that holds both"), {
        expected <- run(name, x, y)
        expect_null(expected$conditions)
        contrast <- c("treated", "control")
        found <- list(
            group = run(name, both, group = condition, contrast = contrast),
            column = run(name, cells, group = "condition"),
            formula = run(name, ~ condition, data = cells),
            bioconductor = run(name, experiment(), group = "condition",
                               assay = "log"),
            expression_set = run(name, expression_set(), group = "condition")
        )
        for (way in names(found)) {
            expect_identical(bare(found[[way]]), bare(expected), info = way)
            expect_identical(found[[way]]$conditions, conditions, info = way)
        }
        expect_match(format(found$column),
                     "conditions x: treated (numerator), y: control",
                     fixed = TRUE, all = FALSE)
        pair <- structure(pair, class = "network_pair")
        pair$x <- x
        pair$y <- y
        expect_identical(bare(run(name, pair)), bare(expected))
        # Typing errors are told from what goes on to the fits.
        expect_error(run(name, cells, group = "condition", contrats = 1),
                     "Did you mean `contrast`", class = "kliep_error_dots")
        expect_error(run(name, cells, group = "conditio"),
                     "Did you mean `condition`", class = "kliep_error_group")
    })
}

# ---- which condition is which ----------------------------------------------

test_that("the first level is the reference, unless a contrast says other", {
    as_found <- function(...) two_samples(both, ...)$conditions
    expect_identical(as_found(group = condition), conditions)
    ordered <- factor(condition, c("treated", "control"))
    expect_identical(as_found(group = ordered), c(x = "control", y = "treated"))
    expect_identical(as_found(group = condition == "treated"),
                     c(x = "TRUE", y = "FALSE"))
    expect_identical(as_found(group = as.integer(condition == "treated")),
                     c(x = "1", y = "0"))
    expect_identical(as_found(group = condition,
                              contrast = c("control", "treated")),
                     c(x = "control", y = "treated"))
    wide <- factor(condition, c("none", "control", "treated"))
    expect_identical(as_found(group = wide), conditions)
    # Numbers are in the order of numbers, not of text.
    expect_identical(as_found(group = ifelse(condition == "control", 9, 10)),
                     c(x = "10", y = "9"))
})

test_that("a contrast takes two of several conditions", {
    three <- condition
    three[1:20] <- "other"
    found <- two_samples(both, group = three,
                         contrast = c("treated", "control"))
    expect_identical(found$x, both[three == "treated", ])
    expect_identical(found$y, both[three == "control", ])
    expect_identical(
        two_samples(both, group = match(three, unique(three)),
                    contrast = 2:3)$conditions,
        c(x = "2", y = "3")
    )
})

test_that("a group is matched by name where it has the names of the rows", {
    named <- stats::setNames(condition, rownames(both))
    expect_identical(two_samples(both, group = rev(named))$x, x)
    expect_identical(two_samples(both, group = unname(condition))$x, x)
})

test_that("bad groups and contrasts are refused", {
    refused <- function(class, ..., message = NULL) {
        expect_error(two_samples(...), message,
                     class = paste0("kliep_error_", class))
    }
    refused("group", both, group = rep("a", 110), message = "got 1, `a`")
    refused("group", both[0, ], group = character(), message = "got 0\\.")
    refused("group", both, group = rep(1:3, length.out = 110),
            message = "contrast = c\\(\"2\", \"1\"\\)")
    refused("group", both, group = condition[-1], message = "got 109")
    refused("group", both, group = "condition", message = "data frame")
    refused("group", both, group = list(1), message = "factor or a vector")
    refused("group", both, group = replace(condition, 7, NA),
            message = "for 1 observation; the first is row 7 \\(`s")
    refused("group", cells, group = "treatment", message = "`condition`")
    refused("contrast", both, group = condition, contrast = "treated")
    refused("contrast", both, group = condition, contrast = c("control", NA))
    refused("contrast", both, group = condition,
            contrast = c("control", "control"))
    refused("contrast", both, group = condition, contrast = c("control", "b"),
            message = "no `b`; its levels are `control`, `treated`")
    refused("argument", x, y, group = condition, message = "as well")
    refused("argument", x, y, contrast = c("a", "b"), message = "`contrast`")
    refused("argument", cells, group = "condition", assay = 1,
            message = "`assay` does not go with")
    refused("argument", pair, group = condition)
    refused("argument", pair, y)
    refused("missing_sample", x)
    refused("type", "a", group = condition)
})

# ---- formulas --------------------------------------------------------------

test_that("a formula is evaluated in the data, then around it", {
    expect_identical(two_samples(~ condition, cells),
                     two_samples(cells, group = "condition"))
    outside <- condition
    expect_identical(two_samples(~ outside, data = both),
                     two_samples(both, group = condition))
    found <- two_samples(~ condition == "control", data = cells)
    expect_identical(found$conditions, c(x = "TRUE", y = "FALSE"))
    expect_named(found$x, colnames(both))
    cells$batch <- rep(1:2, 55)
    crossed <- two_samples(~ interaction(condition, batch), data = cells,
                           contrast = c("treated.1", "control.2"))
    expect_named(crossed$x, colnames(both))
    expect_identical(nrow(crossed$x),
                     sum(condition == "treated" & cells$batch == 1))
})

test_that("formulas with objects of Bioconductor use what these know", {
    expect_identical(two_samples(~ condition, data = expression_set()),
                     two_samples(both, group = condition))
    expect_identical(two_samples(~ condition, data = experiment(),
                                 assay = "log"),
                     two_samples(both, group = condition))
})

test_that("bad formulas are refused", {
    refused <- function(class, ...) {
        expect_error(two_samples(...), class = paste0("kliep_error_", class))
    }
    refused("missing_sample", ~ condition)
    refused("formula", ~ condition + batch, data = cells)
    refused("formula", V1 ~ condition, data = cells)
    refused("formula", ~ ., data = cells)
    refused("formula", ~ 1, data = cells)
    refused("group", ~ no_such_column, data = cells)
    refused("argument", ~ condition, data = cells, group = "condition")
    refused("argument", ~ condition, y, data = cells)
})

# ---- Bioconductor ----------------------------------------------------------

test_that("assays are found by name and number, transposed", {
    object <- experiment()
    by_name <- two_samples(object, group = "condition", assay = "log")
    expect_identical(by_name, two_samples(both, group = condition))
    expect_identical(two_samples(object, group = condition, assay = 2),
                     by_name)
    expect_identical(two_samples(object, group = "condition")$x, exp(x))
    treated <- condition == "treated"
    expect_identical(
        two_samples(object[, treated], object[, !treated], assay = "log"),
        list(x = x, y = y, conditions = NULL)
    )
    ranged <- methods::as(object, "RangedSummarizedExperiment")
    expect_identical(two_samples(ranged, group = "condition", assay = 2),
                     by_name)
})

test_that("a SingleCellExperiment may be sparse", {
    skip_if_not_installed("SingleCellExperiment")
    counts <- Matrix::Matrix(round(pmax(t(both), 0), 1), sparse = TRUE)
    object <- suppressMessages(SingleCellExperiment::SingleCellExperiment(
        list(counts = counts),
        colData = data.frame(condition = factor(condition))
    ))
    dense <- t(as.matrix(counts))
    expect_identical(two_samples(object, group = "condition"),
                     two_samples(dense, group = condition))
    expect_identical(two_samples(object, group = "condition",
                                 top_variable = 3),
                     two_samples(dense, group = condition, top_variable = 3))
})

test_that("Bioconductor is loaded with the first object from a file", {
    file <- withr::local_tempfile()
    saveRDS(expression_set(), file)
    found <- callr::r(function(x, y, file) {
        kliepnet::kliep_path(x, y, nlambda = 2)
        before <- loadedNamespaces()
        found <- kliepnet::two_samples(readRDS(file), group = "condition")
        list(before = before, conditions = found$conditions)
    }, list(x = x, y = y, file = file), libpath = .libPaths())
    expect_false(any(c("SummarizedExperiment", "Biobase") %in% found$before))
    expect_identical(found$conditions, conditions)
})

test_that("an object whose package is not installed names it", {
    methods::setClass("Strange", methods::representation(values = "matrix"),
                      where = environment())
    object <- methods::new("Strange", values = x)
    attr(class(object), "package") <- "strangePackage"
    expect_error(two_samples(object, group = "condition"),
                 "<Strange> needs the package `strangePackage`",
                 class = "kliep_error_package")
})

test_that("what an object does not have is named with what it has", {
    object <- experiment()
    expect_error(two_samples(object, group = "condition", assay = "logs"),
                 "\"logs\" among 2: `counts`, `log`",
                 class = "kliep_error_assay")
    for (assay in list(3, 0, 1.5, NA, c(1, 2), "")) {
        expect_error(two_samples(object, group = "condition", assay = assay),
                     class = "kliep_error_assay")
    }
    expect_error(two_samples(object, group = "treatment"),
                 "columns of `colData\\(x\\)` are `condition`, `batch`",
                 class = "kliep_error_group")
    expect_error(two_samples(expression_set(), group = "treatment"),
                 "columns of `pData\\(x\\)` are `condition`",
                 class = "kliep_error_group")
    expect_error(two_samples(object), "`condition`, `batch`",
                 class = "kliep_error_missing_sample")
    expect_error(two_samples(object, y), class = "kliep_error_type")
    expect_error(two_samples(object, object, group = "condition"),
                 class = "kliep_error_argument")
    expect_error(two_samples(object, group = "batch"), "got 1, `1`",
                 class = "kliep_error_group")
})

# ---- variables -------------------------------------------------------------

test_that("variables are taken by name and number, in the order given", {
    chosen <- c("V5", "V2")
    expect_identical(two_samples(x, y, variables = chosen)$y, y[, chosen])
    expect_identical(two_samples(both, group = condition,
                                 variables = c(5, 2))$x, x[, chosen])
    expect_named(two_samples(cells, group = "condition",
                             variables = chosen)$x, chosen)
    # What is left out need not be in both, nor hold numbers.
    cells$name <- "a"
    expect_identical(
        last_coef(kliep_path(cells, group = "condition", variables = chosen,
                             nlambda = 3)),
        last_coef(kliep_path(x[, chosen], y, variables = chosen, nlambda = 3))
    )
})

test_that("the most variable are those over both conditions together", {
    scale <- c(1, 5, 2, 4, 3, 6)
    wide <- sweep(both, 2, scale, "*")
    # Far apart, and so variable over both.
    wide[condition == "treated", 1] <- wide[condition == "treated", 1] + 50
    kept <- order(-apply(wide, 2, var))[1:3]
    expect_true(1 %in% kept)
    expected <- sort(kept)
    found <- two_samples(wide, group = condition, top_variable = 3)
    expect_identical(found$x, wide[condition == "treated", expected])
    parts <- two_samples(found$x, found$y, top_variable = 3)
    expect_identical(parts[1:2], found[1:2])
    frame <- two_samples(data.frame(wide, condition), group = "condition",
                         top_variable = 3)
    expect_named(frame$y, colnames(both)[expected])
    # Values that are missing do not count, and columns without any come last.
    wide[1:3, 6] <- NA
    wide[, 2] <- NA
    gaps <- two_samples(wide, group = condition, top_variable = 2,
                        na = "omit") |> suppressMessages()
    expect_identical(colnames(gaps$x), c("V1", "V6"))
})

test_that("bad variables are refused", {
    refused <- function(..., message = NULL) {
        expect_error(two_samples(x, y, ...), message,
                     class = "kliep_error_variables")
    }
    refused(variables = c("V1", "A", "B"), message = "2 of 3 .*`A`, `B`")
    refused(variables = 7)
    refused(variables = 1.5)
    refused(variables = c("V1", "V1"))
    refused(variables = TRUE)
    refused(variables = character())
    refused(top_variable = 7, message = "number of variables, 6: got 7")
    refused(top_variable = 1)
    refused(top_variable = "all")
    expect_error(two_samples(unname(x), unname(y), variables = "V1"), "numbers",
                 class = "kliep_error_variables")
    expect_error(two_samples("a", y, variables = "V1"),
                 class = "kliep_error_type")
})

# ---- missing values --------------------------------------------------------

gaps <- both
gaps[4, 2] <- NA
gaps[9, 5] <- NaN
gaps[9, 6] <- NA

test_that("missing values are an error that says where, and what to do", {
    place <- paste0("row 4 (`", rownames(both)[4], "`), variable `V2`")
    for (values in list(gaps, as.data.frame(gaps))) {
        error <- tryCatch(two_samples(values, group = condition),
                          error = identity)
        expect_s3_class(error, "kliep_error_missing")
        expect_match(conditionMessage(error), "na = \"omit\"", fixed = TRUE)
        expect_match(conditionMessage(error), "got 3 in 2 observations")
        expect_match(conditionMessage(error), place, fixed = TRUE)
    }
    expect_error(two_samples(unname(gaps[1:8, ]), group = condition[1:8]),
                 "row 4, variable `2`", class = "kliep_error_missing")
    error <- tryCatch(kliep_path(gaps, y), error = identity)
    expect_match(error$hint, "na = \"omit\"", fixed = TRUE)
    # Where it is of no consequence it is no error.
    expect_silent(two_samples(gaps, group = condition,
                              variables = c("V1", "V3")))
    infinite <- replace(both, 3, Inf)
    for (na in c("error", "omit", "impute_median")) {
        expect_error(two_samples(infinite, group = condition, na = na),
                     "infinite values: got 1 .* row 3",
                     class = "kliep_error_missing")
    }
    expect_error(two_samples(infinite, group = condition, top_variable = 2),
                 class = "kliep_error_missing")
})

test_that("omit leaves out observations, and counts them", {
    whole <- complete.cases(gaps)
    expect_message(found <- two_samples(gaps, group = condition, na = "omit"),
                   paste0(sum(condition[!whole] == "treated"), " of 60 .*",
                          "\\(treated\\) and ",
                          sum(condition[!whole] == "control"), " of 50"),
                   class = "kliep_message_missing")
    expect_identical(found$x, gaps[whole & condition == "treated", ])
    expect_identical(found$y, gaps[whole & condition == "control", ])
    expect_message(parts <- two_samples(gaps[1:60, ], y, na = "omit"),
                   "2 of 60 observations of `x` and 0 of 50")
    expect_identical(parts$x, gaps[setdiff(1:60, c(4, 9)), ])
    expect_silent(two_samples(x, y, na = "omit"))
    expect_message(
        found <- two_samples(both, group = replace(condition, 7, NA),
                             na = "omit"), "1 observation without a condition"
    )
    expect_identical(nrow(found$x) + nrow(found$y), 109L)
    expect_error(two_samples(both, group = replace(condition, 7, NA),
                             na = "impute_median"),
                 class = "kliep_error_group")
    expect_error(two_samples(x, y, na = "drop"), class = "kliep_error_argument")
})

test_that("imputing takes the median of the variable and the condition", {
    for (as in list(identity, as.data.frame)) {
        expect_warning(
            found <- two_samples(as(gaps), group = condition,
                                 na = "impute_median"),
            "3 missing values .* of 3 variables",
            class = "kliep_warning_imputed"
        )
        filled <- gaps
        for (at in which(is.na(gaps))) {
            row <- (at - 1) %% 110 + 1
            column <- (at - 1) %/% 110 + 1
            filled[at] <- median(gaps[condition == condition[row], column],
                                 na.rm = TRUE)
        }
        expect_equal(found$x, as(filled[condition == "treated", ]))
        expect_equal(found$y, as(filled[condition == "control", ]))
    }
    expect_warning(parts <- two_samples(gaps[1:60, ], y, na = "impute_median"),
                   "3 in `x`, 0 in `y`")
    expect_equal(parts$x[4, 2], median(gaps[1:60, 2], na.rm = TRUE))
    empty <- replace(gaps, 111:220, NA)
    expect_error(two_samples(empty, group = condition, na = "impute_median"),
                 "`V2` of `x` .* no others", class = "kliep_error_missing")
    cells$V2 <- replace(factor(cells$V2 > 0), 1, NA)
    expect_error(two_samples(cells, group = "condition", na = "impute_median"),
                 "no median, as it is factor", class = "kliep_error_missing")
    fit <- function(...) kliep_path(gaps, group = condition, ..., nlambda = 3)
    expect_warning(filled <- fit(na = "impute_median"))
    expect_identical(sum(filled$n), 110L)
    expect_message(dropped <- fit(na = "omit"))
    expect_identical(sum(dropped$n), 108L)
})

test_that("columns of two values of any kind can be grouped, too", {
    signs <- as.data.frame(lapply(as.data.frame(both), function(column) {
        factor(ifelse(column > 0, "up", "down"))
    }))
    expected <- kliep_path(signs[condition == "treated", ],
                           signs[condition == "control", ], feat_ising(),
                           nlambda = 3)
    found <- kliep_path(data.frame(signs, condition), group = "condition",
                        features = feat_ising(), nlambda = 3)
    expect_identical(bare(found), bare(expected))
})

test_that("no argument before the dots is one that samples are found by", {
    # R takes the beginning of a name for the name of such an argument.
    for (name in getNamespaceExports("kliepnet")) {
        fun <- getExportedValue("kliepnet", name)
        before <- if (is.function(fun)) names(formals(fun))
        if (!all(c("x", "y", "...") %in% before)) next
        before <- before[seq_len(match("...", before) - 1L)]
        for (argument in sample_arguments()) {
            clash <- setdiff(before[startsWith(before, argument)], argument)
            expect_identical(clash, character(), info = name)
        }
    }
})
