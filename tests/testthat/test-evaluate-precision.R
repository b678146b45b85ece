# A path over A .. E (10 edges) with known detections: `steps` has one list of
# edges for each lambda2, as "AB" = weight.
hand_path <- function(steps, status = "converged") {
    path <- fitted_path
    variables <- path$variables
    n <- length(steps)
    rows <- lapply(seq_len(n), function(step) {
        edges <- names(steps[[step]])
        data.frame(
            step = rep(step, length(edges)),
            from = match(substr(edges, 1, 1), variables),
            to = match(substr(edges, 2, 2), variables),
            term = rep(1L, length(edges)),
            value = as.double(unlist(steps[[step]]))
        )
    })
    path$coefficients <- do.call(rbind, rows)
    path$lambda2 <- as.double(rev(seq_len(n)))
    path$diagnostics <- data.frame(lambda2 = path$lambda2,
                                   status = rep_len(status, n))
    path
}

fitted_path <- local({
    pair <- random_pair(5, 20)
    colnames(pair$x) <- colnames(pair$y) <- LETTERS[1:5]
    kliep_path(pair$x, pair$y, nlambda = 2)
})

truth <- data.frame(from = c("B", "C", "E"), to = c("A", "D", "A"))

test_that("counts and rates at every lambda2 are those of hand counting", {
    path <- hand_path(list(
        list(),
        list(AB = 0.1, AA = 3),
        list(AB = 0.2, BC = -0.5, CD = 0.3, CC = -1),
        list(BC = -0.6, CD = 0.4, DE = 0.1, AE = 0.1)
    ))
    points <- pr_curve(path, truth)$points
    expect_equal(points$lambda2, 4:1)
    expect_equal(points$n_detected, c(0, 1, 3, 4))
    expect_equal(points$tp, c(0, 1, 2, 2))
    expect_equal(points$fp, c(0, 0, 1, 2))
    expect_equal(points$precision, c(NA, 1, 2 / 3, 1 / 2))
    expect_equal(points$recall, c(0, 1, 2, 2) / 3)
    expect_equal(points$tpr, points$recall)
    expect_equal(points$fpr, c(0, 0, 1, 2) / 7)
    expect_equal(points$f1, c(0, 2 / 4, 4 / 6, 4 / 7))
    expect_equal(pr_curve(path, truth)$best, points[3, ])
})

test_that("the ranking is by entry, then by weight, and ties share a place", {
    path <- hand_path(list(
        list(AB = 0.1),
        list(AB = 0.9, BC = -0.5, CD = 0.3, AC = -0.3),
        # BC has left; it stays where it entered.
        list(DE = 0.2, AE = 0.7, CD = 2)
    ))
    found <- pr_curve(path, truth)
    expect_equal(paste0(found$ranking$from, found$ranking$to),
                 c("AB", "BC", "AC", "CD", "AE", "DE"))
    expect_equal(found$ranking$place, c(1, 2, 3, 3, 4, 5))
    expect_equal(found$ranking$enters, c(3, 2, 2, 2, 1, 1))
    expect_equal(found$ranking$weight, c(0.1, -0.5, -0.3, 0.3, 0.7, 0.2))
    expect_equal(found$ranking$changed,
                 c(TRUE, FALSE, FALSE, TRUE, TRUE, FALSE))
    # After each place, and with all ten edges at the end.
    expect_equal(found$curve$tp, c(1, 1, 2, 3, 3, 3))
    expect_equal(found$curve$fp, c(0, 1, 2, 2, 3, 7))
    expect_equal(found$curve$precision, c(1, 1 / 2, 2 / 4, 3 / 5, 1 / 2, 0.3))
    expect_equal(found$average_precision, (1 + 2 / 4 + 3 / 5) / 3)
    # Pairs of a changed edge and another in the right order, ties half:
    # AB beats 7, CD 5 and ties with AC, AE 5.
    expect_equal(found$area_roc, (7 + 5 + 0.5 + 5) / 21)
})

test_that("the ranking by weight is that of one lambda2", {
    path <- hand_path(list(
        list(AB = 0.1),
        list(AB = 0.2, BC = -0.5, CD = 0.3, AC = -0.3)
    ))
    found <- pr_curve(path, truth, rank = "weight")
    expect_equal(paste0(found$ranking$from, found$ranking$to),
                 c("BC", "AC", "CD", "AB"))
    expect_equal(found$ranking$place, c(1, 2, 2, 3))
    expect_equal(found$ranking$enters, c(1, 1, 1, 2))
    expect_equal(found$average_precision, (1 / 3 + 2 / 4 + 3 / 10) / 3)
    first <- pr_curve(path, truth, rank = "weight", lambda2 = 2)
    expect_equal(nrow(first$ranking), 1)
    expect_equal(first$points, found$points)
})

