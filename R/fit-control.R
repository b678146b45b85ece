#' Settings of the solver, and what a result keeps
#'
#' Sets how accurately a fit is solved and on how many threads, and whether its
#' result carries the samples.
#'
#' @param tol The accuracy at which a fit counts as converged; see the section
#'   on convergence in [kliep_path()].
#' @param max_iter The most iterations spent on one value of `lambda2`.
#' @param threads The number of threads, up to 1024. `NULL` takes
#'   [parallelly::availableCores()], which is one inside a parallel worker and
#'   respects schedulers, container limits and `R CMD check`. Results do not
#'   depend on it.
#' @param keep_samples Does a result carry its samples, so that the next
#'   function can continue with it? Within a session they are the copy that the
#'   fit was made from; a saved result is larger by 8 bytes for each value
#'   in both samples.
#' @return A list of class `kliep_control`.
#' @export
#' @examples
#' kliep_control(tol = 1e-8, threads = 1)
kliep_control <- function(tol = 1e-6, max_iter = 10000, threads = NULL,
                          keep_samples = TRUE) {
    if (is.null(threads)) threads <- available_cores()
    structure(
        class = "kliep_control",
        list(
            tol = check_fraction(tol, "tol", "control"),
            max_iter = as.integer(check_whole(max_iter, "max_iter", "control")),
            threads = as.integer(check_whole(threads, "threads", "control",
                                             most = 1024)),
            keep_samples = check_flag(keep_samples, "keep_samples")
        )
    )
}

# Counting the cores runs a command, which takes a fifth of the time of a small
# fit: it is done again only where what parallelly goes by has changed, such as
# in a worker.
available_cores <- function() {
    options <- options()
    decides <- grepl("^(mc[.]cores|parallelly[.])", names(options))
    now <- list(Sys.getpid(), Sys.getenv(), options[decides])
    if (!identical(now, counted_cores$at)) {
        counted_cores$cores <- parallelly::availableCores()[[1L]]
        counted_cores$at <- now
    }
    counted_cores$cores
}

counted_cores <- new.env(parent = emptyenv())

#' @export
format.kliep_control <- function(x, ...) {
    paste0("<kliep_control> tol = ", format(x$tol), ", max_iter = ",
           x$max_iter, ", threads = ", x$threads,
           if (!x$keep_samples) ", without samples")
}

#' @export
print.kliep_control <- function(x, ...) {
    cat(format(x), "\n", sep = "")
    invisible(x)
}
