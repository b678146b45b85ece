# kliep_time(): the equation of rates, its parts, what it finds, and what it
# refuses.

# A network that drifts smoothly, with scales that drift as well, and the
# correlations and rates of partial correlations at any time.
smooth_network <- function(d = 5) {
    partial <- function(t) {
        rho <- matrix(0, d, d)
        rho[cbind(seq_len(d - 1), seq_len(d)[-1])] <- 0.3
        rho[1, d] <- 0.3 * t
        rho[2, 4] <- -0.2 * t^2
        rho + t(rho)
    }
    scales <- function(t) 1 + seq_len(d) * t / 3
    correlation <- function(t) {
        precision <- (diag(d) - partial(t)) * tcrossprod(scales(t))
        stats::cov2cor(solve(precision))
    }
    list(partial = partial, correlation = correlation)
}

numbered <- function(pairs) as.matrix(pairs)

test_that("slopes of correlations are linear in the rates of edges", {
    network <- smooth_network()
    pairs <- pair_from_index(seq_len(10))
    t <- 0.5
    step <- 1e-5
    slope <- (network$correlation(t + step) - network$correlation(t - step)) /
        (2 * step)
    rate <- (network$partial(t + step) - network$partial(t - step)) /
        (2 * step)
    r <- network$correlation(t)
    # Partial correlations in units of the standard deviation.
    unit <- sqrt(diag(solve(r)))
    rate <- rate * tcrossprod(unit)
    at <- numbered(pairs)
    whole <- scale_free(r, pairs, seq_len(10), TRUE)
    expect_equal(drop(whole %*% rate[at]), slope[at], tolerance = 1e-7)
    expect_equal(t(whole), scale_free(r, pairs, seq_len(10), FALSE))
    expect_equal(diag(whole), 1 - r[at]^2)
})

blocks_of <- function(n, size = 1) {
    describe_blocks(cut_blocks(n, size), (seq_len(n) - 1) / (n - 1))
}

test_that("curvature is the derivative of the equation along the noise", {
    withr::local_seed(1)
    n <- 60
    values <- matrix(rnorm(n * 4), n)
    values[, 2] <- values[, 1] + values[, 2]
    # All of a block is noise where nothing is smoothed nor carried over.
    blocks <- blocks_of(n, 2)
    level <- block_moments(values, blocks)
    model <- new_gaussian_model(level, level, blocks, matrix(0, 30, 30))
    window <- time_window(model$blocks, 0.5, 0.5)
    local <- model$local(window)
    support <- c(1L, 5L)
    rates <- c(0.7, -0.4)
    got <- local$curvature(support, rates)
    # Moving the moments a little towards one block.
    block <- 9L
    moved <- function(step) {
        weight <- window$weight
        weight[block] <- weight[block] + step
        r <- window_correlation(model, weight)$matrix
        -drop(scale_free(r, model$pairs, support, TRUE) %*% rates)
    }
    numeric <- (moved(1e-5) - moved(-1e-5)) / 2e-5
    expect_equal(got[match(block, window$inside), ], numeric,
                 tolerance = 1e-6)
})

test_that("a window has the slope of a line, and its weight is g", {
    withr::local_seed(2)
    blocks <- list(time = sort(runif(200)), size = rep(1, 200))
    window <- time_window(blocks, 0.4, 0.2)
    expect_equal(sum(window$slope), 0)
    expect_equal(sum(window$slope * (3 + 2 * blocks$time)), 2)
    expect_equal(sum(window$weight), 1)
    expect_setequal(window$inside, which(abs(blocks$time - 0.4) < 0.2))
    expect_null(time_window(blocks, 0.4, 0.001))
    # Partial integration: minus the derivative of (1 - u^2)^2.
    even <- list(time = seq(0, 1, length.out = 2001), size = rep(1, 2001))
    window <- time_window(even, 0.5, 0.3)
    expect_equal(-diff(window$weight) / diff(even$time),
                 (window$slope[-1] + window$slope[-2001]) / 2,
                 tolerance = 1e-3)
})

