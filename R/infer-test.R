# Which of the detected edges could be chance: the whole selection, repeated
# on samples whose observations have been shuffled.

#' Test detected changes by shuffling the samples
#'
#' Tests whether the two networks differ at all, and which of the detected edges
#' are not explained by chance. It chooses a fit by cross-validated likelihood,
#' as [kliep_select()] does, shuffles the observations of `x` and `y` between
#' the two samples `n_perm` times, and repeats the whole selection on each
#' shuffle, where nothing has changed.
#'
#' @section Which edges are kept:
#' Liu et al. (2014) keep an edge that is detected in the data and in at most
#' `alpha * n_perm` shuffles. The column `shuffles` counts them, `paper` says
#' whether an edge passes, and `keep = "paper"` applies the rule. The rule asks
#' of each edge by itself how often chance finds it, however weakly. Among many
#' edges chance finds different ones every time, so that with some tens of
#' variables the rule drops almost nothing, and false edges pass; among few,
#' chance may find all of them now and then, and true edges are dropped.
#'
#' The default, `keep = "adjusted"`, keeps edges whose adjusted p-value
#' is at most `alpha`. The statistic of an edge is the `lambda2` at which it
#' enters the path (zero if it never does), which is comparable between the
#' data and the shuffles whatever each selects. With \eqn{T_e} in the data and
#' \eqn{T_e^b} in the shuffles \eqn{b = 1, \ldots, B}{b = 1, ..., B},
#' \deqn{p_e = \frac{1 + \#\{b: T_e^b \ge T_e\}}{1 + B},}{
#'     p_e = (1 + #{b: T_e^b >= T_e}) / (1 + B),}
#' where one is added because the data are themselves one of the shuffles, so
#' that no p-value is zero. `adjust = "maxT"` compares with the largest
#' statistic of all edges in each shuffle, step-down (Westfall and Young,
#' 1993): where nothing has changed, any edge at all is kept with a probability
#' of at most `alpha`. Edges that are not detected in the data have p-value 1,
#' and count in the methods of [stats::p.adjust()], which with many edges can
#' only reach small values if `n_perm` is many times the number of edges.
#'
#' @section Has anything changed at all:
#' The global test asks this of all edges together. With features in closed
#' form ([feat_gaussian()], [feat_nonparanormal()]) and `standardize =
#' "within"`, it is that of [kliep_infer()]: the difference of the two
#' correlations of every edge, divided by its standard error, which is estimated
#' in every shuffle. The largest of them and the sum of their squares are
#' ranked among those of the shuffles, and the better of both ranks again, which
#' gives the p-value; `test$global$test` is `"edges"`. For other features, other
#' `standardize`, or fewer than ten observations in a sample, the statistic is
#' the highest cross-validated log-likelihood, and `test$global$test` is
#' `"score"`; its p-value is \eqn{(1 + \#) / (1 + B)}{(1 + #) / (1 + B)}.
#'
#' Use the global test for the question whether the networks differ. The
#' p-values of edges say which of the edges of *one* fit, the one selected by
#' its likelihood, enter earlier than chance lets them; for a list of all edges
#' that changed, with estimates and a false discovery rate, use [kliep_infer()].
#'
#' Where the observations are exchangeable, that is independent (by blocks) and
#' of one distribution in both samples, all that was done to the data is done to
#' every shuffle, and both kinds of p-values are valid. Where some edges have
#' changed, those of the other edges are approximate, as shuffled samples are
#' mixtures.
#'
#' @section How far a selection looks:
#' Scores are computed from the largest `lambda2` downwards, for all folds
#' together, until one is more than half of log 2 below the best so far. Log 2
#' is the most that a ratio can gain, and no change scores 0. Smaller `lambda2`,
#' at which a fit takes longest, are never chosen. The choice on the data
#' follows the same rule, whose scores are shown for all `lambda2`. `make bench
#' ONLY=resample` in the source tree counts how often all scores would have led
#' to another choice.
#'
#' @section What is shuffled:
#' `standardize = "within"` ignores the location and scale of every variable,
#' but shuffles of samples that differ in them would not: they mix two clouds,
#' whose distance shows as correlation in every shuffle. Samples that differ by
#' three standard deviations then look changed nearly always. So `align = TRUE`
#' brings the bulk of every variable to mean zero and variance one in `x` and in
#' `y` before rows are exchanged; each shuffle is then standardised. The
#' bulk is the variable with what lies beyond its 10 % and 90 % points moved
#' there: with heavy tails, mean and variance of all values would depend on a
#' few of them. `align = FALSE` shuffles observations as they are, which
#' makes p-values exact rather than nearly so where the distributions are the
#' same. `make bench ONLY=level` in the source tree measures how often "no
#' change" is rejected where it is true. Where `standardize` is
#' `"pooled"` or `"none"`, location and scale are part of what is compared, and
#' are never aligned.
#'
#' For time series, `block` moves whole blocks of consecutive observations,
#' long enough for one block to tell little about the next; folds are made of
#' whole blocks, too. With blocks of different sizes, shuffled samples keep
#' their number of blocks and not exactly that of their observations.
#'
#' All shuffles differ from one another and from the data. It is an error to
#' ask for more than there are: \eqn{{n_x + n_y \choose n_x} - 1}{choose(n_x +
#' n_y, n_x) - 1} of observations or blocks, and half the ways, less one, where
#' the samples have equal size and `direction = "symmetric"` treats them alike.
#'
#' With several candidates the `lambda2` of one may not compare with those of
#' another: they are measured in units of the median, over the data and all
#' shuffles, of the `lambda2` from which on this candidate detects nothing.
#'
#' @section Parallel, and runs that are cut off:
#' Shuffles are spread over the workers of [future::plan()], and signal their
#' progress to \pkg{progressr}. A seed gives the same result on every plan and
#' any number of threads. With `checkpoint`, a shuffle is written to that
#' folder once it is done: a call that was killed continues from there when it
#' is repeated, with the random numbers it was begun with, and ends with the
#' identical result. A shuffle that fails is reported with its seed in a
#' warning of class `kliep_warning_replicate`, and left out.
#'
#' @param x,y The two samples, as for [kliep_path()], or a result of this
#'   package as `x`: the test is then about its samples, with its estimator,
#'   and with the folds and the rule of a selection.
#' @param spec The estimator: see [kliep_spec()]. As in [kliep_select()], a list
#'   makes several candidates, among which every shuffle makes its own choice.
#' @param folds,rule As for [kliep_select()]. `NULL` is that of the selection
#'   that is continued, and otherwise 5 folds and the highest score.
#' @param ... How to find the two samples in `x`, where it holds both: see
#'   [two_samples()]. And settings of [kliep_spec()] by name, which replace
#'   those of `spec`.
#' @param n_perm The number of shuffles.
#' @param alpha The significance level.
#' @param adjust How p-values are adjusted for the number of edges: `"maxT"`,
#'   or a method of [stats::p.adjust()], such as `"BH"`, `"holm"` or `"none"`.
#' @param keep Which detected edges are kept; see the section below.
#' @param block `NULL` for independent observations; the number of consecutive
#'   observations in a block, for time series; or `list(x = , y = )` with the
#'   label of the block of every observation, such as a day or a subject.
#' @param align Remove differences in location and scale before observations
#'   are shuffled? See the section below.
#' @param checkpoint The name of a folder to keep finished shuffles in, or
#'   `NULL`.
#' @param progress Show progress? [progressr::handlers()] decides how it looks.
#'
#' @return An object of class `kliep_test`, with [print()],
#'   [`plot()`][autoplot.kliep_test] and [edges()], which gives the edges that
#'   are kept. Its parts:
#'   * `edges`: a data frame with one row for each edge that is detected in the
#'     data: `from`, `to`, `weight`, `enters` (the largest `lambda2` at which
#'     it is detected), `shuffles` (how many detect it), `p_value`,
#'     `p_adjusted`, `paper` (whether it passes the paper's rule) and `kept`;
#'   * `global`: the global test, a list of `test` (`"edges"` or `"score"`),
#'     `p_value`, `score`, `largest` and `squares` (the largest statistic of all
#'     edges and the sum of their squares, `NA` where `test` is `"score"`);
#'   * `selection`: what was selected on the data, as by [kliep_select()],
#'     without its times;
#'   * `shuffles`: a data frame with one row for each shuffle: `candidate`,
#'     `lambda2`, `score`, `n_edges`, `enters`, the largest `lambda2` at
#'     which any edge is detected, in the units of what was selected on the
#'     data, and `largest` and `squares` as in `global`;
#'   * `failures`: the shuffles that failed, with `message` and `seed`.
#'
#' @references
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26(6), 1169--1197.
#'
#' Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be
#' zero. *Statistical Applications in Genetics and Molecular Biology* 9(1).
#'
#' Westfall, P. H. and Young, S. S. (1993). *Resampling-based multiple
#' testing*. Wiley.
#' @seealso [kliep_stability()]
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 8, n = 200, edge = 0.4, n_changed = 3,
#'                      change = -0.8)
#' test <- kliep_test(pair$x, pair$y, n_perm = 20, nlambda = 15, folds = 3)
#' test
#' edges(test)
#' pair$truth
#' plot(test)
kliep_test <- function(x, y = NULL, spec = NULL, n_perm = 100, alpha = 0.05,
                       adjust = "maxT", keep = c("adjusted", "paper"),
                       block = NULL, align = TRUE, folds = NULL, rule = NULL,
                       checkpoint = NULL, progress = interactive(), ...) {
    call <- match.call()
    found <- take_samples(x, y, list(...))
    stop_gaps(found, "kliep_test")
    check_dots(found$rest, c(names(formals()), sample_arguments(),
                             spec_arguments()), "kliep_test")
    rules <- list(
        alpha = check_fraction(alpha, "alpha"),
        adjust = check_choice(adjust, "adjust",
                              c("maxT", stats::p.adjust.methods)),
        keep = check_choice(keep, "keep", c("adjusted", "paper"))
    )
    align <- check_flag(align, "align")
    progress <- check_flag(progress, "progress")
    candidates <- check_candidates(if (is.null(spec)) found$result else spec,
                                   found$rest)
    design <- selection_design(folds, rule, found$result, candidates)
    first <- as_samples(found, candidates[[1L]]$spec$features)
    units <- check_units(block, first, design$folds)
    n_perm <- check_layout_n_perm(n_perm, units, design$alike)
    warn_few_shuffles(n_perm, rules)
    ready <- prepare_candidates(candidates, found)
    paths <- fit_observed(ready, candidates)
    run <- run_shuffles(ready, units, design,
                        list(n_perm = n_perm, align = align,
                             checkpoint = checkpoint, progress = progress))
    test <- new_kliep_test(
        run, rules, candidates, call,
        selection = new_selection(candidates, paths, run$observed$scores,
                                  design, call)
    )
    test$selection <- keep_samples(test$selection, ready$samples,
                                   found$conditions)
    with_conditions(test, found)
}

