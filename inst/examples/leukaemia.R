# From an ExpressionSet to a report: which interactions of genes differ between
# B-cell leukaemias with the BCR/ABL fusion and those without a known change.
# Usage: Rscript leukaemia.R [file of the report]
library(kliepnet)

file <- commandArgs(TRUE)
if (length(file) != 1L) file <- "leukaemia.html"

# The package ALL is part of Bioconductor.
data("ALL", package = "ALL")
cells <- ALL[, substr(ALL$BT, 1, 1) == "B"]

set.seed(1)
chosen <- kliep_select(cells, group = "mol.biol", top_variable = 100,
                       contrast = c("BCR/ABL", "NEG"), rule = "1se")
print(chosen)
kliep_report(chosen, file, title = "BCR/ABL against NEG", open = FALSE)
