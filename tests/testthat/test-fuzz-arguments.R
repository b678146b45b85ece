# Every exported function with one argument after the other replaced by things
# that are none: a result, or an error of a class, and nothing that base R says.

# Arguments of a valid call each, by name. What `...` takes is named here, too.
valid_calls <- function(found, pair) {
    two <- pair[c("x", "y")]
    grid <- list(lambda2 = NULL, nlambda = 3, lambda_min_ratio = 0.3)
    single <- list(lambda2 = NULL, nlambda = 3, lambda_min_ratio = 0.3)
    control <- kliep_control(max_iter = 100, threads = 1)
    common <- list(standardize = "within", control = control,
                   progress = FALSE)
    weighted <- list(features = feat_gaussian(), lambda1 = 0.1)
    path <- c(grid, common, penalty_factor = 1)
    sampled <- c(two, weighted, path, points = 100, scale = 1, seed = 1)
    fitted <- c(weighted, path, penalty = "mcp", gamma = 3, robust = 0,
                direction = "p/q", normalizer = "empirical", solver = "auto")
    chosen <- list(criterion = "cv", folds = 2, rule = "best",
                   method = "kliep")
    theta <- ising_chain(4)
    columns <- lapply(two, function(sample) {
        data.frame(a = sample[, 1], group = rep_len(c("u", "v"), nrow(sample)),
                   b = sample[, 2])
    })
    mixed <- kliep_path(columns$x, columns$y, feat_mixed(), nlambda = 3,
                        control = control, progress = FALSE)
    sif <- "network.sif"
    writeLines("A ac B", sif)
    list(
        as_igraph = list(object = found$path, lambda2 = 0.1),
        write_graph_file = list(object = found$path, file = "graph.csv",
                                format = "csv", lambda2 = 0.1,
                                vertices = "all"),
        compare_methods = list(
            simulate = function() found$net,
            methods = list(a = function(x, y) found$net_path), runs = 2,
            rank = "entry", checkpoint = NULL, progress = FALSE
        ),
        dtrace_path = c(two, single, common),
        edges = list(object = found$path, lambda2 = 0.1),
        feat_cliques = list(cliques = list(1:2, 2:4), fun = NULL),
        feat_custom = list(pair = function(u, v) u * v, single = NULL),
        feat_gaussian = list(linear = TRUE),
        edge_cells = list(object = mixed, from = "a", to = "group",
                          lambda2 = min(mixed$lambda2)),
        feat_mixed = list(types = c(a = "numeric"), counts = "root",
                          max_levels = 5),
        feat_nonparanormal = list(power = 2),
        feat_polynomial = list(degree = 3, terms = "all", basis = "raw"),
        feat_rbf = list(sigma = 1),
        flasso_path = c(two, list(lambda1 = 0.1), grid, common,
                        symmetrize = "and"),
        glasso_path = c(two, single, common, penalize_diagonal = TRUE),
        hubs = list(object = found$path, lambda2 = 0.1),
        is_flasso_path = sampled,
        is_glasso_path = sampled,
        ising_chain = list(d = 4, coupling = 0.4, field = 0),
        ising_change = list(theta = theta, n_changed = 1, change = -0.4,
                            edges = NULL),
        ising_lattice = list(rows = 2, columns = 2, coupling = 0.4, field = 0),
        ising_tree = list(d = 4, coupling = 0.4, field = 0, branches = 2),
        kl_divergence = list(object = found$path),
        kliep_auto = c(two, fdr = 0.1, level = 0.95, n_perm = 19,
                       list(control = control), progress = FALSE),
        kliep_change = c(two, weighted, lambda2 = 0.2, progress = FALSE,
                         list(spec = kliep_spec())),
        kliep_control = list(tol = 1e-6, max_iter = 100, threads = 1,
                             keep_samples = TRUE),
        kliep_debias = c(two, list(
            spec = kliep_spec(), features = feat_gaussian(), edges = NULL,
            estimator = "one_step",
            level = 0.95, n_boot = 20, lambda = NULL, row_lambda = NULL,
            refit = TRUE
        ), common),
        kliep_groups = list(
            data = rbind(pair$x, pair$y), group = rep_len(1:3, 44),
            spec = kliep_spec(control = control), contrasts = "reference",
            reference = "2", fdr = 0.2, level = 0.9, n_perm = 19,
            progress = FALSE
        ),
        kliep_by = list(
            data = data.frame(rbind(pair$x, pair$y), arm = rep_len(1:2, 44),
                              cell = rep(c("s", "t"), c(24, 20))),
            group = "arm", by = "cell", contrast = c("1", "2"),
            spec = kliep_spec(control = control), fdr = 0.2, level = 0.9,
            n_perm = 19, progress = FALSE
        ),
        kliep_interaction = list(
            data = data.frame(rbind(pair$x, pair$y), arm = rep_len(1:2, 44),
                              visit = rep_len(c(1, 1, 2, 2), 44)),
            group = "arm", time = "visit", contrast = c("1", "2"),
            times = c("2", "1"), spec = kliep_spec(control = control),
            fdr = 0.2, level = 0.9, n_perm = 19, progress = FALSE
        ),
        kliep_sets = list(fit = found$tests, sets = list(all = letters[1:4]),
                          min_size = 2, n_random = 9),
        kliep_infer = c(two, list(spec = kliep_spec(control = control)),
                        fdr = 0.2, level = 0.9, n_perm = 19,
                        progress = FALSE),
        kliep_path = c(two, fitted, list(spec = kliep_spec())),
        kliep_spec = fitted[setdiff(names(fitted), "progress")],
        kliep_spec_paper = c(weighted, nlambda = 3),
        # A page takes seconds: this one is refused by the last check.
        kliep_report = list(fit = found$path, file = "report.html", -1,
                            title = "A title", script = NULL, open = FALSE),
        kliep_select = c(two, list(spec = kliep_spec(), progress = FALSE),
                         weighted, chosen, grid, penalty = "mcp",
                         robust = 0, standardize = "within", newx = NULL,
                         newy = NULL),
        kliep_stability = c(two, list(spec = kliep_spec()), nlambda = 3,
                            n_subsamples = 4, q = 2,
                            threshold = 0.8, max_false = 1,
                            assumption = "none", checkpoint = NULL,
                            progress = FALSE),
        kliep_test = c(two, list(spec = kliep_spec()), rule = "best",
                       folds = 2, nlambda = 3, n_perm = 3, alpha = 0.5,
                       adjust = "maxT", keep = "paper",
                       list(block = NULL, checkpoint = NULL),
                       align = TRUE, progress = FALSE),
        kliep_windows = list(series = pair$x, reference = pair$y, width = 12,
                             step = 12, spec = kliep_spec(), folds = 2,
                             rule = "best", nlambda = 2,
                             time = seq_len(nrow(pair$x)), method = "kliep",
                             n_perm = 0, alpha = 0.05, keep = "adjusted",
                             block = NULL, fdr = NULL, checkpoint = NULL,
                             progress = FALSE),
        kliep_time = list(series = found$drift$series, time = "time",
                          features = feat_gaussian(), fdr = 0.2, level = 0.9,
                          times = 3, bandwidth = 0.2, block = 5, per = 1,
                          n_perm = 19, na = "error", control = control,
                          progress = FALSE),
        moment_path = c(two, single, standardize = "within"),
        npn_transform = c(two, method = "truncation", ranks = "within",
                          threshold = 0.1),
        pr_average = list(curves = list(found$curve), recall = c(0.2, 0.8)),
        pr_curve = list(path = found$net_path, truth = found$net,
                        rank = "entry", lambda2 = NULL),
        read_sif = list(path = sif),
        sim_diamond = list(d = 4, n = 10, density = c(0.5, 0.2), edge = 5,
                           diag = 2, n_holdout = 2, burn_in = 5, thin = 1,
                           chains = 2, threads = 1),
        sim_drift = list(d = 4, n = 10, n_changed = 1, change = 0.3,
                         shape = "jump", edge = 0.2, at = 0.5,
                         persistence = 0.2, family = "gaussian"),
        sim_gaussian = list(d = 4, n = 10, density = 0.5, edge = 0.2, diag = 2,
                            n_changed = 2, change = -0.4, n_holdout = 2,
                            graph = "random"),
        sim_genes = list(network = yeast13(), n = 5, n_changed = 2,
                         half = c(0.25, 0.75), hill = c(1, 4),
                         biological_noise = 0.2, measurement_noise = 0.1,
                         n_holdout = 2, threads = 1),
        sim_ising = list(theta_x = theta, theta_y = theta, n = 10,
                         n_holdout = 2, burn_in = 5, thin = 1, chains = 2,
                         threads = 1),
        sim_keywords = list(times = 20, change_at = 10, event = 2, rate = 20,
                            burst = 2, tie = 0.2, spread = 0.5,
                            persistence = 0),
        sim_lattice = list(m = 9, n = 10, edge = 0.4, diag = 2, n_changed = 2,
                           n_holdout = 2),
        sim_nonparanormal = list(d = 4, n = 10, density = 0.5, n_changed = 2,
                                 power = 0.5),
        subnetwork = list(net = yeast13(), n = 4, method = "neighbour"),
        two_samples = list(
            x = rbind(pair$x, pair$y),
            group = rep(c("one", "two"), c(nrow(pair$x), nrow(pair$y))),
            contrast = c("one", "two"), variables = NULL, top_variable = NULL,
            na = "omit", label = NULL, adjust = data.frame(age = 1:44),
            adjust_common = FALSE, strata = rep_len(c(1, 1, 2, 2), 44),
            unit = rep(1:22, each = 2), pair = NULL
        )
    )
}

