# Every experiment of the paper, as described in inst/paper/experiments.R.
# `make paper` runs all, `make paper ONLY="gaussian time"` those named. What
# has been done is kept in build/paper, so that a run that was stopped goes on
# from there; results go to inst/paper, for the vignette.

library(kliepnet)
source(file.path("inst", "paper", "experiments.R"))
source(file.path("bench", "machine.R"))

result_file <- function(name) file.path("inst", "paper", paste0(name, ".rds"))

checkpoint_of <- function(name) {
    folder <- file.path("build", "paper", name)
    dir.create(dirname(folder), recursive = TRUE, showWarnings = FALSE)
    folder
}

run_experiment <- function(name, experiment) {
    # The generator is named: drawing a pair again leaves another one behind.
    set.seed(experiment$seed, "Mersenne-Twister", "Inversion", "Rejection")
    study <- compare_methods(
        experiment$simulate, experiment$methods, experiment$runs,
        checkpoint = checkpoint_of(name), progress = FALSE
    )
    print(study)
    if (length(experiment$paths) > 0L) {
        attr(study, "paths") <- paths_of_first_run(study, experiment)
    }
    save_result(slim(study), name)
}

paths_of_first_run <- function(study, experiment) {
    pair <- pair_of_run(study, experiment, names(experiment$simulate)[1L])
    # Each with the random numbers that follow those of the pair.
    state <- .Random.seed
    lapply(experiment$methods[experiment$paths], function(method) {
        assign(".Random.seed", state, globalenv())
        found <- path_of_method(method, pair)
        found$path <- slim_path(found$path)
        found
    })
}

# What is drawn.
slim_path <- function(path) {
    path$networks <- NULL
    path$samples <- NULL
    path$coefficients$value <- short_numbers(path$coefficients$value)
    path
}

# Ten binary digits are enough to draw, and the zeros after them take no room.
short_numbers <- function(value) {
    digit <- 2^(floor(log2(abs(value))) - 10)
    ifelse(is.na(value) | value == 0, value, round(value / digit) * digit)
}

# The curves that are drawn, and the seeds to repeat a run with; not the counts
# at every lambda2.
slim <- function(study) {
    study$curve <- lapply(study$curve, function(curve) {
        curve$points <- NULL
        curve$curve <- curve$curve[c("place", "tp", "fp", "precision",
                                     "recall", "tpr", "fpr")]
        shares <- c("precision", "recall", "tpr", "fpr")
        curve$curve[shares] <- lapply(curve$curve[shares], short_numbers)
        curve
    })
    study
}

# Times need the machine for themselves.
run_time <- function(name, sizes = c(40, 50, 60, 70, 80), runs = 10L) {
    old <- future::plan("sequential")
    on.exit(future::plan(old))
    set.seed(54)
    times <- do.call(rbind, lapply(seq_len(runs), function(run) {
        cbind(run = run, do.call(rbind, lapply(sizes, time_solvers)))
    }))
    print(stats::aggregate(seconds ~ solver + d, times, stats::median))
    save_result(times, name)
}

save_result <- function(result, name) {
    attr(result, "made_by") <- c(
        kliepnet = format(utils::packageVersion("kliepnet")),
        R = R.version.string, machine = cpu_model()
    )
    saveRDS(result, result_file(name), version = 3, compress = "xz")
    message("paper: ", result_file(name), ", ",
            format(file.size(result_file(name)), big.mark = ","), " bytes")
}

experiments <- paper_experiments()
known <- c("time", names(experiments))
wanted <- strsplit(trimws(Sys.getenv("ONLY")), "[, ]+")[[1L]]
if (length(wanted) == 0L) wanted <- known
unknown <- setdiff(wanted, known)
if (length(unknown) > 0L) {
    stop("ONLY names no experiment \"", unknown[1L], "\"; there are ",
         paste(known, collapse = ", "), ".", call. = FALSE)
}
future::plan("multisession", workers = parallelly::availableCores()[[1L]])
progressr::handlers(global = TRUE)
for (name in intersect(known, wanted)) {
    message("paper: ", name)
    if (name == "time") run_time(name) else
        run_experiment(name, experiments[[name]])
}
