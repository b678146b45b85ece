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

titles <- function(fit, ...) {
    vapply(report_pictures(fit, ...), `[[`, "", "title")
}

page_of <- function(fit, ...) {
    file <- withr::local_tempfile(fileext = ".html")
    kliep_report(fit, file, open = FALSE, ...)
    paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
}

test_that("a page is written, whole and by itself", {
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
    expect_match(page, "<html lang=\"en\">", fixed = TRUE)
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
    expect_match(page, ">100_g_at</t[dh]>")
    expect_match(page, ">\\*six\\*</t[dh]>")
    expect_match(page, ">b&lt;c</t[dh]>")
    expect_no_match(page, "b<c", fixed = TRUE)
    # Under a megabyte, and every picture is told in words.
    expect_lt(file.size(file), 1e6)
    told <- regmatches(page, gregexpr("<img[^>]* alt=\"[^\"]*\"", page))[[1]]
    expect_equal(length(told), length(pictures))
    expect_true(all(nchar(sub(".*alt=", "", told)) > 40))
})

test_that("sections follow what was given", {
    test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 6, folds = 3,
                       progress = FALSE)
    stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 6,
                              progress = FALSE)
    inferred <- debias_few(pair$x, pair$y, n_boot = 20, progress = FALSE)
    matrix <- if (nrow(edges(test)) > 0) "Matrix"
    expect_equal(titles(path, path$lambda2[4]), c("Path", "Matrix"))
    expect_equal(titles(chosen$fit), c("Strongest edges", "Matrix"))
    expect_equal(titles(chosen), c("Selection", "Path", "Matrix"))
    # A kind of selection is reported as one.
    kind <- structure(chosen, class = c("of_a_kind", class(chosen)))
    expect_equal(titles(kind), titles(chosen))
    expect_equal(report_facts(kind, "settings"),
                 report_facts(chosen, "settings"))
    expect_equal(titles(test), c("Test", "Any change at all", "Selection",
                                 "Path", matrix))
    expect_equal(titles(stable)[1:2], c("Stability", "Path"))
    expect_equal(titles(inferred)[1], "Intervals")
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
    expect_match(plots[[2]]$alt, paste(nrow(found), "edge"))
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
    expect_match(report_table(report_facts(heavy, "diagnostics"), "facts"),
                 "<tr class=\"caution\"><th scope=\"row\">effective",
                 fixed = TRUE)
})

test_that("tables hold all rows, with numbers to sort by", {
    data <- data.frame(name = c("a&b", "<i>"), size = c(1234567.891, NA),
                       ok = c(TRUE, FALSE))
    html <- report_table(data, "all \"of\" them", id = "mine")
    expect_match(html, "<th scope=\"row\">a&amp;b</th>", fixed = TRUE)
    expect_match(html, "<th scope=\"row\">&lt;i&gt;</th>", fixed = TRUE)
    expect_match(html, "data-value=\"1234567.891\">1,234,568", fixed = TRUE)
    expect_match(html, "data-value=\"\">NA", fixed = TRUE)
    expect_match(html, "<caption>all &quot;of&quot; them</caption>",
                 fixed = TRUE)
    expect_length(gregexpr("scope=\"col\"", html)[[1]], 3)
    expect_match(html, "type=\"search\"", fixed = TRUE)
    expect_no_match(report_table(data, "them", search = FALSE),
                    "type=\"search\"")
    empty <- report_table(data[0, ], "none")
    expect_match(empty, "<tbody>\n</tbody>", fixed = TRUE)
})

test_that("what the script is given is JSON that no name can end", {
    skip_if_not_installed("jsonlite")
    odd <- c("</script><b>", "a\"b\\c'", "tab\tline\nend\u0001", "\u00e9\u7532",
             "\u2028", "")
    value <- list(names = odd, one = json_one("x"), empty = numeric(),
                  numbers = c(1.5, NA, 1e-12, -3, 123456789, Inf),
                  yes = json_one(TRUE), none = NULL,
                  inner = list(list(a = 1L), list(a = 2L)))
    text <- as_json(value)
    expect_no_match(text, "[<>&]")
    back <- jsonlite::fromJSON(text, simplifyDataFrame = FALSE)
    expect_identical(back$names, odd)
    expect_identical(back$one, "x")
    expect_identical(back$yes, TRUE)
    expect_length(back$empty, 0)
    expect_equal(back$numbers, c(1.5, NA, 1e-12, -3, 123456789, NA))
    expect_equal(back$inner[[2]]$a, 2)
    latin <- "caf\xe9"
    Encoding(latin) <- "latin1"
    expect_identical(jsonlite::fromJSON(as_json(latin)), "caf\u00e9")
    # Bytes that are no letter in this locale.
    expect_match(jsonlite::fromJSON(as_json("bad \xff")), "^bad .")
})

