# Two groups at two times: the change of the change.

one <- kliep_control(threads = 1)

# Subjects of two groups with both of their visits, correlated by 0.6, each with
# the network of its group and time.
draw_visits <- function(networks, n) {
    draw <- function(first, second) {
        d <- ncol(first)
        u <- matrix(rnorm(n * d), n)
        v <- 0.6 * u + 0.8 * matrix(rnorm(n * d), n)
        rbind(u %*% chol(solve(first)), v %*% chol(solve(second)))
    }
    values <- rbind(draw(networks$x_late, networks$x_early),
                    draw(networks$y_late, networks$y_early))
    data.frame(values, arm = rep(c("drug", "placebo"), each = 2 * n),
               visit = rep(rep(c("after", "before"), each = n), 2),
               subject = c(rep(seq_len(n), 2), n + rep(seq_len(n), 2)))
}
base <- diag(5)
base[cbind(1:4, 2:5)] <- base[cbind(2:5, 1:4)] <- -0.4
# Time changes this edge in both groups, the drug another one.
common <- base
common[1, 2] <- common[2, 1] <- 0.4
treated <- common
treated[3, 4] <- treated[4, 3] <- 0.45
interact <- function(visits, ..., pair = "subject") {
    withr::with_seed(1, kliep_interaction(
        visits, "arm", "visit", contrast = c("drug", "placebo"),
        times = c("after", "before"), pair = pair, control = one, n_perm = 39,
        ...
    ))
}
visits <- withr::with_seed(3, draw_visits(list(
    x_late = treated, x_early = base, y_late = common, y_early = base
), 150))
found <- interact(visits)

test_that("what time changes in both groups cancels", {
    expect_s3_class(found, "kliep_interaction")
    got <- edges(found)
    expect_identical(paste(got$from, got$to)[1], "X3 X4")
    table <- found$estimates
    edge <- paste(table$from, table$to)
    expect_false(table$changed[edge == "X1 X2"])
    # Time did change it, by about as much in both.
    at <- edge == "X1 X2"
    expect_gt(abs(table$change_x[at]), 0.4)
    expect_gt(abs(table$change_y[at]), 0.4)
    truth <- (-cov2cor(treated) + cov2cor(common))[3, 4]
    own <- table[edge == "X3 X4", ]
    expect_true(own$lower < truth && truth < own$upper)
    expect_output(print(found), "after minus before")
    expect_output(print(found), "units +x: [0-9]+, y: [0-9]+")
    expect_identical(nrow(tidy(found)), 10L)
    expect_s3_class(autoplot(found), "ggplot")
    for (type in c("pairs", "conditions")) {
        expect_error(autoplot(found, type = type), "four samples",
                     class = "kliep_error_type")
    }
    expect_identical(nrow(summary(found)$tables[[2]]), 10L)
})

test_that("the other order of groups or times turns the signs", {
    swapped <- withr::with_seed(1, kliep_interaction(
        visits, "arm", "visit", contrast = c("placebo", "drug"),
        times = c("after", "before"), pair = "subject", control = one,
        n_perm = 39
    ))
    expect_equal(swapped$estimates$change_x, found$estimates$change_y)
    expect_equal(swapped$estimates$z, -found$estimates$z, tolerance = 1e-8)
    back <- withr::with_seed(1, kliep_interaction(
        visits, "arm", "visit", contrast = c("drug", "placebo"),
        times = c("before", "after"), pair = "subject", control = one,
        n_perm = 39
    ))
    expect_equal(back$estimates$change_x, -found$estimates$change_x,
                 tolerance = 1e-8)
})

test_that("subjects of one group add up before they are squared", {
    # With every visit twice, as two observations of one subject, nothing is
    # known that was not known before.
    twice <- visits[rep(seq_len(nrow(visits)), each = 2), ]
    again <- interact(twice)
    ratio <- again$estimates$se / found$estimates$se
    expect_lt(max(abs(ratio - 1)), 0.15)
    independent <- interact(twice[names(twice) != "subject"], pair = NULL)
    expect_lt(median(independent$estimates$se / found$estimates$se), 0.95)
})

test_that("level and power on a few pairs of groups", {
    # 20 tables without an interaction, but with a change over time.
    same <- list(x_late = common, x_early = base, y_late = common,
                 y_early = base)
    p <- vapply(1:20, function(seed) {
        table <- withr::with_seed(seed, draw_visits(same, 60))
        interact(table)$global$p_value
    }, 1)
    # At .1 two are expected; seven or more have a chance of .0024.
    expect_lt(sum(p <= 0.1), 7)
})

test_that("wrong designs say what to do", {
    refused <- function(pattern, data = visits, ...) {
        expect_error(interact(data, ...), pattern, class = "kliep_error")
    }
    shared <- transform(visits, subject = rep(seq_len(150), 4))
    refused("150 subjects in both groups", data = shared)
    refused("1 pair in one condition only: `1`", data = visits[-1, ])
    refused("needs features with a closed form",
            spec = feat_polynomial())
    refused("no `subjet` for pair", pair = "subjet")
    expect_error(withr::with_seed(1, kliep_interaction(
        visits, "arm", "visit", times = c("after", "later"), pair = "subject"
    )), "`time` has no `later`", class = "kliep_error")
    expect_error(kliep_interaction(visits, "arm", "vist"),
                 "no `vist` to group by", class = "kliep_error_group")
    three <- transform(visits, visit = rep(c("a", "b", "c"), 200))
    expect_error(kliep_interaction(three, "arm", "visit"),
                 "`time` must have two levels: got 3.*times = c",
                 class = "kliep_error_group")
})
