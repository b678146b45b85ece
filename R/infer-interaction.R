# Two groups at two times: the change of the change. Both changes over time are
# tested as those of two samples are, their estimates are subtracted, and their
# influences added up by subject.

#' Which edges changed differently in two groups
#'
#' Finds the edges whose change over time differs between two groups, such as
#' patients before and after a treatment or a placebo (the group-by-time
#' interaction, or difference of differences), with a false discovery rate of
#' at most `fdr`.
#'
#' @section Method:
#' With \eqn{D_g = \Omega_{g,1} - \Omega_{g,2}} the change over time in group
#' \eqn{g}, as [kliep_infer()] estimates it, an edge is tested for
#' \deqn{\Delta_{ij} = D_{x,ij} - D_{y,ij} = 0.}{
#'     Delta_ij = D_x,ij - D_y,ij = 0.}
#' Differences between the groups that are the same at both times cancel, and so
#' do changes over time that are the same in both groups. Each \eqn{D_g} is
#' estimated given the factors in the support of either group, so that both are
#' treated alike.
#' * Subjects in one group are independent of those in the other: the variance
#'   of \eqn{\Delta}{Delta} is the sum of both, each with the influences of a
#'   subject at both times added up before they are squared (`pair`), moderated
#'   across edges.
#' * The null distribution comes from shuffles that exchange whole subjects
#'   between the groups, with both of their times. This keeps changes over time
#'   that both groups share.
#' * As in [kliep_infer()], debiased partial correlations give a second test,
#'   here of the change of their change, and both p-values are combined.
#'
#' Without `pair` and `unit`, the observations of all four samples are treated
#' as independent, and shuffles exchange them between groups within each time.
#'
#' Four samples are compared instead of two: with the same numbers of
#' observations the standard error is larger by a factor of \eqn{\sqrt 2}{root
#' two}, and only larger changes are found.
#'
#' @param data All observations: a matrix or data frame with observations in
#'   rows, a `SummarizedExperiment` or an `ExpressionSet`.
#' @param group,time The group and the time of every observation: a factor or
#'   another vector, or the name of a column.
#' @param contrast Two of the groups, numerator first; needed if there are more
#'   than two.
#' @param times Two of the times, the later one first; needed if there are more
#'   than two.
#' @param spec The estimator: see [kliep_infer()]; features must have a closed
#'   form. `NULL` is [feat_nonparanormal()].
#' @param ... Other arguments of [two_samples()], such as `pair` (the subject of
#'   every observation, each observed at both times), `unit` (each observed at
#'   one of them), `adjust` or `variables`, and settings of [kliep_spec()] by
#'   name.
#' @inheritParams kliep_infer
#' @return An object of class `kliep_interaction`, a kind of [kliep_infer()]
#'   with its methods. `estimates` has the change of the change (`estimate`) and
#'   in `change_x` and `change_y` the change of the partial correlation over
#'   time in each group, in the place of `partial_x` and `partial_y`. `n` are
#'   the observations of each group at both times.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_gaussian(d = 6, n = 300, n_changed = 2, edge = 0.6,
#'                      change = -1.2)
#' other <- sim_gaussian(d = 6, n = 300, n_changed = 0)
#' # The drug changes two edges; with placebo nothing changes.
#' values <- rbind(pair$x, pair$y, other$x, other$y)
#' visits <- data.frame(values, arm = rep(c("drug", "placebo"), each = 600),
#'                      visit = rep(rep(c("after", "before"), each = 300), 2))
#' kliep_interaction(visits, "arm", "visit", contrast = c("drug", "placebo"),
#'                   times = c("after", "before"))
kliep_interaction <- function(data, group, time, contrast = NULL, times = NULL,
                              spec = NULL, fdr = 0.1, level = 0.95, n_perm = 49,
                              progress = interactive(), ...) {
    call <- match.call()
    how <- check_inference(fdr, level, n_perm, progress)
    dots <- check_group_dots(list(...), "kliep_interaction")
    found <- find_parted(data, time, group, c(group = "`time`", by = "`group`"))
    groups <- check_contrast(contrast, levels(found$by))
    times <- check_visits(times, levels(found$group))
    samples <- lapply(groups, function(one) {
        part_samples(found, one, times, dots)
    })
    rest <- samples$x$rest
    if (is.null(spec) && is.null(rest$features)) spec <- feat_nonparanormal()
    spec <- as_spec(spec, rest)
    ready <- ready_cells(samples, spec)
    changes <- find_interaction(ready$cells, ready$spec, how)
    new_kliep_interaction(changes, ready, list(groups = groups, times = times),
                          how$level, call)
}

