# Designs that observations come in: how often anything is reported where
# nothing has changed, and how much of what has changed is found, with the
# design and with it ignored.

# Finished runs are kept here, as those of the calibration are.
designs_folder <- file.path("build", "designs")

# No rule was made on these seeds.
designs_seeds <- 9500L

# What the vignettes read.
designs_file <- file.path("inst", "paper", "designs.csv")

# How many data sets of each kind, without a change and with four.
designs_runs <- c(level = 100L, power = 50L)

bench_designs <- function(settings = c(designs_settings(), mixed_settings()),
                          runs = designs_runs) {
    dir.create(designs_folder, showWarnings = FALSE, recursive = TRUE)
    parts <- lapply(names(settings), function(name) {
        message("designs: ", name)
        table <- without_beyond(setting_runs(name, settings[[name]], runs))
        about <- attr(settings[[name]], "about")
        keep_design(name, if (is.null(about)) "designs" else about, table)
        design_rows(name, table)
    })
    rbind(do.call(rbind, parts), groups_cost_rows())
}

# What comparing several groups costs beyond their contrasts one by one: with
# 100 variables these have tests beyond correlations, too, and with 300 they
# have none.
groups_cost_rows <- function(variables = c(100L, 300L), rounds = 3L) {
    do.call(rbind, lapply(variables, function(d) {
        message("designs: cost of six groups of ", d, " variables")
        data <- with_seed(designs_seeds, list(
            values = matrix(stats::rnorm(600 * d), 600),
            group = rep(letters[1:6], each = 100)
        ))
        seconds <- vapply(seq_len(rounds), function(round) {
            c(together = groups_seconds(groups_together, data),
              alone = groups_seconds(groups_alone, data))
        }, numeric(2))
        median <- apply(seconds, 1L, stats::median)
        bench_row(
            paste("six groups of 100,", d, "variables: kliep_groups(), and",
                  "kliep_infer() for each of 15 contrasts"),
            paste0(show_seconds(median[["together"]]), ", ",
                   show_seconds(median[["alone"]]), " of the processor"),
            show_ratio(median[["alone"]] / median[["together"]])
        )
    }))
}

groups_seconds <- function(work, data) {
    set.seed(1)
    sum(system.time(work(data))[c("user.self", "sys.self")])
}

groups_together <- function(data) {
    kliep_groups(data$values, data$group, control = one_thread(),
                 progress = FALSE)
}

groups_alone <- function(data) {
    lapply(utils::combn(letters[1:6], 2L, simplify = FALSE), function(pair) {
        kliep_infer(data$values, spec = feat_nonparanormal(),
                    group = data$group, contrast = rev(pair),
                    control = one_thread(), progress = FALSE)
    })
}

setting_runs <- function(name, draw, runs) {
    first <- attr(draw, "seeds")
    if (is.null(first)) first <- designs_seeds
    asked <- data.frame(what = rep(names(runs), runs),
                        seed = first + sequence(runs) - 1L)
    do.call(rbind, on_all_cores(seq_len(nrow(asked)), function(k) {
        design_run(name, draw, asked$what[k], asked$seed[k])
    }))
}

# The rows of one setting take the place of its earlier ones in the file; those
# of other settings stay. `about` is the vignette that shows them.
keep_design <- function(name, about, table) {
    error <- function(values) stats::sd(values) / sqrt(length(values))
    rows <- do.call(rbind, lapply(c("used", "ignored"), function(way) {
        none <- table[table$what == "level" & table$way == way, ]
        some <- table[table$what == "power" & table$way == way, ]
        data.frame(setting = name, about = about, design = way,
                   level_runs = nrow(none),
                   any = mean(none$any), any_error = error(none$any),
                   power_runs = nrow(some), power = mean(some$power),
                   power_error = error(some$power), false = mean(some$false),
                   false_error = error(some$false))
    }))
    old <- if (file.exists(designs_file)) utils::read.csv(designs_file)
    rows <- rbind(old[!old$setting %in% name, ], rows)
    known <- names(c(designs_settings(), mixed_settings()))
    rows <- rows[order(match(rows$setting, known)), ]
    rows[] <- lapply(rows, function(x) if (is.double(x)) round(x, 4L) else x)
    utils::write.csv(rows, designs_file, row.names = FALSE)
}

