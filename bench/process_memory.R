# What a process has in use, for scripts that run in one of their own.

# A line of /proc/self/status, in MB.
process_memory <- function(field) {
    line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"),
                 value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) * 1024 / 1e6
}

# Let the peak start from what is in use now. Where that is not allowed the
# peak is that of the whole process, which is no less.
reset_peak <- function() {
    tryCatch(cat("5\n", file = "/proc/self/clear_refs"),
             error = function(condition) NULL,
             warning = function(condition) NULL)
}

# Of all threads, and untouched by what else the machine does.
processor_seconds <- function() sum(proc.time()[c("user.self", "sys.self")])
