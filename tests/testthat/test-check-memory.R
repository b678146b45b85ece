# What no machine has room for is refused at once, with how much it would take.

skip_with_much_memory <- function() {
    skip_if(free_memory() > 5e10, "there is room for all of it")
}

test_that("requests that are too large are refused before anything is made", {
    skip_with_much_memory()
    pair <- random_pair(4, 24, 20)
    requests <- list(
        sim_gaussian = list(d = 1e6, n = 10),
        sim_gaussian = list(d = 4, n = 1e9, n_changed = 1),
        sim_gaussian = list(d = 4, n = 10, n_holdout = 2e9, n_changed = 1),
        sim_gaussian = list(d = 1e7, n = 10, graph = "scale_free"),
        sim_nonparanormal = list(d = 4, n = 1e9, n_changed = 1),
        sim_lattice = list(m = 1e6, n = 1e6),
        sim_diamond = list(d = 1e6),
        sim_diamond = list(d = 9, n = 2e9),
        sim_ising = list(ising_chain(4), ising_chain(4), n = 2e9),
        sim_genes = list(n = 1e9),
        sim_keywords = list(times = 2e9),
        ising_chain = list(2e9),
        ising_tree = list(2e9),
        ising_lattice = list(4e4),
        kliep_test = list(pair$x, pair$y, n_perm = 1e9),
        kliep_windows = list(pair$x, pair$y, width = 12, n_perm = 1e9,
                             folds = 2),
        kliep_stability = list(pair$x, pair$y, n_subsamples = 1e9),
        compare_methods = list(function() pair, list(a = function(x, y) 1),
                               runs = 2e9),
        kliep_debias = list(pair$x, pair$y, n_boot = 2e9),
        is_flasso_path = list(pair$x, pair$y, points = 2e9),
        is_glasso_path = list(pair$x, pair$y, points = 2e9)
    )
    for (index in seq_along(requests)) {
        name <- names(requests)[index]
        expect_loops(limit = 20, label = name, work = function() {
            expect_error(do.call(name, requests[[index]]),
                         "would take .* of memory, and .* is free",
                         class = "kliep_error_memory", info = name)
        })
    }
})

test_that("methods that keep all pairs refuse too many variables", {
    skip_with_much_memory()
    wide <- matrix(rep_len(c(0.3, -1, 0.7, 2, -0.4), 3 * 4e4), 3)
    for (fit in list(glasso_path, dtrace_path, flasso_path, moment_path,
                     kliep_debias)) {
        if (identical(fit, kliep_debias)) wide <- rbind(wide, wide, wide, wide)
        expect_error(fit(wide, wide), "would take .* of memory",
                     class = "kliep_error_memory")
    }
    expect_error(
        paper_path(wide, wide, normalizer = "gaussian", standardize = "none"),
        class = "kliep_error_memory"
    )
    expect_error(paper_path(wide, wide, feat_rbf()),
                 class = "kliep_error_memory")
})

test_that("counts that nothing could hold are refused by their name", {
    pair <- random_pair(3, 10)
    expect_error(paper_path(pair$x, pair$y, nlambda = 1e9),
                 "`nlambda` must be a whole number up to 100,000: got 1e\\+09",
                 class = "kliep_error_lambda")
    expect_error(kliep_control(threads = 1e6), "up to 1,024",
                 class = "kliep_error_control")
    expect_error(feat_polynomial(1000), "`degree` .* up to 100: got 1000",
                 class = "kliep_error_features")
    expect_error(paper_path(pair$x, pair$y, lambda2 = 100001:1),
                 "at most 100000 values", class = "kliep_error_argument")
})

test_that("a container's limit counts, and systems without any go by ps", {
    groups <- withr::local_tempdir()
    limit <- function(most) {
        writeLines(most, file.path(groups, "memory.max"))
        writeLines("300", file.path(groups, "memory.current"))
        free_memory(groups)
    }
    expect_identical(limit("1300"), 1000)
    expect_identical(limit("200"), 0)
    host <- ps::ps_system_memory()$avail
    # What is free changes from one moment to the next.
    expect_gt(limit("max"), host / 10)
    expect_gt(free_memory(file.path(groups, "none")), host / 10)
})

test_that("a time limit is not taken for something that cannot be had", {
    wait <- function() {
        setTimeLimit(elapsed = 0.1, transient = TRUE)
        on.exit(setTimeLimit())
        value_or(repeat sqrt(2), "instead")
    }
    expect_error(wait(), "reached elapsed time limit")
    expect_identical(value_or(stop("no"), "instead"), "instead")
    expect_identical(value_or(3, "instead"), 3)
})

test_that("nothing is loaded where a failure is passed over", {
    skip_if_not_installed("callr")
    # A time limit that met it would be lost, and a fit of hours go on.
    loaded <- callr::r(function() {
        loadNamespace("kliepnet")
        isNamespaceLoaded("ps")
    })
    expect_true(loaded)
})
