# The change graph as a file that other programs read. What is written is put
# together by graph_tables(); each format has a function that turns it into
# lines of text.

#' Write the edges that changed to a file for Cytoscape, Gephi and others
#'
#' Writes the graph of the detected edges, with the attributes of edges and
#' variables, in a format that Cytoscape, Gephi, igraph, NDEx or a spreadsheet
#' reads.
#'
#' @section Formats:
#' * `"graphml"`: GraphML, which Cytoscape, Gephi, yEd, igraph and NetworkX
#'   read.
#' * `"cx2"`: CX2, the exchange format of Cytoscape and NDEx (version 2.0).
#' * `"cyjs"`: Cytoscape.js JSON, for Cytoscape and web pages.
#' * `"gexf"`: GEXF 1.3, for Gephi.
#' * `"sif"`: Cytoscape's simple interaction format, one line for each edge with
#'   tabs between: variable, direction, variable. It has no room for numbers.
#' * `"csv"`: a table of the edges, for a spreadsheet or for Cytoscape's import
#'   of tables. It has no room for variables without edges.
#'
#' @section What is written:
#' An edge has `weight`, the absolute value of its change, as most programs want
#' it positive; `estimate`, the change with its sign; `direction`, in which
#' condition the interaction is higher (`"changed"` where an edge has several
#' coefficients and so no sign); and all further columns of [edges()], such as
#' `q_value`, `lower`, `upper`, `partial_x` and `partial_y`. A variable has
#' `name`; `degree` and `strength`, the number of its changed edges and the sum
#' of their weights; and `mean_x` and `mean_y`, its means in both samples, if
#' the result carries its samples. Missing values are left out.
#'
#' Names may hold any characters. In SIF, a tab or a line break becomes a blank.
#' In XML, characters that it does not allow become a question mark.
#'
#' @inheritParams as_igraph
#' @param object A path, a fit, a selection, a test, a stability selection, an
#'   inference, windows or a drift.
#' @param file The name of the file, which is replaced if it exists.
#' @param format The format; `NULL` goes by the ending of `file`.
#' @param vertices The variables to write: those with a `"changed"` edge, or
#'   `"all"`.
#' @return The name of the file, invisibly.
#' @seealso [as_igraph()] for the graph in R, [kliep_report()] for a page with
#'   everything, [add_changes()] for objects of Bioconductor.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 4)
#' found <- kliep_auto(pair$x, pair$y)
#' file <- tempfile(fileext = ".graphml")
#' write_graph_file(found, file)
#' igraph::read_graph(file, format = "graphml")
#'
#' table <- tempfile(fileext = ".csv")
#' write_graph_file(found, table)
#' read.csv(table)
write_graph_file <- function(object, file, format = NULL, lambda2 = NULL,
                             vertices = c("changed", "all"), ...) {
    vertices <- check_choice(vertices, "vertices", c("changed", "all"))
    file <- check_new_file(file, "The graph", "changes.graphml")
    format <- check_format(format, file)
    tables <- graph_tables(object, lambda2, vertices, ...)
    write_lines(graph_formats()[[format]](tables), file)
    invisible(file)
}

# The formats by their endings.
graph_formats <- function() {
    list(graphml = graphml_lines, cx2 = cx2_lines, cyjs = cyjs_lines,
         gexf = gexf_lines, sif = sif_lines, csv = csv_lines)
}

check_format <- function(format, file) {
    known <- names(graph_formats())
    if (!is.null(format)) return(check_choice(format, "format", known))
    ending <- tolower(sub(".*\\.", "", basename(file)))
    if (ending %in% known) return(ending)
    stop_kliep(
        "argument",
        paste0("The format is not clear from the name of the file, `",
               basename(file), "`."),
        hint = paste0("End it with ", paste0(".", known, collapse = ", "),
                      ", or give `format`.")
    )
}

# As bytes: names are in UTF-8 by now, whatever the locale.
write_lines <- function(lines, file) {
    connection <- file(file, "wb")
    on.exit(close(connection))
    writeLines(enc2utf8(lines), connection, useBytes = TRUE)
}

