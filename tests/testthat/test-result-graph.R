set.seed(11)
pair <- sim_gaussian(d = 8, n = 200, edge = 0.4, density = 0.3, n_changed = 4,
                     change = -0.8)
path <- kliep_path(pair$x, pair$y, nlambda = 12)
middle <- path$lambda2[6]
chosen <- kliep_select(pair$x, pair$y, nlambda = 8, folds = 3)
test <- kliep_test(pair$x, pair$y, n_perm = 19, nlambda = 8, folds = 3,
                   progress = FALSE)
stable <- kliep_stability(pair$x, pair$y, n_subsamples = 10, nlambda = 8,
                          progress = FALSE)
inferred <- debias_few(pair$x, pair$y, n_boot = 50, progress = FALSE)
groups <- kliep_path(pair$x, pair$y, feat_polynomial(3), nlambda = 6)
all_kinds <- list(chosen$fit, chosen, test, stable, inferred,
                  change_at(groups, 6))

sorted <- function(table) {
    ends <- cbind(pmin(table$from, table$to), pmax(table$from, table$to))
    table[c("from", "to")] <- list(ends[, 1], ends[, 2])
    table <- table[order(table$from, table$to), ]
    rownames(table) <- NULL
    table
}

test_that("an igraph has the edges with weight, sign and entry", {
    found <- edges(path, middle)
    expect_gt(nrow(found), 3)
    graph <- as_igraph(path, middle)
    expect_false(igraph::is_directed(graph))
    expect_equal(igraph::V(graph)$name, path$variables)
    table <- igraph::as_data_frame(graph)
    expect_named(table, c("from", "to", "weight", "sign", "change", "enters"))
    expect_equal(table$weight * table$sign, table$change)
    expect_true(all(table$weight > 0))
    # There and back.
    names(table)[names(table) == "change"] <- "back"
    table$weight <- table$back
    expect_equal(sorted(table[names(found)]), sorted(found))
    expect_equal(igraph::V(graph)$degree, unname(igraph::degree(graph)))
    expect_equal(igraph::V(graph)$strength, unname(igraph::strength(graph)))
    changed <- as_igraph(path, middle, vertices = "changed")
    expect_setequal(igraph::V(changed)$name, c(found$from, found$to))
    expect_equal(igraph::gsize(changed), nrow(found))
})

test_that("all kinds of results become graphs and matrices alike", {
    for (object in all_kinds) {
        found <- edges(object)
        expect_gt(nrow(found), 0)
        graph <- as_igraph(object)
        expect_equal(igraph::gorder(graph), 8)
        through <- as.matrix(igraph::as_adjacency_matrix(graph,
                                                         attr = "change"))
        expect_equal(through, as.matrix(object))
        expect_equal(as.matrix(object)[cbind(found$from, found$to)],
                     found$weight)
        expect_equal(sum(as.matrix(object) != 0), 2 * nrow(found))
    }
})

test_that("a matrix is that of coef(), without the variables alone", {
    theta <- as.matrix(coef(path, middle))
    diag(theta) <- 0
    expect_equal(as.matrix(path, lambda2 = middle), theta)
    expect_equal(as.matrix(chosen), as.matrix(chosen$fit))
    fit <- kliep_change(pair$x, pair$y, lambda2 = 10)
    expect_equal(sum(as.matrix(fit) != 0), 0)
    expect_equal(igraph::gsize(as_igraph(fit)), 0)
})

test_that("only an edge with one coefficient has a sign", {
    signs <- igraph::E(as_igraph(path, last_lambda2(path)))$sign
    expect_setequal(signs, c(-1, 1))
    expect_true(all(is.na(igraph::E(as_igraph(groups,
                                              last_lambda2(groups)))$sign)))
    # Of three variables in a clique and a pair, only the pair has one.
    cliques <- feat_cliques(list(1:3, 4:5), function(z) apply(z, 1, prod))
    fit <- kliep_change(pair$x, pair$y, cliques, lambda2 = 0)
    table <- sorted(igraph::as_data_frame(as_igraph(fit)))
    expect_equal(abs(table$sign), rep(1, 4))
    both <- feat_cliques(list(1:3, 1:2, 4:5), function(z) apply(z, 1, prod))
    fit <- kliep_change(pair$x, pair$y, both, lambda2 = 0)
    table <- sorted(igraph::as_data_frame(as_igraph(fit)))
    expect_equal(paste(table$from, table$to)[is.na(table$sign)], "V1 V2")
})

test_that("where an edge enters is known wherever there is a path", {
    for (object in list(chosen, test, stable)) {
        table <- igraph::as_data_frame(as_igraph(object))
        entries <- edges(path_of(object))
        key <- function(table) paste(table$from, table$to)
        expect_equal(table$enters,
                     entries$enters[match(key(table), key(entries))])
        expect_false(anyNA(table$enters))
    }
    expect_true(all(is.na(igraph::E(as_igraph(chosen$fit))$enters)))
    expect_true(all(is.na(igraph::E(as_igraph(inferred))$enters)))
})

test_that("hubs are counted from the edges", {
    found <- edges(path, middle)
    ranked <- hubs(path, middle)
    expect_named(ranked, c("variable", "degree", "strength", "share",
                           "strongest"))
    expect_setequal(ranked$variable, c(found$from, found$to))
    for (row in seq_len(nrow(ranked))) {
        own <- found[found$from == ranked$variable[row] |
                         found$to == ranked$variable[row], ]
        expect_equal(ranked$degree[row], nrow(own))
        expect_equal(ranked$strength[row], sum(abs(own$weight)))
        expect_true(ranked$strongest[row] %in%
                        unlist(own[which.max(abs(own$weight)),
                                   c("from", "to")]))
        expect_false(ranked$strongest[row] == ranked$variable[row])
    }
    expect_equal(sum(ranked$share), 2)
    expect_false(is.unsorted(-ranked$degree))
    by_strength <- hubs(path, middle, by = "strength")
    expect_false(is.unsorted(-by_strength$strength))
    expect_setequal(by_strength$variable, ranked$variable)
    expect_equal(nrow(hubs(kliep_change(pair$x, pair$y, lambda2 = 10))), 0)
})

test_that("edges() survive a file as they are", {
    for (object in all_kinds) {
        file <- withr::local_tempfile(fileext = ".csv")
        utils::write.csv(edges(object), file, row.names = FALSE)
        expect_equal(utils::read.csv(file), edges(object))
    }
})

test_that("rules of an inference reach its graph", {
    expect_equal(igraph::gsize(as_igraph(inferred, rule = "pointwise")),
                 nrow(edges(inferred, rule = "pointwise")))
    expect_equal(sum(as.matrix(inferred, rule = "BY") != 0),
                 2 * nrow(edges(inferred, rule = "BY")))
})

test_that("what has no edges is refused", {
    expect_error(as_igraph(1:3), class = "kliep_error_type")
    # In words that fit every function that asks for edges.
    expect_error(hubs("a"), "^A result that has edges",
                 class = "kliep_error_type")
    expect_error(hubs(path, by = "size"), class = "kliep_error_argument")
    expect_error(as_igraph(path, vertices = "some"),
                 class = "kliep_error_argument")
    expect_error(as_igraph(test, lambda2 = 0.1),
                 class = "kliep_error_argument")
})
