# Columns of several types: which type each is, and the numbers that stand for
# its values. A column with levels has the number of its level, all others
# their values; `coding` has for each column what its features are made of.

mixed_types <- c("numeric", "two_valued", "categorical", "ordered", "count")

# Whole numbers with no more values than this are scores, as of a questionnaire.
most_scores <- 7L

# Counts with at least this share of zeros have zero as a state of its own.
many_zeros <- 0.1

# A level with fewer observations in either sample is joined with another.
least_level <- 5L

# Both samples as matrices of numbers, with the coding of every column. What is
# not a table, or has other columns in one sample, is left to later checks.
code_mixed <- function(x, y, features) {
    both <- list(x = two_valued_columns(x), y = two_valued_columns(y))
    if (any(vapply(both, is.null, NA))) return(NULL)
    named <- !is.null(names(both$x)) && !is.null(names(both$y))
    if (named) {
        if (!setequal(names(both$x), names(both$y))) stop_other_columns(x, y)
        both$y <- both$y[names(both$x)]
    }
    if (length(both$x) != length(both$y)) return(NULL)
    labels <- names(both$x)
    if (is.null(labels)) labels <- names(both$y)
    if (is.null(labels)) labels <- paste0("V", seq_along(both$x))
    check_names(labels, "x")
    types <- check_type_names(features$types, labels)
    coding <- Map(function(column, other, name) {
        code_column(column, other, name, types[[name]], features)
    }, both$x, both$y, labels)
    names(coding) <- labels
    notice_joined(coding)
    matrix_of <- function(columns) {
        coded <- Map(code_values, columns, coding, labels)
        matrix(as.double(unlist(coded, use.names = FALSE)),
               ncol = length(labels), dimnames = list(NULL, labels))
    }
    list(x = matrix_of(both$x), y = matrix_of(both$y),
         coding = structure(coding, mixed = TRUE))
}

is_mixed_coding <- function(coding) isTRUE(attr(coding, "mixed"))

is_mixed <- function(features) identical(features$kind, "mixed")

# New observations in the coding of a fit.
code_new_mixed <- function(columns, coding) {
    coded <- Map(code_values, columns, coding, names(coding))
    matrix(as.double(unlist(coded, use.names = FALSE)),
           ncol = length(coding), dimnames = list(NULL, names(coding)))
}

# ---- types -----------------------------------------------------------------

check_type_names <- function(types, labels) {
    unknown <- setdiff(names(types), labels)
    if (length(unknown) == 0L) return(as.list(types))
    stop_kliep(
        "type_of_column",
        paste0("`types` names ", count_of(length(unknown), "column"),
               " that the samples do not have: ", name_some(unknown), "."),
        hint = paste0("Their columns are ", name_some(labels, 20L), ".")
    )
}

# From what a column of a data frame is, and from its values.
find_type <- function(column, other, name) {
    known <- known_values(column, other)
    if (is.factor(column) || is.character(column) || is.logical(column)) {
        if (length(known) <= 2L) return("two_valued")
        return(if (is.ordered(column)) "ordered" else "categorical")
    }
    stop_without_type(column, name)
    find_number_type(c(column, other), known)
}

find_number_type <- function(values, known) {
    if (length(known) <= 2L) return("two_valued")
    if (!is_counts(abs(known))) return("numeric")
    if (length(known) <= most_scores) return("ordered")
    zeros <- mean(values == 0, na.rm = TRUE)
    if (min(known) == 0 && zeros >= many_zeros) "count" else "numeric"
}

stop_without_type <- function(column, name) {
    if (is.numeric(column) && is.null(dim(column))) return(invisible())
    stop_kliep(
        "type_of_column",
        paste0("Column `", name, "` is of class <", class(column)[1L],
               ">, which has no type among numeric, two-valued, ",
               "categorical, ordered and count."),
        hint = paste("Convert it, for instance with `as.numeric()` or",
                     "`factor()`, or leave it out.")
    )
}

# The values of both, in order: those of a factor by its levels.
known_values <- function(column, other) {
    if (is.factor(column) || is.factor(other)) {
        return(union(levels(as.factor(column)), levels(as.factor(other))))
    }
    values <- unique(c(column, other))
    sort(values[!is.na(values)], method = "radix")
}