# ---- what is written -------------------------------------------------------

# `nodes` and `edges` as data frames, edges with the numbers of their ends
# among the nodes, and `about`, what the graph is.
graph_tables <- function(object, lambda2, vertices, ...) {
    graph <- change_graph(object, lambda2, ...)
    nodes <- vertex_table(graph, object)
    kept <- which(vertices == "all" | nodes$degree > 0L)
    edges <- graph$edges
    table <- graph$table
    further <- setdiff(names(table), c("from", "to", "weight", "step"))
    list(
        nodes = nodes[kept, , drop = FALSE],
        from = match(edges$from, kept), to = match(edges$to, kept),
        edges = data.frame(
            weight = abs(edges$weight), estimate = edges$weight,
            direction = say_direction(edges$sign, graph$conditions),
            table[further]
        ),
        about = graph_about(object, graph)
    )
}

vertex_table <- function(graph, object) {
    changes <- vertex_changes(graph)
    nodes <- data.frame(name = clean_text(graph$variables),
                        degree = changes$degree, strength = changes$strength)
    samples <- path_of(object)$samples
    if (is.null(samples)) return(nodes)
    data.frame(nodes, mean_x = colMeans(samples$x),
               mean_y = colMeans(samples$y), row.names = NULL)
}

say_direction <- function(sign, conditions) {
    if (is.null(conditions)) conditions <- c(x = "x", y = "y")
    said <- paste("higher in", clean_text(conditions[c("y", "x")]))
    ifelse(is.na(sign), "changed", said[(sign > 0) + 1L])
}

graph_about <- function(object, graph) {
    conditions <- graph$conditions
    c(name = "edges that changed",
      description = paste0(
          class(object)[1L], " of kliepnet",
          if (!is.null(conditions))
              paste0("; x: ", conditions[["x"]], ", y: ", conditions[["y"]])
      ))
}

# Valid UTF-8, whatever a name is made of.
clean_text <- function(text) {
    iconv(enc2utf8(as.character(text)), "UTF-8", "UTF-8", sub = "?")
}

# A double holds fifteen digits for certain.
format_value <- function(value) {
    if (is.logical(value)) return(ifelse(value, "true", "false"))
    if (!is.numeric(value)) return(clean_text(value))
    sprintf(if (is.integer(value)) "%d" else "%.15g", value)
}

# A value that can be written.
is_known <- function(value) {
    if (is.numeric(value)) is.finite(value) else !is.na(value)
}

# The type of every column, by the words that a format has for them.
column_types <- function(table, words) {
    kinds <- vapply(table, function(column) {
        if (is.logical(column)) "flag" else if (is.integer(column)) "whole"
        else if (is.numeric(column)) "number" else "text"
    }, "")
    unname(words[kinds])
}

# ---- XML -------------------------------------------------------------------

# For text and for attributes; a line break would not outlive an attribute.
escape_xml <- function(text) {
    text <- gsub("[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f]", "?", text, perl = TRUE)
    signs <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;",
               "'" = "&apos;", "\t" = "&#9;", "\n" = "&#10;", "\r" = "&#13;")
    for (sign in names(signs)) {
        text <- gsub(sign, signs[[sign]], text, fixed = TRUE)
    }
    text
}

# For each row of a table, the elements of its known values, made by `element`
# from the name of a column and its values.
xml_values <- function(table, element) {
    parts <- lapply(names(table), function(name) {
        column <- table[[name]]
        ifelse(is_known(column),
               element(name, escape_xml(format_value(column))), "")
    })
    do.call(paste0, c(parts, list(rep("", nrow(table)))))
}

