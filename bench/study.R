# Which method finds the changes: density ratios against the methods they
# compete with, on Gaussian networks of three kinds.

# Finished runs are kept here, so that a study that was cut off goes on.
study_folder <- file.path("build", "study")

bench_study <- function(runs = 20L) {
    dir.create(study_folder, showWarnings = FALSE, recursive = TRUE)
    study <- with_seed(1, compare_methods(
        study_simulators(), study_methods(), runs = runs,
        checkpoint = file.path(study_folder, "networks"), progress = FALSE
    ))
    # For the vignette on the method.
    saveRDS(study_table(study), file.path("inst", "paper", "study.rds"),
            version = 3)
    rbind(study_rows(study), diamond_study_rows(), normalizer_rows(),
          cholesky_row())
}

# ---- Gaussian networks -----------------------------------------------------

study_simulators <- function() {
    kinds <- c("random", "scale_free", "hub")
    settings <- expand.grid(graph = kinds, n = c(100, 400),
                            stringsAsFactors = FALSE)
    simulators <- Map(function(graph, n) {
        force(graph)
        force(n)
        function() study_pair(graph, n)
    }, settings$graph, settings$n)
    stats::setNames(simulators, paste0(settings$graph, ", n = ", settings$n))
}

# 200 variables, 50 edges that change sign. Their size is such that changes can
# be found at this n, and not all of them. A few networks of large hubs have no
# Gaussian distribution, and are drawn again.
study_pair <- function(graph, n) {
    edge <- if (n < 200) 0.4 else 0.3
    for (attempt in 1:100) {
        pair <- tryCatch(
            sim_gaussian(d = 200, n = n, graph = graph, density = 0.02,
                         edge = edge, n_changed = 50, change = -2 * edge),
            kliep_error_positive_definite = function(condition) NULL
        )
        if (!is.null(pair)) return(pair)
    }
    stop("no positive definite network in 100 draws")
}

# Paths go further down than the ranks that count, and not to where they take
# minutes.
study_methods <- function() {
    ratio <- function(..., lambda_min_ratio = 0.35) {
        fixed <- list(..., lambda_min_ratio = lambda_min_ratio, nlambda = 20,
                      control = kliep_control(threads = 1))
        function(x, y) do.call(kliep_path, c(list(x, y), fixed))
    }
    gaussian <- function(...) {
        ratio(direction = "symmetric", normalizer = "gaussian", ...)
    }
    # One fit, whose edges are then ranked by weight.
    stable <- function(x, y) {
        level <- 0.6 * sqrt(2 * log(ncol(x) * (ncol(x) - 1) / 2) *
                                (1 / nrow(x) + 1 / nrow(y)))
        kliep_change(x, y, lambda2 = 2 * level, direction = "symmetric",
                     normalizer = "gaussian",
                     control = kliep_control(threads = 1))
    }
    list(
        "KLIEP, p/q" = ratio(spec = kliep_spec_paper()),
        "KLIEP, symmetric" = ratio(direction = "symmetric",
                                   normalizer = "empirical"),
        "Gaussian normaliser" = gaussian(),
        "the same, by weight" = stable,
        "adaptive" = gaussian(penalty = "adaptive", lambda_min_ratio = NULL),
        "MCP" = gaussian(penalty = "mcp"),
        "D-trace" = function(x, y) {
            dtrace_path(x, y, nlambda = 20, lambda_min_ratio = 0.35)
        },
        "Flasso" = function(x, y) flasso_path(x, y, nlambda = 20),
        "Glasso" = function(x, y) {
            glasso_path(x, y, nlambda = 10, lambda_min_ratio = 0.35)
        },
        "moment difference" = function(x, y) moment_path(x, y)
    )
}

# The share of the changed edges that are found before the share of false ones
# goes beyond `fdp`.
power_at <- function(curve, fdp) {
    within <- curve$curve$precision >= 1 - fdp
    max(0, curve$curve$recall[which(within)])
}

with_power <- function(study) {
    study <- study[is.na(study$error), ]
    study$power1 <- vapply(study$curve, power_at, 0, fdp = 0.1)
    study$power2 <- vapply(study$curve, power_at, 0, fdp = 0.2)
    study
}

# Means over runs, one row for each setting and method.
study_table <- function(study) {
    study <- as.data.frame(with_power(study))
    key <- paste(study$simulator, study$method)
    parts <- split(study, factor(key, unique(key)))
    do.call(rbind, unname(lapply(parts, function(rows) {
        data.frame(
            setting = rows$simulator[1L], method = rows$method[1L],
            runs = nrow(rows),
            power1 = mean(rows$power1), power1_se =
                standard_error_of(rows$power1),
            power2 = mean(rows$power2), power2_se =
                standard_error_of(rows$power2),
            average_precision = mean(rows$average_precision),
            seconds = stats::median(rows$seconds)
        )
    })))
}

study_rows <- function(study) {
    study <- with_power(study)
    at <- factor(study$simulator, unique(study$simulator))
    do.call(rbind, lapply(split(study, at), setting_rows))
}

