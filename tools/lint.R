# Lint every R file of the tree; any lint is a failure. The namespace is
# loaded so that a function in another file counts as defined.
invisible(loadNamespace("kliepnet"))

lint_folder <- function(folder) {
    lints <- lintr::lint_dir(folder, relative_path = FALSE)
    # Scripts and tests use what their runner attaches for them, which lintr
    # does not see.
    if (folder != "R") {
        lints <- Filter(function(lint) {
            lint$linter != "object_usage_linter"
        }, lints)
    }
    lints
}

folders <- c("R", "tests", "tools", "bench", "inst", "vignettes")
lints <- do.call(c, lapply(folders[dir.exists(folders)], lint_folder))
if (length(lints) > 0L) {
    print(structure(lints, class = "lints"))
    quit(status = 1L)
}