graphml_lines <- function(tables) {
    words <- c(flag = "boolean", whole = "int", number = "double",
               text = "string")
    keys <- function(table, for_what) {
        sprintf(paste0("  <key id=\"%s_%s\" for=\"%s\" attr.name=\"%s\" ",
                       "attr.type=\"%s\"/>"),
                for_what, names(table), for_what, names(table),
                column_types(table, words))
    }
    data_of <- function(table, for_what) {
        xml_values(table, function(name, value) {
            sprintf("<data key=\"%s_%s\">%s</data>", for_what, name, value)
        })
    }
    at <- "http://graphml.graphdrawing.org/xmlns"
    c(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        paste0("<graphml xmlns=\"", at, "\""),
        "    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
        paste0("    xsi:schemaLocation=\"", at, " ", at, "/1.0/graphml.xsd\">"),
        keys(tables$nodes, "node"), keys(tables$edges, "edge"),
        "  <graph id=\"changes\" edgedefault=\"undirected\">",
        sprintf("    <node id=\"n%d\">%s</node>", seq_len(nrow(tables$nodes)),
                data_of(tables$nodes, "node")),
        sprintf("    <edge id=\"e%d\" source=\"n%d\" target=\"n%d\">%s</edge>",
                seq_along(tables$from), tables$from, tables$to,
                data_of(tables$edges, "edge")),
        "  </graph>", "</graphml>"
    )
}

# A node's name is its label, and the weight an attribute of the edge itself.
gexf_lines <- function(tables) {
    nodes <- tables$nodes[names(tables$nodes) != "name"]
    edges <- tables$edges[names(tables$edges) != "weight"]
    words <- c(flag = "boolean", whole = "integer", number = "double",
               text = "string")
    attributes <- function(table, class) {
        c(paste0("    <attributes class=\"", class, "\" mode=\"static\">"),
          sprintf("      <attribute id=\"%s\" title=\"%s\" type=\"%s\"/>",
                  names(table), names(table), column_types(table, words)),
          "    </attributes>")
    }
    values <- function(table) {
        paste0("<attvalues>", xml_values(table, function(name, value) {
            sprintf("<attvalue for=\"%s\" value=\"%s\"/>", name, value)
        }), "</attvalues>")
    }
    c(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">",
        "  <meta>", "    <creator>kliepnet</creator>",
        paste0("    <description>", escape_xml(tables$about[["description"]]),
               "</description>"),
        "  </meta>",
        "  <graph defaultedgetype=\"undirected\" mode=\"static\">",
        attributes(nodes, "node"), attributes(edges, "edge"),
        "    <nodes>",
        sprintf("      <node id=\"n%d\" label=\"%s\">%s</node>",
                seq_len(nrow(nodes)), escape_xml(tables$nodes$name),
                values(nodes)),
        "    </nodes>", "    <edges>",
        sprintf(paste0("      <edge id=\"e%d\" source=\"n%d\" target=\"n%d\" ",
                       "weight=\"%s\">%s</edge>"),
                seq_along(tables$from), tables$from, tables$to,
                format_value(tables$edges$weight), values(edges)),
        "    </edges>", "  </graph>", "</gexf>"
    )
}

# ---- JSON ------------------------------------------------------------------

json_value <- function(value) {
    if (is.numeric(value) || is.logical(value)) format_value(value) else
        json_text(format_value(value))
}

# For each row of a table, an object of its known values; `first` are members
# that stand before these.
json_objects <- function(table, first = list()) {
    parts <- lapply(names(table), function(name) {
        column <- table[[name]]
        ifelse(is_known(column),
               paste0(json_text(name), ":", json_value(column)), NA)
    })
    first <- Map(function(name, value) paste0(json_text(name), ":", value),
                 names(first), first)
    rows <- do.call(cbind, c(first, parts))
    vapply(seq_len(nrow(table)), function(row) {
        members <- rows[row, ]
        paste0("{", paste(members[!is.na(members)], collapse = ","), "}")
    }, "")
}

# Elements of an array, one to a line.
json_column <- function(elements) {
    paste0("[", paste(elements, collapse = ",\n"), "]")
}

