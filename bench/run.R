# The timing and memory table. `make bench` prints all of it, and
# `make bench ONLY="solvers memory"` the groups named.
#
# Times differ from machine to machine and from hour to hour, so nearly every
# goal is a ratio of things measured in the same run. A goal that is not met
# says so in the table; only an error makes the exit status non-zero.

for (file in c("rows", "runs", "timing", "machine", "python", "samples",
               "solvers", "genome", "memory", "peak", "shapes", "select",
               "recovery", "features", "simulate", "consistency",
               "baselines", "resample", "inference", "study", "calibration",
               "beyond", "intervals", "level", "tests", "designs", "mixed",
               "time", "load", "scaling", "refits", "users", "report",
               "faults")) {
    source(file.path("bench", paste0(file, ".R")))
}
source(file.path("inst", "paper", "scaling.R"))
library(kliepnet)

groups <- list(
    solvers = bench_solvers,
    genome = bench_genome,
    memory = bench_memory,
    peak = bench_peak,
    shapes = bench_shapes,
    select = bench_select,
    recovery = bench_recovery,
    features = bench_features,
    simulate = bench_simulate,
    consistency = bench_consistency,
    baselines = bench_baselines,
    resample = bench_resample,
    inference = bench_inference,
    study = bench_study,
    calibration = bench_calibration,
    beyond = bench_beyond,
    intervals = bench_intervals,
    level = bench_level,
    tests = bench_tests,
    time = bench_time,
    designs = bench_designs,
    load = bench_load,
    scaling = bench_scaling,
    users = bench_users,
    report = bench_report,
    faults = bench_faults
)

# The groups named in ONLY, or all.
wanted_groups <- function(only = Sys.getenv("ONLY")) {
    wanted <- strsplit(trimws(only), "[, ]+")[[1L]]
    if (length(wanted) == 0L) return(names(groups))
    unknown <- setdiff(wanted, names(groups))
    if (length(unknown) > 0L) {
        stop("ONLY names no group \"", unknown[1L], "\"; there are ",
             paste(names(groups), collapse = ", "), ".", call. = FALSE)
    }
    intersect(names(groups), wanted)
}

# A group that fails leaves the others their rows.
run_group <- function(name) {
    message("bench: ", name)
    unpack_runs(name)
    on.exit(pack_runs(name))
    tryCatch(
        cbind(group = name, groups[[name]]()),
        error = function(condition) {
            message("bench: ", name, " failed: ", conditionMessage(condition))
            NULL
        }
    )
}

wanted <- wanted_groups()
cat(describe_machine(), "", sep = "\n")
parts <- lapply(wanted, run_group)
print_rows(do.call(rbind, parts))
failed <- vapply(parts, is.null, TRUE)
quit(status = as.integer(any(failed)))
