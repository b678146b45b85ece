# The rows of the table.

# `goal` comes from at_least() or at_most(); a row without one informs.
bench_row <- function(what, measured, ratio = "", goal = NULL) {
    data.frame(
        what = what,
        measured = measured,
        ratio = ratio,
        goal = if (is.null(goal)) "" else goal$text,
        met = if (is.null(goal)) "" else if (goal$met) "yes" else "no"
    )
}

# `valid` is what must hold besides, such as that every fit converged.
at_least <- function(value, limit, unit = "x", valid = TRUE) {
    list(text = paste0("at least ", limit, unit),
         met = valid && value >= limit)
}

at_most <- function(value, limit, unit = "x", valid = TRUE) {
    list(text = paste0("at most ", limit, unit), met = valid && value <= limit)
}

# Fits that reach the gap, such as "20 of 20".
reached_row <- function(what, reached, steps) {
    bench_row(paste0(what, "fits that reach the gap"),
              paste(reached, "of", steps),
              goal = list(text = "all", met = reached == steps))
}

print_rows <- function(rows) {
    if (is.null(rows)) return(invisible())
    # A group is named once, in its first row.
    rows$group[duplicated(rows$group)] <- ""
    shown <- rbind(names(rows), strrep("-", nchar(names(rows))),
                   as.matrix(rows))
    lines <- apply(apply(shown, 2L, format), 1L, paste, collapse = "  ")
    cat(trimws(lines, "right"), sep = "\n")
}

# ---- numbers as text -------------------------------------------------------

show_seconds <- function(seconds) {
    paste(formatC(seconds, digits = 3L, format = "fg", flag = "#"), "s")
}

show_ratio <- function(ratio, unit = "x") {
    paste0(sprintf(ifelse(ratio < 100, "%.1f", "%.0f"), ratio), unit)
}

show_threads <- function(threads) {
    c("one thread", "two threads")[threads]
}