cyjs_lines <- function(tables) {
    ids <- function(sign, numbers) {
        if (length(numbers) == 0L) character() else
            json_text(paste0(sign, numbers))
    }
    nodes <- json_objects(tables$nodes,
                          list(id = ids("n", seq_len(nrow(tables$nodes)))))
    edges <- json_objects(
        cbind(interaction = tables$edges$direction, tables$edges),
        list(id = ids("e", seq_along(tables$from)),
             source = ids("n", tables$from), target = ids("n", tables$to))
    )
    wrap <- function(objects) {
        if (length(objects) == 0L) character() else
            paste0("{\"data\":", objects, "}")
    }
    c("{", "\"format_version\":\"1.0\",", "\"generated_by\":\"kliepnet\",",
      "\"target_cytoscapejs_version\":\"~2.1\",",
      paste0("\"data\":", json_objects(as.data.frame(t(tables$about))), ","),
      "\"elements\":{",
      paste0("\"nodes\":", json_column(wrap(nodes)), ","),
      paste0("\"edges\":", json_column(wrap(edges))), "}", "}")
}

# The aspects in order, with their sizes before them and the status last.
cx2_lines <- function(tables) {
    words <- c(flag = "boolean", whole = "integer", number = "double",
               text = "string")
    edges <- cbind(interaction = tables$edges$direction, tables$edges)
    declared <- function(table) {
        paste0("{", paste0(json_text(names(table)), ":{\"d\":\"",
                           column_types(table, words), "\"}",
                           collapse = ","), "}")
    }
    about <- as.data.frame(t(tables$about))
    elements <- function(ids, values) {
        if (length(values) == 0L) return(character())
        paste0("{", ids, ",\"v\":", values, "}")
    }
    number <- function(name, values) paste0("\"", name, "\":", values)
    nodes <- elements(number("id", seq_len(nrow(tables$nodes))),
                      json_objects(tables$nodes))
    links <- elements(
        paste(number("id", seq_along(tables$from)),
              number("s", tables$from), number("t", tables$to), sep = ","),
        json_objects(edges)
    )
    aspects <- list(
        attributeDeclarations = paste0(
            "{\"networkAttributes\":", declared(about), ",\"nodes\":",
            declared(tables$nodes), ",\"edges\":", declared(edges), "}"
        ),
        networkAttributes = json_objects(about), nodes = nodes, edges = links
    )
    blocks <- paste0("{\"", names(aspects), "\":",
                     vapply(aspects, json_column, ""), "}")
    sizes <- paste0("{\"name\":\"", names(aspects), "\",\"elementCount\":",
                    lengths(aspects), "}")
    json_column(c(
        "{\"CXVersion\":\"2.0\",\"hasFragments\":false}",
        paste0("{\"metaData\":", json_column(sizes), "}"), blocks,
        "{\"status\":[{\"error\":\"\",\"success\":true}]}"
    ))
}

# ---- lines and tables ------------------------------------------------------

sif_lines <- function(tables) {
    plain <- function(text) gsub("[\t\r\n]+", " ", text)
    name <- plain(tables$nodes$name)
    alone <- setdiff(seq_along(name), c(tables$from, tables$to))
    c(paste(name[tables$from], plain(tables$edges$direction),
            name[tables$to], sep = "\t", recycle0 = TRUE), name[alone])
}

csv_lines <- function(tables) {
    name <- tables$nodes$name
    table <- data.frame(from = name[tables$from], to = name[tables$to],
                        tables$edges)
    numbers <- vapply(table, is.numeric, NA)
    table[numbers] <- lapply(table[numbers], function(column) {
        ifelse(is.na(column), NA, format_value(column))
    })
    table[!numbers] <- lapply(table[!numbers], function(column) {
        ifelse(is.na(column), NA,
               paste0("\"", gsub("\"", "\"\"", clean_text(column),
                                 fixed = TRUE), "\""))
    })
    table[is.na(table)] <- ""
    c(paste(names(table), collapse = ","),
      do.call(paste, c(unname(table), sep = ",", recycle0 = TRUE)))
}
