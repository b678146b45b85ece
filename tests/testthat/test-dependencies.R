# CONTRIBUTING.md says what every dependency is for: the tables and what is
# declared must agree, and what is declared must be used.

tree <- function(...) test_path("..", "..", ...)

skip_without_tree <- function() {
    skip_if_not(file.exists(tree("CONTRIBUTING.md")),
                "the tree that the package was built from is not here")
}

# The rows of the table whose first column is headed `first`: a data frame
# of a name without its quotes, and the second column.
table_rows <- function(first) {
    lines <- readLines(tree("CONTRIBUTING.md"))
    head <- grep(paste0("^\\| ", first, " \\|"), lines)
    rows <- lines[-seq_len(head + 1L)]
    rows <- rows[cumsum(!startsWith(rows, "|")) == 0L]
    cells <- strsplit(rows, " *\\| *")
    data.frame(name = gsub("`", "", vapply(cells, `[`, "", 2L)),
               of = vapply(cells, `[`, "", 3L))
}

declared_packages <- function(field) {
    text <- read.dcf(tree("DESCRIPTION"), field)[1L, 1L]
    sub(" *\\(.*", "", trimws(strsplit(text, ",")[[1L]]))
}

declared_crates <- function(crate) {
    lines <- readLines(tree("src", "rust", crate, "Cargo.toml"))
    section <- cumsum(startsWith(lines, "["))
    of <- lines[match(section, section)]
    kept <- of %in% c("[dependencies]", "[dev-dependencies]",
                      "[build-dependencies]") & grepl("^[a-z0-9_-]+ = ", lines)
    sub(" = .*", "", lines[kept])
}

# All lines of the files below `folders` that end in `pattern`.
text_of <- function(folders, pattern) {
    files <- list.files(tree(folders), pattern, recursive = TRUE,
                        full.names = TRUE)
    unlist(lapply(files, readLines, warn = FALSE))
}

test_that("the table of R packages is that of DESCRIPTION", {
    skip_without_tree()
    rows <- table_rows("R package")
    for (field in c("Imports", "Suggests")) {
        expect_setequal(rows$name[rows$of == field], declared_packages(field))
    }
    expect_false(anyDuplicated(rows$name) > 0L)
})

# Those of `packages` that no line calls, imports or asks for.
unused <- function(packages, lines) {
    lines <- grep("^ *#", lines, value = TRUE, invert = TRUE)
    Filter(function(package) {
        uses <- c("\\b%s::", "importFrom\\(%s,", "library\\(%s\\)",
                  "installed\\(\"%s\"", "Namespace\\(\"%s\"")
        !any(grepl(paste(sprintf(uses, package), collapse = "|"), lines))
    }, packages)
}

test_that("every R package is used", {
    skip_without_tree()
    code <- c(text_of("R", "[.]R$"), readLines(tree("NAMESPACE")))
    others <- text_of(c("tests", "vignettes", "inst", "bench"),
                      "[.](R|Rmd)$")
    expect_equal(unused(declared_packages("Imports"), code), character())
    expect_equal(unused(declared_packages("Suggests"), c(code, others)),
                 character())
    expect_equal(unused("splines", code), "splines")
})

test_that("the table of crates is that of the manifests", {
    skip_without_tree()
    rows <- table_rows("crate")
    for (crate in c("core", "binding")) {
        listed <- rows$name[grepl(crate, rows$of)]
        expect_setequal(listed, declared_crates(crate))
    }
})

test_that("every crate is used", {
    skip_without_tree()
    for (crate in c("core", "binding")) {
        code <- text_of(file.path("src", "rust", crate), "[.]rs$")
        # argmin-math has implementations alone, which no code names.
        names <- gsub("-", "_", setdiff(declared_crates(crate),
                                        "argmin-math"))
        used <- vapply(names, function(name) {
            any(grepl(paste0("\\b", name, "::|extern crate ", name), code))
        }, NA)
        expect_equal(names[!used], character())
    }
})

# The crates of a workspace, each with its version.
locked_crates <- function(...) {
    lines <- readLines(tree("src", "rust", ..., "Cargo.lock"))
    sub("^name = ", "", paste(grep("^name = ", lines, value = TRUE),
                              grep("^version = \"", lines, value = TRUE)))
}

test_that("the core is tested with the crates that it is installed with", {
    skip_without_tree()
    released <- locked_crates()
    tested <- locked_crates("properties")
    name <- function(crate) sub(" .*", "", crate)
    # proptest and what it needs are not in a release.
    both <- tested[name(tested) %in% name(released)]
    expect_gt(length(both), 20L)
    expect_identical(setdiff(both, released), character())
})
