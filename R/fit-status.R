# How a fit ended: the words for it, what they mean for the steps of a path, and
# which of them are worth a warning or an error.

# ---- the words -------------------------------------------------------------

# "converged"; "max_iter" and "unsettled": the tolerance was not reached, by one
# convex fit or by the last of several; "near_threshold": too close to where the
# objective loses its minimum; "unbounded": beyond it, without coefficients.

is_converged <- function(status) status == "converged"

is_unbounded <- function(status) status == "unbounded"

# The steps of a path that ended in this way.
steps_with <- function(path, status) which(path$diagnostics$status == status)

# The steps that have coefficients: all but the one at which an unbounded path
# ends.
fitted_steps <- function(object) which(!is_unbounded(object$diagnostics$status))

# Those whose coefficients can be scored.
reliable_steps <- function(status) {
    which(status %in% c("converged", "max_iter", "unsettled"))
}

# ---- how many observations carry it ----------------------------------------

# Whether weights that are worth `size` of `all` observations have collapsed.
few_carry <- function(size, all) {
    !is.na(size) & (size < 10 | size < 0.1 * all)
}

# The observations of the sample whose weights are the fewest.
weighted_rows <- function(path) {
    sample <- switch(path$spec$direction, "p/q" = "y", "q/p" = "x",
                     c("x", "y"))
    min(path$n[sample])
}

# ---- warnings and errors ---------------------------------------------------

warn_unfinished <- function(path) {
    warn_max_iter(path)
    warn_unsettled(path)
    warn_near_threshold(path)
    warn_unbounded(path)
    warn_importance(path)
}

warn_max_iter <- function(path) {
    late <- steps_with(path, "max_iter")
    if (length(late) == 0L) return(invisible())
    worst <- format(max(path$diagnostics$kkt[late]), digits = 1L)
    tol <- format(path$spec$control$tol)
    what <- if (is_change(path)) {
        paste0("The fit did not reach tol = ", tol, " (KKT ", worst, ").")
    } else {
        paste0(length(late), " of ", length(path$lambda2),
               " lambda2 values did not reach tol = ", tol, " (",
               step_ranges(late), ", worst KKT ", worst, ").")
    }
    warn_kliep("max_iter", what,
               hint = paste0("Raise `max_iter` in `kliep_control()`",
                             if (!is.null(path$spec$lambda1)) ", or `lambda1`",
                             "."))
}

warn_unsettled <- function(path) {
    late <- steps_with(path, "unsettled")
    if (length(late) == 0L) return(invisible())
    warn_kliep(
        "unsettled",
        paste0(count_of(length(late), "fit"), " (", step_ranges(late),
               ") had not settled after ", max(path$diagnostics$fits[late]),
               " convex fits."),
        hint = paste0("Raise `lambda1`",
                      if (path$spec$penalty == "mcp")
                          paste0(" or `gamma` (now ", format(path$spec$gamma),
                                 ")"),
                      ".")
    )
}

warn_near_threshold <- function(path) {
    near <- steps_with(path, "near_threshold")
    if (length(near) == 0L) return(invisible())
    warn_kliep(
        "near_threshold",
        paste0("lambda2 = ", format(path$lambda2[near[1L]], digits = 4L),
               " (", step_ranges(near), ") is too close to the value below ",
               "which the objective has no minimum: ",
               "these coefficients cannot be relied on."),
        hint = "Raise `lambda2` or set `lambda1 > 0`."
    )
}

warn_unbounded <- function(path) {
    end <- steps_with(path, "unbounded")
    if (length(end) == 0L) return(invisible())
    warn_kliep(
        "unbounded",
        paste0("The path ends at lambda2 = ",
               format(path$lambda2[end[1L]], digits = 4L), " (step ", end[1L],
               "): ", if (!is.null(path$spec$lambda1))
                   paste0("with lambda1 = ", format(path$spec$lambda1), " "),
               "the objective has no minimum there or below."),
        hint = paste0(if (!is.null(path$spec$lambda1))
            "Set `lambda1 > 0` to go on, or keep" else "Keep",
            " to larger `lambda2`.")
    )
}

stop_if_unbounded <- function(change) {
    if (!any(is_unbounded(change$diagnostics$status))) return(invisible())
    stop_kliep(
        "unbounded",
        paste0("The objective has no minimum at lambda2 = ",
               format(change$lambda2[1L], digits = 4L), " with lambda1 = ",
               format(change$spec$lambda1), "."),
        hint = paste0(
            "Raise `lambda2` (nothing is detected from ",
            format(change$lambda_max, digits = 4L),
            " upwards) or set `lambda1 > 0`."
        )
    )
}

stop_overflow <- function(values, variables, standardize) {
    largest <- arrayInd(which.max(abs(values)), dim(values))
    stop_kliep(
        "overflow",
        paste0("The features overflow: the largest value is ",
               format(values[largest], digits = 3L), " in column `",
               variables[largest[2L]], "`."),
        hint = if (standardize == "none")
            "Use `standardize = \"within\"` or rescale the columns." else
            "Rescale the columns, or drop observations this far out."
    )
}

# c(1, 2, 3, 7) becomes "steps 1-3, 7".
step_ranges <- function(steps) {
    run <- cumsum(c(TRUE, diff(steps) != 1L))
    ranges <- vapply(split(steps, run), function(part) {
        paste(unique(range(part)), collapse = "-")
    }, "")
    paste(if (length(steps) == 1L) "step" else "steps",
          paste(ranges, collapse = ", "))
}