test_that("the path of supports fulfils the conditions of optimality", {
    withr::local_seed(3)
    drifting <- sim_drift(d = 6, n = 300, n_changed = 1, change = 0.5)
    values <- as.matrix(drifting$series[-1])
    model <- gaussian_model(values, blocks_of(300, 3))
    windows <- test_windows(model$blocks)
    locals <- lapply(windows, model$local)
    slopes <- vapply(locals, `[[`, numeric(15), "slope")
    slopes <- slopes / rep(vapply(windows, function(window) {
        sqrt(sum(window$slope^2))
    }, 1), each = 15)
    hessians <- lapply(locals, `[[`, "hessian")
    state <- list(active = integer(),
                  columns = vector("list", length(windows)),
                  rates = matrix(0, 0, length(windows)))
    lambda <- 0.4 * max(sqrt(rowSums(slopes^2)))
    state <- solve_groups(state, slopes, hessians, lambda)
    left <- slopes_left(state, slopes)
    size <- sqrt(rowSums(left^2))
    expect_lte(max(size), lambda * 1.001)
    norm <- sqrt(rowSums(state$rates^2))
    on <- norm > 0
    expect_true(any(on))
    expect_equal(left[state$active[on], ],
                 lambda * state$rates[on, ] / norm[on], tolerance = 1e-3,
                 ignore_attr = TRUE)
    path <- time_path(model, windows, 5)
    expect_identical(path$coefficients[path$coefficients$step == 1, "value"],
                     rep(1, path$diagnostics$n_edges[1]))
})

test_that("what is found in the place of a change does not stay", {
    withr::local_seed(16)
    d <- 8
    n <- 900
    # V1 - V4 changes, and V4 - V5 is strong: V1 - V5 looks changed.
    time <- (seq_len(n) - 1) / (n - 1)
    values <- t(vapply(time, function(at) {
        precision <- diag(d)
        precision[1, 4] <- precision[4, 1] <- -0.5 * at
        precision[4, 5] <- precision[5, 4] <- -0.5
        backsolve(chol(precision), rnorm(d))
    }, numeric(d)))
    model <- prepare_series(list(values = values, time = time),
                            feat_gaussian(), NULL)$model
    windows <- test_windows(model$blocks)
    null <- time_null(model, windows, 99)
    scales <- vapply(windows, `[[`, 1, "scale")
    test <- function(support) {
        z <- z_given(model, windows, edge_number(support))
        size <- over_scales(scale_maxima(z, scales), null$offset)
        list(support = support, z = size, p_value = p_from_null(size, null))
    }
    given <- list(test = test, pairs = pair_from_index)
    true <- edge_number(list(from = 1, to = 4))
    beside <- edge_number(list(from = 1, to = 5))
    every <- seq_len(d * (d - 1) / 2)
    missed <- test(pair_from_index(beside))
    missed$found <- every == beside
    expect_lt(missed$p_value[beside], 0.01)
    expect_true(true %in% rivals_of(beside, missed, model))
    held <- hold_in_doubt(missed, given, model)
    expect_gt(held$p_value[beside], 0.05)
    expect_lt(held$z[beside], missed$z[beside])
    expect_identical(held$p_value[-beside], missed$p_value[-beside])
    # The p-value of the change itself hardly grows beside its rival.
    right <- test(pair_from_index(true))
    right$found <- every == true
    right$p_value[beside] <- 0.04
    expect_true(beside %in% rivals_of(true, right, model))
    held <- hold_in_doubt(right, given, model)
    expect_lt(held$p_value[true], 0.001)
    # Nor does an edge that was found beside others stay that is none alone.
    chance <- test(pair_from_index(c(true, beside)))
    chance$p_value[beside] <- 1e-4
    chance$found <- every == beside
    alone <- test(pair_from_index(beside))
    chance$support <- pair_from_index(c(beside, 28L))
    expect_equal(hold_in_doubt(chance, given, model)$p_value[beside],
                 max(alone$p_value[beside],
                     test(rbind(chance$support,
                                pair_from_index(true)))$p_value[beside]))
    right$found[] <- FALSE
    expect_identical(hold_in_doubt(right, given, model), right)
})

test_that("drifting means and variances are removed, and reported", {
    withr::local_seed(4)
    time <- seq(0, 1, length.out = 500)
    values <- matrix(rnorm(1000), 500)
    moved <- values * (1 + 2 * time) + 5 * time^2
    clean <- remove_drift(moved, time)
    expect_gt(min(diag(cor(clean$values, values))), 0.95)
    expect_lt(max(abs(colMeans(clean$values))), 0.05)
    drift <- drift_table(clean$drift, c("a", "b"))
    expect_named(drift, c("variable", "mean_drift", "sd_ratio"))
    expect_gt(min(drift$sd_ratio), 2)
    expect_gt(min(drift$mean_drift), 1.5)
})