# Methods, whose first argument R has looked at already.
valid_methods <- function(found, pair) {
    list(
        predict = list(found$path, newdata = pair$x, lambda2 = 0.1,
                       type = "ratio"),
        predict = list(found$select, newdata = pair$x, type = "log_ratio"),
        coef = list(found$path, lambda2 = 0.1),
        as.matrix = list(found$path, lambda2 = 0.1),
        tidy = list(found$path, lambda2 = 0.1),
        confint = list(found$tests, parm = 1:2, level = 0.9,
                       type = "simultaneous"),
        confint = list(found$inference, parm = 1:2, level = 0.9,
                       type = "plain"),
        autoplot = list(found$path, type = "graph", lambda2 = 0.1,
                        truth = NULL, label = 3, max_edges = 5),
        autoplot = list(found$change, type = "matrix"),
        autoplot = list(found$select, type = "score"),
        autoplot = list(found$test, type = "graph"),
        autoplot = list(found$stability, type = "graph"),
        autoplot = list(found$inference, type = "graph"),
        autoplot = list(found$tests, type = "calibration"),
        autoplot = list(found$tests, type = "pairs", edge = 1),
        autoplot = list(found$tests, type = "volcano", label = 2,
                        max_edges = 5),
        autoplot = list(found$tests, type = "conditions", vertices = "all"),
        `[` = list(found$path, i = 1:2),
        nobs = list(found$path),
        autoplot = list(found$groups, type = "edges", max_edges = 5),
        autoplot = list(found$windows, max_edges = 5),
        autoplot = list(found$time, type = "graph", max_edges = 5,
                        times = 0.5, vertices = "all", label = 3),
        edges = list(found$time, at = 0.5, all = FALSE),
        autoplot = list(found$net, label = "all"),
        autoplot = list(found$comparison, type = "score"),
        autoplot = list(found$curve, type = "pr"),
        edges = list(found$test, lambda2 = NULL),
        edges = list(found$groups, contrast = "2 - 1", all = TRUE),
        hubs = list(found$tests, by = "degree", all = TRUE),
        edges = list(found$windows, lambda2 = NULL)
    )
}