setting_rows <- function(part) {
    by <- split(part, factor(part$method, unique(part$method)))
    means <- vapply(by, function(rows) mean(rows$power2), 0)
    ours <- names(by)[seq_len(6L)]
    best <- ours[which.max(means[ours])]
    rows <- do.call(rbind, lapply(by, function(rows) {
        show <- function(values) {
            sprintf("%.2f (%.2f)", mean(values), standard_error_of(values))
        }
        bench_row(
            paste0(rows$simulator[1L], ": ", rows$method[1L]),
            paste0("power ", show(rows$power1), " at FDP .1, ",
                   show(rows$power2), " at .2, AP ",
                   show(rows$average_precision)),
            show_seconds(stats::median(rows$seconds))
        )
    }))
    at <- match(best, names(by))
    rows$goal[at] <- "D-trace, less .02"
    rows$met[at] <- if (means[[best]] >= means[["D-trace"]] - 0.02) "yes" else
        "no"
    rows
}

standard_error_of <- function(values) stats::sd(values) / sqrt(length(values))

# ---- diamonds --------------------------------------------------------------

# Area under the ROC curve, by entry. Both directions see the same pairs, so
# that their difference has a smaller error than either.
diamond_study_rows <- function(seeds = 10L) {
    fits <- list(
        "polynomial, symmetric" = function(x, y) {
            kliep_path(x, y, feat_polynomial(4, basis = "raw"),
                       direction = "symmetric", nlambda = 30)
        },
        "polynomial, p/q" = function(x, y) {
            kliep_path(x, y, feat_polynomial(4, basis = "raw"), nlambda = 30,
                       spec = kliep_spec_paper())
        },
        "Gaussian, symmetric" = function(x, y) {
            kliep_path(x, y, direction = "symmetric",
                       normalizer = "empirical", nlambda = 30)
        },
        "Gaussian normaliser" = function(x, y) {
            kliep_path(x, y, direction = "symmetric",
                       normalizer = "gaussian", nlambda = 30)
        },
        "D-trace" = function(x, y) dtrace_path(x, y)
    )
    do.call(rbind, lapply(c(1000, 5000), function(n) {
        area <- vapply(seq_len(seeds), function(seed) {
            pair <- with_seed(seed, sim_diamond(d = 9, n = n))
            vapply(fits, function(fit) {
                pr_curve(fit(pair$x, pair$y), pair)$area_roc
            }, 0)
        }, numeric(length(fits)))
        means <- rowMeans(area)
        rows <- bench_row(
            paste0("diamond, n = ", n, ": ", names(fits)),
            sprintf("%.3f (se %.3f)", means,
                    apply(area, 1L, standard_error_of)),
            paste("area under ROC,", seeds, "seeds")
        )
        ahead <- area[1L, ] - area[2L, ]
        rows$ratio[1L] <- sprintf("%+.3f (se %.3f) to p/q", mean(ahead),
                                  standard_error_of(ahead))
        rows$goal[1:2] <- c("above p/q", "above Gaussian")
        rows$met[1L] <- if (means[1L] > means[2L]) "yes" else "no"
        rows$met[2L] <- if (means[2L] > max(means[-(1:2)])) "yes" else "no"
        rows
    }))
}

# ---- the Gaussian normaliser -----------------------------------------------

# The distance of both fits, which Monte-Carlo error alone should cause.
normalizer_rows <- function(sizes = c(1000, 10000, 100000)) {
    apart <- vapply(sizes, function(n) {
        pair <- with_seed(1, sim_gaussian(d = 6, n = n, density = 0.8,
                                          n_changed = 3))
        theta <- lapply(c("empirical", "gaussian"), function(normalizer) {
            as.matrix(coef(kliep_change(pair$x, pair$y, lambda2 = 0.02,
                                        direction = "p/q",
                                        normalizer = normalizer)))
        })
        max(abs(theta[[1L]] - theta[[2L]]))
    }, 0)
    rows <- bench_row(
        paste0("both normalisers, n = ", format(sizes, big.mark = ",",
                                                scientific = FALSE)),
        sprintf("%.4f", apart), "largest difference of theta"
    )
    last <- length(sizes)
    rows$goal[last] <- "falls as 1 / sqrt(n)"
    rows$met[last] <- if (apart[last] < 0.3 * apart[1L]) "yes" else "no"
    rows
}

# A path at d = 500 in units of one Cholesky factor of such a matrix.
cholesky_row <- function(d = 500L, n = 600L, steps = 20L) {
    pair <- with_seed(1, sim_gaussian(d = d, n = n, density = 2 / d,
                                      edge = 0.4, n_changed = 100,
                                      change = -0.8, diag = 2.5))
    moments <- stats::cov(pair$x)
    # Seconds of one thread at work, which others on the machine leave alone.
    busy <- function(code) system.time(code)[["user.self"]]
    cholesky <- busy(for (run in 1:20) chol(moments)) / 20
    seconds <- busy(path <- kliep_path(
        pair$x, pair$y, direction = "symmetric", normalizer = "gaussian",
        nlambda = steps, control = kliep_control(threads = 1)
    ))
    ratio <- seconds / steps / cholesky
    bench_row(
        paste0("Gaussian normaliser, d = ", d, ", one step of ", steps),
        show_seconds(seconds / steps),
        show_ratio(ratio, " Cholesky factors"),
        at_most(ratio, 20, " factors", all(path$diagnostics$status ==
                                               "converged"))
    )
}
