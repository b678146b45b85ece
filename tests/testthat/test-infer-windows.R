# Changes over time, on series whose event is known.

set.seed(2)
pair <- sim_keywords(
    times = 400, change_at = 251, tie = 0.4,
    topics = list(c("rain", "storm"), c("match", "goal"), c("bank", "price")),
    event = c("storm", "match", "price")
)
counts <- pair$series
counts[-1] <- log1p(counts[-1])
values <- as.matrix(counts[-1])

# Six windows, of which the last three are after the event.
slide <- function(series = counts, reference = c(1, 100), width = 50, ...,
                  nlambda = 6, lambda_min_ratio = 0.3, folds = 3) {
    set.seed(1)
    kliep_windows(series, reference, width, ..., nlambda = nlambda,
                  lambda_min_ratio = lambda_min_ratio, folds = folds)
}

key <- function(edges) paste(edges$from, edges$to)

test_that("the edges of an event appear with it", {
    found <- slide(rule = "1se")
    expect_s3_class(found, "kliep_windows")
    expect_equal(found$windows$start, seq(101, 351, by = 50))
    expect_equal(found$windows$end, seq(150, 400, by = 50))
    after <- found$windows$start >= 251
    for (window in which(after)) {
        there <- edges(found, window = window)
        expect_true(all(key(pair$truth) %in% key(there)))
        expect_true(all(there$weight[key(there) %in% key(pair$truth)] > 0))
    }
    expect_false(any(key(edges(found, window = which(!after))) %in%
                         key(pair$truth)))
    # The distance from the reference tells of the event, too.
    expect_gt(min(found$windows$score[after]),
              max(found$windows$score[!after]) + 0.1)
})

test_that("shuffles keep quiet windows empty", {
    found <- slide(n_perm = 19)
    after <- found$windows$start >= 251
    expect_true(all(found$windows$p_value[after] == 1 / 20))
    expect_true(all(found$windows$n_edges[!after] == 0))
    for (window in which(after)) {
        there <- edges(found, window = window)
        expect_true(all(key(pair$truth) %in% key(there)))
    }
    expect_true(all(found$edges$p_adjusted <= 0.05 + 1e-9))
    expect_named(found$edges, c("window", "start", "end", "from", "to",
                                "weight", "p_value", "p_adjusted"))
    expect_match(format(found), "by 19 shuffles", all = FALSE)
    blocks <- slide(reference = c(1, 250), n_perm = 3, block = 10,
                    keep = "paper")
    expect_identical(blocks$block, 10)
})

test_that("a window is what kliep_select() finds in its observations", {
    found <- slide(lambda2 = 0.3)
    for (window in c(1, 5)) {
        rows <- 100 + (window - 1) * 50 + 1:50
        set.seed(3)
        expected <- kliep_select(values[rows, ], values[1:100, ],
                                 lambda2 = 0.3, folds = 3)
        expect_equal(coef(found$fits[[window]]), coef(expected))
        expect_equal(
            edges(found, window = window)[c("from", "to", "weight")],
            edges(expected)[c("from", "to", "weight")], ignore_attr = TRUE
        )
    }
    # No change is a choice, too, with a larger one.
    quiet <- found$windows$lambda2 > 0.3
    expect_true(all(found$windows$lambda2[!quiet] == 0.3))
    expect_true(all(found$windows$n_edges[quiet] == 0))
})

test_that("other methods can look through the windows, too", {
    found <- slide(method = "flasso", lambda1 = 0.05)
    set.seed(3)
    expected <- flasso_path(values[301:350, ], values[1:100, ],
                            lambda1 = 0.05,
                            lambda2 = found$windows$lambda2[5])
    expect_equal(edges(found, window = 5)[c("from", "to", "weight")],
                 edges(expected)[c("from", "to", "weight")],
                 ignore_attr = TRUE)
    expect_match(format(found), "method     flasso", all = FALSE)
    # No shuffles, as whole numbers are written by some.
    none <- slide(method = "flasso", lambda1 = 0.05, n_perm = 0L)
    expect_identical(none$edges, found$edges)
    expect_error(slide(method = "flasso", n_perm = 5L),
                 class = "kliep_error_argument")
    expect_error(slide(method = "flasso", rule = "none"),
                 class = "kliep_error_argument")
    expect_error(slide(method = "lasso"), class = "kliep_error_argument")
})

