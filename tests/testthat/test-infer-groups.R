# More than two groups.

one <- kliep_control(threads = 1)
grouped <- withr::with_seed(4, {
    pair <- sim_gaussian(d = 6, n = c(x = 600, y = 300), density = 0.4,
                         edge = 0.4, n_changed = 2, change = -0.8)
    list(pair = pair, values = rbind(pair$y, pair$x),
         group = rep(c("a", "b", "c"), each = 300))
})
compare <- function(..., group = grouped$group) {
    withr::with_seed(1, kliep_groups(grouped$values, group, control = one,
                                     n_perm = 19, ...))
}
all_pairs <- compare()

test_that("all pairs: planted changes, and the odd group", {
    expect_identical(all_pairs$contrasts$contrast,
                     c("b - a", "c - a", "c - b"))
    truth <- grouped$pair$truth
    label <- function(table) paste(table$from, table$to)
    for (contrast in c("b - a", "c - a")) {
        found <- edges(all_pairs, contrast = contrast)
        expect_true(all(label(truth) %in% label(found)))
    }
    expect_true(all(label(truth) %in%
                        label(all_pairs$omnibus[all_pairs$omnibus$changed, ])))
    expect_identical(all_pairs$odd$group[which.max(all_pairs$odd$n_edges)],
                     "a")
    expect_output(print(all_pairs),
                  "`a` differs\\s+from\\s+all\\s+others\\s+in\\s+2 edges")
    expect_output(print(summary(all_pairs)), "over all contrasts")
})

test_that("error control is over edges and contrasts together", {
    table <- all_pairs$estimates
    expect_identical(nrow(table), 45L)
    expect_equal(table$q_value, p.adjust(table$p_value, "BH"))
    single <- do.call(rbind, lapply(all_pairs$fits, function(fit) {
        fit$estimates$p_value
    }))
    combined <- apply(single, 2, function(p) {
        0.5 - atan(mean(tan((0.5 - p) * pi))) / pi
    })
    expect_equal(all_pairs$omnibus$p_value, combined, tolerance = 1e-9)
    # Where nothing differs, nothing is reported.
    none <- withr::with_seed(5, kliep_groups(
        matrix(rnorm(900), 180), rep(1:3, 60), control = one, n_perm = 19
    ))
    expect_identical(sum(none$estimates$changed), 0L)
    expect_output(print(none), "No difference found")
})

test_that("a reference, and each against the rest", {
    reference <- compare(contrasts = "reference")
    expect_identical(reference$contrasts$contrast, c("b - a", "c - a"))
    expect_gt(reference$odd$n_edges[reference$odd$group == "a"], 0)
    expect_true(is.na(reference$odd$n_edges[reference$odd$group == "b"]))
    other <- contrast_table(letters[1:3], "reference", "c")
    expect_identical(other$contrast, c("a - c", "b - c"))
    rest <- compare(contrasts = "rest")
    expect_identical(rest$contrasts$n_y, c(600L, 600L, 600L))
    expect_identical(rest$contrasts$y, rep("rest", 3))
})

test_that("ordered groups have a trend", {
    ordered <- factor(grouped$group, c("a", "b", "c"), ordered = TRUE)
    trend <- compare(group = ordered)$omnibus
    first <- all_pairs$fits[["c - a"]]$estimates$estimate
    # Over three levels it is half the difference of the ends.
    expect_equal(trend$trend, first / 2, tolerance = 1e-9)
    expect_true(all(trend$se_trend > 0 & trend$p_trend <= 1))
    changed <- paste(trend$from, trend$to) %in%
        paste(grouped$pair$truth$from, grouped$pair$truth$to)
    expect_lt(max(trend$p_trend[changed]), 0.01)
    expect_null(compare(group = ordered, contrasts = "rest")$omnibus$trend)
    expect_null(all_pairs$omnibus$trend)
})

test_that("pictures have a panel for each contrast, or for each edge", {
    plot <- autoplot(all_pairs, max_edges = 4)
    expect_s3_class(plot, "ggplot")
    expect_identical(nrow(plot$data), 12L)
    profiles <- autoplot(all_pairs, type = "edges", max_edges = 2)
    expect_identical(nrow(profiles$data), 6L)
    fit <- all_pairs$fits[["b - a"]]$estimates
    at <- all_pairs$profiles
    own <- at$partial[at$group == "b" & at$from == fit$from[1] &
                          at$to == fit$to[1]]
    expect_lt(abs(own - fit$partial_x[1]), 0.05)
})