test_that("shuffles have the variances of blocks in their new places", {
    withr::local_seed(47)
    n <- 300
    values <- matrix(rnorm(4 * n), n)
    model <- gaussian_model(values, blocks_of(n, 3))
    windows <- test_windows(model$blocks)
    of <- null_parts(model, windows)
    expect_lt(ncol(of$left$onto), 25)
    order <- sample.int(100)
    # The same by moving the blocks, and all of the smoother.
    moved <- of$noise
    moved[order, ] <- of$noise
    left <- noise_left(moved, model$smoother)
    direct <- vapply(seq_along(windows), function(at) {
        slope <- windows[[at]]$slope
        variance <- moderate_variance(colSums(slope^2 * left^2),
                                      sum(slope^2) * colMeans(left^2),
                                      of$df[[at]])
        z_from_t(colSums(slope * moved) / sqrt(variance$value), variance$df)
    }, numeric(6))
    expect_equal(shuffled_z(of, order), t(direct), tolerance = 0.02)
})

test_that("the variance of an edge that changes is that of its correlation", {
    withr::local_seed(48)
    n <- 1e5
    x <- rnorm(n)
    rest <- rnorm(n)
    for (r in c(0, 0.6)) for (s in c(0.2, 0.7)) {
        y <- s * x + sqrt(1 - s^2) * rest
        expect_equal(drop(noise_variance(r, matrix(s))),
                     var(x * y - r * (x^2 + y^2) / 2), tolerance = 0.05)
    }
    # After a jump of one edge its noise is smaller, and that of others is not.
    drifting <- sim_drift(d = 5, n = 1500, n_changed = 1, change = 0.6,
                          shape = "jump")
    model <- prepare_series(list(values = as.matrix(drifting$series[-1]),
                                 time = drifting$series$time),
                            feat_gaussian(), NULL)$model
    late <- time_window(model$blocks, 0.8, 0.2)
    changed <- which(edge_text(data.frame(
        from = paste0("V", model$pairs$from), to = paste0("V", model$pairs$to)
    )) == edge_text(drifting$truth))
    share <- here_by_usual(model$variance(1:10, late), late$slope)
    expect_lt(share[changed], 0.75)
    expect_gt(min(share[-changed]), 0.8)
    # It tells what the window shows by itself.
    square <- model$local(late)$noise[, changed]^2
    own <- sum(late$slope^2 * square) / sum(late$slope^2) / mean(square)
    expect_equal(unname(share[changed]), own, tolerance = 0.3)
})

test_that("what only wanders is not taken for a drift", {
    withr::local_seed(41)
    time <- seq(0, 1, length.out = 600)
    wanders <- persistent_normal(600, 6, 0.8)
    unit <- wandering_blocks(wanders, time)
    expect_gte(max(tabulate(unit)), 7)
    chosen <- choose_lines(wanders, unit, time, drift_halves)
    expect_gte(sum(chosen == 1L), 5)
    # A mean that does drift has a narrow line, and leaves nothing of it.
    drifts <- wanders + 4 * sin(5 * time)
    chosen <- choose_lines(drifts, wandering_blocks(drifts, time), time,
                           drift_halves)
    expect_true(all(chosen > 1L))
    clean <- remove_drift(drifts, time)$values
    smooth <- line_weights(time, time, 1 / 4) %*% clean
    expect_lt(mean(smooth^2), 0.1)
})

test_that("what a row predicts is carried over the ends of blocks", {
    withr::local_seed(43)
    n <- 60
    rows <- matrix(rnorm(2 * n), n)
    a <- c(0.5, 0.8)
    blocks <- blocks_of(n, 6)
    means <- unname(rowsum(rows, blocks$unit)) / blocks$size
    free <- carry_over(means, function(at) rows[at, , drop = FALSE], a, blocks)
    # Sums of innovations, in units in which their mean is that of rows.
    innovations <- rbind(rows[1, ] * (1 - a),
                         rows[-1, ] - rows[-n, ] * rep(a, each = n - 1))
    sums <- unname(rowsum(innovations, blocks$unit)) / 6
    expect_equal(free, sums / rep(1 - a, each = 10))
    # A stretch begins without a row before it.
    blocks$begins[5] <- TRUE
    again <- carry_over(means, function(at) rows[at, , drop = FALSE], a, blocks)
    expect_equal(again[-5, ], free[-5, ])
    expect_equal(again[5, ], means[5, ] + (rows[30, ] - rows[25, ]) * a /
                     (1 - a) / 6)
})

