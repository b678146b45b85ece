# What is known about the observations besides their condition: covariates whose
# effects are removed, strata, units and pairs. Everything that can be wrong
# with a design is reported here.

# ---- what is asked for -----------------------------------------------------

# The arguments of two_samples() that describe a design, or NULL for none.
design_request <- function(adjust, adjust_common, strata, unit, pair,
                           pool = "none") {
    common <- check_flag(adjust_common, "adjust_common")
    pool <- check_choice(pool, "pool", c("none", "mean", "sum"))
    if (pool != "none" && is.null(unit) && is.null(pair)) {
        stop_kliep(
            "design",
            paste0("`pool = \"", pool, "\"` needs to know what belongs ",
                   "together: `unit` is missing."),
            hint = "Name the column of donors, such as `unit = \"donor\"`."
        )
    }
    request <- list(adjust = adjust, strata = strata, unit = unit, pair = pair)
    request <- request[!vapply(request, is.null, NA)]
    if (length(request) == 0L) return(NULL)
    if (!is.null(unit) && !is.null(pair)) {
        stop_kliep(
            "design", "`unit` and `pair` are both given.",
            hint = paste("Give `pair` alone: all observations of a pair in",
                         "one condition are one unit.")
        )
    }
    c(request, list(common = common, pool = pool))
}

# What was asked for, looked up for all observations, `rows`: the matrix of
# covariates (`covariates`), the values of strata, units and pairs (`labels`),
# what they are called, and the names of the columns that are in use. `rows` has
# the number `n` of the observations and, where they have any, their `names`.
read_design <- function(request, known, rows, known_as) {
    if (is.null(request)) return(NULL)
    n <- rows$n
    asked <- request[intersect(c("strata", "unit", "pair"), names(request))]
    asked <- lapply(asked, in_row_order, rows$names)
    labels <- Map(read_label, asked, names(asked), list(known), n, known_as)
    named <- Filter(function(value) is_column_name(value, n), asked)
    # Numbers that name units are labels, and not a numeric covariate.
    codes <- intersect(unlist(named), names(known))
    known[codes] <- lapply(known[codes], function(column) {
        as.character(plain_column(column))
    })
    adjust <- read_covariates(in_row_order(request$adjust, rows$names), known,
                              n, known_as)
    list(
        covariates = adjust$matrix, labels = labels, common = request$common,
        pool = request$pool,
        called = c(if (!is.null(adjust)) c(adjust = adjust$called),
                   vapply(asked, label_name, "", n = n)),
        used = unique(c(adjust$used, unlist(named, use.names = FALSE)))
    )
}

label_name <- function(value, n) {
    if (is_column_name(value, n)) value else ""
}

# One column by its name, or values.
read_label <- function(value, arg, known, n, known_as) {
    if (is_column_name(value, n) && !is.null(known)) {
        value <- known_column(value, known, known_as, paste("for", arg))
    }
    if (isS4(value)) value <- as.vector(value)
    if (is.atomic(value) && length(value) == n && is.null(dim(value))) {
        return(as.character(value))
    }
    stop_kliep(
        "design",
        paste0("`", arg, "` must be the name of a column, or have one value ",
               "for each of ", count_of(n, "observation"), ": got ",
               describe(value), ".")
    )
}

# `adjust` is a formula about known columns, or a table of covariates.
read_covariates <- function(adjust, known, n, known_as) {
    if (is.null(adjust)) return(NULL)
    if (is.matrix(adjust)) adjust <- as.data.frame(adjust)
    if (is.data.frame(adjust)) {
        frame <- covariate_frame(~ ., adjust, n)
        return(list(matrix = design_matrix(frame), used = character(),
                    called = paste(names(adjust), collapse = " + ")))
    }
    check_adjust(adjust)
    used <- intersect(all.vars(adjust), names(known))
    for (name in setdiff(all.vars(adjust), used)) {
        value <- get0(name, envir = environment(adjust))
        if (is.null(value) || is.function(value)) {
            known_column(name, known, known_as, "for adjust")
        }
    }
    columns <- if (length(used) > 0L)
        as.data.frame(lapply(known[used], plain_column), optional = TRUE)
    frame <- covariate_frame(adjust, columns, n)
    list(matrix = design_matrix(frame), used = used,
         called = paste(deparse(adjust[[2L]]), collapse = " "))
}