test_that("groups come from columns, and take designs", {
    table <- data.frame(grouped$values, arm = grouped$group,
                        age = rep(1:9, 100))
    named <- withr::with_seed(1, kliep_groups(
        table, "arm", adjust = ~ age, control = one, n_perm = 19
    ))
    expect_identical(named$variables, colnames(grouped$values))
    expect_identical(named$contrasts$n_x, rep(298L, 3))
    expect_error(kliep_groups(grouped$values, rep(1:2, 450)),
                 "three levels or more: got 2", class = "kliep_error_group")
    expect_error(compare(reference = "z"), "must be one of the groups",
                 class = "kliep_error_group")
    expect_error(compare(top_variable = 3), "Choose them first",
                 class = "kliep_error_argument")
    expect_error(edges(all_pairs, contrast = "a - b"),
                 "must be among .*: got `a - b`",
                 class = "kliep_error_argument")
})

test_that("data frames with columns of several types have their features", {
    draw <- function(n, slope) {
        answer <- factor(sample(c("no", "maybe", "yes"), n, TRUE))
        data.frame(answer, score = slope * (answer == "yes") + rnorm(n),
                   age = rnorm(n), smokes = rbinom(n, 1, 0.5))
    }
    table <- withr::with_seed(6, rbind(draw(200, 2), draw(200, 0),
                                       draw(200, 0)))
    dose <- factor(rep(1:3, each = 200), ordered = TRUE)
    found <- withr::with_seed(1, kliep_groups(table, dose, control = one,
                                              n_perm = 19))
    expect_identical(found$spec$features$kind, feat_mixed()$kind)
    got <- edges(found)
    expect_setequal(paste(got$contrast, got$from, got$to),
                    paste(c("2 - 1", "3 - 1"), "answer score"))
    # A norm has no sign: every contrast with the first level says it.
    expect_identical(found$odd$n_edges[match(1:3, found$odd$group)],
                     c(1L, 0L, 0L))
    at <- found$omnibus$from == "answer"
    expect_true(all(is.na(found$omnibus$trend[at])))
    expect_false(anyNA(found$omnibus$q_trend[!at]))
})

# Contrasts one after the other, as kliep_infer() has them without a test of
# what correlations do not show, whose shuffles would be drawn in between.
test_alone <- function(contrasts, group, ..., values = grouped$values) {
    space <- asNamespace("kliepnet")
    found <- space$find_grouped(values, group)
    withr::with_seed(1, lapply(contrasts, function(contrast) {
        table <- list(x = contrast[1L], y = contrast[2L])
        own <- space$contrast_samples(found, table, list(...))
        spec <- space$as_spec(kliep_spec(feat_nonparanormal(), control = one),
                              own$rest)
        how <- space$check_inference(0.1, 0.95, 19, FALSE)
        part <- space$ready_part(own, spec, how)
        changes <- space$find_shared_changes(list(part), how)[[1L]]
        space$part_result(part, changes, how, NULL)
    }))
}

expect_same_tests <- function(groups, alone) {
    of <- function(fit) {
        fit$estimates$q_beyond <- NULL
        fit[c("estimates", "global", "support", "null", "diagnostics", "n",
              "samples")]
    }
    expect_identical(lapply(unname(groups$fits), of), lapply(alone, of))
}

test_that("contrasts that share samples are those of two samples alone", {
    pairs <- list(c("b", "a"), c("c", "a"), c("c", "b"))
    expect_same_tests(all_pairs, test_alone(pairs, grouped$group))
    expect_same_tests(compare(contrasts = "rest"), test_alone(
        list(c("a", "rest"), c("b", "rest"), c("c", "rest")), grouped$group
    ))
    # The first as a user calls it.
    first <- grouped$group != "c"
    alone <- withr::with_seed(1, kliep_infer(
        grouped$values[first, ], spec = feat_nonparanormal(),
        group = grouped$group[first], control = one, n_perm = 19
    ))
    same <- setdiff(names(alone$estimates), "q_beyond")
    expect_identical(all_pairs$fits[[1L]]$estimates[same],
                     alone$estimates[same])
    expect_identical(all_pairs$fits[[1L]]$global, alone$global)
})