# ---- what is asked for -----------------------------------------------------

# How a fit is chosen: as in the selection that is continued, unless specified.
selection_design <- function(folds, rule, result, candidates) {
    if (inherits(result, "kliep_test")) result <- result$selection
    if (is.null(folds)) folds <- result$folds
    if (is.null(rule)) rule <- result$rule
    list(
        criterion = "cv", repeats = 1, score = "logistic",
        folds = if (is.null(folds)) 5 else folds,
        rule = check_choice(if (is.null(rule)) "best" else rule, "rule",
                            c("best", "1se")),
        # Whether exchanging the two samples changes nothing.
        alike = all(vapply(candidates, function(candidate) {
            identical(candidate$spec$direction, "symmetric")
        }, NA))
    )
}

# What is shuffled and divided into folds: the unit of every observation, those
# of x first, and the number of units in each sample; with a design also how
# they may change places.
check_units <- function(block, samples, folds) {
    if (!is.null(samples$design)) {
        if (!is.null(block)) stop_block_design()
        layout <- layout_of(samples)
        check_folds(folds, layout$n_x, layout$n_y, "units")
        return(layout)
    }
    units <- check_block(block, nrow(samples$x), nrow(samples$y))
    n_x <- max(units$x)
    n_y <- max(units$y)
    check_folds(folds, n_x, n_y,
                if (is.null(block)) "observations" else "blocks")
    list(unit = c(units$x, n_x + units$y), n_x = n_x, n_y = n_y,
         paired = FALSE)
}

