# What kliep_time() has found, as other results have it.

# The edges that change at a time: by the test of that time, or as it lies
# between their start and end, which a wider window has shown.
edges_at <- function(object, at) {
    time <- nearest_time(object, at)
    rates <- object$rates
    span <- object$spans[match(edge_text(rates), edge_text(object$spans)), ]
    within <- span$start <= rates$time & rates$time <= span$end
    rows <- rates[rates$time == time & (rates$changing | within), ]
    rows <- rows[order(rows$p_adjusted), ]
    names(rows)[names(rows) == "estimate"] <- "weight"
    rownames(rows) <- NULL
    rows[c("from", "to", "weight", "se", "lower", "upper", "time",
           "p_adjusted")]
}

# Whether `at` is one time of the kind of `span`, and within it.
is_time_within <- function(at, span) {
    is_date <- function(time) inherits(time, c("Date", "POSIXct"))
    alike <- (is.numeric(at) || is_date(at)) && is_date(at) == is_date(span)
    alike && length(at) == 1L && is.finite(at) && at >= span[1L] &&
        at <= span[2L]
}

# The time of the curves that is nearest to what was asked for.
nearest_time <- function(object, at) {
    at <- read_times(at, object$time)
    if (!is_time_within(at, object$time)) {
        stop_kliep("time", paste0("`at` must be one time from ",
                                  format(object$time[1L]), " to ",
                                  format(object$time[2L]), ": got ",
                                  describe(at), "."))
    }
    known <- object$total$time
    known[which.min(abs(as.numeric(known) - as.numeric(at)))]
}

#' @rdname tidy.change_path
#' @export
tidy.kliep_time <- function(x, ...) {
    check_dots(list(...), names(formals()), "tidy")
    table <- x$rates
    tidy_frame(table$from, table$to, table$estimate, time = table$time,
               std.error = table$se, statistic = table$z,
               adj.p.value = table$p_adjusted, conf.low = table$lower,
               conf.high = table$upper, changing = table$changing)
}

#' @rdname glance.change_path
#' @export
glance.kliep_time <- function(x, ...) {
    check_dots(list(...), names(formals()), "glance")
    data.frame(
        method = "kliep_time", n_x = x$n, n_y = NA_integer_,
        n_variables = length(x$variables),
        n_edges = sum(x$estimates$changed), fdr = x$fdr, level = x$level,
        statistic = x$global$largest, p.value = x$global$p_value,
        n_support = nrow(x$support), n_perm = x$n_perm,
        bandwidth = x$bandwidth, n_blocks = x$n_blocks, peak = x$peak$time
    )
}

#' @rdname as.data.frame.change_path
#' @export
as.data.frame.kliep_time <- table_method(function(x) x$rates)

#' @rdname coef.change_path
#' @export
coef.kliep_time <- function(object, ...) {
    check_dots(list(...), names(formals()), "coef")
    weight_matrix(edges(object), object$variables)
}

#' @rdname as_igraph
#' @export
as.matrix.kliep_time <- as.matrix.change_path

#' @rdname summary.change_path
#' @export
summary.kliep_time <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    drift <- object$drift
    new_summary(c(format(object), say_changes(object),
                  if (!is.na(object$peak$time)) say_peak(object)), list(
        "edges, smallest p-value first" = edges(object, all = TRUE),
        "means and standard deviations that were removed" =
            drift[order(-drift$mean_drift), ]
    ))
}
