# From two samples to a fit without a choice to make: look at the data, try
# what makes sense, keep what predicts best, and say why.

#' Find the changes without choosing a method
#'
#' Looks at the two samples, tries the features that make sense for them, and
#' returns the fit under which observations that were held out are the most
#' likely, with the reasons in plain words.
#'
#' @section What is tried:
#' Columns that all have two values: [feat_ising()], and nothing else. Numeric
#' columns: [feat_gaussian()] and [feat_nonparanormal()] with powers 1/2 (for
#' tails that are heavier than those of a Gaussian) and 2 (for lighter ones),
#' all three with the Gaussian normaliser of [kliep_path()]. With at least
#' 100 observations in both samples, five for each variable, no more than 15
#' variables and tails that are not heavy also [feat_polynomial()] of degree
#' 4, which sees dependence that is not a correlation. Tails are heavy where
#' the excess kurtosis of half of the variables is above 3.
#'
#' All of them are fitted symmetrically (`direction = "symmetric"`), over a
#' path of `lambda2`, and scored by cross-validation as [kliep_select()] does:
#' the candidates see the same folds. The score estimates how much of the
#' divergence between the two networks a candidate explains; the polynomial,
#' with many coefficients for every edge, is only taken where it explains twice
#' as much as the best of the others, and more than twice the standard error of
#' its own score. The second matters where the others explain nothing, such as
#' between samples without a change: twice nothing is nothing.
#'
#' @inheritParams kliep_select
#' @param nlambda How many values of `lambda2` to try for each candidate.
#' @param standardize As for [kliep_path()]; `NULL` is the default of the
#'   features.
#' @param control Accuracy, iterations and threads: [kliep_control()].
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()].
#' @return A [kliep_select()] with all its methods, of class `kliep_auto`. Its
#'   part `reasons` has what was seen, tried and chosen, one sentence each;
#'   `print()` shows them.
#' @seealso [kliep_select()] to choose among candidates of your own.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' found <- kliep_auto(pair$x, pair$y)
#' found
#' edges(found)
kliep_auto <- function(x, y = NULL, folds = 5, nlambda = 20,
                       rule = c("best", "1se"), standardize = NULL,
                       control = kliep_control(), progress = interactive(),
                       ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    if ("features" %in% names(found$rest)) stop_chosen_features()
    check_dots(found$rest, c(names(formals()), sample_arguments()),
               "kliep_auto")
    design <- list(criterion = "cv", folds = folds,
                   rule = check_choice(rule, "rule", c("best", "1se")))
    progress <- check_flag(progress, "progress")
    seen <- look_at_samples(found)
    specs <- propose_specs(seen)
    given <- list(nlambda = nlambda, control = control)
    if (!is.null(standardize)) given$standardize <- standardize
    candidates <- check_candidates(specs, given)
    selection <- show_progress(progress, select_candidate(
        candidates, found, design, call, pass_over
    ))
    new_auto(selection, seen)
}

stop_chosen_features <- function() {
    stop_kliep(
        "dots",
        "`kliep_auto()` chooses the features itself: got `features`.",
        hint = "`kliep_select()` chooses among candidates of yours."
    )
}

# The only place the class is set.
new_auto <- function(selection, seen) {
    selection$seen <- seen
    passed_over <- selection$passed_over
    selection$reasons <- c(say_seen(seen), say_tried(selection, seen),
                           say_chosen(selection, passed_over),
                           say_passed_over(selection, passed_over),
                           say_edges(selection))
    class(selection) <- c("kliep_auto", class(selection))
    selection
}

# ---- what the data look like -----------------------------------------------

# Tails are heavy above this excess kurtosis: a Laplace distribution has 3.
heavy_kurtosis <- 3

# Facts that candidates are chosen by.
look_at_samples <- function(found) {
    given <- if (is.null(found$samples)) found else found$samples
    columns <- lapply(given[c("x", "y")], two_valued_columns)
    two_valued <- all(vapply(columns, all_two_valued, NA)) &&
        length(columns$x) > 0L
    if (two_valued) {
        samples <- as_samples(found, feat_ising())
        kurtosis <- NA_real_
        counts <- FALSE
    } else {
        samples <- as_samples(found, feat_gaussian())
        kurtosis <- stats::median(c(excess_kurtosis(samples$x),
                                    excess_kurtosis(samples$y)))
        counts <- is_counts(samples$x) && is_counts(samples$y)
    }
    n <- c(x = nrow(samples$x), y = nrow(samples$y))
    d <- length(samples$variables)
    list(
        n = n, d = d, two_valued = two_valued, counts = counts,
        kurtosis = kurtosis,
        heavy = !two_valued && kurtosis > heavy_kurtosis,
        rich = d <= 15L && min(n) >= max(100, 5 * d)
    )
}

# Whether no column has more than two values, in one sample.
all_two_valued <- function(columns) {
    !is.null(columns) && all(vapply(columns, function(column) {
        length(unique(column[!is.na(column)])) <= 2L
    }, NA))
}

# Of every column; NaN where it does not vary.
excess_kurtosis <- function(values) {
    centred <- sweep(values, 2L, colMeans(values))
    kurtosis <- colMeans(centred^4) / colMeans(centred^2)^2 - 3
    kurtosis[is.finite(kurtosis)]
}

is_counts <- function(values) {
    all(values >= 0) && all(values == round(values))
}

# ---- what to try -----------------------------------------------------------

