# kliep_time(): which edges change over a series, when, and how fast.

#' How fast every edge of a network changes over time
#'
#' Finds which edges of a network change over a series of observations, when
#' they change, and how fast, without estimating any network. It reports the
#' rates of change of partial correlations (of couplings, for spins) with
#' confidence bands, and edges with a false discovery rate of at most `fdr`.
#'
#' @section Model:
#' At time \eqn{t} an observation has the density \eqn{p_t(x) \propto
#' \exp(\theta(t)^\top f(x))}{p_t(x) ~ exp(theta(t)' f(x))}. Then
#' \deqn{\frac{d}{dt} E_t f = \mathrm{Cov}_t(f)\, \theta'(t),}{
#'     d/dt E_t f = Cov_t(f) theta'(t),}
#' a linear equation for the rates \eqn{\theta'(t)}{theta'(t)}, in which
#' neither a normaliser nor a network appears: only the change has to be sparse.
#' For Gaussian features it reads
#' \deqn{\tfrac12 (S D S + (S D S)^\top) = -\frac{dS}{dt}, \qquad
#'     D = \frac{d\Omega}{dt},}{
#'     S D S = -dS/dt,  D = dOmega/dt,}
#' the equation of [kliep_infer()] for two samples an instant apart.
#'
#' A change of scale of a single variable changes \eqn{\Omega}{Omega} at all of
#' its edges. So scales may change freely here. With \eqn{R} the correlations at
#' time \eqn{t} and \eqn{T(G)_{ij} = G_{ij} - R_{ij} (G_{ii} + G_{jj}) /
#' 2}{T(G)_ij = G_ij - R_ij (G_ii + G_jj) / 2}, the rates \eqn{\Theta'}{Theta'},
#' which have a zero diagonal, solve
#' \deqn{T(R\, \Theta' R) = \frac{dR}{dt},}{T(R Theta' R) = dR/dt,}
#' and are non-zero exactly where partial correlations change. They are reported
#' in units of the residual standard deviation of each variable given the
#' others, averaged over the series; where the residual standard deviation
#' equals its average, they are the rates of partial correlations.
#'
#' @section Method:
#' 1. Drifting means and variances are removed: every variable is centred and
#'    scaled by a line over all of the span or by local lines over a half or a
#'    quarter of it, the widest that is within two standard errors of the best
#'    in predicting blocks of rows from others that are not next to them
#'    (`$drift` says how far they drifted). The normal scores of
#'    [feat_nonparanormal()] are computed first, from the ranks in the whole
#'    series. For [feat_ising()] the fields may drift: the products of spins are
#'    taken less their local regression on the spins.
#' 2. In a window around \eqn{\tau}{tau} with half-width \eqn{h}, the slope of
#'    the moments is that of a local line with the kernel \eqn{1 - u^2},
#'    \eqn{u = (t - \tau) / h}{u = (t - tau) / h}; no derivative of data is
#'    taken, and times may be irregular and repeated. The moments themselves
#'    have the weights \eqn{(1 - u^2)^2}{(1 - u^2)^2}.
#' 3. All of the span, its halves and its quarters are windows, each beginning
#'    in the middle of the one before. A lasso path over all of them, in which
#'    the rates of an edge in all windows are one group, gives supports. Given a
#'    support, its equations are solved in every window, and every other edge is
#'    tested by the residual of its own equation, as in [kliep_infer()]. The
#'    support grows until nothing is found outside, or the bulk of all
#'    statistics has the distribution of the null. A support may lack changes,
#'    and have other edges by chance, so an unchanged edge may be found in the
#'    place of a change beside it. Therefore, an edge that is found has the
#'    largest of three p-values: given the support; given the support with its
#'    rivals, edges with a p-value below 0.05 whose change would show in the
#'    equation of one that is found; and given the other edges found alone.
#' 4. Rows that follow each other may depend on each other. Rows are summed over
#'    blocks, and what one row predicts of the next is carried over the ends of
#'    the blocks: with \eqn{m} the products of an edge and \eqn{a} their
#'    autocorrelation from one row to the next, \eqn{a / (1 - a)} times \eqn{m}
#'    of its last row is added to a sum, and that of the row before its first is
#'    subtracted. Where \eqn{m} is an autoregression, these are sums of its
#'    innovations, which have the same mean and nothing in common with each
#'    other. Autocorrelations are corrected for the drift that was removed, and
#'    differ between edges as far as both halves of the series agree. By how
#'    much the variance in a window still exceeds that of its blocks comes from
#'    the remaining autocovariances, pooled over up to 300 edges. Variances in a
#'    window are moderated towards those of the series; the variance of an edge
#'    of the support changes with its correlation over the series, and is that
#'    of the times of the window.
#' 5. The statistic of an edge is its largest |z| over all windows. Narrow
#'    windows are more numerous, and their |z| must be larger to count as much.
#'    The null distribution comes from `n_perm` shuffles of the blocks in time;
#'    each is smoothed like the series before its variances are computed.
#'    The shuffles also test whether anything has changed at all, by the largest
#'    statistic and by the sum of squares; where that p-value is above `fdr`, no
#'    edge is reported. `q_value` is adjusted by the method of Benjamini and
#'    Hochberg.
#' 6. The reported edges have curves of their rates in windows of one width,
#'    given the support: `lower` and `upper` hold at each time by itself,
#'    `lower_all` and `upper_all` for all times of an edge at once, by random
#'    weights of the blocks. `changing` says at which times an edge changes: the
#'    times of an edge are tested at `fdr` times the share of edges that are
#'    reported (Benjamini and Bogomolov, 2014).
#'
#' @section How it relates to time score matching:
#' Williams, Wang, Ying, Liu and Kolar (2025) match the time score
#' \eqn{\partial_t \log p_t(x) = \theta'(t)^\top (f(x) - E_t f)}{d/dt log p_t(x)
#' = theta'(t)' (f(x) - E_t f)}. With a weight \eqn{g} that vanishes at both
#' ends of the span, and partial integration, their estimator (SparTSM)
#' minimises
#' \deqn{\frac{1}{2n} \sum_i g(t_i) \bigl\{\alpha^\top (f(x_i) - \hat E_{t_i} f)
#'     \bigr\}^2 + \frac{1}{n} \sum_i g'(t_i)\, \alpha^\top f(x_i) + \lambda
#'     \|\alpha\|_1}{(1 / 2n) sum_i g(t_i) {alpha' (f(x_i) - E_ti f)}^2 +
#'     (1 / n) sum_i g'(t_i) alpha' f(x_i) + lambda |alpha|_1}
#' for a rate that is constant or has a basis in time, and removes the bias of
#' one coefficient by a sparse row of the inverse Hessian. The gradient of this
#' objective is the equation above in the window of \eqn{g}: the kernel of step
#' 2 is \eqn{g = (1 - u^2)^2}{g = (1 - u^2)^2}, as \eqn{g'} is proportional to
#' \eqn{-u (1 - u^2)}{-u (1 - u^2)}. Here windows are narrower than the span and
#' \eqn{g'} is centred at the times that there are; the Gaussian covariance of
#' features has its closed form; scales are free; the lasso only screens, and
#' edges are tested given a support for all of them at once, in place of one
#' inverse row each; and rows may depend on each other.
#'
#' @section How far to trust it:
#' Curves are averages over their window: a sudden change is spread over its
#' width, and the bands are those of the average. Local lines do not remove a
#' common jump of the means or variances of several variables, which may look
#' like a change of their edges at that time. Blocks are assumed exchangeable
#' where nothing changes. With fewer than about 50 blocks only wide windows are
#' used. The results depend on the random number generator.
#'
#' `make bench ONLY=time` in the source tree measures the share of false edges,
#' the power and the coverage of the bands on series of [sim_drift()], of
#' independent rows and of rows that persist; `vignette("returns")` shows the
#' tables, and says which settings fail. Where little is found, the bands of
#' `rates` cover less by their selection, and those of `followed` hold. The most
#' persistent rows keep 0.8 of one row at the next. Products of variables then
#' have an autocorrelation of 0.64, and vary as those of a fifth as many
#' independent rows, so that little is found. Where the autocorrelation of
#' products is above 0.7, a warning of class `kliep_warning_dependence` says so:
#' thin the rows out, or take what is found as a ranking. Dependence that is no
#' autoregression, such as that of returns, of which calm and nervous days come
#' together, is left to longer blocks and to the autocovariances of step 4, and
#' has not been measured.
#'
#' @param series The observations, in the order of time: a matrix or data frame
#'   with variables in columns.
#' @param time When each observation was made, never decreasing: numbers, dates
#'   (`Date`) or times of day (`POSIXct`), or the name of the column that has
#'   them, which is then not a variable. `NULL` takes a column called `time` if
#'   there is one, and the number of the row otherwise.
#' @param features [feat_gaussian()], [feat_nonparanormal()] or [feat_ising()].
#'   Counts and returns have heavy tails, of which a few large values may pass
#'   for changes: use the ranks of [feat_nonparanormal()] for these.
#' @param fdr The false discovery rate: the expected share of false edges among
#'   those reported.
#' @param level The confidence level of the bands.
#' @param edges Edges whose rates are wanted whether they are reported or not: a
#'   data frame with columns `from` and `to`, by name or by number. Choose them
#'   without looking at these data; see `followed` below.
#' @param times Where to evaluate the curves: how many times, or the times
#'   themselves (as text, too, where they are dates). Evenly spaced ones keep
#'   half a window from both ends. Times whose window has fewer than 8 blocks,
#'   as in a gap of the series, are left out.
#' @param bandwidth Half the width of the windows of the curves: a number, or a
#'   span of time ([difftime()]) where times have units. `NULL` chooses an
#'   eighth to a quarter of the span, by how well local lines through the other
#'   blocks predict the moments of the reported edges. Which edges are reported
#'   does not depend on it.
#' @param block How many consecutive rows form a block, whose influences are
#'   summed before they are squared. `NULL` chooses by the autocorrelations of
#'   products of variables that the row before does not explain (Carlstein,
#'   1986), with at most 150 blocks.
#' @param per The unit of time of the rates: a number or a span of time in the
#'   units of `time`. `NULL` is the whole span, so that a rate of one, from the
#'   first row to the last, is a change by one.
#' @param n_perm The number of shuffles, at least 19. `NULL` takes as many as
#'   give 20,000 statistics of edges, from 49 to 999.
#' @param na What to do about missing values: `"error"`, or `"omit"` the rows.
#' @param control See [kliep_control()]; its `threads` are used.
#' @param progress Show progress?
#' @param ... Must be empty.
#'
#' @return An object of class `kliep_time`, with [print()], [summary()],
#'   [`plot()`][autoplot.kliep_time], [`edges()`][edges.kliep_time],
#'   [`tidy()`][tidy.change_path], [as_igraph()] and [hubs()]:
#'   * `estimates`: a data frame with one row for each edge: `from`, `to`, `z`
#'     (the statistic over all windows), `p_value`, `q_value`, `in_support` and
#'     `changed`, whether the edge is reported;
#'   * `rates`: one row for each reported edge and time: `from`, `to`, `time`,
#'     `estimate`, `se`, `lower`, `upper`, `lower_all`, `upper_all`, `z`,
#'     `p_adjusted` (for all times of the edge) and `changing`;
#'   * `followed`: the same for the edges given as `edges`, except that
#'     `reported` takes the place of `changing`. The bands of `rates` are those
#'     of edges that are reported as they seem to change, and cover less than
#'     `level` where little is found; those of `followed` are not selected;
#'   * `spans`: one row for each reported edge: `start`, `peak`, `end`;
#'   * `total`: the root of the sum of squared rates of the reported edges at
#'     each time, and `peak`, where it is largest, with an interval;
#'   * `drift`: for each variable `mean_drift`, the range of its mean in
#'     standard deviations, and `sd_ratio`, its largest standard deviation by
#'     its smallest;
#'   * `global`: the test of no change at all;
#'   * `persistence`: the mean autocorrelation of products of variables from one
#'     row to the next; and `effective`, the number of independent rows that
#'     would say as much about them;
#'   * `bandwidth`, `block`, `per`, `support`, `null` and the settings of the
#'     call.
#' @references
#' Williams, D. J., Wang, L., Ying, Q., Liu, S. and Kolar, M. (2025).
#' High-dimensional differential parameter inference in exponential family using
#' time score matching. *Proceedings of Machine Learning Research* 258
#' (AISTATS), 3493--3501.
#'
#' Benjamini, Y. and Bogomolov, M. (2014). Selective inference on multiple
#' families of hypotheses. *Journal of the Royal Statistical Society, Series B*
#' 76, 297--318.
#'
#' Carlstein, E. (1986). The use of subseries values for estimating the variance
#' of a general statistic from a stationary sequence. *The Annals of Statistics*
#' 14, 1171--1179.
#' @seealso [kliep_windows()] to compare windows with a reference period,
#'   [sim_drift()] for series whose changes are known.
#' @export
#' @examples
#' set.seed(1)
#' drifting <- sim_drift(d = 8, n = 800, n_changed = 2, change = 0.5)
#' found <- kliep_time(drifting$series)
#' found
#' edges(found)
#' drifting$truth
#' plot(found)
kliep_time <- function(series, time = NULL, features = feat_gaussian(),
                       fdr = 0.1, level = 0.95, edges = NULL, times = 50,
                       bandwidth = NULL, block = NULL, per = NULL,
                       n_perm = NULL, na = c("error", "omit"),
                       control = kliep_control(), progress = interactive(),
                       ...) {
    call <- match.call()
    check_dots(list(...), names(formals()), "kliep_time")
    features <- check_time_features(features)
    how <- list(fdr = check_fraction(fdr, "fdr"),
                level = check_fraction(level, "level"),
                control = check_control(control),
                progress = check_flag(progress, "progress"))
    na <- check_choice(na, "na", c("error", "omit"))
    parts <- check_drifting(series, time, features, na)
    if (!is.null(edges)) {
        edges <- check_pairs(edges, parts$variables, "the series does")
        how$follow <- edge_number(edges)
    }
    how$half <- check_bandwidth(bandwidth, parts$time)
    how$at <- check_times(times, parts$time)
    how$per <- check_per(per, parts$time)
    how$n_perm <- check_time_shuffles(n_perm, ncol(parts$values))
    check_time_memory(ncol(parts$values), nrow(parts$values), features)
    ready <- prepare_series(parts, features, block)
    notice_series(parts, ready$values, features)
    check_curve_windows(ready$model$blocks, how)
    warn_dependence(ready$model)
    result <- find_drift(ready, how)
    new_kliep_time(result, ready, parts, how, list(features = features,
                                                   call = call))
}

