# What stands behind an edge between columns with several values: the change of
# every cell of their table.

#' The change of an edge, level by level
#'
#' Shows for one edge of a result with [feat_mixed()] how the log-ratio of the
#' two densities depends on the values of its two columns: one row for each
#' pair of levels.
#'
#' With \eqn{B_u} the values of \eqn{b_u} at the levels of a column, the cells
#' are \eqn{B_u \Theta_{uv} B_v^\top}{B_u Theta_uv B_v'}: how much more likely a
#' pair of levels is in `x` than in `y`, on the log scale, beyond the effects of
#' each column alone. Weighted by the shares of levels, rows and columns sum to
#' zero, and the root mean square over all cells is the weight of the edge in
#' [edges()]. A numeric column has one cell, `+1`: the change for one unit of
#' its normal score. A count has `+1`, one standard deviation of its transform,
#' and `zero` where zero is a state of its own.
#'
#' @param object A result of [kliep_path()], [kliep_change()], [kliep_select()],
#'   [kliep_infer()] or [kliep_auto()] with [feat_mixed()].
#' @param from,to The two columns, by name or number, in either order.
#' @param lambda2 One value on the path, if `object` is a path.
#' @return A data frame with one row for each pair of levels: two columns named
#'   after the variables with their levels, `change`, and `n_x` and `n_y`, the
#'   observations of both levels in each sample; `NA` for columns without levels
#'   and for results that do not carry their samples.
#' @seealso [feat_mixed()]
#' @export
#' @examples
#' set.seed(1)
#' n <- 400
#' draw <- function(slope) {
#'     smoker <- factor(sample(c("no", "former", "yes"), n, TRUE))
#'     data.frame(smoker = smoker, lung = rnorm(n) - slope * (smoker == "yes"),
#'                age = rnorm(n))
#' }
#' found <- kliep_auto(draw(1), draw(0))
#' edges(found)
#' edge_cells(found, "smoker", "lung")
edge_cells <- function(object, from, to, lambda2 = NULL) {
    features <- cells_features(object)
    path <- path_of(object)
    pair <- check_pairs(data.frame(from = check_end(from, "from"),
                                   to = check_end(to, "to")),
                        path$variables, "the result does")
    own <- unname(features$columns[c(pair$from, pair$to)])
    k <- basis_sizes(own)
    theta <- matrix(0, k[1L], k[2L])
    found <- edge_coefficients(object, pair, lambda2)
    theta[found$term] <- found$value
    maps <- lapply(own, level_map)
    cells <- maps[[1L]] %*% theta %*% t(maps[[2L]])
    table <- data.frame(
        rep(rownames(maps[[1L]]), ncol(cells)),
        rep(rownames(maps[[2L]]), each = nrow(cells)),
        change = as.vector(cells)
    )
    names(table)[1:2] <- path$variables[c(pair$from, pair$to)]
    counted <- cell_counts(path$samples, own, pair)
    table$n_x <- counted$x
    table$n_y <- counted$y
    table
}

# One end of an edge.
check_end <- function(value, arg) {
    one <- (is.character(value) || is.numeric(value)) && length(value) == 1L
    if (one && !is.na(value)) return(value)
    stop_kliep("argument", paste0("`", arg, "` must be the name or the number ",
                                  "of one column: got ", describe(value), "."))
}

cells_features <- function(object) {
    features <- if (is_result(object)) path_of(object)$spec$features
    if (!is.null(features$columns)) return(features)
    stop_kliep(
        "type",
        paste0("`edge_cells()` needs a result with `feat_mixed()`: got ",
               if (is.null(features)) describe(object) else
                   paste("one with features", features$family), "."),
        hint = "Other features have one number for each edge: `edges()`."
    )
}

# The coefficients of one edge that are not zero, with their numbers.
edge_coefficients <- function(object, pair, lambda2) {
    if (inherits(object, "kliep_infer")) {
        refuse_lambda2(lambda2, "spec", "An inference")
        rows <- object$coefficients
    } else {
        if (inherits(object, "kliep_test")) object <- object$selection
        part <- if (inherits(object, "kliep_select"))
            chosen_part(object, lambda2) else path_of(object)
        rows <- part$coefficients
        rows <- rows[rows$step == find_step(part, lambda2), ]
    }
    rows[rows$from == pair$from & rows$to == pair$to, ]
}

# The values of the basis of a column at its levels, or at what stands for them.
level_map <- function(own) {
    if (!is.null(own$index)) {
        return(structure(own$basis, dimnames = list(own$labels, NULL)))
    }
    if (own$type == "numeric" || is.null(own$zero)) {
        return(structure(diag(1), dimnames = list("+1", NULL)))
    }
    rbind(`+1` = c(1, -own$zero$slope / own$zero$spread),
          zero = c(0, 1 / own$zero$spread))
}

# Observations in each cell, where both columns have levels.
cell_counts <- function(samples, own, pair) {
    known <- !is.null(samples) && !is.null(own[[1L]]$index) &&
        !is.null(own[[2L]]$index)
    if (!known) return(list(x = NA_integer_, y = NA_integer_))
    lapply(samples[c("x", "y")], function(sample) {
        at <- lapply(1:2, function(k) {
            factor(sample[, pair[[k]]], seq_along(own[[k]]$labels))
        })
        as.vector(table(at[[1L]], at[[2L]]))
    })
}
