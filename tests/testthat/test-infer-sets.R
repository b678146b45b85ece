# P-values of variables and of sets of them.

one <- kliep_control(threads = 1)
pair <- withr::with_seed(6, sim_gaussian(d = 12, n = 400, n_changed = 3,
                                         edge = 0.4, change = -0.8))
fit <- withr::with_seed(1, kliep_infer(pair$x, pair$y, control = one))

test_that("hubs have p-values that combine those of their edges", {
    found <- hubs(fit)
    expect_identical(names(found)[6:7], c("p_value", "q_value"))
    expect_lt(max(found$q_value), 0.1)
    all <- hubs(fit, all = TRUE)
    expect_setequal(all$variable, colnames(pair$x))
    expect_equal(all$q_value, p.adjust(all$p_value, "BH"))
    own <- fit$estimates$from == all$variable[12] |
        fit$estimates$to == all$variable[12]
    p <- fit$estimates$p_value[own]
    expect_length(p, 11)
    expect_equal(all$p_value[12], 0.5 - atan(mean(tan((0.5 - p) * pi))) / pi)
})

test_that("sets with changes are told from sets without", {
    changed <- unique(c(pair$truth$from, pair$truth$to))
    sets <- list(changed = changed, none = setdiff(colnames(pair$x), changed),
                 unknown = c("a", "b", "c"))
    found <- withr::with_seed(1, kliep_sets(fit, sets))
    expect_identical(found$set, c("changed", "none"))
    expect_lt(found$p_value[1], 0.01)
    expect_lt(found$p_random[1], 0.05)
    expect_gt(found$p_value[2], 0.1)
    expect_identical(found$n_edges[1], as.integer(choose(found$size[1], 2)))
    expect_gte(found$n_changed[1], 3L)
})

test_that("sets come from GMT files", {
    file <- withr::local_tempfile()
    names <- colnames(pair$x)
    writeLines(c(paste(c("first", "of some", names[1:4]), collapse = "\t"),
                 paste(c("second", "", names[5:9], "other"), collapse = "\t"),
                 "empty\tnothing"), file)
    found <- withr::with_seed(1, kliep_sets(fit, file))
    expect_setequal(found$set, c("first", "second"))
    expect_setequal(found$size, 4:5)
})

test_that("what is not a set is refused", {
    expect_error(kliep_sets(pair, list(a = "b")), "tests of all edges",
                 class = "kliep_error_type")
    expect_error(kliep_sets(fit, list("V1")), "named list",
                 class = "kliep_error_sets")
    expect_error(kliep_sets(fit, list(a = c("p", "q"))), "of the same kind",
                 class = "kliep_error_sets")
    expect_error(kliep_sets(fit, "no such file"), "no file",
                 class = "kliep_error_sets")
})

test_that("sets that are left out are named, and groups say which fit", {
    sets <- list(first = colnames(pair$x)[1:4], few = "V1", other = c("p", "q"))
    expect_message(kliep_sets(fit, sets), "2 sets .* left out: `few`, `other`",
                   class = "kliep_message_sets")
    groups <- structure(list(contrasts = data.frame(contrast = "b - a")),
                        class = "kliep_groups")
    expect_error(kliep_sets(groups, sets), "fits[[\"b - a\"]]", fixed = TRUE)
})
