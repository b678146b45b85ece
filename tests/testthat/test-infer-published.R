# Bias and coverage on the pairs of Kim, Liu and Kolar (2021), against what
# they published. The tables lie outside of the package: where the folder is
# not found, and KLIEPNET_SHARED does not name it, there is nothing to compare
# with. `make bench` does the same with more runs and narrower bands.

published_file <- function(name) {
    folder <- Sys.getenv("KLIEPNET_SHARED")
    if (folder == "") {
        up <- normalizePath(".")
        while (dirname(up) != up &&
               !dir.exists(file.path(up, "shared", "data"))) {
            up <- dirname(up)
        }
        folder <- file.path(up, "shared")
    }
    file <- file.path(folder, "data", "kliepinference", name)
    skip_if_not(file.exists(file),
                paste("no published tables here (KLIEPNET_SHARED):", name))
    utils::read.csv(file)
}

couplings <- function(edges, value, d = 25) {
    theta <- matrix(0, d, d)
    theta[cbind(edges$i, edges$j)] <- value
    theta + t(theta)
}

runs <- 60

test_that("bias and coverage are those published", {
    skip_on_cran()
    pairs <- published_file("exper1_edges.csv")
    published <- published_file("exper1_results.csv")
    estimators <- c(one_step = "SparKLIE+1", double_selection = "SparKLIE+2")
    for (graph in c("chain1", "tree2")) {
        edges <- pairs[pairs$graph == graph & pairs$m == 25, ]
        rows <- published[published$graph == graph & published$m == 25, ]
        edge <- data.frame(from = rows$edge_i[1], to = rows$edge_j[1])
        set.seed(1)
        z <- replicate(runs, {
            pair <- sim_ising(couplings(edges, edges$theta_x),
                              couplings(edges, edges$theta_y),
                              n = c(x = rows$nx[1], y = rows$ny[1]),
                              thin = 30, burn_in = 300, threads = 1)
            vapply(names(estimators), function(estimator) {
                got <- debias_few(pair$x, pair$y, feat_ising(), edge,
                                   estimator, n_boot = 0,
                                   control = kliep_control(threads = 1))
                table <- got$estimates
                c(table$estimate - rows$true_delta[1],
                  table$lower <= rows$true_delta[1] &&
                      rows$true_delta[1] <= table$upper)
            }, numeric(2))
        })
        for (estimator in names(estimators)) {
            row <- rows[rows$estimator == estimators[[estimator]], ]
            errors <- z[1, estimator, ]
            # Three standard errors of a mean over these runs, and of a share.
            expect_lt(abs(mean(errors) - row$bias),
                      0.02 + 3 * row$sd / sqrt(runs))
            expect_lt(abs(mean(z[2, estimator, ]) - row$coverage95),
                      0.03 + 3 * sqrt(0.05 * 0.95 / runs))
        }
    }
})

test_that("all edges at once are covered as often as published", {
    skip_on_cran()
    edges <- published_file("exper3_edges.csv")
    published <- published_file("exper3_coverage.csv")
    edges <- edges[edges$m == 25 & edges$sgn == 0, ]
    row <- published[published$m == 25 & published$sgn == 0 &
                         published$level == 0.95, ]
    theta <- couplings(edges, edges$gamma_x)
    set.seed(2)
    covered <- replicate(runs / 2, {
        pair <- sim_ising(theta, theta, n = 500, thin = 30, burn_in = 300,
                          threads = 1)
        got <- debias_few(pair$x, pair$y, feat_ising(), n_boot = 500,
                           estimator = "double_selection",
                           control = kliep_control(threads = 1))
        got$global$p_value > 0.05
    })
    band <- 0.03 + 3 * sqrt(0.05 * 0.95 / (runs / 2))
    expect_lt(abs(mean(covered[1, ]) - row$cov2), band)
    expect_lt(abs(mean(covered[2, ]) - row$cov2_stud), band)
})