# ---- what is asked for -----------------------------------------------------

check_time_features <- function(features, fun = "kliep_time()") {
    features <- check_features(features)
    if (has_closed_form(features) || features$family == "ising") {
        return(features)
    }
    stop_kliep("features",
               paste0("`", fun, "` takes Gaussian, nonparanormal and Ising ",
                      "features: got ", name_features(features), "."),
               hint = "`kliep_windows(n_perm = )` takes all of them.")
}

# A length of time as a share of the span.
share_of_span <- function(value, arg, time) {
    if (inherits(value, "difftime")) {
        if (!inherits(time, c("Date", "POSIXct"))) {
            stop_kliep("time", paste0("`", arg, "` is a span of time, and ",
                                      "`time` has numbers."),
                       hint = "Give a number.")
        }
        value <- as.numeric(value, units = if (inherits(time, "Date")) "days"
                            else "secs")
    }
    check_positive(value, arg, "time") /
        (as.numeric(time[length(time)]) - as.numeric(time[1L]))
}

check_bandwidth <- function(bandwidth, time) {
    if (is.null(bandwidth)) return(NULL)
    half <- share_of_span(bandwidth, "bandwidth", time)
    if (half <= 0.5) return(half)
    stop_kliep("time", paste0("`bandwidth` must be at most half of the span ",
                              "of the series: got ", format(half, digits = 3L),
                              " of it."))
}

