set.seed(31)
pair <- sim_gaussian(d = 6, n = 120, edge = 0.4, density = 0.3, n_changed = 3,
                     change = -0.8)
colnames(pair$x) <- colnames(pair$y) <- c("100_g_at", "b<c", "V3", "V4",
                                          "V5", "*six*")
path <- kliep_path(pair$x, pair$y, nlambda = 8)
chosen <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3)

skip_without_pandoc <- function() {
    skip_if_not_installed("rmarkdown")
    skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not installed")
}

browser <- function() {
    names <- c("chromium", "chromium-browser", "google-chrome",
               "google-chrome-stable")
    found <- Sys.which(names)
    unname(found[nzchar(found)][1])
}

# The page as the browser has it once its scripts have run.
open_page <- function(file) {
    profile <- withr::local_tempdir()
    text <- suppressWarnings(system2(
        browser(),
        c("--headless", "--no-sandbox", "--disable-gpu",
          "--disable-dev-shm-usage", "--virtual-time-budget=10000",
          paste0("--user-data-dir=", profile), "--dump-dom",
          shQuote(paste0("file://", normalizePath(file)))),
        stdout = TRUE, stderr = FALSE, timeout = 600
    ))
    paste(text, collapse = "\n")
}

# The same page with a script of ours at its end, run once the page is there.
open_with <- function(file, script) {
    copy <- withr::local_tempfile(fileext = ".html")
    script <- paste0("<script>addEventListener('load', function () {", script,
                     "});</script></body>")
    writeLines(sub("</body>", script, readLines(file, warn = FALSE),
                   fixed = TRUE), copy)
    open_page(copy)
}

# What a script has left in an attribute of the body.
left_in <- function(page, attribute) {
    found <- regmatches(page, regexpr(paste0(attribute, "=\"[^\"]*\""), page))
    sub(".*=\"(.*)\"$", "\\1", found)
}

test_that("a page is written, whole and by itself", {
    skip_without_pandoc()
    folder <- withr::local_tempdir()
    file <- file.path(folder, "report.html")
    set.seed(1)
    before <- .Random.seed
    expect_equal(kliep_report(chosen, file, title = "A \"title\": <ours>",
                              open = FALSE), normalizePath(file))
    expect_identical(.Random.seed, before)
    expect_equal(list.files(folder, all.files = TRUE, no.. = TRUE),
                 "report.html")
    page <- paste(readLines(file, warn = FALSE), collapse = "\n")
    expect_true(grepl("<title>A &quot;title&quot;: &lt;ours&gt;</title>", page,
                      fixed = TRUE))
    for (part in c("data", "settings", "pictures", "edges", "variables",
                   "diagnostics", "code", "session")) {
        expect_match(page, paste0("<h2[^>]*>", part, "</h2>"),
                     ignore.case = TRUE)
    }
    # Nothing comes from elsewhere.
    sources <- regmatches(page, gregexpr("(src|href)=\"[^\"#]{3,60}", page))
    expect_true(all(grepl("\"(data:|#)", sources[[1]])))
    expect_false(grepl("@import|url\\(http", page))
    pictures <- gregexpr("<img[^>]*src=\"data:image/png;base64", page)[[1]]
    expect_equal(length(pictures), length(report_pictures(chosen)))
    expect_match(page, "kliep_select(x = pair$x, y = pair$y", fixed = TRUE)
    expect_match(page, R.version.string, fixed = TRUE)
    expect_match(page, "effective sample size")
    # Names are names, not markup.
    expect_match(page, "<td>100_g_at</td>", fixed = TRUE)
    expect_match(page, "<td>*six*</td>", fixed = TRUE)
    expect_match(page, "<td>b&lt;c</td>", fixed = TRUE)
})

