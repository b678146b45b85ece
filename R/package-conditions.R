# Every condition the package signals, in one place: what was wrong, what was
# got, what to do; and a class that calling code can catch.

# `class` is the short name: "dimension" gives an error of class
# kliep_error_dimension, kliep_error, error, condition.
stop_kliep <- function(class, message, hint = NULL, call = NULL) {
    stop(kliep_condition("error", class, message, hint, call))
}

warn_kliep <- function(class, message, hint = NULL, call = NULL) {
    warning(kliep_condition("warning", class, message, hint, call))
}

inform_kliep <- function(class, message, hint = NULL) {
    condition <- kliep_condition("message", class, message, hint, NULL)
    condition$message <- paste0(condition$message, "\n")
    message(condition)
}

kliep_condition <- function(type, class, message, hint, call) {
    text <- paste(c(message, hint), collapse = "\n")
    structure(
        class = c(paste0("kliep_", type, "_", class), paste0("kliep_", type),
                  type, "condition"),
        list(message = text, call = call, hint = hint)
    )
}

# A message or warning that several parts of the same observations give is shown
# once.
say_once <- function(work) {
    said <- character()
    once <- function(restart) {
        function(condition) {
            text <- conditionMessage(condition)
            if (text %in% said) invokeRestart(restart)
            said <<- c(said, text)
        }
    }
    withCallingHandlers(work, kliep_message = once("muffleMessage"),
                        kliep_warning = once("muffleWarning"))
}

# Lists in messages stay readable: `a`, `b`, `c` and 17 more.
name_some <- function(names, most = 5L) {
    shown <- paste0("`", utils::head(names, most), "`", collapse = ", ")
    more <- length(names) - most
    if (more > 0L) paste0(shown, " and ", more, " more") else shown
}

count_of <- function(n, singular, plural = paste0(singular, "s")) {
    paste(format(n, big.mark = ",", trim = TRUE),
          if (n == 1L) singular else plural)
}

# What an argument is, in words short enough for an error message.
describe <- function(value) {
    if (is.null(value)) return("NULL")
    if (length(dim(value)) == 2L) {
        size <- paste(dim(value), collapse = " x ")
        return(paste("a", size, class(value)[1L]))
    }
    if (is.atomic(value) && length(value) == 1L) {
        return(paste0(if (is.character(value)) dQuote(value, FALSE) else
            format(value)))
    }
    paste("an object of class", paste0("<", class(value)[1L], ">"),
          "and length", length(value))
}

# ---- time limits -----------------------------------------------------------

# The message of R's own error at the end of setTimeLimit(), or NULL where the
# condition is another one. It is known by its text, in the session's language:
# it has no class. Where it meets a reply from a worker, future makes an error
# of its own with this text in it.
time_limit_of <- function(condition) {
    limits <- gettext(
        "reached elapsed time limit", "reached CPU time limit",
        "reached session elapsed time limit", "reached session CPU time limit",
        domain = "R"
    )
    message <- conditionMessage(condition)
    found <- if (inherits(condition, "FutureError")) {
        vapply(limits, grepl, NA, x = message, fixed = TRUE)
    } else {
        limits == message
    }
    if (any(found)) limits[found][1L]
}

# For code that catches errors: the time of the whole call is over, and not only
# that of the task in which the limit was reached.
pass_time_limit <- function(condition) {
    if (!is.null(time_limit_of(condition))) stop(condition)
}

# The value, or `instead` if there is an error. Time limits are passed on.
value_or <- function(value, instead) {
    tryCatch(value, error = function(condition) {
        pass_time_limit(condition)
        instead
    })
}
