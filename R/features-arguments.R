# Feature specifications as arguments, and what they are made from.

check_features <- function(features) {
    if (inherits(features, "kliep_features")) return(features)
    hint <- if (is.function(features))
        "Call the function, for instance `feat_gaussian()`." else
        "Make one with a `feat_*()` function, for instance `feat_gaussian()`."
    stop_kliep(
        "features",
        paste0("`features` must be a feature specification: got ",
               if (is.function(features)) "a function" else describe(features),
               "."),
        hint = hint
    )
}

check_function <- function(value, arg) {
    if (is.function(value)) return(value)
    stop_kliep("features", paste0("`", arg, "` must be a function: got ",
                                  describe(value), "."))
}

check_cliques <- function(cliques) {
    if (!is.list(cliques) || length(cliques) == 0L) {
        stop_kliep(
            "features",
            paste0("`cliques` must be a list of sets of variables, at least ",
                   "one: got ", describe(cliques), "."),
            hint = "For instance `list(c(\"a\", \"b\", \"c\"))`."
        )
    }
    is_clique <- vapply(cliques, is_variable_set, NA)
    if (all(is_clique)) return(unname(cliques))
    bad <- which(!is_clique)[1L]
    stop_kliep(
        "features",
        paste0("`cliques` must hold names or column numbers, each once: ",
               "element ", bad, " is ", describe(cliques[[bad]]), ".")
    )
}
