# What faults leave behind: interrupts at random moments in every long function,
# on one process and on two workers, and routines of the Rust library called
# with what they are not made for. The scripts are those of the tests, which run
# a part of this.

bench_faults <- function() {
    sequential <- interrupt_trials(70L, "sequential")
    parallel <- interrupt_trials(30L, "multisession")
    rbind(interrupt_rows(sequential, "one process"),
          interrupt_rows(parallel, "two workers"), binding_row())
}

interrupt_trials <- function(trials, plan) {
    table <- tempfile()
    on.exit(unlink(table))
    run_script("faults-interrupt.R", table, 1, trials, plan, 1.5)
    found <- readRDS(table)
    if (nrow(found) < trials) {
        stop("the session ended after trial ", nrow(found), ", ",
             found$name[nrow(found)])
    }
    odd <- found$wrong != "" | !found$ended %in% c("interrupted", "by itself")
    for (trial in which(odd)) {
        message("bench: ", found$name[trial], " after ", found$seconds[trial],
                " s: ", found$ended[trial], "; ", found$wrong[trial])
    }
    found
}

# With a limit, memory that is not there is refused on every system.
run_script <- function(name, ...) {
    command <- paste(file.path(R.home("bin"), "Rscript"),
                     file.path("tests", "testthat", name), ...)
    system2("sh", c("-c", shQuote(paste("ulimit -v 16000000;", command))))
}

interrupt_rows <- function(found, where) {
    stopped <- found$ended == "interrupted"
    usable <- found$wrong == "" & (stopped | found$ended == "by itself")
    longest <- max(found$delay[stopped])
    what <- paste0("interrupts at random, ", where, ": ")
    rbind(
        bench_row(paste0(what, "session usable"),
                  paste(sum(usable), "of", nrow(found)),
                  goal = list(text = "all", met = all(usable))),
        bench_row(paste0(what, "came in time to stop the call"),
                  paste(sum(stopped), "of", nrow(found))),
        bench_row(paste0(what, "longest delay, ",
                         found$name[stopped][which.max(found$delay[stopped])]),
                  show_seconds(longest), goal = at_most(longest, 5, " s"))
    )
}

binding_row <- function() {
    files <- c(tempfile(), tempfile())
    on.exit(unlink(files))
    run_script("fuzz-binding.R", files[1L], files[2L], 1000)
    calls <- readLines(files[1L])
    wrong <- readLines(files[2L])
    for (line in wrong) message("bench: ", line)
    whole <- utils::tail(calls, 1L) == "whole"
    bench_row("calls of Rust routines with wrong arguments, ended in order",
              paste(length(calls) - 1L - length(wrong), "of",
                    length(calls) - 1L),
              goal = list(text = "all", met = whole && length(wrong) == 0L))
}
