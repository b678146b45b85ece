# A report of what was found, as one HTML page. What it says is computed by
# the report_*() functions; the page itself is the R Markdown template in
# inst/rmarkdown, which also stands in the list of templates of editors.

#' A report of what was found, as one page
#'
#' Writes an HTML page that opens in every browser, without a network and
#' without other files: a summary of the data, the settings, pictures of what
#' was found, the edges and the variables as tables that can be searched,
#' sorted and saved, diagnostics, and the code to make it all again.
#'
#' What is shown follows what is given: the scores of a selection, the p-values
#' of a test, the selection probabilities of [kliep_stability()], the intervals
#' of [kliep_infer()].
#'
#' @section Documents of your own:
#' The page is made from an R Markdown template, which stands in the list of
#' templates of RStudio as "Changes between two networks";
#' `rmarkdown::draft("report.Rmd", template = "change_report",
#' package = "kliepnet")` begins a document with it elsewhere. It calls the
#' other functions on this page.
#'
#' @param fit A `change_path` or `change`, or the result of [kliep_select()],
#'   [kliep_test()], [kliep_stability()] or [kliep_infer()].
#' @param file Where to write the page. A file that is there is replaced once
#'   the new one is complete.
#' @param lambda2 For a path or a selection, the value to take the edges from,
#'   as in [edges()].
#' @param title The title of the page.
#' @param script The file of the script that made the fit, to be shown in the
#'   report. `NULL` shows the call that is kept with the fit.
#' @param open Open the page in a browser?
#' @param ... Must be empty.
#' @return `kliep_report()`: the path of the page, invisibly. `report_facts()`
#'   and `report_steps()`: data frames. `report_pictures()`: a list of lists
#'   with `title`, `text` and `plot`. `report_summary()`: a sentence or two.
#'   `report_table()` and `report_code()`: HTML, to be printed in a document.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' chosen <- kliep_select(pair$x, pair$y, nlambda = 15)
#' if (requireNamespace("rmarkdown") && rmarkdown::pandoc_available()) {
#'     file <- tempfile(fileext = ".html")
#'     kliep_report(chosen, file, open = FALSE)
#' }
#' report_facts(chosen, "diagnostics")
kliep_report <- function(fit, file = "report.html", lambda2 = NULL,
                         title = "Changes between two networks",
                         script = NULL, open = interactive(), ...) {
    check_dots(list(...), names(formals()), "kliep_report")
    check_reportable(fit)
    open <- check_flag(open, "open")
    file <- check_report_file(file)
    script <- check_script(script)
    check_title(title)
    check_report_tools()
    # Now rather than in the middle of the page.
    edges(fit, lambda2 = lambda2)
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
               "kliep_infer")
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
    if (!is_string(file) || file == "") {
        stop_kliep("file", paste0("`file` must be the name of a file: got ",
                                  describe(file), "."))
    }
    file <- path.expand(file)
    folder <- dirname(file)
    why <- if (!dir.exists(folder)) paste0("there is no folder `", folder, "`")
    else if (dir.exists(file)) paste0("`", file, "` is a folder")
    else if (!can_write(file)) paste0("no permission to write `", file, "`")
    if (is.null(why)) return(file)
    stop_kliep("file", paste0("The report cannot be written: ", why, "."),
               hint = "Choose another `file`, such as `report.html`.")
}

