# How much memory is free, and whether something will fit into it.

# Stops before anything is allocated. `what` begins the message.
check_memory <- function(bytes, what, hint = paste(
    "Use fewer variables or features, or a product family such as",
    "`feat_polynomial()`, which stores none."
)) {
    if (fits_memory(bytes)) return(invisible())
    stop_kliep(
        "memory",
        paste0(what, " would take ", format_bytes(bytes), " of memory, and ",
               format_bytes(free_memory()), " is free."),
        hint = hint
    )
}

# TRUE also if free memory is unknown. Looking it up takes memory itself, so
# that small requests are not checked.
fits_memory <- function(bytes) {
    if (isTRUE(bytes <= 2^22)) return(TRUE)
    free <- free_memory()
    is.na(free) || bytes <= free
}

# The samples of a simulated pair, as they are drawn and as they are handed on,
# and the matrices of both networks.
check_pair_memory <- function(d, n, n_holdout = 0, per_pair = 32) {
    rows <- sum(n) + 2 * n_holdout
    check_memory(
        24 * rows * d + per_pair * d^2,
        paste0("A pair of ", format(rows, big.mark = ","), " observations of ",
               count_of(d, "variable")),
        hint = "Ask for fewer observations or variables."
    )
}

# What is kept of each of many replicates: its random numbers, which units it
# takes, and what it found.
check_replicates_memory <- function(count, units, arg) {
    check_memory(count * (2000 + 4 * units),
                 paste0("`", arg, "` = ",
                        format(count, big.mark = ",", scientific = FALSE)),
                 hint = paste0("Lower `", arg, "`."))
}

# In bytes; NA if it is unknown. A container may have less than its host: Linux
# keeps its limits in a folder, which other systems do not have. The function is
# imported: if its package were loaded here, a time limit that ends the loading
# would look like a package that does not work, and would be lost.
#' @importFrom ps ps_system_memory
free_memory <- function(groups = "/sys/fs/cgroup") {
    host <- value_or(ps_system_memory()$avail, NA_real_)
    group <- control_group_bytes(groups, "max") -
        control_group_bytes(groups, "current")
    free <- c(host, group)
    if (all(is.na(free))) NA_real_ else max(0, min(free, na.rm = TRUE))
}

# A limit of Linux control groups: "max" where there is none.
control_group_bytes <- function(groups, name) {
    file <- file.path(groups, paste0("memory.", name))
    if (!file.exists(file)) return(NA_real_)
    text <- value_or(readLines(file, 1L, warn = FALSE), NA_character_)
    suppressWarnings(as.double(text))
}

format_bytes <- function(bytes) {
    format(structure(bytes, class = "object_size"), units = "auto",
           standard = "SI")
}