all_edges <- apply(utils::combn(LETTERS[1:5], 2), 2, paste, collapse = "")

test_that("empty and complete predictions score what guessing scores", {
    complete <- stats::setNames(as.list(rep(1, 10)), all_edges)
    for (steps in list(list(list(), list()), list(complete))) {
        found <- pr_curve(hand_path(steps), truth)
        expect_equal(found$average_precision, 3 / 10)
        expect_equal(found$area, 3 / 10)
        expect_equal(found$area_roc, 1 / 2)
        expect_equal(found$guess, 3 / 10)
        expect_equal(found$curve$precision, 3 / 10)
        expect_equal(found$curve$recall, 1)
    }
    expect_equal(found$points$precision, 3 / 10)
    expect_equal(found$points$recall, 1)
    expect_equal(found$points$fpr, 1)
    empty <- pr_curve(hand_path(list(list())), truth)
    expect_equal(nrow(empty$ranking), 0)
    expect_identical(empty$points$precision, NA_real_)
    expect_equal(empty$points$recall, 0)
    expect_equal(empty$points$f1, 0)
})

test_that("perfect and worst orders score one and the least there is", {
    order <- function(edges) {
        weights <- stats::setNames(as.list(rev(seq_along(edges))), edges)
        pr_curve(hand_path(list(weights)), truth)
    }
    best <- order(c("AB", "AE", "CD", setdiff(all_edges, c("AB", "AE", "CD"))))
    expect_equal(best$average_precision, 1)
    expect_equal(best$area, 1)
    expect_equal(best$area_roc, 1)
    worst <- order(c(setdiff(all_edges, c("AB", "AE", "CD")),
                     "AB", "AE", "CD"))
    expect_equal(worst$average_precision, mean(c(1 / 8, 2 / 9, 3 / 10)))
    expect_equal(worst$area_roc, 0)
    expect_equal(worst$best$f1, 2 * 3 / (10 + 3))
})

test_that("no change, nothing but change and no fit at all have their values", {
    path <- hand_path(list(list(AB = 1), list(AB = 1, CD = 2)))
    none <- pr_curve(path, truth[0, ])
    expect_equal(none$points$precision, c(0, 0))
    expect_true(all(is.na(none$points$recall)))
    expect_true(is.na(none$average_precision))
    expect_true(is.na(none$area))
    expect_equal(none$guess, 0)
    every <- pr_curve(path, matrix(1, 5, 5))
    expect_equal(every$points$precision, c(1, 1))
    expect_equal(every$average_precision, 1)
    expect_true(is.na(every$area_roc))
    ended <- pr_curve(hand_path(list(list()), status = "unbounded"), truth)
    expect_equal(nrow(ended$points), 0)
    expect_equal(nrow(ended$best), 0)
    expect_equal(ended$average_precision, 3 / 10)
    expect_equal(pr_curve(hand_path(list(list()), status = "unbounded"), truth,
                          rank = "weight")$average_precision, 3 / 10)
})

test_that("the area is the integral of the interpolated precision", {
    path <- hand_path(list(
        list(AC = 1),
        list(AC = 1, AB = 0.5, CD = 0.5, BC = 0.5, BD = 0.5),
        list(AC = 1, AE = 0.1)
    ))
    found <- pr_curve(path, truth)
    # (0, 1) -> (2, 3) by fp = 1 + tp, then (2, 3) -> (3, 3).
    first <- stats::integrate(function(t) t / (t + 1 + t), 0, 2)$value
    second <- stats::integrate(function(t) t / (t + 3), 2, 3)$value
    expect_equal(found$area, (first + second) / 3, tolerance = 1e-6)
})

test_that("the ROC area of ties is the mean over all their orders", {
    tied <- c("AB", "BC", "BD", "CD")
    steps <- list(stats::setNames(as.list(rep(1, 4)), tied))
    found <- pr_curve(hand_path(steps), truth)
    orders <- unique(expand.grid(rep(list(1:4), 4)))
    orders <- orders[apply(orders, 1, anyDuplicated) == 0, ]
    areas <- apply(orders, 1, function(order) {
        weights <- stats::setNames(as.list(order), tied)
        pr_curve(hand_path(list(weights)), truth)$area_roc
    })
    expect_length(areas, 24)
    expect_gt(sd(areas), 0)
    expect_equal(found$area_roc, mean(areas))
})