test_that("products have the persistence of their variables", {
    withr::local_seed(44)
    n <- 2000
    time <- seq(0, 1, length.out = n)
    of <- function(values) {
        parts <- list(values = values, time = time)
        prepare_series(parts, feat_gaussian(), NULL)$model
    }
    same <- of(persistent_normal(n, 8, 0.8))
    expect_lt(max(abs(same$persistence - 0.64)), 0.06)
    expect_lt(abs(effective_rows(same) / (n * 0.36 / 1.64) - 1), 0.25)
    expect_lte(max(same$blocks$size), 15)
    mixed <- of(cbind(persistent_normal(n, 4, 0.9), persistent_normal(n, 4, 0)))
    both <- mixed$pairs$to <= 4
    expect_gt(min(mixed$persistence[both]), 0.7)
    expect_lt(max(mixed$persistence[!both]), 0.1)
    plain <- of(persistent_normal(n, 8, 0))
    expect_lt(max(plain$persistence), 0.05)
    expect_gt(effective_rows(plain), 0.85 * n)
})

test_that("blocks are as long as what the row before does not predict", {
    withr::local_seed(45)
    n <- 2000
    expect_lt(block_length(persistent_normal(n, 6, 0.8)), 7)
    # Scales that wander slowly show little from one row to the next.
    calm <- exp(0.7 * persistent_normal(n, 1, 0.95)[, 1])
    expect_gt(block_length(calm * matrix(rnorm(6 * n), n)), 9)
    # A jump of one edge is no dependence.
    values <- matrix(rnorm(6 * n), n)
    late <- seq_len(n) > n / 2
    values[late, 2] <- values[late, 1] + values[late, 2]
    expect_lt(block_length(values), 7)
})

test_that("strong dependence is said", {
    withr::local_seed(46)
    values <- persistent_normal(400, 3, 0.97)
    expect_warning(found <- kliep_time(values, n_perm = 19, times = 3),
                   "say as much as .* independent ones",
                   class = "kliep_warning_dependence")
    expect_gt(found$persistence, 0.7)
    expect_lt(found$effective, 100)
    expect_output(print(found), "dependence products keep 0[.][7-9]")
    expect_no_warning(kliep_time(persistent_normal(400, 3, 0.6), n_perm = 19,
                                 times = 3))
})

test_that("autocovariances of rows say what sums of blocks miss", {
    withr::local_seed(42)
    n <- 4000
    values <- persistent_normal(n, 8, 0.8)
    blocks <- blocks_of(n, 40)
    none <- numeric(28)
    lags <- serial_lags(values, none, blocks, drift_smoother(blocks))
    # Products of an autoregression have its squared coefficient.
    expect_lt(max(abs(lags[2:6] / lags[1] - 0.64^(1:5))), 0.06)
    # And none is left of their innovations.
    left <- serial_lags(values, none + 0.64, blocks, drift_smoother(blocks))
    expect_lt(max(abs(left[-1] / left[1])), 0.06)
    # Blocks of 10 rows of it miss a known share of the variance.
    short <- blocks_of(n, 10)
    lags <- structure(0.64^(0:40), left = 1)
    whole <- time_window(short, 0.5, 0.5)
    k <- 1:9
    exact <- (1.64 / 0.36) / (1 + 2 * sum((1 - k / 10) * 0.64^k))
    expect_equal(serial_factor(lags, whole, short), exact, tolerance = 0.01)
    expect_identical(serial_factor(1, whole, short), 1)
    # With independent rows, and blocks longer than dependence, next to nothing.
    noise <- matrix(rnorm(n * 8), n)
    lags <- serial_lags(noise, none, short, drift_smoother(short))
    expect_lt(serial_factor(lags, whole, short), 1.05)
    expect_identical(error_of_variance(1, 50), 1)
    expect_equal(error_of_variance(4, 20), 1 + 0.75 * 2 / 18)
})

test_that("local lines reach over gaps", {
    time <- c(seq(0, 0.2, length.out = 40), seq(0.8, 1, length.out = 40))
    weights <- line_weights(time, c(0.1, 0.5), 0.1)
    expect_equal(drop(weights %*% (1 + 2 * time)), c(1.2, 2))
    at_once <- line_weights(rep(c(0, 1), each = 20), 0, 0.1)
    expect_equal(drop(at_once), rep(c(1 / 20, 0), each = 20))
})

