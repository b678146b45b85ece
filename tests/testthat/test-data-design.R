# Designs that two_samples() reads: what they do to the samples, what travels
# with them, and what is wrong with a design.

cells <- withr::with_seed(1, {
    n <- 60
    table <- as.data.frame(matrix(rnorm(n * 4), n))
    table$condition <- rep(c("case", "control"), each = n / 2)
    table$batch <- rep(c("p", "q", "r"), n / 3)
    table$age <- runif(n, 20, 60)
    table$donor <- paste0("d", rep(1:12, each = 5))
    table$patient <- rep(rep(1:10, each = 3), 2)
    table
})
samples_of_cells <- function(..., data = cells) {
    two_samples(data, group = "condition", contrast = c("case", "control"),
                variables = paste0("V", 1:4), ...)
}

test_that("residuals are uncorrelated, of one variance, and blind to effects", {
    covariates <- stats::model.matrix(~ batch + age, cells)
    done <- blus_residuals(diag(60), cbind(1, covariates))
    # As a matrix they are a basis of what the covariates leave.
    expect_equal(tcrossprod(done$values), diag(56), tolerance = 1e-12)
    expect_lt(max(abs(done$values %*% covariates)), 1e-10)
    expect_length(done$kept, 56)
    # Near the errors of the rows that they stand for.
    expect_gt(min(done$values[cbind(1:56, done$kept)]), 0.7)
})

test_that("effects of covariates are taken off, in each condition by itself", {
    plain <- samples_of_cells(adjust = ~ batch + age)
    moved <- cells
    case <- moved$condition == "case"
    moved$V1 <- moved$V1 + ifelse(case, 1, -2) * moved$age
    moved$V2 <- moved$V2 + 5 * (moved$batch == "q")
    also <- samples_of_cells(adjust = ~ batch + age, data = moved)
    expect_equal(also$x, plain$x, tolerance = 1e-9)
    expect_equal(also$y, plain$y, tolerance = 1e-9)
    expect_identical(nrow(plain$x), 26L)
    expect_identical(plain$design$adjust$lost, c(x = 4L, y = 4L))
    # Effects that differ by condition are not common.
    common <- samples_of_cells(adjust = ~ batch + age, adjust_common = TRUE,
                               data = moved)
    expect_identical(nrow(common$x) + nrow(common$y), 55L)
    expect_gt(stats::var(common$x[, 1]), 10)
    shifted <- transform(cells, V1 = V1 + age)
    expect_equal(samples_of_cells(adjust = ~ age, adjust_common = TRUE,
                                  data = shifted)$x,
                 samples_of_cells(adjust = ~ age, adjust_common = TRUE)$x,
                 tolerance = 1e-9)
})

test_that("a design comes from columns, a data frame, or values", {
    covariates <- cells[c("batch", "age")]
    by_name <- samples_of_cells(adjust = ~ batch + age)
    expect_equal(samples_of_cells(adjust = covariates)$x, by_name$x)
    split <- split(cells, cells$condition)
    both <- two_samples(split$case, split$control, adjust = ~ batch + age,
                        variables = paste0("V", 1:4))
    expect_equal(both$x, by_name$x)
    expect_null(both$conditions)
    unit <- suppressWarnings(samples_of_cells(unit = cells$donor))
    named <- suppressWarnings(samples_of_cells(unit = "donor"))
    expect_identical(unit$design$unit[c("x", "y")],
                     named$design$unit[c("x", "y")])
    # What describes observations is not a variable.
    all <- suppressWarnings(two_samples(
        cells[setdiff(names(cells), "patient")], group = "condition",
        adjust = ~ batch + age, unit = "donor"
    ))
    expect_identical(colnames(all$x), paste0("V", 1:4))
    formula <- two_samples(~ condition, data = cells, adjust = ~ batch + age,
                           variables = paste0("V", 1:4))
    expect_equal(formula$y, by_name$x)
})

test_that("a design comes from colData", {
    skip_if_not_installed("SummarizedExperiment")
    object <- suppressMessages(SummarizedExperiment::SummarizedExperiment(
        t(as.matrix(cells[1:4])), colData = cells[5:9]
    ))
    got <- two_samples(object, group = "condition",
                       contrast = c("case", "control"), adjust = ~ batch + age)
    expect_equal(got$x, samples_of_cells(adjust = ~ batch + age)$x,
                 ignore_attr = TRUE)
})

test_that("observations that are left out take their labels along", {
    gaps <- cells
    gaps$V1[1] <- NA
    gaps$donor[33] <- NA
    got <- suppressWarnings(suppressMessages(
        samples_of_cells(unit = "donor", na = "omit", data = gaps)
    ))
    expect_identical(got$design$unit$x, cells$donor[2:30])
    expect_identical(got$design$unit$y, cells$donor[c(31:32, 34:60)])
    expect_error(samples_of_cells(unit = "donor",
                                  data = transform(gaps, V1 = cells$V1)),
                 "missing for 1 observation; the first is row 33")
})

test_that("a pair that covariates have torn is left out", {
    got <- samples_of_cells(pair = rep(1:30, 2), adjust = ~ age)
    expect_setequal(got$design$pair$x, got$design$pair$y)
    expect_identical(nrow(got$x), length(got$design$pair$x))
    expect_gte(nrow(got$x), 26L)
})

