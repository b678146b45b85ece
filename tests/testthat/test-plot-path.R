pair <- random_pair(6, 60)
x <- pair$x
y <- pair$y
colnames(x) <- colnames(y) <- LETTERS[1:6]
path <- kliep_path(x, y, nlambda = 10)
truth <- data.frame(from = c("B", "F"), to = c("A", "C"))

test_that("lines are the weights of the path, zeros included", {
    lines <- path_lines(path)
    expect_equal(nrow(lines), 10 * length(unique(lines$edge)))
    expect_setequal(unique(lines$edge),
                    with(edges(path), paste(from, to, sep = " - ")))
    for (row in seq_len(nrow(lines))) {
        ends <- strsplit(lines$edge[row], " - ")[[1]]
        theta <- suppressMessages(coef(path, lines$lambda2[row]))
        expect_equal(lines$weight[row], theta[ends[1], ends[2]])
    }
})

test_that("the strongest edges are kept, changed ones first", {
    lines <- path_lines(path, max_edges = 3)
    expect_equal(max(lines$rank), 3)
    top <- unique(lines$edge)
    peak <- tapply(abs(path_lines(path)$weight), path_lines(path)$edge, max)
    expect_setequal(top, names(sort(peak, decreasing = TRUE))[1:3])
    lines <- path_lines(path, truth = truth)
    expect_setequal(unique(lines$edge[lines$changed]), c("A - B", "C - F"))
    expect_true(all(lines$rank[lines$changed] <= 2))
})

test_that("every picture draws", {
    draws <- function(plot) {
        expect_s3_class(plot, "ggplot")
        file <- withr::local_tempfile(fileext = ".png")
        ggplot2::ggsave(file, plot, width = 5, height = 4, dpi = 50)
        expect_gt(file.size(file), 0)
    }
    draws(autoplot(path))
    draws(autoplot(path, truth = truth, lambda2 = 0.1))
    draws(autoplot(path, label = 0))
    change <- kliep_change(x, y, lambda2 = 0.1)
    draws(autoplot(change))
    draws(autoplot(change, truth = truth))
    draws(autoplot(kliep_change(x, y, lambda2 = 10)))
    draws(autoplot(kliep_path(x, y, lambda2 = c(0.2, 0))))
    draws(autoplot(kliep_path(x, y, lambda2 = c(20, 10))))
    groups <- path
    groups$features <- product_features("polynomial", 1, matrix(1L, 2, 2), 2L)
    draws(autoplot(groups))
    ended <- path
    ended$diagnostics$status[10] <- "unbounded"
    draws(autoplot(ended))
})

test_that("plot() draws and returns what autoplot() makes", {
    withr::local_pdf(NULL)
    expect_invisible(plot(path))
    expect_s3_class(plot(path), "ggplot")
})

test_that("bad truth and settings get a classed error", {
    expect_error(autoplot(path, truth = "A"), class = "kliep_error_truth")
    expect_error(autoplot(path, truth = data.frame(from = "A", to = "Z")),
                 "`Z`", class = "kliep_error_truth")
    expect_error(autoplot(path, label = -1), class = "kliep_error_argument")
    expect_error(autoplot(path, max_edges = 0),
                 class = "kliep_error_argument")
    expect_error(autoplot(path, lambda2 = "a"), class = "kliep_error_lambda")
})

test_that("a line is drawn from where it leaves zero", {
    lines <- data.frame(rank = rep(1:2, each = 5),
                        weight = c(0, 0, 1, 2, 0, 3, 0, 0, 0, 1))
    expect_equal(which(is_resting(lines)), c(1, 8))
})

test_that("labels keep their order and a distance", {
    placed <- spread_apart(c(3, 1, 1.01, 0.99), 0.1)
    expect_equal(order(placed), order(c(3, 1, 1.01, 0.99)))
    expect_true(all(diff(sort(placed)) >= 0.1 - 1e-12))
    expect_equal(placed[1], 3)
    expect_equal(mean(placed[2:4]), 1)
    expect_equal(spread_apart(numeric(), 0.1), numeric())
})

test_that("names of neighbouring lines do not touch in a low picture", {
    lines <- path_lines(path)
    lines$weight <- lines$weight / 50
    strongest <- which.max(abs(lines$weight))
    lines$weight[strongest] <- 50 * lines$weight[strongest]
    at <- sort(line_labels(lines, 8)$at)
    expect_gt(length(at), 2)
    # 7 x 3.8 inches, as in the gallery: the weights take some 155 points, and
    # a line of text takes 8.
    expect_gt(min(diff(at)) / diff(range(lines$weight)) * 155, 8)
})

test_that("axis breaks are round and few", {
    expect_equal(lambda2_breaks(c(0.04, 0.4)), c(0.05, 0.1, 0.2))
    expect_equal(lambda2_breaks(c(1e-4, 1)), 10^(-4:0))
    expect_equal(lambda2_breaks(c(0.11, 0.38)), c(0.15, 0.2, 0.3))
    expect_length(lambda2_breaks(c(0.3, 0.35)), 2)
    expect_equal(lambda2_breaks(c(0.25, 0.61)), c(0.25, 0.3, 0.4, 0.5, 0.6))
})