test_that("edges that drift are found, with the time and the sign", {
    withr::local_seed(5)
    drifting <- sim_drift(d = 6, n = 800, n_changed = 2, change = 0.6)
    found <- kliep_time(drifting$series, times = 11)
    truth <- drifting$truth
    reported <- edges(found)
    expect_setequal(edge_text(reported), edge_text(truth))
    expect_true(all(reported$weight > 0))
    expect_true(all(reported$start <= reported$peak &
                        reported$peak <= reported$end))
    # On average over time the rate is the change.
    mean_rate <- tapply(found$rates$estimate, edge_text(found$rates), mean)
    expect_lt(max(abs(mean_rate - 0.6)), 0.35)
    rates <- found$rates
    expect_true(all(rates$lower_all <= rates$lower &
                        rates$upper <= rates$upper_all))
    expect_identical(nrow(rates), 2L * 11L)
    expect_lte(found$global$p_value, 0.1)
})

test_that("a jump has its peak where it is", {
    withr::local_seed(6)
    drifting <- sim_drift(d = 6, n = 1200, n_changed = 1, change = 0.6,
                          shape = "jump", at = 0.6)
    found <- kliep_time(drifting$series, times = 31)
    expect_identical(edge_text(edges(found)), edge_text(drifting$truth))
    expect_lt(abs(found$peak$time - 0.6), 0.1)
    expect_true(found$peak$lower <= 0.6 && found$peak$upper >= 0.6)
})

test_that("where nothing changes but means and variances, nothing is found", {
    withr::local_seed(7)
    drifting <- sim_drift(d = 6, n = 500, shape = "none")
    series <- drifting$series
    time <- series$time
    series[-1] <- series[-1] * (1 + time) + 3 * sin(2 * time)
    found <- kliep_time(series)
    expect_identical(nrow(edges(found)), 0L)
    expect_identical(nrow(found$rates), 0L)
    expect_true(is.na(found$peak$time))
    expect_output(print(found), "No change found")
})

test_that("the level is kept where rows depend on each other", {
    withr::local_seed(8)
    spread <- function(prepare) {
        z <- replicate(12, {
            drifting <- sim_drift(d = 8, n = 600, shape = "none",
                                  persistence = 0.8)
            model <- prepare(list(values = as.matrix(drifting$series[-1]),
                                  time = drifting$series$time))
            window <- time_window(model$blocks, 0.5, 0.5)
            rates_given(model, window, integer())$z
        })
        sqrt(mean(z^2))
    }
    as_if_independent <- function(parts) {
        values <- remove_drift(parts$values, parts$time)$values
        blocks <- blocks_of(nrow(values), 1)
        level <- block_moments(values, blocks)
        model <- new_gaussian_model(level, level, blocks,
                                    drift_smoother(blocks))
        c(model, list(lags = 1, dependence = 1))
    }
    expect_gt(spread(as_if_independent), 1.5)
    expect_lt(spread(function(parts) {
        prepare_series(parts, feat_gaussian(), NULL)$model
    }), 1.15)
})

test_that("spins have rates of couplings", {
    withr::local_seed(9)
    drifting <- sim_drift(d = 6, n = 1000, n_changed = 1, change = 1,
                          edge = 0.2, family = "ising")
    found <- kliep_time(drifting$series, features = feat_ising(), times = 9)
    expect_true(edge_text(drifting$truth) %in% edge_text(edges(found)))
    truth <- edge_text(found$rates) == edge_text(drifting$truth)
    expect_lt(abs(mean(found$rates$estimate[truth]) - 1), 0.5)
})

test_that("ranks do not mind outliers", {
    withr::local_seed(10)
    drifting <- sim_drift(d = 5, n = 800, n_changed = 1, change = 0.6)
    series <- drifting$series
    series[-1] <- sinh(2 * series[-1])
    found <- kliep_time(series, features = feat_nonparanormal(), times = 5)
    expect_identical(edge_text(edges(found)), edge_text(drifting$truth))
})

