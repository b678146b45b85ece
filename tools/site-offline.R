# Makes the pages that pkgdown writes work without a network: formulas become
# MathML, what would be loaded from elsewhere is taken out, and the search gets
# an index that a page opened from a disk may read. pkgdown/extra.js has the
# scripts, and tools/site.R calls make_offline().

read_page <- function(file) {
    paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

write_page <- function(text, file) {
    writeLines(enc2utf8(text), file, useBytes = TRUE)
}

# ---- formulas --------------------------------------------------------------

# Not in what a page shows as code, nor in what it says about itself.
formula_pattern <- paste0(
    "(?s)<(head|pre|code|script)\\b.*?</\\1>(*SKIP)(*FAIL)|",
    "\\\\\\(.+?\\\\\\)|\\\\\\[.+?\\\\\\]|\\$\\$.+?\\$\\$"
)

find_formulas <- function(text) {
    regmatches(text, gregexpr(formula_pattern, text, perl = TRUE))[[1L]]
}

is_display <- function(formula) !startsWith(formula, "\\(")

# TeX without its delimiters, as it was written.
plain_tex <- function(formula) {
    tex <- substr(formula, 3L, nchar(formula) - 2L)
    # pkgdown escapes some twice.
    entities <- c("&amp;" = "&", "&lt;" = "<", "&gt;" = ">", "&quot;" = "\"",
                  "&#39;" = "'")
    for (name in names(entities)) {
        tex <- gsub(name, entities[[name]], tex, fixed = TRUE)
    }
    # MathML sizes delimiters by itself, and pandoc does not know all commands
    # for it. A blank line would end the formula.
    tex <- gsub("\\\\[bB]igg?[lrm]?(?![a-zA-Z])", "", tex, perl = TRUE)
    trimws(gsub("[[:space:]]+", " ", tex))
}

# pandoc writes those it cannot translate in another way, which is an error.
to_mathml <- function(formulas) {
    if (length(formulas) == 0L) return(character())
    mark <- ifelse(is_display(formulas), "$$", "$")
    source <- tempfile(fileext = ".md")
    on.exit(unlink(source))
    write_page(paste0(mark, vapply(formulas, plain_tex, ""), mark, "\n"),
               source)
    out <- system2("pandoc", c("-f", "markdown", "-t", "html5", "--mathml",
                               "--wrap=none", shQuote(source)), stdout = TRUE)
    out <- paste(out, collapse = "\n")
    found <- regmatches(out, gregexpr("(?s)<math\\b.*?</math>", out,
                                      perl = TRUE))[[1L]]
    if (length(found) != length(formulas)) {
        stop(length(formulas) - length(found), " formulas have no MathML")
    }
    found
}

# Each formula of a page by its MathML.
replace_formulas <- function(text, mathml) {
    at <- gregexpr(formula_pattern, text, perl = TRUE)
    found <- regmatches(text, at)[[1L]]
    regmatches(text, at) <- list(unname(mathml[found]))
    text
}

# ---- nothing from elsewhere ------------------------------------------------

drop_network <- function(text, root) {
    away <- "(https?:|file:)?//[^>]*>"
    text <- gsub(paste0("<script\\b[^>]*src=\"", away, "\\s*</script>\\s*"),
                 "", text, perl = TRUE)
    text <- gsub(paste0("<link\\b[^>]*href=\"", away, "\\s*"), "", text,
                 perl = TRUE)
    # The place of a logo, where there is none.
    text <- gsub("<img src=\"\"[^>]*>", "", text)
    # pkgdown's own script stops at the first of those that are gone.
    text <- gsub("<script src=\"[^\"]*pkgdown\\.js\"></script>", "", text)
    index <- paste0("<script src=\"", root, "search-index.js\" data-root=\"",
                    root, "\"></script>")
    sub("(<script src=\"[^\"]*extra\\.js\">)", paste0(index, "\\1"), text)
}

# A link of the README that works in the source tree as well.
link_articles <- function(text, root) {
    gsub("href=\"vignettes/([a-z-]+)\\.Rmd\"",
         paste0("href=\"", root, "articles/\\1.html\""), text)
}

# ---- the index of the search -----------------------------------------------

place_of <- function(page) {
    switch(dirname(page), reference = "Reference", articles = "Articles",
           news = "Changelog", "Home")
}

# One entry for a page, and one for each of its sections.
index_page <- function(site, page) {
    main <- xml2::xml_find_first(xml2::read_html(file.path(site, page)),
                                 "//main")
    if (is.na(main)) return(NULL)
    text_of <- function(node, most = 4000L) {
        substr(gsub("[[:space:]]+", " ", xml2::xml_text(node)), 1L, most)
    }
    title <- text_of(xml2::xml_find_first(main, ".//h1"))
    # Help pages are known by the name of their function.
    if (dirname(page) == "reference" && basename(page) != "index.html") {
        title <- paste0(sub("[.]html$", "", basename(page)), ": ", title)
    }
    heads <- xml2::xml_find_all(main, ".//h2[@id] | .//*[@id]/h2[not(@id)]")
    sections <- lapply(heads, function(head) {
        id <- xml2::xml_attr(head, "id")
        parent <- xml2::xml_parent(head)
        if (is.na(id)) id <- xml2::xml_attr(parent, "id")
        list(title = title, what = text_of(head), where = place_of(page),
             path = paste0(page, "#", id), text = text_of(parent))
    })
    whole <- list(title = title, what = title, where = place_of(page),
                  path = page, text = text_of(main, 1500L))
    c(list(whole), sections)
}

write_index <- function(site, pages) {
    entries <- do.call(c, lapply(pages, function(page) index_page(site, page)))
    json <- jsonlite::toJSON(entries, auto_unbox = TRUE)
    write_page(paste0("window.siteIndex = ", json, ";"),
               file.path(site, "search-index.js"))
    length(entries)
}

# ---- a font for formulas ---------------------------------------------------

# Systems without a font for mathematics show MathML with crude spacing. The
# one of Debian's package fonts-stix, where it is installed, goes along.
add_font <- function(site, file = paste0("/usr/share/fonts/opentype/",
                                         "stix-word/STIXMath-Regular.otf")) {
    if (!file.exists(file)) return(invisible(FALSE))
    file.copy(file, file.path(site, basename(file)), overwrite = TRUE)
    face <- paste0("@font-face { font-family: \"site math\"; src: url(\"",
                   basename(file), "\"); }")
    style <- file.path(site, "extra.css")
    text <- read_page(style)
    if (!grepl("@font-face", text, fixed = TRUE)) {
        write_page(paste(face, text, sep = "\n"), style)
    }
    invisible(TRUE)
}

# ---- all of it -------------------------------------------------------------

make_offline <- function(site) {
    pages <- list.files(site, "[.]html$", recursive = TRUE)
    texts <- lapply(file.path(site, pages), read_page)
    formulas <- unique(unlist(lapply(texts, find_formulas)))
    mathml <- stats::setNames(to_mathml(formulas), formulas)
    for (i in seq_along(pages)) {
        depth <- lengths(regmatches(pages[i], gregexpr("/", pages[i])))
        root <- strrep("../", depth)
        text <- replace_formulas(texts[[i]], mathml)
        text <- link_articles(drop_network(text, root), root)
        write_page(text, file.path(site, pages[i]))
    }
    entries <- write_index(site, setdiff(pages, "404.html"))
    unlink(file.path(site, "search.json"))
    add_font(site)
    cat("site: ", length(pages), " pages, ", length(formulas), " formulas, ",
        entries, " entries of the search\n", sep = "")
}
