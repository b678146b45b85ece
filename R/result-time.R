# What kliep_time() has found, as other results have it.

#' The edges that change over time
#'
#' The edges that [kliep_time()] reports, smallest p-value first, with the times
#' between which they change; or those that change at one time.
#'
#' @param object The result of [kliep_time()].
#' @param at A time: the edges that change there, by the nearest time of
#'   `object$rates`, with their rates at that time. `NULL` for all edges that
#'   change at any time.
#' @param all List the edges that are not reported, too, without rates? The
#'   column `changed` says which are reported.
#' @param lambda2 Not used.
#' @param ... Must be empty.
#' @return A data frame with one row for each edge: `from`, `to`, `weight`,
#'   `se`, `lower` and `upper` (the rate where it is surest to differ from zero,
#'   and its interval at that time), `start`, `peak` and `end` (between which
#'   times it changes, and where the rate is surest), `p_value` and `q_value`,
#'   which hold for the edge over all times; with `all` also `changed`. With
#'   `at`, `time` stands in place of `start`, `peak` and `end`, and
#'   `p_adjusted`, which holds for all times of an edge, in place of both
#'   others.
#' @export
#' @examples
#' set.seed(1)
#' drifting <- sim_drift(d = 6, n = 600, n_changed = 1, change = 0.5)
#' found <- kliep_time(drifting$series)
#' edges(found)
#' edges(found, at = 0.5)
edges.kliep_time <- function(object, lambda2 = NULL, at = NULL, all = FALSE,
                             ...) {
    check_dots(list(...), names(formals()), "edges")
    if (!is.null(lambda2)) {
        stop_kliep("argument", paste("`kliep_time()` has no path: `lambda2`",
                                     "must be NULL."))
    }
    all <- check_flag(all, "all")
    if (!is.null(at)) return(edges_at(object, at))
    if (!all) return(object$spans)
    table <- object$estimates[order(object$estimates$p_value), ]
    row <- match(edge_text(table), edge_text(object$spans))
    added <- setdiff(names(object$spans), c("from", "to", "p_value",
                                            "q_value"))
    table <- data.frame(table[c("from", "to")], object$spans[row, added],
                        table[c("p_value", "q_value", "changed")])
    rownames(table) <- NULL
    table
}

edges_at <- function(object, at) {
    time <- nearest_time(object, at)
    rates <- object$rates
    rows <- rates[rates$time == time & rates$changing, ]
    rows <- rows[order(rows$p_adjusted), ]
    names(rows)[names(rows) == "estimate"] <- "weight"
    rownames(rows) <- NULL
    rows[c("from", "to", "weight", "se", "lower", "upper", "time",
           "p_adjusted")]
}

# The time of the curves that is nearest to what was asked for.
nearest_time <- function(object, at) {
    is_time <- is.numeric(at) || inherits(at, c("Date", "POSIXct"))
    if (!is_time || length(at) != 1L || !is.finite(at) ||
        inherits(at, c("Date", "POSIXct")) !=
            inherits(object$time, c("Date", "POSIXct")) ||
        at < object$time[1L] || at > object$time[2L]) {
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
