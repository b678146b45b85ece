# Fit one path and print how much memory that took, in MB, how long, in how
# many passes, and how many of its fits reached the gap. Usage:
#   Rscript bench/added_memory.R d n threads degree estimator
# with degree 1 for Gaussian features, and more for polynomials. `estimator` is
# "paper", or "default" for that of kliep_path().

source(file.path("bench", "process_memory.R"))
source(file.path("bench", "timing.R"))
source(file.path("bench", "samples.R"))
library(kliepnet)

given <- commandArgs(TRUE)
arguments <- as.integer(given[1:4])
spec <- if (given[5L] == "default") kliep_spec() else kliep_spec_paper()
pair <- normal_pair(d = arguments[1L], n = arguments[2L])
control <- kliep_control(threads = arguments[3L])
features <- if (arguments[4L] == 1L) feat_gaussian() else
    feat_polynomial(arguments[4L])
# What the first call in a process loads is no part of its work, nor is the
# collection of garbage.
few <- normal_pair(d = 3, n = 20)
invisible(kliep_path(few$x, few$y, spec = spec, nlambda = 2, control = control))
gc()
reset_peak()
before <- process_memory("VmRSS")
begun <- NA
run <- timed(function() {
    begun <<- processor_seconds()
    kliep_path(pair$x, pair$y, features, spec = spec,
               nlambda = 20, lambda_min_ratio = 0.7, control = control)
})
cpu <- processor_seconds() - begun
added <- process_memory("VmHWM") - before
path <- run$value
reached <- reached_gap(path)
cat("added=", added, " seconds=", run$seconds, " cpu=", cpu,
    " pass=", pass_seconds(pair, arguments[3L]), " passes=", path$passes,
    " edges=", max(path$diagnostics$n_edges), " reached=", sum(reached),
    " steps=", length(reached), "\n", sep = "")