test_that("windows keep off the reference, on both sides of it", {
    laid <- function(...) slide(..., lambda2 = 0.5)$windows[c("start", "end")]
    expect_equal(laid(reference = c(201, 300), width = 80)$start, c(1, 81, 301))
    expect_equal(laid(reference = c(201, 300), width = 80, step = 15)$start,
                 c(seq(1, 121, by = 15), 301, 316))
    inside <- seq_len(400) %% 100 < 50
    expect_equal(laid(reference = inside, width = 50)$start,
                 c(50, 150, 250, 350))
    # A reference of its own leaves all of the series.
    expect_equal(laid(counts[101:400, ], values[1:100, ], width = 150)$end,
                 c(250, 400))
    expect_equal(laid(width = 300), data.frame(start = 101, end = 400))
})

test_that("time is the order of rows, numbers, dates or times of day", {
    by_rows <- slide(values, lambda2 = 0.3)
    expect_identical(by_rows$edges, slide(lambda2 = 0.3)$edges)
    days <- as.Date("2010-02-01") + seq_len(400) - 1
    dated <- data.frame(day = days, values)
    found <- slide(dated, c("2010-02-01", "2010-05-11"), time = "day",
                   lambda2 = 0.3)
    same <- c("window", "from", "to", "weight")
    expect_identical(found$edges[same], by_rows$edges[same])
    expect_identical(found$windows$start, days[by_rows$windows$start])
    expect_identical(found$reference$end, days[100])
    weeks <- slide(dated, days[c(1, 100)], time = "day", lambda2 = 0.3,
                   width = as.difftime(50, units = "days"))
    expect_identical(weeks$edges, found$edges)
    # Six hours apart, so that 50 observations take twelve and a half days.
    hours <- as.POSIXct("2010-02-01", tz = "UTC") + 6 * 3600 * (0:399)
    found <- slide(values, hours[c(1, 100)], time = hours, lambda2 = 0.3,
                   width = as.difftime(300, units = "hours"))
    expect_identical(found$edges[same], by_rows$edges[same])
    expect_s3_class(found$edges$start, "POSIXct")
    # With half of the observations missing, windows have half as many.
    half <- slide(values[c(TRUE, FALSE), ], hours[c(1, 100)],
                  time = hours[c(TRUE, FALSE)], lambda2 = 0.5,
                  width = as.difftime(300, units = "hours"))
    expect_true(all(half$windows$n == 25))
    monthly <- stats::ts(values, start = 2000, frequency = 12)
    found <- slide(monthly, c(2000, 2000 + 99 / 12), lambda2 = 0.3)
    expect_identical(found$edges[same], by_rows$edges[same])
})

test_that("variables and missing values are those of the whole series", {
    chosen <- c("storm", "match", "price")
    found <- slide(variables = chosen, lambda2 = 0.3)
    expect_identical(found$variables, chosen)
    top <- slide(top_variable = 3, lambda2 = 0.3)$variables
    expect_identical(top, names(counts)[-1][
        sort(order(-apply(values, 2, var))[1:3])
    ])
    gaps <- counts
    gaps$goal[130] <- NA
    gaps$goal[30] <- NA
    expect_error(slide(gaps), "`series` must be finite .* column `goal`",
                 class = "kliep_error_missing")
    expect_message(found <- slide(gaps, na = "omit", lambda2 = 0.3),
                   "1 of 300 .* \\(series\\) and 1 of 100")
    expect_equal(found$windows$start[1:2], c(101, 152))
    expect_identical(found$reference$n, 99L)
    expect_warning(found <- slide(gaps, na = "impute_median", lambda2 = 0.3),
                   class = "kliep_warning_imputed")
    expect_equal(found$windows$n, rep(50, 6))
})

test_that("numbers are the same on every plan and after a checkpoint", {
    skip_if_not_installed("withr")
    expected <- slide(n_perm = 2, width = 100, keep = "paper")
    folder <- withr::local_tempdir()
    first <- slide(n_perm = 2, width = 100, keep = "paper",
                   checkpoint = folder)
    expect_message(
        again <- slide(n_perm = 2, width = 100, keep = "paper",
                       checkpoint = folder), "3 of 3"
    )
    bare <- function(found) found[setdiff(names(found), "call")]
    expect_identical(bare(first), bare(expected))
    expect_identical(bare(again), bare(expected))
    skip_on_cran()
    oplan <- future::plan("multisession", workers = 2)
    withr::defer(future::plan(oplan))
    expect_identical(bare(slide(n_perm = 2, width = 100, keep = "paper")),
                     bare(expected))
})

