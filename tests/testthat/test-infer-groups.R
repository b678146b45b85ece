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
