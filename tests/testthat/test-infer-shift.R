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
        # The second variable follows the first where this is above zero.
        draw <- function(n, mean) {
            z <- matrix(rnorm(n * 5), n, dimnames = list(NULL, letters[1:5]))
            z[, 1] <- z[, 1] + mean
            z[, 2] <- pmax(z[, 1], 0) + 0.5 * z[, 2]
            z
        }
        list(x = draw(400, 1), y = draw(400, -1))
    })
    fit <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))
    edge <- fit$estimates$from == "a" & fit$estimates$to == "b"
    expect_true(fit$estimates$changed[edge])
    expect_gt(fit$estimates$shift[edge], 0.3)
    said <- fit
    said$estimates$shift <- ifelse(edge, 0.8, 0)
    expect_match(say_changes(said), "half of one of these changes")
    # The report has the column, what it means, and the sentence.
    file <- withr::local_tempfile(fileext = ".html")
    page <- paste(readLines(kliep_report(said, file, open = FALSE)),
                  collapse = " ")
    expect_match(page, "half of one of these changes")
    expect_match(page, "<dt>shift</dt>")
    said$estimates$shift[] <- 0
    expect_no_match(say_changes(said), "shift")
})

test_that("correlations and slopes are those of the plain formulas", {
    set.seed(1)
    curved <- function(n, by) {
        z <- matrix(rnorm(4 * n), n)
        z[, 2:4] <- z[, 2:4] + by * pmax(z[, 1], -0.5)
        scale(z)
    }
    pair <- list(x = curved(300, 2), y = curved(250, 0.2))
    expect_equal(correlations(pair$x), stats::cor(pair$x))
    z <- rbind(pair$x, pair$y)
    n <- nrow(z)
    raw <- list(x = pair$x + 0.5, y = pair$y)
    shift <- margin_shift(raw$x, raw$y)
    slope <- 2 * crossprod(z^2 - 1, z) / (2 * n) * shift$mean +
        3 * crossprod(z^3 - 3 * z, z) / (6 * n) * shift$square
    at <- as.matrix(pair_from_index(seq_len(6)))
    change <- (stats::cor(pair$x) - stats::cor(pair$y))[at]
    plain <- (slope[at] + slope[at[, 2:1]]) / 2 / change
    share <- shift_shares(pair, raw)
    seen <- share > 0 & share < 1
    expect_true(any(seen))
    expect_equal(share[seen], plain[seen])
})
