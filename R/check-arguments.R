# One check_*() per argument: each returns the value in the form the fit wants,
# or stops with a classed error. Nothing past this file looks at raw input.

# ---- the two samples -------------------------------------------------------

# Both samples as double matrices with the same columns in the same order.
# Ising features bring their own coding of what a column holds.
check_samples <- function(x, y, features = NULL, least = 2L) {
    coded <- if (identical(features$family, "ising")) code_two_valued(x, y)
    x <- check_sample(if (is.null(coded)) x else coded$x, "x", least)
    y <- check_sample(if (is.null(coded)) y else coded$y, "y", least)
    y <- match_columns(x, y)
    variables <- colnames(x)
    if (is.null(variables)) variables <- colnames(y)
    if (is.null(variables)) variables <- paste0("V", seq_len(ncol(x)))
    if (ncol(x) < 2L) {
        stop_kliep(
            "size",
            paste0("`x` and `y` must have at least 2 columns: got ", ncol(x),
                   "."),
            hint = "An edge joins two variables, so one alone has no network."
        )
    }
    dimnames(x) <- dimnames(y) <- NULL
    list(x = x, y = y, variables = variables, coding = coded$coding)
}

check_sample <- function(sample, arg, least = 2L) {
    sample <- as_numeric_matrix(sample, arg)
    check_names(colnames(sample), arg)
    if (nrow(sample) < least) {
        stop_kliep(
            "size",
            paste0("`", arg, "` must have at least ",
                   count_of(least, "row"), " (observations): got ",
                   nrow(sample), "."),
            hint = "Rows are observations and columns are variables."
        )
    }
    check_finite(sample, arg)
    sample
}

as_numeric_matrix <- function(sample, arg) {
    if (inherits(sample, "Matrix")) sample <- as.matrix(sample)
    if (is.data.frame(sample)) {
        check_column_types(sample, arg)
        return(plain_matrix(data.matrix(sample), names(sample)))
    }
    if (!is.matrix(sample)) {
        stop_kliep(
            "type",
            paste0("`", arg, "` must be a numeric matrix or a data frame: got ",
                   describe(sample), "."),
            hint = "Rows are observations and columns are variables."
        )
    }
    if (!is.numeric(sample) && !is.logical(sample)) {
        stop_kliep(
            "numeric",
            paste0("`", arg, "` must hold numbers: got a matrix of type ",
                   typeof(sample), "."),
            hint = "Convert it first, for instance with `as.numeric()`."
        )
    }
    plain_matrix(sample, colnames(sample))
}

# Drops every attribute but size and column names, so that classes such as
# `table` cannot change what arithmetic and subsetting mean further down.
plain_matrix <- function(values, names) {
    matrix(as.double(values), nrow(values), ncol(values),
           dimnames = if (!is.null(names)) list(NULL, names))
}

check_column_types <- function(sample, arg) {
    is_number <- vapply(sample, function(column) {
        (is.numeric(column) || is.logical(column)) && is.null(dim(column))
    }, logical(1L))
    if (all(is_number)) return(invisible())
    bad <- names(sample)[!is_number]
    types <- vapply(sample[!is_number], function(column) class(column)[1L], "")
    described <- paste0("`", bad, "` (", types, ")")
    shown <- paste(utils::head(described, 5L), collapse = ", ")
    if (length(bad) > 5L) shown <- paste0(shown, ", ...")
    stop_kliep(
        "numeric",
        paste0("`", arg, "` has ", count_of(length(bad), "column"),
               " without numbers: ", shown, "."),
        hint = "Drop these columns or convert them to numbers first."
    )
}

check_names <- function(names, arg) {
    if (is.null(names)) return(invisible())
    unnamed <- which(is.na(names) | names == "")
    if (length(unnamed) > 0L) {
        stop_kliep(
            "names",
            paste0("`", arg, "` names some columns and not others: ",
                   count_of(length(unnamed), "column"),
                   " without a name, the first is column ", unnamed[1L], "."),
            hint = "Name all columns or none."
        )
    }
    twice <- unique(names[duplicated(names)])
    if (length(twice) > 0L) {
        stop_kliep(
            "names",
            paste0("`", arg, "` has duplicated column names: ",
                   name_some(twice), "."),
            hint = "Rename them, for instance with `make.unique()`."
        )
    }
}