test_that("sections follow what was given", {
    titles <- function(fit, ...) {
        vapply(report_pictures(fit, ...), `[[`, "", "title")
    }
    test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 6, folds = 3,
                       progress = FALSE)
    stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 6,
                              progress = FALSE)
    inferred <- debias_few(pair$x, pair$y, n_boot = 20, progress = FALSE)
    both <- c("Graph", "Matrix")
    expect_equal(titles(path, path$lambda2[4]), c("Path", both))
    expect_equal(titles(chosen$fit), c("Strongest edges", both))
    expect_equal(titles(chosen), c("Selection", "Path", both))
    # A kind of selection is reported as one.
    kind <- structure(chosen, class = c("of_a_kind", class(chosen)))
    expect_equal(titles(kind), titles(chosen))
    expect_equal(report_facts(kind, "settings"),
                 report_facts(chosen, "settings"))
    expect_equal(titles(test), c("Test", "Any change at all", "Selection",
                                 "Path", both))
    expect_equal(titles(stable), c("Stability", "Path", both))
    expect_equal(titles(inferred), c("Intervals", both))
    # One row for each lambda2, or for each edge of an inference.
    expect_identical(report_steps(chosen), chosen$path$diagnostics)
    expect_identical(report_steps(test), test$selection$path$diagnostics)
    expect_identical(report_steps(stable), stable$path$diagnostics)
    expect_identical(report_steps(inferred), inferred$diagnostics)
    baseline <- moment_path(pair$x, pair$y, nlambda = 4)
    for (fit in list(path, chosen$fit, chosen, test, stable, inferred,
                     baseline)) {
        # A path alone has no edges of its own.
        lambda2 <- if (length(fit$lambda2) > 1) min(fit$lambda2)
        expect_match(report_summary(fit, lambda2),
                     paste0(nrow(edges(fit, lambda2 = lambda2)), " edge"))
        for (about in c("data", "settings", "diagnostics")) {
            facts <- report_facts(fit, about)
            expect_gt(nrow(facts), 2)
            expect_false(anyNA(facts) || any(facts$value == ""))
        }
    }
})

test_that("the edges are those of the lambda2 that is asked for", {
    found <- edges(path, path$lambda2[4])
    expect_match(report_summary(path, lambda2 = path$lambda2[4]),
                 paste(nrow(found), "edge"))
    plots <- report_pictures(path, lambda2 = path$lambda2[4])
    expect_match(plots[[2]]$plot$labels$caption,
                 paste(nrow(found), "edge"))
    code <- report_code(path, lambda2 = path$lambda2[4])
    expect_match(code, "lambda2 = 0.", fixed = TRUE)
    script <- withr::local_tempfile(lines = c("x <- 1 < 2", "# mine"))
    expect_match(report_code(path, script = check_script(script)),
                 "x &lt;- 1 &lt; 2\n# mine", fixed = TRUE)
})

test_that("facts say what the fit says", {
    value <- function(fit, about, what) {
        facts <- report_facts(fit, about)
        facts$value[facts$what == what]
    }
    expect_match(value(path, "data", "sample x"), "120 observations")
    expect_match(value(path, "data", "variables"), "^6: 100_g_at")
    expect_equal(value(path, "data", "factors"), "21")
    expect_match(value(chosen, "settings", "chosen"),
                 format(chosen$fit$lambda2, digits = 4), fixed = TRUE)
    expect_match(value(path, "settings", "fit"), "lambda1 = 0.1")
    expect_match(value(path, "diagnostics", "convergence"), "8 converged")
    weighted <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3,
                             normalizer = "empirical")
    size <- weighted$fit$diagnostics$effective_size
    expect_match(value(weighted, "diagnostics",
                       "effective sample size of the weights"),
                 paste(format(size, digits = 3), "of 120"), fixed = TRUE)
    cells <- data.frame(rbind(pair$y, pair$x), check.names = FALSE,
                        group = rep(c("ill", "well"), each = 120))
    named <- kliep_path(cells, group = "group", nlambda = 4)
    expect_match(value(named, "data", "sample x"), "well, 120")
    expect_match(report_summary(named, named$lambda2[3]),
                 "^well against ill, 120 and 120")
})

test_that("print() warns of weights that a few observations carry", {
    weighted <- kliep_path(pair$x, pair$y, nlambda = 6,
                           normalizer = "empirical")
    warned <- function(object) any(grepl("weights .* caution", format(object)))
    expect_false(warned(weighted))
    few <- weighted
    few$diagnostics$effective_size[5:6] <- c(11.2, 4.6)
    expect_match(format(few), paste0(
        "caution: worth as few as 4.6 of 120 observations \\(2 fits, from ",
        "lambda2 = ", format(weighted$lambda2[5], digits = 3), " down"
    ), all = FALSE)
    selected <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3,
                             normalizer = "empirical")
    expect_false(warned(selected))
    selected$fit$diagnostics$effective_size <- 4.6
    expect_match(format(selected), "caution: worth 4.6 of 120 observations",
                 all = FALSE)
    # No weights in closed form.
    expect_false(warned(path))
})

