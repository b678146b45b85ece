# The specification of a fit, and results that continue with it.

spec_pair <- function() {
    withr::local_seed(11)
    sim_gaussian(d = 8, n = 120, density = 0.3, n_changed = 3)
}

# Two results but for what depends on how they were asked for.
expect_same_result <- function(one, other, parts) {
    expect_identical(one[parts], other[parts])
}

test_that("a path carries the specification that its arguments make", {
    pair <- spec_pair()
    path <- kliep_path(pair$x, pair$y, lambda1 = 0.05, nlambda = 5,
                       penalty = "mcp")
    expect_s3_class(path$spec, "kliep_spec")
    expect_identical(path$spec$lambda1, 0.05)
    expect_identical(path$spec$penalty, "mcp")
    expect_identical(path$spec$normalizer, "gaussian")
    again <- kliep_path(pair$x, pair$y, spec = path)
    expect_same_result(path, again, c("coefficients", "lambda2", "spec"))
})

test_that("every field is one argument, by the same name", {
    expect_identical(names(kliep_spec()), spec_arguments())
    path_arguments <- names(formals(kliep_path))
    expect_true(all(names(formals(kliep_spec)) %in% path_arguments))
})

test_that("defaults are symmetric, in closed form where there is one", {
    pair <- spec_pair()
    normalizer <- function(...) {
        kliep_path(pair$x, pair$y, ..., nlambda = 2)$spec$normalizer
    }
    expect_identical(kliep_spec()$direction, "symmetric")
    expect_identical(normalizer(), "gaussian")
    expect_identical(normalizer(feat_nonparanormal(2)), "gaussian")
    expect_identical(normalizer(feat_polynomial(2)), "empirical")
    expect_identical(normalizer(lambda1 = 0), "empirical")
    many <- settle_spec(kliep_spec(), paste0("V", seq_len(2001)))
    expect_identical(many$normalizer, "empirical")
})

test_that("the paper's estimator has one name, and solvers that mean it", {
    pair <- spec_pair()
    grid <- c(0.4, 0.2)
    named <- kliep_path(pair$x, pair$y, lambda2 = grid, direction = "p/q",
                        normalizer = "empirical")
    preset <- kliep_path(pair$x, pair$y, lambda2 = grid,
                         spec = kliep_spec_paper())
    expect_same_result(named, preset, c("coefficients", "spec"))
    for (solver in c("primal", "dual")) {
        fit <- kliep_path(pair$x, pair$y, lambda2 = grid, solver = solver)
        expect_identical(fit$spec$direction, "p/q")
        expect_identical(fit$spec$normalizer, "empirical")
        expect_equal(as.matrix(coef(fit, 0.2)), as.matrix(coef(named, 0.2)),
                     tolerance = 1e-3)
    }
    # Another direction has to be asked for.
    both <- kliep_path(pair$x, pair$y, lambda2 = grid, solver = "dual",
                       direction = "symmetric")
    expect_identical(both$spec$direction, "symmetric")
})

test_that("a setting given by name replaces that of the specification", {
    base <- kliep_spec(feat_nonparanormal(2), lambda1 = 0.5, penalty = "mcp",
                       gamma = 5)
    changed <- as_spec(base, list(lambda1 = 1))
    expect_identical(changed$lambda1, 1)
    expect_identical(changed$features, base$features)
    expect_identical(changed$gamma, 5)
    # The shape of one penalty is not that of another.
    expect_null(as_spec(base, list(penalty = "adaptive"))$gamma)
})

test_that("what samples have settled is open again for other features", {
    pair <- spec_pair()
    path <- kliep_path(pair$x, pair$y, nlambda = 3)
    other <- kliep_path(path, features = feat_polynomial(2))
    expect_identical(other$spec$normalizer, "empirical")
    same <- kliep_path(pair$x, pair$y, feat_polynomial(2), nlambda = 3)
    expect_same_result(other, same, c("coefficients", "spec"))
})

test_that("what is not a specification is refused in one sentence", {
    pair <- spec_pair()
    expect_error(kliep_stability(pair$x, pair$y, "gaussian"),
                 "`spec` must be a specification, a result or features",
                 class = "kliep_error_type")
    expect_error(kliep_test(glasso_path(pair$x, pair$y, nlambda = 3)),
                 class = "kliep_error_missing_sample")
    expect_error(
        kliep_test(pair$x, pair$y, glasso_path(pair$x, pair$y, nlambda = 3)),
        "result of `glasso_path\\(\\)`", class = "kliep_error_type"
    )
    expect_error(kliep_spec(features = "gaussian"),
                 class = "kliep_error_features")
    expect_error(kliep_spec_paper(direction = "q/p"),
                 class = "kliep_error_dots")
})

# ---- verbs take results ------------------------------------------------------

test_that("a test of what was chosen is the test with all settings given", {
    pair <- spec_pair()
    found <- withr::with_seed(1, kliep_auto(pair$x, pair$y))
    continued <- withr::with_seed(2, kliep_test(found, n_perm = 19, folds = 3,
                                                nlambda = 6))
    written <- withr::with_seed(2, kliep_test(
        pair$x, pair$y, n_perm = 19, folds = 3, nlambda = 6,
        features = feat_nonparanormal(), direction = "symmetric",
        normalizer = "gaussian"
    ))
    expect_same_result(continued, written, c("edges", "global", "shuffles"))
})

test_that("stability of what was chosen is that with all settings given", {
    pair <- spec_pair()
    found <- withr::with_seed(1, kliep_auto(pair$x, pair$y))
    continued <- withr::with_seed(2, kliep_stability(found, n_subsamples = 10,
                                                     nlambda = 6))
    written <- withr::with_seed(2, kliep_stability(
        pair$x, pair$y, n_subsamples = 10, nlambda = 6,
        features = feat_nonparanormal(), direction = "symmetric",
        normalizer = "gaussian"
    ))
    expect_same_result(continued, written, c("edges", "bounds", "q"))
})

