# A report of what was found, as one HTML page: what is asked for, and how it is
# written. What the page says is computed by the report_*() functions; its
# template, style and script lie in inst/report.

#' A report of what was found, as one page
#'
#' Writes an interactive HTML page that opens in every browser, without a
#' network and without other files: what was found in a sentence, the graph of
#' the edges, the observations behind each of them, tables, pictures, settings,
#' diagnostics, and the code to reproduce it.
#'
#' On the page:
#' * The graph can be dragged and zoomed. Pointing at an edge shows its
#'   estimate, interval and q-value; a click shows the observations of both
#'   variables in both samples. The page draws at most 250 of each sample, and
#'   holds at most 2,000 edges.
#' * A slider filters the graph and the tables together. It sets the false
#'   discovery rate of [kliep_infer()], [kliep_auto()] and [kliep_debias()],
#'   below the one asked for also that of [kliep_time()], the
#'   adjusted p-value of [kliep_test()], the selection probability of
#'   [kliep_stability()] and the number of windows of [kliep_windows()]. A path
#'   or a selection has no error rates: there it counts edges by rank.
#' * A search marks a variable and its neighbours.
#' * The graph can be saved as SVG, PNG and GraphML, and tables as CSV, as they
#'   are filtered.
#' * There are a light and a dark theme and a style for print, and everything
#'   works by keyboard and with screen readers.
#'
#' @section Documents of your own:
#' For a page with your own words, an R Markdown document that makes the same
#' pictures and tables stands in the list of templates of RStudio as "Changes
#' between two networks"; `rmarkdown::draft("report.Rmd",
#' template = "change_report", package = "kliepnet")` begins one elsewhere.
#'
#' @section What others can read from it:
#' The page holds observations of the variables with an edge. Results that are
#' made with `kliep_control(keep_samples = FALSE)` do not carry their samples,
#' and their page does not show any.
#'
#' @param fit A `change_path`, or the result of [kliep_select()],
#'   [kliep_test()], [kliep_stability()], [kliep_infer()], [kliep_auto()],
#'   [kliep_debias()], [kliep_windows()], [kliep_time()], [kliep_groups()] or
#'   [kliep_by()]. The last two have a page for each contrast or cell type
#'   beside `file`, which leads to them.
#' @param file Where to write the page. A file that is there is replaced once
#'   the new one is complete.
#' @param lambda2 The value to take the edges from: for a path, which does not
#'   choose one, or for a selection instead of the one selected.
#' @param title The title of the page.
#' @param script The file of the script that made the fit, to be shown in the
#'   report. `NULL` shows the call that is kept with the fit.
#' @param open Open the page in a browser?
#' @param ... Must be empty.
#' @return The path of the page, invisibly.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' found <- kliep_infer(pair$x, pair$y)
#' kliep_report(found, tempfile(fileext = ".html"), open = FALSE)
kliep_report <- function(fit, file = "report.html", lambda2 = NULL,
                         title = "Changes between two networks",
                         script = NULL, open = interactive(), ...) {
    check_dots(list(...), names(formals()), "kliep_report")
    check_reportable(fit)
    open <- check_flag(open, "open")
    file <- check_report_file(file)
    script <- check_script(script)
    check_title(title)
    # Now rather than in the middle of the page: a path has no edges of its own.
    check_report_lambda2(fit, lambda2)
    asked <- list(fit = fit, lambda2 = lambda2, script = script, title = title)
    made <- tryCatch(
        if (inherits(fit, "kliep_groups")) write_group_report(asked, file) else
            write_report(asked),
        error = function(condition) stop_report(file, condition)
    )
    on.exit(unlink(dirname(made), recursive = TRUE))
    move_report(made, file)
    file <- normalizePath(file)
    if (open) utils::browseURL(paste0("file://", file))
    invisible(file)
}

# ---- what is asked for -----------------------------------------------------

# Which of these a fit is, or is a kind of; NA for none.
report_kind <- function(fit) {
    known <- c("change_path", "kliep_select", "kliep_test", "kliep_stability",
               "kliep_infer", "kliep_debias", "kliep_windows", "kliep_time",
               "kliep_groups")
    intersect(class(fit), known)[1L]
}