# A number of times, or their places from 0 to 1.
check_times <- function(times, time) {
    times <- read_times(times, time)
    if (is_number_of_times(times)) {
        return(check_whole(times, "times", "time"))
    }
    if (are_times_within(times, time)) {
        ends <- as.numeric(time[c(1L, length(time))])
        return(list(at = sort((as.numeric(times) - ends[1L]) / diff(ends))))
    }
    stop_kliep("time",
               paste0("`times` must be a number of times, or times from ",
                      format(time[1L]), " to ", format(time[length(time)]),
                      ": got ", describe(times), "."))
}

is_date <- function(value) inherits(value, c("Date", "POSIXct"))

is_number_of_times <- function(times) {
    !is_date(times) && is.numeric(times) && length(times) == 1L
}

are_times_within <- function(times, time) {
    alike <- if (is_date(time)) inherits(times, class(time)[1L]) else
        is.numeric(times) && !is_date(times)
    if (!alike || length(times) == 0L || !all(is.finite(times))) return(FALSE)
    all(times >= time[1L] & times <= time[length(time)])
}

# Some window of the curves must have enough blocks.
check_curve_windows <- function(blocks, how) {
    half <- if (is.null(how$half)) widest_half else how$half
    if (has_windows(blocks, how$at, half)) return(invisible())
    stop_kliep("time", paste0(
        "Around no time of the curves does `bandwidth` hold 8 blocks of rows: ",
        "it is ", format(half, digits = 2L), " of the span, which has ",
        length(blocks$size), " blocks."
    ), hint = "Widen it, or give other `times`.")
}

