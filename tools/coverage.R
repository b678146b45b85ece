# The R half of tools/coverage.sh.
#   coverage.R measure <source> <folder>     run tests and examples under covr
#   coverage.R report <folder> <parts ...>   a line for each language
goal <- 90

# ---- measuring -------------------------------------------------------------

measure <- function(source, folder) {
    # The linker leaves out what writes the counts of the Rust half, because
    # nothing calls it: it works by being there.
    options(covr.flags = c(
        CFLAGS = "-O0 --coverage",
        LDFLAGS = "--coverage -Wl,-u,__llvm_profile_runtime"
    ))
    library <- file.path(folder, "library")
    covered <- covr::package_coverage(
        source, type = "examples",
        code = c(run_tests(source), drop_cut_traces(library)),
        quiet = FALSE, clean = FALSE, install_path = library
    )
    tallied <- covr::tally_coverage(covered, by = "line")
    saveRDS(tallied[c("filename", "line", "value")],
            file.path(folder, "lines.rds"))
}

# Which lines they reach is asked here, not whether they pass: code that is
# watched is too slow for a few of them.
run_tests <- function(source) {
    paste0("testthat::test_dir(", deparse(file.path(source, "tests/testthat")),
           ", package = \"kliepnet\", load_package = \"installed\", ",
           "reporter = \"summary\", stop_on_failure = FALSE)")
}

# What covr runs last, before it reads the traces of all processes: those of a
# process that was killed while it wrote are no use, and would stop it.
drop_cut_traces <- function(library) {
    c(paste0("traces <- list.files(", deparse(library),
             ", \"^covr_trace_\", full.names = TRUE)"),
      "whole <- vapply(traces, function(file) {",
      "    !inherits(try(readRDS(file), silent = TRUE), \"try-error\")",
      "}, NA)",
      "unlink(traces[!whole])")
}

# ---- reporting -------------------------------------------------------------

# Lines of the files whose path has this in it, from llvm-cov's lcov: file,
# line, value. What a file tests itself with is no code to be covered.
read_lcov <- function(file, within) {
    text <- readLines(file)
    starts <- grep("^SF:", text)
    ends <- grep("^end_of_record", text)
    records <- Map(function(start, end) {
        path <- sub("^SF:", "", text[[start]])
        if (!grepl(within, path, fixed = TRUE)) return(NULL)
        counts <- grep("^DA:", text[start:end], value = TRUE)
        parts <- strsplit(sub("^DA:", "", counts), ",", fixed = TRUE)
        record <- data.frame(
            filename = sub(paste0(".*", within), "", path),
            line = as.integer(vapply(parts, `[[`, "", 1L)),
            value = as.numeric(vapply(parts, `[[`, "", 2L))
        )
        record[record$line < first_test_line(path), ]
    }, starts, ends)
    do.call(rbind, records)
}

first_test_line <- function(path) {
    marks <- grep("^#\\[cfg\\(test\\)\\]$", readLines(path))
    if (length(marks) > 0L) min(marks) else Inf
}

by_file <- function(lines) {
    percent <- 100 * tapply(lines$value > 0, lines$filename, mean)
    sort(percent)
}

# Print one line; is it at the goal?
report <- function(what, lines) {
    percent <- 100 * mean(lines$value > 0)
    files <- by_file(lines)
    below <- files[files < goal]
    listed <- if (length(below) > 0L) {
        paste0("; below ", goal, " %: ",
               paste0(names(below), " ", round(below, 1L), collapse = ", "))
    }
    cat(sprintf("coverage: %s %.1f %% of %d lines%s\n", what, percent,
                nrow(lines), paste0(listed, "")))
    percent >= goal
}

report_core <- function(folder) {
    file <- file.path(folder, "core", "lines.info")
    report("core (cargo test)", read_lcov(file, "/core/src/"))
}

report_package <- function(folder) {
    lines <- readRDS(file.path(folder, "package", "lines.rds"))
    in_c <- grepl("\\.c$", lines$filename)
    file <- file.path(folder, "package", "lines.info")
    all(c(
        report("R (tests and examples)", lines[!in_c, ]),
        report("C (from R)", lines[in_c, ]),
        report("binding (from R)", read_lcov(file, "/binding/src/"))
    ))
}

arguments <- commandArgs(TRUE)
if (arguments[[1L]] == "measure") {
    measure(arguments[[2L]], arguments[[3L]])
} else {
    reports <- list(core = report_core, package = report_package)
    met <- vapply(arguments[-(1:2)], function(part) {
        reports[[part]](arguments[[2L]])
    }, logical(1L))
    if (!all(met)) {
        cat("coverage: the goal is ", goal, " % of lines\n", sep = "")
        quit(status = 1L)
    }
}