wrong_values <- list(
    "NULL" = NULL, "NA" = NA, "NaN" = NaN, "a string" = "a",
    "an empty string" = "", "NA_character_" = NA_character_, "-1" = -1,
    "0" = 0, "1.5" = 1.5, "Inf" = Inf, "1e10" = 1e10, "TRUE" = TRUE,
    "list()" = list(), "list(1)" = list(1), "numeric(0)" = numeric(),
    "character(0)" = character(), "two strings" = c("a", "b"),
    "three numbers" = c(3, NA, -2), "a function" = function(...) stop("no"),
    "a formula" = y ~ x, "a symbol" = as.name("x"), "1i" = 1i,
    "raw" = as.raw(1:3), "a date" = as.Date("2020-01-01"),
    "an environment" = new.env(),
    "a data frame with a factor" = data.frame(f = factor(c("u", "v")), v = 1:2),
    "no rows" = matrix(0, 0, 4), "no columns" = matrix(0, 3, 0),
    "characters" = matrix("a", 3, 3), "an array" = array(1, c(2, 2, 2)),
    "a factor" = factor("a")
)

# NULL, or what is wrong with the way this call ends.
complaint_about <- function(fun, arguments) {
    leaked <- NULL
    setTimeLimit(elapsed = 600, transient = TRUE)
    on.exit(setTimeLimit())
    ended <- withCallingHandlers(
        tryCatch(
            {
                do.call(fun, arguments, quote = TRUE)
                NULL
            },
            kliep_error = function(condition) {
                if (nzchar(conditionMessage(condition))) NULL else "no message"
            },
            error = function(condition) {
                paste0("raw error: ", conditionMessage(condition))
            }
        ),
        warning = function(condition) {
            if (!inherits(condition, "kliep_warning")) {
                leaked <<- paste0("warning: ", conditionMessage(condition))
            }
            invokeRestart("muffleWarning")
        },
        message = function(condition) invokeRestart("muffleMessage")
    )
    c(ended, leaked)
}

