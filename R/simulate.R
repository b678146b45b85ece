# Pairs of samples whose change is known.

# The only place the class is set. `networks` holds the two parameter matrices
# in the family's own terms, `truth` the changed edges.
new_network_pair <- function(family, x, y, truth, networks, settings,
                             holdout = NULL) {
    structure(
        class = "network_pair",
        list(family = family, x = x, y = y, truth = truth,
             networks = networks, settings = settings, holdout = holdout)
    )
}

#' A pair of Gaussian samples with a known change
#'
#' The construction of Liu et al. (2014). The precision matrix of P has `diag`
#' on its diagonal and `edge` on a random share `density` of the pairs of
#' variables. That of Q, which `y` is drawn from, is the same but for
#' `n_changed` of these edges, picked at random, to which `change` is added.
#' The default turns +0.2 into -0.2. The paper prints a change of -0.1, which
#' at its sample sizes no method can see.
#'
#' In the terms of [kliep_path()] with Gaussian features, the change of an edge
#' is \eqn{\theta_{uv} = -(\Theta^P - \Theta^Q)_{uv}}{theta_uv =
#' -(Theta_P - Theta_Q)_uv}, which is `change` itself.
#'
#' @param d The number of variables.
#' @param n The number of observations: one number for both samples, or
#'   `c(x = , y = )`.
#' @param density The share of pairs that are edges of P, between 0 and 1.
#' @param edge,diag The values of the edges and of the diagonal.
#' @param n_changed How many edges change, at most as many as P has.
#' @param change What is added to the changed edges in Q.
#' @param n_holdout Further observations of each sample, for validation.
#' @return A `network_pair`: a list with the samples `x` and `y`, the changed
#'   edges `truth` (a data frame `from`, `to`, `change`), the two precision
#'   matrices `networks$x` and `networks$y` (sparse), `settings`, and with
#'   `n_holdout > 0` the further samples `holdout$x` and `holdout$y`. The
#'   random numbers follow [set.seed()].
#' @inherit kliep_path references
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = c(x = 100, y = 200), n_changed = 3)
#' pair
#' pair$truth
sim_gaussian <- function(d = 40, n = 100, density = 0.25, edge = 0.2,
                         diag = 2, n_changed = 15, change = -0.4,
                         n_holdout = 0) {
    d <- check_whole(d, "d", "size", least = 2)
    n <- check_sample_sizes(n)
    n_holdout <- check_whole(n_holdout, "n_holdout", least = 0)
    density <- check_density(density)
    edge <- check_number(edge, "edge")
    diag <- check_number(diag, "diag")
    change <- check_number(change, "change")
    drawn <- draw_edges(d, density, n_changed)
    networks <- list(
        x = precision_matrix(drawn$edges, edge, diag, d),
        y = precision_matrix(
            drawn$edges, edge + change * drawn$changed, diag, d
        )
    )
    check_positive_definite(networks$x, "x")
    check_positive_definite(networks$y, "y")
    new_network_pair(
        family = "gaussian",
        x = draw_gaussian(networks$x, n[["x"]]),
        y = draw_gaussian(networks$y, n[["y"]]),
        truth = truth_table(drawn, change, colnames(networks$x)),
        networks = networks,
        settings = list(d = d, n = n, density = density, edge = edge,
                        diag = diag, n_changed = n_changed, change = change,
                        n_holdout = n_holdout),
        holdout = if (n_holdout > 0) {
            list(x = draw_gaussian(networks$x, n_holdout),
                 y = draw_gaussian(networks$y, n_holdout))
        }
    )
}

# Edges of P, in column order, and which of them change.
draw_edges <- function(d, density, n_changed) {
    pairs <- d * (d - 1) / 2
    n_edges <- round(density * pairs)
    n_changed <- check_whole(n_changed, "n_changed", least = 0)
    if (n_changed > n_edges) {
        stop_kliep(
            "argument",
            paste0("`n_changed` must not exceed the number of edges: got ",
                   n_changed, " changes and ", count_of(n_edges, "edge"), "."),
            hint = "Lower `n_changed` or raise `density` or `d`."
        )
    }
    index <- sort(sample.int(pairs, n_edges))
    changed <- seq_len(n_edges) %in% sample.int(n_edges, n_changed)
    list(edges = pair_from_index(index), changed = changed)
}