# Each draws samples with `changed` edges that have changed, and has the
# arguments that describe their design.
designs_settings <- function() {
    list(
        "batch, in 50 % and 10 %" = batch_design,
        "12 + 12 donors of 25 cells" = donor_design,
        "12 + 12 donors with other means" = within_design,
        "150 pairs" = paired_design,
        "spins in two strata, 80 % and 20 %" = strata_design,
        "three groups of 150" = groups_design,
        "two groups of 100 at two times" = interaction_design,
        "two cell types, 12 + 12 donors" = cells_design,
        "pseudobulk of 40 + 40 donors" = pseudobulk_design
    )
}

# One data set by both ways: did they report anything, and what share of the
# changed and of the reported edges is right.
design_run <- function(name, draw, what, seed) {
    file <- file.path(designs_folder, paste0(
        gsub("[^a-z0-9]+", "-", tolower(name)), "-", what, "-", seed, ".rds"
    ))
    if (file.exists(file)) return(readRDS(file))
    data <- with_seed(seed, draw(if (what == "power") 4 else 0))
    one <- function(way) {
        set.seed(seed)
        # Of the processor: other runs go on beside this one. Collecting garbage
        # first would take longer than most runs.
        seconds <- sum(system.time(
            found <- suppressWarnings(data$find(way == "used")),
            gcFirst = FALSE
        )[c("user.self", "sys.self")])
        data.frame(what = what, way = way, any = length(found) > 0L,
                   power = if (what == "power") mean(data$truth %in% found) else
                       NA,
                   false = if (length(found) == 0L) 0 else
                       mean(!found %in% data$truth), seconds = seconds)
    }
    run <- rbind(one("used"), one("ignored"))
    saveRDS(run, file)
    run
}

# The level is that of any edge at fdr = 0.1.
design_rows <- function(name, table) {
    do.call(rbind, lapply(c("used", "ignored"), function(way) {
        none <- table[table$what == "level" & table$way == way, ]
        some <- table[table$what == "power" & table$way == way, ]
        error <- sqrt(0.1 * 0.9 / nrow(none))
        spread <- function(values) stats::sd(values) / sqrt(length(values))
        rbind(
            bench_row(
                paste0(name, ", ", way, ": any edge without a change"),
                sprintf("%.2f (%.2f)", mean(none$any), error),
                runs_note(none),
                if (way == "used") at_most(mean(none$any) - 2 * error, 0.1,
                                           " within two errors")
            ),
            bench_row(
                paste0(name, ", ", way, ": power; false share"),
                sprintf("%.2f (%.2f); %.2f (%.2f)", mean(some$power),
                        spread(some$power), mean(some$false),
                        spread(some$false)),
                runs_note(some)
            )
        )
    }))
}

runs_note <- function(runs) {
    paste0(nrow(runs), " runs, ", show_seconds(stats::median(runs$seconds)))
}

# ---- data ------------------------------------------------------------------

edge_names <- function(table) {
    paste(pmin(table$from, table$to), pmax(table$from, table$to))
}

# Two samples of a network of 15 variables.
design_pair <- function(changed, n_x, n_y = n_x) {
    gaussian_pair(calibration_setting(15, n_x, n_y = n_y, density = 0.1,
                                      edge = 0.6, changed = changed))
}

# With the arguments of a design, or without.
find_by_auto <- function(x, y, truth, ...) {
    list(truth = edge_names(truth), find = function(used) {
        arguments <- c(list(x, y, control = one_thread(), progress = FALSE),
                       if (used) list(...))
        edge_names(edges(do.call(kliep_auto, arguments)))
    })
}

# A batch that shifts all variables, in half of the observations of one
# condition and a tenth of the other.
batch_design <- function(changed, n = 150) {
    pair <- design_pair(changed, n)
    batch <- rep(c(0, 1, 0, 1), round(c(0.5, 0.5, 0.9, 0.1) * n))
    effect <- stats::rnorm(ncol(pair$x), 1.4, 0.3)
    values <- rbind(pair$x, pair$y) + outer(batch, effect)
    find_by_auto(values[1:n, ], values[n + 1:n, ], pair$truth,
                 adjust = data.frame(batch = batch))
}

