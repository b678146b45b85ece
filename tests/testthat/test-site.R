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
