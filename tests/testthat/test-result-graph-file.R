# Graph files, read back by other packages and held against the definitions of
# the formats.

# Names that break what does not escape them.
awkward <- c("<script>alert(1)</script>", "a\"b'c&d", "two\nlines", "tab\there",
             "\u03b2-catenin", "comma, semi; |", "back\\slash", "bell\a")

inference <- function(names = awkward) {
    withr::local_seed(3)
    d <- length(names)
    pair <- sim_gaussian(d = d, n = 400, density = 0.4, n_changed = 5,
                         edge = 0.4, change = -0.8)
    colnames(pair$x) <- colnames(pair$y) <- names
    both <- data.frame(rbind(pair$x, pair$y), check.names = FALSE)
    kliep_infer(both, group = rep(c("B & T", "<control>"), each = 400),
                contrast = c("B & T", "<control>"), n_perm = 19)
}

found <- inference()
reported <- edges(found)

written <- function(format, object = found, ...) {
    file <- withr::local_tempfile(fileext = paste0(".", format))
    expect_identical(write_graph_file(object, file, ...), file)
    paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

# What every format has to say of the edges, in the order of edges().
expect_same_edges <- function(from, to, estimate, q_value, direction) {
    expect_identical(edge_text(data.frame(from, to)), edge_text(reported))
    expect_equal(as.numeric(estimate), reported$weight)
    expect_equal(as.numeric(q_value), reported$q_value)
    expect_identical(direction, ifelse(reported$weight > 0, "higher in B & T",
                                       "higher in <control>"))
}

test_that("there is something to write", {
    expect_gt(nrow(reported), 2)
})

test_that("GraphML comes back from igraph with its attributes", {
    file <- withr::local_tempfile(fileext = ".graphml")
    write_graph_file(found, file, vertices = "all")
    graph <- igraph::read_graph(file, format = "graphml")
    expect_false(igraph::is_directed(graph))
    # What XML has no sign for is a question mark.
    expect_identical(igraph::V(graph)$name, sub("\a", "?", awkward))
    ends <- igraph::as_edgelist(graph)
    expect_same_edges(sub("\\?", "\a", ends[, 1]), sub("\\?", "\a", ends[, 2]),
                      igraph::E(graph)$estimate, igraph::E(graph)$q_value,
                      igraph::E(graph)$direction)
    expect_equal(igraph::E(graph)$weight, abs(reported$weight))
    samples <- samples_of(found)
    expect_equal(igraph::V(graph)$mean_x, colMeans(samples$x))
    expect_equal(igraph::V(graph)$mean_y, colMeans(samples$y))
    expect_equal(igraph::V(graph)$degree, unname(igraph::degree(graph)))
})

test_that("GEXF is what its schema asks for", {
    skip_if_not_installed("xml2")
    page <- xml2::read_xml(written("gexf"))
    expect_identical(xml2::xml_attr(page, "version"), "1.3")
    expect_identical(unname(xml2::xml_ns(page)[["d1"]]), "http://gexf.net/1.3")
    xml2::xml_ns_strip(page)
    expect_identical(xml2::xml_name(xml2::xml_children(page)),
                     c("meta", "graph"))
    graph <- xml2::xml_find_first(page, "graph")
    expect_identical(xml2::xml_attr(graph, "defaultedgetype"), "undirected")
    expect_identical(xml2::xml_name(xml2::xml_children(graph)),
                     c("attributes", "attributes", "nodes", "edges"))
    types <- xml2::xml_attr(xml2::xml_find_all(graph, ".//attribute"), "type")
    expect_true(all(types %in% c("integer", "double", "boolean", "string")))
    nodes <- xml2::xml_find_all(graph, "nodes/node")
    edges <- xml2::xml_find_all(graph, "edges/edge")
    label <- stats::setNames(xml2::xml_attr(nodes, "label"),
                             xml2::xml_attr(nodes, "id"))
    declared <- function(class) {
        xml2::xml_attr(xml2::xml_find_all(graph, paste0(
            "attributes[@class='", class, "']/attribute"
        )), "id")
    }
    used <- xml2::xml_attr(xml2::xml_find_all(edges, "attvalues/attvalue"),
                           "for")
    expect_true(all(used %in% declared("edge")))
    value <- function(name) {
        xml2::xml_attr(xml2::xml_find_first(edges, paste0(
            "attvalues/attvalue[@for='", name, "']"
        )), "value")
    }
    back <- function(ends) sub("?", "\a", unname(label[ends]), fixed = TRUE)
    expect_same_edges(back(xml2::xml_attr(edges, "source")),
                      back(xml2::xml_attr(edges, "target")),
                      value("estimate"), value("q_value"), value("direction"))
    expect_equal(as.numeric(xml2::xml_attr(edges, "weight")),
                 abs(reported$weight))
})

test_that("CX2 has descriptor, status, and what it declares", {
    skip_if_not_installed("jsonlite")
    blocks <- jsonlite::fromJSON(written("cx2"), simplifyVector = FALSE)
    expect_identical(blocks[[1]], list(CXVersion = "2.0", hasFragments = FALSE))
    last <- blocks[[length(blocks)]]
    expect_identical(last, list(status = list(list(error = "",
                                                   success = TRUE))))
    part <- function(name) {
        Filter(function(block) name %in% names(block), blocks)[[1]][[name]]
    }
    sizes <- part("metaData")
    for (one in sizes) {
        expect_length(part(one$name), one$elementCount)
    }
    declared <- part("attributeDeclarations")[[1]]
    types <- c("string", "integer", "double", "boolean")
    for (aspect in c("nodes", "edges")) {
        for (element in part(aspect)) {
            expect_true(all(names(element$v) %in% names(declared[[aspect]])))
            expect_type(element$id, "integer")
        }
        expect_true(all(unlist(declared[[aspect]]) %in% types))
    }
    nodes <- part("nodes")
    names <- vapply(nodes, function(node) node$v$name, "")
    names(names) <- vapply(nodes, function(node) as.character(node$id), "")
    edges <- part("edges")
    end <- function(which) {
        unname(names[vapply(edges, function(edge) {
            as.character(edge[[which]])
        }, "")])
    }
    value <- function(name, kind) {
        vapply(edges, function(edge) edge$v[[name]], kind)
    }
    expect_same_edges(end("s"), end("t"), value("estimate", 0),
                      value("q_value", 0), value("interaction", ""))
})

test_that("cyjs has elements with data, ids that differ and ends that exist", {
    skip_if_not_installed("jsonlite")
    page <- jsonlite::fromJSON(written("cyjs"), simplifyVector = FALSE)
    expect_true(all(c("format_version", "data", "elements") %in% names(page)))
    nodes <- lapply(page$elements$nodes, `[[`, "data")
    edges <- lapply(page$elements$edges, `[[`, "data")
    ids <- vapply(c(nodes, edges), `[[`, "", "id")
    expect_false(anyDuplicated(ids) > 0)
    names <- stats::setNames(vapply(nodes, `[[`, "", "name"),
                             vapply(nodes, `[[`, "", "id"))
    value <- function(name, kind) vapply(edges, `[[`, kind, name)
    expect_same_edges(unname(names[value("source", "")]),
                      unname(names[value("target", "")]),
                      value("estimate", 0), value("q_value", 0),
                      value("direction", ""))
})

test_that("SIF has three fields a line, and variables without edges alone", {
    lines <- strsplit(written("sif", vertices = "all"), "\n")[[1]]
    fields <- strsplit(lines, "\t")
    expect_true(all(lengths(fields) %in% c(1, 3)))
    plain <- function(text) gsub("[\t\n]", " ", text)
    triples <- do.call(rbind, fields[lengths(fields) == 3])
    expect_identical(triples[, c(1, 3)],
                     unname(as.matrix(data.frame(plain(reported$from),
                                                 plain(reported$to)))))
    expect_setequal(c(triples[, c(1, 3)], unlist(fields[lengths(fields) == 1])),
                    plain(awkward))
})

test_that("CSV comes back as the table it was", {
    file <- withr::local_tempfile(fileext = ".csv")
    write_graph_file(found, file)
    table <- utils::read.csv(file, encoding = "UTF-8")
    expect_same_edges(table$from, table$to, table$estimate, table$q_value,
                      table$direction)
    expect_true(all(names(reported) %in% c(names(table), "weight")))
})

test_that("no edges, no samples and edges without a sign can be written", {
    nothing <- found
    nothing$estimates$changed <- FALSE
    nothing$global$p_value <- 1
    for (format in names(graph_formats())) {
        expect_no_error(written(format, nothing))
        expect_no_error(written(format, nothing, vertices = "all"))
    }
    bare <- found
    bare$samples <- NULL
    expect_no_match(written("graphml", bare), "mean_x")
    withr::local_seed(1)
    pair <- sim_gaussian(d = 4, n = 60, density = 0.6, n_changed = 2)
    path <- kliep_path(pair$x, pair$y, feat_polynomial(2, terms = "all"),
                       nlambda = 4)
    text <- written("graphml", path, lambda2 = path$lambda2[4])
    expect_match(text, ">changed<")
})

test_that("format and file are checked", {
    expect_error(write_graph_file(found, "graph.txt"), "End it with .graphml",
                 class = "kliep_error_argument")
    expect_error(write_graph_file(found, "graph.graphml", format = "gml"),
                 class = "kliep_error_argument")
    expect_error(write_graph_file(found, "no/such/folder/a.csv"),
                 "The graph cannot be written", class = "kliep_error_file")
    file <- withr::local_tempfile(fileext = ".txt")
    write_graph_file(found, file, format = "csv")
    expect_match(readLines(file)[1], "from,to,weight,estimate,direction")
    path <- kliep_path(samples_of(found)$x, samples_of(found)$y, nlambda = 3)
    expect_error(write_graph_file(path, file, format = "csv"),
                 class = "kliep_error_lambda")
})