check_per <- function(per, time) {
    if (is.null(per)) return(1)
    share_of_span(per, "per", time)
}

check_time_shuffles <- function(n_perm, d) {
    if (is.null(n_perm)) {
        return(min(999, max(49, ceiling(20000 / (d * (d - 1) / 2)))))
    }
    n_perm <- check_whole(n_perm, "n_perm", "n_perm", least = 19)
    check_memory(24 * n_perm * d * (d - 1) / 2,
                 paste0("`n_perm` = ", format(n_perm, big.mark = ",")),
                 hint = "Lower `n_perm`.")
    n_perm
}

# Block moments a few times over, and for spins the products of all rows.
check_time_memory <- function(d, n, features) {
    rows <- if (features$family == "ising") n + 4 * most_blocks else
        10 * most_blocks
    check_memory(8 * rows * d * (d - 1) / 2 + 800 * d^2,
                 paste("Rates of all edges of", count_of(d, "variable")),
                 hint = "Use fewer variables.")
}

# ---- all of it -------------------------------------------------------------

# The model of the series, with what was removed from it, and the scales that
# rates are divided by.
prepare_series <- function(parts, features, block) {
    time <- unit_time(parts$time)
    ranked <- is_ranked(features)
    clean <- remove_drift(if (ranked) normal_scores(parts$values) else
        parts$values, time)
    if (features$family == "ising") {
        blocks <- describe_blocks(time_blocks(block, clean$values), time)
        return(list(model = spin_model(parts$values, blocks),
                    drift = clean$drift, scale = rep(1, ncol(parts$values))))
    }
    values <- clean$values
    if (features$power != 1) {
        values <- sign(values) * abs(values)^features$power
    }
    blocks <- describe_blocks(time_blocks(block, values), time)
    list(model = gaussian_model(values, blocks, clean$removed),
         drift = clean$drift,
         values = values)
}