# Pairs numbered down the columns of the strict upper triangle: (1,2), (1,3),
# (2,3), (1,4), ...
pair_from_index <- function(index) {
    to <- ceiling((1 + sqrt(1 + 8 * index)) / 2)
    data.frame(from = index - (to - 1) * (to - 2) / 2, to = to)
}

precision_matrix <- function(edges, edge, diag, d) {
    variables <- paste0("V", seq_len(d))
    Matrix::sparseMatrix(
        i = c(seq_len(d), edges$from), j = c(seq_len(d), edges$to),
        x = c(rep(diag, d), rep_len(edge, nrow(edges))), dims = c(d, d),
        symmetric = TRUE, dimnames = list(variables, variables)
    )
}

truth_table <- function(drawn, change, variables) {
    changed <- drawn$edges[drawn$changed, ]
    data.frame(from = variables[changed$from], to = variables[changed$to],
               change = rep(change, nrow(changed)))
}

draw_gaussian <- function(precision, n) {
    # One number from R's generator seeds the stream in Rust.
    seed <- floor(stats::runif(1L) * 2^52)
    values <- rust_draw_gaussian(unname(as.matrix(precision)), as.integer(n),
                                 seed)
    colnames(values) <- colnames(precision)
    values
}

check_positive_definite <- function(precision, which) {
    precision <- as.matrix(precision)
    root <- tryCatch(chol(precision), error = function(condition) NULL)
    if (!is.null(root)) return(invisible())
    smallest <- min(eigen(precision, symmetric = TRUE,
                          only.values = TRUE)$values)
    stop_kliep(
        "positive_definite",
        paste0("The precision matrix of `", which, "` is not positive ",
               "definite: its smallest eigenvalue is ",
               format(smallest, digits = 3L), "."),
        hint = paste("Lower `density`, `d` or the size of `edge` and",
                     "`change`, or raise `diag`.")
    )
}

check_sample_sizes <- function(n) {
    if (length(n) == 1L) n <- c(x = n[[1L]], y = n[[1L]])
    if (length(n) != 2L || !setequal(names(n), c("x", "y"))) {
        stop_kliep("size", paste0("`n` must be one number or `c(x = , y = )`: ",
                                  "got ", length(n), " values."))
    }
    c(x = check_whole(n[["x"]], "n", "size"),
      y = check_whole(n[["y"]], "n", "size"))
}

check_density <- function(density) {
    density <- check_number(density, "density")
    if (density >= 0 && density <= 1) return(density)
    stop_kliep("argument", paste0("`density` must be between 0 and 1: got ",
                                  format(density), "."))
}

#' @export
format.network_pair <- function(x, ...) {
    settings <- x$settings
    n_edges <- (Matrix::nnzero(x$networks$x) - settings$d) / 2
    c(
        paste0("<network_pair> ", x$family),
        paste0("  samples   x: ", nrow(x$x), ", y: ", nrow(x$y),
               " observations of ", count_of(ncol(x$x), "variable"),
               if (!is.null(x$holdout))
                   paste0(" (and ", nrow(x$holdout$x), " each held out)")),
        paste0("  network   ", count_of(n_edges, "edge"), ", of which ",
               nrow(x$truth), " changed"),
        format_settings_list(settings)
    )
}

format_settings_list <- function(settings) {
    values <- vapply(settings, function(value) {
        paste(format(unique(value)), collapse = "/")
    }, "")
    text <- paste0(names(settings), "=", values, collapse = ", ")
    strwrap(text, 78L, initial = "  settings  ", prefix = strrep(" ", 12L))
}

#' @export
print.network_pair <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}