test_that("trouble is called by its name", {
    verdict <- function(fit, what) {
        facts <- report_facts(fit, "diagnostics")
        facts$verdict[facts$what == what]
    }
    expect_equal(verdict(path, "convergence"), "good")
    expect_equal(verdict(path, "unboundedness"), "good")
    late <- path
    late$diagnostics$status[6:7] <- "max_iter"
    expect_match(verdict(late, "convergence"), "^caution: 2 values")
    ended <- path
    ended$diagnostics$status[8] <- "unbounded"
    expect_match(verdict(ended, "unboundedness"), "^caution")
    heavy <- path
    heavy$diagnostics$effective_size[8] <- 4.2
    expect_match(verdict(heavy, "effective sample size of the weights"),
                 "^caution")
    expect_match(report_table(report_facts(heavy, "diagnostics")),
                 "<tr class=\"caution\"><td>effective", fixed = TRUE)
})

test_that("tables hold all rows, with numbers to sort by", {
    data <- data.frame(name = c("a&b", "<i>"), size = c(1234567.891, NA),
                       ok = c(TRUE, FALSE))
    html <- report_table(data, id = "mine")
    expect_match(html, "<td>a&amp;b</td>", fixed = TRUE)
    expect_match(html, "<td>&lt;i&gt;</td>", fixed = TRUE)
    expect_match(html, "data-value=\"1234567.891\">1,234,568", fixed = TRUE)
    expect_match(html, "data-value=\"\">NA", fixed = TRUE)
    expect_match(html, "type=\"search\"", fixed = TRUE)
    expect_no_match(report_table(data, search = FALSE), "type=\"search\"")
    empty <- report_table(data[0, ])
    expect_match(empty, "<tbody>\n</tbody>", fixed = TRUE)
})

test_that("a call that holds its data is shown without them", {
    made <- do.call(kliep_path, list(pair$x, pair$y, nlambda = 4))
    code <- report_code(made)
    expect_match(code, "120 x 6 matrix")
    expect_lt(nchar(code), 600)
})

test_that("what cannot be written is refused, and leaves nothing behind", {
    folder <- withr::local_tempdir()
    refused <- function(file) {
        expect_error(kliep_report(chosen, file, open = FALSE),
                     class = "kliep_error_file")
    }
    refused(file.path(folder, "absent", "report.html"))
    refused(folder)
    refused(NA)
    refused(c("a.html", "b.html"))
    plain <- file.path(folder, "plain")
    writeLines("mine", plain)
    refused(file.path(plain, "report.html"))
    expect_equal(list.files(folder, all.files = TRUE, no.. = TRUE), "plain")
    expect_equal(readLines(plain), "mine")
    # Where even the last step fails, an old page stays as it was.
    old <- file.path(folder, "old.html")
    dir.create(old)
    expect_error(move_report(plain, old), class = "kliep_error_file")
    expect_setequal(list.files(folder, all.files = TRUE, no.. = TRUE),
                    c("plain", "old.html"))
})

test_that("no permission is noticed before anything is drawn", {
    skip_if(Sys.info()[["user"]] == "root", "root may write everywhere")
    folder <- withr::local_tempdir()
    Sys.chmod(folder, "500")
    expect_error(kliep_report(chosen, file.path(folder, "a.html"),
                              open = FALSE), class = "kliep_error_file")
    expect_length(list.files(folder), 0)
})

test_that("what is not there is named in one sentence", {
    expect_error(check_report_tools(FALSE, FALSE),
                 "^A report needs the package rmarkdown, .* installed\\.$",
                 class = "kliep_error_report_tools")
    expect_error(check_report_tools(TRUE, FALSE),
                 "^A report needs pandoc, which is not installed\\.$",
                 class = "kliep_error_report_tools")
    expect_error(kliep_report(1:3), class = "kliep_error_type")
    expect_error(kliep_report(path), "`lambda2`", class = "kliep_error_lambda")
    expect_error(kliep_report(chosen, title = 1),
                 class = "kliep_error_argument")
    expect_error(kliep_report(chosen, script = "absent.R"),
                 class = "kliep_error_file")
    expect_error(kliep_report(chosen, files = "a.html"),
                 class = "kliep_error_dots")
})