test_that("inference continues with features and standardisation", {
    pair <- spec_pair()
    path <- kliep_path(pair$x, pair$y, feat_nonparanormal(2),
                       standardize = "pooled", nlambda = 3)
    continued <- debias_few(path, n_boot = 0)
    written <- debias_few(pair$x, pair$y, feat_nonparanormal(2),
                          standardize = "pooled", n_boot = 0)
    expect_same_result(continued, written, c("estimates", "diagnostics"))
})

test_that("a result of one verb is the input of the next", {
    pair <- spec_pair()
    path <- kliep_path(pair$x, pair$y, nlambda = 5)
    chosen <- withr::with_seed(3, kliep_select(path, folds = 3))
    expect_identical(open_spec(chosen$fit$spec), open_spec(path$spec))
    test <- kliep_test(chosen, n_perm = 19)
    stable <- kliep_stability(test, n_subsamples = 10)
    estimated <- kliep_debias(stable, n_boot = 0)
    expect_identical(samples_of(estimated), samples_of(path))
    expect_identical(open_spec(estimated$spec), open_spec(path$spec))
})

test_that("windows take the estimator of a result", {
    withr::local_seed(4)
    pair <- sim_keywords(times = 200)
    counts <- lapply(pair[c("x", "y")], log1p)
    path <- kliep_path(counts$x, counts$y, lambda1 = 0.5, nlambda = 4)
    windows <- withr::with_seed(5, kliep_windows(
        counts$x, counts$y, width = 50, spec = path
    ))
    written <- withr::with_seed(5, kliep_windows(
        counts$x, counts$y, width = 50, lambda1 = 0.5, nlambda = 4
    ))
    expect_same_result(windows, written, c("windows", "edges"))
})

test_that("two-valued columns keep their coding from verb to verb", {
    withr::local_seed(6)
    theta <- ising_chain(5, coupling = 0.4)
    pair <- sim_ising(theta, theta, n = 60)
    answers <- lapply(pair[c("x", "y")], function(sample) {
        as.data.frame(ifelse(sample > 0, "yes", "no"),
                      stringsAsFactors = TRUE)
    })
    path <- kliep_path(answers$x, answers$y, feat_ising(), nlambda = 4)
    continued <- kliep_debias(path, n_boot = 0)
    written <- kliep_debias(answers$x, answers$y, feat_ising(), n_boot = 0)
    expect_same_result(continued, written, "estimates")
})

test_that("samples can be left out, and then have to be given again", {
    pair <- spec_pair()
    slim <- kliep_path(pair$x, pair$y, nlambda = 3,
                       control = kliep_control(keep_samples = FALSE))
    expect_null(slim$samples)
    expect_error(kliep_stability(slim), "does not carry its samples",
                 class = "kliep_error_missing_sample")
    stable <- withr::with_seed(1, kliep_stability(pair$x, pair$y, slim,
                                                  n_subsamples = 10))
    whole <- kliep_path(pair$x, pair$y, nlambda = 3)
    expect_same_result(stable, withr::with_seed(1, kliep_stability(
        whole, n_subsamples = 10
    )), c("edges", "q"))
})

test_that("samples beside a result are refused", {
    pair <- spec_pair()
    path <- kliep_path(pair$x, pair$y, nlambda = 3)
    expect_error(kliep_test(path, pair$y), "brings its samples with it",
                 class = "kliep_error_argument")
    expect_error(kliep_test(path, group = "a"), "`group` beside it",
                 class = "kliep_error_argument")
})

# ---- candidates --------------------------------------------------------------

test_that("candidates may differ in any setting", {
    pair <- spec_pair()
    chosen <- withr::with_seed(1, kliep_select(
        pair$x, pair$y, folds = 2, nlambda = 3,
        direction = c("symmetric", "p/q"), normalizer = c("auto", "empirical"),
        lambda1 = c(0.1, 1)
    ))
    labels <- unique(chosen$scores$candidate)
    expect_length(labels, 8)
    expect_true(
        "gaussian, lambda1 = 1, direction p/q, normalizer empirical" %in% labels
    )
})

test_that("a list of specifications is a list of candidates by name", {
    pair <- spec_pair()
    chosen <- withr::with_seed(1, kliep_select(pair$x, pair$y, list(
        paper = kliep_spec_paper(), ours = kliep_spec(),
        concave = kliep_spec(penalty = "mcp")
    ), folds = 2, nlambda = 3))
    expect_identical(unique(chosen$scores$candidate),
                     c("paper", "ours", "concave"))
    both <- withr::with_seed(1, kliep_select(pair$x, pair$y, list(
        paper = kliep_spec_paper(), ours = kliep_spec()
    ), lambda1 = c(0.1, 1), folds = 2, nlambda = 3))
    expect_identical(unique(both$scores$candidate),
                     c("paper, lambda1 = 0.1", "paper, lambda1 = 1",
                       "ours, lambda1 = 0.1", "ours, lambda1 = 1"))
    # A candidate scores what it scores alone, on the same folds.
    alone <- withr::with_seed(1, kliep_select(pair$x, pair$y,
                                              kliep_spec_paper(), folds = 2,
                                              nlambda = 3))
    expect_identical(
        chosen$scores$score[chosen$scores$candidate == "paper"],
        alone$scores$score
    )
})

# ---- printing ----------------------------------------------------------------

test_that("a specification prints what it asks for", {
    expect_snapshot(print(kliep_spec()))
    expect_snapshot(print(kliep_spec_paper(feat_polynomial(4), lambda1 = 0,
                                           penalty = "mcp", robust = 0.1)))
})
