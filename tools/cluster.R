# The work of tools/cluster.sh: the same calls alone and on a cluster, one of
# them killed in the middle and taken up again, compared to the last bit.
library(kliepnet)

folder <- commandArgs(TRUE)[1L]
kind <- Sys.getenv("KLIEPNET_CLUSTER")

set.seed(1)
pair <- sim_gaussian(d = 60, n = 150, density = 0.1, n_changed = 8)

test_pair <- function(checkpoint = NULL) {
    set.seed(2)
    kliep_test(pair$x, pair$y, n_perm = 40, checkpoint = checkpoint)
}

compare <- function(checkpoint = NULL) {
    set.seed(3)
    compare_methods(
        function() sim_gaussian(d = 20, n = 60, density = 0.2, n_changed = 4),
        methods = c("kliep", "flasso"), runs = 6,
        checkpoint = checkpoint
    )
}

# ---- the two clusters ------------------------------------------------------

start_slurm <- function() {
    template <- system.file("examples", "slurm.tmpl", package = "kliepnet")
    future::plan(future.batchtools::batchtools_slurm, template = template,
                 workers = 2, resources = list(ncpus = 1, minutes = 20))
}

start_psock <- function() {
    hosts <- c("10.77.0.2", "10.77.0.3")
    future::plan(future::cluster, workers = hosts, master = "10.77.0.1",
                 rshcmd = file.path(folder, "rsh"), rshopts = character(),
                 revtunnel = FALSE, homogeneous = TRUE,
                 rscript_libs = .libPaths())
}

# A shell command that ends one of the processes at work.
kill_slurm <- function() {
    "scancel $(squeue --noheader --states=running --format=%i | head -n 1)"
}

kill_psock <- function() {
    "kill -9 $(ip netns pids kliepnet-b | tail -n 1)"
}

start <- list(slurm = start_slurm, psock = start_psock)[[kind]]
kill <- list(slurm = kill_slurm, psock = kill_psock)[[kind]]()

# ---- killed, and taken up again --------------------------------------------

# Ends a worker as soon as some replicates are there.
watch <- function(checkpoint, some = 3L) {
    script <- sprintf(
        "until [ $(ls '%s' 2> /dev/null | grep -c '^replicate') -ge %d ]; do sleep 0.1; done; %s",
        checkpoint, some, kill
    )
    system2("sh", c("-c", shQuote(paste("timeout 600 sh -c", shQuote(script)))),
            wait = FALSE)
}

killed_and_resumed <- function(work, what) {
    checkpoint <- file.path(folder, paste(kind, what, sep = "-"))
    dir.create(checkpoint)
    watch(checkpoint)
    killed <- tryCatch(work(checkpoint), kliep_error_worker = identity)
    if (!inherits(killed, "kliep_error_worker")) {
        stop(what, " on ", kind, " was not stopped by a lost worker.")
    }
    there <- length(list.files(checkpoint, "^replicate"))
    message("cluster: ", kind, ", ", what, ": a worker was killed after ",
            there, " runs")
    work(checkpoint)
}

# All but how long it took.
timeless <- function(result) {
    result$seconds <- NULL
    result
}

same <- function(result, alone, what) {
    if (!identical(timeless(result), timeless(alone))) {
        print(all.equal(timeless(result), timeless(alone)))
        stop(what, " differs from the sequential result.")
    }
    message("cluster: ", kind, ", ", what,
            ": identical to the sequential result")
}

alone <- list(test = test_pair(), compare = compare())
start()
where <- unique(unlist(future.apply::future_lapply(1:2, function(task) {
    system("hostname -I 2> /dev/null || true", intern = TRUE)
})))
message("cluster: ", kind, ", workers at ", paste(where, collapse = "and "))
same(test_pair(), alone$test, "kliep_test()")
same(compare(), alone$compare, "compare_methods()")
same(killed_and_resumed(test_pair, "test"), alone$test,
     "kliep_test(), killed and resumed")
future::plan(future::sequential)