# A file is replaced by way of its folder.
can_write <- function(file) {
    writable <- function(path) unname(file.access(path, 2L)) == 0L
    writable(dirname(file)) && (!file.exists(file) || writable(file))
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
    template <- system.file("rmarkdown", "templates", "change_report",
                            "skeleton", package = "kliepnet")
    file.copy(list.files(template, full.names = TRUE), folder)
    made <- rmarkdown::render(
        file.path(folder, "skeleton.Rmd"), output_file = "report.html",
        # Quoted for pandoc, which reads it as YAML.
        output_options = list(pandoc_args = c("--metadata",
                                              paste0("title=", title))),
        params = params, envir = new.env(parent = globalenv()), quiet = TRUE
    )
    check_whole_page(made)
    done <- TRUE
    made
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

# ---- what it says ----------------------------------------------------------

#' @rdname kliep_report
#' @export
report_summary <- function(fit, lambda2 = NULL) {
    check_reportable(fit)
    path <- path_of(fit)
    found <- edges(fit, lambda2 = lambda2)
    what <- switch(
        report_kind(fit),
        kliep_test = paste("kept by permutation at level", format(fit$alpha)),
        kliep_stability = paste("named by", format(100 * fit$threshold),
                                "% of all halves or more"),
        kliep_infer = paste("that have changed at a false discovery rate",
                                "of", format(1 - fit$level)),
        "detected"
    )
    top <- hubs(fit, lambda2 = lambda2)
    text <- paste0(
        if (is.null(fit$conditions)) "Two samples" else
            paste(escape_markdown(fit$conditions[["x"]]), "against",
                  escape_markdown(fit$conditions[["y"]])),
        ", ", path$n[["x"]], " and ", path$n[["y"]], " observations of ",
        count_of(length(path$variables), "variable"),
        ": ", count_of(nrow(found), "edge"), " ", what, ", among ",
        count_of(nrow(top), "variable"), "."
    )
    if (nrow(top) == 0L) return(text)
    paste0(text, " Most has changed around ", escape_markdown(top$variable[1L]),
           " (", count_of(top$degree[1L], "edge"), ").")
}

escape_markdown <- function(text) gsub("([][*_`<>$^~\\\\])", "\\\\\\1", text)

#' @param about What the facts are about.
#' @rdname kliep_report
#' @export
report_facts <- function(fit, about = c("data", "settings", "diagnostics")) {
    check_reportable(fit)
    about <- check_choice(about, "about", c("data", "settings",
                                            "diagnostics"))
    if (about == "diagnostics") return(diagnostic_facts(fit))
    facts <- if (about == "data") data_facts(path_of(fit), fit$conditions) else
        c(own_settings(fit), path_settings(fit))
    data.frame(what = names(facts), value = unname(facts))
}

data_facts <- function(path, conditions) {
    rows <- function(part) {
        paste0(if (!is.null(conditions)) paste0(conditions[[part]], ", "),
               count_of(path$n[[part]], "observation"))
    }
    facts <- c(
        "sample x" = rows("x"),
        "sample y" = rows("y"),
        "variables" = paste0(
            format(length(path$variables), big.mark = ","), ": ",
            paste(utils::head(path$variables, 6L), collapse = ", "),
            if (length(path$variables) > 6L) ", ..."
        ),
        "factors" = format(n_factors_of(path$spec$features,
                                        length(path$variables)),
                           big.mark = ",")
    )
    if (!identical(path$spec$standardize, "within")) return(facts)
    of <- function(part) {
        paste("mean", format_range(path$center[[part]]),
              "and standard deviation", format_range(path$scale[[part]]))
    }
    c(facts, "variables in x" = of("x"), "variables in y" = of("y"))
}

# What only this kind of result has.
own_settings <- function(fit) {
    number <- function(value) format(value, digits = 4L)
    switch(
        report_kind(fit),
        kliep_select = selection_settings(fit),
        kliep_test = c(
            selection_settings(fit$selection),
            "shuffles" = number(fit$n_perm), "alpha" = number(fit$alpha),
            "kept by" = if (fit$keep == "paper") "the paper's rule" else
                paste("adjusted p-value,", fit$adjust)
        ),
        kliep_stability = c(
            "halves" = number(fit$n_subsamples),
            "edges named by each half" = number(fit$q),
            "threshold" = number(fit$threshold),
            "false edges expected, at most" = number(fit$expected_false),
            "assumption" = fit$assumption
        ),
        kliep_infer = c(
            "estimator" = fit$settings$estimator,
            "level" = number(fit$level),
            "lambda" = number(fit$settings$lambda),
            "row_lambda" = number(fit$settings$row_lambda),
            "bootstrap draws" = number(fit$settings$n_boot)
        )
    )
}

selection_settings <- function(fit) {
    row <- fit$scores[fit$scores$selected, ]
    c(
        "criterion" = if (fit$criterion == "cv")
            paste0(fit$folds, "-fold cross-validation") else
            "likelihood of hold-out samples",
        "rule" = fit$rule,
        "candidates" = format(length(unique(fit$scores$candidate))),
        "chosen" = paste0(row$candidate, " at lambda2 = ",
                          format(row$lambda2, digits = 4L)),
        "score" = paste0(format(row$score, digits = 4L), " (standard error ",
                         format(row$se, digits = 2L), ")")
    )
}

# The lines that print() has, as facts.
path_settings <- function(fit) {
    path <- path_of(fit)
    if (inherits(path, "kliep_infer")) {
        return(c("features" = name_features(path$spec$features),
                 "standardize" = path$spec$standardize))
    }
    lines <- sub("^  ", "", format_settings(path))
    facts <- stats::setNames(sub("^\\S+ +", "", lines), sub(" .*", "", lines))
    grid <- range(path$lambda2)
    c(facts, "lambda2" = paste0(
        count_of(length(path$lambda2), "value"), ", ",
        paste(unique(format(rev(grid), digits = 3L)), collapse = " to "),
        "; nothing is detected from ", format(path$lambda_max, digits = 3L),
        " upwards"
    ))
}

# ---- diagnostics -----------------------------------------------------------

# With a verdict each: "good", or "caution" and why.
diagnostic_facts <- function(fit) {
    path <- path_of(fit)
    facts <- if (inherits(path, "kliep_infer")) {
        inference_diagnostics(path)
    } else {
        c(path_diagnostics(path), weight_diagnostics(fit, path))
    }
    if (!is.null(fit$failures)) {
        facts <- c(facts, list("replicates that failed" = c(
            format(nrow(fit$failures)),
            if (nrow(fit$failures) > 0L) "caution: they are left out" else
                "good"
        )))
    }
    data.frame(what = names(facts),
               value = vapply(facts, `[[`, "", 1L, USE.NAMES = FALSE),
               verdict = vapply(facts, `[[`, "", 2L, USE.NAMES = FALSE))
}

path_diagnostics <- function(path) {
    rows <- path$diagnostics
    status <- table(factor(rows$status, unique(rows$status)))
    number <- function(value) {
        if (is.na(value)) "not known" else format(value, digits = 2L)
    }
    fitted <- rows[fitted_steps(path), ]
    short <- sum(fitted$status != "converged")
    ended <- which(rows$status == "unbounded")
    list(
        "convergence" = c(
            paste(status, names(status), collapse = ", "),
            if (short == 0L) "good" else paste(
                "caution:", count_of(short, "value"), "of lambda2 without",
                "a solution to the tolerance"
            )
        ),
        "largest violation of the optimality conditions" =
            c(number(largest_of(fitted$kkt)), ""),
        "largest duality gap" = c(number(largest_of(fitted$gap)), ""),
        "unboundedness" = if (length(ended) > 0L) c(
            paste("the objective has no minimum at lambda2 =",
                  format(rows$lambda2[ended[1L]], digits = 3L), "or below"),
            "caution: the path ends there"
        ) else c("every lambda2 of the path has a minimum", "good")
    )
}

# Of the fit that was chosen, and along the path.
weight_diagnostics <- function(fit, path) {
    rows <- path$diagnostics[fitted_steps(path), ]
    if (nrow(rows) == 0L || all(is.na(rows$effective_size))) {
        return(list("effective sample size" = c("no observation is weighted",
                                                "")))
    }
    chosen <- if (inherits(fit, "kliep_test")) fit$selection$fit else fit$fit
    at <- if (is.null(chosen)) nrow(rows) else
        which.min(abs(rows$lambda2 - chosen$lambda2))
    size <- rows$effective_size[at]
    sample <- switch(path$spec$direction, "p/q" = "y", "q/p" = "x", c("x", "y"))
    all <- min(path$n[sample])
    few <- size < 10 || size < 0.1 * all
    list("effective sample size of the weights" = c(
        paste0(format(size, digits = 3L), " of ", all, " at lambda2 = ",
               format(rows$lambda2[at], digits = 3L),
               if (nrow(rows) > 1L)
                   paste0("; along the path at least ",
                          format(min(rows$effective_size), digits = 3L))),
        if (few) "caution: a few observations carry the fit" else "good"
    ))
}

inference_diagnostics <- function(result) {
    status <- table(factor(result$diagnostics$status,
                           unique(result$diagnostics$status)))
    failed <- sum(result$diagnostics$status != "estimated")
    list(
        "estimates" = c(
            paste(status, names(status), collapse = ", "),
            if (failed == 0L) "good" else
                "caution: some edges have no estimate"
        ),
        "optimality conditions, first stage" =
            c(format(result$first_kkt, digits = 2L), ""),
        "optimality conditions, rows" =
            c(format(worst_kkt(result), digits = 2L), "")
    )
}

#' @rdname kliep_report
#' @export
report_steps <- function(fit) {
    check_reportable(fit)
    path_of(fit)$diagnostics
}

# ---- pictures --------------------------------------------------------------

#' @rdname kliep_report
#' @export
report_pictures <- function(fit, lambda2 = NULL) {
    check_reportable(fit)
    c(own_pictures(fit), path_pictures(fit, lambda2),
      graph_pictures(fit, lambda2))
}

picture <- function(title, text, plot) {
    list(list(title = title, text = text, plot = plot))
}

own_pictures <- function(fit) {
    switch(
        report_kind(fit),
        kliep_select = score_picture(fit),
        kliep_test = c(
            picture("Test", paste(
                "The edges by the lambda2 at which they enter, and the",
                "shuffles as ticks: beyond the line none of them is likely",
                "to enter by chance."
            ), autoplot(fit)),
            picture("Any change at all", paste(
                "The score of the data as a line, and those of the shuffles."
            ), autoplot(fit, type = "global")),
            score_picture(fit$selection)
        ),
        kliep_stability = picture("Stability", paste(
            "The share of halves that name an edge, and the threshold."
        ), autoplot(fit)),
        kliep_infer = picture("Intervals", paste(
            "Estimates with confidence intervals: thick for each edge by",
            "itself, thin for all edges at once."
        ), autoplot(fit))
    )
}

score_picture <- function(selection) {
    picture("Selection", paste(
        "The likelihood of observations that were held out; the line marks",
        "what was chosen."
    ), autoplot(selection))
}

path_pictures <- function(fit, lambda2) {
    if (inherits(fit, "kliep_infer")) return(NULL)
    path <- path_of(fit)
    chosen <- if (inherits(fit, "kliep_test")) fit$selection$fit else fit$fit
    mark <- if (is.null(lambda2)) chosen$lambda2 else lambda2
    if (identical(mark, 0) || is_change(path)) mark <- NULL
    picture(if (is_change(path)) "Strongest edges" else "Path", paste0(
        "The weight of every edge",
        if (!is_change(path)) " as the penalty falls from left to right",
        if (!is.null(mark)) "; the line marks the edges shown below", "."
    ), autoplot(path, lambda2 = mark))
}

graph_pictures <- function(fit, lambda2) {
    draw <- function(type) {
        if (inherits(fit, c("change_path", "kliep_select")) &&
            !is.null(lambda2)) {
            return(autoplot(fit, type = type, lambda2 = lambda2))
        }
        autoplot(fit, type = type)
    }
    c(
        picture("Graph", paste(
            "The changed edges: the wider, the larger the change. Variables",
            "without a change are left out."
        ), draw("graph")),
        picture("Matrix", paste(
            "The same edges as a matrix, variables that change together next",
            "to each other."
        ), draw("matrix"))
    )
}

# ---- tables and code -------------------------------------------------------

#' @param data A data frame.
#' @param search Put a field above the table to search it?
#' @param id The name of the table in the page, and of the file that it is
#'   saved as.
#' @param digits The number of significant digits of numbers.
#' @rdname kliep_report
#' @export
report_table <- function(data, search = TRUE, id = NULL, digits = 3) {
    if (!is.data.frame(data)) {
        stop_kliep("type", paste0("`data` must be a data frame: got ",
                                  describe(data), "."))
    }
    search <- check_flag(search, "search")
    if (!is.null(id) && !is_string(id)) {
        stop_kliep("argument", paste0("`id` must be a string: got ",
                                      describe(id), "."))
    }
    digits <- check_whole(digits, "digits")
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

#' @rdname kliep_report
#' @export
report_code <- function(fit, lambda2 = NULL, script = NULL) {
    check_reportable(fit)
    if (!is.null(lambda2)) check_number(lambda2, "lambda2", "lambda")
    if (!is.null(script) && !is.character(script)) {
        stop_kliep("argument", paste0("`script` must be lines of code: got ",
                                      describe(script), "."))
    }
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
