# A series of observations in time: its times, the reference period taken out
# of it, and the rows that each window has.

# ---- the series and its times ----------------------------------------------

# A numeric matrix in the order of time, and the time of every row.
check_series <- function(series, time) {
    if (is.null(time) && inherits(series, "ts")) {
        time <- as.numeric(stats::time(series))
    }
    if (is.null(time) && "time" %in% colnames(series)) time <- "time"
    if (is.character(time) && length(time) == 1L) {
        name <- time
        columns <- if (is.data.frame(series)) series else
            as.data.frame(as_numeric_matrix(series, "series"))
        if (!name %in% names(columns)) {
            stop_kliep("time", paste0("`series` has no column `", name,
                                      "` with times; it has ",
                                      name_some(names(columns), 20L), "."))
        }
        time <- columns[[name]]
        series <- series[, setdiff(colnames(series), name), drop = FALSE]
    }
    values <- as_numeric_matrix(series, "series")
    check_names(colnames(values), "series")
    if (is.null(time)) time <- seq_len(nrow(values))
    list(values = values, time = check_time(time, nrow(values)))
}

check_time <- function(time, n) {
    if (inherits(time, "POSIXlt")) time <- as.POSIXct(time)
    is_time <- is.numeric(time) || inherits(time, c("Date", "POSIXct"))
    if (!is_time || length(dim(time)) > 1L || length(time) != n) {
        stop_kliep(
            "time",
            paste0("`time` must be numbers, dates (Date) or times (POSIXct), ",
                   "one for each of ", count_of(n, "observation"), ": got ",
                   describe(time), "."),
            hint = if (is.character(time) || is.factor(time))
                "`as.Date()` or `as.POSIXct()` read them from text."
            else if (inherits(time, "difftime"))
                "Make numbers of it: `as.numeric(time, units = \"days\")`."
        )
    }
    if (!all(is.finite(time))) {
        stop_kliep("time", paste0(
            "`time` must be known for every observation: it is not for row ",
            which(!is.finite(time))[1L], "."
        ), hint = "Leave such rows out: `series[is.finite(time), ]`.")
    }
    if (is.unsorted(time)) {
        row <- which(diff(as.numeric(time)) < 0)[1L] + 1L
        stop_kliep(
            "time",
            paste0("`series` must be in the order of time: row ", row, " (",
                   format(time[row]), ") is earlier than the one before (",
                   format(time[row - 1L]), ")."),
            hint = "Sort it first: `series[order(time), ]`."
        )
    }
    as_plain_time(time)
}

# Without names and other attributes that only get in the way.
as_plain_time <- function(time) {
    time <- unname(time)
    if (is.numeric(time) && !inherits(time, c("Date", "POSIXct"))) {
        return(as.double(time))
    }
    time
}

# An edge joins two.
check_two_variables <- function(values) {
    if (ncol(values) >= 2L) return(invisible())
    stop_kliep("size", paste0("`series` must have at least 2 variables ",
                              "besides the time: got ", ncol(values), "."))
}

# Said here, as not every function takes all there is for `na`.
check_gaps <- function(values, arg, hint) {
    if (!anyNA(values)) return(invisible())
    check_finite(values, arg, hint)
}

# Times as text: numbers to the 500th part of the span, at least.
time_text <- function(time, span = range(time)) {
    if (!is.numeric(time) || inherits(time, c("Date", "POSIXct"))) {
        return(format(time))
    }
    known <- time[is.finite(time)]
    step <- (max(span) - min(span)) / 500
    whole <- all(known == round(known)) || step == 0
    decimals <- if (whole) 0 else max(0, ceiling(-log10(step)))
    trimws(format(round(time, decimals), digits = 15L, nsmall = decimals))
}

# ---- the reference ---------------------------------------------------------

# `x`, the observations that windows slide over, with their `time` and the
# `stretch` they belong to, and `y`, those of the reference.
divide_series <- function(series, reference, variables = NULL,
                          top_variable = NULL, na = "error") {
    choice <- check_choices(variables, top_variable, na)
    if (choice$na == "pairwise") {
        stop_kliep("argument", paste("`kliep_windows()` cannot take missing",
                                     "values pairwise."),
                   hint = hint_gaps())
    }
    if (is.null(reference)) {
        stop_kliep("reference", "`reference` is missing.",
                   hint = paste("Give the first and the last time of a quiet",
                                "period, or a table of observations."))
    }
    apart <- is.data.frame(reference) || length(dim(reference)) == 2L
    inside <- if (apart) rep(FALSE, nrow(series$values)) else
        in_reference(reference, series$time)
    parts <- list(
        x = series$values[!inside, , drop = FALSE],
        y = if (apart) reference_table(reference, series$values) else
            series$values[inside, , drop = FALSE]
    )
    if (nrow(parts$x) == 0L) {
        stop_kliep("reference",
                   "`reference` takes all of the series: nothing is left.",
                   hint = "Shorten it.")
    }
    # The rows are told from one another when some are left out.
    rownames(parts$x) <- which(!inside)
    parts <- choose_series(parts, choice)
    check_two_variables(parts$x)
    kept <- as.integer(rownames(parts$x))
    rownames(parts$x) <- NULL
    check_gaps(parts$x, "series", hint_gaps())
    check_gaps(parts$y, "reference", hint_gaps())
    check_sample(parts$x, "series")
    check_sample(parts$y, "reference")
    stretch <- cumsum(c(TRUE, diff(inside) != 0))
    list(x = parts$x, y = parts$y, time = series$time[kept],
         stretch = stretch[kept],
         reference = describe_reference(inside, apart, series$time, parts$y))
}

hint_gaps <- function() {
    paste("`na = \"omit\"` leaves out observations with missing values, and",
          "`na = \"impute\"` draws these from the others.")
}