test_that("a window that cannot be fitted does not cost the others", {
    still <- counts
    still$goal[151:200] <- 1
    expect_warning(found <- slide(still, lambda2 = 0.3), "constant",
                   class = "kliep_warning_replicate")
    expect_identical(found$failures$replicate, 2L)
    expect_identical(which(is.na(found$windows$n_edges)), 2L)
    expect_null(found$fits[[2]])
    expect_length(found$fits, 6)
    expect_false(2 %in% found$edges$window)
    expect_match(format(found), "failed     1 window", all = FALSE)
    expect_s3_class(autoplot(found), "ggplot")
})

test_that("results print, sum up and go on elsewhere", {
    found <- slide(rule = "1se")
    expect_output(print(found), "6 windows of 50 observations of 6 variables")
    expect_output(print(found), "reference  100 observations, from 1 to 100")
    table <- summary(found)
    expect_named(table, c("from", "to", "first", "last", "appears", "windows",
                          "weight"))
    expect_false(is.unsorted(table$first))
    expect_setequal(key(table), key(found$edges))
    event <- table[key(table) %in% key(pair$truth), ]
    expect_equal(event$appears, rep(251, 3))
    expect_equal(event$windows, rep(3, 3))
    strongest <- found$edges[key(found$edges) == key(event)[1], ]
    expect_equal(event$weight[1], max(strongest$weight))
    expect_output(print(table), "first found first")
    tidied <- tidy(found)
    expect_named(tidied, c("term", "from", "to", "estimate", "window", "start",
                           "end"))
    expect_equal(tidied$estimate, found$edges$weight)
    row <- glance(found)
    expect_identical(nrow(row), 1L)
    expect_equal(c(row$n_x, row$n_y, row$n_windows), c(50, 100, 6))
    expect_identical(row$n_edges, nrow(table))
    none <- slide(lambda2 = 100)
    expect_identical(nrow(edges(none)), 0L)
    expect_named(edges(none), names(found$edges))
    expect_identical(nrow(summary(none)), 0L)
    expect_output(print(summary(none)), "0 edges in 6 windows")
    expect_s3_class(autoplot(none), "ggplot")
})

test_that("the timeline shows every edge where it was found", {
    found <- slide(rule = "1se")
    dots <- window_dots(found, 60)
    expect_identical(nrow(dots), nrow(found$edges))
    expect_false(is.unsorted(tapply(dots$window, dots$place, min)))
    expect_equal(dots$middle, (dots$start + dots$end) / 2)
    storm <- dots[dots$from == "storm" & dots$to == "match", ]
    expect_equal(length(unique(storm$run)), 1L)
    expect_identical(as.character(dots$sign),
                     ifelse(dots$weight > 0, "stronger", "weaker"))
    few <- window_dots(found, 2)
    expect_identical(length(unique(few$place)), 2L)
    drawn <- ggplot2::ggplot_build(autoplot(found, max_edges = 2))
    labels <- drawn$layout$panel_params[[1]]$y$get_labels()
    expect_setequal(labels, unique(few$edge))
    expect_match(autoplot(found, max_edges = 2)$labels$caption, "2 of ")
    # Many edges, and dates.
    many <- found
    ends <- utils::combn(12, 2)[, 1:60]
    many$edges <- data.frame(
        window = rep(1:6, each = 60), found$windows[rep(1:6, each = 60), 2:3],
        from = paste0("G", ends[1, ]), to = paste0("G", ends[2, ]),
        weight = sin(1:360)
    )
    for (part in c("start", "end")) {
        many$edges[[part]] <- as.Date("2020-01-01") + many$edges[[part]]
        many$windows[[part]] <- as.Date("2020-01-01") + many$windows[[part]]
        many$reference[[part]] <- as.Date("2020-01-01") +
            many$reference[[part]]
    }
    built <- ggplot2::ggplot_build(autoplot(many))
    sizes <- vapply(built$data, nrow, 1L)
    expect_true(360L %in% sizes)
})

