# Two conditions compared within cell types, with donors as units.

one <- kliep_control(threads = 1)
cells <- withr::with_seed(2, {
    pair <- sim_gaussian(d = 5, n = 240, n_changed = 2, edge = 0.6,
                         change = -1.2)
    same <- sim_gaussian(d = 5, n = 240, n_changed = 0)
    table <- data.frame(rbind(pair$x, pair$y, same$x, same$y))
    table$condition <- rep(c("case", "control", "case", "control"), each = 240)
    table$type <- rep(c("T cell", "B cell"), each = 480)
    table$donor <- paste(table$condition, rep(1:12, 80))
    table
})
truth <- paste(pair$truth$from, pair$truth$to)
by_type <- function(..., data = cells) {
    withr::with_seed(1, kliep_by(
        data, "condition", by = "type", contrast = c("case", "control"),
        control = one, n_perm = 19, ...
    ))
}
found <- by_type(unit = "donor")

test_that("changes are found in the cell type that has them", {
    expect_s3_class(found, "kliep_by")
    got <- edges(found)
    expect_identical(unique(got$contrast), "T cell")
    expect_true(all(truth %in% paste(got$from, got$to)))
    expect_identical(found$contrasts$units_x, c(12L, 12L))
    expect_equal(found$estimates$q_value,
                 p.adjust(found$estimates$p_value, "BH"))
    expect_output(print(found), "edges?,\\s+in\\s+1\\s+of\\s+2\\s+parts")
    expect_output(print(found), "12 \\+ 12 units \\(donor\\)")
    # One cell type by itself is tested as two samples are.
    alone <- withr::with_seed(1, {
        by_type(unit = "donor", data = cells[cells$type == "B cell", ])
    })
    own <- found$fits[["B cell"]]$estimates
    expect_equal(alone$fits[[1]]$estimates$partial_x, own$partial_x)
    expect_identical(nrow(tidy(found)), 20L)
    expect_identical(glance(found)$n_changed, nrow(got))
    expect_s3_class(autoplot(found), "ggplot")
    lines <- autoplot(found, type = "edges", max_edges = 2)$data
    expect_identical(nrow(lines), 8L)
    expect_false(anyNA(lines$group))
})

test_that("values for each observation are cut with the table", {
    vectors <- withr::with_seed(1, kliep_by(
        as.matrix(cells[1:5]), cells$condition, cells$type, unit = cells$donor,
        contrast = c("case", "control"), control = one, n_perm = 19
    ))
    expect_equal(vectors$estimates$estimate, found$estimates$estimate)
})

test_that("cells of a donor become one observation", {
    pooled <- two_samples(cells[names(cells) != "type"], group = "condition",
                          unit = "donor", pool = "mean")
    expect_identical(dim(pooled$y), c(12L, 5L))
    own <- cells[cells$donor == "case 3", 1:5]
    expect_equal(pooled$y["case 3", ], colMeans(own))
    sums <- two_samples(cells[names(cells) != "type"], group = "condition",
                        unit = "donor", pool = "sum")
    expect_equal(sums$x["control 1", ], 40 * pooled$x["control 1", ])
    expect_null(pooled$design$unit)
    # The mean of a linear model has the mean of its covariates.
    age <- runif(nrow(cells))
    table <- cells[names(cells) != "type"]
    table[1:5] <- table[1:5] + 3 * age
    adjusted <- function(table) {
        two_samples(table, group = "condition", unit = "donor", pool = "mean",
                    adjust = data.frame(age = age))$x
    }
    expect_equal(adjusted(table), adjusted(cells[names(cells) != "type"]),
                 tolerance = 1e-9)
    pairs <- two_samples(cells[1:480, 1:5], group = cells$condition[1:480],
                         pair = rep(1:12, 40), pool = "mean")
    expect_identical(pairs$design$pair$x, as.character(1:12))
    expect_identical(nrow(pairs$x), 12L)
    result <- by_type(unit = "donor", pool = "mean")
    expect_identical(result$contrasts$n_x, c(12L, 12L))
    expect_output(print(result), "the mean of each of 12 \\+ 12 units")
})

test_that("a SingleCellExperiment goes by its logcounts and colData", {
    skip_if_not_installed("SingleCellExperiment")
    object <- suppressMessages(SingleCellExperiment::SingleCellExperiment(
        list(counts = 0 * t(as.matrix(cells[1:5])),
             logcounts = t(as.matrix(cells[1:5]))),
        colData = cells[6:8]
    ))
    got <- by_type(unit = "donor", data = object)
    expect_equal(got$estimates$estimate, found$estimates$estimate)
})

test_that("a cell type that cannot be tested is left out, and said", {
    rare <- cells
    # Three donors, each with one cell.
    rare$type[c(1:3, 241:243)] <- "rare"
    rare$type[4:23] <- "one-sided"
    expect_warning(
        got <- suppressWarnings(by_type(unit = "donor", data = rare),
                                classes = "kliep_warning_units"),
        "Left out: `one-sided` \\(There is no observation of `control`\\)",
        class = "kliep_warning_left_out"
    )
    expect_setequal(got$left_out$contrast, c("rare", "one-sided"))
    expect_identical(got$contrasts$contrast, c("B cell", "T cell"))
    # Where all fail, the reason is an error.
    expect_error(by_type(unit = "doner"), "no `doner` for unit",
                 class = "kliep_error")
    expect_error(by_type(pool = "mean"), "`unit` is missing",
                 class = "kliep_error_design")
    few <- cells[cells$donor %in% c("case 1", "control 1", "control 2",
                                    "control 3"), ]
    expect_error(by_type(unit = "donor", data = few),
                 "at least 3 units in each condition: got 1 and 3",
                 class = "kliep_error_design")
    number <- as.integer(sub(".* ", "", cells$donor))
    fewer <- cells[number < 9L & cells$donor != "case 1", ]
    expect_error(by_type(unit = "donor", pool = "mean", data = fewer),
                 "7 and 8 units, and tests need at least 10",
                 class = "kliep_error_size")
    expect_error(withr::with_seed(1, kliep_by(cells, "condition", by = "tipe")),
                 "no `tipe` to group by.*`type`", class = "kliep_error_group")
    expect_error(kliep_by(cells[1:5], cells$condition, by = 1:3),
                 "`by` must have one value for each of 960 observations",
                 class = "kliep_error_group")
})

test_that("the report has a page for each cell type, and a first one", {
    folder <- withr::local_tempdir()
    file <- kliep_report(found, file.path(folder, "cells.html"), open = FALSE)
    expect_setequal(list.files(folder), c("cells.html", "cells-T-cell.html",
                                          "cells-B-cell.html"))
    page <- paste(readLines(file), collapse = "\n")
    expect_match(page, "<a href=\"cells-T-cell.html\">T cell</a>", fixed = TRUE)
    pages <- contrast_pages(c("a - b", "a / b", "++"), "r.html")
    expect_identical(unname(pages),
                     c("r-a-b.html", "r-a-b-1.html", "r-contrast.html"))
})

test_that("one whole contrast without any sign of a change outweighs nothing", {
    expect_identical(combine_simes(c(0.02, 1)), 0.04)
    expect_identical(combine_simes(c(0.02, 0.03, 1)), 0.045)
})
