# How much of a change could come with a shift of means or scales.

one <- kliep_control(threads = 1)

test_that("a shift where regressions are straight explains nothing", {
    pair <- withr::with_seed(1, sim_gaussian(d = 6, n = 400, n_changed = 2))
    moved <- sweep(pair$y, 2, 1:6, "+")
    table <- kliep_infer(pair$x, moved, control = one)$estimates
    expect_lt(max(table$shift), 0.2)
    plain <- kliep_infer(pair$x, pair$y, control = one)$estimates
    expect_true(all(plain$shift >= 0 & plain$shift <= 1))
})

test_that("a floor makes a shift look like a change, and `shift` says so", {
    pair <- withr::with_seed(2, {
        latent <- function(n) {
            z <- matrix(rnorm(n * 5), n)
            z[, 2] <- z[, 1] + 0.5 * z[, 2]
            z
        }
        # What is below zero is not seen.
        list(x = pmax(latent(800) + 1, 0), y = pmax(latent(800) - 1, 0))
    })
    fit <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))
    edge <- fit$estimates$from == "V1" & fit$estimates$to == "V2"
    expect_true(fit$estimates$changed[edge])
    expect_gt(fit$estimates$shift[edge], 0.3)
    expect_lt(max(fit$estimates$shift[!edge & fit$estimates$changed], 0), 1.01)
    said <- fit
    said$estimates$shift <- ifelse(edge, 0.8, 0)
    expect_match(say_changes(said), "half of one of these changes")
    said$estimates$shift[] <- 0
    expect_no_match(say_changes(said), "shift")
})
