# Where and with what the table was made.

describe_machine <- function() {
    c(
        paste0("machine  ", cpu_model(), ", cores: ",
               parallelly::availableCores()[[1L]], ", load: ",
               load_average()),
        paste0("vectors  ", paste(vector_instructions(), collapse = " ")),
        paste0("kliepnet ", utils::packageVersion("kliepnet"), ", ",
               R.version.string, ", ", rust_output("rustc --version")[1L])
    )
}

# All values of a field of /proc/cpuinfo, none where there is no such file.
cpu_field <- function(pattern) {
    if (!file.exists("/proc/cpuinfo")) return(character())
    lines <- grep(paste0("^(", pattern, ")[[:space:]]*:"),
                  readLines("/proc/cpuinfo"), value = TRUE)
    sub("^[^:]*:[[:space:]]*", "", lines)
}

cpu_model <- function() {
    c(cpu_field("model name"), Sys.info()[["machine"]])[1L]
}

# Those that matter to arithmetic on doubles, of x86 and of ARM.
vector_instructions <- function() {
    flags <- strsplit(paste(cpu_field("flags|Features")[1L]), " ")[[1L]]
    known <- c("sse2", "avx", "avx2", "fma", "avx512f", "asimd", "sve")
    found <- intersect(known, flags)
    if (length(found) == 0L) "unknown" else found
}

load_average <- function() {
    if (!file.exists("/proc/loadavg")) return("unknown")
    strsplit(readLines("/proc/loadavg"), " ")[[1L]][1L]
}

# What a command prints, with cargo and rustc where the build finds them.
rust_output <- function(command) {
    script <- paste(". tools/rust.sh; find_rust;", command)
    output <- suppressWarnings(
        system2("sh", c("-c", shQuote(script)), stdout = TRUE)
    )
    if (!is.null(attr(output, "status"))) {
        stop("`", command, "` failed.", call. = FALSE)
    }
    output
}