test_that("bad input is refused", {
    refused <- function(class, ..., message = NULL) {
        expect_error(slide(...), message,
                     class = paste0("kliep_error_", class))
    }
    refused("window", width = 301, message = "longer than the series")
    refused("window", values, values[1:100, ], width = 401)
    refused("window", width = 1)
    refused("window", width = 50.5)
    refused("window", step = 0)
    refused("window", step = -1)
    refused("window", step = 0.5)
    refused("window", width = as.difftime(50, units = "days"),
            message = "dates")
    refused("window", width = 50, step = as.difftime(50, units = "days"))
    refused("time", counts[400:1, ], message = "row 2 \\(399\\) is earlier")
    refused("time", time = c(1, NA, 3:400), message = "row 2")
    refused("time", time = 1:399)
    refused("time", time = rep("2010-02-01", 400), message = "as.Date")
    refused("time", time = "day", message = "`time`, `rain`")
    refused("reference", reference = NULL)
    refused("reference", reference = c(100, 1))
    refused("reference", reference = 100)
    refused("reference", reference = c(500, 600), message = "from 1 to 400")
    refused("reference", reference = as.Date(c("2010-01-01", "2010-02-01")))
    refused("reference", reference = c(1, 400), message = "nothing is left")
    refused("reference", reference = c(NA, 5))
    refused("type", list(1))
    refused("dimension", values, values[1:100, 1:3])
    refused("numeric", data.frame(counts, who = "a"))
    refused("size", values[, 1, drop = FALSE],
            message = "`series` must have at least 2 variables besides")
    still <- counts
    still$goal[1:100] <- 1
    refused("constant", still, message = "not vary in the reference: `goal`")
    expect_s3_class(slide(still, standardize = "none", lambda2 = 0.5),
                    "kliep_windows")
    gaps <- replace(values, 7, NA)
    refused("argument", gaps, na = "pairwise", message = "pairwise")
    refused("missing", gaps, message = "in row 7, column `rain`")
    refused("time", time = as.difftime(1:400, units = "days"),
            message = "as.numeric")
    hours <- as.POSIXct("2010-02-01", tz = "UTC") + 3600 * (0:399)
    expect_identical(
        slide(values, hours[c(1, 100)], time = as.POSIXlt(hours),
              lambda2 = 0.5)$edges,
        slide(values, hours[c(1, 100)], time = hours, lambda2 = 0.5)$edges
    )
    refused("folds", folds = 51)
    refused("lambda", lambda1 = -1)
    refused("features", features = "gaussian")
    refused("n_perm", n_perm = -1)
    refused("block", n_perm = 3, block = 60)
    refused("dots", nlamda = 3)
    refused("argument", keep = "all")
    refused("variables", variables = "wind")
    expect_error(kliep_windows(counts, c(1, 100)), "`width` is missing",
                 class = "kliep_error_window")
    expect_error(kliep_windows(counts, width = 50),
                 class = "kliep_error_reference")
    found <- slide(lambda2 = 0.5)
    expect_error(edges(found, lambda2 = 0.1), class = "kliep_error_argument")
    expect_error(edges(found, window = 9), "6 windows",
                 class = "kliep_error_argument")
})

test_that("raw counts and heavy tails are said once", {
    said <- capture_messages(slide(pair$series, lambda2 = 0.5))
    expect_length(said, 1L)
    expect_match(said, "values are counts")
    expect_no_message(slide(pair$series, features = feat_nonparanormal(),
                            lambda2 = 0.5))
    withr::local_seed(34)
    expect_message(slide(matrix(stats::rt(1200, 3), 400), lambda2 = 0.5),
                   class = "kliep_message_tails")
    expect_no_message(slide(lambda2 = 0.5))
})

test_that("windows are a graph, too: of one of them, or of all", {
    found <- slide(rule = "1se")
    all <- summary(found)
    graph <- as_igraph(found)
    expect_identical(igraph::ecount(graph), as.numeric(nrow(all)))
    expect_setequal(igraph::V(graph)$name, found$variables)
    # Each has the weight of the window where it is largest.
    expect_equal(sort(igraph::E(graph)$change), sort(all$weight))
    last <- edges(found, window = 6)
    expect_equal(sort(igraph::E(as_igraph(found, window = 6))$change),
                 sort(last$weight))
    expect_equal(as.matrix(found, window = 6),
                 as.matrix(coef(found, window = 6)))
    expect_identical(sum(hubs(found)$degree), 2L * nrow(all))
    file <- withr::local_tempfile(fileext = ".csv")
    write_graph_file(found, file)
    written <- utils::read.csv(file)
    expect_identical(nrow(written), nrow(all))
    expect_setequal(written$direction[written$estimate > 0],
                    "higher in the window")
    expect_identical(igraph::ecount(as_igraph(slide(lambda2 = 100))), 0)
})

