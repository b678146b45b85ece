# The same on any number of threads, for the same seed, after a reload, and by
# an implementation that shares nothing with this one.

# ---- threads, seeds --------------------------------------------------------

# Without what differs from run to run: times, and the threads themselves.
lasting <- function(value) {
    if (is.function(value) || is.environment(value) || is.language(value)) {
        return(NULL)
    }
    if (inherits(value, "kliep_control")) value$threads <- NULL
    if (!is.list(value)) return(value)
    value <- unclass(value)
    value[c("seconds", "call", "control", "threads")] <- NULL
    lapply(value, lasting)
}

wide <- random_pair(12, 40, 35)

# Every function that takes threads.
threaded <- function(threads) {
    control <- kliep_control(threads = threads)
    x <- wide$x
    y <- wide$y
    withr::local_seed(5)
    theta <- ising_chain(6)
    suppressWarnings(list(
        path = kliep_path(x, y, nlambda = 6, control = control),
        polynomial = kliep_path(x, y, feat_polynomial(3), nlambda = 4,
                                control = control),
        rbf = kliep_path(x, y, feat_rbf(), nlambda = 4, control = control),
        adaptive = kliep_path(x, y, penalty = "adaptive", nlambda = 4,
                              control = control),
        mcp = kliep_path(x, y, penalty = "mcp", nlambda = 4,
                         control = control),
        robust = kliep_path(x, y, robust = 0.1, nlambda = 3,
                            control = control),
        gaussian = kliep_path(x, y, normalizer = "gaussian", nlambda = 4,
                              control = control),
        change = kliep_change(x, y, lambda2 = 0.2, control = control),
        select = kliep_select(x, y, folds = 2, nlambda = 4,
                              control = control),
        infer = debias_few(x, y, n_boot = 50, control = control),
        flasso = flasso_path(x, y, nlambda = 4, control = control),
        dtrace = dtrace_path(x, y, nlambda = 4, control = control),
        glasso = glasso_path(x, y, nlambda = 3, control = control),
        is_flasso = is_flasso_path(x, y, nlambda = 2, points = 500,
                                   control = control),
        is_glasso = is_glasso_path(x, y, nlambda = 2, points = 500,
                                   control = control),
        stability = kliep_stability(x, y, nlambda = 4, n_subsamples = 4,
                                    control = control, progress = FALSE),
        test = kliep_test(x, y, folds = 2, nlambda = 3, n_perm = 3,
                          control = control, progress = FALSE),
        diamond = sim_diamond(d = 6, n = 50, thin = 2, threads = threads),
        ising = sim_ising(theta, theta, n = 50, thin = 2, threads = threads),
        genes = sim_genes(n = 20, threads = threads)
    ))
}

test_that("one seed gives the same on two threads as on one, to the last bit", {
    skip_on_cran()
    one <- lasting(threaded(1))
    two <- lasting(threaded(2))
    for (name in names(one)) expect_identical(two[[!!name]], one[[!!name]])
})

test_that("the same seed gives the same, wherever numbers are drawn", {
    draws <- list(
        function() sim_gaussian(d = 6, n = 20, n_changed = 2, n_holdout = 3),
        function() {
            sim_gaussian(d = 6, n = 20, graph = "scale_free", n_changed = 2)
        },
        function() sim_lattice(m = 9, n = 20),
        function() sim_nonparanormal(d = 6, n = 20, n_changed = 2),
        function() sim_keywords(times = 30),
        function() ising_change(ising_lattice(3), n_changed = 3),
        function() subnetwork(yeast13(), 5),
        function() subnetwork(yeast13(), 5, "cluster"),
        function() kliep_auto(wide$x, wide$y, n_perm = 19),
        function() {
            kliep_windows(wide$x, wide$y, width = 20, folds = 2, nlambda = 2,
                          progress = FALSE)
        },
        function() {
            compare_methods(
                function() sim_gaussian(d = 5, n = 20, n_changed = 2),
                list(a = function(x, y) kliep_path(x, y, nlambda = 2)),
                runs = 2, progress = FALSE
            )
        }
    )
    for (draw in draws) {
        first <- withr::with_seed(9, draw())
        expect_identical(lasting(withr::with_seed(9, draw())), lasting(first))
    }
})

