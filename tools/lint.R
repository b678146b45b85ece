# Lint every R file of the tree; any lint is a failure. The namespace is
# loaded so that a function in another file counts as defined.
loadNamespace("kliepnet")
folders <- c("R", "tests", "tools", "bench", "inst", "vignettes")
lints <- lapply(folders[dir.exists(folders)], lintr::lint_dir,
                relative_path = FALSE)
lints <- do.call(c, lints)
if (length(lints) > 0L) {
    class(lints) <- c("lints", "list")
    print(lints)
    quit(status = 1L)
}
