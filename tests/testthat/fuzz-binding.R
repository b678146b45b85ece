# Run in a process of its own by test-fuzz-binding.R and `make bench
# ONLY=faults`: every routine of the Rust library, called directly with one
# argument, or one field of a list, replaced.
#
#   Rscript fuzz-binding.R <log> <complaints> <values for each place>
#
# Writes each call to the log before it is made, and what is wrong with how it
# ended to the complaints.

arguments <- commandArgs(TRUE)
log <- file(arguments[1], "w")
complaints <- file(arguments[2], "w")
values <- as.integer(arguments[3])

space <- asNamespace("kliepnet")
set.seed(1)
x <- matrix(rnorm(36), 12)
y <- matrix(rnorm(30), 10)
settings <- list(
    lambda1 = 0.1, lambda2 = NULL, nlambda = 3L, lambda_min_ratio = 0.3,
    penalty_factor = c(1, 1), penalty = "adaptive", gamma = 2,
    first_share = 0.5,
    robust = 0.1, standardize = "within", direction = "p/q",
    normalizer = "empirical", solver = "auto", tol = 1e-6, max_iter = 50L,
    threads = 1L, most_edges = NULL
)
gaussian <- utils::modifyList(settings, list(
    penalty = "group_lasso", normalizer = "gaussian", robust = 0
))
given <- settings
given$lambda2 <- c(0.3, 0.1)
products <- space$rust_features(kliepnet::feat_polynomial(2))
plain <- space$rust_features(kliepnet::feat_gaussian())
table <- list(kind = "table", values = matrix(rnorm(22 * 3), 22),
              sizes = c(1L, 2L))
rbf <- list(kind = "rbf", sigma = 1)
network <- list(genes = 3, from = c(1L, 2L), to = c(2L, 3L), kind = c(1L, 2L),
                half = c(0.5, 0.5), hill = c(2, 2))
schedule <- list(burn_in = 2L, thin = 1L, chains = 2L, threads = 1L)
symmetric <- matrix(c(2, 0.3, 0, 0.3, 2, 0.3, 0, 0.3, 2), 3)
coupling <- matrix(c(0, 0.3, 0, 0.3, 0, 0.3, 0, 0.3, 0), 3)
theta <- list(step = 1:2, from = c(1L, 1L), to = c(2L, 3L), term = c(1L, 1L),
              value = c(0.1, 0.2))
inference <- list(standardize = "within", lambda = 0.2, row_lambda = 0.2,
                  estimator = "one_step", refit = TRUE, tol = 1e-6,
                  max_iter = 50L, n_boot = 5L, seed = 1, threads = 1L)
twelve <- matrix(rnorm(36), 12)
importance <- c(settings[c("lambda1", "lambda2", "nlambda", "lambda_min_ratio",
                           "penalty_factor", "tol", "max_iter", "threads")],
                list(method = "is_flasso", x_rows = 12L))

units <- list(x = rep(1:4, each = 3L), y = rep(5:9, each = 2L))

routines <- list(
    fit_path = list(x, y, products, settings, NULL),
    fit_path = list(x, y, plain, gaussian, NULL),
    fit_path = list(x, y, table, given, NULL),
    fit_path = list(x, y, rbf, given, NULL),
    fit_paths = list(list(list(x, y), list(y, x)), products,
                     list(settings, settings)),
    score_paths = list(list(list(x, y, x, y)), products, list(settings), NULL),
    score_paths = list(list(list(x, y, x, y), list(y, x, y, x)), plain,
                       list(gaussian, gaussian), 0.5),
    logistic_scores = list(x, y),
    full_pass = list(x, y, products, settings),
    feature_scores = list(x, list(center = numeric(3), scale = rep(1, 3)),
                          plain, theta, 2L),
    standardize_samples = list(x, y, "within"),
    standardize_alone = list(x),
    infer_edges = list(x, y, plain, list(from = 1L, to = 2L), inference, NULL),
    score_edges = list(list(values = x, squares = x^2),
                       list(values = y, squares = y^2),
                       list(from = 1:2, to = 2:3), units, 1L, NULL),
    moderate_tests = list(list(numerator = c(1, 2), variance = c(1, 2),
                               model = c(1, 1), freedom = c(9, 9))),
    shuffle_null = list(x, y, cbind(1:12, 11:22), units, 1L, NULL),
    neighbour_tests = list(
        list(x, y), list(list(x = 1L, y = 2L, units = units)), c(1, 0.5), 1L,
        NULL
    ),
    logistic_tests = list(matrix(rnorm(22 * 3), 22), 12L, c(1L, 2L), list(
        firth = FALSE, support = 1L, tol = 1e-8, max_iter = 50L, threads = 1L,
        units = rep(1:11, each = 2L)
    ), NULL),
    logistic_shuffles = list(matrix(rnorm(22 * 3), 22), c(1L, 2L),
                             cbind(1:12, 11:22), 1L, NULL),
    beyond_features = list(
        matrix(rnorm(22 * 9), 22), matrix(rnorm(22 * 18), 22),
        list(from = 1:2, to = c(2L, 3L)), 1L
    ),
    draw_gaussian = list(symmetric, 5L, 1),
    draw_diamond = list(symmetric, 5L, schedule, 1),
    draw_ising = list(coupling, 5L, schedule, 1),
    top_regulators = list(network),
    draw_genes = list(network, 5L, list(
        biological_noise = 0.1, measurement_noise = 0.1, threads = 1L
    ), 1),
    fit_flasso = list(x, y, settings, NULL),
    fit_dtrace = list(x, y, settings, NULL),
    fit_importance = list(rbind(x, y), twelve, numeric(12), plain, importance,
                          NULL),
    probe_panic = list("message", "absent"),
    probe_wait = list(0, NULL)
)
registered <- names(getDLLRegisteredRoutines("kliepnet")[[".Call"]])
registered <- sub("^wrap__", "", grep("^wrap__", registered, value = TRUE))
# extendr's own, which write R code for other packages.
registered <- grep("^(get|make)_.*_(metadata|wrappers)$", registered,
                   value = TRUE, invert = TRUE)
