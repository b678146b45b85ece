# Run every testthat test against the installed package, and write what came
# of it, "passed failed skipped", to the file named on the command line.
counts_file <- commandArgs(TRUE)[1L]

results <- testthat::test_dir(
    file.path("tests", "testthat"),
    package = "kliepnet",
    load_package = "installed",
    # Ten, the default, can hide that something else failed too.
    reporter = testthat::SummaryReporter$new(max_reports = 50L),
    stop_on_failure = FALSE
)
tests <- as.data.frame(results)

# A row is a test, or what stands in a file outside its tests: an error there
# counts as well.
failed <- tests$failed > 0 | tests$error
skipped <- tests$skipped & !failed
passed <- tests$passed > 0 & !failed & !skipped
writeLines(paste(sum(passed), sum(failed), sum(skipped)), counts_file)
