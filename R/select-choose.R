# The choice of a candidate and of its lambda2: kliep_select().

#' Choose features, penalties and other settings by data held out
#'
#' Fits a path for every candidate, and chooses the candidate and the `lambda2`
#' that predict held-out observations best. Candidates are specifications, or
#' all combinations of settings with several values; "no change" is always one
#' of them.
#'
#' @section Score:
#' `score = "logistic"` measures how well the fitted ratio predicts which sample
#' an observation is from,
#' \deqn{\frac12 \Bigl(\frac{1}{\tilde n_P} \sum_i \log g(\tilde x_i) +
#'     \frac{1}{\tilde n_Q} \sum_j \log (1 - g(\tilde y_j))\Bigr) + \log 2,
#'     \qquad g(z) = \frac{1}{1 + \exp(-\theta^\top f(z) - c)},}{
#'     (mean_i log g(x_i) + mean_j log(1 - g(y_j))) / 2 + log 2 with
#'     g(z) = 1 / (1 + exp(-theta' f(z) - c)),}
#' over the observations held out, with the best `c`. It is 0 for no change and
#' at most log 2, whatever the features, and one observation adds little to it.
#' `score = "likelihood"` is the hold-out log-likelihood (HOLL) of Liu et al.
#' (2014),
#' \deqn{\frac{1}{\tilde n_P} \sum_{i=1}^{\tilde n_P} \log
#'     \frac{\exp(\theta^\top f(\tilde x_i))}
#'     {\frac{1}{\tilde n_Q} \sum_{j=1}^{\tilde n_Q}
#'     \exp(\theta^\top f(\tilde y_j))},}{
#'     mean_i theta' f(x_i) - log mean_j exp(theta' f(y_j)),}
#' for `direction = "q/p"` that of the inverse ratio, for `"symmetric"` the sum
#' of both. Its mean of exponentials may depend on a single observation.
#'
#' With `criterion = "cv"` every observation is held out once: `x` and `y` are
#' each divided into `folds` parts, and the score is the mean over
#' the folds, its standard error their standard deviation over the square root
#' of their number. This is done for several divisions, 300 over the smaller
#' number of observations and at most 10, and both are averaged. The divisions
#' are irregular, but follow from the observations alone: neither a seed nor the
#' order of rows makes a difference to the choice. With `repeats` they are drawn
#' at random. Other observations do make a difference: with few of them, one
#' more or less changes many of the edges (`make bench ONLY=features` in the
#' source tree leaves arrays out). [kliep_infer()] says which edges can be
#' relied on. Held-out observations are standardised by the means and variances
#' of the others. With `criterion = "holdout"` the score is computed on `newx`
#' and `newy`, and its standard error over their observations.
#'
#' @section Choice:
#' The highest score wins, unless something simpler is within its standard
#' error: no change at all, with a score of 0, or a candidate with fewer
#' coefficients for each edge. So no edge is reported at a score below zero:
#' where no change is chosen and a grid that was given begins with edges, the
#' `lambda2` at which the first edge enters is added to it.
#'
#' All folds of a candidate use one grid of `lambda2`, that of its path on all
#' data. Where the best `lambda2` is the smallest of a grid that was not given,
#' the grid is continued, up to three times; if it still is, the print says so.
#' Without a ridge (`lambda1 = 0`) a path may end where the objective has
#' no minimum; a candidate is scored down to the last `lambda2` that all folds
#' can be fitted at.
#'
#' @section Other methods:
#' `method` names what is fitted instead of [kliep_path()], and with it the
#' score, each the one that belongs to the method and the larger the better:
#' * `"glasso"` ([glasso_path()]), `"is_glasso"` and `"is_flasso"`
#'   ([is_glasso_path()]): the sum of the log-likelihoods of both networks;
#' * `"flasso"` ([flasso_path()]): the conditional log-likelihood of every
#'   variable given the others, in both samples;
#' * `"dtrace"` ([dtrace_path()]): minus the D-trace loss;
#' * `"moment"` ([moment_path()]): minus half the squared distance to the
#'   difference of moments, but for a constant.
#'
#' Scores of different methods are on different scales. Candidates differ by
#' `features` and `lambda1` where the method has these arguments, and a
#' value for one that has not is an error. All points of importance sampling
#' are drawn from one seed, so that candidates and folds share them.
#'
#' @section Parallel:
#' Paths and folds run on the plan of the \pkg{future} package, one after the
#' other unless specified otherwise: `future::plan("multisession")` uses all
#' cores, and other plans reach clusters. The folds are made beforehand, so
#' that every plan gives the same result. Progress is signalled
#' by \pkg{progressr}: `progressr::handlers(global = TRUE)` shows it.
#'
#' @param x,y The two samples, as for [kliep_path()], or a result of this
#'   package as `x`: its samples and its estimator.
#' @param spec What to choose from: a specification ([kliep_spec()]), a result,
#'   features, or a list of these, one for each candidate; names of the list,
#'   if any, label them. `NULL` is the default estimator.
#' @param criterion Cross-validation (`"cv"`), or a score on `newx` and `newy`
#'   (`"holdout"`, the default where these are given).
#' @param folds The number of folds, at most the smaller number of
#'   observations.
#' @param repeats How often the folds are drawn at random; `NULL` for folds that
#'   do not depend on the seed (see the section on the score).
#' @param score `"logistic"` or `"likelihood"`: see the section below. Other
#'   methods have their own.
#' @param newx,newy Further observations of the two samples, for `"holdout"`.
#' @param rule `"best"` takes the highest score of the candidate that is chosen,
#'   `"1se"` the largest `lambda2` whose score is within one standard error of
#'   it.
#' @param method `"kliep"`, or the name of another method: see the section
#'   below.
#' @param progress Show progress? [progressr::handlers()] decides how it looks.
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. And settings of [kliep_spec()] by name, which replace
#'   those of `spec`: of `features` (as a list), `lambda1`, `normalizer`,
#'   `direction`, `penalty` and `standardize` there may be several values, and
#'   every combination of them is a candidate. `lambda2` is one grid for all
#'   candidates; without it each has its own. For other methods, their
#'   arguments.
#'
#' @return An object of class `kliep_select`, with [print()],
#'   [`plot()`][plot.kliep_select], [edges()], [`coef()`][coef.change_path],
#'   [`predict()`][predict.change_path] and [kl_divergence()] of what was
#'   chosen:
#'   * `fit`: the chosen fit, to all data;
#'   * `path`: the path it was chosen from;
#'   * `scores`: a data frame with a row for each candidate and `lambda2`:
#'     `candidate`, `features`, `terms` (coefficients of an edge; `NA` for other
#'     methods), `lambda1`, `lambda2`, `score`, `se`, `kl` (an estimate of the
#'     divergence of P from Q; `NA` for other methods), `n_edges` (of the path
#'     on all data) and `selected`;
#'   * `open_end`: whether the best `lambda2` is the smallest of the grid.
#' @inherit kliep_path references
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 200, n_changed = 4)
#' chosen <- kliep_select(
#'     pair$x, pair$y,
#'     features = list(feat_gaussian(), feat_nonparanormal(power = 2)),
#'     nlambda = 15
#' )
#' chosen
#' edges(chosen)
#' # The paper's estimator, and ours with two penalties.
#' kliep_select(pair$x, pair$y, list(
#'     paper = kliep_spec_paper(), ours = kliep_spec(),
#'     concave = kliep_spec(penalty = "mcp")
#' ), nlambda = 15)
#' kliep_select(pair$x, pair$y, method = "dtrace", nlambda = 15)
kliep_select <- function(x, y = NULL, spec = NULL, criterion = c("cv",
                             "holdout"), folds = 5, repeats = NULL,
                         score = c("logistic", "likelihood"), newx = NULL,
                         newy = NULL, rule = c("best", "1se"),
                         method = "kliep", progress = interactive(), ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    method <- check_choice(method, "method",
                           c("kliep", names(baseline_methods())))
    check_taken(method, names(found$rest))
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             candidate_arguments(method)),
               if (method == "kliep") "kliep_select" else
                   paste0(method, "_path"))
    design <- list(
        criterion = check_criterion(criterion, newx, newy), folds = folds,
        repeats = check_repeats(repeats), newx = newx, newy = newy,
        score = check_choice(score, "score", c("logistic", "likelihood")),
        rule = check_choice(rule, "rule", c("best", "1se"))
    )
    candidates <- check_candidates(
        if (is.null(spec)) found$result else spec, found$rest, method
    )
    progress <- check_flag(progress, "progress")
    show_progress(progress, select_candidate(candidates, found, design, call))
}

