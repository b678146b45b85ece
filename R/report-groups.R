# The report of a comparison of groups or cell types: a page for each contrast,
# as of any two samples, and one page that leads to them.

# `asked` has the `fit`, `title` and `script`; the pages of contrasts lie beside
# `file`, and their names begin with its own.
write_group_report <- function(asked, file) {
    fit <- asked$fit
    pages <- contrast_pages(fit$contrasts$contrast, file)
    for (k in seq_along(pages)) {
        kliep_report(fit$fits[[k]], file.path(dirname(file), pages[k]),
                     title = paste0(asked$title, ": ", names(pages)[k]),
                     open = FALSE)
    }
    write_report(asked, function(asked, folder) {
        overview_page(asked, pages, folder)
    })
}

# Names of files for the pages, whatever the contrasts are called.
contrast_pages <- function(contrasts, file) {
    plain <- gsub("^-+|-+$", "", gsub("[^A-Za-z0-9]+", "-", contrasts))
    plain <- make.unique(ifelse(nzchar(plain), plain, "contrast"), "-")
    stem <- sub("[.]html?$", "", basename(file), ignore.case = TRUE)
    stats::setNames(paste0(stem, "-", plain, ".html"), contrasts)
}

overview_page <- function(asked, pages, folder) {
    fit <- asked$fit
    found <- edges(fit)
    shown <- picture(
        "Changes", "The edges that changed most, in every contrast.",
        paste0("Estimates and intervals of edges in ",
               count_of(nrow(fit$contrasts), "contrast"), "; ",
               count_of(nrow(found), "change"), " reported."),
        autoplot(fit, max_edges = 15)
    )[[1L]]
    page_html(asked$title, c(
        html_section("Summary", html_paragraph(paste(say_groups(fit),
                                                     collapse = " "))),
        html_section("Contrasts", contrast_links(pages), report_table(
            fit$contrasts, "One row for each contrast", search = FALSE
        )),
        html_section("Edges", if (nrow(found) > 0L) report_table(
            found, "Changes that are reported", search = FALSE
        ) else html_paragraph("No change is reported.")),
        html_section("Picture", picture_html(shown, folder)),
        html_section("Code", report_code(fit, NULL, asked$script)),
        html_section("Session", session_html())
    ))
}

contrast_links <- function(pages) {
    c("<ul>", sprintf("<li><a href=\"%s\">%s</a></li>", escape_html(pages),
                      escape_html(names(pages))), "</ul>")
}