test_that("times are printed as fine as the series needs", {
    expect_identical(time_text(c(101, 350)), c("101", "350"))
    expect_identical(time_text(2008.25, c(2000, 2025)), "2008.25")
    expect_identical(time_text(1996.123, c(1991.5, 1998.6)), "1996.12")
    expect_identical(time_text(c(0.25, 1), c(0, 1)), c("0.250", "1.000"))
    expect_identical(time_text(123456.7, c(0, 1e6)), "123457")
    expect_identical(time_text(as.Date("2020-01-02")), "2020-01-02")
    expect_identical(time_text(numeric(), c(0, 1)), character())
    found <- slide(time = 2000 + (0:399) / 12, reference = c(2000, 2008.3),
                   series = values, lambda2 = 0.3)
    expect_output(print(found), "from 2008.33 to 2033.25")
})

# ---- error control over all windows ------------------------------------------

jump_series <- function(persistence = 0) {
    withr::local_seed(21)
    sim_drift(d = 5, n = 800, n_changed = 1, change = 0.6, shape = "jump",
              at = 0.6, persistence = persistence)
}

test_that("edges are reported at one rate over all windows", {
    drifting <- jump_series()
    withr::local_seed(22)
    found <- kliep_windows(drifting$series, reference = c(0, 0.3), width = 140,
                           fdr = 0.1, nlambda = 3, folds = 2,
                           progress = FALSE)
    expect_named(edges(found), c("window", "start", "end", "from", "to",
                                 "weight", "se", "p_value", "q_value"))
    late <- found$windows$window[found$windows$start > 0.6]
    truth <- paste(drifting$truth$from, drifting$truth$to)
    reported <- edges(found)
    expect_true(all(late %in% reported$window))
    expect_identical(unique(paste(reported$from, reported$to)), truth)
    expect_true(all(reported$weight > 0))
    expect_true(all(reported$q_value <= 0.1))
    expect_lt(max(abs(reported$weight[reported$window %in% late] - 0.6)), 0.25)
    expect_true(all(found$windows$p_value[late] <= 0.1))
    expect_output(print(found), "false discovery rate of 0.1 over all windows")
    # The default number of shuffles, as it was used.
    expect_identical(found$n_perm, 999)
    expect_identical(glance(found)$n_perm, 999)
    expect_equal(summary(found)$q_value, min(reported$q_value))
    expect_true(all(c("p.value", "adj.p.value", "std.error") %in%
                        names(tidy(found))))
})

test_that("returns of markets are tested in windows, too", {
    withr::local_seed(23)
    returns <- diff(log(datasets::EuStockMarkets))
    found <- kliep_windows(returns, reference = c(1991, 1993.5), width = 260,
                           fdr = 0.2, features = feat_nonparanormal(),
                           nlambda = 3, folds = 2, n_perm = 99)
    expect_identical(nrow(found$windows), 5L)
    expect_true(all(found$windows$start > 1993.49))
    expect_true(all(edges(found)$q_value <= 0.2))
    expect_equal(found$reference$n, sum(stats::time(returns) <= 1993.5))
})

test_that("tests of windows say what they need", {
    drifting <- jump_series()
    run <- function(...) {
        kliep_windows(drifting$series, reference = c(0, 0.3), nlambda = 3,
                      folds = 2, progress = FALSE, ...)
    }
    expect_error(run(width = 140, fdr = 0.1, block = 40),
                 "at least 8 blocks in each window and in the reference: got 3",
                 class = "kliep_error_block")
    expect_error(run(width = 140, fdr = 0.1, features = feat_rbf()),
                 "Gaussian, nonparanormal and Ising",
                 class = "kliep_error_features")
    expect_error(run(width = 140, fdr = 0.1, method = "flasso"),
                 "`fdr` is for", class = "kliep_error_argument")
    expect_error(run(width = 140, fdr = 2), "`fdr`",
                 class = "kliep_error_argument")
})

