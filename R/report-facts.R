# What a report says in words and numbers: the summary, the facts about data
# and settings, and the diagnostics with a verdict each.

# What was compared, what was found, and how far it can be trusted.
report_summary <- function(fit, lambda2 = NULL) {
    if (inherits(fit, "kliep_windows")) return(summarise_windows(fit))
    if (inherits(fit, "kliep_time")) return(summarise_drift(fit))
    path <- path_of(fit)
    paste0(
        if (is.null(fit$conditions)) "Two samples" else
            paste(fit$conditions[["x"]], "against", fit$conditions[["y"]]),
        ", ", path$n[["x"]], " and ", path$n[["y"]], " observations of ",
        count_of(length(path$variables), "variable"), ": ",
        say_found(fit, lambda2)
    )
}

say_found <- function(fit, lambda2) {
    found <- count_of(nrow(edges(fit, lambda2 = lambda2)), "edge")
    switch(
        report_kind(fit),
        kliep_test = paste0(
            found, " kept by the permutation test at level ",
            format(fit$alpha), ". ",
            say_global(fit), say_hub(fit)
        ),
        kliep_stability = paste0(
            found, " selected in at least ", format(100 * fit$threshold),
            " % of all halves; expect at most ",
            format(fit$expected_false, digits = 2L), " of them to be false.",
            say_hub(fit)
        ),
        kliep_infer = paste0(
            paste(c(say_reported(fit, found), say_full(fit), say_shift(fit),
                    say_beyond(fit), say_global(fit)), collapse = " "),
            say_hub(fit)
        ),
        kliep_debias = paste0(
            found, " changed at a false discovery rate of ",
            format(1 - fit$level), ".", say_hub(fit)
        ),
        kliep_select = paste0(
            found, " detected at the lambda2 ", if (is.null(lambda2))
                "that predicts best" else "that was asked for",
            ". A selection does not say how many of them are false",
            say_judge(path_of(fit))
        ),
        paste0(
            found, " detected at lambda2 = ",
            format(lambda2_of(fit, lambda2), digits = 3L), ". A path ranks ",
            "edges. It does not say where to cut the ranking, or whether ",
            "anything changed at all", say_judge(path_of(fit))
        )
    )
}

lambda2_of <- function(path, lambda2) path$lambda2[find_step(path, lambda2)]

# The call that tests these edges, if there is one.
say_judge <- function(path) {
    if (is_baseline(path)) return(".")
    ": `kliep_infer(fit)` tests every edge."
}

say_reported <- function(fit, found) {
    changed <- sum(fit$estimates$changed)
    if (changed == 0L) {
        return(paste0("no ", change_tested(fit), " found; none of ",
                      count_of(nrow(fit$estimates), "edge"),
                      " is reported at a false discovery rate of ",
                      format(fit$fdr), "."))
    }
    paste0(found, " changed at a false discovery rate of ", format(fit$fdr),
           ": expect at most ", format(signif(changed * fit$fdr, 2L)),
           " of them to be false.")
}

say_global <- function(fit) {
    paste0("The test of no ", change_tested(fit), " at all has p = ",
           format(fit$global$p_value, digits = 2L), ".")
}

# The variable around which most has changed.
say_hub <- function(fit) {
    top <- hubs(fit)
    if (nrow(top) == 0L) return("")
    paste0(" Most has changed around ", top$variable[1L], " (",
           count_of(top$degree[1L], "edge"), ").")
}

summarise_windows <- function(fit) {
    table <- summary(fit)
    paste0(
        count_of(nrow(fit$windows), "window"), " of ",
        paste(unique(range(fit$windows$n)), collapse = " to "),
        " observations against a reference of ", fit$reference$n, ", ",
        count_of(length(fit$variables), "variable"), ": ",
        count_of(nrow(table), "edge"), " in ",
        sum(fit$windows$n_edges > 0, na.rm = TRUE), " of these windows.",
        if (!is.null(fit$fdr)) paste0(
            " Edges are reported at a false discovery rate of ",
            format(fit$fdr), " over all windows."
        ) else if (fit$n_perm > 0) paste0(
            " Edges are kept by ", count_of(fit$n_perm, "shuffle"), " of each ",
            "window at level ", format(fit$alpha), ", for each window by ",
            "itself."
        ) else paste0(
            " Each window is chosen by how well it predicts, which does not ",
            "say how many edges are false: `n_perm` of `kliep_windows()` ",
            "tests each window, and `fdr` all of them together."
        ),
        if (nrow(table) > 0L) paste0(
            " The first edge to appear is ", table$from[1L], " with ",
            table$to[1L], ", at ", format(table$appears[1L]), "."
        )
    )
}