# An error of stats about a formula becomes one of ours, with its reason.
covariate_frame <- function(formula, columns, n) {
    frame <- tryCatch(
        stats::model.frame(formula, columns, na.action = stats::na.pass,
                           drop.unused.levels = TRUE),
        error = function(condition) {
            stop_kliep("design", paste0("`adjust` cannot be evaluated: ",
                                        conditionMessage(condition), "."))
        }
    )
    if (nrow(frame) != n) {
        stop_kliep(
            "design",
            paste0("`adjust` must have one row for each of ",
                   count_of(n, "observation"), ": got ", nrow(frame), ".")
        )
    }
    frame
}

plain_column <- function(column) {
    if (isS4(column)) as.vector(column) else column
}

check_adjust <- function(adjust) {
    formula <- inherits(adjust, "formula")
    if (formula && names_covariates(adjust)) return(invisible())
    got <- if (formula) paste0("`", paste(deparse(adjust), collapse = " "), "`")
    vector <- is.atomic(adjust) && length(adjust) > 1L
    stop_kliep(
        "design",
        paste0("`adjust` must be a formula without a left side, or a data ",
               "frame: got ", if (formula) got else describe(adjust), "."),
        hint = paste0("Such as `", if (vector) "data.frame(age)" else
            "~ batch + age", "`.")
    )
}

# A right side alone, with variables by name.
names_covariates <- function(formula) {
    named <- all.vars(formula)
    length(formula) == 2L && length(named) > 0L && !"." %in% named
}

# A covariate with a single value is left out: it has no contrasts.
design_matrix <- function(frame) {
    several <- vapply(frame, function(column) {
        length(dim(column)) == 2L ||
            length(unique(column[!is.na(column)])) > 1L
    }, NA)
    terms <- attr(frame, "terms")
    if (!all(several)) {
        stop_kliep(
            "design",
            paste0("`adjust` has one value only in ",
                   name_some(names(frame)[!several]), "."),
            hint = "Leave it out: there is nothing to adjust for."
        )
    }
    old <- options(na.action = "na.pass")
    on.exit(options(old))
    columns <- stats::model.matrix(terms, frame)
    # The term that each column belongs to. The constant comes first, also where
    # the formula leaves it out.
    structure(cbind(1, columns), term = c(0, attr(columns, "assign")))
}

# Observations about which something is missing.
is_unknown <- function(read, n) {
    missing <- rep(FALSE, n)
    if (!is.null(read$covariates)) {
        missing <- rowSums(is.na(read$covariates)) > 0
    }
    Reduce(function(missing, label) missing | is.na(label), read$labels,
           missing)
}

# Conditions without those of observations about which something is missing.
without_unknown <- function(group, read, values, na) {
    if (is.null(read)) return(group)
    unknown <- which(is_unknown(read, length(group)))
    if (length(unknown) == 0L) return(group)
    if (na != "omit") {
        stop_kliep(
            "design",
            paste0(name_some(c(names(read$called))), " is missing for ",
                   count_of(length(unknown), "observation"),
                   "; the first is ", name_row(values, unknown[1L]), "."),
            hint = "`na = \"omit\"` leaves these observations out."
        )
    }
    replace(group, unknown, NA)
}

# ---- the design of two samples ---------------------------------------------