propose_specs <- function(seen) {
    if (seen$two_valued) return(list(Ising = kliep_spec(feat_ising())))
    specs <- list(
        "Gaussian" = kliep_spec(feat_gaussian()),
        "nonparanormal, power 1/2" = kliep_spec(feat_nonparanormal(0.5)),
        "nonparanormal, power 2" = kliep_spec(feat_nonparanormal(2)),
        "polynomial, degree 4" = kliep_spec(feat_polynomial(4))
    )
    # Powers that stretch tails are of no use where these are heavy.
    specs[c(TRUE, TRUE, !seen$heavy, seen$rich && !seen$heavy)]
}

# Many coefficients for every edge.
is_rich <- function(candidate) edge_size(candidate$spec$features) > 1L

# The score estimates how much of the divergence between the networks a
# candidate explains. One with many coefficients for every edge has to explain
# twice as much as the best of the others to be worth them, and more than twice
# the standard error of what it explains.
pass_over <- function(candidates, scores) {
    rich <- vapply(candidates, is_rich, NA)
    if (all(rich) || !any(rich)) return(character())
    best <- vapply(scores, function(rows) {
        at <- which.max(rows$score)
        if (length(at) == 0L) c(-Inf, 0) else c(rows$score[at], rows$se[at])
    }, c(score = 0, se = 0))
    least <- 2 * pmax(max(best["score", !rich]), best["se", ])
    labels <- vapply(candidates, `[[`, "", "label")
    # An error that is not known cannot be ruled out.
    labels[rich & !(best["score", ] > least & !is.na(least))]
}

# ---- reasons ---------------------------------------------------------------

say_seen <- function(seen) {
    values <- if (seen$two_valued) {
        "every variable has two values"
    } else if (seen$counts) {
        "the variables are counts"
    } else {
        "the variables are numbers"
    }
    tails <- if (seen$two_valued) "" else if (seen$heavy) {
        " with heavy tails"
    } else {
        " without heavy tails"
    }
    paste0("There are ", seen$n[["x"]], " + ", seen$n[["y"]],
           " observations of ", count_of(seen$d, "variable"), "; ", values,
           tails, ".")
}

say_tried <- function(selection, seen) {
    tried <- unique(selection$scores$candidate)
    if (seen$two_valued) {
        return("Two values leave one choice: Ising features.")
    }
    skipped <- if (seen$heavy) {
        paste(" Powers above one and polynomials were not, because a few",
              "extreme values would decide about them.")
    } else if (!seen$rich) {
        paste(" Polynomials were not: they need at least 100 observations",
              "and five for each variable, and no more than 15 variables.")
    }
    c(paste0("Tried by ", selection$folds, "-fold cross-validation: ",
             paste(tried, collapse = "; "), ".", skipped),
      if (seen$counts)
          paste("Counts are often closer to Gaussian after a transform:",
                "`npn_transform()`, or `log1p()`."))
}

say_chosen <- function(selection, passed_over) {
    best <- best_by_candidate(selection$scores)
    best <- best[!best$candidate %in% passed_over, ]
    row <- selection$scores[selection$scores$selected, ]
    fit <- selection$fit
    number <- function(value) format(signif(value, 2L))
    lead <- best$score[best$candidate == row$candidate] -
        best$score[best$candidate != row$candidate]
    paste0(
        "Chose ", row$candidate, " features, fitted symmetrically",
        if (fit$spec$normalizer == "gaussian") " with the Gaussian normaliser",
        ", at lambda2 = ", format(row$lambda2, digits = 3L), ": held-out ",
        "observations are the most likely under it",
        if (length(lead) > 0L)
            paste0(", by ", number(min(lead)), " more than under the next ",
                   "(standard error ", number(row$se), ")"),
        "."
    )
}

say_passed_over <- function(selection, passed_over) {
    best <- best_by_candidate(selection$scores)
    row <- selection$scores[selection$scores$selected, ]
    chosen <- best$score[best$candidate == row$candidate]
    ahead <- best[best$candidate %in% passed_over & best$score > chosen, ]
    if (nrow(ahead) == 0L) return(NULL)
    number <- function(value) format(signif(value, 2L))
    short <- if (ahead$score <= 2 * chosen) "not twice as much" else
        paste0("within two standard errors (", number(ahead$se),
               " each) of nothing")
    paste0("Under the ", ahead$candidate, ", they are more likely (score ",
           number(ahead$score), " against ", number(chosen), "), but ", short,
           ": not worth many coefficients for every edge.")
}

say_edges <- function(selection) {
    n_edges <- nrow(edges(selection$fit))
    if (n_edges > 0L) {
        return(paste0("It detects ", count_of(n_edges, "edge"),
                      "; likelihood is generous with edges: `",
                      judging_verb(selection$path), "` reports those that ",
                      "chance does not explain."))
    }
    paste("It detects no edge: with these samples, assuming no change",
          "predicts best.")
}

# The best row of each candidate, best first.
best_by_candidate <- function(scores) {
    parts <- split(scores, factor(scores$candidate, unique(scores$candidate)))
    best <- do.call(rbind, lapply(parts, function(rows) {
        rows[which.max(rows$score), ]
    }))
    best[order(-best$score), ]
}

#' @export
print.kliep_auto <- function(x, ...) {
    lines <- lapply(x$reasons, strwrap, width = 78L, exdent = 2L,
                    prefix = "", initial = "* ")
    cat(unlist(lines), "", sep = "\n")
    NextMethod()
}