test_that("pictures are coded as RFC 4648 says", {
    expect_equal(base64(charToRaw("foobar")), "Zm9vYmFy")
    expect_equal(base64(charToRaw("fooba")), "Zm9vYmE=")
    expect_equal(base64(charToRaw("foob")), "Zm9vYg==")
})

test_that("observations are packed to within a four thousandth", {
    values <- cbind(rnorm(50), runif(50), 3)
    low <- apply(values, 2, min)
    high <- apply(values, 2, max)
    packed <- pack_columns(values, low, high)
    letter <- function(text, at) {
        match(substring(text, at, at), base64_letters) - 1
    }
    back <- vapply(1:3, function(u) {
        at <- seq(1, 99, by = 2)
        step <- 64 * letter(packed[u], at) + letter(packed[u], at + 1)
        low[u] + step / 4095 * (high[u] - low[u])
    }, numeric(50))
    expect_lt(max(abs(sweep(back - values, 2, pmax(high - low, 1), "/"))),
              1 / 8000)
})

test_that("the slider begins with what is reported, and knows the rest", {
    inferred <- kliep_infer(pair$x, pair$y, n_perm = 19, progress = FALSE)
    found <- report_edges(inferred)
    expect_equal(sum(found$shown), nrow(edges(inferred)))
    for (fdr in c(0.01, 0.2, 0.5)) {
        expect_equal(sum(found$cut <= fdr),
                     nrow(edges(inferred, fdr = fdr)))
    }
    # No edge is reported below the p-value of no change at all.
    none <- inferred
    none$global$p_value <- 0.3
    expect_equal(sum(report_edges(none)$shown), 0)
    expect_true(all(report_edges(none)$cut >= 0.3))
    expect_match(say_control(none), "Below 0.3, the p-value")
    test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 6, folds = 3,
                       progress = FALSE)
    expect_equal(sum(report_edges(test)$shown), nrow(edges(test)))
    stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 6,
                              progress = FALSE)
    found <- report_edges(stable)
    expect_equal(sum(found$shown), nrow(edges(stable)))
    expect_true(found$control$at_least)
    # A selection has ranks, and says so.
    found <- report_edges(chosen)
    expect_true(all(found$shown))
    expect_equal(found$cut, seq_len(nrow(edges(chosen))))
    expect_match(say_control(chosen), "no q-values.*`kliep_infer\\(\\)` tests")
    expect_match(say_control(moment_path(pair$x, pair$y)), "`kliep_select()`",
                 fixed = TRUE)
})

test_that("a report says what its result does, and no more", {
    same <- matrix(withr::with_seed(2, rnorm(1200)), 200,
                   dimnames = list(NULL, paste0("V", 1:6)))
    ranked <- kliep_path(same[1:100, ], same[101:200, ], nlambda = 8)
    page <- page_of(ranked, lambda2 = min(ranked$lambda2))
    expect_match(page, "It does not say where to cut the ranking")
    expect_match(page, "<code>kliep_infer(fit)</code> tests every edge",
                 fixed = TRUE)
    expect_no_match(page, "Most has changed around")
    expect_match(report_summary(chosen), "does not say how many of them")
    test <- kliep_test(same[1:100, ], same[101:200, ], n_perm = 19,
                       nlambda = 6, folds = 3, progress = FALSE)
    expect_match(report_summary(test), paste(
        "test of no change at all has p =",
        format(test$global$p_value, digits = 2)
    ), fixed = TRUE)
    auto <- withr::with_seed(1, kliep_auto(same[1:100, ], same[101:200, ],
                                           n_perm = 19, progress = FALSE))
    page <- page_of(auto)
    expect_match(page, "Why this analysis")
    for (reason in auto$reasons) {
        expect_match(page, paste0("<li>", escape_words(reason), "</li>"),
                     fixed = TRUE)
    }
})