# The samples with the effects of covariates removed, and the design that they
# carry. `rows` are the places of their observations in what was read.
settle_design <- function(parts, read, rows) {
    if (is.null(read)) return(list(parts = parts))
    labels <- lapply(read$labels, function(label) {
        lapply(rows, function(at) label[at])
    })
    design <- list()
    if (read$pool != "none") {
        pooled <- pool_units(parts, labels, read, rows)
        parts <- pooled$parts
        labels <- pooled$labels
        read$covariates <- pooled$covariates
        rows <- pooled$rows
        design$pool <- pooled$pool
    }
    if (!is.null(read$covariates)) {
        adjusted <- take_off(parts, read, rows)
        parts <- adjusted$parts
        labels <- lapply(labels, function(label) Map(`[`, label, adjusted$kept))
        design$adjust <- list(called = read$called[["adjust"]],
                              common = read$common, lost = adjusted$lost)
    }
    # A pair that has lost one side to the covariates loses the other, too.
    if (!is.null(labels$pair) && !is.null(design$adjust)) {
        keep <- complete_pairs(labels$pair)
        parts <- Map(function(part, at) part[at, , drop = FALSE], parts, keep)
        labels <- lapply(labels, function(label) Map(`[`, label, keep))
    }
    for (name in names(labels)) {
        design[[name]] <- c(list(called = read$called[[name]]), labels[[name]])
    }
    check_design(design, lapply(parts, nrow))
    list(parts = parts, design = design)
}

# One observation for each unit, or for each side of a pair: the mean or the sum
# of its own. Covariates become their means, which is what the mean of a linear
# model has. Each former unit is then an observation like any other.
pool_units <- function(parts, labels, read, rows) {
    by <- if (is.null(labels$pair)) "unit" else "pair"
    if (by == "unit") check_unit_labels(labels$unit, labels$strata, least = 1L)
    of <- lapply(labels[[by]], function(label) factor(label, unique(label)))
    sizes <- lapply(of, tabulate)
    means <- function(values, of, size) {
        rowsum(as.matrix(values), as.integer(of), reorder = TRUE) / size
    }
    covariates <- if (!is.null(read$covariates)) structure(
        do.call(rbind, Map(function(at, of, size) {
            means(read$covariates[at, , drop = FALSE], of, size)
        }, rows, of, sizes)),
        term = attr(read$covariates, "term")
    )
    pooled <- Map(function(part, name, of, size) {
        part <- as_numeric_matrix(part, name)
        check_finite(part, name)
        values <- means(part, of, if (read$pool == "mean") size else 1)
        rownames(values) <- levels(of)
        values
    }, parts[c("x", "y")], c("x", "y"), of, sizes)
    n <- lengths(sizes)
    kept <- lapply(labels[setdiff(names(labels), "unit")], function(label) {
        Map(function(one, of) one[!duplicated(of)], label, of)
    })
    list(parts = pooled, labels = kept, covariates = covariates,
         rows = list(x = seq_len(n[["x"]]), y = n[["x"]] + seq_len(n[["y"]])),
         pool = list(called = read$called[[by]], how = read$pool,
                     sizes = sizes))
}

complete_pairs <- function(pair) {
    both <- intersect(pair$x, pair$y)
    lapply(pair, function(label) which(label %in% both))
}

check_design <- function(design, n) {
    if (!is.null(design$strata)) check_strata(design$strata)
    if (!is.null(design$pair)) {
        check_pair_labels(design$pair)
        stop_torn(design$pair, design$strata, "pair")
    }
    if (is.null(design$unit)) return(invisible())
    check_unit_labels(design$unit, design$strata)
    units <- vapply(design$unit[c("x", "y")], n_distinct, 1L)
    if (min(units) < few_units) {
        warn_kliep(
            "units",
            paste0(units[["x"]], " and ", count_of(units[["y"]], "unit"),
                   ", and not ", n$x, " and ", count_of(n$y, "observation"),
                   ", limit what can be found."),
            hint = paste("Tests with fewer than 8 units in a condition have",
                         "little power.")
        )
    }
}

# With fewer units than this in a sample, a message says that they limit what
# can be found.
few_units <- 8L

n_distinct <- function(label) length(unique(label))

check_strata <- function(strata) {
    alone <- c(setdiff(strata$x, strata$y), setdiff(strata$y, strata$x))
    if (length(alone) == 0L) return(invisible())
    stop_kliep(
        "design",
        paste0(count_of(length(alone), "stratum", "strata"),
               " in one condition only: ", name_some(alone), "."),
        hint = paste("Conditions are compared within strata: leave these",
                     "observations out, or make the strata larger.")
    )
}