test_that("every form of truth says the same", {
    path <- hand_path(list(list(AB = 1), list(AB = 1, BC = 2, CD = 0.1)))
    expected <- pr_curve(path, truth)
    same <- function(form) expect_equal(pr_curve(path, form), expected)
    same(truth[3:1, ])
    same(stats::setNames(truth[2:1], c("from", "to")))
    same(rbind(truth, truth[2:1]))
    same(data.frame(from = factor(truth$from), to = factor(truth$to)))
    same(data.frame(from = c(1, 3, 5), to = c(2, 4, 1)))
    m <- matrix(0, 5, 5)
    m[cbind(c(2, 3, 5), c(1, 4, 1))] <- c(1, -0.4, 2)
    same(m)
    same(m != 0)
    same(m + t(m) + diag(5))
    same(Matrix::Matrix(m, sparse = TRUE))
    named <- m
    dimnames(named) <- list(LETTERS[1:5], LETTERS[1:5])
    same(named[5:1, 5:1])
    pair <- sim_gaussian(d = 5, n = 5, n_changed = 2)
    colnames(pair$x) <- colnames(pair$y) <- LETTERS[1:5]
    pair$truth <- truth
    same(pair)
})

test_that("permuting and renaming variables changes nothing", {
    set.seed(2)
    pair <- sim_gaussian(d = 8, n = 200, n_changed = 4)
    fit <- function(x, y) {
        kliep_path(x, y, nlambda = 15, control = kliep_control(tol = 1e-10))
    }
    expected <- pr_curve(fit(pair$x, pair$y), pair)
    order <- sample(8)
    permuted <- pr_curve(fit(pair$x[, order], pair$y[, order]), pair)
    parts <- c("average_precision", "area", "area_roc", "guess")
    expect_equal(permuted[parts], expected[parts])
    expect_equal(permuted$points, expected$points)
    rename <- function(name) {
        paste0("gene_", chartr("12345678", "38152764", name))
    }
    x <- pair$x
    y <- pair$y
    colnames(x) <- colnames(y) <- rename(colnames(x))
    truth <- data.frame(from = rename(pair$truth$from),
                        to = rename(pair$truth$to))
    turned <- data.frame(from = rev(truth$to), to = rev(truth$from))
    renamed <- pr_curve(fit(x, y), turned)
    expect_equal(renamed[c(parts, "points", "curve")],
                 expected[c(parts, "points", "curve")])
})

test_that("the path of a selection is evaluated", {
    set.seed(3)
    pair <- sim_gaussian(d = 6, n = 60, density = 0.4, n_changed = 2)
    chosen <- kliep_select(pair$x, pair$y, nlambda = 8, folds = 2)
    expect_equal(pr_curve(chosen, pair), pr_curve(chosen$path, pair))
})

test_that("the exact support comes out with enough observations only", {
    # `make bench ONLY=consistency` is the whole study.
    exact <- function(ratio) {
        mean(vapply(1:12, function(seed) {
            set.seed(seed)
            n <- round(ratio * log(25))
            pair <- sim_lattice(m = 25, n = n)
            fit <- paper_change(pair$x, pair$y, lambda1 = 0,
                                lambda2 = 2 * sqrt(log(25) / n),
                                standardize = "none")
            points <- pr_curve(fit, pair)$points
            points$tp == 4 && points$fp == 0
        }, TRUE))
    }
    expect_lt(exact(60), 0.4)
    expect_gt(exact(150), 0.8)
})

test_that("bad truth gets a classed error that names what is wrong", {
    path <- hand_path(list(list(AB = 1)))
    bad <- function(truth, pattern) {
        expect_error(pr_curve(path, truth), pattern,
                     class = "kliep_error_truth")
    }
    bad(data.frame(from = c("A", "X"), to = c("Y", "B")),
        "not in the fit: `X`, `Y`")
    bad(data.frame(from = 1, to = 6), "`6`")
    bad(data.frame(from = 1.5, to = 2), "`1.5`")
    bad(data.frame(from = NA, to = "A"), "`NA`")
    bad(data.frame(from = "A", to = "A"), "themselves: `A`")
    bad(data.frame(a = 1), "must be a `network_pair`")
    bad("AB", "must be a `network_pair`")
    bad(NULL, "got NULL")
    bad(matrix("a", 5, 5), "must be a `network_pair`")
    bad(matrix(0, 5, 4), "must be a `network_pair`")
    bad(matrix(0, 4, 4), "5 variables: got a 4 x 4 matrix")
    bad(matrix(NA, 5, 5), "missing")
    m <- matrix(0, 5, 5, dimnames = list(c(LETTERS[1:4], "Z"), NULL))
    bad(m, "`Z`")
    m <- matrix(0, 5, 5, dimnames = list(LETTERS[1:5], LETTERS[5:1]))
    bad(m, "alike")
    bad(sim_gaussian(d = 6, n = 5, n_changed = 2), "`V")
    expect_error(pr_curve(list(), truth), class = "kliep_error_type")
    expect_error(pr_curve(path, truth, rank = "size"),
                 class = "kliep_error_argument")
})