check_finite <- function(sample, arg) {
    bad <- which(!is.finite(sample))
    if (length(bad) == 0L) return(invisible())
    row <- (bad[1L] - 1L) %% nrow(sample) + 1L
    column <- (bad[1L] - 1L) %/% nrow(sample) + 1L
    name <- colnames(sample)[column]
    label <- if (is.null(name)) column else paste0("`", name, "`")
    stop_kliep(
        "missing",
        paste0("`", arg, "` must be finite everywhere: got ",
               count_of(length(bad), "NA, NaN or infinite value"),
               "; the first is ", format(sample[bad[1L]]),
               " in row ", row, ", column ", label, "."),
        hint = if (takes_na(arg) && is.na(sample[bad[1L]])) paste(
            "`na = \"omit\"` leaves out observations with missing values,",
            "`na = \"impute_median\"` fills them in."
        ) else "Drop or impute these values first."
    )
}

# Arguments that come with an argument `na`.
takes_na <- function(arg) arg %in% c("x", "y", "series", "reference")

# Columns are matched by name where both samples have names, and by position
# otherwise.
match_columns <- function(x, y) {
    if (is.null(colnames(x)) || is.null(colnames(y))) {
        if (ncol(x) == ncol(y)) return(y)
        stop_kliep(
            "dimension",
            paste0("`x` and `y` must have the same columns: got ", ncol(x),
                   " and ", ncol(y), "."),
            hint = "Name the columns of both to have them matched by name."
        )
    }
    only_x <- setdiff(colnames(x), colnames(y))
    only_y <- setdiff(colnames(y), colnames(x))
    if (length(only_x) > 0L || length(only_y) > 0L) {
        stop_kliep(
            "dimension",
            paste0(
                "`x` and `y` must have the same columns: got ", ncol(x),
                " and ", ncol(y), ".",
                if (length(only_x) > 0L)
                    paste0("\nOnly in `x`: ", name_some(only_x), "."),
                if (length(only_y) > 0L)
                    paste0("\nOnly in `y`: ", name_some(only_y), ".")
            ),
            hint = "Subset both to `intersect(colnames(x), colnames(y))`."
        )
    }
    if (identical(colnames(x), colnames(y))) return(y)
    y[, colnames(x), drop = FALSE]
}

# A constant column cannot be divided by its standard deviation.
check_constant <- function(samples, standardize) {
    constant <- switch(
        standardize,
        within = is_constant(samples$x) | is_constant(samples$y),
        pooled = is_constant(samples$x) & is_constant(samples$y) &
            is_constant(rbind(samples$x[1L, ], samples$y[1L, ])),
        none = FALSE
    )
    if (!any(constant)) return(invisible())
    bad <- samples$variables[constant]
    where <- if (standardize == "within") "in `x` or in `y`" else
        "over `x` and `y` together"
    stop_kliep(
        "constant",
        paste0(count_of(length(bad), "column"),
               if (length(bad) == 1L) " is" else " are", " constant ", where,
               ": ", name_some(bad), ". `standardize = \"", standardize,
               "\"` would divide by zero."),
        hint = paste("Drop", if (length(bad) == 1L) "it" else "them",
                     "or use `standardize = \"none\"`.")
    )
}

# All values equal to the first, up to a few rounding errors. Two rows rule
# out nearly every column before all rows are looked at.
is_constant <- function(sample) {
    first <- sample[1L, ]
    slack <- 4 * .Machine$double.eps * abs(first)
    constant <- abs(sample[2L, ] - first) <= slack
    suspect <- which(constant)
    rest <- t(sample[, suspect, drop = FALSE])
    constant[suspect] <-
        rowSums(abs(rest - first[suspect]) > slack[suspect]) == 0
    constant
}

# ---- penalties -------------------------------------------------------------

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

# ---- the rest --------------------------------------------------------------

check_features <- function(features) {
    if (inherits(features, "kliep_features")) return(features)
    hint <- if (is.function(features))
        "Call the function, for instance `feat_gaussian()`." else
        "Make one with a `feat_*()` function, for instance `feat_gaussian()`."
    stop_kliep(
        "features",
        paste0("`features` must be a feature specification: got ",
               if (is.function(features)) "a function" else describe(features),
               "."),
        hint = hint
    )
}