# ---- saved results ---------------------------------------------------------

# What a user asks of a result. Where a class has no such method, the error is
# part of the answer.
answers <- function(object, newdata) {
    ask <- function(code) {
        tryCatch(suppressMessages(code), error = function(condition) {
            conditionMessage(condition)
        })
    }
    list(
        print = ask(utils::capture.output(print(object))),
        edges = ask(kliepnet::edges(object)),
        hubs = ask(kliepnet::hubs(object)),
        tidy = ask(generics::tidy(object)),
        glance = ask(generics::glance(object)),
        coef = ask(stats::coef(object)),
        matrix = ask(as.matrix(object)),
        predict = ask(stats::predict(object, newdata))
    )
}

test_that("what was saved says the same in a new session", {
    skip_on_cran()
    skip_if_not_installed("callr")
    found <- result_objects()
    newdata <- call_samples()$x
    file <- withr::local_tempfile()
    saveRDS(found, file)
    there <- callr::r(
        function(file, newdata, answers) {
            loadNamespace("kliepnet")
            lapply(readRDS(file), answers, newdata)
        },
        list(file, newdata, answers), libpath = .libPaths()
    )
    here <- lapply(found, answers, newdata)
    for (name in names(found)) {
        expect_identical(there[[!!name]], here[[!!name]])
    }
    # Not all of these are errors.
    expect_true(is.data.frame(there$select$edges))
    expect_true(is.numeric(there$change$predict))
})

# ---- plain R ---------------------------------------------------------------

# Features by their definition: columns, and the factor each belongs to.
plain_features <- function(z, degree = NULL) {
    values <- NULL
    factor <- NULL
    for (v in seq_len(ncol(z))) {
        for (u in seq_len(v)) {
            block <- if (is.null(degree)) z[, u] * z[, v] else if (u == v)
                sapply(seq_len(degree), function(p) z[, u]^p) else
                plain_monomials(z[, u], z[, v], degree)
            values <- cbind(values, block, deparse.level = 0)
            factor <- c(factor, rep(paste(u, v), NCOL(block)))
        }
    }
    list(values = values, factor = factor)
}

plain_monomials <- function(a, b, degree) {
    block <- NULL
    for (p in 0:degree) {
        for (q in 0:degree) {
            if (p + q >= 1 && p + q <= degree) block <- cbind(block, a^p * b^q)
        }
    }
    block
}

# log mean exp(H theta) - g'theta and its gradient.
ratio_loss <- function(numerator, denominator, sign = 1) {
    g <- sign * colMeans(numerator)
    h <- sign * denominator
    function(theta) {
        score <- as.vector(h %*% theta)
        weight <- exp(score - max(score))
        list(value = max(score) + log(mean(weight)) - sum(g * theta),
             gradient = as.vector(crossprod(h, weight / sum(weight))) - g)
    }
}

add_losses <- function(one, other) {
    function(theta) Map(`+`, one(theta), other(theta))
}