test_that("counts of words and returns of markets are series, too", {
    withr::local_seed(61)
    topics <- list(c("rain", "storm"), c("match", "goal"), c("bank", "price"))
    pair <- sim_keywords(times = 600, change_at = 301, topics = topics,
                         event = c("storm", "match", "price"), tie = 0.4)
    found <- kliep_time(pair$series, features = feat_nonparanormal(),
                        times = 8, n_perm = 99)
    expect_gt(nrow(edges(found)), 0)
    expect_true(all(edge_text(edges(found)) %in% edge_text(pair$truth)))
    expect_true(all(edges(found)$weight > 0))
    returns <- diff(log(datasets::EuStockMarkets))
    found <- kliep_time(returns, features = feat_nonparanormal(), times = 8,
                        n_perm = 19, per = 1)
    expect_equal(as.numeric(found$time), range(stats::time(returns)))
    expect_equal(found$per, 1)
})

test_that("raw counts, heavy tails and copies are said", {
    withr::local_seed(62)
    pair <- sim_keywords(times = 400)
    run <- function(...) kliep_time(..., n_perm = 19, times = 3)
    expect_message(run(pair$series), "values are counts",
                   class = "kliep_message_counts")
    expect_no_message(run(pair$series, features = feat_nonparanormal()))
    values <- matrix(stats::rt(900, 3), 300)
    expect_message(run(values), "heavy tails .*pass for changes",
                   class = "kliep_message_tails")
    expect_no_message(run(values, features = feat_nonparanormal()))
    values <- matrix(rnorm(900), 300)
    expect_no_message(run(values))
    # Scales that drift are no tails.
    expect_no_message(run(values * exp(seq(0, 4, length.out = 300))))
    expect_message(run(cbind(values, values[, 1])), "`V1` and `V4`",
                   class = "kliep_message_twins")
})

found_drift <- function() {
    withr::local_seed(11)
    drifting <- sim_drift(d = 5, n = 1000, n_changed = 1, change = 0.7)
    series <- drifting$series
    series$time <- as.Date("2020-01-01") + seq_len(1000)
    kliep_time(series, times = 8, per = as.difftime(365, units = "days"))
}

test_that("dates come back as dates, and rates are per what is asked", {
    found <- found_drift()
    expect_s3_class(found$rates$time, "Date")
    expect_s3_class(edges(found)$start, "Date")
    expect_equal(found$per, 365)
    withr::local_seed(11)
    drifting <- sim_drift(d = 5, n = 1000, n_changed = 1, change = 0.7)
    plain <- kliep_time(drifting$series, times = 8)
    expect_equal(found$rates$estimate, plain$rates$estimate * 365 / 999,
                 tolerance = 1e-6)
    at <- edges(found, at = found$peak$time)
    expect_identical(unique(at$time), found$peak$time)
})

test_that("a drift has the methods of a result", {
    found <- found_drift()
    expect_identical(names(tidy(found))[1:5], c("term", "from", "to",
                                                "estimate", "time"))
    expect_identical(nrow(glance(found)), 1L)
    graph <- as_igraph(found, at = found$peak$time)
    expect_equal(igraph::vcount(graph), 5)
    expect_identical(igraph::ecount(as_igraph(found)),
                     as.numeric(nrow(edges(found))))
    all <- edges(found, all = TRUE)
    expect_identical(nrow(all), 10L)
    expect_identical(sum(all$changed), nrow(edges(found)))
    expect_true(Matrix::isSymmetric(coef(found)))
    expect_output(print(found), "The total rate is largest at")
    expect_output(print(summary(found)), "were removed")
    for (type in c("heatmap", "curves", "total", "graph")) {
        picture <- autoplot(found, type = type)
        expect_s3_class(picture, "ggplot")
        expect_no_error(ggplot2::ggplot_build(picture))
    }
    none <- found
    none$rates <- none$rates[0, ]
    none$spans <- none$spans[0, ]
    expect_s3_class(autoplot(none), "ggplot")
})

test_that("spans of time have their units", {
    found <- found_drift()
    expect_match(format(found), "rates per 365 days", all = FALSE)
    day <- as.POSIXct("2024-03-01", tz = "UTC")
    expect_identical(say_span(5400, day), "90 minutes")
    expect_identical(say_span(36000, day), "10 hours")
    expect_identical(say_span(86400 * 30, day), "30 days")
    expect_identical(say_span(0.5, day), "0.5 seconds")
    expect_identical(say_span(0.25, 1), "0.25 units of time")
    expect_identical(say_span(1, 1), "1 unit of time")
})