# Draws of a network in which observations of one unit are correlated by
# `share`, and the network of all observations is still the one given: what is
# common to a unit has the same network, so that no other edge changes.
draw_units <- function(precision, unit, share) {
    d <- ncol(precision)
    root <- chol(solve(as.matrix(precision)))
    common <- matrix(stats::rnorm(max(unit) * d), max(unit))[unit, ]
    own <- matrix(stats::rnorm(length(unit) * d), length(unit))
    values <- (sqrt(share) * common + sqrt(1 - share) * own) %*% root
    colnames(values) <- colnames(precision)
    values
}

# Cells of one donor are alike: correlated by 0.3 in every variable.
donor_design <- function(changed, donors = 12, cells = 25) {
    pair <- design_pair(changed, 10)
    unit <- rep(seq_len(donors), each = cells)
    x <- draw_units(pair$networks$x, unit, 0.3)
    y <- draw_units(pair$networks$y, unit, 0.3)
    find_by_auto(x, y, pair$truth, unit = c(unit, donors + unit))
}

# Donors whose means differ in directions of their own, which are taken off.
within_design <- function(changed, donors = 12, cells = 25) {
    n <- donors * cells
    pair <- design_pair(changed, n)
    unit <- rep(seq_len(2 * donors), each = cells)
    loading <- stats::rnorm(ncol(pair$x))
    effect <- outer(stats::rnorm(2 * donors), loading) +
        matrix(stats::rnorm(2 * donors * ncol(pair$x)), 2 * donors)
    values <- rbind(pair$x, pair$y) + effect[unit, ] / (2 * sqrt(2))
    find_by_auto(values[1:n, ], values[n + 1:n, ], pair$truth, unit = unit,
                 adjust = data.frame(donor = factor(unit)))
}

# Both sides of a pair are correlated by 0.6, each with its own network.
paired_design <- function(changed, n = 150) {
    pair <- design_pair(changed, 10)
    sides <- draw_twice(pair$networks[c("x", "y")], n)
    find_by_auto(sides[[1L]], sides[[2L]], pair$truth,
                 pair = rep(seq_len(n), 2L))
}

# Spins that are coupled in one stratum and not in the other, where conditions
# have the strata in other shares.
strata_design <- function(changed, n = 250, d = 8, share = 0.8) {
    sizes <- round(c(share, 1 - share) * n)
    strong <- ising_chain(d, coupling = 0.6)
    weak <- ising_chain(d, coupling = 0)
    draw <- function(theta, n) sim_ising(theta, theta, n, threads = 1)$x
    y <- rbind(draw(strong, sizes[2L]), draw(weak, sizes[1L]))
    chosen <- if (changed > 0) ising_change(strong, 2, change = -0.8)
    shift <- if (changed > 0) chosen - strong else 0 * strong
    x <- rbind(draw(strong + shift, sizes[1L]), draw(weak + shift, sizes[2L]))
    at <- which(as.matrix(shift) != 0 & upper.tri(as.matrix(shift)),
                arr.ind = TRUE)
    truth <- data.frame(from = colnames(x)[at[, 1L]],
                        to = colnames(x)[at[, 2L]])
    strata <- rep(c("s", "w", "s", "w"), c(sizes, rev(sizes)))
    find_by_auto(x, y, truth, strata = strata)
}

# One group of three differs, if any; beside it, each pair by itself.
groups_design <- function(changed, n = 150) {
    pair <- design_pair(changed, n, 2 * n)
    values <- rbind(pair$x, pair$y)
    group <- rep(c("a", "b", "c"), each = n)
    labelled <- function(found, contrast) {
        if (nrow(found) == 0L) return(character())
        paste(contrast, edge_names(found))
    }
    truth <- edge_names(pair$truth)
    truth <- if (length(truth) > 0L) c(paste("b - a", truth),
                                       paste("c - a", truth))
    list(truth = truth, find = function(used) {
        if (used) {
            found <- edges(kliep_groups(values, group, control = one_thread(),
                                        progress = FALSE))
            return(labelled(found, found$contrast))
        }
        pairs <- list(c("b", "a"), c("c", "a"), c("c", "b"))
        unlist(lapply(pairs, function(two) {
            found <- kliep_auto(values, group = group, contrast = two,
                                control = one_thread(), progress = FALSE)
            labelled(edges(found), paste(two, collapse = " - "))
        }))
    })
}

