# Finished runs of the long groups: a file each in `build`, so that a group that
# was cut off goes on, and all of a group in one file of the tree, so that it
# goes on elsewhere. Remove both where a method has changed.

run_file <- function(setting, seed, folder) {
    name <- gsub("[^a-z0-9_]+", "-", tolower(setting))
    file.path(folder, paste0(name, "-", seed, ".rds"))
}

packed_file <- function(group) {
    file.path("bench", "runs", paste0(group, ".rds"))
}

# The runs of the tree, a file each, unless there is one.
unpack_runs <- function(group) {
    if (!file.exists(packed_file(group))) return(invisible())
    folder <- file.path("build", group)
    dir.create(folder, showWarnings = FALSE, recursive = TRUE)
    runs <- readRDS(packed_file(group))
    for (name in names(runs)) {
        to <- file.path(folder, name)
        if (!file.exists(to)) saveRDS(runs[[name]], to)
    }
}

# All runs of a group that has any.
pack_runs <- function(group) {
    files <- list.files(file.path("build", group), "[.]rds$",
                        full.names = TRUE)
    if (length(files) == 0L) return(invisible())
    runs <- lapply(files, readRDS)
    names(runs) <- basename(files)
    dir.create(dirname(packed_file(group)), showWarnings = FALSE)
    saveRDS(runs, packed_file(group), version = 3, compress = "xz")
}

# One run for each seed or number, over all cores. Each core has one process for
# its share of them: a process for each run would copy memory for longer than it
# works.
on_all_cores <- function(numbers, one, ...) {
    runs <- parallel::mclapply(numbers, one, ...,
                               mc.cores = parallelly::availableCores()[[1L]])
    failed <- vapply(runs, inherits, NA, "try-error")
    if (any(failed)) stop(runs[[which(failed)[1L]]], call. = FALSE)
    runs
}

# `work`, without looking for changes that correlations do not show: these
# decide nothing about which edges are reported, and take most of the time where
# there are few variables.
without_beyond <- function(work) {
    most <- get("most_beyond", asNamespace("kliepnet"))
    on.exit(utils::assignInNamespace("most_beyond", most, "kliepnet"))
    utils::assignInNamespace("most_beyond", function(d) 0, "kliepnet")
    work
}