# What is wrong with calls in which one argument is replaced, by its name.
complaints_about <- function(name, arguments) {
    fun <- get(name, asNamespace("kliepnet"))
    complaints <- character()
    # Calls that fit many times have a part of the values for each argument.
    several <- name %in% c("kliep_select", "kliep_stability", "kliep_test",
                           "kliep_windows", "kliep_time", "compare_methods")
    for (argument in setdiff(names(arguments), "")) {
        tried_values <- if (several) sample(names(wrong_values), 8) else
            names(wrong_values)
        for (wrong in tried_values) {
            tried <- arguments
            tried[argument] <- list(wrong_values[[wrong]])
            said <- complaint_about(fun, tried)
            if (length(said) > 0L) {
                complaints <- c(complaints, paste0(
                    name, "(", argument, " = ", wrong, "): ",
                    paste(said, collapse = "; ")
                ))
            }
        }
    }
    complaints
}

test_that("a wrong argument is an error of a class, whatever it is", {
    skip_on_cran()
    withr::local_dir(withr::local_tempdir())
    withr::local_seed(1)
    withr::local_options(progressr.enable = FALSE)
    found <- result_objects()
    pair <- call_samples()
    calls <- valid_calls(found, pair)
    # Objects of Bioconductor are not everywhere: test-data-labels.R has some.
    without <- c("feat_ising", "yeast13", "autoplot", "glance", "tidy",
                 "add_changes")
    expect_setequal(c(names(calls), without), getNamespaceExports("kliepnet"))
    methods <- valid_methods(found, pair)
    every <- c(calls, methods)
    for (call in seq_along(every)) {
        name <- names(every)[call]
        fun <- get(name, asNamespace("kliepnet"))
        if (name != "kliep_report") {
            expect_error(suppressMessages(suppressWarnings(
                do.call(fun, every[[call]], quote = TRUE),
                classes = "kliep_warning"
            )), NA)
        }
        expect_identical(complaints_about(name, every[[call]]), character())
    }
})
