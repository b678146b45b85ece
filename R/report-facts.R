# What a report says in words and numbers: the summary, the facts about data
# and settings, and the diagnostics with a verdict each.

# A sentence or two.
report_summary <- function(fit, lambda2 = NULL) {
    path <- path_of(fit)
    found <- edges(fit, lambda2 = lambda2)
    what <- switch(
        report_kind(fit),
        kliep_test = paste0("kept by permutation at level ",
                            format(fit$alpha), say_global(fit)),
        kliep_stability = paste("named by", format(100 * fit$threshold),
                                "% of all halves or more"),
        kliep_infer = paste0(
            "changed at a false discovery rate of ", format(fit$fdr),
            say_global(fit)
        ),
        kliep_debias = paste("that have changed at a false discovery rate",
                             "of", format(1 - fit$level)),
        "detected"
    )
    top <- hubs(fit, lambda2 = lambda2)
    text <- paste0(
        if (is.null(fit$conditions)) "Two samples" else
            paste(escape_markdown(fit$conditions[["x"]]), "against",
                  escape_markdown(fit$conditions[["y"]])),
        ", ", path$n[["x"]], " and ", path$n[["y"]], " observations of ",
        count_of(length(path$variables), "variable"),
        ": ", count_of(nrow(found), "edge"), " ", what, ", among ",
        count_of(nrow(top), "variable"), "."
    )
    if (nrow(top) == 0L) return(text)
    paste0(text, " Most has changed around ", escape_markdown(top$variable[1L]),
           " (", count_of(top$degree[1L], "edge"), ").")
}

say_global <- function(fit) {
    paste0(" (no change at all: p = ",
           format(fit$global$p_value, digits = 2L), ")")
}

escape_markdown <- function(text) gsub("([][*_`<>$^~\\\\])", "\\\\\\1", text)

# What there is to say about "data", "settings" or "diagnostics".
report_facts <- function(fit, about) {
    if (about == "diagnostics") return(diagnostic_facts(fit))
    facts <- if (about == "data") data_facts(path_of(fit), fit$conditions) else
        c(own_settings(fit), path_settings(fit))
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
        "variables" = paste0(
            format(length(path$variables), big.mark = ","), ": ",
            paste(utils::head(path$variables, 6L), collapse = ", "),
            if (length(path$variables) > 6L) ", ..."
        ),
        "factors" = format(n_factors_of(path$spec$features,
                                        length(path$variables)),
                           big.mark = ",")
    )
    # An inference does not keep them, and those of scores say nothing.
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

# What only this kind of result has.
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
            "edges named by each half" = number(fit$q),
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
path_settings <- function(fit) {
    path <- path_of(fit)
    if (inherits(path, c("kliep_debias", "kliep_infer"))) {
        return(c("features" = name_features(path$spec$features),
                 "standardize" = path$spec$standardize))
    }
    lines <- sub("^  ", "", format_settings(path))
    facts <- stats::setNames(sub("^\\S+ +", "", lines), sub(" .*", "", lines))
    grid <- range(path$lambda2)
    c(facts, "lambda2" = paste0(
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
    facts <- if (inherits(path, "kliep_debias")) {
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
calibration_diagnostics <- function(result) {
    bulk <- abs(result$estimates$z[!result$estimates$changed])
    beyond <- mean(bulk > null_quantile(result$null, 0.95))
    c(
        list("edges beyond the 5 % point of the shuffles" = c(
            paste(format(100 * beyond, digits = 2L), "%"),
            if (beyond <= 0.08) "good" else
                "caution: more than chance explains, and not reported"
        )),
        weight_of_tests(result)
    )
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
            paste("no observation is weighted: the tests go by moments of",
                  "both samples"), ""
        ),
        "smallest degrees of freedom of a variance" = c(
            format(df, digits = 2L),
            if (df >= 10) "good" else "caution: few observations decide"
        )
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

# One row for each lambda2, or for each edge of an inference.
report_steps <- function(fit) {
    if (inherits(fit, "kliep_infer")) return(test_table(fit))
    path_of(fit)$diagnostics
}