choose_series <- function(parts, choice) {
    parts <- lapply(parts, pick_variables, choice$variables)
    parts$y <- match_columns(parts$x, parts$y)
    without_missing(top_columns(parts, choice$top_variable), choice$na,
                    c(x = "series", y = "reference"))
}

reference_table <- function(reference, values) {
    extra <- setdiff(colnames(reference), colnames(values))
    if (!is.null(colnames(values)) && length(extra) > 0L) {
        reference <- reference[, setdiff(colnames(reference), extra),
                               drop = FALSE]
    }
    as_numeric_matrix(reference, "reference")
}

# Which observations belong to the reference.
in_reference <- function(reference, time) {
    if (is.logical(reference) && length(reference) == length(time) &&
        !anyNA(reference)) {
        inside <- as.vector(reference)
    } else {
        limits <- check_limits(reference, time)
        inside <- time >= limits[1L] & time <= limits[2L]
    }
    if (sum(inside) >= 2L) return(inside)
    stop_kliep(
        "reference",
        paste0("`reference` must have at least 2 observations: got ",
               sum(inside), "."),
        hint = paste0("Times are from ", format(time[1L]), " to ",
                      format(time[length(time)]), ".")
    )
}

check_limits <- function(reference, time) {
    limits <- read_times(reference, time)
    if (length(limits) == 2L && is_same_kind(limits, time) &&
        !anyNA(limits) && limits[1L] <= limits[2L]) {
        return(limits)
    }
    stop_kliep(
        "reference",
        paste0("`reference` must be the first and the last time of a period, ",
               "`c(from, to)`, in the units of `time`: got ",
               describe(reference), "."),
        hint = paste0("Times are from ", format(time[1L]), " to ",
                      format(time[length(time)]), ".")
    )
}

# Text is read as what `time` is; NULL where that cannot be done.
read_times <- function(text, time) {
    if (!is.character(text) || is.numeric(time)) return(text)
    value_or(if (inherits(time, "Date")) as.Date(text) else
        as.POSIXct(text, tz = time_zone(time)), NULL)
}

is_same_kind <- function(limits, time) {
    if (is.numeric(time)) return(is.numeric(limits))
    inherits(limits, intersect(class(time), c("Date", "POSIXct")))
}

time_zone <- function(time) {
    zone <- attr(time, "tzone")
    if (is.null(zone)) "" else zone[1L]
}

describe_reference <- function(inside, apart, time, values) {
    one_stretch <- !apart && sum(diff(c(FALSE, inside)) == 1) == 1L
    c(list(n = nrow(values)),
      if (one_stretch) list(start = time[which(inside)[1L]],
                            end = time[max(which(inside))]))
}

# ---- windows ---------------------------------------------------------------

# The rows of `parts$x` that each window has.
lay_windows <- function(parts, width, step) {
    stretches <- split(seq_along(parts$stretch), parts$stretch)
    lay <- if (inherits(width, "difftime")) {
        span <- check_span(width, "width", parts$time)
        by <- check_span(step, "step", parts$time)
        function(rows) lay_by_time(rows, parts$time, span, by)
    } else {
        width <- check_whole(width, "width", "window", least = 2)
        if (inherits(step, "difftime")) {
            stop_kliep("window", paste(
                "`width` and `step` must be of one kind: got a number of",
                "observations, and a span of time."
            ))
        }
        step <- check_whole(step, "step", "window")
        function(rows) lay_by_rows(rows, width, step)
    }
    places <- unlist(lapply(unname(stretches), lay), recursive = FALSE)
    if (length(places) > 0L) return(places)
    stop_kliep(
        "window",
        paste0("A window of `width` ", format(width),
               " is longer than the series",
               if (!is.null(parts$reference$start) ||
                       length(stretches) > 1L) " outside the reference",
               ": it has ", count_of(max(lengths(stretches)), "observation"),
               if (length(stretches) > 1L) " at most in one stretch",
               ", from ", format(parts$time[1L]), " to ",
               format(parts$time[length(parts$time)]), "."),
        hint = "Shorten the window or the reference."
    )
}

# A span in the units in which times count.
check_span <- function(span, arg, time) {
    if (!inherits(time, c("Date", "POSIXct")) || !inherits(span, "difftime")) {
        stop_kliep(
            "window",
            paste0("`", arg, "` must be a number of observations",
                   if (inherits(time, c("Date", "POSIXct")))
                       ", as `width` is, or both spans of time",
                   ": got ", describe(span), "."),
            hint = if (!inherits(time, c("Date", "POSIXct")))
                "Spans of time need dates or times of day as `time`."
        )
    }
    units <- if (inherits(time, "Date")) "days" else "secs"
    check_positive(as.numeric(span, units = units), arg, "window")
}

lay_by_rows <- function(rows, width, step) {
    last <- length(rows) - width + 1
    if (last < 1) return(list())
    lapply(seq(1, last, by = step), function(first) {
        rows[seq(first, first + width - 1)]
    })
}

# A window covers all times from its start to before start + width; it has to
# end before the stretch does, of which the last observation lasts as long as
# the shortest time between two.
lay_by_time <- function(rows, time, span, by) {
    at <- as.numeric(time[rows])
    gaps <- diff(at)
    end <- at[length(at)] + min(gaps[gaps > 0], span)
    # Rounding must not cost the last window.
    last <- end - span + 1e-9 * span
    if (last < at[1L]) return(list())
    starts <- seq(at[1L], last, by = by)
    places <- lapply(starts, function(start) {
        rows[at >= start & at < start + span]
    })
    # Times without observations have no window.
    Filter(function(place) length(place) > 0L, places)
}