stop_block_design <- function() {
    stop_kliep("argument",
               "The samples have a design, and `block` is given as well.",
               hint = paste("Leave out `block`: `unit` of the design has the",
                            "same effect."))
}

warn_few_shuffles <- function(n_perm, rules) {
    least <- 1 / (n_perm + 1)
    if (rules$keep == "paper" || least <= rules$alpha) return(invisible())
    warn_kliep(
        "n_perm",
        paste0("With ", count_of(n_perm, "shuffle"), " no p-value is below ",
               format(least, digits = 2L), ": nothing can be kept at alpha = ",
               format(rules$alpha), "."),
        hint = paste0("Set `n_perm` to ", ceiling(1 / rules$alpha - 1 - 1e-9),
                      " or more.")
    )
}

# ---- the data, and shuffles of them ----------------------------------------

# The paths on the data as they are. Times and threads differ from run to run,
# and are left out, so that results do not.
fit_observed <- function(ready, candidates) {
    paths <- map_tasks(ready$problems, refit_all, samples = ready$samples,
                       label = "Paths of all candidates")
    Map(function(path, candidate) {
        path$spec$control <- candidate$spec$control
        path$diagnostics$seconds <- NA_real_
        path
    }, paths, candidates)
}

# What the selection finds in the data (`observed`), and in shuffles of them
# (`done`); the tests of all edges in both (`null`).
run_shuffles <- function(ready, units, design, how) {
    pool <- pool_samples(ready, units, how$align)
    seed <- run_seed(how$checkpoint)
    observed <- with_run_seed(seed, 1L, select_shuffle(
        NULL, pool, ready$problems, design
    ))
    shuffles <- with_run_seed(seed, 2L, draw_layout_shuffles(
        units, how$n_perm, design$alike,
        turned = do.call(comes_second, lapply(ready$samples[[1L]][c("x", "y")],
                                              blind_columns))
    ))
    null <- edge_null(edge_samples(ready, how$align), units, shuffles,
                      ready$problems[[1L]]$spec$control$threads)
    done <- run_replicates(
        shuffles, select_shuffle, samples = pool, problems = ready$problems,
        design = design[c("folds", "rule")],
        down_to = least_entry(observed, ready$problems),
        label = "kliep_test()", checkpoint = how$checkpoint,
        progress = how$progress, seed = seed
    )
    list(observed = observed, done = done, null = null)
}

