test_that("a series has its change at the known time", {
    set.seed(1)
    pair <- sim_keywords(times = 50, change_at = 31)
    expect_equal(names(pair$series), c("time", colnames(pair$x)))
    expect_equal(pair$series$time, 1:50)
    counts <- as.matrix(pair$series[-1])
    expect_equal(counts[1:30, ], pair$y, ignore_attr = TRUE)
    expect_equal(counts[31:50, ], pair$x, ignore_attr = TRUE)
    expect_true(all(counts >= 0 & counts == round(counts)))
    expect_equal(pair$settings$change_at, 31)
    expect_equal(nrow(sim_keywords(times = 7)$y), 3)
})

test_that("topics tie their keywords, and the event ties its own", {
    topics <- list(c("a", "b", "c"), c("d", "e"), "f")
    set.seed(1)
    pair <- sim_keywords(topics = topics, event = c("f", "a", "b"), tie = 0.3)
    before <- as.matrix(pair$networks$y)
    expect_equal(colnames(before), letters[1:6])
    expect_true(all(diag(before) == 1))
    tied <- which(upper.tri(before) & before != 0, arr.ind = TRUE)
    expect_setequal(paste0(letters[tied[, 1]], letters[tied[, 2]]),
                    c("ab", "ac", "bc", "de"))
    expect_true(all(before[tied] == -0.3))
    # a and b shared a topic already.
    expect_setequal(paste0(pair$truth$from, pair$truth$to), c("af", "bf"))
    expect_equal(pair$truth$change, c(0.3, 0.3))
    expect_equal(pair$settings$event, c("f", "a", "b"))
})

test_that("a random event takes different topics first", {
    topic <- rep(1:3, each = 4)
    for (seed in 1:10) {
        set.seed(seed)
        event <- sim_keywords(times = 10)$settings$event
        place <- match(event, unlist(keyword_topics()))
        expect_setequal(topic[place], 1:3)
        event <- sim_keywords(times = 10, event = 5,
                              tie = 0.15)$settings$event
        place <- match(event, unlist(keyword_topics()))
        expect_length(unique(event), 5)
        expect_setequal(tabulate(topic[place]), c(1, 2))
    }
})

test_that("moments are those of the Poisson log-normal distribution", {
    n <- 20000
    set.seed(2)
    pair <- sim_keywords(times = 2 * n, rate = seq(5, 27, by = 2),
                         event = c("storm", "goal"), burst = 1.5)
    for (which in c("x", "y")) {
        counts <- pair[[which]]
        rate <- pair$settings$rate
        if (which == "x") {
            rate <- rate * ifelse(colnames(counts) %in% c("storm", "goal"),
                                  1.5, 1)
        }
        covariance <- 0.5^2 * solve(as.matrix(pair$networks[[which]]))
        # E c_u c_v = mu_u mu_v exp(s_uv), and E c_u (c_u - 1) for u = v; the
        # largest of 78 stays within five standard errors.
        expected <- outer(rate, rate) * exp(covariance)
        found <- crossprod(counts) / n
        diag(found) <- colMeans(counts * (counts - 1))
        squares <- crossprod(counts^2) / n
        diag(squares) <- colMeans((counts * (counts - 1))^2)
        se <- sqrt((squares - found^2) / n)
        expect_lt(max(abs(found - expected) / se), 5)
        se <- sqrt((rate + rate^2 * (exp(diag(covariance)) - 1)) / n)
        expect_lt(max(abs(colMeans(counts) - rate) / se), 5)
    }
})

test_that("persistence is the autocorrelation of what lies behind", {
    set.seed(3)
    n <- 4000
    pair <- sim_keywords(times = 2 * n, rate = 5000, persistence = 0.7,
                         change_at = n + 1)
    latent <- log(pair$y)
    found <- apply(latent, 2, function(z) cor(z[-1], z[-n]))
    # sqrt((1 - phi^2) / n) is the standard error; counting costs 0.002.
    expect_lt(max(abs(found - 0.7)), 5 * sqrt((1 - 0.7^2) / n) + 0.002)
    independent <- sim_keywords(times = 2 * n, rate = 5000)$y
    found <- apply(log(independent), 2, function(z) cor(z[-1], z[-n]))
    expect_lt(max(abs(found)), 5 / sqrt(n))
})

test_that("set.seed() decides everything", {
    draw <- function(seed) {
        set.seed(seed)
        sim_keywords(times = 20)
    }
    expect_identical(draw(1), draw(1))
    expect_false(identical(draw(1)$series, draw(2)$series))
})

test_that("the event can be found", {
    set.seed(1)
    pair <- sim_keywords(times = 2000)
    found <- edges(kliep_path(log1p(pair$x), log1p(pair$y)))
    found <- utils::head(found[order(-found$enters), ], 3)
    key <- function(edges) {
        paste(pmin(edges$from, edges$to), pmax(edges$from, edges$to))
    }
    expect_setequal(key(found), key(pair$truth))
    expect_true(all(found$weight > 0))
})

test_that("bad settings get a classed error", {
    expect_error(sim_keywords(times = 3), class = "kliep_error_size")
    expect_error(sim_keywords(times = 10, change_at = 11), "last of the 10",
                 class = "kliep_error_argument")
    expect_error(sim_keywords(change_at = 1), class = "kliep_error_argument")
    expect_error(sim_keywords(topics = "a"), class = "kliep_error_argument")
    expect_error(sim_keywords(topics = list("a", "a")),
                 class = "kliep_error_names")
    expect_error(sim_keywords(topics = list("a", "time")), "`time`",
                 class = "kliep_error_names")
    expect_error(sim_keywords(topics = list("a")), class = "kliep_error_size")
    expect_error(sim_keywords(event = c("storm", "snow")), "`snow`",
                 class = "kliep_error_argument")
    expect_error(sim_keywords(event = 13), "12 keywords",
                 class = "kliep_error_argument")
    expect_error(sim_keywords(event = "storm"),
                 class = "kliep_error_argument")
    expect_error(sim_keywords(event = 1), class = "kliep_error_argument")
    expect_error(sim_keywords(rate = 1:2), "12 keywords",
                 class = "kliep_error_argument")
    expect_error(sim_keywords(rate = -1), "positive",
                 class = "kliep_error_argument")
    expect_error(sim_keywords(topics = list("a", NA_character_)),
                 class = "kliep_error_names")
    expect_error(sim_keywords(tie = 1.5), class = "kliep_error_argument")
    expect_error(sim_keywords(tie = 0.4), "Lower `tie`",
                 class = "kliep_error_positive_definite")
    expect_error(sim_keywords(persistence = 1), class = "kliep_error_argument")
    expect_error(sim_keywords(burst = 0), class = "kliep_error_argument")
    expect_error(sim_keywords(spread = -1), class = "kliep_error_argument")
})

test_that("a pair prints its series", {
    set.seed(1)
    expect_snapshot(sim_keywords(times = 60, event = c("wind", "price")))
})