# ---- the coding of one column ----------------------------------------------

code_column <- function(column, other, name, type, features) {
    if (is.null(type)) type <- find_type(column, other, name)
    known <- known_values(column, other)
    stop_one_value(column, other, known, name)
    stop_split(list(x = list(column), y = list(other)), 1L, name)
    coding <- switch(
        type,
        numeric = list(),
        count = code_count(column, other, name, features$counts),
        code_levels(column, other, name, type, known, features$max_levels)
    )
    if (type == "numeric") check_numbers(column, name, "numeric")
    c(list(type = type), coding)
}

stop_one_value <- function(column, other, known, name) {
    values <- list(x = column, y = other)
    one <- vapply(values, function(part) {
        length(unique(part[!is.na(part)])) < 2L
    }, NA)
    if (!any(one) || length(known) > 1L && stays_apart(values, one)) {
        return(invisible())
    }
    where <- if (all(one)) "both samples" else
        paste0("`", names(values)[one], "`")
    stop_kliep(
        "constant",
        paste0("Column `", name, "` has one value only in ", where, "."),
        hint = "Leave it out: a constant has no edges."
    )
}

# A column with one value in `x` and another in `y` is a different mistake.
stays_apart <- function(values, one) {
    if (!all(one)) return(FALSE)
    first <- lapply(values, function(part) {
        as.character(part[!is.na(part)][1L])
    })
    !identical(first[[1L]], first[[2L]])
}

check_numbers <- function(column, name, type) {
    if (is.numeric(column)) return(invisible())
    stop_kliep(
        "type_of_column",
        paste0("Column `", name, "` cannot be ", type, ": it is of class <",
               class(column)[1L], ">."),
        hint = "Convert it to numbers first, or give it another type."
    )
}

# ---- columns with levels ---------------------------------------------------

# `values` are those of the column, `index` the level of each after rare ones
# are joined, `labels` the names of these levels, `basis` what an edge is made
# of, a row for each level, and `single` what the variable alone is.
code_levels <- function(column, other, name, type, known, most) {
    if (type == "two_valued" && length(known) != 2L) {
        stop_kliep(
            "type_of_column",
            paste0("Column `", name, "` cannot be two-valued: it has ",
                   length(known), " values."),
            hint = "Give it the type \"categorical\" or \"ordered\"."
        )
    }
    if (length(known) > most) {
        stop_kliep(
            "type_of_column",
            paste0("Column `", name, "` has ", length(known),
                   " levels: at most ", most, " are allowed."),
            hint = paste("Leave it out if it names observations, join levels,",
                         "or raise `max_levels` of `feat_mixed()`.")
        )
    }
    counts <- t(vapply(list(column, other), function(part) {
        tabulate(match(as.character(part), as.character(known)), length(known))
    }, integer(length(known))))
    index <- join_levels(counts, type == "ordered")
    joined <- t(rowsum(t(counts), index))
    share <- colMeans(joined / rowSums(joined))
    labels <- vapply(split(as.character(known), index), paste, "",
                     collapse = "/")
    c(list(values = as.character(known), index = index,
           labels = unname(labels), share = share,
           rare = min(joined) < least_level),
      if (type == "ordered") ordered_basis(share) else
          list(basis = level_basis(share), single = level_basis(share)))
}

# Which level each belongs to. A rare one joins the rarest other, of ordered
# ones the rarer of its neighbours; two levels stay.
join_levels <- function(counts, is_ordered, least = least_level) {
    group <- seq_len(ncol(counts))
    repeat {
        sums <- rowsum(t(counts), group)
        keys <- as.integer(rownames(sums))
        total <- rowSums(sums)
        rare <- which(pmin(sums[, 1L], sums[, 2L]) < least)
        if (length(rare) == 0L || length(keys) <= 2L) break
        from <- rare[which.min(total[rare])]
        others <- if (is_ordered)
            intersect(from + c(-1L, 1L), seq_along(keys)) else
            setdiff(seq_along(keys), from)
        to <- others[which.min(total[others])]
        group[group == keys[from]] <- keys[to]
    }
    match(group, sort(unique(group)))
}

