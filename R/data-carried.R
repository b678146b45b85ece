# Samples that travel with a result, so that the next function can continue on
# the same data: where they are found, how they are kept, and what is said
# where they were left out.

# The samples in the arguments of a function, or in a result given as `x`; what
# is left of `dots` as `rest`.
take_samples <- function(x, y, dots) {
    if (missing(y)) y <- NULL
    if (missing(x) || !is_result(x)) return(find_samples(x, y, dots))
    about <- intersect(names(dots), sample_arguments())
    if (!is.null(y) || length(about) > 0L) {
        stop_kliep(
            "argument",
            paste0("A result brings its samples with it: got ",
                   name_some(c(if (!is.null(y)) "y", about)), " beside it."),
            hint = paste("For other samples give these first, and the result",
                         "as `spec`.")
        )
    }
    list(result = x, samples = samples_of(x), conditions = x$conditions,
         rest = dots)
}

is_result <- function(object) {
    inherits(object, c("change_path", "kliep_select", "kliep_test",
                       "kliep_stability", "kliep_debias", "kliep_infer"))
}

# Both samples as they were fitted: matrices without names, their design, the
# names of the variables, and the coding of two-valued columns.
samples_of <- function(object) {
    path <- path_of(object)
    if (is.null(path$samples)) {
        stop_kliep(
            "missing_sample",
            "This result does not carry its samples.",
            hint = paste("Give both samples first, and the result as `spec`;",
                         "`kliep_control(keep_samples = TRUE)` keeps them.")
        )
    }
    c(path$samples, path[c("variables", "coding")])
}

# The samples in the form in which they are fitted.
as_samples <- function(found, features, least = 2L) {
    samples <- found$samples
    if (is.null(samples)) {
        samples <- check_samples(found$x, found$y, features, least,
                                 identical(found$na, "pairwise"))
        check_pairwise(samples, features)
        kept <- intersect(c("design", "imputed"), names(found))
        return(c(samples, found[kept]))
    }
    stop_mixed_codes(samples$coding, features)
    coded <- is_mixed_coding(samples$coding) || !is_mixed(features) &&
        (!is.null(samples$coding) || !identical(features$family, "ising"))
    check_pairwise(samples, features)
    if (coded && min(observations_of(samples)) >= least) return(samples)
    named <- lapply(samples[c("x", "y")], function(sample) {
        colnames(sample) <- samples$variables
        sample
    })
    c(check_samples(named$x, named$y, features, least, has_gaps(samples)),
      samples[intersect(c("design", "imputed"), names(samples))])
}

# Other features have no use for columns that hold numbers of levels.
stop_mixed_codes <- function(coding, features) {
    if (!is_mixed_coding(coding) || is_mixed(features)) return(invisible())
    stop_kliep(
        "features",
        paste("This result carries columns of several types, which other",
              "features cannot use."),
        hint = "Give the samples themselves, or use `feat_mixed()`."
    )
}

# A path that carries its samples, unless its control says otherwise, and knows
# what its conditions are called.
with_samples <- function(path, samples, conditions) {
    if (path$spec$control$keep_samples) {
        kept <- intersect(c("x", "y", "design", "imputed"), names(samples))
        path$samples <- samples[kept]
    }
    with_conditions(path, list(conditions = conditions))
}
