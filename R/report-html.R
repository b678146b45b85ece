# Tables and code as HTML.

# A data frame, with a field to search it. `id` is its name in the page, and
# that of the file it is saved as. `rows` are attributes of each row.
report_table <- function(data, caption, search = TRUE, id = NULL,
                         digits = 3, rows = NULL) {
    number <- vapply(data, is.numeric, NA)
    cells <- Map(table_cells, data, number, digits, seq_along(data) == 1L)
    body <- if (nrow(data) > 0L) do.call(paste0, unname(cells))
    caution <- if ("verdict" %in% names(data))
        startsWith(data$verdict, "caution") else rep(FALSE, nrow(data))
    body <- paste0("<tr", ifelse(caution, " class=\"caution\"", ""),
                   if (is.null(rows)) "" else paste0(" ", rows), ">", body,
                   "</tr>", recycle0 = TRUE)
    # Short words stay on one line; long names may break.
    text <- unlist(lapply(data[!number], format_cells))
    tight <- all(nchar(text, "width") <= 24L, na.rm = TRUE)
    paste(c(
        sprintf("<div class=\"kliep-table%s\"%s>", if (search) "" else
            " facts", if (is.null(id)) "" else
                sprintf(" id=\"%s\"", escape_html(id))),
        if (search) table_tools(caption),
        # A part that scrolls has to be reached by keys.
        sprintf(paste0("<div class=\"scroll\" tabindex=\"0\" role=\"region\"",
                       " aria-label=\"%s\"><table%s>"), escape_html(caption),
                if (tight) " class=\"tight\"" else ""),
        sprintf("<caption>%s</caption>", escape_html(caption)),
        paste0("<thead><tr>", table_heads(names(data), number, search),
               "</tr></thead>"),
        "<tbody>", body, "</tbody></table></div></div>"
    ), collapse = "\n")
}

# Those of a table that can be searched sort it.
table_heads <- function(names, number, search) {
    form <- if (search) "<button type=\"button\">%s</button>" else "%s"
    paste0(sprintf("<th scope=\"col\"%s>",
                   ifelse(number, " class=\"number\"", "")),
           sprintf(form, escape_html(names)), "</th>", collapse = "")
}

# Numbers are sorted by their value, and read by a few digits. The first column
# says what a row is about.
table_cells <- function(column, number, digits, first) {
    tag <- if (first) c("<th scope=\"row\"", "</th>") else c("<td", "</td>")
    if (!number) {
        return(paste0(tag[1L], ">", escape_html(format_cells(column)),
                      tag[2L]))
    }
    exact <- ifelse(is.na(column), "", formatC(column, digits = 10L,
                                               width = 1L, format = "g"))
    shown <- vapply(column, format, "", digits = digits, big.mark = ",")
    paste0(tag[1L], " class=\"number\" data-value=\"", trimws(exact), "\">",
           shown, tag[2L])
}

# Dates and times, too, as they are printed.
format_cells <- function(column) {
    if (is.character(column)) column else format(column)
}

table_tools <- function(caption) {
    sprintf(paste0("<div class=\"tools\"><input type=\"search\" placeholder=",
                   "\"Search the table\" aria-label=\"Search: %s\"> ",
                   "<span class=\"count\" role=\"status\"></span> ",
                   "<button type=\"button\" class=\"save\">Save as CSV",
                   "</button></div>"), escape_html(caption))
}

escape_html <- function(text) {
    text <- valid_text(text)
    text <- gsub("&", "&amp;", text, fixed = TRUE)
    text <- gsub("<", "&lt;", text, fixed = TRUE)
    text <- gsub(">", "&gt;", text, fixed = TRUE)
    text <- gsub("'", "&#39;", text, fixed = TRUE)
    gsub("\"", "&quot;", text, fixed = TRUE)
}

# Words with code between backticks.
escape_words <- function(text) {
    gsub("`([^`]*)`", "<code>\\1</code>", escape_html(text))
}

html_paragraph <- function(text, class = NULL) {
    sprintf("<p%s>%s</p>", if (is.null(class)) "" else
        sprintf(" class=\"%s\"", class), escape_words(text))
}

html_section <- function(title, ...) {
    id <- tolower(title)
    paste(c(sprintf("<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>",
                    id, id, title), ..., "</section>"), collapse = "\n")
}

# A whole page. `alive` has the parts of one with a script.
page_html <- function(title, body, alive = list()) {
    style <- fill_template("report.css", list(dark = read_report("dark.css")))
    fill_template("page.html", c(list(
        title = escape_html(title),
        date = paste0(format(Sys.Date()), ", kliepnet ",
                      utils::packageVersion("kliepnet")),
        style = style, body = paste(body, collapse = "\n")
    ), alive))
}

# A template with {{names}} in it, and what stands for each; nothing where there
# is no such part.
fill_template <- function(name, parts) {
    pieces <- strsplit(read_report(name), "{{", fixed = TRUE)[[1L]]
    filled <- vapply(strsplit(pieces[-1L], "}}", fixed = TRUE),
                     function(piece) {
                         paste0(c(parts[[piece[1L]]], piece[2L]),
                                collapse = "")
                     }, "")
    paste0(c(pieces[1L], filled), collapse = "")
}

read_report <- function(name) {
    file <- system.file("report", name, package = "kliepnet", mustWork = TRUE)
    paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
}

# The lines of a script, or the call that is kept with the fit.
report_code <- function(fit, lambda2 = NULL, script = NULL) {
    lines <- if (!is.null(script)) script else c(
        "library(kliepnet)",
        paste("# The samples and the seed are those of the session that made",
              "the fit."),
        call_lines(fit$call),
        paste0("kliep_report(fit", if (!is.null(lambda2))
            paste0(", lambda2 = ", format(lambda2, digits = 15L)), ")")
    )
    paste0("<pre tabindex=\"0\"><code>",
           paste(escape_html(lines), collapse = "\n"), "</code></pre>")
}

# A call that was made by a program may hold the samples themselves.
call_lines <- function(call) {
    if (is.null(call)) return("# The call is not known.")
    large <- vapply(as.list(call), function(part) {
        !is.language(part) && utils::object.size(part) > 2000
    }, NA)
    for (part in which(large)) {
        call[[part]] <- as.name(paste0("<", describe(call[[part]]), ">"))
    }
    lines <- deparse(call, width.cutoff = 60L, backtick = FALSE)
    c(paste("fit <-", lines[1L]), lines[-1L])
}
