# What the vignette on the paper draws was computed by `make paper`: a slice of
# it is computed again.

paper_file <- function(name) system.file("paper", name, package = "kliepnet")

# One run of some methods, from the seed that is stored with it.
repeat_run <- function(name, simulator, methods, run = 1) {
    source(paper_file("experiments.R"), local = TRUE)
    experiment <- paper_experiments()[[name]]
    stored <- as.data.frame(readRDS(paper_file(paste0(name, ".rds"))))
    rows <- stored[stored$simulator == simulator & stored$run == run, ]
    rows <- rows[match(methods, rows$method), ]
    withr::local_preserve_seed()
    assign(".Random.seed", rows$seed[[1]], globalenv())
    again <- compare_run(list(simulator = simulator), experiment$simulate,
                         experiment$methods[methods], "entry")
    list(
        stored = stats::setNames(rows$average_precision, methods),
        again = vapply(again, function(one) one$curve$average_precision, 1)
    )
}

expect_repeated <- function(...) {
    skip_on_cran()
    scores <- repeat_run(...)
    expect_equal(scores$again, scores$stored, tolerance = 1e-3)
}

test_that("the Gaussian experiment repeats", {
    expect_repeated("gaussian", "learnable, n = 50",
                    c("KLIEP", "KLIEP, lambda1 = 0", "Flasso", "Glasso"))
})

test_that("the nonparanormal experiment repeats", {
    expect_repeated("nonparanormal", "learnable, n = 50",
                    c("KLIEP", "Flasso", "Glasso"))
})

test_that("the diamond experiment repeats", {
    expect_repeated("diamond", "diamond, n = 5000",
                    c("KLIEP, Gaussian", "Flasso, nonparanormal",
                      "Glasso, Gaussian"))
})

test_that("the experiment with genes repeats", {
    expect_repeated("genes", "13 genes, n = 50", c("KLIEP", "Flasso"))
})

test_that("a path that is stored is that of the first run", {
    skip_on_cran()
    source(paper_file("experiments.R"), local = TRUE)
    experiment <- paper_experiments()$diamond
    stored <- readRDS(paper_file("diamond.rds"))
    withr::local_preserve_seed()
    pair <- pair_of_run(stored, experiment, names(experiment$simulate))
    method <- "KLIEP, Gaussian"
    again <- path_of_method(experiment$methods[[method]], pair)
    kept <- attr(stored, "paths")[[method]]
    expect_equal(edges(again$path), edges(kept$path), tolerance = 1e-3)
})

test_that("a pair that is drawn for a page leaves its generator alone", {
    source(paper_file("experiments.R"), local = TRUE)
    stored <- readRDS(paper_file("gaussian.rds"))
    experiment <- paper_experiments()$gaussian
    withr::local_preserve_seed()
    RNGkind("Mersenne-Twister", "Inversion", "Rejection")
    before <- RNGkind()
    shown_pair(stored, experiment, names(experiment$simulate)[1L])
    expect_identical(RNGkind(), before)
})

test_that("every experiment is stored whole", {
    source(paper_file("experiments.R"), local = TRUE)
    for (name in names(paper_experiments())) {
        experiment <- paper_experiments()[[name]]
        stored <- readRDS(paper_file(paste0(name, ".rds")))
        expect_equal(unique(stored$simulator), names(experiment$simulate))
        expect_equal(unique(stored$method), names(experiment$methods))
        expect_equal(max(stored$run), experiment$runs)
        expect_equal(names(attr(stored, "paths")), experiment$paths)
        expect_true(all(is.na(stored$error)))
    }
    expect_true(all(readRDS(paper_file("time.rds"))$converged))
})