test_that("wrong designs say what to do", {
    refused <- function(pattern, ..., data = cells) {
        expect_error(samples_of_cells(..., data = data), pattern,
                     class = "kliep_error")
    }
    refused("confounded with `adjust` \\(site\\)", adjust = ~ site,
            data = transform(cells, site = condition))
    refused("confounded with `adjust` \\(age \\+ site\\)",
            adjust = ~ age + site,
            data = transform(cells, site = condition))
    refused("these covariates determine", adjust = ~ donor,
            adjust_common = TRUE)
    # Within conditions, what is nested in them can be taken off.
    nested <- samples_of_cells(adjust = ~ donor)
    expect_identical(nested$design$adjust$lost, c(x = 6L, y = 6L))
    refused("no `btch` for adjust.*`batch`", adjust = ~ btch)
    refused("no `doner` for unit", unit = "doner")
    refused("one value for each of 60 observations", unit = 1:3)
    refused("formula without a left side", adjust = V1 ~ age)
    refused("`adjust` has one value only in `site`", adjust = ~ site,
            data = transform(cells, site = "a"))
    refused("must have one row for each of 60", adjust = cells[1:5, "age",
                                                              drop = FALSE])
    refused("`V1` has two values.*strata", adjust = ~ age,
            data = transform(cells, V1 = V1 > 0))
    refused("1 stratum in one condition only: `z`",
            strata = c("z", rep("a", 59)))
    refused("1 unit in both conditions.*`pair`",
            unit = replace(cells$donor, 60, "d1"))
    refused("at least 3 units in each condition: got 1 and 6",
            unit = c(rep("a", 30), cells$donor[31:60]))
    refused("2 pairs in one condition only: `z`, `1`",
            pair = replace(as.character(cells$patient), 1:3, "z"))
    refused("at least 6 pairs", pair = rep(1:2, 30))
    refused("`unit` and `pair` are both given", unit = "donor",
            pair = "patient")
    refused("12 units in several strata",
            unit = "donor", strata = "batch")
    refused("10 pairs in several strata", pair = "patient",
            strata = rep(c("p", "p", "q"), 20), data = transform(
                cells, patient = rep(rep(1:10, 3), 2)
            ))
    refused("`pool` must be one of", unit = "donor", pool = "median")
    refused("`unit` is missing", pool = "sum")
    refused("too few are left", adjust = data.frame(
        each = factor(rep(c(1:28, 1:2), 2))
    ))
    expect_warning(samples_of_cells(unit = "donor"),
                   "6 and 6 units, and not 30 and 30 observations",
                   class = "kliep_warning_units")
})

test_that("values with the names of observations are matched by them", {
    values <- as.matrix(cells[paste0("V", 1:4)])
    rownames(values) <- paste0("cell", 1:60)
    named <- function(what) setNames(cells[[what]], rownames(values))
    quiet <- function(samples) {
        suppressWarnings(samples, classes = "kliep_warning_units")
    }
    of <- function(unit, adjust) {
        quiet(two_samples(values, group = named("condition"), unit = unit,
                          adjust = adjust))
    }
    age <- data.frame(age = cells$age, row.names = rownames(values))
    plain <- of(named("donor"), age)
    turned <- of(rev(named("donor")), age[60:1, , drop = FALSE])
    expect_identical(turned, plain)
    expect_identical(of(unname(named("donor")), cells["age"]), plain)
    # In two tables, too.
    case <- cells$condition == "case"
    both <- function(...) {
        quiet(two_samples(values[case, ], values[!case, ], ...))
    }
    expect_identical(both(unit = rev(named("donor"))),
                     both(unit = unname(named("donor"))))
    # Cell types are cut out of values in the right order.
    by <- rep(c("B", "T"), 30)
    part <- function(unit) {
        found <- find_parted(values, cells$condition, by)
        quiet(part_samples(found, "T", c(x = "case", y = "control"),
                           list(unit = unit)))
    }
    expect_identical(part(rev(named("donor"))), part(named("donor")))
})

test_that("covariates may be a matrix", {
    frame <- cells["age"]
    expect_equal(samples_of_cells(adjust = as.matrix(frame)),
                 samples_of_cells(adjust = frame))
    expect_error(samples_of_cells(adjust = cells$age), "data.frame",
                 class = "kliep_error_design")
})

test_that("donors that are numbered are not a numeric covariate", {
    numbered <- cells
    numbered$donor <- as.integer(sub("d", "", cells$donor))
    of <- function(data) {
        found <- samples_of_cells(adjust = ~ donor, unit = "donor", data = data)
        found$design$adjust$lost
    }
    expect_warning(lost <- of(numbered), class = "kliep_warning_units")
    expect_identical(lost, c(x = 6L, y = 6L))
})

test_that("units that are given as pairs are recognised", {
    expect_error(samples_of_cells(pair = "donor"), "is a `unit`",
                 class = "kliep_error_design")
})

test_that("columns that are not numeric cannot be adjusted", {
    expect_error(
        two_samples(cells[c("V1", "V2", "batch", "condition", "age")],
                    group = "condition", adjust = ~ age),
        "numeric columns: `batch` is not", class = "kliep_error_design"
    )
    expect_error(kliep_path(cells[c("V1", "V2", "batch", "condition")],
                            group = "condition"),
                 "`feat_mixed\\(\\)` take columns",
                 class = "kliep_error_numeric")
})