# The whole selection.
select_candidate <- function(candidates, found, design, call) {
    parts <- NULL
    if (design$criterion == "cv") {
        first <- as_samples(found, candidates[[1L]]$spec$features)
        parts <- divide_samples(first, design)
        design$folds <- parts[[1L]]$folds
    } else {
        design["folds"] <- list(NULL)
    }
    ready <- prepare_candidates(candidates, found, design$score)
    fitted <- fit_candidates(ready$problems, ready$samples, parts, design)
    selection <- new_selection(candidates, fitted$paths, fitted$scores, design,
                               call)
    keep_samples(selection, ready$samples, found$conditions)
}

# Paths of all problems on all data, and their scores. A grid whose last lambda2
# is the best of all is continued.
fit_candidates <- function(problems, samples, parts, design, most = 3L) {
    fit <- function(problems) {
        map_tasks(problems, refit_all, samples = samples,
                  label = "Paths of all candidates")
    }
    score <- function(problems, paths) {
        if (is.null(parts)) {
            return(lapply(paths, holdout_scores, newx = design$newx,
                          newy = design$newy, score = design$score))
        }
        repeat_folds(problems, samples, paths, parts)
    }
    paths <- fit(problems)
    scores <- score(problems, paths)
    for (round in seq_len(most)) {
        best <- best_candidate(scores)
        if (!is_open(problems[[best]], paths[[best]], scores[[best]])) break
        grid <- continue_grid(paths[[best]]$lambda2)
        longer <- list(with_grid(problems[[best]], grid, length(grid)))
        paths[best] <- fit(longer)
        scores[best] <- score(longer, paths[best])
    }
    best <- simplest_candidate(paths)
    if (length(best) == 1L && lacks_no_change(paths[[best]], scores)) {
        grid <- c(paths[[best]]$lambda_max, paths[[best]]$lambda2)
        longer <- list(with_grid(problems[[best]], grid, length(grid)))
        paths[best] <- fit(longer)
        scores[best] <- score(longer, paths[best])
    }
    list(paths = paths, scores = scores)
}