check_function <- function(value, arg) {
    if (is.function(value)) return(value)
    stop_kliep("features", paste0("`", arg, "` must be a function: got ",
                                  describe(value), "."))
}

check_cliques <- function(cliques) {
    if (!is.list(cliques) || length(cliques) == 0L) {
        stop_kliep(
            "features",
            paste0("`cliques` must be a list of sets of variables, at least ",
                   "one: got ", describe(cliques), "."),
            hint = "For instance `list(c(\"a\", \"b\", \"c\"))`."
        )
    }
    is_clique <- vapply(cliques, is_variable_set, NA)
    if (all(is_clique)) return(unname(cliques))
    bad <- which(!is_clique)[1L]
    stop_kliep(
        "features",
        paste0("`cliques` must hold names or column numbers, each once: ",
               "element ", bad, " is ", describe(cliques[[bad]]), ".")
    )
}

is_variable_set <- function(set) {
    (is.character(set) || is.numeric(set)) && length(set) > 0L &&
        !anyNA(set) && !anyDuplicated(set)
}

check_control <- function(control) {
    if (inherits(control, "kliep_control")) return(control)
    stop_kliep("control",
               paste0("`control` must come from `kliep_control()`: got ",
                      describe(control), "."))
}

check_solver <- function(solver, lambda1, normalizer = "auto") {
    solver <- check_choice(solver, "solver", c("auto", "primal", "dual"))
    if (solver != "auto" && identical(normalizer, "gaussian")) {
        stop_kliep(
            "solver",
            paste0("`normalizer = \"gaussian\"` has a solver of its own: got ",
                   "solver = \"", solver, "\"."),
            hint = "Use `solver = \"auto\"`."
        )
    }
    if (solver == "dual" && lambda1 == 0) {
        stop_kliep(
            "solver",
            "`solver = \"dual\"` needs `lambda1 > 0`: got lambda1 = 0.",
            hint = "Raise `lambda1` or use `solver = \"auto\"`."
        )
    }
    solver
}

# Left at its default, it is what the features want.
check_standardize <- function(standardize, features) {
    choices <- c("within", "pooled", "none")
    if (identical(standardize, choices)) return(features$standardize)
    check_choice(standardize, "standardize", choices)
}

# Whether the normaliser of the ratio is known for Gaussian networks.
has_closed_form <- function(features) {
    features$kind == "products" && identical(features$single, 2L) &&
        identical(as.vector(features$pair), c(1L, 1L))
}

check_normalizer <- function(normalizer, features) {
    normalizer <- check_choice(normalizer, "normalizer",
                               c("auto", "gaussian", "empirical"))
    if (normalizer != "gaussian" || has_closed_form(features)) {
        return(normalizer)
    }
    stop_kliep(
        "normalizer",
        paste0("`normalizer = \"gaussian\"` does not fit these features: got ",
               name_features(features), "."),
        hint = paste("Use `feat_gaussian()` or `feat_nonparanormal()`, or",
                     "`normalizer = \"empirical\"`.")
    )
}

# Without the ridge, nothing holds a fit up where a covariance is singular.
check_regular <- function(samples, spec) {
    if (spec$normalizer == "empirical" || spec$lambda1 > 0) {
        return(invisible())
    }
    d <- length(samples$variables)
    weighted <- list("p/q" = "y", "q/p" = "x", symmetric = c("x", "y"))
    for (name in weighted[[spec$direction]]) {
        if (qr(samples[[name]])$rank < d) {
            stop_kliep(
                "lambda",
                paste0("`normalizer = \"gaussian\"` needs `lambda1 > 0` here: ",
                       "the covariance of `", name, "` is singular (",
                       count_of(nrow(samples[[name]]), "observation"), " of ",
                       count_of(d, "variable"), ")."),
                hint = "Raise `lambda1`, or drop variables."
            )
        }
    }
}

check_direction <- function(direction) {
    check_choice(direction, "direction", c("symmetric", "p/q", "q/p"))
}

check_penalty <- function(penalty) {
    check_choice(penalty, "penalty", c("group_lasso", "adaptive", "mcp"))
}

