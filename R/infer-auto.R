# From two samples to the edges that changed, without a choice to make: look at
# the data, take the features that suit them, test every edge, and say why.

#' Find the edges that changed, in one call
#'
#' Finds the edges that changed between two samples, with a false discovery rate
#' of at most `fdr`. It looks at the samples, chooses features that suit them,
#' tests every edge, and gives its reasons. Where no change is found, it says
#' so.
#'
#' @section What is chosen:
#' * Data frames with columns that are not numeric, or with both two-valued and
#'   other columns, get [feat_mixed()], which has features for each type of
#'   column.
#' * Columns that all have two values get [feat_ising()].
#' * Numeric columns get [feat_nonparanormal()], products of normal scores.
#'
#' Normal scores replace the values by their ranks within each sample, so that
#' heavy tails, outliers, and other scales or monotone transforms of single
#' variables, the logarithm of counts among them, make little difference. Equal
#' values share their mean rank: all zeros have the same rank, below all other
#' values.
#'
#' All of these detect changes of pairwise association. For numeric columns the
#' column `q_beyond` of `$estimates` says which edges change in a way that
#' correlations do not show, such as two variables that are large together
#' whatever their signs; a sentence says how many there are.
#'
#' @section What is tested:
#' All edges are tested as by [kliep_infer()], whose help page has the method.
#' `vignette("calibration", package = "kliepnet")` shows how often a reported
#' edge is false, over sizes, networks and margins.
#'
#' @inheritParams kliep_infer
#' @param control Accuracy, iterations and threads: [kliep_control()].
#' @return A [kliep_infer()] with all its methods, of class `kliep_auto`. Its
#'   part `reasons` has what was seen, chosen and found, one sentence each;
#'   `print()` shows them. `seen` has the facts behind them.
#' @seealso [kliep_infer()] to choose the features, [kliep_select()] to choose
#'   among candidates by likelihood.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 500, n_changed = 4)
#' found <- kliep_auto(pair$x, pair$y, fdr = 0.1)
#' found
#' edges(found)
kliep_auto <- function(x, y = NULL, fdr = 0.1, level = 0.95, n_perm = 49,
                       control = kliep_control(), progress = interactive(),
                       ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    stop_chosen_features(found$rest)
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "kliep_auto")
    how <- check_inference(fdr, level, n_perm, progress)
    seen <- look_at_samples(found)
    spec <- kliep_spec(suitable_features(list(seen)), control = control)
    new_auto(test_all_edges(found, spec, how, call), seen)
}

# The features for all comparisons of which these are the facts.
suitable_features <- function(seen) {
    of_all <- function(what) vapply(seen, `[[`, NA, what)
    if (any(of_all("mixed"))) return(feat_mixed())
    if (all(of_all("two_valued"))) feat_ising() else feat_nonparanormal()
}

stop_chosen_features <- function(given) {
    chosen <- intersect(c("features", "spec"), names(given))
    if (length(chosen) == 0L) return(invisible())
    stop_kliep(
        "dots",
        paste0("`kliep_auto()` chooses the features itself: got `", chosen[1L],
               "`."),
        hint = paste("`kliep_infer()` tests edges by features of your choice,",
                     "`kliep_select()` chooses among several by likelihood.")
    )
}

# The only place the class is set.
new_auto <- function(result, seen) {
    result$seen <- seen
    result$reasons <- c(say_seen(seen), say_features(seen), say_chance(result),
                        say_no_beyond(result))
    class(result) <- c("kliep_auto", class(result))
    result
}

# ---- what the data look like -----------------------------------------------

# Tails are heavy above this excess kurtosis: a Laplace distribution has 3.
heavy_kurtosis <- 3

# Facts that features are chosen by.
look_at_samples <- function(found) {
    given <- if (is.null(found$samples)) found else found$samples
    columns <- lapply(given[c("x", "y")], two_valued_columns)
    two_valued <- all(vapply(columns, all_two_valued, NA)) &&
        length(columns$x) > 0L
    mixed <- !two_valued && are_mixed(found)
    types <- NULL
    if (mixed) {
        samples <- look_quietly(found, feat_mixed())
        types <- vapply(samples$coding, `[[`, "", "type")
        kurtosis <- NA_real_
        counts <- FALSE
        zeros <- 0
    } else if (two_valued) {
        samples <- look_quietly(found, feat_ising())
        kurtosis <- NA_real_
        counts <- FALSE
        zeros <- 0
    } else {
        samples <- look_quietly(found, feat_gaussian())
        kurtosis <- stats::median(c(excess_kurtosis(samples$x),
                                    excess_kurtosis(samples$y)))
        counts <- is_counts(samples$x) && is_counts(samples$y)
        zeros <- mean(rbind(samples$x, samples$y) == 0, na.rm = TRUE)
    }
    n <- c(x = nrow(samples$x), y = nrow(samples$y))
    d <- length(samples$variables)
    list(
        n = n, d = d, two_valued = two_valued, mixed = mixed, types = types,
        counts = counts, zeros = zeros, kurtosis = kurtosis,
        heavy = !is.na(kurtosis) && kurtosis > heavy_kurtosis
    )
}