# The one with the highest score.
best_candidate <- function(scores) {
    highest <- vapply(scores, function(rows) {
        max(rows$score, -Inf, na.rm = TRUE)
    }, 1)
    which.max(highest)
}

# Whether the best is the last of a grid that nobody asked for, and may be
# better beyond it.
is_open <- function(problem, path, scores) {
    given <- is_baseline(problem) || !is.null(problem$spec$lambda2) ||
        !is.null(problem$spec$lambda_min_ratio)
    !given && ends_best(path, scores)
}

ends_best <- function(path, scores) {
    best <- which.max(scores$score)
    length(best) == 1L && length(path$lambda2) > 1L &&
        best == length(path$lambda2) && scores$score[best] > 0
}

# The one with the fewest coefficients for each edge, which stands for no
# change; none among those of other methods.
simplest_candidate <- function(paths) {
    which.min(vapply(paths, candidate_terms, 1))
}

# Whether no change is the answer, and the grid of the candidate that stands for
# it was given and begins with edges.
lacks_no_change <- function(path, scores) {
    rows <- do.call(rbind, scores)
    best <- which.max(rows$score)
    length(best) == 1L && path$diagnostics$n_edges[1L] > 0 &&
        least_score(rows[best, ]) <= 0
}

# A quarter as many steps again, in the same proportion.
continue_grid <- function(lambda2) {
    last <- utils::tail(lambda2, 2L)
    more <- max(2L, length(lambda2) %/% 4L)
    c(lambda2, last[2L] * (last[2L] / last[1L])^seq_len(more))
}

# The path carries the samples, for all of the selection.
keep_samples <- function(selection, samples, conditions) {
    path <- selection$path
    if (!is_baseline(path)) {
        form <- form_of(path$coding)
        path <- with_samples(path, samples[[form]], NULL)
    }
    selection$path <- path
    with_conditions(selection, list(conditions = conditions))
}

