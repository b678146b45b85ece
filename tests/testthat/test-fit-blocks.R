# Blocks of edges and hubs that are penalised together.

one <- kliep_control(threads = 1, tol = 1e-9)
pair <- withr::with_seed(1, sim_gaussian(d = 8, n = 150, n_changed = 5))
labels <- rep(c("a", "b"), each = 4)
blocked <- function(..., groups = labels) {
    kliep_path(pair$x, pair$y, penalty_groups = groups, nlambda = 8,
               control = one, ...)
}

# The worst violation of the conditions of the help page, block by block, with
# the empirical normaliser and both directions.
blocks_kkt <- function(path, step, block, share) {
    theta <- as.matrix(coef(path, path$lambda2[step]))
    lambda2 <- path$lambda2[step]
    z <- list(x = standardised(pair$x, path$center$x, path$scale$x),
              y = standardised(pair$y, path$center$y, path$scale$y))
    score <- function(z) {
        rowSums((z %*% theta) * z) / 2 + drop(z^2 %*% diag(theta)) / 2
    }
    weighted <- function(z, s) crossprod(z * exp(s) / sum(exp(s)), z)
    xi <- crossprod(z$x) / nrow(z$x) - weighted(z$y, score(z$y)) +
        weighted(z$x, -score(z$x)) - crossprod(z$y) / nrow(z$y)
    upper <- upper.tri(theta, diag = TRUE)
    theta <- theta[upper]
    xi <- xi[upper]
    # A factor by itself is a block of one.
    block <- ifelse(block == 0, max(block) + seq_along(block), block)
    worst <- 0
    for (own in split(seq_along(block), block)) {
        size <- sqrt(length(own))
        whole <- sqrt(sum(theta[own]^2))
        soft <- pmax(0, abs(xi[own]) - (1 - share) * lambda2)
        violation <- if (whole == 0) {
            max(0, sqrt(sum(soft^2)) - share * lambda2 * size)
        } else {
            slope <- path$spec$lambda1 * theta[own] +
                share * lambda2 * size * theta[own] / whole
            max(ifelse(theta[own] == 0,
                       pmax(0, abs(xi[own]) - (1 - share) * lambda2),
                       abs(xi[own] - slope -
                               (1 - share) * lambda2 * sign(theta[own]))))
        }
        worst <- max(worst, violation)
    }
    worst
}

test_that("fits meet the conditions of the help page", {
    block <- block_numbers(labels, colnames(pair$x))
    for (share in c(0.3, 1)) {
        path <- blocked(group_share = share)
        expect_identical(path$spec$normalizer, "empirical")
        expect_true(all(path$diagnostics$status == "converged"))
        kkt <- vapply(1:8, blocks_kkt, 1, path = path, block = block,
                      share = share)
        expect_lt(max(kkt), 1e-4 * path$lambda_max)
        expect_equal(path$diagnostics$kkt, kkt, tolerance = 1e-3 * max(kkt))
        expect_lt(max(path$diagnostics$gap), 1e-8)
    }
    # The first step has nothing, and just below something enters.
    expect_identical(path$diagnostics$n_detected[1], 0L)
    below <- blocked(group_share = 1, lambda2 = 0.999 * path$lambda_max)
    expect_gt(below$diagnostics$n_detected, 0L)
})

test_that("a share of 0 is no groups, a share of 1 takes blocks as wholes", {
    plain <- kliep_path(pair$x, pair$y, nlambda = 8, control = one,
                        normalizer = "empirical")
    none <- blocked(group_share = 0)
    expect_equal(none$lambda2, plain$lambda2, tolerance = 1e-12)
    expect_equal(none$diagnostics$objective, plain$diagnostics$objective,
                 tolerance = 1e-7)
    whole <- blocked(group_share = 1)
    block <- matrix(0L, 8, 8)
    block[upper.tri(block, diag = TRUE)] <- block_numbers(labels,
                                                          colnames(pair$x))
    for (lambda2 in whole$lambda2) {
        theta <- as.matrix(coef(whole, lambda2))
        together <- tapply(theta[block > 0] != 0, block[block > 0], mean)
        expect_true(all(together %in% 0:1))
    }
})

test_that("hubs, sets and tables of edges", {
    names <- colnames(pair$x)
    at <- function(groups) {
        blocks <- matrix(0L, 8, 8, dimnames = list(names, names))
        blocks[upper.tri(blocks, diag = TRUE)] <- block_numbers(groups, names)
        blocks + t(blocks)
    }
    hubs <- at(list("V1", "V5"))
    expect_identical(unname(hubs["V1", c(2:4, 6:8)]), rep(hubs["V1", 2], 6))
    expect_identical(hubs[["V1", "V5"]], 0L)
    expect_identical(sum(hubs > 0), 24L)
    sets <- at(list(one = names[1:3], two = names[4:6]))
    expect_identical(sort(unique(as.vector(sets))), 0:2)
    expect_identical(sum(sets > 0), 12L)
    edges <- data.frame(from = names[c(1, 3)], to = names[c(2, 4)], group = "g")
    expect_identical(which(at(edges) > 0),
                     c(2L, 9L, 20L, 27L)[order(c(2L, 9L, 20L, 27L))])
    some <- at(stats::setNames(rep(c("a", NA), 4), names))
    expect_true(all(some[2, ] == 0) && some[1, 3] > 0)
    chosen <- withr::with_seed(1, kliep_select(
        pair$x, pair$y, spec = kliep_spec(penalty_groups = labels,
                                          nlambda = 5, control = one)
    ))
    expect_false(is.null(chosen$path$spec$penalty_groups))
})

test_that("wrong groups say what to do", {
    refused <- function(pattern, ...) {
        expect_error(blocked(...), pattern,
                     class = "kliep_error_penalty_groups")
    }
    refused("a label for each of 8 variables: got 3", groups = c("a", "b", "b"))
    refused("names `W`, which is not a variable", groups = list(c("V1", "W")))
    refused("between `V1` and `V2` is in two groups",
            groups = list(c("V1", "V2"), c("V1", "V2", "V3")))
    refused("between `V1` and `V2` is in two groups",
            groups = list(c("V1", "V2", "V3"), "V1"))
    refused("no group of two edges", groups = list(c("V1", "V2")))
    refused("must be a label for each variable", groups = 3)
    refused("does not go with penalty = \"mcp\"", penalty = "mcp")
    refused("does not go with normalizer = \"gaussian\"",
            normalizer = "gaussian")
    refused("does not go with solver = \"dual\"", solver = "dual")
    refused("`group_share` must be from 0 to 1: got 2", group_share = 2)
    expect_error(kliep_infer(pair$x, pair$y, penalty_groups = labels),
                 "do not use `penalty_groups`",
                 class = "kliep_error_penalty_groups")
})