check_robust <- function(robust) {
    robust <- check_number(robust, "robust", "robust")
    if (robust >= 0 && robust < 0.5) return(robust)
    stop_kliep(
        "robust",
        paste0("`robust` must be at least 0 and below 0.5: got ",
               format(robust), "."),
        hint = "It is the share of observations that may be outliers."
    )
}

# The group lasso has no use for it.
check_gamma <- function(gamma, penalty) {
    gamma <- check_positive(gamma, "gamma", "penalty")
    if (penalty == "group_lasso") {
        stop_kliep(
            "penalty",
            "`gamma` has no meaning for `penalty = \"group_lasso\"`.",
            hint = "Use `penalty = \"adaptive\"` or \"mcp\", or leave it out."
        )
    }
    gamma
}

# The shape of the penalty, or the usual one.
settled_gamma <- function(spec) {
    usual <- c(group_lasso = 1, adaptive = 1, mcp = 3)
    if (is.null(spec$gamma)) usual[[spec$penalty]] else spec$gamma
}

# The argument left at its default is the whole vector of choices.
check_choice <- function(value, arg, choices) {
    if (identical(value, choices)) return(choices[1L])
    if (is.character(value) && length(value) == 1L && value %in% choices) {
        return(value)
    }
    stop_kliep(
        "argument",
        paste0("`", arg, "` must be one of ",
               paste0("\"", choices, "\"", collapse = ", "), ": got ",
               describe(value), ".")
    )
}

check_flag <- function(value, arg) {
    if (isTRUE(value) || isFALSE(value)) return(value)
    stop_kliep("argument", paste0("`", arg, "` must be TRUE or FALSE: got ",
                                  describe(value), "."))
}

is_string <- function(value) {
    is.character(value) && length(value) == 1L && !is.na(value)
}

check_number <- function(value, arg, class = "argument") {
    if (is.numeric(value) && length(value) == 1L && is.finite(value)) {
        return(as.double(value))
    }
    stop_kliep(class, paste0("`", arg, "` must be one finite number: got ",
                             describe(value), "."))
}

check_whole <- function(value, arg, class = "argument", least = 1,
                        most = .Machine$integer.max) {
    value <- check_number(value, arg, class)
    if (value >= least && value == round(value) && value <= most) {
        return(value)
    }
    range <- if (value < least || most == .Machine$integer.max)
        paste0(", ", least, " or more") else
        paste0(" up to ", format(most, big.mark = ",", scientific = FALSE))
    stop_kliep(class, paste0("`", arg, "` must be a whole number", range,
                             ": got ", format(value), "."))
}

# NULL is the default.
check_whole_or <- function(value, arg, default, least = 1) {
    if (is.null(value)) return(default)
    check_whole(value, arg, least = least)
}

check_positive <- function(value, arg, class = "argument") {
    value <- check_number(value, arg, class)
    if (value > 0) return(value)
    stop_kliep(class, paste0("`", arg, "` must be positive: got ",
                             format(value), "."))
}

check_fraction <- function(value, arg, class = "argument") {
    value <- check_number(value, arg, class)
    if (value > 0 && value < 1) return(value)
    stop_kliep(class, paste0("`", arg, "` must be between 0 and 1, both ",
                             "excluded: got ", format(value), "."))
}

# Arguments nobody will read are typing errors: say so, and what was meant.
check_dots <- function(given, known, fun) {
    unused <- setdiff(names(given), known)
    unnamed <- if (is.null(names(given))) length(given) else
        sum(names(given) == "")
    unused <- unused[unused != ""]
    if (length(unused) == 0L && unnamed == 0L) return(invisible())
    if (length(unused) == 0L) {
        stop_kliep("dots", paste0("`", fun, "()` got ",
                                  count_of(unnamed, "argument"),
                                  " too many, without a name."),
                   hint = "Name the arguments.")
    }
    distance <- utils::adist(unused[1L], known, ignore.case = TRUE)
    near <- known[distance == min(distance) & distance <= 3]
    stop_kliep(
        "dots",
        paste0("`", fun, "()` has no argument ", name_some(unused), "."),
        hint = if (length(near) > 0L)
            paste0("Did you mean `", near[1L], "`?")
    )
}