# The edges that change, and their curves.
find_drift <- function(ready, how) {
    model <- ready$model
    windows <- test_windows(model$blocks)
    draw <- if (how$progress) progress_bar("Shuffling")
    null <- time_null(model, windows, how$n_perm, draw)
    chosen <- time_support(model, windows, null, max(how$fdr, 0.1))
    q_value <- stats::p.adjust(chosen$p_value, "BH")
    global <- global_p_value(null)
    changed <- global <= how$fdr & q_value <= how$fdr
    support <- edge_number(chosen$support)
    found <- which(changed)
    found <- found[order(chosen$p_value[found], -chosen$z[found])]
    result <- list(chosen = chosen, q_value = q_value, global = global,
                   changed = changed, support = support, found = found,
                   null = null)
    result$half <- how$half
    if (is.null(how$half)) {
        shown <- if (length(found) > 0L) found else how$follow
        result$half <- choose_half(model, shown, how$at)
    }
    curves <- reported_curves(result, ready, how, windows)
    c(result, curves, list(followed = followed_curves(result, ready, how)))
}

# Curves of some edges in the units of the report; NULL where there are none.
edge_curves <- function(edges, result, ready, how) {
    if (length(edges) == 0L) return(NULL)
    at <- curve_times(how$at, result$half)
    curves <- rate_curves(ready$model, edges, result$support, at, result$half)
    if (length(curves$at) == 0L) return(NULL)
    report_units(curves, edges, ready, how)
}

