# The estimator of the paper, which most tests of solvers and certificates are
# about, whatever the default is.
paper_path <- function(x, y, ...) {
    kliep_path(x, y, ..., spec = kliep_spec_paper())
}

paper_change <- function(x, y, ...) {
    kliep_change(x, y, ..., spec = kliep_spec_paper())
}

# What a path has at the smallest lambda2 with a fit.
last_lambda2 <- function(path) min(path$lambda2[fitted_steps(path)])

last_coef <- function(path, ...) coef(path, last_lambda2(path), ...)

last_predict <- function(path, newdata, ...) {
    predict(path, newdata, last_lambda2(path), ...)
}

last_edges <- function(path) edges(path, last_lambda2(path))
