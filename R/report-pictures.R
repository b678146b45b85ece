# The pictures of a report: each with a title, a sentence, and what it shows in
# words for readers who do not see it. The graph is not among them: the script
# of the page draws it.

# A list of lists with `title`, `text`, `alt` and `plot`. Where there is nothing
# to be seen there is no picture.
report_pictures <- function(fit, lambda2 = NULL) {
    c(own_pictures(fit), path_pictures(fit, lambda2),
      matrix_picture(fit, lambda2))
}

picture <- function(title, text, alt, plot) {
    list(list(title = title, text = text, alt = alt, plot = plot))
}

own_pictures <- function(fit) {
    switch(
        report_kind(fit),
        kliep_select = score_picture(fit),
        kliep_test = c(test_pictures(fit), score_picture(fit$selection)),
        kliep_stability = stability_picture(fit),
        kliep_infer = infer_pictures(fit),
        kliep_debias = debias_picture(fit),
        kliep_windows = windows_picture(fit),
        kliep_time = drift_pictures(fit)
    )
}

# "the first of them A with B, at 0.3", as the end of a sentence.
say_first <- function(table) {
    if (nrow(table) == 0L) return("")
    paste0(", the first of them ", table$from[1L], " with ", table$to[1L],
           ", at ", format(table$weight[1L], digits = 2L))
}

test_pictures <- function(fit) {
    global <- global_statistics(fit)$data
    c(
        if (nrow(fit$edges) > 0L) picture(
            "Test",
            paste("The edges by the lambda2 at which they enter, and the",
                  "shuffles as ticks: beyond the line none of them is likely",
                  "to enter by chance."),
            paste0("Dots for ", count_of(nrow(fit$edges), "edge"), " by the ",
                   "lambda2 at which each enters; ", sum(fit$edges$kept),
                   " of them kept", say_first(edges(fit)), "."),
            autoplot(fit)
        ),
        picture(
            "Any change at all",
            paste("The statistics of the global test: the data as a line, and",
                  "the shuffles."),
            paste0("Histogram of ", count_of(fit$n_perm, "shuffle"), " with a ",
                   "line for the data: ",
                   paste0(global$statistic, " ",
                          format(global$value, digits = 3L, trim = TRUE),
                          collapse = ", "),
                   "; p = ", format(fit$global$p_value, digits = 2L), "."),
            autoplot(fit, type = "global")
        )
    )
}

stability_picture <- function(fit) {
    if (nrow(fit$edges) == 0L) return(NULL)
    picture(
        "Stability",
        "The share of halves that select an edge, and the threshold.",
        paste0("Selection probabilities of ",
               count_of(nrow(fit$edges), "edge"), "; ", sum(fit$edges$kept),
               " reach the threshold of ", format(fit$threshold, digits = 3L),
               "."),
        autoplot(fit)
    )
}

infer_pictures <- function(fit) {
    bulk <- fit$estimates[!fit$estimates$changed, ]
    beyond <- mean(abs(bulk$z) > null_quantile(fit$null, 0.95))
    c(
        picture(
            "Intervals",
            paste("Estimates with confidence intervals, smallest p-values;",
                  "those that are reported are coloured."),
            paste0("Estimates with ", format(100 * fit$level), " % confidence ",
                   "intervals of the edges with the smallest p-values; ",
                   count_of(sum(fit$estimates$changed), "edge"), " reported",
                   say_first(edges(fit)), "."),
            # More rows than these are too small to read.
            autoplot(fit, max_edges = 25L)
        ),
        picture(
            "Calibration",
            paste("The statistics of all edges against those of the shuffles:",
                  "on the line where nothing has changed."),
            paste0("Quantiles of the statistics of ",
                   count_of(nrow(fit$estimates), "edge"), " against those of ",
                   "the shuffles. Of the edges that are not reported, ",
                   format(100 * beyond, digits = 2L), " % lie beyond the 5 % ",
                   "point of the shuffles."),
            autoplot(fit, type = "calibration")
        )
    )
}

debias_picture <- function(fit) {
    if (all(is.na(fit$estimates$estimate))) return(NULL)
    picture(
        "Intervals",
        paste("Estimates with confidence intervals: thick for each edge by",
              "itself, thin for all edges at once."),
        paste0("Estimates with ", format(100 * fit$level), " % confidence ",
               "intervals; ", count_of(nrow(edges(fit)), "edge"),
               " changed", say_first(edges(fit)), "."),
        autoplot(fit)
    )
}

windows_picture <- function(fit) {
    if (nrow(fit$edges) == 0L) return(NULL)
    picture(
        "Windows",
        paste("The edges in rows and time from left to right: a point for each",
              "window in which an edge was found."),
        paste0("Points for ", count_of(nrow(summary(fit)), "edge"), " over ",
               count_of(nrow(fit$windows), "window"), "; the table of edges ",
               "has the first and the last window of each."),
        autoplot(fit)
    )
}