reported_curves <- function(result, ready, how, windows) {
    curves <- edge_curves(result$found, result, ready, how)
    if (is.null(curves)) return(NULL)
    share <- how$fdr * length(result$found) / length(result$q_value)
    rates <- rate_table(curves, result$found, how$level, share)
    list(rates = rates, times = curves$at,
         spans = edge_spans(rates, result$found, windows,
                            result$chosen$windows),
         total = total_rate(curves, how$level))
}

# Those that were asked for, which come last: what is reported does not depend
# on them.
followed_curves <- function(result, ready, how) {
    curves <- edge_curves(how$follow, result, ready, how)
    if (is.null(curves)) return(NULL)
    table <- rate_table(curves, how$follow, how$level, 0)
    table$reported <- table$edge %in% result$found
    table
}

# From units of the standard deviation to those of what the other variables
# leave, and from the whole span to what rates are per.
report_units <- function(curves, edges, ready, how) {
    scale <- if (is.null(ready$scale)) residual_scales(ready, how$control) else
        ready$scale
    pairs <- ready$model$pairs[edges, ]
    factor <- how$per / (scale[pairs$from] * scale[pairs$to])
    for (part in c("estimate", "se")) {
        curves[[part]] <- curves[[part]] * rep(factor, each = length(curves$at))
    }
    curves$influence <- lapply(curves$influence, function(part) {
        part * rep(factor, each = nrow(part))
    })
    curves
}

# The standard deviation of every variable in units of that which the others
# leave, by lasso; odd and even rows are two samples of one network.
residual_scales <- function(ready, control) {
    odd <- seq(1L, nrow(ready$values), by = 2L)
    halves <- list(x = ready$values[odd, , drop = FALSE],
                   y = ready$values[-odd, , drop = FALSE])
    near <- regress_contrasts(list(halves), control)[[1L]]
    square <- function(sample) colMeans(sample$values^2)
    sqrt((square(near$x) + square(near$y)) / 2)
}

# ---- the result ------------------------------------------------------------

# The only place the class is set.
new_kliep_time <- function(result, ready, parts, how, about) {
    variables <- parts$variables
    named <- function(edges) {
        pairs <- ready$model$pairs[edges, ]
        data.frame(from = variables[pairs$from], to = variables[pairs$to])
    }
    when <- function(at) place_in_time(at, parts$time)
    blocks <- ready$model$blocks
    structure(
        class = "kliep_time",
        list(
            estimates = time_estimates(result, named),
            rates = named_rates(result$rates, "changing", named, when),
            followed = named_rates(result$followed, "reported", named, when),
            spans = named_spans(result, named, when),
            total = time_total(result, when),
            peak = time_peak(result, when),
            drift = drift_table(ready$drift, variables),
            global = list(p_value = result$global,
                          largest = result$null$observed[1L],
                          squares = result$null$observed[2L]),
            support = named(result$support),
            bandwidth = result$half * span_of(parts$time),
            per = how$per * span_of(parts$time),
            block = stats::median(blocks$size), n_blocks = length(blocks$size),
            persistence = mean(ready$model$persistence),
            effective = effective_rows(ready$model),
            fdr = how$fdr, level = how$level, n_perm = how$n_perm,
            null = result$null, variables = variables,
            n = nrow(parts$values), time = range(parts$time),
            spec = kliep_spec(features = about$features), call = about$call
        )
    )
}

span_of <- function(time) {
    as.numeric(time[length(time)]) - as.numeric(time[1L])
}

# From places between 0 and 1 to times of the series.
place_in_time <- function(at, time) time[1L] + at * span_of(time)

time_estimates <- function(result, named) {
    count <- length(result$q_value)
    data.frame(named(seq_len(count)), z = result$chosen$z,
               p_value = result$chosen$p_value, q_value = result$q_value,
               in_support = seq_len(count) %in% result$support,
               changed = result$changed)
}

named_rates <- function(rates, said, named, when) {
    if (is.null(rates)) rates <- empty_rates()
    values <- rates[c("estimate", "se", "lower", "upper", "lower_all",
                      "upper_all", "z", "p_adjusted", said)]
    data.frame(named(rates$edge), time = when(rates$at), values)
}

