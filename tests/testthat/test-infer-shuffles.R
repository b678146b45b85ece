test_that("blocks are consecutive, of nearly equal size and none too small", {
    for (n in c(10, 17, 40, 103)) {
        for (size in c(1, 3, 4, 10)) {
            unit <- cut_blocks(n, size)
            expect_identical(unit, sort(unit))
            expect_identical(unique(unit), seq_len(max(1, n %/% size)))
            expect_lte(diff(range(table(unit))), 1)
            expect_gte(min(table(unit)), size)
        }
    }
    expect_identical(check_block(NULL, 3, 2), list(x = 1:3, y = 1:2))
    expect_identical(check_block(1, 3, 2), list(x = 1:3, y = 1:2))
    labels <- list(y = c(7, 9, 7), x = c("b", "a", "b", "b"))
    expect_identical(check_block(labels, 4, 3),
                     list(x = c(1L, 2L, 1L, 1L), y = c(1L, 2L, 1L)))
})

test_that("blocks that cannot be are refused", {
    refused <- function(block) {
        expect_error(check_block(block, 10, 8), class = "kliep_error_block")
    }
    refused(0)
    refused(2.5)
    refused(NA)
    refused("day")
    refused(5) # one block of y
    refused(list(1:10, 1:8))
    refused(list(x = 1:10, y = 1:7))
    refused(list(x = 1:10, y = c(1:7, NA)))
    refused(list(x = 1:10, y = 1:8, z = 1))
    refused(list(x = 1:10, y = rep(1, 8)))
    refused(list(x = as.list(1:10), y = 1:8))
})

test_that("shuffles differ from one another and from the data", {
    set.seed(1)
    for (sizes in list(c(2, 3), c(3, 3), c(4, 2), c(8, 8))) {
        for (alike in c(FALSE, TRUE)) {
            most <- count_shuffles(sizes[1], sizes[2], alike)
            for (n in unique(c(1, min(most, 50), min(most, 400)))) {
                drawn <- draw_shuffles(sizes[1], sizes[2], n, alike)
                expect_length(drawn, n)
                expect_identical(anyDuplicated(drawn), 0L)
                expect_false(list(seq_len(sizes[1])) %in% drawn)
                expect_identical(lengths(drawn), rep(as.integer(sizes[1]), n))
                expect_identical(drawn, lapply(drawn, function(units) {
                    sort(unique(units))
                }))
                expect_true(all(unlist(drawn) %in% seq_len(sum(sizes))))
            }
        }
    }
    # With all of them and alike, no set comes with its complement.
    drawn <- draw_shuffles(3, 3, 9, TRUE)
    expect_false(any(lapply(drawn, function(units) setdiff(1:6, units)) %in%
                         drawn))
})

test_that("every shuffle is as likely as any other", {
    set.seed(1)
    seen <- replicate(3000, paste(draw_shuffles(2, 3, 1, FALSE)[[1]],
                                  collapse = " "))
    expect_gt(chisq.test(table(seen))$p.value, 1e-3)
    expect_length(unique(seen), choose(5, 2) - 1)
    # Few out of many are drawn otherwise than many out of few.
    seen <- unlist(replicate(150, draw_shuffles(3, 4, 8, FALSE)))
    seen <- rbind(table(seen),
                  table(unlist(replicate(150, draw_shuffles(3, 4, 9, FALSE)))))
    expect_gt(min(apply(seen, 1, function(n) chisq.test(n)$p.value)), 1e-3)
})

test_that("more shuffles than there are is an error that counts them", {
    refused <- function(n_perm, n_x, n_y, alike, message) {
        expect_error(check_n_perm(n_perm, n_x, n_y, alike), message,
                     class = "kliep_error_n_perm")
    }
    expect_identical(check_n_perm(19, 3, 3, FALSE), 19)
    refused(20, 3, 3, FALSE, "only 19 ways to shuffle 3 and 3")
    expect_identical(check_n_perm(9, 3, 3, TRUE), 9)
    refused(10, 3, 3, TRUE, "only 9 ways.*Exchanging the two samples")
    expect_identical(check_n_perm(34, 3, 4, TRUE), 34)
    refused(35, 3, 4, TRUE, "only 34 ways")
    expect_identical(check_n_perm(1e6, 500, 500, FALSE), 1e6)
    for (bad in list(0, -1, 2.5, NA, "many", c(1, 2))) {
        refused(bad, 10, 10, FALSE, "n_perm")
    }
})

test_that("the same shuffles are drawn whichever sample is called x", {
    for (n in list(c(3, 5), c(30, 41))) {
        n_x <- n[1]
        n_y <- n[2]
        set.seed(1)
        one_way <- draw_shuffles_in_order(n_x, n_y, 9, FALSE, TRUE)
        set.seed(1)
        other <- draw_shuffles_in_order(n_y, n_x, 9, FALSE, FALSE)
        expect_true(all(lengths(one_way) == n_x))
        # What is not in the one is in the other, under its number there.
        renamed <- lapply(other, function(shuffle) {
            there <- ifelse(shuffle <= n_y, shuffle + n_x, shuffle - n_y)
            setdiff(seq_len(n_x + n_y), there)
        })
        expect_equal(one_way, renamed)
    }
})

test_that("samples are aligned by the bulk of their variables", {
    withr::local_seed(1)
    x <- matrix(rnorm(400), 100)
    x[, 4] <- rep(0:1, c(95, 5))
    y <- sweep(sweep(x, 2, c(2, 0.1, 5, 3), "*"), 2, 1:4, "+")
    aligned <- align_samples(x, y)
    expect_equal(aligned$x, aligned$y)
    expect_equal(colMeans(aligned$x)[4], 0)
    # One value far out moves its own place alone.
    x[7, ] <- 1e6
    out <- align_samples(x, y)
    expect_lt(max(abs(out$x[-7, 1:3] - aligned$x[-7, 1:3])), 0.3)
    expect_equal(out$y[, 1:3], aligned$y[, 1:3])
})
