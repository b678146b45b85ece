# The parts of a report, each as HTML: the answer, the graph with its controls,
# tables, pictures and facts.

summary_html <- function(fit, lambda2, graph) {
    parts <- c(if (graph) "Graph", "Edges", "Variables", "Pictures", "Data",
               "Settings", "Diagnostics", "Code", "Session")
    paste0(
        html_paragraph(report_summary(fit, lambda2), "answer"),
        if (!is.null(fit$reasons)) paste0(
            "<h3>Why this analysis</h3>\n<ul>",
            paste0("<li>", escape_words(fit$reasons), "</li>", collapse = "\n"),
            "</ul>"
        ),
        "\n<nav aria-label=\"Sections\"><ul>",
        paste0("<li><a href=\"#", sub("^graph$", "graph-title",
                                      tolower(parts)),
               "\">", parts, "</a></li>", collapse = ""),
        "</ul></nav>"
    )
}

graph_html <- function(fit, found, graph, evidence) {
    fill_template("graph.html", list(
        slider = slider_html(found$control),
        names = paste0("<option value=\"", escape_html(graph$variables), "\">",
                       collapse = ""),
        note = paste0(html_paragraph(say_control(fit), "note"),
                      if (found$all > nrow(found$table)) html_paragraph(paste(
                          "The page holds the first",
                          format(nrow(found$table), big.mark = ","), "of",
                          count_of(found$all, "edge"),
                          "that the slider could show."
                      ), "note")),
        label = escape_html(paste0(
            "Graph of ", count_of(sum(found$shown), "edge"), " between ",
            count_of(length(unique(unlist(
                found$table[found$shown, c("from", "to")]
            ))), "variable")
        )),
        legend = legend_html(fit, graph$sign),
        evidence = html_paragraph(say_evidence(fit, evidence), "note")
    ))
}

# A slider with one stop is left out.
slider_html <- function(control) {
    if (length(control$stops) < 2L) return("")
    paste0("<div><label for=\"cut\">", escape_html(control$label),
           ": <output id=\"cut-value\" for=\"cut\">",
           format(control$stops[control$at], digits = 3L), "</output></label>",
           "\n<input type=\"range\" id=\"cut\" min=\"0\" max=\"",
           length(control$stops) - 1L, "\" step=\"1\" value=\"",
           control$at - 1L, "\"></div>")
}

legend_html <- function(fit, sign) {
    names <- condition_names(fit)
    entry <- function(class, text) {
        paste0("<li><svg viewBox=\"0 0 36 12\" aria-hidden=\"true\"><line ",
               "x1=\"0\" y1=\"6\" x2=\"36\" y2=\"6\" class=\"", class,
               "\"/></svg>", escape_html(text), "</li>")
    }
    paste0(
        if (any(sign > 0)) entry("in-x", paste("higher in", names[1L])),
        if (any(sign < 0)) entry("in-y", paste("higher in", names[2L])),
        if (any(sign == 0)) entry("unsigned", "changed"),
        "<li>The wider a line, the larger the change.</li>"
    )
}

edges_html <- function(fit, found) {
    table <- found$table
    if (nrow(table) == 0L) {
        return(html_section("Edges", html_paragraph(
            "No edge to show: none was found."
        )))
    }
    rows <- paste0("data-edge=\"", seq_len(nrow(table)) - 1L, "\"",
                   ifelse(found$shown, "", " hidden"))
    html_section(
        "Edges",
        html_paragraph(paste(
            "The edges along which the two networks differ. A positive weight",
            "is an interaction that is higher in",
            paste0(condition_names(fit)[1L], ".")
        )),
        report_table(table, "Edges, filtered by the slider above the graph",
                     id = "edge-table", rows = rows),
        columns_html(names(table), condition_names(fit))
    )
}

# The table that the script fills again for every place of the slider.
variables_html <- function(fit, found) {
    if (nrow(found$table) == 0L) {
        return(html_section("Variables", html_paragraph(
            "No variable has an edge."
        )))
    }
    html_section(
        "Variables",
        html_paragraph(paste(
            "Variables with most change first: how many edges each has, the",
            "sum of their sizes, and what share of all edges that is."
        )),
        report_table(variable_table(found$table[found$shown, ]),
                     "Variables with an edge that is shown",
                     id = "variable-table")
    )
}

# As hubs() has it, of these edges.
variable_table <- function(table) {
    names <- unique(c(table$from, table$to))
    graph <- list(variables = names, edges = data.frame(
        from = match(table$from, names), to = match(table$to, names),
        weight = table$weight
    ))
    rank_hubs(graph)
}

pictures_html <- function(fit, lambda2, folder) {
    pictures <- report_pictures(fit, lambda2)
    html_section("Pictures", if (length(pictures) == 0L) html_paragraph(
        "There is nothing to draw: no edge was found."
    ), vapply(pictures, picture_html, "", folder))
}

facts_html <- function(fit) {
    table <- function(about, caption) {
        report_table(report_facts(fit, about), caption, search = FALSE)
    }
    c(
        html_section("Data", table("data", "What was compared")),
        html_section("Settings", table("settings", "How it was computed")),
        html_section(
            "Diagnostics", table("diagnostics", "How far to trust it"),
            report_table(report_steps(fit), "The steps of the computation",
                         search = FALSE, id = "step-table")
        )
    )
}

session_html <- function() {
    lines <- utils::capture.output(print(utils::sessionInfo()))
    paste0("<pre tabindex=\"0\">", paste(escape_html(lines), collapse = "\n"),
           "</pre>")
}

# ---- what columns mean -----------------------------------------------------

# `%x%` and `%y%` stand for the names of the conditions.
column_words <- c(
    weight = "the estimated change; positive where the interaction is higher
        in %x%, a norm where an edge has several coefficients",
    se = "the standard error of the weight",
    lower = "lower end of the confidence interval",
    upper = "upper end of the confidence interval",
    p_value = "p-value of no change of this edge",
    p_adjusted = "p-value adjusted for all edges",
    q_value = "the smallest false discovery rate at which the edge is reported",
    test = "the test with the smaller p-value",
    partial_x = "partial correlation in %x%",
    partial_y = "partial correlation in %y%",
    enters = "the largest lambda2 at which the edge is detected",
    shuffles = "the number of shuffles in which the edge is detected",
    shift = "the share of the change that a shift of means or scales could
        explain",
    q_beyond = "the smallest false discovery rate at which the edge changes in a
        way that correlations do not show",
    probability = "the share of halves of the data that select the edge",
    simultaneous = "the share of pairs of halves in which both select it",
    first = "the first window with the edge",
    last = "the last window with the edge",
    appears = "when the first window with the edge begins",
    windows = "the number of windows with the edge",
    start = "when the edge begins to change",
    peak = "when |z| is largest; the weight of the edge is its rate then",
    end = "when the edge stops changing"
)

columns_html <- function(names, conditions) {
    known <- intersect(names, names(column_words))
    words <- gsub("\\s+", " ", column_words[known])
    words <- gsub("%x%", conditions[1L], words, fixed = TRUE)
    words <- gsub("%y%", conditions[2L], words, fixed = TRUE)
    paste0("<details><summary>What the columns mean</summary>\n",
           "<dl class=\"columns\">",
           paste0("<dt>", known, "</dt><dd>", escape_html(words), "</dd>",
                  collapse = "\n"),
           "</dl></details>")
}
