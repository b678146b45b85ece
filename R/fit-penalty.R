# How strong the penalties are: lambda1, the grid of lambda2, and the penalty
# factor of every factor.

# ---- lambda ----------------------------------------------------------------

check_lambda1 <- function(lambda1) {
    check_lambda_values(lambda1, "lambda1")
    if (length(lambda1) != 1L) {
        stop_kliep("lambda", paste0("`lambda1` must be one number: got ",
                                    length(lambda1), "."))
    }
    as.double(lambda1)
}

# A decreasing grid without names, or NULL for the default one.
check_lambda2 <- function(lambda2, arg = "lambda2") {
    if (is.null(lambda2)) return(NULL)
    check_lambda_values(lambda2, arg)
    twice <- unique(lambda2[duplicated(lambda2)])
    if (length(twice) > 0L) {
        stop_kliep(
            "lambda",
            paste0("`", arg, "` has the same value more than once: ",
                   paste(format(utils::head(twice, 5L), trim = TRUE),
                         collapse = ", "), "."),
            hint = paste0("Pass `unique(", arg, ")`.")
        )
    }
    if (is.unsorted(-lambda2)) {
        inform_kliep("lambda", paste0("`", arg, "` was not decreasing and has ",
                                      "been sorted, largest value first."))
        lambda2 <- sort(lambda2, decreasing = TRUE)
    }
    as.double(lambda2)
}

check_lambda_values <- function(lambda, arg) {
    if (!is.numeric(lambda) || length(lambda) == 0L) {
        stop_kliep("lambda", paste0("`", arg, "` must be numeric: got ",
                                    describe(lambda), "."))
    }
    bad <- which(!is.finite(lambda) | lambda < 0)
    if (length(bad) > 0L) {
        where <- if (length(lambda) > 1L) paste(" at position", bad[1L])
        stop_kliep(
            "lambda",
            paste0("`", arg, "` must be finite and not negative: got ",
                   format(lambda[bad[1L]]), where, ".")
        )
    }
}

# Every step of a path is kept.
check_nlambda <- function(nlambda) {
    as.integer(check_whole(nlambda, "nlambda", "lambda", most = 100000))
}

check_lambda_min_ratio <- function(lambda_min_ratio, n_factors, n) {
    if (is.null(lambda_min_ratio)) {
        return(default_lambda_min_ratio(n_factors, n))
    }
    check_fraction(lambda_min_ratio, "lambda_min_ratio", "lambda")
}

# ---- penalty factors -------------------------------------------------------

# Either c(single, edge), or one number for each factor in the order of
# `m[upper.tri(m, diag = TRUE)]`, or for cliques one for each of them.
check_penalty_factor <- function(penalty_factor, variables, features) {
    if (is.null(penalty_factor)) penalty_factor <- 1
    check_penalty_values(penalty_factor)
    if (features$kind == "cliques") {
        return(penalty_of_cliques(penalty_factor, length(features$cliques)))
    }
    d <- length(variables)
    penalty <- if (is.matrix(penalty_factor)) {
        penalty_from_matrix(penalty_factor, variables)
    } else if (length(penalty_factor) == 1L) {
        c(single = penalty_factor[[1L]], edge = penalty_factor[[1L]])
    } else if (setequal(names(penalty_factor), c("single", "edge"))) {
        penalty_factor[c("single", "edge")]
    } else if (length(penalty_factor) == d * (d + 1) / 2) {
        as.vector(penalty_factor)
    } else {
        stop_kliep(
            "penalty_factor",
            paste0("`penalty_factor` has the wrong length: got ",
                   length(penalty_factor), "."),
            hint = paste0(
                "Give one number, `c(single = , edge = )`, a symmetric ", d,
                " x ", d, " matrix, or its ",
                format(d * (d + 1) / 2, big.mark = ","),
                " values `m[upper.tri(m, diag = TRUE)]`.")
        )
    }
    storage.mode(penalty) <- "double"
    penalty
}

check_penalty_values <- function(penalty_factor) {
    if (!is.numeric(penalty_factor)) {
        stop_kliep("penalty_factor",
                   paste0("`penalty_factor` must be numeric: got ",
                          describe(penalty_factor), "."))
    }
    bad <- which(is.na(penalty_factor) | penalty_factor < 0)
    if (length(bad) > 0L) {
        stop_kliep(
            "penalty_factor",
            paste0("`penalty_factor` must not be negative or missing: got ",
                   format(penalty_factor[[bad[1L]]]), " at position ",
                   bad[1L], "."),
            hint = "0 leaves a factor unpenalised and `Inf` keeps it out."
        )
    }
    if (!any(penalty_factor > 0 & is.finite(penalty_factor))) {
        stop_kliep(
            "penalty_factor",
            paste("`penalty_factor` must be positive and finite for at least",
                  "one factor: there is nothing for `lambda2` to act on.")
        )
    }
    penalty_factor
}

penalty_of_cliques <- function(penalty_factor, n_cliques) {
    if (length(penalty_factor) %in% c(1L, n_cliques)) {
        return(rep_len(as.double(penalty_factor), n_cliques))
    }
    stop_kliep(
        "penalty_factor",
        paste0("`penalty_factor` has the wrong length: got ",
               length(penalty_factor), "."),
        hint = paste0("Give one number, or one for each of the ", n_cliques,
                      " sets of variables.")
    )
}

penalty_from_matrix <- function(penalty_factor, variables) {
    d <- length(variables)
    if (!identical(dim(penalty_factor), c(d, d))) {
        stop_kliep(
            "penalty_factor",
            paste0("`penalty_factor` must be ", d, " x ", d, ": got ",
                   paste(dim(penalty_factor), collapse = " x "), ".")
        )
    }
    rows <- rownames(penalty_factor)
    columns <- colnames(penalty_factor)
    if (!is.null(rows) && !is.null(columns)) {
        if (!setequal(rows, variables) || !setequal(columns, variables)) {
            stop_kliep(
                "penalty_factor",
                paste0("`penalty_factor` must be named after the variables; ",
                       "it does not have ",
                       name_some(c(setdiff(variables, rows),
                                   setdiff(variables, columns))), "."),
                hint = "Remove its dimnames to use the column order of `x`."
            )
        }
        penalty_factor <- penalty_factor[variables, variables]
    }
    if (!isSymmetric(unname(penalty_factor))) {
        stop_kliep(
            "penalty_factor",
            "`penalty_factor` must be symmetric: an edge has one weight.",
            hint = "Pass `pmax(m, t(m))` to take the larger of the two."
        )
    }
    penalty_factor[upper.tri(penalty_factor, diag = TRUE)]
}