empty_rates <- function() {
    numbers <- c("at", "estimate", "se", "lower", "upper", "lower_all",
                 "upper_all", "z", "p_adjusted")
    empty <- stats::setNames(rep(list(numeric()), length(numbers)), numbers)
    data.frame(edge = integer(), empty, changing = logical(),
               reported = logical())
}

# As they are reported, one row for each edge.
named_spans <- function(result, named, when) {
    spans <- result$spans
    if (is.null(spans)) {
        spans <- data.frame(edge = integer(), row = integer(),
                            start = numeric(), end = numeric())
    }
    rates <- if (is.null(result$rates)) empty_rates() else result$rates
    peak <- rates[spans$row, ]
    table <- data.frame(
        named(spans$edge), weight = peak$estimate,
        peak[c("se", "lower", "upper")], start = when(spans$start),
        peak = when(peak$at), end = when(spans$end),
        p_value = result$chosen$p_value[spans$edge],
        q_value = result$q_value[spans$edge]
    )
    rownames(table) <- NULL
    table
}

time_total <- function(result, when) {
    data.frame(time = when(as.numeric(result$times)),
               rate = as.numeric(result$total$rate))
}

time_peak <- function(result, when) {
    peak <- result$total$peak
    if (is.null(peak)) peak <- c(at = NA, lower = NA, upper = NA)
    data.frame(time = when(peak[["at"]]), lower = when(peak[["lower"]]),
               upper = when(peak[["upper"]]))
}

# ---- methods ---------------------------------------------------------------

#' @export
format.kliep_time <- function(x, ...) {
    moves <- x$drift
    c(
        paste0("<kliep_time> of ", count_of(nrow(x$estimates), "edge"),
               ", false discovery rate ", format(x$fdr)),
        paste0("  series     ", count_of(x$n, "observation"), " of ",
               count_of(length(x$variables), "variable"), ", from ",
               paste(time_text(x$time), collapse = " to ")),
        paste0("  features   ", name_features(x$spec$features)),
        paste0("  removed    means that drift by up to ",
               format(max(moves$mean_drift), digits = 2L),
               " sd, sd by a factor of up to ",
               format(max(moves$sd_ratio), digits = 2L)),
        paste0("  blocks     ", x$n_blocks, " of ", x$block, " observations; ",
               count_of(x$n_perm, "shuffle")),
        paste0("  dependence products keep ", format(round(x$persistence, 2L)),
               " from row to row: worth ", format(round(x$effective)),
               " independent rows"),
        paste0("  bandwidth  ", say_span(x$bandwidth, x$time),
               "; rates per ", say_span(x$per, x$time)),
        paste0("  any change p = ", format(x$global$p_value, digits = 2L))
    )
}

# A length of time in words: dates count days and times of day seconds, of which
# larger units are made.
say_span <- function(length, time, digits = 3L) {
    number <- function(value) format(value, digits = digits)
    if (inherits(time, "Date")) return(paste(number(length), "days"))
    if (!inherits(time, "POSIXct")) {
        return(paste(number(length), if (length == 1) "unit" else "units",
                     "of time"))
    }
    seconds <- c(days = 86400, hours = 3600, minutes = 60, seconds = 1)
    unit <- c(which(length >= 2 * seconds), 4L)[1L]
    paste(number(length / seconds[[unit]]), names(seconds)[unit])
}

#' @export
print.kliep_time <- function(x, most = 10L, ...) {
    cat(format(x), "", sep = "\n")
    cat(strwrap(say_changes(x), width = 78L), sep = "\n")
    columns <- c("from", "to", "weight", "start", "peak", "end", "q_value")
    found <- edges(x)[columns]
    for (part in c("start", "peak", "end")) {
        found[[part]] <- time_text(found[[part]], x$time)
    }
    print_kept(found, most)
    if (!is.na(x$peak$time)) {
        cat("\n", say_peak(x), "\n", sep = "")
    }
    cat(if (nrow(found) > 0L)
        "\nNext: edges(), plot(), plot(type = \"curves\"), $rates\n"
        else "\nNext: edges(all = TRUE), $drift\n")
    invisible(x)
}

say_peak <- function(x) {
    text <- function(time) time_text(time, x$time)
    paste0("The total rate is largest at ", text(x$peak$time), " (",
           format(100 * x$level), " % interval ", text(x$peak$lower), " to ",
           text(x$peak$upper), ").")
}