test_that("where there is no edge there is no blank picture", {
    none <- kliep_change(pair$x, pair$y, lambda2 = 10)
    expect_identical(titles(none), character())
    page <- page_of(none)
    expect_match(page, "0 edges detected at lambda2 = 10")
    expect_match(page, "There is nothing to draw", fixed = TRUE)
    expect_no_match(page, "<img")
    expect_no_match(page, "id=\"graph\"")
})

test_that("a drift has a report, also where nothing was found", {
    withr::local_seed(51)
    drifting <- sim_drift(d = 5, n = 500, n_changed = 1, change = 0.7)
    found <- kliep_time(drifting$series, times = 8, n_perm = 49)
    expect_gt(nrow(edges(found)), 0)
    file <- withr::local_tempfile(fileext = ".html")
    kliep_report(found, file, open = FALSE)
    page <- paste(readLines(file), collapse = "\n")
    for (text in c("A series of 500 observations of 5 variables",
                   "The total rate is largest at", "Graphs over time",
                   "Heat map of the rates", "means removed",
                   "worth as many independent observations",
                   "higher in later rows",
                   # In the words about columns, too.
                   "interaction is higher in later rows,")) {
        expect_match(page, text, fixed = TRUE)
    }
    # No slider beyond the rate that was asked for.
    expect_identical(max(report_edges(found)$control$stops), found$fdr)
    expect_length(report_pictures(found), 4L)
    # A page without a picture of what is not there.
    none <- kliep_time(sim_drift(d = 4, n = 300, shape = "none")$series,
                       n_perm = 19, fdr = 0.001)
    expect_identical(nrow(edges(none)), 0L)
    expect_match(report_summary(none), "No change|no change")
    expect_length(report_pictures(none), 0L)
    kliep_report(none, file, open = FALSE)
    expect_gt(file.size(file), 1e4)
})

test_that("windows with an error rate say so in their report", {
    withr::local_seed(52)
    drifting <- sim_drift(d = 4, n = 600, n_changed = 1, change = 0.6,
                          shape = "jump")
    found <- kliep_windows(drifting$series, reference = c(0, 0.4), width = 150,
                           fdr = 0.1, nlambda = 3, folds = 2, progress = FALSE)
    expect_match(report_summary(found),
                 "at a false discovery rate of 0.1 over all windows")
    kept <- report_facts(found, "settings")
    expect_match(kept$value[kept$what == "kept by"], "false discovery rate")
})

test_that("windows have a report", {
    series <- rbind(pair$y, pair$x)
    found <- kliep_windows(series, reference = c(1, 120), width = 60,
                           nlambda = 6, folds = 3, progress = FALSE)
    found$edges$from[1] <- "<i>"
    table <- summary(found)
    expect_match(report_summary(found), paste0(
        "^2 windows of 60 observations against a reference of 120.*: ",
        nrow(table), " edge"
    ))
    expect_match(report_summary(found), "`n_perm` of `kliep_windows()` tests",
                 fixed = TRUE)
    for (about in c("data", "settings", "diagnostics")) {
        facts <- report_facts(found, about)
        expect_gt(nrow(facts), 2)
        expect_false(anyNA(facts) || any(facts$value == ""))
    }
    expect_identical(report_steps(found), found$windows)
    page <- page_of(found)
    expect_match(page, "Windows that have the edge, at least")
    expect_match(page, "&lt;i&gt;", fixed = TRUE)
    expect_no_match(page, "<i>", fixed = TRUE)
    expect_error(kliep_report(found, lambda2 = 1),
                 class = "kliep_error_argument")
})