test_that("graphs show the time at which most changes", {
    found <- found_drift()
    peak <- found$total$time[which.max(found$total$rate)]
    shown <- chosen_times(found, NULL)
    expect_true(peak %in% shown)
    expect_false(is.unsorted(shown))
    expect_length(shown, 4L)
})

test_that("long names and dates have room", {
    found <- found_drift()
    long <- function(names) paste("a variable with a long name,", names)
    for (part in c("rates", "spans", "estimates", "support")) {
        found[[part]][c("from", "to")] <- lapply(found[[part]][c("from", "to")],
                                                 long)
    }
    found$variables <- long(found$variables)
    curves <- rbind(found$rates, found$rates)
    curves$to[seq_len(nrow(found$rates))] <- found$variables[3]
    found$followed <- cbind(curves, reported = FALSE)
    picture <- autoplot(found, type = "curves")
    built <- ggplot2::ggplot_build(picture)
    labels <- unlist(two_lines(list(edge = levels(picture$data$edge))))
    expect_true(all(nchar(unlist(strsplit(labels, "\n"))) <= 20))
    expect_identical(unname(unlist(two_lines(list(edge = "a - b")))), "a - b")
    breaks <- built$layout$panel_params[[1]]$x$breaks
    expect_lte(length(breaks), 4L)
    for (time in list(as.POSIXct("2024-01-01", tz = "UTC") + 86400 * 1:90,
                      seq(0, 1, 0.1))) {
        expect_s3_class(few_times(time, 2), "ScaleContinuous")
    }
    expect_null(few_times(1:3, 1))
    graph <- autoplot(found, type = "graph")
    expect_identical(graph$coordinates$clip, "off")
    expect_output(print(kliep_time(withr::with_seed(
        1, sim_drift(d = 4, n = 200, shape = "none")$series), n_perm = 19)),
        "Next: edges[(]all = TRUE[)]")
})

test_that("seeds decide", {
    drifting <- withr::with_seed(1, sim_drift(d = 4, n = 200, n_changed = 1))
    run <- function() {
        withr::with_seed(2, kliep_time(drifting$series, times = 3,
                                       n_perm = 19))
    }
    expect_identical(run(), run())
})

test_that("what is wrong with a series is said in a sentence", {
    withr::local_seed(12)
    values <- matrix(rnorm(400), 100, dimnames = list(NULL, letters[1:4]))
    says <- function(text, ..., class = "kliep_error_time") {
        expect_error(kliep_time(..., n_perm = 19), text, class = class)
    }
    says("in the order of time", values, time = 100:1)
    says("have the same time", values, time = rep(1, 100))
    says("at least 10 different values: got 5", values,
         time = rep(1:5, each = 20))
    says("one for each", values, time = 1:3)
    says("must be known", values, time = c(NA, 2:100))
    says("at least 40 rows", values[1:30, ], class = "kliep_error_size")
    says("at least 2 variables", values[, 1, drop = FALSE],
         class = "kliep_error_size")
    says("at least 24 blocks: got 5", values, block = 20,
         class = "kliep_error_block")
    says("at most half of the span", values, bandwidth = 80)
    says("`times` must be", values, times = c(1, 500))
    says("`bandwidth` is a span of time", values,
         bandwidth = as.difftime(3, units = "days"))
    says("Gaussian, nonparanormal and Ising", values, features = feat_rbf(),
         class = "kliep_error_features")
    says("as.numeric", values, time = as.difftime(1:100, units = "days"))
    says("Leave such rows out", values, time = c(1:99, NA))
    says("hold 8 blocks of rows", values, bandwidth = 2)
    says("hold 8 blocks of rows", values, time = c(1:50, 1000 + 1:50),
         times = c(500, 510))
    values[3, 2] <- NA
    says("finite everywhere", values, class = "kliep_error_missing")
    # What na = does not take here is not offered.
    told <- tryCatch(kliep_time(values), error = conditionMessage)
    expect_match(told, "omit")
    expect_no_match(told, "pairwise|impute")
    expect_message(kliep_time(values, na = "omit", n_perm = 19),
                   "leaves out 1 of 100", class = "kliep_message_missing")
    values[, 1] <- 1
    values[3, 2] <- 1
    says("1 column of `series` is constant: `a`", values,
         class = "kliep_error_constant")
})

