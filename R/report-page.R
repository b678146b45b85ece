# A report of what was found, as one HTML page: what is asked for, and how it is
# written. What the page says is computed by the report_*() functions; the page
# itself is inst/rmarkdown/page.

#' A report of what was found, as one page
#'
#' Writes an HTML page that opens in every browser, without a network and
#' without other files: a summary of the data, the settings, pictures of what
#' was found, the edges and the variables as tables that can be searched,
#' sorted and saved, diagnostics, and the code to make it all again.
#'
#' What is shown follows what is given: the scores of a selection, the p-values
#' of a test, the selection probabilities of [kliep_stability()], the intervals
#' of [kliep_debias()].
#'
#' @section Documents of your own:
#' For a page with your own words, an R Markdown document that makes the same
#' pictures and tables stands in the list of templates of RStudio as "Changes
#' between two networks"; `rmarkdown::draft("report.Rmd",
#' template = "change_report", package = "kliepnet")` begins one elsewhere.
#'
#' @param fit A `change_path`, or the result of [kliep_select()],
#'   [kliep_test()], [kliep_stability()], [kliep_infer()] or [kliep_debias()].
#' @param file Where to write the page. A file that is there is replaced once
#'   the new one is complete.
#' @param lambda2 The value to take the edges from: for a path, which has none
#'   that is better by itself, or for a selection instead of the one selected.
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
#' chosen <- kliep_select(pair$x, pair$y, nlambda = 15)
#' if (requireNamespace("rmarkdown") && rmarkdown::pandoc_available()) {
#'     file <- tempfile(fileext = ".html")
#'     kliep_report(chosen, file, open = FALSE)
#' }
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
    hubs(fit, lambda2 = lambda2)
    check_report_tools()
    made <- tryCatch(
        render_report(list(fit = fit, lambda2 = lambda2, script = script),
                      title),
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
               "kliep_infer", "kliep_debias")
    intersect(class(fit), known)[1L]
}

check_reportable <- function(fit) {
    if (!is.na(report_kind(fit))) return(invisible())
    stop_kliep(
        "type",
        paste0("A report needs a path, a change, a selection, a test, a ",
               "stability selection or an inference: got ", describe(fit),
               "."),
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

check_report_tools <- function(
    rmarkdown = requireNamespace("rmarkdown", quietly = TRUE),
    pandoc = rmarkdown && rmarkdown::pandoc_available("2.0")) {
    missing <- if (!rmarkdown) "the package rmarkdown" else
        if (!pandoc) "pandoc"
    if (is.null(missing)) return(invisible())
    stop_kliep("report_tools", paste0("A report needs ", missing,
                                      ", which is not installed."))
}

# ---- writing it ------------------------------------------------------------

# In a folder of its own: nothing is left behind by a failure.
render_report <- function(params, title) {
    folder <- tempfile("kliep_report")
    dir.create(folder)
    done <- FALSE
    on.exit(if (!done) unlink(folder, recursive = TRUE))
    # An interrupt may come between what draws and what closes its device.
    devices <- grDevices::dev.list()
    on.exit(close_devices_but(devices), add = TRUE)
    page <- system.file("rmarkdown", "page", package = "kliepnet")
    file.copy(list.files(page, full.names = TRUE), folder)
    made <- rmarkdown::render(
        file.path(folder, "page.Rmd"), output_file = "report.html",
        # Quoted for pandoc, which reads it as YAML.
        output_options = list(pandoc_args = c("--metadata",
                                              paste0("title=", title))),
        params = params, envir = page_environment(), quiet = TRUE
    )
    check_whole_page(made)
    done <- TRUE
    made
}

# Where the page is evaluated: the functions that say what stands on it, before
# what a session has.
page_environment <- function() {
    list2env(list(
        report_summary = report_summary, report_facts = report_facts,
        report_steps = report_steps, report_pictures = report_pictures,
        report_table = report_table, report_code = report_code
    ), parent = globalenv())
}

close_devices_but <- function(kept) {
    current <- grDevices::dev.cur()
    for (device in setdiff(grDevices::dev.list(), kept)) {
        grDevices::dev.off(device)
    }
    if (current %in% kept) grDevices::dev.set(current)
}

# A disk that fills up cuts files off without an error. The page ends with what
# the template has last.
check_whole_page <- function(made) {
    page <- readLines(made, warn = FALSE)
    if (any(grepl("id=\"session\"", page, fixed = TRUE)) &&
        any(grepl("</html>", utils::tail(page, 3L), fixed = TRUE))) {
        return(invisible())
    }
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
