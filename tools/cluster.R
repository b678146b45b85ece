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

# Runs end too soon to be killed for certain: once one has ended, the next says
# how it can be killed, and all wait until there is the file `mark`.
mark <- file.path(folder, "go-on")
victim <- file.path(folder, paste0(kind, "-victim"))
killed_folder <- file.path(folder, paste0(kind, "-compare-killed"))
simulate <- function() {
    job <- Sys.getenv("SLURM_JOB_ID")
    how <- if (nzchar(job)) paste("scancel", job) else
        paste("kill -9", Sys.getpid())
    until <- Sys.time() + 600
    while (!file.exists(mark) && Sys.time() < until &&
           length(list.files(killed_folder, "^replicate")) > 0L) {
        if (!file.exists(victim)) writeLines(how, victim)
        Sys.sleep(0.1)
    }
    sim_gaussian(d = 20, n = 60, density = 0.2, n_changed = 4)
}

compare <- function(checkpoint = NULL) {
    set.seed(3)
    compare_methods(
        simulate,
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
    running <- "squeue --noheader --states=running --format=%i | head -n 1"
    paste0("until [ -n \"$(", running, ")\" ]; do sleep 0.1; done; ",
           "scancel $(", running, ")")
}

kill_psock <- function() {
    "kill -9 $(ip netns pids kliepnet-b | tail -n 1)"
}

start <- list(slurm = start_slurm, psock = start_psock)[[kind]]
kill_one <- list(slurm = kill_slurm, psock = kill_psock)[[kind]]()
kill_victim <- sprintf(
    "until [ -s '%s' ]; do sleep 0.1; done; sh '%s'; touch '%s'",
    victim, victim, mark
)

# ---- killed, and taken up again --------------------------------------------

# Ends a worker as soon as some replicates are there.
watch <- function(checkpoint, some, kill) {
    script <- sprintf(
        paste("until [ $(ls '%s' 2> /dev/null | grep -c '^replicate')",
              "-ge %d ]; do sleep 0.1; done; %s"),
        checkpoint, some, kill
    )
    system2("sh", c("-c", shQuote(paste("timeout 600 sh -c", shQuote(script)))),
            wait = FALSE)
}

killed_and_resumed <- function(work, what, some, kill) {
    checkpoint <- new_checkpoint(paste0(what, "-killed"))
    unlink(mark)
    watch(checkpoint, some, kill)
    killed <- tryCatch(work(checkpoint), kliep_error_worker = identity)
    if (!inherits(killed, "kliep_error_worker")) {
        stop(what, " on ", kind, " was not stopped by a lost worker.")
    }
    there <- length(list.files(checkpoint, "^replicate"))
    message("cluster: ", kind, ", ", what, ": a worker was killed, and ",
            there, " runs are kept")
    to_its_end(work, checkpoint)
}

# To its end, as a user would: batchtools takes a job for lost that ends just
# between its two questions, whether it is done and whether it runs.
to_its_end <- function(work, checkpoint, tries = 4L) {
    tryCatch(work(checkpoint), kliep_error_worker = function(condition) {
        if (tries == 1L) stop(condition)
        message("cluster: ", kind, ": ",
                strsplit(conditionMessage(condition), "\n")[[1L]][1L])
        to_its_end(work, checkpoint, tries - 1L)
    })
}

new_checkpoint <- function(what) {
    checkpoint <- file.path(folder, paste(kind, what, sep = "-"))
    dir.create(checkpoint)
    checkpoint
}

# All but how long it took.
timeless <- function(result) {
    result$seconds <- NULL
    result
}

same <- function(result, alone, what) {
    if (!identical(timeless(result), timeless(alone))) {
        print(all.equal(timeless(result), timeless(alone)))
        apart <- !mapply(identical, unclass(timeless(result)),
                         unclass(timeless(alone)))
        utils::str(list(result[apart], alone[apart]))
        stop(what, " differs from the sequential result in ",
             toString(names(apart)[apart]), ".")
    }
    message("cluster: ", kind, ", ", what,
            ": identical to the sequential result")
}

# ---- what travels ----------------------------------------------------------

# What the files of one job hold: those of the job that was killed are left.
bytes_slurm <- function() {
    files <- list.files(".future", recursive = TRUE, full.names = TRUE)
    sum(file.size(grep("/(exports|registry|user|more|jobs)", files,
                       value = TRUE)))
}

# What has left for both hosts.
bytes_psock <- function() {
    counters <- sprintf("/sys/class/net/to-%s/statistics/tx_bytes",
                        c("a", "b"))
    sum(vapply(counters, function(file) as.numeric(readLines(file)), 1))
}

measured <- data.frame(cluster = character(), what = character(),
                       value = numeric())
measure <- function(what, value) {
    measured[nrow(measured) + 1L, ] <<- list(kind, what, value)
}

# ---- all of it -------------------------------------------------------------

alone <- list(compare = compare())
measure("seconds alone", system.time(alone$test <- test_pair())[["elapsed"]])
measure("bytes of the data", 8 * (length(pair$x) + length(pair$y)))
start()
where <- unique(unlist(future.apply::future_lapply(1:2, function(task) {
    system("hostname -I 2> /dev/null || true", intern = TRUE)
})))
message("cluster: ", kind, ", workers at ", paste(where, collapse = "and "))
before <- if (kind == "psock") bytes_psock()
took <- system.time(
    result <- to_its_end(test_pair, new_checkpoint("test"))
)[["elapsed"]]
measure("seconds", took)
if (kind == "psock") measure("bytes sent", bytes_psock() - before)
same(result, alone$test, "kliep_test()")
same(to_its_end(compare, new_checkpoint("compare")), alone$compare,
     "compare_methods()")
same(killed_and_resumed(test_pair, "test", 3L, kill_one), alone$test,
     "kliep_test(), killed and resumed")
if (kind == "slurm") measure("bytes of a job", bytes_slurm())
same(killed_and_resumed(compare, "compare", 1L, kill_victim), alone$compare,
     "compare_methods(), killed and resumed")
future::plan(future::sequential)
utils::write.table(measured, file.path(folder, "measured.csv"), sep = ",",
                   row.names = FALSE, append = kind == "psock",
                   col.names = kind == "slurm")
