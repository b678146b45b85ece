# The picture of how a path scales, for `make bench ONLY=scaling` and for the
# vignette on the method.

# `runs` is what scaling.rds holds.
draw_scaling <- function(runs) {
    long <- rbind(
        data.frame(runs, what = "processor time, seconds",
                   value = runs$seconds),
        data.frame(runs, what = "memory added, MB", value = runs$memory)
    )
    long$what <- factor(long$what, unique(long$what))
    # One panel for each series, which says what the other size was.
    variables <- long$against == "variables"
    long$size <- ifelse(variables, long$d, long$n)
    long$panel <- ifelse(
        variables,
        paste0("against d, the variables (n = ", runs$n[1L], ")"),
        paste0("against n, the observations (d = ",
               format(runs$d[nrow(runs)], big.mark = ","), ")")
    )
    long$panel <- factor(long$panel, unique(long$panel))
    ggplot2::ggplot(long, ggplot2::aes(size, value)) +
        ggplot2::geom_line(colour = "grey60") +
        ggplot2::geom_point(size = 1.8) +
        ggplot2::scale_x_log10(labels = function(x) {
            format(x, big.mark = ",", scientific = FALSE, trim = TRUE)
        }) +
        ggplot2::scale_y_log10(labels = function(y) {
            format(y, big.mark = ",", scientific = FALSE, trim = TRUE,
                   drop0trailing = TRUE)
        }) +
        ggplot2::facet_grid(what ~ panel, scales = "free", switch = "y") +
        ggplot2::labs(x = NULL, y = NULL) +
        ggplot2::theme_minimal() +
        ggplot2::theme(strip.placement = "outside",
                       panel.grid.minor = ggplot2::element_blank())
}
