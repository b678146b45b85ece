# One thin function for each routine of the Rust library. They take what the
# check_*() functions have passed, and return the routine's value.

#' @useDynLib kliepnet, .registration = TRUE
NULL

rust_fit_path <- function(x, y, features, settings, on_progress = NULL) {
    call_rust(.Call(wrap__fit_path, x, y, features, settings,
                    shield_progress(on_progress)))
}

# Several at once: a list with one value, or failure, for each of `samples`.
rust_fit_paths <- function(samples, features, settings) {
    call_rust(.Call(wrap__fit_paths, lapply(samples, unname), features,
                    settings))
}

rust_score_paths <- function(samples, features, settings, most_fall = NULL) {
    call_rust(.Call(wrap__score_paths, lapply(samples, unname), features,
                    settings, most_fall))
}

rust_logistic_scores <- function(s_x, s_y) {
    call_rust(.Call(wrap__logistic_scores, s_x, s_y))
}

rust_feature_scores <- function(newdata, scaling, features, coefficients,
                                steps) {
    call_rust(.Call(wrap__feature_scores, newdata, scaling, features,
                    coefficients, steps))
}

rust_standardize_samples <- function(x, y, standardize) {
    call_rust(.Call(wrap__standardize_samples, x, y, standardize))
}

rust_standardize_alone <- function(sample) {
    call_rust(.Call(wrap__standardize_alone, sample))
}

rust_infer_edges <- function(x, y, features, edges, settings,
                             on_progress = NULL) {
    call_rust(.Call(wrap__infer_edges, x, y, features, edges, settings,
                    shield_progress(on_progress)))
}

rust_score_edges <- function(x, y, support, threads, on_progress = NULL,
                             units = NULL) {
    call_rust(.Call(wrap__score_edges, x, y, support, units, threads,
                    shield_progress(on_progress)))
}

rust_moderate_tests <- function(tests) {
    call_rust(.Call(wrap__moderate_tests, tests))
}

rust_shuffle_null <- function(x, y, shuffles, threads, on_progress = NULL,
                              units = NULL) {
    call_rust(.Call(wrap__shuffle_null, x, y, shuffles, units, threads,
                    shield_progress(on_progress)))
}

rust_neighbour_tests <- function(samples, contrasts, deltas, threads,
                                 on_progress = NULL) {
    call_rust(.Call(wrap__neighbour_tests, samples, contrasts, deltas, threads,
                    shield_progress(on_progress)))
}

rust_logistic_tests <- function(table, x_rows, groups, settings,
                                on_progress = NULL) {
    call_rust(.Call(wrap__logistic_tests, table, x_rows, groups, settings,
                    shield_progress(on_progress)))
}

rust_logistic_shuffles <- function(table, groups, shuffles, threads,
                                   on_progress = NULL) {
    call_rust(.Call(wrap__logistic_shuffles, table, groups, shuffles, threads,
                    shield_progress(on_progress)))
}

rust_beyond_features <- function(values, integrals, edges, threads) {
    call_rust(.Call(wrap__beyond_features, values, integrals, edges, threads))
}

rust_draw_gaussian <- function(precision, n, seed) {
    call_rust(.Call(wrap__draw_gaussian, precision, n, seed))
}

rust_draw_diamond <- function(network, n, schedule, seed) {
    call_rust(.Call(wrap__draw_diamond, network, n, schedule, seed))
}

rust_draw_ising <- function(theta, n, schedule, seed) {
    call_rust(.Call(wrap__draw_ising, theta, n, schedule, seed))
}

rust_top_regulators <- function(network) {
    call_rust(.Call(wrap__top_regulators, network))
}

rust_draw_genes <- function(network, n, settings, seed) {
    call_rust(.Call(wrap__draw_genes, network, n, settings, seed))
}

rust_fit_flasso <- function(x, y, settings, on_progress = NULL) {
    call_rust(.Call(wrap__fit_flasso, x, y, settings,
                    shield_progress(on_progress)))
}

rust_fit_dtrace <- function(x, y, settings, on_progress = NULL) {
    call_rust(.Call(wrap__fit_dtrace, x, y, settings,
                    shield_progress(on_progress)))
}

rust_fit_importance <- function(samples, points, log_base, features, settings,
                                on_progress = NULL) {
    call_rust(.Call(wrap__fit_importance, samples, points, log_base, features,
                    settings, shield_progress(on_progress)))
}

rust_full_pass <- function(x, y, features, settings) {
    call_rust(.Call(wrap__full_pass, x, y, features, settings))
}

# For the tests: fail on purpose, and wait on purpose.
rust_probe_panic <- function(message, place = c("main", "worker", "pool")) {
    call_rust(.Call(wrap__probe_panic, message, match.arg(place)))
}

rust_probe_wait <- function(seconds, on_progress = NULL) {
    call_rust(.Call(wrap__probe_wait, seconds, shield_progress(on_progress)))
}

# ---- from failures to conditions -------------------------------------------

# A routine returns its value, or a failure as a list: an R error raised in Rust
# would jump over frames that have to be left in order. By the time the list is
# here they have been left, and the failure becomes a condition.
call_rust <- function(value) {
    if (!inherits(value, "kliep_failure")) return(value)
    switch(
        value$kind,
        interrupted = resume_interrupt(),
        # R's own error, such as a time limit: pass it on as it came.
        limit = stop(value$message, call. = FALSE),
        panic = stop_kliep(
            "panic",
            paste0("Internal error: ", value$message, "."),
            hint = "This is a bug in kliepnet, not in the data: report it."
        ),
        stop_kliep(value$kind, value$message)
    )
}

# What R does on Ctrl-C: offer the condition to handlers, then give up what
# was being done, which is the prompt in a session and the end of a script.
resume_interrupt <- function() {
    signalCondition(structure(class = c("interrupt", "condition"), list()))
    cat("\n", file = stderr())
    invokeRestart("abort")
}

# Draws progress while Rust waits for it. Neither an error nor an interrupt may
# pass through Rust: errors in drawing are dropped, and an interrupt is handed
# down as FALSE.
shield_progress <- function(on_progress) {
    if (is.null(on_progress)) return(NULL)
    function(done, total) {
        tryCatch({
            on_progress(done, total)
            TRUE
        }, error = function(condition) TRUE,
        interrupt = function(condition) FALSE)
    }
}