# ---- what is asked for -----------------------------------------------------

check_criterion <- function(criterion, newx, newy) {
    choices <- c("cv", "holdout")
    given <- !is.null(newx) || !is.null(newy)
    if (identical(criterion, choices) && given) criterion <- "holdout"
    criterion <- check_choice(criterion, "criterion", choices)
    if (criterion == "holdout") {
        check_both_new(newx, newy)
    } else if (given) {
        stop_kliep(
            "argument",
            paste("`newx` and `newy` are for `criterion = \"holdout\"`: got",
                  "\"cv\"."),
            hint = "Leave one or the other out."
        )
    }
    criterion
}

check_repeats <- function(repeats) {
    if (is.null(repeats)) return(NULL)
    check_whole(repeats, "repeats", "repeats")
}

# The divisions into folds, at random where somebody asked how often. Few
# observations make scores that depend on who was held out with whom, and then
# so does the choice: unless asked, folds follow from the observations.
divide_samples <- function(samples, design) {
    layout <- layout_of(samples)
    if (is.null(design$repeats)) {
        folds <- check_layout_folds(layout, design$folds)
        return(fixed_divisions(samples, layout, folds, repeats_for(layout)))
    }
    lapply(seq_len(design$repeats), function(round) {
        draw_layout_folds(layout, design$folds)
    })
}

repeats_for <- function(layout) {
    min(10, ceiling(300 / min(layout$n_x, layout$n_y)))
}

# Parts of nearly equal size, in x and in y by themselves.
draw_folds <- function(n_x, n_y, folds) {
    folds <- check_folds(folds, n_x, n_y)
    list(x = sample(rep_len(seq_len(folds), n_x)),
         y = sample(rep_len(seq_len(folds), n_y)), folds = folds)
}

check_folds <- function(folds, n_x, n_y, units = "observations") {
    folds <- check_whole(folds, "folds", "folds", least = 2)
    least <- min(n_x, n_y)
    if (folds > least) {
        stop_kliep(
            "folds",
            paste0("`folds` must not exceed the number of ", units, ": got ",
                   folds, " folds, and ", n_x, " and ", n_y, " ", units, "."),
            hint = "Lower `folds`."
        )
    }
    if (least - ceiling(least / folds) < 2) {
        stop_kliep(
            "folds",
            paste0("With ", folds, " folds, fewer than 2 of ", least,
                   " ", units, " would be left to fit to."),
            hint = "Raise `folds`, or collect more."
        )
    }
    folds
}

# ---- fits and scores -------------------------------------------------------

# One data frame of scores for each candidate: the mean over repeats. Their
# standard errors are those of one, since repeats use the same observations.
repeat_folds <- function(problems, samples, paths, parts) {
    rounds <- lapply(parts, cross_validate, problems = problems,
                     samples = samples, paths = paths)
    lapply(seq_along(problems), function(at) {
        of <- function(column) {
            vapply(rounds, function(round) round[[at]][[column]],
                   numeric(nrow(rounds[[1L]][[at]])))
        }
        mean_of <- function(values) {
            rowMeans(matrix(values, ncol = length(parts)))
        }
        quick_frame(list(score = mean_of(of("score")),
                         se = sqrt(mean_of(of("se")^2)),
                         kl = mean_of(of("kl"))))
    })
}

# The same for one division into folds. As many folds as there are threads are
# fitted at a time.
cross_validate <- function(problems, samples, paths, parts) {
    tasks <- unlist(lapply(seq_along(problems), function(at) {
        grid <- paths[[at]]$lambda2[fitted_steps(paths[[at]])]
        lapply(fold_chunks(problems[[at]], parts$folds), function(folds) {
            list(problem = problems[[at]], lambda2 = grid, at = at,
                 folds = folds)
        })
    }), recursive = FALSE)
    scored <- map_tasks(tasks, score_folds, samples = samples, parts = parts,
                        label = "Cross-validation", size = n_folds)
    at <- vapply(tasks, `[[`, 1L, "at")
    unname(Map(function(chunks, steps) {
        pool_folds(unlist(chunks, recursive = FALSE), steps)
    }, split(scored, at), lengths(lapply(paths, `[[`, "lambda2"))))
}