test_that("the template stands in the list, and makes a document", {
    skip_without_pandoc()
    folder <- withr::local_tempdir()
    file <- file.path(folder, "mine.Rmd")
    rmarkdown::draft(file, template = "change_report", package = "kliepnet",
                     edit = FALSE, create_dir = FALSE)
    expect_identical(list.files(folder), "mine.Rmd")
    made <- rmarkdown::render(file, quiet = TRUE,
                              envir = new.env(parent = globalenv()))
    page <- paste(readLines(made, warn = FALSE), collapse = "\n")
    expect_true(grepl("<td align=\"left\">V7</td>", page, fixed = TRUE))
    expect_length(gregexpr("<img", page)[[1]], 3)
})

test_that("leukaemias, from the ExpressionSet to the browser", {
    skip_without_pandoc()
    skip_if_not_installed("ALL")
    skip_if_not_installed("Biobase")
    script <- system.file("examples", "leukaemia.R", package = "kliepnet")
    file <- withr::local_tempfile(fileext = ".html")
    output <- system2(file.path(R.home("bin"), "Rscript"),
                      c(shQuote(script), shQuote(file)), stdout = TRUE,
                      stderr = TRUE,
                      env = paste0("R_LIBS=", paste(.libPaths(),
                                                    collapse = ":")))
    expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))
    found <- grep("edges detected", output, value = TRUE)
    count <- as.integer(sub(" .*", "", found))
    expect_gt(count, 0)

    skip_if(is.na(browser()), "no browser is installed")
    # Search for one variable, and sort what is left by weight.
    page <- open_with(file, paste0(
        "var note = function (name, value) {",
        "document.body.setAttribute(name, value); };",
        "note('data-widths', Array.from(document.images).map(",
        "function (image) { return image.naturalWidth; }).join(' '));",
        "var box = document.getElementById('edge-table');",
        "note('data-before', box.querySelector('.count').textContent);",
        "var name = box.querySelector('tbody').rows[0].cells[0].textContent;",
        "note('data-name', name);",
        "var field = box.querySelector('input');",
        "field.value = name.toUpperCase();",
        "field.dispatchEvent(new Event('input'));",
        "box.querySelectorAll('th button')[2].click();",
        "note('data-after', box.querySelector('.count').textContent);",
        "note('data-rows', Array.from(box.querySelector('tbody').rows).filter(",
        "function (row) { return !row.hidden; }).map(function (row) {",
        "return Array.from(row.cells).map(function (cell) {",
        "return cell.getAttribute('data-value') || cell.textContent; })",
        ".join(' '); }).join('|'));"
    ))
    expect_true(grepl("BCR/ABL, 37 observations", page, fixed = TRUE))
    expect_true(grepl("NEG, 42 observations", page, fixed = TRUE))
    # The pictures have been decoded.
    widths <- as.integer(strsplit(left_in(page, "data-widths"), " ")[[1]])
    expect_equal(widths, rep(1536L, 4))
    expect_equal(left_in(page, "data-before"), paste(count, "of", count))
    rows <- strsplit(left_in(page, "data-rows"), "|", fixed = TRUE)[[1]]
    expect_gt(length(rows), 1)
    expect_lt(length(rows), count)
    expect_equal(left_in(page, "data-after"),
                 paste(length(rows), "of", count))
    expect_true(all(grepl(left_in(page, "data-name"), rows, fixed = TRUE)))
    weights <- as.numeric(sub(".* ", "", rows))
    expect_false(is.unsorted(-weights))
})

test_that("devices that were opened on the way are closed, and no others", {
    before <- grDevices::dev.list()
    withr::defer(close_devices_but(before))
    grDevices::pdf(NULL)
    mine <- grDevices::dev.cur()
    with_mine <- grDevices::dev.list()
    grDevices::pdf(NULL)
    grDevices::dev.set(mine)
    close_devices_but(with_mine)
    expect_identical(grDevices::dev.list(), with_mine)
    expect_identical(grDevices::dev.cur(), mine)
})