check_pair_labels <- function(pair) {
    alone <- c(setdiff(pair$x, pair$y), setdiff(pair$y, pair$x))
    if (length(intersect(pair$x, pair$y)) == 0L) {
        stop_kliep(
            "design",
            paste0("No pair is in both conditions: ", name_some(alone), "."),
            hint = "What belongs to one condition is a `unit`."
        )
    }
    if (length(alone) > 0L) {
        stop_kliep(
            "design",
            paste0(count_of(length(alone), "pair"), " in one condition only: ",
                   name_some(alone), "."),
            hint = "Leave these observations out."
        )
    }
    if (n_distinct(pair$x) >= 6L) return(invisible())
    stop_kliep(
        "design",
        paste0("`pair` needs at least 6 pairs to be shuffled: got ",
               n_distinct(pair$x), "."),
        hint = "Collect more."
    )
}

check_unit_labels <- function(unit, strata, least = 3L) {
    both <- intersect(unit$x, unit$y)
    if (length(both) > 0L) {
        stop_kliep(
            "design",
            paste0(count_of(length(both), "unit"), " in both conditions: ",
                   name_some(both), "."),
            hint = paste("Units belong to one condition; what is observed in",
                         "both is a `pair`.")
        )
    }
    units <- vapply(unit[c("x", "y")], n_distinct, 1L)
    if (min(units) < least) {
        stop_kliep(
            "design",
            paste0("`unit` needs at least 3 units in each condition: got ",
                   units[["x"]], " and ", units[["y"]], "."),
            hint = paste("Fewer units do not show how much units differ:",
                         "collect more of them.")
        )
    }
    stop_torn(unit, strata, "unit")
}

# Observations that change places as a whole must be in one stratum.
stop_torn <- function(label, strata, what) {
    if (is.null(strata)) return(invisible())
    of <- function(labels) c(labels$x, labels$y)
    strata <- split(of(strata), of(label))
    torn <- names(strata)[vapply(strata, n_distinct, 1L) > 1L]
    if (length(torn) == 0L) return(invisible())
    stop_kliep(
        "design",
        paste0(count_of(length(torn), what), " in several strata: ",
               name_some(torn), "."),
        hint = paste0("A ", what, " changes places as a whole, and so within ",
                      "one stratum.")
    )
}

# What a result was adjusted for, and which observations change places as a
# whole, in words.
format_design <- function(x) describe_design(x$samples$design)

describe_adjust <- function(adjust, counts) {
    paste0("adjusted for ", adjust$called, if (adjust$common) " in common",
           if (counts) paste0(", which costs ",
                              paste(adjust$lost, collapse = " + "),
                              " observations"))
}

# Without `counts` the words fit several comparisons.
describe_design <- function(design, counts = TRUE) {
    if (is.null(design)) return(NULL)
    called <- function(what, part, count = NULL) {
        paste0(if (counts && !is.null(count)) paste0(count, " "), what,
               if (nzchar(part$called)) paste0(" (", part$called, ")"))
    }
    both <- function(part) paste(n_distinct(part$x), "+", n_distinct(part$y))
    pooled <- function(pool) {
        each <- if (counts)
            paste("of", paste(lengths(pool$sizes), collapse = " + "), "units")
        else "unit"
        paste("the", pool$how, "of each", called(each, pool))
    }
    paste0("  design     ", paste(c(
        if (!is.null(design$adjust)) describe_adjust(design$adjust, counts),
        if (!is.null(design$pool)) pooled(design$pool),
        if (!is.null(design$strata)) called("strata", design$strata,
                                            n_distinct(design$strata$x)),
        if (!is.null(design$unit)) called("units", design$unit,
                                          both(design$unit)),
        if (!is.null(design$pair)) called("pairs", design$pair,
                                          n_distinct(design$pair$x))
    ), collapse = "; "))
}