# All observations in one matrix for each form that problems need, as they are
# (`rows`) and as they are shuffled (`aligned`): without location and scale, or
# as normal scores, for problems that are blind to these. `aligned_as` has the
# name that each problem finds it under.
pool_samples <- function(ready, units, align) {
    names <- vapply(ready$problems, aligned_form, "")
    if (!align) names[] <- NA
    rows <- lapply(ready$samples, function(form) rbind(form$x, form$y))
    first <- which(!is.na(names) & !duplicated(names))
    aligned <- lapply(ready$problems[first], function(problem) {
        align_form(ready$samples[[problem$form]], problem$spec$features)
    })
    names(aligned) <- names[first]
    c(units, list(rows = rows, aligned = aligned, aligned_as = names))
}

aligned_form <- function(problem) {
    if (problem$spec$standardize != "within") return(NA_character_)
    if (is_mixed(problem$spec$features)) return("mixed scores")
    if (is_ranked(problem$spec$features)) "scores" else problem$form
}

# Equal ranks stay equal scores, which another scaling would not keep.
align_form <- function(form, features) {
    if (!is_ranked(features) && !is_mixed(features)) {
        return(do.call(rbind, align_samples(form$x, form$y)))
    }
    scored <- score_samples(form, features, "within")
    rbind(scored$x, scored$y)
}

