# summary() of every result: what print() says, and more of the tables behind
# it.

#' Summaries of results
#'
#' Summarises a result: what [print()] shows, with longer tables.
#'
#' @param object A result of this package, a simulated pair, or a specification.
#' @param ... Must be empty.
#' @return An object of class `kliep_summary`: `lines`, the facts that are
#'   printed, and `tables`, a named list of data frames. For [kliep_windows()]
#'   see [summary.kliep_windows()]; for [compare_methods()] it is a data frame
#'   with a row for each method.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 10, n = 300, n_changed = 4)
#' path <- kliep_path(pair$x, pair$y, nlambda = 15)
#' summary(path)
#' summary(kliep_select(path))
summary.change_path <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    seconds <- sum(object$diagnostics$seconds)
    values <- format(unique(rev(range(object$lambda2))), digits = 3L)
    fitted <- length(fitted_steps(object)) > 0L
    title <- if (is_change(object)) "edges detected, strongest first" else
        "edges detected somewhere on the path, the first to enter first"
    new_summary(
        c(format(object),
          paste0("  lambda2    ", paste(values, collapse = " to "),
                 "; nothing is detected from ",
                 format(object$lambda_max, digits = 3L), " upwards"),
          paste0("  time       ", if (!is.na(seconds))
              paste0(format(seconds, digits = 2L), " s, "),
              sum(object$diagnostics$iterations), " iterations"),
          if (!fitted) "No fit: the objective has no minimum."),
        if (fitted) stats::setNames(list(edges(object)), title)
    )
}

#' @rdname summary.change_path
#' @export
summary.kliep_select <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    best <- best_by_candidate(object$scores)
    new_summary(format(object), list(
        "candidates, best first" = best[c("candidate", "lambda2", "score",
                                          "se", "n_edges")],
        "edges detected, strongest first" = edges(object)
    ))
}

#' @rdname summary.change_path
#' @export
summary.kliep_test <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object),
                list("edges detected, the first to enter first" = object$edges))
}

#' @rdname summary.change_path
#' @export
summary.kliep_stability <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object),
                list("edges selected, the most frequent first" = object$edges))
}

#' @rdname summary.change_path
#' @export
summary.kliep_debias <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    table <- object$estimates
    new_summary(format(object), list(
        "edges estimated, smallest p-value first" =
            table[order(table$p_value), ]
    ))
}

#' @rdname summary.change_path
#' @export
summary.kliep_infer <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(c(format(object), say_changes(object)), list(
        "tests: what they rest on, and edges found by each alone" =
            test_table(object),
        "edges, smallest p-value first" = edges(object, all = TRUE)
    ))
}

#' @rdname summary.change_path
#' @export
summary.kliep_auto <- function(object, ...) {
    found <- NextMethod()
    new_summary(c(paste("*", object$reasons), "", found$lines), found$tables)
}

#' @rdname summary.change_path
#' @export
summary.network_pair <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object), list("edges that changed" = object$truth))
}

#' @rdname summary.change_path
#' @export
summary.kliep_groups <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    omnibus <- object$omnibus[order(object$omnibus$p_value), ]
    new_summary(c(format(object), say_groups(object)), list(
        "contrasts" = object$contrasts,
        "edges, smallest p-value over all contrasts first" = omnibus
    ))
}

#' @rdname summary.change_path
#' @export
summary.gene_network <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object), list("interactions" = object$interactions))
}

#' @rdname summary.change_path
#' @export
summary.kliep_spec <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object), list())
}

#' @rdname summary.change_path
#' @export
summary.kliep_features <- summary.kliep_spec

#' @rdname summary.change_path
#' @export
summary.kliep_control <- summary.kliep_spec

#' @rdname summary.change_path
#' @export
summary.pr_curve <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object), list("best point" = object$best))
}

#' @rdname summary.change_path
#' @export
summary.pr_average <- function(object, ...) {
    check_dots(list(...), names(formals()), "summary")
    new_summary(format(object), list("mean curve" = object$curve))
}

# The only place the class is set.
new_summary <- function(lines, tables) {
    structure(list(lines = lines, tables = tables), class = "kliep_summary")
}

#' @export
print.kliep_summary <- function(x, most = 10L, ...) {
    cat(x$lines, sep = "\n")
    for (title in names(x$tables)) {
        table <- x$tables[[title]]
        cat("\n", count_of(nrow(table), "row"), ": ", title,
            if (nrow(table) > most) paste0("; the first ", most), "\n",
            sep = "")
        if (nrow(table) > 0L) {
            print(utils::head(table, most), digits = 3L, row.names = FALSE)
        }
    }
    invisible(x)
}
