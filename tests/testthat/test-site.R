# _pkgdown.yml has a place for every help page. It is read here without
# pkgdown, as tests run where that is not installed; `make site` asks pkgdown.

tree <- function(...) test_path("..", "..", ...)

# The names and selectors in the part of _pkgdown.yml about `what`.
listed <- function(what) {
    lines <- readLines(tree("_pkgdown.yml"))
    top <- grepl("^[a-z]", lines)
    part <- lines[cumsum(top) == which(lines[top] == paste0(what, ":"))]
    sub("^  - ", "", grep("^  - ", part, value = TRUE))
}

is_selected <- function(name, entry) {
    pattern <- sub('^[a-z_]+\\("(.*)"\\)$', "\\1", entry)
    if (startsWith(entry, "starts_with(")) return(startsWith(name, pattern))
    if (startsWith(entry, "matches(")) return(grepl(pattern, name))
    name == entry
}

places <- function(names, entries) {
    vapply(names, function(name) {
        sum(vapply(entries, function(entry) is_selected(name, entry), NA))
    }, 0L)
}

help_topics <- function() {
    pages <- lapply(list.files(tree("man"), "[.]Rd$", full.names = TRUE),
                    readLines)
    public <- Filter(function(page) !"\\keyword{internal}" %in% page, pages)
    vapply(public, function(page) {
        sub("\\\\name\\{(.*)\\}", "\\1", grep("^\\\\name\\{", page,
                                              value = TRUE)[1L])
    }, "")
}

test_that("every help page has one place in the reference", {
    skip_if_not(file.exists(tree("_pkgdown.yml")),
                "the tree that the package was built from is not here")
    topics <- help_topics()
    found <- places(topics, listed("reference"))
    expect_identical(names(found)[found != 1L], character())
    plain <- grep("(", listed("reference"), fixed = TRUE, invert = TRUE,
                  value = TRUE)
    expect_identical(setdiff(plain, topics), character())
})

test_that("every article has one place in the list", {
    skip_if_not(file.exists(tree("_pkgdown.yml")),
                "the tree that the package was built from is not here")
    articles <- sub("[.]Rmd$", "", list.files(tree("vignettes"), "[.]Rmd$"))
    # pkgdown itself puts the one named after the package first.
    found <- places(setdiff(articles, "kliepnet"), listed("articles"))
    expect_identical(names(found)[found != 1L], character())
})

# ---- without a network ------------------------------------------------------

# A page as pkgdown writes it.
site_page <- function(root, title, body) {
    away <- "https://cdn.example/"
    paste0(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\">",
        "<meta name=\"description\" content=\"of \\(\\theta_t\\)\">",
        "<link rel=\"stylesheet\" href=\"", away, "icons.css\" />",
        "<script src=\"", away, "fuse.js\" crossorigin=\"anonymous\"></script>",
        "<script src=\"file:///usr/share/MathJax.js\"></script>",
        "<script src=\"", root, "pkgdown.js\"></script>",
        "<link href=\"", root, "extra.css\" rel=\"stylesheet\">",
        "<script src=\"", root, "extra.js\"></script></head><body>",
        "<form role=\"search\"><input type=\"search\" id=\"search-input\">",
        "</form><main id=\"main\"><img src=\"\" class=\"logo\" alt=\"\">",
        "<h1>", title, "</h1>", body,
        "</main><aside><nav id=\"toc\"></nav></aside></body></html>"
    )
}

small_site <- function(site) {
    tools <- new.env()
    source(tree("tools", "site-offline.R"), local = tools)
    dir.create(file.path(site, "reference"))
    file.copy(tree("pkgdown", c("extra.js", "extra.css")), site)
    writeLines(site_page("", "Home", paste0(
        "<p>See <a href=\"vignettes/method.Rmd\">the method</a>.</p>",
        "<div id=\"install\"><h2>Install</h2><p>By cargo.</p></div>",
        "<div id=\"go\"><h2>Go on</h2><p>Elsewhere.</p></div>"
    )), file.path(site, "index.html"))
    writeLines(site_page("../", "Paths", paste0(
        "<p>Where \\(\\theta_t \\ne 0\\) and $$\\Bigl(\\sum_{u&amp;lt;v} ",
        "x_u\\Bigr)$$</p><pre><code>cat(\"\\\\(no formula\\\\)\")</code></pre>",
        "<div id=\"usage\"><h2>Usage</h2><p>Stability selection.</p></div>"
    )), file.path(site, "reference", "path.html"))
    capture.output(tools$make_offline(site))
    site
}

