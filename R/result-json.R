# Values as JSON, safe within a page: what the script of a report is given, and
# the text of graph files.

# A list with names is an object, one without an array. A vector is an array,
# also of one value, unless json_one() says that it is a value. What is missing
# or not finite is null.
as_json <- function(value) {
    if (is.null(value)) return("null")
    if (is.list(value)) {
        parts <- vapply(value, as_json, "", USE.NAMES = FALSE)
        if (is.null(names(value))) return(json_array(parts))
        pairs <- paste0(json_text(names(value)), ":", parts, recycle0 = TRUE)
        return(paste0("{", paste(pairs, collapse = ","), "}"))
    }
    cells <- json_cells(unclass(value))
    if (inherits(value, "json_one")) cells else json_array(cells)
}

json_one <- function(value) structure(value, class = "json_one")

json_array <- function(cells) paste0("[", paste(cells, collapse = ","), "]")

json_cells <- function(value) {
    cells <- if (is.logical(value)) {
        ifelse(value, "true", "false")
    } else if (is.numeric(value)) {
        ifelse(is.finite(value),
               trimws(formatC(value, digits = 10L, width = 1L, format = "g")),
               NA)
    } else {
        ifelse(is.na(value), NA, json_text(value))
    }
    cells <- as.character(cells)
    cells[is.na(cells)] <- "null"
    cells
}

# Quoted. The brackets of tags are written by number, so that no text can end
# the script it stands in, and so are the line ends that only JavaScript knows.
json_text <- function(text) {
    text <- valid_text(text)
    text <- gsub("\\", "\\\\", text, fixed = TRUE)
    text <- gsub("\"", "\\\"", text, fixed = TRUE)
    codes <- c(1:31, 38L, 60L, 62L, 127L, 0x2028L, 0x2029L)
    for (code in codes) {
        letter <- intToUtf8(code)
        if (any(grepl(letter, text, fixed = TRUE))) {
            text <- gsub(letter, sprintf("\\u%04x", code), text, fixed = TRUE)
        }
    }
    paste0("\"", text, "\"", recycle0 = TRUE)
}

# As UTF-8; invalid bytes become the sign for unknown letters.
valid_text <- function(text) {
    text <- enc2utf8(as.character(text))
    iconv(text, "UTF-8", "UTF-8", sub = "\ufffd")
}
