# The tables of functions, arguments and columns in CONTRIBUTING.md are those of
# the code.

test_that("CONTRIBUTING.md lists every function, argument and column", {
    guide <- file.path("..", "..", "CONTRIBUTING.md")
    skip_if_not(file.exists(guide), "CONTRIBUTING.md is not here")
    lines <- readLines(guide)
    section <- lines[seq(match("## Functions, arguments, columns", lines),
                         length(lines))]
    section <- section[seq_len(grep("^## ", section)[2L] - 1L)]
    rows <- grep("^\\| `", section, value = TRUE)
    expect_setequal(rows, c(function_rows(), column_rows()))
})

test_that("?kliepnet names every function, those of one call first", {
    page <- tools::Rd_db("kliepnet")[["kliepnet-package.Rd"]]
    text <- paste(as.character(page), collapse = "")
    names <- setdiff(getNamespaceExports("kliepnet"), "autoplot")
    found <- vapply(names, function(name) {
        regexpr(paste0(name, "()"), text, fixed = TRUE)[[1L]]
    }, 1L)
    expect_identical(names[found < 0L], character())
    expect_lt(found[["kliep_auto"]], found[["kliep_infer"]])
    expect_lt(found[["kliep_infer"]], found[["kliep_path"]])
})

test_that("an argument of one name has one place, or comes after its kin", {
    # What is fitted to what comes first, in this order, in every verb.
    leading <- c("x", "y")
    verbs <- c("kliep_path", "kliep_change", "kliep_select", "kliep_auto",
               "kliep_test", "kliep_stability", "kliep_infer", "kliep_debias",
               "dtrace_path", "flasso_path", "glasso_path", "moment_path",
               "is_flasso_path", "is_glasso_path")
    for (verb in verbs) {
        arguments <- names(formals(getExportedValue("kliepnet", verb)))
        expect_identical(arguments[1:2], leading, label = verb)
    }
    for (verb in c("kliep_select", "kliep_test", "kliep_stability",
                   "kliep_debias")) {
        arguments <- names(formals(getExportedValue("kliepnet", verb)))
        expect_identical(arguments[3L], "spec", label = verb)
    }
})

test_that("no function inside the package has more than eight arguments", {
    space <- asNamespace("kliepnet")
    inner <- setdiff(ls(space), getNamespaceExports("kliepnet"))
    inner <- Filter(function(name) is.function(get(name, space)), inner)
    # Methods have the arguments of what users call.
    methods <- grepl(paste0("^(", paste(c(
        "autoplot", "plot", "print", "format", "summary", "two_samples",
        "as_igraph", "hubs", "edges", "coef", "predict", "tidy", "glance",
        "as.data.frame", "as.matrix", "confint", "kl_divergence"
    ), collapse = "|"), ")\\."), inner)
    wrappers <- startsWith(inner, "wrap__")
    many <- Filter(function(name) {
        length(formals(get(name, space))) > 8L
    }, inner[!methods & !wrappers])
    expect_identical(many, character())
})

test_that("no function is written twice", {
    folder <- test_path("..", "..", "R")
    skip_if(!dir.exists(folder), "the sources are not here")
    files <- list.files(folder, "[.]R$", full.names = TRUE)
    named <- unlist(lapply(files, function(file) {
        vapply(as.list(parse(file, keep.source = FALSE)), function(line) {
            if (is.call(line) && identical(line[[1L]], quote(`<-`)))
                deparse(line[[2L]])[1L] else ""
        }, "")
    }))
    # The last of two would be the one that all callers get.
    expect_identical(unique(named[named != "" & duplicated(named)]),
                     character())
})
