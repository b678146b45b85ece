# Tables and code as HTML.

# A data frame, with a field to search it. `id` is its name in the page, and
# that of the file it is saved as.
report_table <- function(data, search = TRUE, id = NULL, digits = 3) {
    number <- vapply(data, is.numeric, NA)
    cells <- Map(table_cells, data, number, digits)
    rows <- if (nrow(data) > 0L) do.call(paste0, unname(cells))
    caution <- if ("verdict" %in% names(data))
        startsWith(data$verdict, "caution") else rep(FALSE, nrow(data))
    rows <- paste0(ifelse(caution, "<tr class=\"caution\">", "<tr>"), rows,
                   rep("</tr>", length(rows)))
    heads <- paste0("<th", ifelse(number, " class=\"number\"", ""),
                    "><button type=\"button\">", escape_html(names(data)),
                    "</button></th>", collapse = "")
    as_raw_html(c(
        paste0("<div class=\"kliep-table\"", if (!is.null(id))
            paste0(" id=\"", escape_html(id), "\""), ">"),
        if (search) table_tools(),
        "<div class=\"scroll\"><table>",
        paste0("<thead><tr>", heads, "</tr></thead>"), "<tbody>",
        if (nrow(data) > 0L) rows, "</tbody></table></div></div>"
    ))
}

# Numbers are sorted by their value, and read by a few digits.
table_cells <- function(column, number, digits) {
    if (!number) {
        return(paste0("<td>", escape_html(as.character(column)), "</td>"))
    }
    exact <- ifelse(is.na(column), "", formatC(column, digits = 15L,
                                               format = "g"))
    shown <- vapply(column, format, "", digits = digits, big.mark = ",")
    paste0("<td class=\"number\" data-value=\"", trimws(exact), "\">", shown,
           "</td>")
}

table_tools <- function() {
    paste0("<div class=\"tools\"><input type=\"search\" placeholder=\"Search\"",
           " aria-label=\"Search\"> ",
           "<span class=\"count\"></span> ",
           "<button type=\"button\" class=\"save\">Save as CSV</button></div>")
}

escape_html <- function(text) {
    text <- gsub("&", "&amp;", text, fixed = TRUE)
    text <- gsub("<", "&lt;", text, fixed = TRUE)
    text <- gsub(">", "&gt;", text, fixed = TRUE)
    gsub("\"", "&quot;", text, fixed = TRUE)
}

# Left alone by pandoc, which would take a name like 100_g_at for emphasis.
as_raw_html <- function(lines) {
    structure(paste0("\n\n```{=html}\n", paste(lines, collapse = "\n"),
                     "\n```\n\n"),
              class = "knit_asis")
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
    as_raw_html(paste0("<pre class=\"r\"><code>",
                       paste(escape_html(lines), collapse = "\n"),
                       "</code></pre>"))
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