test_that("times may be repeated and missing", {
    withr::local_seed(13)
    drifting <- sim_drift(d = 4, n = 600, n_changed = 1, change = 0.7)
    series <- drifting$series
    series$time <- round(series$time * 60)
    series <- series[series$time < 20 | series$time > 26, ]
    found <- kliep_time(series, times = 9)
    expect_identical(edge_text(edges(found)), edge_text(drifting$truth))
})

test_that("times may be given as text, and as what POSIXlt has", {
    found <- found_drift()
    expect_identical(edges(found, at = "2021-06-01"),
                     edges(found, at = as.Date("2021-06-01")))
    expect_error(edges(found, at = "2031-06-01"), "must be one time from",
                 class = "kliep_error_time")
    expect_error(edges(found, at = "June"), class = "kliep_error_time")
    withr::local_seed(20)
    values <- matrix(rnorm(200), 50)
    days <- as.POSIXct("2024-03-30", tz = "Europe/Berlin") + 86400 * 0:49
    run <- function(time, times) {
        withr::with_seed(1, kliep_time(values, time = time, times = times,
                                       n_perm = 19)$estimates)
    }
    expect_identical(run(as.POSIXlt(days), "2024-04-20 12:00"),
                     run(days, days[22]))
})

test_that("times of day come back as such, and may be irregular", {
    withr::local_seed(15)
    drifting <- sim_drift(d = 4, n = 800, n_changed = 1, change = 0.7)
    series <- drifting$series
    day <- as.POSIXct("2024-03-01 08:00", tz = "UTC")
    series$time <- day + 36000 * series$time^1.2
    found <- kliep_time(series, times = 9,
                        per = as.difftime(1, units = "hours"))
    expect_identical(edge_text(edges(found)), edge_text(drifting$truth))
    expect_s3_class(edges(found)$peak, "POSIXct")
    expect_identical(attr(found$rates$time, "tzone"), "UTC")
    expect_equal(found$per, 3600)
    expect_true(all(found$rates$time >= day & found$rates$time <= day + 36000))
    expect_s3_class(found$peak$lower, "POSIXct")
})

test_that("spins have a length of dependence, though squares do not vary", {
    withr::local_seed(14)
    spins <- matrix(sample(c(-1, 1), 400, TRUE), 100)
    expect_lt(dependence_length(spins), 20)
})

test_that("edges that were asked for have rates, reported or not", {
    withr::local_seed(17)
    drifting <- sim_drift(d = 6, n = 900, n_changed = 1, change = 0.7)
    run <- function(...) {
        withr::with_seed(18, kliep_time(drifting$series, times = 7,
                                        n_perm = 49, ...))
    }
    asked <- rbind(drifting$truth[c("from", "to")],
                   data.frame(from = "V4", to = "V3"))
    found <- run(edges = asked)
    expect_identical(edge_text(edges(found)), edge_text(drifting$truth))
    followed <- found$followed
    expect_identical(nrow(followed), 14L)
    expect_identical(unique(edge_text(followed)), edge_text(asked))
    expect_identical(followed$reported, rep(c(TRUE, FALSE), each = 7))
    # What is reported is the same with and without, and so is its curve.
    plain <- run()
    expect_identical(nrow(plain$followed), 0L)
    expect_identical(found[c("rates", "spans", "estimates", "bandwidth")],
                     plain[c("rates", "spans", "estimates", "bandwidth")])
    expect_identical(followed[1:7, c("estimate", "se", "lower")],
                     plain$rates[c("estimate", "se", "lower")])
    # Where nothing is found, too; by number as well.
    expect_identical(run(edges = data.frame(from = 4, to = 3))$followed$time,
                     plain$rates$time)
    still <- withr::with_seed(20, sim_drift(d = 4, n = 200, shape = "none"))
    none <- kliep_time(still$series, edges = data.frame(from = 1, to = 2),
                       times = 5, n_perm = 19)
    expect_identical(nrow(none$rates), 0L)
    expect_identical(nrow(none$followed), 5L)
    for (drawn in list(autoplot(found, type = "curves"),
                       autoplot(none, type = "curves"))) {
        built <- ggplot2::ggplot_build(drawn)
        expect_identical(nrow(built$data[[4]]), nrow(drawn$data))
    }
    expect_error(run(edges = data.frame(from = "V1", to = "V9")),
                 "the series does not have: `V9`",
                 class = "kliep_error_argument")
    expect_error(run(edges = "V1"), "data frame with columns `from`",
                 class = "kliep_error_argument")
})
