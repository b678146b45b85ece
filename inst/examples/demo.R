# The main job on a simulated pair of samples: path, picture, edge table.
# Usage: Rscript demo.R [file of the picture]
library(kliepnet)

file <- commandArgs(TRUE)
if (length(file) != 1L) file <- "kliepnet-demo.png"
heading <- function(text) {
    cat("\n", text, "\n", strrep("-", nchar(text)), "\n", sep = "")
}

heading("Two samples whose networks differ in a few edges")
set.seed(1)
pair <- sim_gaussian(d = 20, n = 1000, n_changed = 5)
print(pair)

heading("The change, over a path of penalties")
path <- kliep_path(pair$x, pair$y, lambda_min_ratio = 0.25)
print(path)

heading("The picture")
picture <- plot(path, truth = pair$truth)
ggplot2::ggsave(file, picture, width = 8, height = 5, dpi = 150)
cat("saved as", normalizePath(file), "\n")

heading("The edges, in the order in which they enter")
found <- edges(path)
name <- function(table) paste(table$from, table$to)
found$changed <- ifelse(name(found) %in% name(pair$truth), "yes", "")
print(head(found, 10), digits = 3, row.names = FALSE)
cat("... ", nrow(found), " in all; ", nrow(pair$truth),
    " edges have changed in truth.\n", sep = "")
