# The edges of any object that has edges(), as a graph: what as_igraph(),
# as.matrix(), hubs() and the pictures of graphs are made from.

# A list of the names of the `variables` and a data frame `edges`: `from` and
# `to` as numbers of variables, `weight` as in edges(), its `sign` (NA for a
# norm, which has none), and the lambda2 at which an edge `enters` (NA where
# there is no path to enter). `table` is what edges() gives, in the same order;
# `conditions` are the names of the two samples, where these are known.
change_graph <- function(object, lambda2 = NULL, ...) {
    # The ranking of a path is not a graph.
    if (inherits(object, "change_path")) find_step(object, lambda2)
    found <- edges(object, lambda2 = lambda2, ...)
    if (inherits(object, "kliep_windows")) found <- largest_of_each(found)
    path <- path_of(object)
    variables <- path$variables
    places <- data.frame(from = match(found$from, variables),
                         to = match(found$to, variables))
    one <- has_one_coefficient(path$spec$features, places$from, places$to)
    places$weight <- found$weight
    places$sign <- ifelse(as.vector(one), sign(found$weight), NA_real_)
    places$enters <- if (!is.null(found$enters)) found$enters else
        path_entries(path, places)
    list(variables = variables, edges = places, table = found,
         conditions = known_conditions(object))
}

# An edge that several windows have is one edge of a graph: that of the window
# where it is largest.
largest_of_each <- function(found) {
    found <- found[order(-abs(found$weight)), ]
    found <- found[!duplicated(edge_text(found)), ]
    rownames(found) <- NULL
    found
}

# What the two samples are called; NULL where they have no names.
known_conditions <- function(object) {
    if (inherits(object, "kliep_windows")) {
        return(c(x = "the window", y = "the reference"))
    }
    if (inherits(object, "kliep_time")) {
        return(c(x = "later rows", y = "earlier rows"))
    }
    object$conditions
}

# What holds the variables and the features of an object, and, where it has
# one, the path that its edges were found on.
path_of <- function(object) {
    if (inherits(object, "kliep_test")) return(object$selection$path)
    if (inherits(object, c("kliep_select", "kliep_stability"))) {
        return(object$path)
    }
    if (inherits(object, "kliep_windows")) {
        # All windows have the same features; one that failed has none.
        fit <- Filter(Negate(is.null), object$fits)[[1L]]
        return(list(variables = object$variables, spec = fit$spec))
    }
    object
}

path_entries <- function(path, places) {
    if (is_change(path) || !inherits(path, "change_path")) {
        return(rep(NA_real_, nrow(places)))
    }
    entry_lambda2(path, places)
}

# One row for each variable: how many of its edges have changed, by how much
# in all, and with which neighbour the most.
vertex_changes <- function(graph) {
    edges <- graph$edges
    end <- c(edges$from, edges$to)
    other <- c(edges$to, edges$from)
    size <- rep(abs(edges$weight), 2L)
    d <- length(graph$variables)
    strength <- numeric(d)
    strength[sort(unique(end))] <- as.double(rowsum(size, end))
    first <- order(-size)
    first <- first[!duplicated(end[first])]
    strongest <- rep(NA_integer_, d)
    strongest[end[first]] <- other[first]
    data.frame(variable = graph$variables, degree = tabulate(end, d),
               strength = strength, strongest = graph$variables[strongest])
}

# ---- igraph ----------------------------------------------------------------

#' The change as an igraph or as a matrix
#'
#' Converts the detected edges to a graph of the \pkg{igraph} package, or to the
#' symmetric matrix of their weights.
#'
#' @param object,x A `change_path`, or the result of
#'   [kliep_select()], [kliep_test()], [kliep_stability()], [kliep_debias()],
#'   [kliep_infer()], [kliep_windows()] or [kliep_time()].
#' @param lambda2 For a path or a selection, one value on the path, as in
#'   [edges()].
#' @param vertices `"all"` variables, or only those with a `"changed"` edge.
#' @param ... Passed on to [edges()]: `rule` and `alpha` of an inference, for
#'   instance, `window` of windows or `at` of a drift. An edge that is found in
#'   several windows has the weight of the one where it is largest. The sign of
#'   a drift is 1 where the interaction rises.
#' @return `as_igraph()`: an undirected igraph with a vertex for each variable.
#'   * Edges have `weight`, the absolute value of the change, as igraph's
#'     algorithms want it positive; `sign`, 1 where the interaction is higher
#'     in `x`, -1 where it is higher in `y`, and `NA` where an edge has several
#'     coefficients and the weight is their norm; `change`, the weight with its
#'     sign, as [edges()] gives it; and `enters`, the largest `lambda2` of the
#'     path at which the edge is detected (`NA` where there is no path).
#'   * Vertices have `name`, `degree` (the number of changed edges) and
#'     `strength` (the sum of their absolute weights).
#'
#'   `as.matrix()`: a symmetric matrix with a row and a column for each
#'   variable, the weights of the detected edges in it and zeros elsewhere. Its
#'   diagonal is zero; [`coef()`][coef.change_path] has there what changed in
#'   the variables alone, and is sparse.
#' @seealso [hubs()], [`plot(type = "graph")`][plot.change_path] to draw it, and
#'   [write_graph_file()] for Cytoscape, Gephi and others.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y)
#' graph <- as_igraph(path, lambda2 = path$lambda2[15])
#' graph
#' igraph::components(graph)$csize
#' as.matrix(path, lambda2 = path$lambda2[15])[1:4, 1:4]
as_igraph <- function(object, lambda2 = NULL, ...) {
    UseMethod("as_igraph")
}

