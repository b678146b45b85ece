# What a factor of the network looks like: the functions of its variables in
# which the log density ratio is linear. The families are in
# features-families.R.

# The only place the class is set. `kind` says how the features are made:
# "products" and "rbf" in Rust, "custom", "cliques" and "mixed" in R;
# `standardize` is what the family wants unless the user says otherwise.
new_features <- function(kind, family, settings = list(),
                         standardize = "within", ...) {
    structure(
        class = "kliep_features",
        list(kind = kind, family = family, settings = settings,
             standardize = standardize, ...)
    )
}

# Evaluated by R functions beforehand, and given to Rust as a table.
is_table <- function(features) {
    features$kind %in% c("custom", "cliques", "mixed")
}

# Of orthonormal polynomials, not of powers.
is_orthonormal <- function(features) !is.null(features$weights)

# Of normal scores, not of the values themselves.
is_ranked <- function(features) isTRUE(features$ranks)

#' @export
format.kliep_features <- function(x, ...) {
    c(paste0("<kliep_features> ", x$family),
      switch(x$kind, products = format_products(x), rbf = format_rbf(x),
             custom = format_custom(x), cliques = format_cliques(x),
             mixed = format_mixed(x)))
}

format_products <- function(x) {
    symbol <- if (x$power == 1 && !is_ranked(x)) "x" else "s"
    text <- if (is_orthonormal(x)) polynomial_text else term_text
    pair <- apply(x$pair, 2L, text, names = paste0(symbol, c("_u", "_v")))
    single <- vapply(x$single, text, "", names = paste0(symbol, "_u"))
    if (length(single) == 0L) single <- "none"
    c(
        paste0("  edge (u, v)    ", paste(pair, collapse = ", ")),
        paste0("  variable u     ", paste(single, collapse = ", ")),
        if (x$power != 1)
            paste0("  with           s = sign(x) |x|^", format(x$power)),
        if (is_ranked(x)) "  with           s = normal score of the rank of x",
        if (is_orthonormal(x))
            paste("  with           p_k orthonormal polynomials of each",
                  "variable, weighted"),
        if (x$family == "ising") "  with           x = -1 or +1"
    )
}

format_rbf <- function(x) {
    c(paste0("  edge (u, v)    exp(-(x_u - x_v)^2 / (2 sigma^2)), sigma = ",
             format(x$sigma)),
      "  variable u     none")
}

format_custom <- function(x) {
    c(paste0("  edge (u, v)    ", function_text(x$functions$pair)),
      paste0("  variable u     ", function_text(x$functions$single)))
}

format_cliques <- function(x) {
    sizes <- table(lengths(x$cliques))
    shown <- paste0(sizes, " of ", names(sizes), collapse = ", ")
    c(paste0("  sets           ", count_of(length(x$cliques), "set"),
             " of variables (", shown, ")"),
      paste0("  features       ", if (x$default)
          "the product of the variables" else function_text(x$fun)))
}

# The body of a short function, or its arguments.
function_text <- function(fun) {
    if (is.null(fun)) return("none")
    text <- paste(trimws(deparse(body(fun))), collapse = " ")
    arguments <- paste0("(", paste(names(formals(fun)), collapse = ", "), ")")
    if (is.null(body(fun)) || nchar(text) > 50L) text <- "..."
    paste0("f", arguments, " = ", text)
}

#' @export
print.kliep_features <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}

# The family and what was set about it, on one line.
name_features <- function(features) {
    set <- Filter(function(value) !is.null(value) && !isFALSE(value),
                  features$settings)
    family <- paste0(features$family,
                     if (is_ranked(features)) " (normal scores)")
    paste(c(family, sprintf("%s = %s", names(set), set)), collapse = ", ")
}

# One term in words: exponents c(2, 1) of A and B give "A^2 B".
term_text <- function(exponents, names) {
    factors <- paste0(names, power_text(exponents))
    paste(factors[exponents > 0L], collapse = " ")
}

# The same of polynomials: "p_2(A) p_1(B)".
polynomial_text <- function(exponents, names) {
    factors <- paste0("p_", exponents, "(", names, ")")
    paste(factors[exponents > 0L], collapse = " ")
}

# The number of coefficients of an edge and of a variable alone. Those of
# custom functions are known once they have been evaluated.
edge_size <- function(features) {
    switch(features$kind, products = ncol(features$pair), rbf = 1L,
           custom = length(features$shapes[["2"]]))
}

single_size <- function(features) {
    switch(features$kind, products = length(features$single), rbf = 0L,
           custom = length(features$shapes[["1"]]))
}

# Edges, and variables that have features of their own.
n_factors_of <- function(features, d) {
    if (features$kind == "cliques") return(length(features$cliques))
    singles <- switch(features$kind, products = length(features$single),
                      rbf = 0L, mixed = 1L,
                      custom = !is.null(features$functions$single))
    d * (d - 1) / 2 + if (singles > 0L) d else 0
}

# The part of a specification that Rust reads. Its pairs are (u, v) with u > v,
# so the exponent of `to` comes first there. A fit makes its own polynomials,
# and what is evaluated later has the `recurrence` that the fit returned.
rust_features <- function(features, recurrence = NULL) {
    switch(
        features$kind,
        products = list(kind = "products", power = as.double(features$power),
                        pair = features$pair[2:1, , drop = FALSE],
                        single = features$single, weights = features$weights,
                        recurrence = recurrence),
        rbf = list(kind = "rbf", sigma = features$sigma)
    )
}

# Names of the coefficients in rows (from, to, term), such as "A*B" and "A^2".
term_labels <- function(features, variables, from, to, term) {
    switch(
        features$kind,
        products = product_labels(features, variables, from, to, term),
        rbf = sprintf("rbf(%s, %s)", variables[from], variables[to]),
        custom = ifelse(
            from == to,
            sprintf("%s(%s)", features$shapes[["1"]][term], variables[from]),
            sprintf("%s(%s, %s)", features$shapes[["2"]][term],
                    variables[from], variables[to])
        ),
        cliques = mapply(function(set, term) {
            features$shapes[[as.character(length(set))]][term]
        }, features$sets[from], term),
        mixed = mixed_labels(features, variables, from, to, term)
    )
}

product_labels <- function(features, variables, from, to, term) {
    name <- if (is_orthonormal(features)) with_polynomial else with_power
    is_edge <- from != to
    labels <- character(length(from))
    edge <- which(is_edge)
    for (k in unique(term[edge])) {
        rows <- edge[term[edge] == k]
        labels[rows] <- paste0(
            name(variables[from[rows]], features$pair[1L, k]),
            if (all(features$pair[, k] > 0L)) "*",
            name(variables[to[rows]], features$pair[2L, k])
        )
    }
    for (k in unique(term[!is_edge])) {
        rows <- which(!is_edge & term == k)
        labels[rows] <- name(variables[from[rows]], features$single[k])
    }
    labels
}

with_power <- function(names, exponent) {
    if (exponent == 0L) return("")
    paste0(names, power_text(exponent))
}

with_polynomial <- function(names, exponent) {
    if (exponent == 0L) return("")
    paste0("p", exponent, "(", names, ")")
}

power_text <- function(exponent) {
    ifelse(exponent == 1L, "", paste0("^", exponent))
}
