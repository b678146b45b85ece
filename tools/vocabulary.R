# Prints the tables of CONTRIBUTING.md's section "Functions, arguments, columns"
# from the installed package; a test compares them.
#   R_LIBS=build/library Rscript tools/vocabulary.R
library(kliepnet)
helpers <- file.path("tests", "testthat",
                     paste0("helper-", c("certificate", "calls", "vocabulary"),
                            ".R"))
for (file in helpers) source(file)
cat("| function | arguments |", "|---|---|", function_rows(), "",
    "| table | columns |", "|---|---|", column_rows(), sep = "\n")