#' @rdname as_igraph
#' @export
as_igraph.default <- function(object, lambda2 = NULL,
                              vertices = c("all", "changed"), ...) {
    vertices <- check_choice(vertices, "vertices", c("all", "changed"))
    graph <- change_graph(object, lambda2, ...)
    points <- vertex_changes(graph)
    edges <- graph$edges
    made <- igraph::graph_from_data_frame(
        data.frame(
            from = graph$variables[edges$from], to = graph$variables[edges$to],
            weight = abs(edges$weight), sign = edges$sign,
            change = edges$weight, enters = edges$enters
        ),
        directed = FALSE,
        vertices = data.frame(name = points$variable, degree = points$degree,
                              strength = points$strength)
    )
    if (vertices == "all") return(made)
    igraph::induced_subgraph(made, which(points$degree > 0L))
}

# ---- matrix ----------------------------------------------------------------

#' @rdname as_igraph
#' @export
as.matrix.change_path <- function(x, lambda2 = NULL, ...) {
    graph <- change_graph(x, lambda2, ...)
    variables <- graph$variables
    d <- length(variables)
    check_memory(8 * d^2, paste("A matrix of", count_of(d, "variable")),
                 hint = "`coef()` gives a sparse one.")
    edges <- graph$edges
    made <- matrix(0, d, d, dimnames = list(variables, variables))
    made[cbind(edges$from, edges$to)] <- edges$weight
    made[cbind(edges$to, edges$from)] <- edges$weight
    made
}

#' @rdname as_igraph
#' @export
as.matrix.kliep_select <- as.matrix.change_path

#' @rdname as_igraph
#' @export
as.matrix.kliep_test <- as.matrix.change_path

#' @rdname as_igraph
#' @export
as.matrix.kliep_stability <- as.matrix.change_path

#' @rdname as_igraph
#' @export
as.matrix.kliep_debias <- as.matrix.change_path

#' @rdname as_igraph
#' @export
as.matrix.kliep_infer <- as.matrix.change_path

#' @rdname as_igraph
#' @export
as.matrix.kliep_windows <- as.matrix.change_path

# ---- hubs ------------------------------------------------------------------

#' The variables around which most has changed
#'
#' Ranks the variables by how much of their neighbourhood has changed.
#'
#' @inheritParams as_igraph
#' @param object A path, a fit, a selection, a test, a stability selection, an
#'   inference, windows or a drift.
#' @param by What to rank by: `"degree"`, the number of changed edges (ties by
#'   strength), or `"strength"`, the sum of their absolute weights.
#' @param all List the variables without a changed edge, too? Only for
#'   [kliep_infer()] and [kliep_auto()], which test them.
#' @return A data frame with one row for each variable that has a changed edge,
#'   first those with most: `variable`; `degree`, the number of its edges that
#'   have changed; `strength`, the sum of their absolute weights; `share`, how
#'   much of the strength of all changed edges that is (an edge belongs to both
#'   its ends, so that all shares add up to two); and `strongest`, the
#'   neighbour with which the change is largest. For [kliep_infer()] also
#'   `p_value`, whether anything about the variable has changed, which combines
#'   those of all its edges by Cauchy's distribution (see [kliep_groups()]), and
#'   `q_value`, adjusted by the method of Benjamini and Hochberg.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' chosen <- kliep_select(pair$x, pair$y, nlambda = 15)
#' head(hubs(chosen))
hubs <- function(object, lambda2 = NULL, ...) {
    UseMethod("hubs")
}

#' @rdname hubs
#' @export
hubs.default <- function(object, lambda2 = NULL, by = c("degree", "strength"),
                         ...) {
    by <- check_choice(by, "by", c("degree", "strength"))
    rank_hubs(change_graph(object, lambda2, ...), by)
}

# One row for each variable that has an edge.
rank_hubs <- function(graph, by = "degree") {
    found <- vertex_changes(graph)
    total <- sum(abs(graph$edges$weight))
    found$share <- if (total > 0) found$strength / total else 0 * found$strength
    found <- found[found$degree > 0L, c("variable", "degree", "strength",
                                        "share", "strongest")]
    other <- setdiff(c("degree", "strength"), by)
    found <- found[order(-found[[by]], -found[[other]]), ]
    rownames(found) <- NULL
    found
}

#' @rdname hubs
#' @export
hubs.kliep_infer <- function(object, lambda2 = NULL,
                             by = c("degree", "strength"), all = FALSE, ...) {
    all <- check_flag(all, "all")
    found <- hubs.default(object, lambda2, by, ...)
    tests <- variable_p(object)
    at <- match(found$variable, tests$variable)
    found <- cbind(found, tests[at, c("p_value", "q_value")])
    rownames(found) <- NULL
    if (!all) return(found)
    rest <- tests[!tests$variable %in% found$variable, ]
    rest <- rest[order(rest$p_value), ]
    if (nrow(rest) == 0L) return(found)
    rbind(found, data.frame(variable = rest$variable, degree = 0L, strength = 0,
                            share = 0, strongest = NA,
                            rest[c("p_value", "q_value")], row.names = NULL))
}