notice_joined <- function(coding) {
    joined <- vapply(coding, function(own) anyDuplicated(own$index) > 0L, NA)
    if (!any(joined)) return(invisible())
    text <- vapply(names(coding)[joined], function(name) {
        labels <- coding[[name]]$labels
        own <- tabulate(coding[[name]]$index) > 1L
        paste0("`", name, "` (", paste(labels[own], collapse = ", "), ")")
    }, "")
    inform_kliep("levels", paste0(
        "Levels with fewer than ", least_level, " observations in a sample ",
        "are joined with another: ", paste(utils::head(text, 3L),
                                           collapse = ", "),
        if (length(text) > 3L) paste(" and", length(text) - 3L, "more columns"),
        "."
    ))
}

# Indicators of k levels less their means, as k - 1 columns that are
# uncorrelated and of variance one where levels have these shares. The last
# level has a positive value of the last column.
level_basis <- function(share) {
    orthonormal_levels(cbind(1, diag(length(share))[, -1L, drop = FALSE]),
                       share)
}

# Levels by the normal scores of the middle of their shares; beside it, for the
# variable alone, further polynomials of these, as many as there are levels.
ordered_basis <- function(share) {
    score <- stats::qnorm(cumsum(share) - share / 2)
    powers <- outer(score, seq_along(share) - 1, "^")
    single <- orthonormal_levels(powers, share)
    list(basis = single[, 1L, drop = FALSE], single = single)
}

# Columns as values of levels, the first of them one, made orthonormal where
# levels have these shares; without the first.
orthonormal_levels <- function(columns, share) {
    q <- qr(sqrt(share) * columns)
    signs <- sign(diag(qr.R(q)))
    basis <- qr.Q(q) / sqrt(share)
    sweep(basis, 2L, signs, "*")[, -1L, drop = FALSE]
}

# ---- counts ----------------------------------------------------------------

code_count <- function(column, other, name, transform) {
    check_numbers(column, name, "a count")
    values <- c(column, other)
    values <- values[!is.na(values)]
    if (!is_counts(values)) {
        stop_kliep(
            "type_of_column",
            paste0("Column `", name, "` cannot be a count: it has the value ",
                   format(values[values < 0 | values != round(values)][1L]),
                   "."),
            hint = "Give it the type \"numeric\"."
        )
    }
    bent <- bend_counts(values, transform)
    coding <- list(transform = transform, center = mean(bent),
                   scale = stats::sd(bent))
    t <- (bent - coding$center) / coding$scale
    # The square, and zero as a state, less their lines on the transformed
    # count.
    coding$square <- leave_line(t^2, t)
    zeros <- mean(values == 0)
    if (zeros >= many_zeros && zeros <= 1 - many_zeros) {
        coding$zero <- leave_line(as.double(values == 0), t)
    }
    coding
}

bend_counts <- function(values, transform) {
    if (transform == "root") sqrt(values) else log1p(values)
}

# The line of `column` on `t`, and the spread about it; NULL if there is none.
leave_line <- function(column, t) {
    slope <- stats::cov(column, t) / stats::var(t)
    left <- column - mean(column) - slope * (t - mean(t))
    spread <- stats::sd(left)
    if (spread < 1e-6) return(NULL)
    list(level = mean(column) - slope * mean(t), slope = slope, spread = spread)
}

off_line <- function(column, t, line) {
    (column - line$level - line$slope * t) / line$spread
}

# ---- values ----------------------------------------------------------------

# The numbers that stand for the values of a column; missing values stay
# missing.
code_values <- function(column, coding, name) {
    if (is.null(coding$index)) {
        check_numbers(column, name, coding$type)
        return(as.double(column))
    }
    text <- as.character(column)
    at <- match(text, coding$values)
    unknown <- which(is.na(at) & !is.na(text))
    if (length(unknown) > 0L) {
        stop_kliep("type_of_column", paste0(
            "Column `", name, "` has a value that the fit did not: ",
            text[unknown[1L]], ", not one of ",
            paste(utils::head(coding$values, 5L), collapse = ", "),
            if (length(coding$values) > 5L) ", ...", "."
        ))
    }
    coding$index[at]
}

# Which columns have normal scores.
scored_columns <- function(coding) {
    vapply(coding, function(own) own$type == "numeric", NA)
}