n_folds <- function(task) as.double(length(task$folds))

# Fits of many variables share the threads by themselves, and take memory.
fold_chunks <- function(problem, folds, most_variables = 500L) {
    alone <- !fits_many(problem) || length(problem$variables) > most_variables
    size <- if (alone) 1L else problem$spec$control$threads
    unname(split(seq_len(folds), (seq_len(folds) - 1L) %/% size))
}

# Fit without each of some folds, and score on it: one data frame for each. A
# fold may end sooner than the path.
score_folds <- function(task, samples, parts) {
    if (length(task$lambda2) == 0L) {
        none <- quick_frame(list(score = numeric(), se = numeric(),
                                 kl = numeric()))
        return(rep(list(none), length(task$folds)))
    }
    form <- samples[[task$problem$form]]
    divided <- lapply(task$folds, function(fold) {
        out <- list(x = parts$x == fold, y = parts$y == fold)
        list(x = form$x[!out$x, , drop = FALSE],
             y = form$y[!out$y, , drop = FALSE],
             new_x = form$x[out$x, , drop = FALSE],
             new_y = form$y[out$y, , drop = FALSE])
    })
    refit_scores(task$problem, divided, task$lambda2, function(at, work) {
        tryCatch(work, kliep_error = function(condition) {
            condition$message <- paste0(
                "Without fold ", task$folds[at], " of ", parts$folds, " (",
                task$problem$label, "): ", conditionMessage(condition)
            )
            stop(condition)
        })
    }, task$most_fall)
}

# Mean and standard error over the folds; NA where a fold has no score, and at
# the `steps` that not even the path on all data has.
pool_folds <- function(folds, steps) {
    together <- function(column) {
        values <- vapply(folds, `[[`, numeric(nrow(folds[[1L]])), column)
        values <- matrix(values, ncol = length(folds))
        rbind(values, matrix(NA_real_, steps - nrow(values), ncol(values)))
    }
    score <- together("score")
    quick_frame(list(
        score = rowMeans(score),
        se = apply(score, 1L, stats::sd) / sqrt(length(folds)),
        kl = rowMeans(together("kl"))
    ))
}

# The scores down to the first that has fallen by more than `most_fall` below
# the best so far; NA after it.
end_scores <- function(scores, most_fall) {
    best <- cummax(ifelse(is.na(scores$score), -Inf, scores$score))
    fallen <- which(best - scores$score > most_fall)
    if (length(fallen) == 0L) return(scores)
    late <- seq_along(scores$score) > fallen[1L]
    quick_frame(lapply(scores, replace, late, NA))
}

# ---- the choice ------------------------------------------------------------

# The only place the class is set.
new_selection <- function(candidates, paths, scores, design, call) {
    table <- do.call(rbind, Map(score_table, candidates, paths, scores))
    chosen <- choose_row(table, design$rule)
    table$selected <- seq_len(nrow(table)) == chosen
    at <- match(table$candidate[chosen],
                vapply(candidates, `[[`, "", "label"))
    path <- paths[[at]]
    path$call <- call
    fit <- change_at(path, match(table$lambda2[chosen], path$lambda2))
    warn_unfinished(fit)
    structure(
        class = "kliep_select",
        list(fit = fit, path = path, scores = table,
             criterion = design$criterion, rule = design$rule,
             folds = design$folds, score = design$score,
             open_end = ends_best(path, scores[[at]]), call = call)
    )
}

score_table <- function(candidate, path, scores) {
    lambda1 <- path$spec$lambda1
    data.frame(
        candidate = candidate$label,
        features = candidate$name,
        terms = candidate_terms(path),
        lambda1 = if (is.null(lambda1)) NA_real_ else lambda1,
        lambda2 = path$lambda2,
        scores,
        n_edges = path$diagnostics$n_edges
    )
}

candidate_terms <- function(path) {
    if (is_baseline(path)) NA_real_ else edge_terms(path$spec$features)
}

# How simple features are: coefficients of an edge; unknown ones are not simple.
edge_terms <- function(features) {
    terms <- if (features$kind != "cliques") edge_size(features)
    if (length(terms) == 0L || terms == 0) Inf else as.double(terms)
}

