# Small cases of every routine of the Rust library, for tools/memcheck.sh:
# each solver, family, penalty and direction once, what is refused, what
# panics, and what is stopped in the middle. Nothing here needs to be right,
# only to run: what it computes is tested elsewhere.
#   memcheck.R <file to write the number of cases to>
library(kliepnet)
set.seed(1)
cases <- 0L

run <- function(expression) {
    force(expression)
    cases <<- cases + 1L
}

refused <- function(expression, class = "error") {
    caught <- tryCatch({
        expression
        NULL
    }, error = identity, interrupt = identity)
    stopifnot(inherits(caught, class))
    cases <<- cases + 1L
}

control <- kliep_control(tol = 1e-4, max_iter = 200, threads = 2)
d <- 5L
x <- matrix(rnorm(15 * d), ncol = d)
y <- matrix(rnorm(18 * d), ncol = d)

fit <- function(...) {
    kliep_path(x, y, ..., nlambda = 3, lambda_min_ratio = 0.3,
               control = control, progress = FALSE)
}

# ---- paths -----------------------------------------------------------------

for (solver in c("auto", "primal", "dual")) run(fit(solver = solver))
for (direction in c("p/q", "q/p", "symmetric")) {
    run(fit(direction = direction, normalizer = "empirical"))
}
for (penalty in c("adaptive", "mcp")) {
    run(fit(penalty = penalty, spec = kliep_spec_paper()))
}
run(fit(lambda1 = 0))
run(fit(robust = 0.2, spec = kliep_spec_paper()))
run(fit(normalizer = "gaussian"))
run(fit(standardize = "pooled"))
run(fit(features = feat_polynomial(3)))
run(fit(features = feat_rbf()))
run(fit(features = feat_nonparanormal(2)))
run(fit(features = feat_nonparanormal()))
run(fit(features = feat_custom(function(u, v) u * v)))
path <- fit()
run(predict(path, y, lambda2 = min(path$lambda2)))
# More factors than are stored at once: by working sets.
wide <- matrix(rnorm(20 * 150), ncol = 150)
run(kliep_path(wide[1:9, ], wide[10:20, ], nlambda = 2,
               spec = kliep_spec_paper(),
               lambda_min_ratio = 0.8, control = control, progress = FALSE))
run(kliep_select(x, y, folds = 2, nlambda = 3, control = control))
run(kliep_debias(x, y, edges = data.frame(from = 1:2, to = 3:4), n_boot = 20,
                control = control, progress = FALSE))
run(kliep_debias(x, y, edges = data.frame(from = 1L, to = 2L), n_boot = 20,
                estimator = "one_step", refit = FALSE, control = control,
                progress = FALSE))

# One pass, with the settings that the timing table asks for it with.
source(file.path("bench", "timing.R"))
run(kliepnet:::rust_full_pass(x, y, gaussian_terms(),
                              pass_settings(list(x = x, y = y), 2L)))

# ---- methods to compare with -----------------------------------------------

run(flasso_path(x, y, nlambda = 3, control = control, progress = FALSE))
run(dtrace_path(x, y, nlambda = 3, control = control, progress = FALSE))
for (method in list(is_flasso_path, is_glasso_path)) {
    run(method(x, y, nlambda = 2, points = 60, seed = 1, control = control,
               progress = FALSE))
}

# ---- simulators ------------------------------------------------------------

run(sim_gaussian(d = 6, n = 10, n_changed = 2))
run(sim_diamond(d = 9, n = 10, burn_in = 10, thin = 1, chains = 2))
theta <- ising_chain(4)
run(sim_ising(theta, ising_change(theta, 1), n = 10, burn_in = 10, thin = 1,
              chains = 2))
run(sim_genes(n = 5))

# ---- failures and interrupts -----------------------------------------------

bad <- x
bad[1, 1] <- 1e200
refused(kliep_path(bad, y, standardize = "none", nlambda = 2,
                   control = control, progress = FALSE))
for (place in c("main", "worker", "pool")) {
    refused(kliepnet:::rust_probe_panic("on purpose", place),
            "kliep_error_panic")
}
refused(kliepnet:::rust_probe_wait("no number"), "kliep_error_argument")
run(kliepnet:::rust_probe_wait(0.3, function(done, total) stop("drawing")))
refused({
    setTimeLimit(elapsed = 1, transient = TRUE)
    kliepnet:::rust_probe_wait(600)
})
setTimeLimit()
refused(kliepnet:::rust_probe_wait(600, function(done, total) {
    tools::pskill(Sys.getpid(), tools::SIGINT)
}), "interrupt")

# Everything that can be freed is, so that what is left is lost.
rm(list = setdiff(ls(), "cases"))
invisible(gc())
writeLines(as.character(cases), commandArgs(TRUE)[[1L]])
