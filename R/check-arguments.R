# Checks of arguments of any kind: choices, flags, numbers, `...`. Each check
# returns the value in the form that is wanted, or stops with a classed error.
# Checks that only one subject needs are in the files of that subject.

is_variable_set <- function(set) {
    (is.character(set) || is.numeric(set)) && length(set) > 0L &&
        !anyNA(set) && !anyDuplicated(set)
}

# The argument left at its default is the whole vector of choices.
check_choice <- function(value, arg, choices) {
    if (identical(value, choices)) return(choices[1L])
    if (is.character(value) && length(value) == 1L && value %in% choices) {
        return(value)
    }
    stop_kliep(
        "argument",
        paste0("`", arg, "` must be one of ",
               paste0("\"", choices, "\"", collapse = ", "), ": got ",
               describe(value), ".")
    )
}

check_flag <- function(value, arg) {
    if (isTRUE(value) || isFALSE(value)) return(value)
    stop_kliep("argument", paste0("`", arg, "` must be TRUE or FALSE: got ",
                                  describe(value), "."))
}

is_string <- function(value) {
    is.character(value) && length(value) == 1L && !is.na(value)
}

check_number <- function(value, arg, class = "argument") {
    if (is.numeric(value) && length(value) == 1L && is.finite(value)) {
        return(as.double(value))
    }
    stop_kliep(class, paste0("`", arg, "` must be one finite number: got ",
                             describe(value), "."))
}

check_whole <- function(value, arg, class = "argument", least = 1,
                        most = .Machine$integer.max) {
    value <- check_number(value, arg, class)
    if (value >= least && value == round(value) && value <= most) {
        return(value)
    }
    range <- if (value < least || most == .Machine$integer.max)
        paste0(", ", least, " or more") else
        paste0(" up to ", format(most, big.mark = ",", scientific = FALSE))
    stop_kliep(class, paste0("`", arg, "` must be a whole number", range,
                             ": got ", format(value), "."))
}

# NULL is the default.
check_whole_or <- function(value, arg, default, least = 1) {
    if (is.null(value)) return(default)
    check_whole(value, arg, least = least)
}

check_positive <- function(value, arg, class = "argument") {
    value <- check_number(value, arg, class)
    if (value > 0) return(value)
    stop_kliep(class, paste0("`", arg, "` must be positive: got ",
                             format(value), "."))
}

check_fraction <- function(value, arg, class = "argument") {
    value <- check_number(value, arg, class)
    if (value > 0 && value < 1) return(value)
    stop_kliep(class, paste0("`", arg, "` must be between 0 and 1, both ",
                             "excluded: got ", format(value), "."))
}

# The name of a file that `what` can be written to.
check_new_file <- function(file, what, example) {
    if (!is_string(file) || file == "") {
        stop_kliep("file", paste0("`file` must be the name of a file: got ",
                                  describe(file), "."))
    }
    file <- path.expand(file)
    folder <- dirname(file)
    why <- if (!dir.exists(folder)) paste0("there is no folder `", folder, "`")
    else if (dir.exists(file)) paste0("`", file, "` is a folder")
    else if (!can_write(file)) paste0("no permission to write `", file, "`")
    if (is.null(why)) return(file)
    stop_kliep("file", paste0(what, " cannot be written: ", why, "."),
               hint = paste0("Choose another `file`, such as `", example,
                             "`."))
}

# A file is replaced by way of its folder.
can_write <- function(file) {
    writable <- function(path) unname(file.access(path, 2L)) == 0L
    writable(dirname(file)) && (!file.exists(file) || writable(file))
}

# Functions that test all edges: what they report does not depend on a penalty.
untuned <- c("kliep_infer", "kliep_groups", "kliep_by", "kliep_interaction")

# Arguments of glmnet, and what they are called here.
stop_other_word <- function(word, known, fun) {
    if (!word %in% c("lambda", "s")) return(invisible())
    stop_kliep(
        "dots",
        paste0("`", fun, "()` has no argument `", word, "`."),
        hint = if (!"lambda2" %in% known || fun %in% untuned)
            "It needs no penalty; `kliep_path()` has one, `lambda2`."
        else if (word == "s" || !"lambda1" %in% known)
            "The penalty on the number of edges is `lambda2`." else
            paste("The penalty on the number of edges is `lambda2`, the ridge",
                  "penalty is `lambda1`.")
    )
}

# Some functions have an argument `lambda` for this check alone: without it, R
# would complain that `lambda` matches several arguments.
refuse_lambda <- function(given, known, fun) {
    if (given) stop_other_word("lambda", known, fun)
}

# Arguments that nothing reads are typing errors: the message says so, and
# suggests what was meant.
check_dots <- function(given, known, fun) {
    known <- setdiff(known, "...")
    unused <- setdiff(names(given), known)
    unnamed <- if (is.null(names(given))) length(given) else
        sum(names(given) == "")
    unused <- unused[unused != ""]
    if (length(unused) == 0L && unnamed == 0L) return(invisible())
    if (length(unused) == 0L) {
        stop_kliep("dots", paste0("`", fun, "()` got ",
                                  count_of(unnamed, "argument"),
                                  " too many, without a name."),
                   hint = "Name the arguments.")
    }
    stop_other_word(unused[1L], known, fun)
    distance <- utils::adist(unused[1L], known, ignore.case = TRUE)
    near <- known[distance == min(distance) & distance <= 3]
    stop_kliep(
        "dots",
        paste0("`", fun, "()` has no argument ", name_some(unused), "."),
        hint = if (length(near) > 0L)
            paste0("Did you mean `", near[1L], "`?")
    )
}