# The whole selection with the units of `shuffle` in x and the others in y;
# NULL is the data. What it found, in as few numbers as a test needs: entries
# on the path count where they are at `down_to` or above.
select_shuffle <- function(shuffle, samples, problems, design,
                           down_to = Inf) {
    is_data <- is.null(shuffle)
    if (is_data) shuffle <- seq_len(samples$n_x)
    at_x <- samples$unit %in% shuffle
    parts <- if (samples$paired) {
        draw_pair_folds(samples, at_x, design$folds)
    } else {
        draw_unit_folds(samples$unit, at_x, design$folds)
    }
    divided <- Map(function(problem, aligned) {
        rows <- if (is.na(aligned) || is_data) samples$rows[[problem$form]] else
            samples$aligned[[aligned]]
        list(x = rows[at_x, , drop = FALSE], y = rows[!at_x, , drop = FALSE])
    }, problems, samples$aligned_as)
    scored <- Map(score_problem, problems, divided, list(parts), is_data)
    table <- do.call(rbind, lapply(scored, `[[`, "table"))
    chosen <- choose_row(table, design$rule)
    at <- match(table$candidate[chosen], vapply(problems, `[[`, "", "label"))
    c(
        list(candidate = at, lambda2 = table$lambda2[chosen],
             score = max(table$score, na.rm = TRUE),
             lambda_max = vapply(scored, `[[`, 1, "lambda_max")),
        found_on_path(problems[[at]], divided[[at]],
                      scored[[at]]$table$lambda2, table$lambda2[chosen],
                      down_to),
        if (is_data) list(scores = shown_scores(scored, table, chosen,
                                                design$rule))
    )
}

# A score that has fallen by half of all that there is to gain does not come
# back: shuffles, and the choice on the data with them, look no further. (It is
# at most log 2, and 0 for no change.)
most_fall <- log(2) / 2

# All scores on the data, which show the same choice, or else those by which it
# was made.
shown_scores <- function(scored, table, chosen, rule) {
    whole <- lapply(scored, `[[`, "scores")
    table[c("score", "se")] <- do.call(rbind, whole)[c("score", "se")]
    if (choose_row(table, rule) == chosen) return(whole)
    lapply(whole, end_scores, most_fall)
}

# Folds of whole units.
draw_unit_folds <- function(unit, at_x, folds) {
    units <- list(x = unit[at_x], y = unit[!at_x])
    known <- lapply(units, unique)
    parts <- draw_folds(length(known$x), length(known$y), folds)
    list(x = parts$x[match(units$x, known$x)],
         y = parts$y[match(units$y, known$y)], folds = parts$folds)
}

# The scores of kliep_select(), without the path on all data where its grid can
# be had for less: `whole`, or as far as is looked at in `table`.
score_problem <- function(problem, divided, parts, whole = FALSE) {
    grid <- path_grid(problem, divided)
    samples <- stats::setNames(list(divided), problem$form)
    task <- list(problem = problem, lambda2 = grid$fitted,
                 folds = seq_len(parts$folds),
                 most_fall = if (!whole) most_fall)
    scores <- pool_folds(score_folds(task, samples, parts),
                         length(grid$lambda2))
    n <- nrow(scores)
    list(
        lambda_max = grid$lambda_max,
        scores = scores,
        table = quick_frame(c(
            list(candidate = rep(problem$label, n),
                 terms = rep(edge_terms(problem$spec$features), n),
                 lambda2 = grid$lambda2),
            end_scores(scores, most_fall)[c("score", "se")]
        ))
    )
}

# The lambda2 of the path, and those at which there are fits. Without a ridge
# a path may end early, and only fitting it shows where.
path_grid <- function(problem, divided) {
    spec <- problem$spec
    if (spec$lambda1 == 0) {
        path <- refit_many(problem, list(divided))[[1L]]
        return(list(lambda2 = path$lambda2, lambda_max = path$lambda_max,
                    fitted = path$lambda2[fitted_steps(path)]))
    }
    top <- refit_many(problem, list(divided), NULL, 1L)[[1L]]$lambda_max
    lambda2 <- spec$lambda2
    if (is.null(lambda2)) {
        ratio <- problem_settings(problem, divided)$lambda_min_ratio
        step <- log(ratio) / max(1L, spec$nlambda - 1L)
        lambda2 <- top * exp(step * (seq_len(spec$nlambda) - 1L))
    }
    list(lambda2 = lambda2, lambda_max = top, fitted = lambda2)
}