# ---- what is asked for -----------------------------------------------------

check_visits <- function(times, levels) {
    tryCatch(
        check_contrast(times, levels),
        kliep_error = function(condition) {
            # The same error, about another argument.
            for (words in list(c("`contrast`", "`times`"),
                               c("contrast = ", "times = "),
                               c("`group`", "`time`"))) {
                condition$message <- gsub(words[1L], words[2L],
                                          condition$message, fixed = TRUE)
            }
            stop(condition)
        }
    )
}

# Both groups as they are tested, each with its design, and the settled
# specification.
ready_cells <- function(samples, spec) {
    if (!has_closed_form(spec$features)) {
        stop_kliep(
            "features",
            paste0("`kliep_interaction()` needs features with a closed form: ",
                   "got ", name_features(spec$features), "."),
            hint = "Use `feat_nonparanormal()` or `feat_gaussian()`."
        )
    }
    refuse_groups(spec)
    cells <- lapply(samples, function(one) {
        checked <- as_samples(one, spec$features, least = 10L)
        refuse_strata(checked$design)
        check_constant(checked, "within", none = FALSE)
        checked
    })
    refuse_shared(cells)
    spec <- settle_spec(spec, cells$x$variables)
    check_within(spec)
    n <- vapply(cells, function(one) sum(observations_of(one)), 1L)
    list(spec = spec, n = n, variables = cells$x$variables,
         cells = lapply(cells, function(one) {
             c(feature_samples(one, spec$features), one["design"],
               one["variables"])
         }))
}

refuse_shared <- function(cells) {
    for (what in c("pair", "unit")) {
        labels <- lapply(cells, function(one) {
            unlist(one$design[[what]][c("x", "y")])
        })
        both <- intersect(labels$x, labels$y)
        if (length(both) == 0L) next
        stop_kliep(
            "design",
            paste0(count_of(length(both), "subject"), " in both groups: ",
                   name_some(both), "."),
            hint = paste("Groups must be of different subjects: a subject",
                         "with the same name in both needs two names.")
        )
    }
}

# ---- tests -----------------------------------------------------------------

# As find_changes(), for the difference of two changes.
find_interaction <- function(cells, spec, how) {
    control <- spec$control
    check_score_memory(cells$x)
    null <- interaction_null(cells, how$n_perm, control, how$progress)
    parts <- lapply(cells, function(one) {
        own <- check_layout_n_perm(how$n_perm, layout_of(one), alike = TRUE)
        within <- shuffle_null(one, own, control)
        near <- neighbour_tests(one, control, units = layout_of(one)$added)
        find_support(one, near, within, control, max(how$fdr, 0.1))
    })
    support <- unique(do.call(rbind, lapply(parts, function(part) {
        part$chosen$support[c("from", "to")]
    })))
    direct <- direct_difference(parts, support, control)
    near <- nodewise_difference(parts)
    p_direct <- p_from_null(direct$z, null)
    p_nodewise <- p_from_null(near$z, null)
    combined <- combine_p_values(p_direct, p_nodewise)
    pairs <- pair_from_index(seq_along(combined))
    variables <- cells$x$variables
    global <- global_p_value(null)
    q_value <- stats::p.adjust(combined, "BH")
    edges <- data.frame(
        from = variables[pairs$from], to = variables[pairs$to],
        estimate = direct$estimate, se = direct$se, z = direct$z,
        p_value = p_direct, p_nodewise = p_nodewise, p_combined = combined,
        q_value = q_value,
        in_support = pair_key(pairs) %in% pair_key(direct$support),
        partial_x = near$change_x, partial_y = near$change_y,
        se_nodewise = near$se, shift = 0,
        changed = global <= how$fdr & q_value <= how$fdr
    )
    about <- function(tests) unlist(tests$moderated[c("df", "prior", "common")])
    list(edges = edges, global = global, fdr = how$fdr, null = null,
         support = direct$support,
         diagnostics = list(direct = about(direct), nodewise = about(near),
                            support_size = nrow(direct$support)))
}

