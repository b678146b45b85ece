# Do one of the works that users wait for and print the processor seconds it
# took, the elapsed ones, the memory added in MB, the arithmetic where it is
# known, and one number of its result, by which two builds can be compared.
# Usage:
#   Rscript bench/users_once.R name threads
# The package is the first on R_LIBS.

source(file.path("bench", "process_memory.R"))
source(file.path("bench", "python.R"))
suppressMessages(library(kliepnet))

arguments <- commandArgs(TRUE)
control <- kliep_control(threads = as.integer(arguments[2L]))

# Four neighbours each, a quarter as many changes as variables.
changed_pair <- function(d, n) {
    set.seed(1)
    sim_gaussian(d = d, n = n, density = 4 / d, edge = 0.3,
                 n_changed = d %/% 4, change = -0.6)
}

# ---- works: each prepares, and returns a function that returns a number ----

default_path <- function(d, n, nlambda) {
    pair <- changed_pair(d, n)
    function() {
        path <- kliep_path(pair$x, pair$y, nlambda = nlambda,
                           control = control, progress = FALSE)
        sum(path$diagnostics$objective)
    }
}

# The paper's timing experiment, and the same by SciPy's L-BFGS on the dual in a
# process of its own, which prints its seconds.
paper_grid <- 10^seq(0, -4, length.out = 20L)

paper_pair <- function(d, n) {
    set.seed(1)
    sim_gaussian(d = d, n = n)
}

paper_path <- function(d, n) {
    pair <- paper_pair(d, n)
    function() {
        path <- kliep_path(pair$x, pair$y, spec = kliep_spec_paper(),
                           lambda2 = paper_grid, control = control,
                           progress = FALSE)
        sum(path$diagnostics$objective)
    }
}

scipy_path <- function(d, n) {
    pair <- paper_pair(d, n)
    stack <- kliepnet:::rust_standardize_samples(pair$x, pair$y, "within")$stack
    file <- tempfile(fileext = ".csv")
    utils::write.table(format(stack, digits = 17), file, sep = ",",
                       quote = FALSE, row.names = FALSE, col.names = FALSE)
    function() {
        output <- system2(
            python_with("scipy"),
            c(file.path("bench", "dual_scipy.py"), file, n, 0.1,
              format(paper_grid, digits = 15)),
            stdout = TRUE,
            env = c("OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", fast_blas())
        )
        values <- as.numeric(sub(".*=", "", strsplit(output, " ")[[1L]]))
        stopifnot(values[3L] <= 1e-6)
        structure(values[2L], seconds = values[1L])
    }
}

# The same number of steps of the graphical lasso on both samples, down to the
# same share of their largest.
huge_paths <- function(d, n, nlambda, ratio) {
    pair <- changed_pair(d, n)
    function() {
        fits <- lapply(pair[c("x", "y")], function(sample) {
            huge::huge(as.matrix(sample), method = "glasso",
                       nlambda = nlambda, lambda.min.ratio = ratio,
                       verbose = FALSE)
        })
        sum(vapply(fits, function(fit) sum(fit$loglik), 0))
    }
}

scaled_pair <- function(d, n) {
    pair <- changed_pair(d, n)
    samples <- kliepnet:::check_samples(pair$x, pair$y)
    kliepnet:::neighbour_tests(samples, control)[c("x", "y")]
}

screening <- function(d, n) {
    scaled <- scaled_pair(d, n)
    function() {
        path <- kliepnet:::screening_path(scaled, control)
        # The path itself may end sooner than that of another build.
        with(kliepnet:::path_support(path, 240), sum(from * to))
    }
}

given_support <- function(d, n, size) {
    scaled <- scaled_pair(d, n)
    path <- kliepnet:::screening_path(scaled, control)
    support <- kliepnet:::path_support(path, size)
    # Of each edge: over all observations of both samples inner products with
    # what the support explains, four products of its own, and the second and
    # fourth power of their sum; what these inner products are with, from four
    # moments for each factor and two for each variable; and its information.
    factors <- nrow(support)
    variables <- length(unique(unlist(support)))
    flops <- d * (d - 1) / 2 *
        (2 * n * (2 * (factors + variables + 1) + 12) +
             7 * factors + 2 * 3 * variables + 2 * factors^2)
    structure(function() {
        tests <- kliepnet:::score_edges(scaled, support, control)
        sum(tests$moderated$z^2)
    }, flops = flops)
}

whole_auto <- function(d, n) {
    pair <- changed_pair(d, n)
    function() {
        set.seed(1)
        found <- kliep_auto(pair$x, pair$y, control = control,
                            progress = FALSE)
        nrow(edges(found))
    }
}

works <- list(
    "path-80" = function() default_path(80, 150, 50),
    "path-200" = function() default_path(200, 400, 50),
    "path-1000" = function() default_path(1000, 200, 20),
    "huge-80" = function() huge_paths(80, 150, 50, 0.1),
    "huge-200" = function() huge_paths(200, 400, 50, 0.1),
    "huge-1000" = function() huge_paths(1000, 200, 20, 0.5),
    "paper-80" = function() paper_path(80, 150),
    "scipy-80" = function() scipy_path(80, 150),
    "screen-200" = function() screening(200, 400),
    "given-200" = function() given_support(200, 400, 120),
    "given-1000" = function() given_support(1000, 200, 150),
    "auto-200" = function() whole_auto(200, 400),
    "auto-1000" = function() whole_auto(1000, 200)
)

source(file.path("bench", "refits_once.R"))
# What the first call in a process loads is no part of its work: SciPy's seconds
# begin after its imports, too. (The specification counts the cores.)
few <- sim_gaussian(d = 4, n = 20, n_changed = 1)
for (spec in list(kliep_spec(), kliep_spec_paper())) {
    invisible(kliep_path(few$x, few$y, spec = spec, nlambda = 2,
                         control = control, progress = FALSE))
}
work <- c(works, refit_works)[[arguments[1L]]]()
invisible(gc())
reset_peak()
before <- process_memory("VmRSS")
begun <- processor_seconds()
clock <- Sys.time()
result <- work()
elapsed <- as.numeric(Sys.time() - clock, units = "secs")
seconds <- c(attr(result, "seconds"), processor_seconds() - begun)[1L]
cat("seconds=", seconds, " elapsed=", elapsed,
    " added=", process_memory("VmHWM") - before,
    " flops=", c(attr(work, "flops"), NA)[1L],
    " result=", format(as.numeric(result), digits = 15L), "\n", sep = "")
