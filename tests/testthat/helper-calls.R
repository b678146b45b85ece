# A valid call of every exported function, small and quick: what tests of wrong
# arguments, seeds, threads and saved results begin with.

call_samples <- function() {
    pair <- random_pair(4, 24, 20)
    colnames(pair$x) <- colnames(pair$y) <- c("a", "b", "c", "d")
    pair
}

# A series with one edge that changes.
call_drift <- function() {
    withr::local_seed(1)
    sim_drift(d = 4, n = 200, n_changed = 1, change = 0.7)
}

# One result of every class. They are made when a test first asks for them,
# and then kept: nothing that is done with a result changes it.
result_objects <- local({
    kept <- NULL
    function() {
        if (is.null(kept)) kept <<- make_result_objects()
        kept
    }
})

make_result_objects <- function() {
    pair <- call_samples()
    withr::local_seed(1)
    fast <- kliep_control(threads = 1)
    net <- sim_gaussian(d = 4, n = 20, density = 0.5, n_changed = 2)
    net_path <- kliep_path(net$x, net$y, nlambda = 4, control = fast)
    path <- kliep_path(pair$x, pair$y, nlambda = 4, control = fast)
    list(
        path = path,
        change = kliep_change(pair$x, pair$y, lambda2 = path$lambda2[3],
                              control = fast),
        select = kliep_select(pair$x, pair$y, folds = 2, nlambda = 4,
                              control = fast),
        test = kliep_test(pair$x, pair$y, folds = 2, nlambda = 4, n_perm = 19,
                          control = fast, progress = FALSE),
        stability = kliep_stability(pair$x, pair$y, nlambda = 4,
                                    n_subsamples = 6, control = fast,
                                    progress = FALSE),
        inference = debias_few(pair$x, pair$y, n_boot = 20, control = fast,
                                progress = FALSE),
        tests = kliep_infer(pair$x, pair$y, n_perm = 19, control = fast,
                            progress = FALSE),
        auto = kliep_auto(pair$x, pair$y, n_perm = 19),
        groups = kliep_groups(rbind(pair$x, pair$y), rep_len(1:3, 44),
                              n_perm = 19, control = fast, progress = FALSE),
        windows = kliep_windows(pair$x, pair$y, width = 12, folds = 2,
                                nlambda = 3, control = fast,
                                progress = FALSE),
        time = kliep_time(call_drift()$series, times = 3, n_perm = 19,
                          control = fast, progress = FALSE),
        drift = call_drift(),
        flasso = flasso_path(pair$x, pair$y, nlambda = 3, control = fast),
        glasso = glasso_path(pair$x, pair$y, nlambda = 3, control = fast),
        dtrace = dtrace_path(pair$x, pair$y, nlambda = 3, control = fast),
        moment = moment_path(pair$x, pair$y, nlambda = 3),
        is_flasso = is_flasso_path(pair$x, pair$y, nlambda = 3, points = 200,
                                   seed = 1, control = fast),
        is_glasso = is_glasso_path(pair$x, pair$y, nlambda = 3, points = 200,
                                   seed = 1, control = fast),
        net = net,
        net_path = net_path,
        curve = pr_curve(net_path, net),
        comparison = compare_methods(
            function() {
                sim_gaussian(d = 4, n = 20, density = 0.5, n_changed = 2)
            },
            list(kliep = function(x, y) kliep_path(x, y, nlambda = 3)),
            runs = 2, progress = FALSE
        )
    )
}
