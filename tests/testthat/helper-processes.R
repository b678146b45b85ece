# Ends a process and all that it started. One of them that ends by itself
# meanwhile, as workers do whose main process is gone, cannot be signalled any
# more; the others are ended by another try.
end_tree <- function(process, tries = 20L) {
    for (try in seq_len(tries - 1L)) {
        ended <- tryCatch({
            process$kill_tree()
            TRUE
        }, no_such_process = function(condition) FALSE)
        if (ended) return(invisible())
    }
    process$kill_tree()
    invisible()
}
