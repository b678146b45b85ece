# Has anything changed at all? The global test of kliep_test(), on the shuffles
# that its selection is repeated on.

# Both samples as the tests of edges see them, and as rows of them change
# places. NULL where the features have other moments than correlations, or
# location and scale are compared as well: then the score of the selection is
# what is tested.
edge_samples <- function(ready, align) {
    problem <- ready$problems[[1L]]
    samples <- ready$samples[[problem$form]]
    if (!all_correlations(ready$problems) || length(samples$variables) < 2L ||
        !fits_memory(score_bytes(samples))) {
        return(NULL)
    }
    features <- problem$spec$features
    if (!align) return(feature_samples(samples, features, "pooled"))
    ready <- feature_samples(samples, features)
    align_samples(ready$x, ready$y)
}

# The largest test of all edges and the sum of their squares, in the data and
# in every shuffle, as kliep_infer() has them. NULL where samples, as they are
# or shuffled, are too small for variances.
edge_null <- function(both, units, shuffles, threads) {
    if (is.null(both)) return(NULL)
    rows <- shuffled_rows(units, shuffles)
    sizes <- c(colSums(rows > 0L), nrow(both$x))
    if (min(sizes, length(units$unit) - sizes) < 10L) return(NULL)
    rust_shuffle_null(both$x, both$y, rows, threads, units = units$added)
}

# Whether all candidates see the same correlations, and nothing else.
all_correlations <- function(problems) {
    features <- lapply(problems, function(problem) problem$spec$features)
    within <- vapply(problems, function(problem) {
        problem$spec$standardize == "within"
    }, NA)
    all(within) && length(unique(features)) == 1L &&
        has_closed_form(features[[1L]])
}

# Without the shuffles that failed.
keep_shuffles <- function(null, done) {
    if (is.null(null)) return(NULL)
    of <- c("largest", "squares")
    c(lapply(null[of], `[`, done), null["observed"])
}

# `test` names the test that was used.
global_test <- function(observed, shuffled, null) {
    if (!is.null(null)) {
        return(list(test = "edges", p_value = global_p_value(null),
                    score = observed$score, largest = null$observed[1L],
                    squares = null$observed[2L]))
    }
    scores <- vapply(shuffled, `[[`, 1, "score")
    list(test = "score", p_value = p_value_of(observed$score, scores),
         score = observed$score, largest = NA_real_, squares = NA_real_)
}

p_value_of <- function(observed, shuffled) {
    (1 + sum(shuffled >= observed)) / (1 + length(shuffled))
}

format_global_test <- function(x) {
    global <- x$global
    number <- function(value) format(value, digits = 2L)
    of <- if (global$test == "edges") "largest" else "score"
    paste0("p = ", number(global$p_value), " (",
           c(largest = "largest |z| ", score = "score ")[[of]],
           number(global[[of]]), "; shuffles ",
           format_range(x$shuffles[[of]]), ")")
}

# One row for each shuffle and statistic, and the statistics of the data.
global_statistics <- function(object) {
    of <- if (object$global$test == "edges") {
        c(largest = "largest |z| of all edges",
          squares = "sum of squares of all z")
    } else {
        c(score = score_name(object$selection))
    }
    list(
        shuffles = data.frame(
            statistic = rep(unname(of), each = nrow(object$shuffles)),
            value = unlist(object$shuffles[names(of)], use.names = FALSE)
        ),
        data = data.frame(statistic = unname(of),
                          value = unlist(object$global[names(of)],
                                         use.names = FALSE))
    )
}