test_that("q-values of windows are those of all p-values together", {
    value <- function(p, global) {
        list(edges = data.frame(from = "a", to = c("b", "c"), weight = 1,
                                p_value = p), p_value = global)
    }
    values <- list(value(c(0.01, 0.5), 0.02), NULL, value(c(0.02, 0.9), 0.5))
    adjusted <- adjust_windows(values, 0.1)
    expect_identical(nrow(adjusted[[1]]$edges), 1L)
    expect_equal(adjusted[[1]]$edges$q_value,
                 stats::p.adjust(c(0.01, 0.5, 0.02, 0.9), "BH")[1])
    expect_null(adjusted[[2]])
    # Nothing is reported of a window that does not differ at all.
    expect_identical(nrow(adjusted[[3]]$edges), 0L)
})

# ---- how long windows are ----------------------------------------------------

test_that("the width that predicts best is taken", {
    withr::local_seed(31)
    # Three networks in turns of 200 rows: longer windows mix them.
    base <- function(sign, n) {
        u <- rnorm(n)
        cbind(a = u + rnorm(n, sd = 0.5), b = sign * u + rnorm(n, sd = 0.5),
              c = rnorm(n))
    }
    series <- rbind(base(1, 200), base(1, 200), base(-1, 200), base(1, 200),
                    base(-1, 200))
    found <- kliep_windows(series, reference = c(1, 200),
                           width = c(20, 200, 400), lambda2 = 0.3, folds = 2,
                           progress = FALSE)
    expect_identical(found$widths$width[found$widths$chosen], 200)
    expect_identical(nrow(found$windows), 4L)
    expect_true(all(found$windows$n == 200))
    expect_output(print(found), "200, the best of 3 in predicting")
    # Where nothing changes, the longest one is best.
    still <- kliep_windows(base(1, 1000), reference = c(1, 200),
                           width = c(40, 100, 400), lambda2 = 0.3, folds = 2,
                           progress = FALSE)
    expect_identical(still$widths$width[still$widths$chosen], 400)
    expect_identical(unname(still$windows$n), c(400L, 400L))
    expect_error(kliep_windows(series, reference = c(1, 200),
                               width = c(4, 6), lambda2 = 0.3),
                 "No `width` has windows of at least 5 blocks",
                 class = "kliep_error_window")
})

test_that("widths are compared on the same rows", {
    withr::local_seed(33)
    base <- function(sign, n) {
        u <- rnorm(n)
        cbind(a = u + rnorm(n, sd = 0.5), b = sign * u + rnorm(n, sd = 0.5))
    }
    # Turns of 100 rows, and 100 wild ones that only short windows reach.
    turns <- do.call(rbind, lapply(rep(c(1, -1), 3), base, n = 100))
    wild <- matrix(rnorm(200), 100) * exp(seq(0, 5, length.out = 100))
    parts <- list(x = rbind(turns, wild), stretch = rep(1L, 700),
                  time = 1:700, reference = list())
    chosen <- choose_width(parts, c(100, 300), feat_gaussian())
    expect_identical(chosen$width, 100)
    # The first 600 rows alone say the same.
    parts <- list(x = turns, stretch = rep(1L, 600), time = 1:600,
                  reference = list())
    expect_identical(choose_width(parts, c(100, 300), feat_gaussian())$width,
                     100)
})

test_that("spans of time can be tried as widths, and periods be missing", {
    withr::local_seed(32)
    day <- as.Date("2020-01-01") + 0:599
    series <- matrix(rnorm(1800), 600, dimnames = list(NULL, c("a", "b", "c")))
    gap <- day >= as.Date("2020-10-01") & day < as.Date("2021-01-15")
    run <- function(width) {
        kliep_windows(series[!gap, ], time = day[!gap], width = width,
                      reference = as.Date(c("2020-01-01", "2020-05-31")),
                      lambda2 = 0.3, folds = 2, progress = FALSE)
    }
    found <- suppressWarnings(run(as.difftime(c(30, 60), units = "days")),
                              classes = "kliep_warning_replicate")
    expect_identical(sum(found$widths$chosen), 1L)
    # The last days before the gap are too few for folds.
    expect_warning(months <- run(as.difftime(30, units = "days")),
                   "1 of 12", class = "kliep_warning_replicate")
    inside <- months$windows$start >= as.Date("2020-10-01") &
        months$windows$start < as.Date("2021-01-15")
    expect_false(any(inside))
    expect_true(any(months$windows$start >= as.Date("2021-01-15")))
    expect_null(months$widths)
})