# Two groups of subjects at two times. Time changes the same edges in both or,
# if there is something to find, those of one group alone. The comparison
# ignores the design: it takes what is found in one group and not in the other.
interaction_design <- function(changed, n = 100) {
    pair <- design_pair(4, 10)
    other <- if (changed > 0) "y" else "x"
    cells <- list(pair$networks$x, pair$networks$y, pair$networks[[other]],
                  pair$networks$y)
    draws <- lapply(1:2, function(group) draw_twice(cells[2 * group - 1:0], n))
    values <- do.call(rbind, unlist(draws, recursive = FALSE))
    arm <- rep(c("drug", "placebo"), each = 2L * n)
    visit <- rep(c("after", "before", "after", "before"), each = n)
    subject <- c(rep(seq_len(n), 2L), n + rep(seq_len(n), 2L))
    within <- function(one) {
        at <- arm == one
        edge_names(edges(kliep_auto(
            values[at, ], group = visit[at], contrast = c("after", "before"),
            pair = subject[at], control = one_thread(), progress = FALSE
        )))
    }
    list(truth = if (changed > 0) edge_names(pair$truth),
         find = function(used) {
             if (!used) return(setdiff(within("drug"), within("placebo")))
             edge_names(edges(kliep_interaction(
                 values, arm, visit, contrast = c("drug", "placebo"),
                 times = c("after", "before"), pair = subject,
                 control = one_thread(), progress = FALSE
             )))
         })
}

# Two samples with these networks, whose observations are correlated by 0.6.
draw_twice <- function(networks, n) {
    d <- ncol(networks[[1L]])
    first <- matrix(stats::rnorm(n * d), n)
    second <- 0.6 * first + 0.8 * matrix(stats::rnorm(n * d), n)
    Map(function(values, precision) {
        values <- values %*% chol(solve(as.matrix(precision)))
        colnames(values) <- colnames(precision)
        values
    }, list(first, second), networks)
}

# Cells of two types from the same donors, those of one type changed; beside it
# all cells taken for independent.
cells_design <- function(changed, donors = 12, cells = 20) {
    pair <- design_pair(changed, 10)
    unit <- rep(seq_len(donors), each = cells)
    draw <- function(network) draw_units(network, unit, 0.3)
    networks <- pair$networks
    values <- rbind(draw(networks$x), draw(networks$y),
                    draw(networks$y), draw(networks$y))
    n <- length(unit)
    condition <- rep(c("case", "control", "case", "control"), each = n)
    type <- rep(c("one", "two"), each = 2L * n)
    donor <- paste(condition, unit)
    truth <- edge_names(pair$truth)
    find_by_type(values, condition, type,
                 if (length(truth) > 0L) paste("one", truth), unit = donor)
}

# Donors that are compared by the means of their cells.
pseudobulk_design <- function(changed, donors = 40, cells = 10) {
    pair <- design_pair(changed, 10)
    unit <- rep(seq_len(donors), each = cells)
    values <- rbind(draw_units(pair$networks$x, unit, 0.5),
                    draw_units(pair$networks$y, unit, 0.5))
    condition <- rep(c("case", "control"), each = length(unit))
    truth <- edge_names(pair$truth)
    find_by_type(values, condition, rep("one", nrow(values)),
                 if (length(truth) > 0L) paste("one", truth),
                 unit = paste(condition, unit), pool = "mean")
}

# By type, with donors or without.
find_by_type <- function(values, condition, type, truth, ...) {
    list(truth = truth, find = function(used) {
        found <- edges(do.call(kliep_by, c(
            list(values, condition, type, contrast = c("case", "control"),
                 control = one_thread(), progress = FALSE),
            if (used) list(...)
        )))
        if (nrow(found) == 0L) return(character())
        paste(found$contrast, edge_names(found))
    })
}
