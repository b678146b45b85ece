# One inference from several completions of the same samples, by Rubin's rules:
# what differs between them adds to the variance.

# Completions that were drawn for missing values; NULL where there are none.
imputed_of <- function(found) {
    if (!is.null(found$samples)) found$samples$imputed else found$imputed
}

# As test_all_edges(), over all completions.
test_imputed <- function(found, draws, spec, how, call) {
    one <- function(draw) {
        own <- list(x = draw$x, y = draw$y, conditions = found$conditions)
        design <- if (is.null(found$samples)) found$design else
            found$samples$design
        own$design <- design
        test_all_edges(own, spec, how, call)
    }
    first <- one(draws[[1L]])
    # The first completion has given all messages and warnings.
    others <- lapply(draws[-1L], function(draw) {
        suppressMessages(suppressWarnings(one(draw), classes = "kliep_warning"),
                         classes = "kliep_message")
    })
    combine_imputed(c(list(first), others), draws)
}

combine_imputed <- function(results, draws) {
    result <- results[[1L]]
    tables <- lapply(results, `[[`, "estimates")
    of <- function(column) {
        vapply(tables, function(table) as.double(table[[column]]),
               numeric(nrow(tables[[1L]])))
    }
    result$estimates <- combine_tables(tables[[1L]], of, result)
    p <- vapply(results, function(own) own$global$p_value, 1)
    result$global$p_value <- combine_one_sided(p)
    result$estimates$changed <- changed_at(result, result$fdr)
    result$imputed <- length(results)
    if (!is.null(result$samples)) result$samples$imputed <- draws
    result
}

# `of` returns a column of all tables, a row for each edge. Edges with several
# coefficients have no sign.
combine_tables <- function(table, of, result) {
    signed <- !is.na(table$se)
    estimate <- of("estimate")
    m <- ncol(estimate)
    between <- row_variance(estimate)
    table$estimate <- rowMeans(estimate)
    table$se <- sqrt(rowMeans(of("se")^2) + (1 + 1 / m) * between)
    table[c("lower", "upper")] <- limits_of(table, result$level)
    direction <- sign(of("z"))
    for (column in intersect(c("p_value", "p_direct", "p_nodewise"),
                             names(table))) {
        p <- of(column)
        combined <- combine_signed(p, direction)
        if (!all(signed)) {
            combined[!signed] <- combine_squares(
                p[!signed, , drop = FALSE], table$df[!signed]
            )
        }
        table[[column]] <- combined
    }
    for (column in intersect(c("z", "partial_x", "partial_y", "shift"),
                             names(table))) {
        table[[column]] <- rowMeans(of(column))
    }
    table$q_value <- stats::p.adjust(table$p_value, "BH")
    # One completion treats drawn values as observed.
    if (!is.null(table$q_beyond)) table$q_beyond <- NA_real_
    table
}

row_variance <- function(values) {
    rowSums((values - rowMeans(values))^2) / (ncol(values) - 1)
}

# Rubin's rule for z, whose variance within a completion is one.
combine_signed <- function(p, direction) {
    z <- direction * stats::qnorm(pmax(p, 1e-300) / 2, lower.tail = FALSE)
    m <- ncol(z)
    more <- (1 + 1 / m) * row_variance(z)
    df <- (m - 1) * (1 + 1 / pmax(more, 1e-8))^2
    2 * stats::pt(-abs(rowMeans(z)) / sqrt(1 + more), df)
}

# That of Li, Meng, Raghunathan and Rubin (1991) for chi-squares.
combine_squares <- function(p, df) {
    squares <- stats::qchisq(pmax(p, 1e-300), df, lower.tail = FALSE)
    squares <- matrix(squares, nrow(p))
    m <- ncol(p)
    more <- (1 + 1 / m) * row_variance(sqrt(squares))
    ratio <- (rowMeans(squares) / df - (m + 1) / (m - 1) * more) / (1 + more)
    left <- df^(-3 / m) * (m - 1) * (1 + 1 / pmax(more, 1e-8))^2
    stats::pf(pmax(ratio, 0), df, left, lower.tail = FALSE)
}

# Of the test of any change at all, whose p-value is never 0 or 1.
combine_one_sided <- function(p) {
    z <- stats::qnorm(pmin(pmax(p, 1e-6), 1 - 1e-6), lower.tail = FALSE)
    m <- length(z)
    stats::pnorm(mean(z) / sqrt(1 + (1 + 1 / m) * stats::var(z)),
                 lower.tail = FALSE)
}
