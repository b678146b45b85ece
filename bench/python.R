# A python3 that can import a module, or "": the one on the PATH need not be
# the one that the system's packages are for.
python_with <- function(module) {
    candidates <- unique(c(Sys.which("python3"), "/usr/bin/python3"))
    can <- vapply(candidates[file.exists(candidates)], function(python) {
        system2(python, c("-c", shQuote(paste("import", module))),
                stdout = FALSE, stderr = FALSE) == 0L
    }, NA)
    c(names(can)[can], "")[1L]
}

# For SciPy, the faster BLAS where Debian has put one beside the reference.
fast_blas <- function() {
    folder <- Sys.glob("/usr/lib/*/openblas-*")
    if (length(folder) > 0L) paste0("LD_LIBRARY_PATH=", folder[1L])
}