# Edges as numbers: those detected at the lambda2 that was chosen, and those
# detected there or above, or at `down_to` or above, with the lambda2 at which
# they enter.
found_on_path <- function(problem, divided, grid, lambda2, down_to) {
    step <- match(lambda2, grid)
    # One step more than needed: how a solver rounds depends on the step that
    # follows.
    steps <- 1L + max(step, 2L, sum(grid >= min(down_to, lambda2)))
    path <- refit_many(problem, list(divided), utils::head(grid, steps))[[1L]]
    d <- length(path$variables)
    detected <- edge_weights(path, step)
    entries <- edge_entries(path)
    list(detected = edge_key(detected, d), weight = detected$weight,
         entered = edge_key(entries, d), enters = entries$enters)
}

# Where the last of the edges that are detected in the data enters: what
# happens below makes no difference to its p-value. Several candidates have to
# be compared first.
least_entry <- function(observed, problems) {
    if (length(problems) > 1L) return(0)
    min(Inf, observed$enters[observed$entered %in% observed$detected])
}

# ---- p-values --------------------------------------------------------------

# The only place the class is set.
new_kliep_test <- function(run, rules, candidates, call, selection) {
    done <- !vapply(run$done$values, is.null, NA)
    values <- to_common_units(c(list(run$observed), run$done$values[done]))
    observed <- values[[1L]]
    shuffled <- values[-1L]
    null <- keep_shuffles(run$null, done)
    structure(
        class = "kliep_test",
        list(
            edges = test_edges(observed, shuffled, selection, rules),
            global = global_test(observed, shuffled, null),
            selection = selection,
            shuffles = shuffle_table(shuffled, candidates, null),
            n_perm = length(shuffled),
            alpha = rules$alpha,
            adjust = rules$adjust,
            keep = rules$keep,
            failures = run$done$failures,
            call = call
        )
    )
}

# `statistic` is lambda2 at entry, converted between candidates by units that
# treat the data and all shuffles alike.
to_common_units <- function(values) {
    lambda_max <- vapply(values, `[[`, values[[1L]]$lambda_max, "lambda_max")
    lambda_max <- matrix(lambda_max, ncol = length(values))
    unit <- apply(lambda_max, 1L, stats::median)
    # Equal samples have a lambda_max of zero.
    unit[unit == 0] <- 1
    lapply(values, function(value) {
        scale <- unit[values[[1L]]$candidate] / unit[value$candidate]
        value$statistic <- value$enters * scale
        value
    })
}

shuffle_table <- function(shuffled, candidates, null) {
    labels <- vapply(candidates, `[[`, "", "label")
    number <- function(part) vapply(shuffled, `[[`, 1, part)
    unknown <- rep(NA_real_, length(shuffled))
    data.frame(
        candidate = labels[vapply(shuffled, `[[`, 1L, "candidate")],
        lambda2 = number("lambda2"),
        score = number("score"),
        n_edges = lengths(lapply(shuffled, `[[`, "detected")),
        enters = vapply(shuffled, function(one) max(0, one$statistic), 1),
        largest = if (is.null(null)) unknown else null$largest,
        squares = if (is.null(null)) unknown else null$squares
    )
}

# One row for each edge detected in the data, first entered first.
test_edges <- function(observed, shuffled, selection, rules) {
    at <- match(observed$detected, observed$entered)
    order <- order(-observed$enters[at], -abs(observed$weight))
    key <- observed$detected[order]
    at <- at[order]
    statistic <- observed$statistic[at]
    null <- null_statistics(key, shuffled)
    counts <- vapply(shuffled, function(one) key %in% one$detected,
                     logical(length(key)))
    counts <- rowSums(matrix(counts, nrow = length(key)))
    p_value <- (1 + rowSums(null$own >= statistic)) / (1 + length(shuffled))
    p_adjusted <- adjust_p(p_value, statistic, null, rules$adjust,
                           n_possible_edges(selection$path))
    # Rounding must not exclude a shuffle.
    paper <- counts <= rules$alpha * length(shuffled) + 1e-9
    d <- length(selection$path$variables)
    ends <- edge_ends(key, d)
    data.frame(
        from = selection$path$variables[ends$from],
        to = selection$path$variables[ends$to],
        weight = observed$weight[order],
        enters = observed$enters[at],
        shuffles = as.integer(counts),
        p_value = p_value,
        p_adjusted = p_adjusted,
        paper = paper,
        kept = if (rules$keep == "paper") paper else
            p_adjusted <= rules$alpha + 1e-9
    )
}