untested <- setdiff(registered, names(routines))
if (length(untested) > 0) writeLines(paste("untested:", untested), complaints)

wrong_values <- list(
    "NULL" = NULL, "list()" = list(), "list(1)" = list(1), "'a'" = "a",
    "NA_character_" = NA_character_, "character(0)" = character(),
    "1L" = 1L, "NA_integer_" = NA_integer_, "-1L" = -1L, "0L" = 0L,
    "integer max" = .Machine$integer.max, "0" = 0, "-1" = -1, "0.5" = 0.5,
    "1e-300" = 1e-300, "NA_real_" = NA_real_, "NaN" = NaN, "Inf" = Inf,
    "-Inf" = -Inf, "1e300" = 1e300, "2^40" = 2^40, "2^53" = 2^53,
    "numeric(0)" = numeric(), "1:3" = 1:3, "c(1, NA, -2)" = c(1, NA, -2),
    "c(-1, 0)" = c(-1, 0), "zeros" = matrix(0, 12, 3),
    "0 x 0" = matrix(0, 0, 0), "0 x 3" = matrix(0, 0, 3),
    "3 x 0" = matrix(0, 3, 0),
    "1 x 3" = matrix(1, 1, 3), "12 x 2" = matrix(rnorm(24), 12),
    "NaN matrix" = matrix(NaN, 12, 3), "huge" = matrix(1e300, 12, 3),
    "integer matrix" = matrix(1:9, 3), "negative" = matrix(-1L, 2, 2),
    "large exponents" = matrix(1000000L, 2, 1),
    "indefinite" = matrix(c(1, 2, 3, 2, 1, 2, 3, 2, 1), 3),
    "array" = array(1, c(2, 3, 2)), "TRUE" = TRUE, "NA" = NA,
    "function" = function(...) TRUE, "environment" = globalenv(),
    "data frame" = data.frame(a = 1), "pairlist" = pairlist(a = 1),
    "raw" = as.raw(1), "complex" = 1i, "symbol" = as.name("x")
)
wrong_names <- function() {
    sample(names(wrong_values), min(values, length(wrong_values)))
}

# Where there is none to be had: no ridge, no weights, nothing that moved.
allowed_nan <- c("gap", "effective_size", "effective", "se", "kkt")

# A value or a failure of a kind; text that a panic would leave counts as one.
judge <- function(value, endless) {
    if (inherits(value, "kliep_failure")) return(judge_failure(value, endless))
    # There is nothing to say about a step without a minimum.
    if (!is.list(value) || "unbounded" %in% value$status) return(NULL)
    bad <- vapply(value, function(part) {
        is.numeric(part) && any(is.nan(part))
    }, NA)
    names <- setdiff(names(value)[bad], allowed_nan)
    if (length(names) > 0) paste("NaN in", paste(names, collapse = ", "))
}

judge_failure <- function(failure, endless) {
    known <- c("argument", "overflow", "numeric", "memory",
               if (endless) "limit")
    if (failure$kind %in% known && nzchar(failure$message)) return(NULL)
    paste0(failure$kind, ": ", failure$message)
}

attempt <- function(name, what, call) {
    label <- paste0(name, ": ", what)
    writeLines(label, log)
    flush(log)
    # What may take as long as it is told to.
    endless <- name == "probe_wait" || grepl("^(burn_in|thin) = ", what)
    setTimeLimit(elapsed = if (endless) 0.5 else 600, transient = TRUE)
    said <- tryCatch(
        judge(do.call(.Call, c(list(space[[paste0("wrap__", name)]]), call),
                      quote = TRUE), endless),
        error = function(condition) paste("error:", conditionMessage(condition))
    )
    setTimeLimit()
    if (length(said) > 0) {
        writeLines(paste0(label, " -> ", said), complaints)
        flush(complaints)
    }
}

for (index in seq_along(routines)) {
    name <- names(routines)[index]
    call <- routines[[index]]
    attempt(name, "as it should be", call)
    for (position in seq_along(call)) {
        for (wrong in wrong_names()) {
            tried <- call
            tried[position] <- list(wrong_values[[wrong]])
            attempt(name, paste0("argument ", position, " = ", wrong), tried)
        }
        if (!is.list(call[[position]])) next
        for (field in names(call[[position]])) {
            tried <- call
            tried[[position]][[field]] <- NULL
            attempt(name, paste0("no field ", field), tried)
            for (wrong in wrong_names()) {
                tried <- call
                tried[[position]][field] <- list(wrong_values[[wrong]])
                attempt(name, paste0(field, " = ", wrong), tried)
            }
        }
        tried <- call
        tried[[position]]$another <- 1
        attempt(name, "a field too many", tried)
    }
}
writeLines("whole", log)