test_that("so they are with covariates, units, strata and other features", {
    age <- data.frame(age = rep(1:9, 100))
    unit <- rep(1:180, each = 5)
    pairs <- list(c("b", "a"), c("c", "a"), c("c", "b"))
    for (given in list(list(adjust = age), list(unit = unit),
                       list(adjust = age, adjust_common = TRUE))) {
        expect_same_tests(do.call(compare, given),
                          do.call(test_alone, c(list(pairs, grouped$group),
                                                given)))
    }
    # Logistic tests look at both samples together, and share nothing.
    spins <- sign(grouped$values[, 1:4])
    site <- rep(1:2, 450)
    found <- withr::with_seed(1, kliep_groups(
        spins, grouped$group, strata = site, control = one, n_perm = 19
    ))
    first <- grouped$group != "c"
    alone <- withr::with_seed(1, kliep_infer(
        spins[first, ], spec = feat_ising(), group = grouped$group[first],
        strata = site[first], control = one, n_perm = 19
    ))
    expect_identical(found$fits[[1L]]$estimates, alone$estimates)
})

test_that("what depends on one group alone is computed once for each", {
    samples <- lapply(c(3, 4, 5, 3), function(seed) {
        withr::with_seed(seed, matrix(rnorm(80), 20))
    })
    calls <- 0
    done <- once_each(samples, function(sample) {
        calls <<- calls + 1
        sum(sample)
    })
    expect_identical(calls, 3)
    expect_identical(done, lapply(samples, sum))

    # Six groups have 15 contrasts, and every variable of a group is regressed
    # once: its steps are counted as progress.
    values <- withr::with_seed(2, matrix(rnorm(120 * 5), 120))
    group <- rep(letters[1:6], each = 20)
    pairs <- utils::combn(letters[1:6], 2, simplify = FALSE)
    steps <- function(pairs) {
        contrasts <- lapply(pairs, function(pair) {
            as_contrast(values[group == pair[1], ], values[group == pair[2], ])
        })
        total <- 0
        regress_contrasts(contrasts, one, function(done, all) total <<- all)
        total
    }
    of_each <- 5 + length(penalty_steps)
    expect_equal(steps(pairs), 6 * of_each)
    expect_equal(sum(vapply(pairs, function(pair) steps(list(pair)), 1)),
                 30 * of_each)
})

test_that("groups do not test what correlations do not show, and say how", {
    expect_true(all(is.na(all_pairs$fits[[1L]]$estimates$q_beyond)))
    two <- withr::with_seed(1, kliep_infer(all_pairs$fits[[1L]], n_perm = 19))
    expect_false(anyNA(two$estimates$q_beyond))
})

test_that("small groups are named, and messages come once", {
    few <- replace(grouped$group, 7, "d")
    expect_error(compare(group = few), "Group `d` has 1 observation,",
                 class = "kliep_error_size")
    said <- character()
    found <- withCallingHandlers(
        compare(group = replace(grouped$group, 3, NA), na = "omit",
                unit = rep(1:18, each = 50)),
        kliep_message = function(m) said <<- c(said, conditionMessage(m)),
        kliep_warning = function(w) {
            said <<- c(said, conditionMessage(w))
            invokeRestart("muffleWarning")
        }
    )
    expect_identical(anyDuplicated(said), 0L)
    expect_identical(sum(grepl("without a condition", said)), 1L)
    expect_identical(found$contrasts$units_x, rep(6L, 3))
    expect_output(print(found), "design +units\n")
})

test_that("missing values are those of each contrast", {
    values <- grouped$values[, 1:4]
    values[seq(1, length(values), 40)] <- NA
    for (na in c("pairwise", "impute")) {
        found <- suppressMessages(withr::with_seed(1, kliep_groups(
            values, grouped$group, na = na, control = one, n_perm = 19
        )))
        first <- grouped$group != "c"
        alone <- suppressMessages(withr::with_seed(1, {
            # All contrasts are completed before the first is tested.
            own <- lapply(utils::combn(c("a", "b", "c"), 2, simplify = FALSE),
                          function(pair) {
                two_samples(values, group = grouped$group, na = na,
                            contrast = rev(pair))
            })[[1L]]
            own$rest <- list()
            how <- check_inference(0.1, 0.95, 19, FALSE)
            test_all_edges(own, kliep_spec(feat_nonparanormal(),
                                           control = one), how, NULL)
        }))
        expect_identical(found$fits[[1L]]$estimates, alone$estimates)
        expect_s3_class(found, "kliep_groups")
    }
})