skip_without_site_tools <- function() {
    skip_if_not(file.exists(tree("tools", "site-offline.R")),
                "the tree that the package was built from is not here")
    for (package in c("xml2", "jsonlite")) skip_if_not_installed(package)
    skip_if(Sys.which("pandoc") == "", "no pandoc is installed")
}

test_that("pages of the site have MathML, and ask for nothing elsewhere", {
    skip_without_site_tools()
    site <- small_site(withr::local_tempdir())
    page <- readLines(file.path(site, "reference", "path.html"))
    page <- paste(page, collapse = "\n")
    expect_match(page, "<math display=\"inline\"", fixed = TRUE)
    expect_match(page, "<math display=\"block\"", fixed = TRUE)
    expect_match(page, "cat(\"\\\\(no formula\\\\)\")", fixed = TRUE)
    expect_match(page, "content=\"of \\(\\theta_t\\)\"", fixed = TRUE)
    expect_no_match(page, "src=\"(https?|file):|href=\"https?:|pkgdown[.]js")
    # An empty source is the page itself, which is no picture.
    expect_no_match(page, "src=\"\"", fixed = TRUE)
    home <- readLines(file.path(site, "index.html"))
    expect_match(paste(home, collapse = "\n"), "href=\"articles/method.html\"",
                 fixed = TRUE)
})

test_that("a wide formula scrolls sideways by itself, and the page does not", {
    skip_without_site_tools()
    skip_without_browser()
    site <- small_site(withr::local_tempdir())
    browser <- start_browser(withr::local_tempdir())
    withr::defer(stop_browser(browser))
    open_page(browser, file.path(site, "reference", "path.html"), width = 390)
    formula <- "document.querySelector('math[display=block]')"
    on_page(browser, paste0(
        "for (let k = 0; k < 4; k += 1) ", formula, ".innerHTML += ", formula,
        ".innerHTML"
    ))
    expect_gt(on_page(browser, paste0(formula, ".scrollWidth")), 390)
    expect_lte(on_page(browser, "document.documentElement.scrollWidth"), 390)
    expect_identical(on_page(browser, paste0(
        "getComputedStyle(", formula, ").overflow"
    )), "auto hidden")
})

test_that("the search of the site finds sections, without a server", {
    skip_without_site_tools()
    skip_without_browser()
    site <- small_site(withr::local_tempdir())
    browser <- start_browser(withr::local_tempdir())
    withr::defer(stop_browser(browser))
    open_page(browser, file.path(site, "reference", "path.html"))
    expect_identical(on_page(browser, paste0(
        "(function () { const input = document.querySelector('#search-input');",
        "input.value = 'CARG'; input.dispatchEvent(new Event('input'));",
        "return [...document.querySelectorAll('#search-results a')]",
        ".map((link) => link.getAttribute('href')).join(' '); }())"
    )), "../index.html ../index.html#install")
    expect_identical(on_page(browser, paste0(
        "(function () { const input = document.querySelector('#search-input');",
        "input.value = 'nowhere'; input.dispatchEvent(new Event('input'));",
        "return document.querySelector('#search-results').textContent; }())"
    )), "Nothing found.")
    complaints <- page_complaints(browser)
    expect_length(unlist(complaints), 0)
    open_page(browser, file.path(site, "index.html"))
    expect_identical(on_page(browser, paste0(
        "[...document.querySelectorAll('#toc a')]",
        ".map((link) => link.textContent).join(' | ')"
    )), "Install | Go on")
})
