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
    variables <- long$against == "variables"
    long$size <- ifelse(variables, long$d, long$n)
    long$panel <- ifelse(variables, "against d, the variables",
                         "against n, the observations")
    # One line for each series, which says what the other size was.
    long$series <- paste0(long$estimator, ", ", ifelse(
        variables, paste0("n = ", long$n),
        paste0("d = ", format(long$d, big.mark = ",", trim = TRUE))
    ))
    long$panel <- factor(long$panel, unique(long$panel))
    long$series <- factor(long$series, unique(long$series))
    ggplot2::ggplot(long, ggplot2::aes(size, value, colour = series)) +
        ggplot2::geom_line() +
        ggplot2::geom_point(size = 1.8) +
        ggplot2::scale_x_log10(labels = function(x) {
            format(x, big.mark = ",", scientific = FALSE, trim = TRUE)
        }) +
        ggplot2::scale_y_log10(labels = function(y) {
            format(y, big.mark = ",", scientific = FALSE, trim = TRUE,
                   drop0trailing = TRUE)
        }) +
        ggplot2::facet_grid(what ~ panel, scales = "free", switch = "y") +
        ggplot2::labs(x = NULL, y = NULL, colour = NULL) +
        ggplot2::theme_minimal() +
        ggplot2::theme(strip.placement = "outside",
                       legend.position = "bottom",
                       panel.grid.minor = ggplot2::element_blank())
}