summarise_drift <- function(fit) {
    paste0(
        "A series of ", count_of(fit$n, "observation"), " of ",
        count_of(length(fit$variables), "variable"), ", from ",
        format(fit$time[1L]), " to ", format(fit$time[2L]), ". ",
        say_changes(fit), " ", say_global(fit),
        if (!is.na(fit$peak$time)) paste0(" ", say_peak(fit)), say_hub(fit)
    )
}

# The facts about "data", "settings" or "diagnostics".
report_facts <- function(fit, about) {
    if (about == "diagnostics") return(diagnostic_facts(fit))
    facts <- if (inherits(fit, "kliep_windows")) {
        if (about == "data") window_facts(fit) else window_settings(fit)
    } else if (inherits(fit, "kliep_time")) {
        if (about == "data") drift_facts(fit) else drift_settings(fit)
    } else if (about == "data") {
        data_facts(path_of(fit), fit$conditions)
    } else {
        c(own_settings(fit), path_settings(fit))
    }
    data.frame(what = names(facts), value = unname(facts))
}

data_facts <- function(path, conditions) {
    rows <- function(part) {
        paste0(if (!is.null(conditions)) paste0(conditions[[part]], ", "),
               count_of(path$n[[part]], "observation"))
    }
    facts <- c(
        "sample x" = rows("x"),
        "sample y" = rows("y"),
        "variables" = list_variables(path$variables),
        "factors" = format(n_factors_of(path$spec$features,
                                        length(path$variables)),
                           big.mark = ",")
    )
    # An inference does not keep centres and scales, and those of normal scores
    # say nothing.
    if (!identical(path$spec$standardize, "within") || is.null(path$center) ||
        is_ranked(path$spec$features)) {
        return(facts)
    }
    of <- function(part) {
        paste("mean", format_range(path$center[[part]]),
              "and standard deviation", format_range(path$scale[[part]]))
    }
    c(facts, "variables in x" = of("x"), "variables in y" = of("y"))
}

list_variables <- function(variables) {
    paste0(format(length(variables), big.mark = ","), ": ",
           paste(utils::head(variables, 6L), collapse = ", "),
           if (length(variables) > 6L) ", ...")
}

window_facts <- function(fit) {
    reference <- fit$reference
    c(
        "windows" = paste0(
            count_of(nrow(fit$windows), "window"), " of ",
            paste(unique(range(fit$windows$n)), collapse = " to "),
            " observations, from ", format(fit$windows$start[1L]), " to ",
            format(fit$windows$end[nrow(fit$windows)])
        ),
        "reference" = paste0(
            count_of(reference$n, "observation"), if (!is.null(reference$start))
                paste0(", from ", format(reference$start), " to ",
                       format(reference$end))
        ),
        "variables" = list_variables(fit$variables)
    )
}

window_settings <- function(fit) {
    kept <- if (!is.null(fit$fdr))
        paste("false discovery rate of", format(fit$fdr), "over all windows")
    else if (fit$n_perm == 0) "all that are detected" else
        if (fit$keep == "paper") "the paper's rule" else "adjusted p-value"
    fits <- Filter(Negate(is.null), fit$fits)
    c(
        "method" = fit$method,
        "shuffles of each window" = format(fit$n_perm),
        "alpha" = if (fit$n_perm > 0 && is.null(fit$fdr))
            format(fit$alpha) else "not used",
        "kept by" = kept,
        if (length(fits) > 0L) printed_settings(fits[[1L]])
    )
}

drift_facts <- function(fit) {
    c(
        "series" = paste0(count_of(fit$n, "observation"), ", from ",
                          format(fit$time[1L]), " to ", format(fit$time[2L])),
        "variables" = list_variables(fit$variables),
        "means removed" = paste("drift by up to", format(
            max(fit$drift$mean_drift), digits = 2L
        ), "standard deviations"),
        "standard deviations removed" = paste("change by a factor of up to",
            format(max(fit$drift$sd_ratio), digits = 2L))
    )
}

drift_settings <- function(fit) {
    number <- function(value) format(value, digits = 4L)
    c(
        "features" = name_features(fit$spec$features),
        "false discovery rate" = number(fit$fdr),
        "level of the bands" = number(fit$level),
        "no change at all, p-value" = number(fit$global$p_value),
        "edges in the support" = number(nrow(fit$support)),
        "blocks" = paste(fit$n_blocks, "of", number(fit$block), "observations"),
        "autocorrelation of products" = number(fit$persistence),
        "worth as many independent observations" =
            format(round(fit$effective)),
        "shuffles" = number(fit$n_perm),
        "half the width of the windows of curves" =
            say_span(fit$bandwidth, fit$time, 4L),
        "rates are per" = say_span(fit$per, fit$time, 4L)
    )
}

