# sim_drift(): series from networks that change in a known way.

test_that("a series has the covariances of its network", {
    withr::local_seed(1)
    drifting <- sim_drift(d = 4, n = 4000, n_changed = 1, change = 0.4,
                          shape = "jump", at = 0.5)
    before <- as.matrix(drifting$series[drifting$series$time < 0.5, -1])
    after <- as.matrix(drifting$series[drifting$series$time > 0.5, -1])
    expect_lt(max(abs(cov(before) - solve(diag(4) - drifting$network(0)))),
              0.12)
    expect_lt(max(abs(cov(after) - solve(diag(4) - drifting$network(1)))),
              0.15)
    expect_identical(drifting$truth$change, 0.4)
    expect_output(print(drifting), "1 edge by 0.4")
})

test_that("persistence leaves the distribution at a time as it is", {
    withr::local_seed(2)
    drifting <- sim_drift(d = 3, n = 6000, shape = "none", persistence = 0.7)
    values <- as.matrix(drifting$series[-1])
    expect_lt(max(abs(cov(values) - solve(diag(3) - drifting$network(0)))),
              0.15)
    lag <- diag(cor(values[-1, ], values[-6000, ]))
    expect_lt(max(abs(lag - 0.7)), 0.06)
    expect_identical(nrow(drifting$truth), 0L)
})

test_that("a hub moves from the first variable to the second", {
    withr::local_seed(3)
    drifting <- sim_drift(d = 6, n = 10, n_changed = 3, change = 0.3,
                          shape = "hub")
    expect_identical(sum(drifting$network(0)[1, ] != 0), 3L)
    expect_identical(sum(drifting$network(1)[2, ] != 0), 3L)
    expect_identical(nrow(drifting$truth), 6L)
})

test_that("spins agree as their couplings say", {
    withr::local_seed(4)
    drifting <- sim_drift(d = 4, n = 6000, n_changed = 1, change = 0.6,
                          edge = 0.3, shape = "jump", family = "ising")
    late <- as.matrix(drifting$series[drifting$series$time > 0.5, -1])
    expect_true(all(late %in% c(-1, 1)))
    coupling <- drifting$network(1)[cbind(1:3, 2:4)]
    seen <- colMeans(late[, 1:3] * late[, 2:4])
    expect_lt(max(abs(seen - tanh(coupling))), 0.05)
})

test_that("what cannot be drawn is refused", {
    expect_error(sim_drift(d = 6, n_changed = 4), "at most 2",
                 class = "kliep_error_size")
    expect_error(sim_drift(change = 3), "not positive definite",
                 class = "kliep_error_positive_definite")
    expect_error(sim_drift(shape = "hub", family = "ising"), "has no hub",
                 class = "kliep_error_argument")
})
