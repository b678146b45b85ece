# Time and memory of a path against the number of variables and of
# observations: a table for the vignette on the method, a picture in
# build/scaling.png, and the exponents as rows.

# The paper's estimator looks at factors as a stream; the default one has d x d
# matrices of moments, and needs the observations for nothing else.
scaling_sizes <- rbind(
    data.frame(estimator = "paper", against = "variables", n = 100,
               d = c(100, 200, 500, 1000, 2000, 5000, 10000, 20000)),
    data.frame(estimator = "paper", against = "observations", d = 1000,
               n = c(50, 100, 200, 400, 800, 1600, 3200)),
    data.frame(estimator = "default", against = "variables", n = 100,
               d = c(50, 100, 200, 500, 1000, 2000)),
    data.frame(estimator = "default", against = "observations", d = 50,
               n = c(50, 200, 800, 3200, 12500, 50000))
)

bench_scaling <- function() {
    if (!file.exists("/proc/self/status")) {
        return(bench_row("time and memory", "needs /proc/self/status"))
    }
    runs <- do.call(rbind, Map(scaling_run, scaling_sizes$estimator,
                               scaling_sizes$against, scaling_sizes$d,
                               scaling_sizes$n))
    rownames(runs) <- NULL
    attr(runs, "settings") <- list(
        samples = "independent normal, set.seed(1)", lambda1 = 0.1,
        nlambda = 20, lambda_min_ratio = 0.7, threads = 1L,
        machine = cpu_model()
    )
    saveRDS(runs, file.path("inst", "paper", "scaling.rds"), version = 3)
    ggplot2::ggsave("build/scaling.png", draw_scaling(runs), width = 7,
                    height = 5, dpi = 120, bg = "white")
    message("bench: drawn to build/scaling.png")
    rbind(
        do.call(rbind, lapply(split(runs, seq_len(nrow(runs))), scaling_row)),
        exponent_rows(runs),
        reached_row("all: ", sum(runs$reached), sum(runs$steps))
    )
}

# Small problems are over before a clock can tell: the median of some.
scaling_run <- function(estimator, against, d, n) {
    message("scaling: ", estimator, ", d = ", d, ", n = ", n)
    times <- if (d * d * n < 1e9) 5L else 1L
    runs <- do.call(rbind, lapply(seq_len(times), function(i) {
        as.data.frame(as.list(measure_memory(d, n, threads = 1, degree = 1,
                                             estimator = estimator)))
    }))
    data.frame(estimator = estimator, against = against, d = d, n = n,
               seconds = stats::median(runs$cpu),
               memory = stats::median(runs$added), runs[1L, c(
                   "passes", "edges", "reached", "steps"
               )])
}

scaling_row <- function(run) {
    bench_row(paste0(run$estimator, ", d = ", format(run$d, big.mark = ","),
                     ", n = ", format(run$n, big.mark = ","),
                     ": processor time, memory added"),
              paste0(show_seconds(run$seconds), ", ", round(run$memory),
                     " MB"),
              paste(run$passes, "passes"))
}

# ---- exponents -------------------------------------------------------------

# Where the work is more than what every call costs: the upper half of sizes.
upper_half <- function(runs) {
    by <- if (runs$against[1L] == "variables") "d" else "n"
    sizes <- runs[[by]]
    kept <- sizes >= stats::median(sizes)
    list(by = by, size = sizes[kept], runs = runs[kept, ])
}

# The slope of log(what) on log(size).
exponent <- function(runs, what) {
    upper <- upper_half(runs)
    fit <- stats::lm(log(upper$runs[[what]]) ~ log(upper$size))
    stats::coef(fit)[[2L]]
}

# There are d (d + 1) / 2 factors. The paper's estimator stores none of them.
exponent_rows <- function(runs) {
    row <- function(estimator, against, what, limit = NULL) {
        part <- runs[runs$estimator == estimator & runs$against == against, ]
        value <- exponent(part, what)
        upper <- upper_half(part)
        bench_row(
            paste0(estimator, ": ", if (what == "seconds") "time" else what,
                   " grows as a power of ", upper$by, ", from ",
                   format(min(upper$size), big.mark = ",")),
            sprintf("%s^%.2f", upper$by, value),
            goal = if (!is.null(limit)) at_most(value, limit, "")
        )
    }
    rbind(row("paper", "variables", "seconds", 2.2),
          row("paper", "variables", "memory", 1.2),
          row("paper", "observations", "seconds"),
          row("paper", "observations", "memory"),
          row("default", "variables", "seconds"),
          row("default", "variables", "memory"),
          row("default", "observations", "seconds"),
          row("default", "observations", "memory"))
}