# Facts that only this kind of result has.
own_settings <- function(fit) {
    number <- function(value) format(value, digits = 4L)
    switch(
        report_kind(fit),
        kliep_select = selection_settings(fit),
        kliep_test = c(
            selection_settings(fit$selection),
            "no change at all, p-value" = number(fit$global$p_value),
            "shuffles" = number(fit$n_perm), "alpha" = number(fit$alpha),
            "kept by" = if (fit$keep == "paper") "the paper's rule" else
                paste("adjusted p-value,", fit$adjust)
        ),
        kliep_stability = c(
            "halves" = number(fit$n_subsamples),
            "edges selected by each half" = number(fit$q),
            "threshold" = number(fit$threshold),
            "false edges expected, at most" = number(fit$expected_false),
            "assumption" = fit$assumption
        ),
        kliep_infer = c(
            "false discovery rate" = number(fit$fdr),
            "no change at all, p-value" = number(fit$global$p_value),
            "shuffles" = number(fit$n_perm),
            "factors in the support" = number(nrow(fit$support)),
            "level of the intervals" = number(fit$level),
            if (!is.null(fit$reasons))
                c("why" = paste(fit$reasons, collapse = " "))
        ),
        kliep_debias = c(
            "estimator" = fit$settings$estimator,
            "level" = number(fit$level),
            "lambda" = number(fit$settings$lambda),
            "row_lambda" = number(fit$settings$row_lambda),
            "bootstrap draws" = number(fit$settings$n_boot)
        )
    )
}

selection_settings <- function(fit) {
    row <- fit$scores[fit$scores$selected, ]
    c(
        "criterion" = if (fit$criterion == "cv")
            paste0(fit$folds, "-fold cross-validation") else
            "likelihood of hold-out samples",
        "rule" = fit$rule,
        "candidates" = format(length(unique(fit$scores$candidate))),
        "chosen" = paste0(row$candidate, " at lambda2 = ",
                          format(row$lambda2, digits = 4L)),
        "score" = paste0(format(row$score, digits = 4L), " (standard error ",
                         format(row$se, digits = 2L), ")")
    )
}

# The lines that print() has, as facts.
printed_settings <- function(path) {
    lines <- sub("^  ", "", format_settings(path))
    stats::setNames(sub("^\\S+ +", "", lines), sub(" .*", "", lines))
}

path_settings <- function(fit) {
    path <- path_of(fit)
    if (inherits(path, c("kliep_debias", "kliep_infer"))) {
        return(c("features" = name_features(path$spec$features),
                 "standardize" = path$spec$standardize))
    }
    grid <- range(path$lambda2)
    c(printed_settings(path), "lambda2" = paste0(
        count_of(length(path$lambda2), "value"), ", ",
        paste(unique(format(rev(grid), digits = 3L)), collapse = " to "),
        "; nothing is detected from ", format(path$lambda_max, digits = 3L),
        " upwards"
    ))
}

# ---- diagnostics -----------------------------------------------------------

# With a verdict each: "good", or "caution" and why.
diagnostic_facts <- function(fit) {
    path <- path_of(fit)
    facts <- if (inherits(fit, "kliep_windows")) {
        window_diagnostics(fit)
    } else if (inherits(fit, "kliep_time")) {
        drift_diagnostics(fit)
    } else if (inherits(path, "kliep_debias")) {
        inference_diagnostics(path)
    } else if (inherits(path, "kliep_infer")) {
        calibration_diagnostics(path)
    } else {
        c(path_diagnostics(path), weight_diagnostics(fit, path))
    }
    if (!is.null(fit$failures)) {
        facts <- c(facts, list("replicates that failed" = c(
            format(nrow(fit$failures)),
            if (nrow(fit$failures) > 0L) "caution: they are left out" else
                "good"
        )))
    }
    data.frame(what = names(facts),
               value = vapply(facts, `[[`, "", 1L, USE.NAMES = FALSE),
               verdict = vapply(facts, `[[`, "", 2L, USE.NAMES = FALSE))
}

path_diagnostics <- function(path) {
    rows <- path$diagnostics
    status <- table(factor(rows$status, unique(rows$status)))
    number <- function(value) {
        if (is.na(value)) "not known" else format(value, digits = 2L)
    }
    fitted <- rows[fitted_steps(path), ]
    short <- sum(!is_converged(fitted$status))
    ended <- which(is_unbounded(rows$status))
    list(
        "convergence" = c(
            paste(status, names(status), collapse = ", "),
            if (short == 0L) "good" else paste(
                "caution:", count_of(short, "value"), "of lambda2 without",
                "a solution to the tolerance"
            )
        ),
        "largest violation of the optimality conditions" =
            c(number(largest_of(fitted$kkt)), ""),
        "largest duality gap" = c(number(largest_of(fitted$gap)), ""),
        "unboundedness" = if (length(ended) > 0L) c(
            paste("the objective has no minimum at lambda2 =",
                  format(rows$lambda2[ended[1L]], digits = 3L), "or below"),
            "caution: the path ends there"
        ) else c("every lambda2 of the path has a minimum", "good")
    )
}