# Whether a data frame, or a result, has columns of several types: some that are
# not numeric, or some of two values beside others.
are_mixed <- function(found) {
    if (!is.null(found$samples)) return(is_mixed_coding(found$samples$coding))
    if (!is.data.frame(found$x) || !is.data.frame(found$y)) return(FALSE)
    columns <- two_valued_columns(found$x)
    numbers <- vapply(columns, is.numeric, NA)
    two <- vapply(columns, function(column) all_two_valued(list(column)), NA)
    !all(numbers) || any(two)
}

# The tests repeat this, and give the messages.
look_quietly <- function(found, features) {
    suppressMessages(as_samples(found, features),
                     classes = c("kliep_message_levels",
                                 "kliep_message_transposed"))
}

# Whether no column has more than two values, in one sample.
all_two_valued <- function(columns) {
    # Mostly the first column says no.
    for (column in columns) {
        if (length(unique(column[!is.na(column)])) > 2L) return(FALSE)
    }
    !is.null(columns)
}

# Of every column; NaN where it does not vary.
excess_kurtosis <- function(values) {
    means <- function(values) colMeans(values, na.rm = TRUE)
    centred <- sweep(values, 2L, means(values))
    kurtosis <- means(centred^4) / means(centred^2)^2 - 3
    kurtosis[is.finite(kurtosis)]
}

is_counts <- function(values) {
    all(values >= 0, na.rm = TRUE) &&
        all(values == round(values), na.rm = TRUE)
}

# ---- reasons ---------------------------------------------------------------

say_seen <- function(seen) {
    values <- if (seen$mixed) {
        counted <- table(gsub("_", "-", seen$types))
        paste0(counted, ifelse(counted == 1L, " is ", " are "),
               names(counted), collapse = ", ")
    } else if (seen$two_valued) {
        "every variable has two values"
    } else if (seen$counts) {
        "the variables are counts"
    } else {
        "the variables are numeric"
    }
    zeros <- if (seen$zeros >= 0.1) {
        paste0(", ", round(100 * seen$zeros), " % of the values zero")
    }
    tails <- if (seen$two_valued || seen$mixed) "" else if (seen$heavy) {
        ", with heavy tails"
    } else {
        ", without heavy tails"
    }
    paste0("There are ", seen$n[["x"]], " + ", seen$n[["y"]],
           " observations of ", count_of(seen$d, "variable"), "; ", values,
           zeros, tails, ".")
}

say_features <- function(seen) {
    if (seen$mixed) {
        return(paste("Each type of column has its own features, and an edge",
                     "has their products: `feat_mixed()`, tested by logistic",
                     "regression. `edge_cells()` shows an edge level by",
                     "level."))
    }
    if (seen$two_valued) {
        return(paste("Two values leave one choice: Ising features, tested by",
                     "logistic regression."))
    }
    ties <- seen$counts || seen$zeros >= 0.1
    paste0("Values are replaced by the normal scores of their ranks within ",
           "each sample",
           if (seen$heavy) ", so that a few extreme values do not decide",
           if (ties) paste(". Equal values, such as zeros, share their mean",
                           "rank; logarithms would make no difference"),
           ".")
}

say_chance <- function(result) {
    p <- paste0("(p = ", format(result$global$p_value, digits = 2L), ")")
    if (result$global$p_value <= result$fdr) {
        return(paste0("Chance alone does not explain the differences between ",
                      "the samples ", p, "."))
    }
    if (has_beyond(result)) {
        return(paste("Chance alone can explain the differences between the",
                     "correlations of both samples", p, "but not all of those",
                     "that correlations do not show."))
    }
    paste0("Chance alone can explain the differences between the samples ", p,
           ": no edge is reported.")
}

#' @export
print.kliep_auto <- function(x, ...) {
    lines <- lapply(x$reasons, strwrap, width = 78L, exdent = 2L,
                    prefix = "", initial = "* ")
    cat(unlist(lines), "", sep = "\n")
    NextMethod()
}
