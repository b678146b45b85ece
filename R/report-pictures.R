# The pictures of a report, each with a title and a sentence.

# A list of lists with `title`, `text` and `plot`.
report_pictures <- function(fit, lambda2 = NULL) {
    c(own_pictures(fit), path_pictures(fit, lambda2),
      graph_pictures(fit, lambda2))
}

picture <- function(title, text, plot) {
    list(list(title = title, text = text, plot = plot))
}

own_pictures <- function(fit) {
    switch(
        report_kind(fit),
        kliep_select = score_picture(fit),
        kliep_test = c(
            picture("Test", paste(
                "The edges by the lambda2 at which they enter, and the",
                "shuffles as ticks: beyond the line none of them is likely",
                "to enter by chance."
            ), autoplot(fit)),
            picture("Any change at all", paste(
                "The statistics of the global test: the data as a line, and",
                "the shuffles."
            ), autoplot(fit, type = "global")),
            score_picture(fit$selection)
        ),
        kliep_stability = picture("Stability", paste(
            "The share of halves that name an edge, and the threshold."
        ), autoplot(fit)),
        kliep_infer = c(
            picture("Intervals", paste(
                "Estimates with confidence intervals, smallest p-values; those",
                "that are reported are coloured."
            ), autoplot(fit)),
            picture("Calibration", paste(
                "The statistics of all edges against those of the shuffles: on",
                "the line where nothing has changed."
            ), autoplot(fit, type = "calibration"))
        ),
        kliep_debias = picture("Intervals", paste(
            "Estimates with confidence intervals: thick for each edge by",
            "itself, thin for all edges at once."
        ), autoplot(fit))
    )
}

score_picture <- function(selection) {
    picture("Selection", paste(
        "The likelihood of observations that were held out; the line marks",
        "what was chosen."
    ), autoplot(selection))
}

path_pictures <- function(fit, lambda2) {
    if (inherits(fit, c("kliep_debias", "kliep_infer"))) return(NULL)
    path <- path_of(fit)
    chosen <- if (inherits(fit, "kliep_test")) fit$selection$fit else fit$fit
    mark <- if (is.null(lambda2)) chosen$lambda2 else lambda2
    if (identical(mark, 0) || is_change(path)) mark <- NULL
    picture(if (is_change(path)) "Strongest edges" else "Path", paste0(
        "The weight of every edge",
        if (!is_change(path)) " as the penalty falls from left to right",
        if (!is.null(mark)) "; the line marks the edges shown below", "."
    ), autoplot(path, lambda2 = mark))
}

graph_pictures <- function(fit, lambda2) {
    draw <- function(type) {
        if (inherits(fit, c("change_path", "kliep_select")) &&
            !is.null(lambda2)) {
            return(autoplot(fit, type = type, lambda2 = lambda2))
        }
        autoplot(fit, type = type)
    }
    c(
        picture("Graph", paste(
            "The changed edges: the wider, the larger the change. Variables",
            "without a change are left out."
        ), draw("graph")),
        picture("Matrix", paste(
            "The same edges as a matrix, variables that change together next",
            "to each other."
        ), draw("matrix"))
    )
}