# Of the fit that was chosen, and along the path.
weight_diagnostics <- function(fit, path) {
    rows <- path$diagnostics[fitted_steps(path), ]
    if (nrow(rows) == 0L || all(is.na(rows$effective_size))) {
        return(list("effective sample size" = c("no observation is weighted",
                                                "")))
    }
    chosen <- if (inherits(fit, "kliep_test")) fit$selection$fit else fit$fit
    at <- if (is.null(chosen)) nrow(rows) else
        which.min(abs(rows$lambda2 - chosen$lambda2))
    size <- rows$effective_size[at]
    all <- weighted_rows(path)
    list("effective sample size of the weights" = c(
        paste0(format(size, digits = 3L), " of ", all, " at lambda2 = ",
               format(rows$lambda2[at], digits = 3L),
               if (nrow(rows) > 1L)
                   paste0("; along the path at least ",
                          format(min(rows$effective_size), digits = 3L))),
        if (few_carry(size, all)) "caution: a few observations carry the fit"
        else "good"
    ))
}

# Whether the bulk of the edges is spread as the shuffles are.
bulk_diagnostic <- function(result) {
    bulk <- abs(result$estimates$z[!result$estimates$changed])
    beyond <- mean(bulk > null_quantile(result$null, 0.95))
    list("edges beyond the 5 % point of the shuffles" = c(
        paste(format(100 * beyond, digits = 2L), "%"),
        if (beyond <= 0.08) "good" else
            "caution: more than chance explains, and not reported"
    ))
}

calibration_diagnostics <- function(result) {
    c(bulk_diagnostic(result), weight_of_tests(result))
}

# With few blocks narrow windows are left out, and variances mean little.
drift_diagnostics <- function(fit) {
    c(bulk_diagnostic(fit), list("blocks" = c(
        format(fit$n_blocks), if (fit$n_blocks >= 50) "good" else
            "caution: only wide windows are tested"
    )))
}

# How much stands behind one test.
weight_of_tests <- function(result) {
    logistic <- result$diagnostics$logistic
    if (!is.null(logistic)) {
        # The support ends at a tenth.
        return(list("coefficients fitted, of observations" = c(
            paste(logistic[["fitted"]], "of", sum(result$n)), "good"
        )))
    }
    df <- result$diagnostics$direct[["df"]]
    list(
        "effective sample size" = c(
            paste("no observation is weighted: the tests use moments of",
                  "both samples"), ""
        ),
        "smallest degrees of freedom of a variance" = c(
            format(df, digits = 2L),
            if (df >= 10) "good" else "caution: few observations decide"
        )
    )
}

# Over the fits of all windows.
window_diagnostics <- function(fit) {
    fits <- Filter(Negate(is.null), fit$fits)
    rows <- do.call(rbind, lapply(fits, function(one) {
        one$diagnostics[c("status", "kkt")]
    }))
    short <- sum(!is_converged(rows$status))
    list(
        "windows with a fit" = c(
            paste(length(fits), "of", nrow(fit$windows)),
            if (length(fits) == nrow(fit$windows)) "good" else
                "caution: the others have no edges"
        ),
        "convergence" = c(
            paste(sum(is_converged(rows$status)), "of", length(fits)),
            if (short == 0L) "good" else
                "caution: some are not solved to the tolerance"
        ),
        "largest violation of the optimality conditions" =
            c(format(largest_of(rows$kkt), digits = 2L), "")
    )
}

inference_diagnostics <- function(result) {
    status <- table(factor(result$diagnostics$status,
                           unique(result$diagnostics$status)))
    failed <- sum(!is_estimated(result$diagnostics$status))
    list(
        "estimates" = c(
            paste(status, names(status), collapse = ", "),
            if (failed == 0L) "good" else
                "caution: some edges have no estimate"
        ),
        "effective sample size of the weights" = c(
            say_effective_size(result),
            if (any(result$diagnostics$effective_size < result$n[["y"]] / 2,
                    na.rm = TRUE))
                "caution: below half, intervals may be too narrow" else "good"
        ),
        "optimality conditions, first stage" =
            c(format(result$first_kkt, digits = 2L), ""),
        "optimality conditions, rows" =
            c(format(worst_kkt(result), digits = 2L), "")
    )
}

# One row for each lambda2, window, test or, of a debiased estimate, edge.
report_steps <- function(fit) {
    if (inherits(fit, "kliep_windows")) return(fit$windows)
    if (inherits(fit, "kliep_time")) return(fit$drift)
    if (inherits(fit, "kliep_infer")) return(test_table(fit))
    path_of(fit)$diagnostics
}