drift_pictures <- function(fit) {
    if (nrow(fit$rates) == 0L) return(NULL)
    found <- edges(fit)
    many <- count_of(nrow(found), "edge")
    c(
        picture(
            "When",
            paste("The edges in rows and time from left to right, coloured by",
                  "the rate: full where an edge changes by the test."),
            paste0("Heat map of the rates of ", many, " over time; the table ",
                   "of edges has the start, the peak and the end of each."),
            autoplot(fit)
        ),
        picture(
            "Rates",
            paste("Rates with confidence bands: dark at each time, pale for",
                  "all times at once."),
            paste0("Curves of rates with ", format(100 * fit$level),
                   " % bands", say_first(found), "."),
            autoplot(fit, type = "curves")
        ),
        picture(
            "Total rate",
            paste("The root of the sum of squared rates, and the interval of",
                  "the time at which it is largest."),
            say_peak(fit), autoplot(fit, type = "total")
        ),
        picture(
            "Graphs over time", "The edges that change at each of four times.",
            paste("Four graphs with the edges that change then, of", many,
                  "in all."),
            autoplot(fit, type = "graph")
        )
    )
}

score_picture <- function(selection) {
    row <- selection$scores[selection$scores$selected, ]
    picture(
        "Selection",
        paste("The likelihood of observations that were held out; the line",
              "marks what was chosen."),
        paste0("Scores of ",
               count_of(length(unique(selection$scores$candidate)),
                        "candidate"), " over lambda2; ", row$candidate,
               " at lambda2 = ", format(row$lambda2, digits = 3L),
               " is chosen, with a score of ", format(row$score, digits = 3L),
               "."),
        autoplot(selection)
    )
}

path_pictures <- function(fit, lambda2) {
    if (inherits(fit, c("kliep_debias", "kliep_infer", "kliep_windows",
                        "kliep_time"))) {
        return(NULL)
    }
    path <- path_of(fit)
    ranked <- edges(path)
    if (nrow(ranked) == 0L) return(NULL)
    chosen <- if (inherits(fit, "kliep_test")) fit$selection$fit else fit$fit
    mark <- if (is.null(lambda2)) chosen$lambda2 else lambda2
    if (identical(mark, 0) || is_change(path)) mark <- NULL
    picture(
        if (is_change(path)) "Strongest edges" else "Path",
        paste0("The weight of every edge",
               if (!is_change(path)) " as the penalty falls from left to right",
               if (!is.null(mark)) "; the line marks the edges shown above",
               "."),
        paste0("Weights of ", count_of(nrow(ranked), "edge"),
               if (!is_change(path)) paste0(" over ", length(path$lambda2),
                                            " values of lambda2"),
               say_first(ranked), "."),
        autoplot(path, lambda2 = mark)
    )
}

matrix_picture <- function(fit, lambda2) {
    if (inherits(fit, c("kliep_windows", "kliep_time"))) return(NULL)
    found <- edges(fit, lambda2 = lambda2)
    if (nrow(found) == 0L) return(NULL)
    chosen <- inherits(fit, c("change_path", "kliep_select")) &&
        !is.null(lambda2)
    picture(
        "Matrix",
        paste("The edges that are reported as a matrix, variables that change",
              "together next to each other."),
        paste0("Heat map of ", count_of(nrow(found), "edge"),
               say_first(found), "."),
        if (chosen) autoplot(fit, type = "matrix", lambda2 = lambda2) else
            autoplot(fit, type = "matrix")
    )
}

# ---- as part of a page -----------------------------------------------------

picture_html <- function(picture, folder) {
    paste0("<figure>\n<h3>", escape_html(picture$title), "</h3>\n",
           html_paragraph(picture$text), "\n<img width=\"768\" height=\"528\"",
           " alt=\"", escape_html(picture$alt), "\" src=\"data:image/png;",
           "base64,", base64(draw_png(picture$plot, folder)), "\">\n</figure>")
}

# The bytes of the picture, one and a half times as fine as it is shown. A disk
# that fills up cuts files off without an error: a whole one ends with IEND.
draw_png <- function(plot, folder) {
    file <- tempfile("picture", folder, ".png")
    type <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
    grDevices::png(file, 8, 5.5, units = "in", res = 144, type = type)
    device <- grDevices::dev.cur()
    suppressMessages(print(plot))
    grDevices::dev.off(device)
    bytes <- readBin(file, "raw", file.size(file))
    unlink(file)
    if (!identical(utils::tail(bytes, 8L)[1:4], charToRaw("IEND"))) {
        stop("a picture is cut off", call. = FALSE)
    }
    bytes
}

base64 <- function(bytes) {
    missing <- (-length(bytes)) %% 3L
    three <- matrix(as.integer(c(bytes, raw(missing))), 3L)
    four <- rbind(three[1L, ] %/% 4L,
                  three[1L, ] %% 4L * 16L + three[2L, ] %/% 16L,
                  three[2L, ] %% 16L * 4L + three[3L, ] %/% 64L,
                  three[3L, ] %% 64L)
    text <- base64_letters[four + 1L]
    text[length(text) + 1L - seq_len(missing)] <- "="
    paste(text, collapse = "")
}