test_that("mean curves are the means, with their standard errors", {
    one <- pr_curve(hand_path(list(list(AB = 3, CD = 2, BC = 1))), truth)
    two <- pr_curve(hand_path(list(list(BC = 3, AB = 2, CD = 1, AE = 0.5))),
                    truth)
    mean <- pr_average(list(one, two), recall = c(0, 0.1, 1 / 3, 0.5, 1))
    first <- c(1, 1, 1, 1, 3 / 10)
    second <- c(1 / 2, 1 / 2, 1 / 2, 2 / 3, 3 / 4)
    expect_equal(mean$curve$precision, (first + second) / 2)
    expect_equal(mean$curve$se, abs(first - second) / 2)
    expect_equal(mean$runs, 2)
    scores <- c(one$average_precision, two$average_precision)
    expect_equal(mean$average_precision,
                 c(mean = mean(scores), se = sd(scores) / sqrt(2)))
    expect_equal(mean$guess, c(mean = 0.3, se = 0))
    single <- pr_average(one)
    expect_true(all(is.na(single$curve$se)))
    # The area under the mean curve is the mean score.
    fine <- pr_average(list(one, two), seq(1e-4, 1, by = 1e-4))
    expect_equal(mean(fine$curve$precision), mean(scores), tolerance = 1e-3)
    expect_equal(nrow(pr_average(list(one, two), 0.5)$curve), 1)
})

test_that("what cannot be averaged gets a classed error", {
    one <- pr_curve(hand_path(list(list(AB = 3))), truth)
    none <- pr_curve(hand_path(list(list(AB = 3))), truth[0, ])
    expect_error(pr_average(list()), class = "kliep_error_type")
    expect_error(pr_average(list(one, 1)), class = "kliep_error_type")
    expect_error(pr_average(list(one, none)), "curve 2",
                 class = "kliep_error_truth")
    for (bad in list(c(0, 1.1), -1, NA, "a", numeric())) {
        expect_error(pr_average(one, bad), class = "kliep_error_argument")
    }
})

test_that("curves print their scores", {
    path <- hand_path(list(list(AB = 1), list(AB = 1, BC = 2, CD = 0.1)))
    found <- pr_curve(path, truth)
    expect_snapshot({
        found
        pr_curve(path, truth[0, ])
        pr_average(list(found, found))
        pr_average(found)
    })
})

test_that("every picture of a curve draws", {
    path <- hand_path(list(list(AB = 1), list(AB = 1, BC = 2, CD = 0.1)))
    draws <- function(plot) {
        expect_s3_class(plot, "ggplot")
        file <- withr::local_tempfile(fileext = ".png")
        ggplot2::ggsave(file, plot, width = 5, height = 4, dpi = 50)
        expect_gt(file.size(file), 0)
    }
    found <- pr_curve(path, truth)
    draws(autoplot(found))
    draws(autoplot(found, type = "roc"))
    draws(autoplot(pr_curve(path, truth[0, ])))
    draws(autoplot(pr_curve(hand_path(list(list())), truth)))
    draws(autoplot(pr_curve(hand_path(list(list()), status = "unbounded"),
                            truth)))
    draws(autoplot(pr_average(list(found, found))))
    draws(autoplot(pr_average(found)))
    withr::local_pdf(NULL)
    expect_invisible(plot(found))
    expect_invisible(plot(pr_average(found)))
    expect_error(autoplot(found, type = "x"), class = "kliep_error_argument")
})

test_that("the line of a curve goes through its places", {
    path <- hand_path(list(
        list(AB = 1), list(AB = 1, CD = 0.5, BC = 0.5, AE = 0.5)
    ))
    found <- pr_curve(path, truth)
    lines <- curve_lines(found)
    for (place in seq_len(nrow(found$curve))) {
        expect_true(any(abs(lines$x - found$curve$recall[place]) < 1e-12 &
                            abs(lines$y - found$curve$precision[place]) <
                                1e-12))
    }
    # Within the tied place, fp grows in proportion to tp.
    inside <- lines[lines$x > 1 / 3 & lines$x < 1, ]
    tp <- 3 * inside$x
    expect_equal(inside$y, tp / (tp + (tp - 1) / 2))
})
