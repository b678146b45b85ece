# Test all edges of one pair of samples on one thread and print the processor
# time that took, and the memory in MB. Usage:
#   Rscript bench/tests_once.R d n size
# with the edges of the support, or 0 for the whole of kliep_auto().

source(file.path("bench", "process_memory.R"))
library(kliepnet)

arguments <- as.integer(commandArgs(TRUE))
d <- arguments[1L]
size <- arguments[3L]
set.seed(1)
pair <- sim_gaussian(d = d, n = arguments[2L], density = 4 / d, edge = 0.3,
                     n_changed = d %/% 4, change = -0.6)
control <- kliep_control(threads = 1)

# A call that tests, and the edges in its support.
prepare <- function() {
    if (size == 0L) {
        return(list(support = 0, test = function() {
            kliep_auto(pair$x, pair$y, control = control, progress = FALSE)
        }))
    }
    samples <- kliepnet:::check_samples(pair$x, pair$y)
    scaled <- kliepnet:::neighbour_tests(samples, control)[c("x", "y")]
    path <- kliepnet:::screening_path(scaled, control)
    support <- kliepnet:::path_support(path, size)
    list(support = sum(support$from != support$to), test = function() {
        kliepnet:::score_edges(scaled, support, control)
    })
}

ready <- prepare()
gc()
reset_peak()
before <- process_memory("VmRSS")
begun <- processor_seconds()
result <- ready$test()
seconds <- processor_seconds() - begun
cat("seconds=", seconds, " added=", process_memory("VmHWM") - before,
    " support=", ready$support, " edges=", d * (d - 1) / 2, "\n", sep = "")