test_that("the observations behind an edge go with it, if there are any", {
    found <- report_edges(chosen)
    graph <- report_graph(chosen, found)
    evidence <- report_evidence(chosen, found, graph)
    expect_equal(evidence$n, c(120, 120))
    expect_length(evidence$x, length(graph$variables))
    expect_equal(unique(nchar(evidence$x)), 240)
    first <- edges(chosen)[1, ]
    expect_equal(evidence$r_y[1], cor(pair$y)[first$from, first$to])
    # Little room costs observations first, and then variables.
    less <- report_evidence(chosen, found, graph, room = 1000)
    expect_equal(less$shown, c(60, 60))
    expect_length(less$x, 4)
    # At this lambda2 there are edges, whatever the folds.
    light <- kliep_select(pair$x, pair$y, lambda2 = 0.1, folds = 3,
                          control = kliep_control(keep_samples = FALSE))
    expect_gt(nrow(edges(light)), 0)
    expect_null(report_evidence(light, report_edges(light), graph))
    expect_match(say_evidence(light, NULL), "does not carry its samples")
    expect_match(page_of(light), "does not carry its samples")
    # Other methods have no setting that would keep them.
    other <- moment_path(pair$x, pair$y, nlambda = 3)
    expect_no_match(say_evidence(other, NULL), "keep_samples")
    # By ranks where the features are, and with words where values were coded.
    ranks <- kliep_select(pair$x, pair$y, nlambda = 6, folds = 3,
                          features = feat_nonparanormal())
    found <- report_edges(ranks)
    graph <- report_graph(ranks, found)
    first <- found$table[1, ]
    expect_equal(report_evidence(ranks, found, graph)$r_x[1],
                 cor(pair$x, method = "spearman")[first$from, first$to])
    binary <- kliep_change(pair$x > 0, pair$y > 0, features = feat_ising(),
                           lambda2 = 0.01)
    found <- report_edges(binary)
    graph <- report_graph(binary, found)
    expect_identical(report_evidence(binary, found, graph)$levels[[1]],
                     c("FALSE", "TRUE"))
})

test_that("500 edges make less than 1.5 MB, 5,000 no more than 2,000 do", {
    withr::local_seed(5)
    x <- matrix(rnorm(150 * 101), 150)
    y <- matrix(rnorm(150 * 101), 150)
    path <- moment_path(x, y, lambda2 = c(10, 1e-6))
    found <- report_edges(path, 1e-6)
    expect_equal(found$all, 101 * 50)
    expect_equal(nrow(found$table), 2000)
    cut <- edges(path, 1e-6)$weight
    size <- function(lambda2) {
        file <- withr::local_tempfile(fileext = ".html")
        kliep_report(path, file, lambda2 = lambda2, open = FALSE)
        file.size(file)
    }
    five <- moment_path(x, y, lambda2 = c(10, sort(abs(cut), TRUE)[500]))
    expect_equal(nrow(edges(five, min(five$lambda2))), 500, tolerance = 0.02)
    path <- five
    expect_lt(size(min(five$lambda2)), 1.5e6)
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

test_that("what cannot be reported is named in one sentence", {
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
    expect_lt(file.size(file), 1e6)

    skip_without_browser()
    browser <- start_browser(withr::local_tempdir())
    withr::defer(stop_browser(browser))
    open_page(browser, file)
    text <- on_page(browser, "document.body.textContent")
    expect_true(grepl("BCR/ABL, 37 observations", text, fixed = TRUE))
    expect_true(grepl("NEG, 42 observations", text, fixed = TRUE))
    tally <- function() {
        on_page(browser, paste0("document.querySelector(",
                                "'#edge-table .count').textContent"))
    }
    expect_equal(tally(), paste(count, "of", count))
    # Search for the variable with most edges, and sort these by weight.
    ends <- unlist(on_page(browser, paste0(
        "Array.from(document.querySelectorAll('#edge-table tbody tr'), ",
        "function (row) { return [row.cells[0].textContent, ",
        "row.cells[1].textContent]; })"
    )))
    name <- names(which.max(table(ends)))
    click_on(browser, "#edge-table input")
    type_text(browser, toupper(name))
    click_on(browser, "#edge-table thead th:nth-child(3) button")
    rows <- on_page(browser, paste0(
        "Array.from(document.querySelectorAll('#edge-table tbody ",
        "tr:not([hidden])'), function (row) { return [row.textContent, ",
        "Number(row.cells[2].dataset.value)]; })"
    ))
    expect_gt(length(rows), 1)
    expect_lt(length(rows), count)
    expect_equal(tally(), paste(length(rows), "of", count))
    expect_true(all(grepl(name, vapply(rows, `[[`, "", 1), fixed = TRUE)))
    expect_false(is.unsorted(-vapply(rows, function(row) {
        as.numeric(row[[2]])
    }, 1)))
    expect_identical(page_complaints(browser),
                     list(errors = character(), asked = character()))
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

test_that("short cells of a table stay on one line, long ones may break", {
    short <- data.frame(contrast = "b - a", n = 100L)
    expect_match(report_table(short, "Few", search = FALSE),
                 "<table class=\"tight\">", fixed = TRUE)
    short$contrast <- strrep("name ", 10)
    expect_match(report_table(short, "Few", search = FALSE), "<table>",
                 fixed = TRUE)
})