# The estimates of both changes given one support, and their difference. Where
# the samples of a group cannot tell the factors of both supports apart, each
# group keeps its own.
direct_difference <- function(parts, support, control) {
    test <- function(part, support) {
        score_edges(part$near[c("x", "y")], support, control,
                    units = part$layout$added)
    }
    tests <- lapply(parts, test, support)
    if (any(vapply(tests, is.null, NA))) {
        tests <- lapply(parts, function(part) test(part, part$chosen$support))
    }
    pairs <- pair_from_index(seq_along(tests$x$numerator))
    d <- ncol(parts$x$near$x$values)
    fitted <- tabulate(c(support$from, support$to), d)
    fitted <- fitted[pairs$from] + fitted[pairs$to]
    each <- Map(function(one, part) {
        left <- freedom_left(fitted, fitted, part$near$effective)
        scale <- one$information^2
        list(numerator = one$numerator / one$information,
             variance = one$variance / scale / left^2,
             model = one$model / scale / left^2, freedom = one$freedom)
    }, tests, parts)
    moderated <- rust_moderate_tests(difference_tests(each$x, each$y))
    list(estimate = each$x$numerator - each$y$numerator,
         se = sqrt(moderated$variance), z = moderated$z, support = support,
         moderated = moderated)
}

# The same by debiased partial correlations.
nodewise_difference <- function(parts) {
    pairs <- pair_from_index(seq_along(parts$x$near$partial_x))
    of_both <- function(size) (size[pairs$from] + size[pairs$to]) / 2
    each <- lapply(parts, function(part) {
        near <- part$near
        left <- freedom_left(of_both(near$sizes_x), of_both(near$sizes_y),
                             near$effective)
        # Regressions give them the sign of the precision matrix.
        list(numerator = near$partial_y - near$partial_x,
             variance = near$variance / left^2, model = near$model / left^2,
             freedom = near$freedom)
    })
    moderated <- rust_moderate_tests(difference_tests(each$x, each$y))
    list(z = moderated$z, se = sqrt(moderated$variance),
         change_x = each$x$numerator, change_y = each$y$numerator,
         moderated = moderated)
}

# The difference of two independent tests; its degrees of freedom are those of
# a sum of two variances.
difference_tests <- function(a, b) {
    variance <- a$variance + b$variance
    list(numerator = a$numerator - b$numerator, variance = variance,
         model = a$model + b$model,
         freedom = variance^2 / (a$variance^2 / a$freedom +
                                     b$variance^2 / b$freedom))
}

# ---- the null --------------------------------------------------------------

# As shuffle_null(): |z| of all edges at the empty support, where subjects have
# changed groups.
interaction_null <- function(cells, n_perm, control, progress) {
    aligned <- align_cells(cells)
    shuffles <- draw_subjects(aligned, n_perm)
    draw <- progress_bars(progress)("Shuffling")
    z <- lapply(seq_along(shuffles), function(k) {
        if (!is.null(draw)) draw(k, length(shuffles))
        empty_difference(divide_cells(aligned, shuffles[[k]]), control)
    })
    observed <- empty_difference(divide_cells(aligned, NULL), control)
    all <- abs(unlist(z))
    list(count = length(all), tail = sort(all), tail_from = 0,
         bins = numeric(), largest = vapply(z, function(z) max(abs(z)), 1),
         squares = vapply(z, function(z) sum(z^2), 1),
         observed = c(max(abs(observed)), sum(observed^2)))
}

# The observations of all four samples, those of one time aligned between the
# groups: `values`, `late` (is it of the first time?), `group` (1 or 2), `unit`,
# what changes groups as a whole, whether that is of both times (`paired`), and
# whether it is added up (`added`).
align_cells <- function(cells) {
    late <- align_samples(cells$x$x, cells$y$x)
    early <- align_samples(cells$x$y, cells$y$y)
    n <- vapply(cells, observations_of, c(x = 1L, y = 1L))
    labels <- lapply(names(cells), function(name) {
        design <- cells[[name]]$design
        of <- if (is.null(design$pair)) design$unit else design$pair
        own <- lapply(c("x", "y"), function(time) {
            if (is.null(of)) paste(time, seq_len(n[time, name])) else of[[time]]
        })
        lapply(own, function(label) paste(name, label))
    })
    label <- c(labels[[1L]][[1L]], labels[[2L]][[1L]], labels[[1L]][[2L]],
               labels[[2L]][[2L]])
    list(values = rbind(late$x, late$y, early$x, early$y),
         late = rep(c(TRUE, FALSE), rowSums(n)),
         group = rep(c(1L, 2L, 1L, 2L), as.vector(t(n))),
         unit = match(label, unique(label)),
         paired = !is.null(cells$x$design$pair),
         added = !is.null(units_of(cells$x$design)))
}