check_reportable <- function(fit) {
    if (!is.na(report_kind(fit))) return(invisible())
    stop_kliep(
        "type",
        paste0("A report needs a path, a change, a selection, a test, a ",
               "stability selection, an inference, windows, a drift or ",
               "groups: got ",
               describe(fit), "."),
        hint = "`kliep_select()` makes a selection."
    )
}

# Before minutes are spent on what cannot be written.
check_report_file <- function(file) {
    check_new_file(file, "The report", "report.html")
}

check_script <- function(script) {
    if (is.null(script)) return(NULL)
    if (is_string(script) && file.exists(script) && !dir.exists(script)) {
        return(readLines(script, warn = FALSE))
    }
    stop_kliep("file", paste0("`script` must be the name of a file: got ",
                              describe(script), "."))
}

check_title <- function(title) {
    if (is_string(title)) return(invisible())
    stop_kliep("argument", paste0("`title` must be a string: got ",
                                  describe(title), "."))
}

# The ranking of a path is not a set of edges.
check_report_lambda2 <- function(fit, lambda2) {
    if (inherits(fit, "change_path")) find_step(fit, lambda2)
    edges(fit, lambda2 = lambda2)
    invisible()
}

# ---- writing it ------------------------------------------------------------

# In a folder of its own: nothing is left behind by a failure. `make_page` is
# given what was asked for and that folder.
write_report <- function(asked, make_page = report_page) {
    folder <- tempfile("kliep_report")
    dir.create(folder)
    done <- FALSE
    on.exit(if (!done) unlink(folder, recursive = TRUE))
    # An interrupt may come between what draws and what closes its device.
    devices <- grDevices::dev.list()
    on.exit(close_devices_but(devices), add = TRUE)
    page <- suppressMessages(make_page(asked, folder))
    made <- file.path(folder, "report.html")
    writeLines(page, made, useBytes = TRUE)
    check_whole_page(made, page)
    done <- TRUE
    made
}

# The page as one text.
report_page <- function(asked, folder) {
    fit <- asked$fit
    found <- report_edges(fit, asked$lambda2)
    graph <- report_graph(fit, found)
    evidence <- report_evidence(fit, found, graph)
    body <- c(
        summary_html(fit, asked$lambda2, nrow(found$table) > 0L),
        if (nrow(found$table) > 0L) graph_html(fit, found, graph, evidence),
        edges_html(fit, found), variables_html(fit, found),
        pictures_html(fit, asked$lambda2, folder), facts_html(fit),
        html_section("Code", report_code(fit, asked$lambda2, asked$script)),
        html_section("Session", session_html())
    )
    page_html(asked$title, body, list(
        policy = "; script-src 'unsafe-inline'",
        button = paste0("<button type=\"button\" id=\"theme\" ",
                        "class=\"on-screen\">Dark theme</button>"),
        script = fill_template("script.html", list(
            data = report_json(fit, found, graph, evidence),
            code = read_report("report.js")
        ))
    ))
}

# ---- on the disk -----------------------------------------------------------

close_devices_but <- function(kept) {
    current <- grDevices::dev.cur()
    for (device in setdiff(grDevices::dev.list(), kept)) {
        grDevices::dev.off(device)
    }
    if (current %in% kept) grDevices::dev.set(current)
}

# A disk that fills up cuts files off without an error.
check_whole_page <- function(made, page) {
    size <- file.size(made)
    if (!is.na(size) && size > nchar(page, "bytes")) return(invisible())
    stop("the page is cut off", call. = FALSE)
}

stop_report <- function(file, condition) {
    if (inherits(condition, "kliep_error")) stop(condition)
    pass_time_limit(condition)
    stop_kliep(
        "file",
        paste0("The report `", file, "` could not be made: ",
               conditionMessage(condition), "."),
        hint = paste0("Is there room on the disk, also in `", tempdir(), "`?")
    )
}

# Within a folder a file is renamed at once or not at all.
move_report <- function(made, file) {
    part <- tempfile(paste0(".", basename(file), "."), dirname(file))
    on.exit(unlink(part))
    moved <- suppressWarnings(file.copy(made, part) &&
                                  file.size(part) == file.size(made) &&
                                  file.rename(part, file))
    if (moved) return(invisible())
    stop_kliep("file", paste0("The report could not be written to `", file,
                              "`."),
               hint = "Is there room on the disk, and permission to write?")
}