# Minimises loss + lambda1/2 |theta|^2 + lambda2 sum_t |theta_t| by proximal
# gradient steps, halved until they go down far enough. A loss is Inf where it
# is not defined.
plain_fit <- function(loss, factor, lambda1, lambda2, steps = 20000) {
    smooth <- function(theta) {
        at <- loss(theta)
        list(value = at$value + lambda1 / 2 * sum(theta^2),
             gradient = at$gradient + lambda1 * theta)
    }
    theta <- numeric(length(factor))
    number <- match(factor, unique(factor))
    length <- 1
    for (step in seq_len(steps)) {
        here <- smooth(theta)
        repeat {
            moved <- theta - length * here$gradient
            norm <- sqrt(rowsum(moved^2, number))[number]
            moved <- moved * pmax(0, 1 - length * lambda2 / norm)
            change <- moved - theta
            bound <- here$value + sum(here$gradient * change) +
                sum(change^2) / (2 * length)
            there <- smooth(moved)$value
            if (is.finite(there) && there <= bound + 1e-14) break
            length <- length / 2
        }
        theta <- moved
        if (max(abs(change)) < 1e-10 * length) break
        length <- length * 1.2
    }
    norms <- tapply(theta, factor, function(part) sqrt(sum(part^2)))
    list(theta = theta, norms = norms,
         objective = smooth(theta)$value + lambda2 * sum(norms))
}

fitted_norms <- function(change, factors) {
    rows <- change$coefficients
    by <- paste(rows$from, rows$to)
    norms <- tapply(rows$value, factor(by, factors), function(part) {
        sqrt(sum(part^2))
    }, default = 0)
    norms
}

expect_agreement <- function(change, plain) {
    expect_equal(change$diagnostics$objective, plain$objective,
                 tolerance = 1e-8)
    expect_equal(as.vector(fitted_norms(change, names(plain$norms))),
                 as.vector(plain$norms), tolerance = 1e-4)
    expect_gt(sum(plain$norms > 1e-8), 1)
    expect_true(any(plain$norms == 0))
}

small <- lapply(random_pair(4, 30, 25, seed = 7), scale)
exact <- kliep_control(tol = 1e-12, max_iter = 1e5)

plain_losses <- function(features) {
    x <- features(small$x)
    y <- features(small$y)
    forward <- ratio_loss(x$values, y$values)
    backward <- ratio_loss(y$values, x$values, -1)
    list(factor = x$factor, "p/q" = forward, "q/p" = backward,
         symmetric = add_losses(forward, backward))
}

test_that("fits agree with proximal gradients in plain R", {
    for (degree in list(NULL, 2)) {
        features <- if (is.null(degree)) feat_gaussian() else
            feat_polynomial(degree, basis = "raw")
        plain <- plain_losses(function(z) plain_features(z, degree))
        directions <- c("p/q", if (is.null(degree)) c("q/p", "symmetric"))
        for (direction in directions) {
            lambda2 <- if (direction == "symmetric") 0.3 else 0.15
            change <- paper_change(small$x, small$y, features, lambda1 = 0.2,
                                   lambda2 = lambda2, direction = direction,
                                   standardize = "none", control = exact)
            expect_agreement(change, plain_fit(plain[[direction]],
                                               plain$factor, 0.2, lambda2))
        }
    }
})

test_that("fits with the Gaussian normaliser agree with plain R", {
    second <- lapply(small, function(z) crossprod(z) / nrow(z))
    upper <- upper.tri(diag(4), diag = TRUE)
    places <- which(upper, arr.ind = TRUE)
    loss <- function(theta) {
        e <- matrix(0, 4, 4)
        e[upper] <- theta
        e <- e + t(e)
        m <- diag(4) - second$y %*% e
        if (any(Re(eigen(m, only.values = TRUE)$values) <= 0)) {
            return(list(value = Inf, gradient = NA))
        }
        slope <- solve(m, second$y) - second$x
        # E has theta_uv twice off the diagonal, and 2 theta_uu on it.
        list(value = -0.5 * log(det(m)) - 0.5 * sum(second$x * e),
             gradient = ((slope + t(slope)) / 2)[upper])
    }
    plain <- plain_fit(loss, paste(places[, 1], places[, 2]), 0.2, 0.15)
    change <- paper_change(small$x, small$y, lambda1 = 0.2, lambda2 = 0.15,
                           normalizer = "gaussian", standardize = "none",
                           control = exact)
    expect_agreement(change, plain)
})