# The statistics of the edges `key` in the shuffles, in columns, and the
# largest of all other edges in each shuffle.
null_statistics <- function(key, shuffled) {
    own <- vapply(shuffled, function(one) {
        at <- match(key, one$entered)
        ifelse(is.na(at), 0, one$statistic[at])
    }, numeric(length(key)))
    others <- vapply(shuffled, function(one) {
        max(0, one$statistic[!one$entered %in% key])
    }, 1)
    list(own = matrix(own, nrow = length(key)), others = others)
}

# Edges that are not detected have p-value 1.
adjust_p <- function(p_value, statistic, null, adjust, n_edges) {
    # p.adjust() cannot take an empty vector with this `n`.
    if (length(p_value) == 0L) return(numeric())
    if (adjust == "maxT") return(step_down(statistic, null))
    stats::p.adjust(p_value, adjust, max(length(p_value), n_edges))
}

# Step-down maxT: an edge is compared with the largest statistic among itself,
# the edges that did no better in the data, and those not detected there.
step_down <- function(statistic, null) {
    largest <- apply(null$own, 2L, function(one) rev(cummax(rev(one))))
    largest <- matrix(largest, nrow = length(statistic))
    largest <- pmax(largest, rep(null$others, each = length(statistic)))
    # Edges that tie are treated alike.
    largest <- largest[match(statistic, statistic), , drop = FALSE]
    exceed <- rowSums(largest >= statistic)
    cummax((1 + exceed) / (1 + ncol(largest)))
}

# Edges that could be detected: joined by features, and not kept out.
n_possible_edges <- function(path) {
    d <- length(path$variables)
    penalty <- path$spec$penalty_factor
    if (path$spec$features$kind == "cliques") {
        sets <- path$spec$features$sets[is.finite(penalty)]
        pairs <- by_pair(data.frame(from = seq_along(sets), to = 0L),
                         list(kind = "cliques", sets = sets))
        pairs <- pairs[pairs$from != pairs$to, ]
        return(length(unique(edge_key(pairs, d))))
    }
    if (length(penalty) == 2L) return(d * (d - 1) / 2)
    sum(is.finite(penalty[-cumsum(seq_len(d))]))
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_test <- function(x, ...) {
    detected <- nrow(x$edges)
    row <- x$selection$scores[x$selection$scores$selected, ]
    limit <- floor(x$alpha * x$n_perm + 1e-9)
    c(
        paste0("<kliep_test> by ", count_of(x$n_perm, "shuffle"),
               ", alpha = ", format(x$alpha)),
        format_head(x$selection$path)[-1L],
        paste0("  selected   ", row$candidate, " at lambda2 = ",
               format(row$lambda2, digits = 4L)),
        paste0("  any change ", format_global_test(x)),
        paste0("  detected   ", count_of(detected, "edge"), if (detected > 0L)
            paste0(", ", sum(x$edges$paper), " of them in ", if (limit == 0L)
                "no shuffle" else
                    paste("at most", count_of(limit, "shuffle")))),
        paste0("  kept       ", count_of(sum(x$edges$kept), "edge"),
               if (x$keep == "adjusted")
                   paste0(" with an adjusted p-value (", x$adjust,
                          ") of at most ", format(x$alpha))
               else " by the paper's rule"),
        if (nrow(x$failures) > 0L)
            paste0("  failed     ", count_of(nrow(x$failures), "shuffle"),
                   ", left out")
    )
}

format_range <- function(values) {
    paste(unique(format(range(values), digits = 2L, trim = TRUE)),
          collapse = " to ")
}

#' @export
print.kliep_test <- function(x, most = 10L, ...) {
    cat(format(x), sep = "\n")
    print_kept(edges(x), most)
    cat("\nNext: edges(), plot(), $edges for all that were detected\n")
    invisible(x)
}

refuse_lambda2 <- function(lambda2, part, what) {
    if (is.null(lambda2)) return(invisible())
    stop_kliep("argument",
               paste0(what, " keeps one set of edges: `lambda2` must be NULL."),
               hint = paste0("`edges(object$", part,
                             ", lambda2)` gives those detected at a lambda2."))
}