# Different sets of units for the first group: of subjects, or at each time of
# the units of that time.
draw_subjects <- function(aligned, n_perm) {
    draw <- function(late, alike) {
        own <- lapply(1:2, function(group) {
            unique(aligned$unit[aligned$group == group &
                                    aligned$late %in% late])
        })
        n <- lengths(own)
        n_perm <- check_n_perm(n_perm, n[1L], n[2L], alike)
        lapply(draw_shuffles(n[1L], n[2L], n_perm, alike),
               function(set) unlist(own)[set])
    }
    if (aligned$paired) return(draw(c(TRUE, FALSE), alike = TRUE))
    Map(c, draw(TRUE, alike = FALSE), draw(FALSE, alike = FALSE))
}

# The four samples where these units are the first group; NULL leaves all where
# they are.
divide_cells <- function(aligned, units) {
    first <- if (is.null(units)) aligned$group == 1L else
        aligned$unit %in% units
    lapply(list(x = first, y = !first), function(own) {
        lapply(list(x = own & aligned$late, y = own & !aligned$late),
               function(at) {
            list(values = aligned$values[at, , drop = FALSE],
                 unit = if (aligned$added) aligned$unit[at])
        })
    })
}

# z of the difference of both changes with nothing in the support.
empty_difference <- function(cells, control) {
    each <- lapply(cells, function(one) {
        scaled <- lapply(one, function(side) {
            z <- center_columns(side$values)
            z <- sweep(z, 2L, sqrt(colMeans(z^2)), "/")
            list(values = z, squares = z^2)
        })
        units <- if (!is.null(one$x$unit)) {
            both <- c(one$x$unit, one$y$unit)
            both <- match(both, unique(both))
            first <- seq_along(one$x$unit)
            list(x = both[first], y = both[-first])
        }
        score_edges(scaled, no_factors(), control, units = units)
    })
    rust_moderate_tests(difference_tests(each$x, each$y))$z
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_interaction <- function(changes, ready, called, level, call) {
    estimates <- combined_estimates(changes$edges, level)
    estimates$shift <- NULL
    at <- match(c("partial_x", "partial_y"), names(estimates))
    names(estimates)[at] <- c("change_x", "change_y")
    result <- list(
        estimates = estimates,
        global = list(p_value = changes$global,
                      largest = changes$null$observed[1L],
                      squares = changes$null$observed[2L]),
        fdr = changes$fdr, level = level,
        n_perm = length(changes$null$largest),
        support = named_support(changes$support, ready$variables),
        null = changes$null, diagnostics = changes$diagnostics,
        spec = ready$spec, variables = ready$variables, n = ready$n,
        conditions = called$groups, times = called$times,
        subjects = lapply(ready$cells, function(one) {
            units_of(one$design)[["x"]]
        }), call = call
    )
    structure(result, class = c("kliep_interaction", "kliep_infer"))
}

#' @export
format.kliep_interaction <- function(x, ...) {
    lines <- NextMethod()
    lines[1L] <- sub("<kliep_infer> of ", "<kliep_interaction> of ", lines[1L],
                     fixed = TRUE)
    units <- unlist(x$subjects)
    append(lines, c(
        paste0("  times      ", x$times[["x"]], " minus ", x$times[["y"]]),
        if (length(units) > 0L) paste0("  units      x: ", units[["x"]],
                                       ", y: ", units[["y"]])
    ), 2L)
}

#' @export
print.kliep_interaction <- function(x, most = 10L, ...) {
    cat(format(x), "", sep = "\n")
    cat(strwrap(say_changes(x), width = 78L), sep = "\n")
    found <- x$estimates[x$estimates$changed, ]
    found <- found[order(found$p_value), c("from", "to", "estimate", "lower",
                                           "upper", "change_x", "change_y",
                                           "q_value", "test")]
    print_kept(found, most)
    cat("\nNext: edges(), plot(), $estimates for all edges\n")
    invisible(x)
}
