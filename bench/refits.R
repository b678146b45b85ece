# Rows of `users` on tall data, many refits and small calls; the works
# themselves are in refits_once.R.

refit_works <- function(work) {
    rbind(
        work("tall", paste("degree-4 polynomials, p/q, d = 9, n = 5,000,",
                           "50 lambda2"), 5.6),
        work("tall-symmetric", paste("degree-4 polynomials, symmetric, d = 9,",
                                     "n = 5,000, 50 lambda2"), 5.1),
        work("test-50", "kliep_test(), d = 50, n = 100, 100 shuffles", 5.4,
             "glmnet-50"),
        work("stability-50", "kliep_stability(), d = 50, n = 100, 100 halves",
             5.5),
        work("auto-11", "kliep_auto(), d = 11, n = 850", most = 2),
        work("select-11", paste("kliep_select(), Gaussian and polynomials of",
                                "degree 2 and 4, d = 11, n = 850")),
        work("small", "100 paths of 10 lambda2, d = 10, n = 100", 2)
    )
}