# The row of the highest score, unless something simpler comes within its
# standard error; by the one-standard-error rule the sparsest of that candidate
# that is nearly as good.
choose_row <- function(table, rule) {
    best <- which.max(table$score)
    if (length(best) == 0L) {
        stop_kliep(
            "unbounded",
            paste("No candidate could be scored: at every lambda2 the",
                  "objective has no minimum in some fold."),
            hint = "Raise `lambda2` or set `lambda1 > 0`."
        )
    }
    best <- simpler_row(table, best)
    if (rule == "best" || is.na(table$se[best])) return(best)
    near <- which(table$candidate == table$candidate[best] &
                      table$score >= table$score[best] - table$se[best])
    near[which.max(table$lambda2[near])]
}

# The score of a row less its standard error, where that is known.
least_score <- function(row) row$score - if (is.na(row$se)) 0 else row$se

# No change, or the candidate with the fewest terms, if it is as good as the row
# `best` to within the standard error of that. Scores of other methods are not
# zero where nothing has changed.
simpler_row <- function(table, best) {
    if (is.na(table$terms[best])) return(best)
    enough <- least_score(table[best, ])
    if (enough <= 0) {
        simplest <- table$candidate[which.min(table$terms)]
        own <- which(table$candidate == simplest)
        return(own[which.max(table$lambda2[own])])
    }
    good <- which(table$score >= enough)
    fewest <- good[table$terms[good] == min(table$terms[good])]
    if (best %in% fewest) best else fewest[which.max(table$score[fewest])]
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_select <- function(x, ...) {
    row <- x$scores[x$scores$selected, ]
    by <- if (x$criterion == "cv") paste0(x$folds, "-fold cross-validation")
    else "hold-out samples"
    c(
        paste0("<kliep_select> by ", by, ", rule \"", x$rule, "\""),
        format_conditions(x),
        paste0("  chosen     ", row$candidate, " at lambda2 = ",
               format(row$lambda2, digits = 4L),
               if (row$n_edges == 0) ": no change"),
        paste0("  score      ", format(row$score, digits = 4L), " (se ",
               format(row$se, digits = 2L), ")",
               if (row$n_edges == 0 && !is_baseline(x$fit)) paste(
                   "; no candidate leads no change by more than its standard",
                   "error"
               )),
        if (isTRUE(x$open_end))
            "  grid       the smallest lambda2 has the highest score",
        if (is_baseline(x$fit)) utils::tail(format_settings(x$fit), 1L) else
            format_settings(x$fit)[-1L],
        format_solver(x$fit),
        format_weights(x$fit)
    )
}

#' @export
print.kliep_select <- function(x, ...) {
    cat(format(x), "", sep = "\n")
    print_candidates(x$scores)
    print_edges(x$fit)
    if (is_baseline(x$path)) {
        cat("\nNext: edges(), plot(), $scores\n")
    } else {
        cat("\nNext: ", judging_verb(x$path), " for the edges that changed, ",
            "edges(), plot(), $scores\n", sep = "")
    }
    invisible(x)
}

# The best of each candidate, where there is more than one.
print_candidates <- function(scores, most = 8L) {
    best <- best_by_candidate(scores)
    if (nrow(best) < 2L) return(invisible())
    print(utils::head(best[c("candidate", "lambda2", "score", "se",
                             "n_edges")], most), digits = 3L,
          row.names = FALSE)
    cat("\n")
}

# What was chosen, or the path it was chosen from to look elsewhere.
chosen_part <- function(object, lambda2) {
    if (is.null(lambda2)) object$fit else object$path
}

#' @export
predict.kliep_select <- function(object, newdata, lambda2 = NULL, ...) {
    stats::predict(chosen_part(object, lambda2), newdata, lambda2 = lambda2,
                   ...)
}

# The best row of each candidate, best first.
best_by_candidate <- function(scores) {
    parts <- split(scores, factor(scores$candidate, unique(scores$candidate)))
    best <- do.call(rbind, lapply(parts, function(rows) {
        rows[which.max(rows$score), ]
    }))
    best[order(-best$score), ]
}
