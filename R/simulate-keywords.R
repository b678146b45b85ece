# Series of keyword counts in which an event ties keywords together.

#' A series of keyword counts with a known event
#'
#' Draws how often keywords are mentioned, over time: in quiet times keywords of
#' the same topic go up and down together, and from `change_at` on an event ties
#' keywords of different topics together as well, and may make them more
#' frequent. It is meant for event detection as in the Twitter study of Liu et
#' al. (2014, section 6.2), where the time before the event is the reference Q
#' and a window after it P.
#'
#' @section Model:
#' Counts are Poisson log-normal (Aitchison and Ho, 1989). At time t
#' \deqn{c_{tv} \sim \mathrm{Poisson}\bigl(\mu_{tv} \exp(s z_{tv} -
#'   s^2 \sigma_v^2 / 2)\bigr)}{c_tv ~ Poisson(mu_tv exp(s z_tv - s^2 sigma_v^2
#'   / 2))}
#' with s = `spread` and \eqn{\mu_{tv}}{mu_tv} = `rate`, times `burst` for
#' keywords of the event from `change_at` on, which is the mean of the counts.
#' The z of one time are Gaussian with mean 0 and the precision matrix
#' \eqn{\Theta}{Theta}: 1 on its diagonal and -`tie` for every two keywords
#' that share a topic, and from `change_at` on for every two keywords of the
#' event. \eqn{\sigma_v^2}{sigma_v^2} is the variance of
#' \eqn{z_{tv}}{z_tv}. With `persistence` \eqn{\phi > 0}{phi > 0} times depend
#' on each other: \eqn{z_t = \phi z_{t-1} + \sqrt{1 - \phi^2}\, e_t}{z_t = phi
#' z_{t-1} + sqrt(1 - phi^2) e_t} with \eqn{e_t}{e_t} Gaussian as above, so
#' that after `change_at` the change sets in gradually.
#'
#' Counts are skewed: take [feat_nonparanormal()], or `log1p()` before Gaussian
#' features.
#'
#' @param times The length of the series.
#' @param change_at The first time of the event, from 2 to `times`; `NULL`
#'   takes the middle of the series.
#' @param topics A list of topics, each a vector of keywords.
#' @param event The keywords that the event ties together: their names, or how
#'   many to pick at random, from different topics as far as there are.
#' @param rate The mean count of a keyword: one number, or one for each.
#' @param burst How many times more frequent the keywords of the event become.
#' @param tie The strength of the ties, between 0 and 1.
#' @param spread The standard deviation, about, of the logarithms of the
#'   intensities.
#' @param persistence How much of one time is left at the next, from 0 for
#'   independent times to below 1.
#' @return A `network_pair` as in [sim_gaussian()]: `x` holds the counts from
#'   `change_at` on, `y` those before, and `series` all of them, as a data
#'   frame with a column `time` and one for each keyword. `networks` are the
#'   precision matrices of z. `truth` has the pairs of keywords that the event
#'   has tied together; their `change`, `tie`, is the coefficient of
#'   \eqn{z_u z_v}{z_u z_v} in the log-ratio of the densities.
#' @references
#' Aitchison, J. and Ho, C. H. (1989). The multivariate Poisson-log normal
#' distribution. *Biometrika* 76, 643-653.
#'
#' Liu, S., Quinn, J. A., Gutmann, M. U., Suzuki, T. and Sugiyama, M. (2014).
#' Direct learning of sparse changes in Markov networks by density ratio
#' estimation. *Neural Computation* 26, 1169-1197.
#' @export
#' @examples
#' set.seed(1)
#' pair <- sim_keywords(times = 1000, event = c("storm", "match", "price"))
#' pair
#' pair$truth
#' head(pair$series[, 1:6])
#' path <- kliep_path(log1p(pair$x), log1p(pair$y))
#' edges(path, lambda2 = path$lambda2[12])
sim_keywords <- function(times = 400, change_at = NULL,
                         topics = keyword_topics(), event = 3, rate = 20,
                         burst = 2, tie = 0.2, spread = 0.5,
                         persistence = 0) {
    times <- check_whole(times, "times", "size", least = 4)
    change_at <- check_change_at(change_at, times)
    topics <- check_topics(topics)
    keywords <- unlist(topics, use.names = FALSE)
    check_pair_memory(length(keywords), times)
    rate <- check_rate(rate, length(keywords))
    settings <- list(
        d = length(keywords), times = times, change_at = change_at,
        rate = rate, burst = check_positive(burst, "burst"),
        tie = check_density(tie, "tie"),
        spread = check_positive(spread, "spread"),
        persistence = check_persistence(persistence)
    )
    event <- check_event(event, topics)
    networks <- keyword_networks(topics, event, settings$tie)
    counts <- draw_counts(networks, event, settings)
    after <- seq_len(times) >= change_at
    new_network_pair(
        family = "keywords",
        samples = list(
            x = counts[after, , drop = FALSE],
            y = counts[!after, , drop = FALSE],
            series = data.frame(time = seq_len(times), counts,
                                check.names = FALSE)
        ),
        truth = changed_edges(networks, sign = -1),
        networks = networks,
        settings = c(settings, list(event = event))
    )
}

# Three topics of four keywords.
keyword_topics <- function() {
    list(weather = c("rain", "storm", "flood", "wind"),
         sport = c("match", "goal", "team", "coach"),
         money = c("bank", "market", "stock", "price"))
}

keyword_networks <- function(topics, event, tie) {
    keywords <- unlist(topics, use.names = FALSE)
    network <- function(groups) {
        tied <- do.call(rbind, lapply(groups, function(group) {
            place <- sort(match(group, keywords))
            within <- pair_from_index(seq_len(choose(length(place), 2)))
            data.frame(from = place[within$from], to = place[within$to])
        }))
        symmetric_matrix(unique(tied), -tie, 1, keywords)
    }
    networks <- list(x = network(c(topics, list(event))), y = network(topics))
    hint <- "Lower `tie`, or take smaller topics or a smaller event."
    check_positive_definite(networks$y, "y", hint)
    check_positive_definite(networks$x, "x", hint)
    networks
}

draw_counts <- function(networks, event, settings) {
    before <- settings$change_at - 1
    after <- settings$times - before
    latent <- rbind(draw_gaussian(networks$y, before),
                    draw_gaussian(networks$x, after))
    variance <- function(network) diag(solve(as.matrix(network)))
    variances <- rbind(variance(networks$y), variance(networks$x))
    period <- rep(1:2, c(before, after))
    burst <- ifelse(colnames(latent) %in% event, settings$burst, 1)
    rate <- rbind(settings$rate, settings$rate * burst)
    intensity <- settings$spread * persist(latent, settings$persistence) -
        settings$spread^2 / 2 * variances[period, ]
    counts <- stats::rpois(length(latent), rate[period, ] * exp(intensity))
    matrix(counts, nrow(latent), dimnames = dimnames(latent))
}

# z_t = phi z_(t-1) + sqrt(1 - phi^2) e_t, begun with e_1 itself.
persist <- function(innovations, phi) {
    if (phi == 0) return(innovations)
    innovations[-1L, ] <- sqrt(1 - phi^2) * innovations[-1L, ]
    apply(innovations, 2L, stats::filter, filter = phi, method = "recursive")
}

# ---- arguments -------------------------------------------------------------

check_rate <- function(rate, n_keywords) {
    rate <- check_one_or_each(rate, "rate", n_keywords, "keywords")
    if (all(rate > 0)) return(rate)
    stop_kliep("argument", paste0("`rate` must be positive: got ",
                                  format(min(rate)), "."))
}

check_change_at <- function(change_at, times) {
    if (is.null(change_at)) return(times %/% 2 + 1)
    change_at <- check_whole(change_at, "change_at", least = 2)
    if (change_at <= times) return(change_at)
    stop_kliep("argument",
               paste0("`change_at` must not come after the last of the ",
                      times, " times: got ", change_at, "."))
}

check_persistence <- function(persistence) {
    persistence <- check_number(persistence, "persistence")
    if (persistence >= 0 && persistence < 1) return(persistence)
    stop_kliep("argument", paste0("`persistence` must be from 0 to below 1: ",
                                  "got ", format(persistence), "."))
}

check_topics <- function(topics) {
    if (!is.list(topics) || !all(vapply(topics, is.character, TRUE))) {
        stop_kliep("argument", paste0("`topics` must be a list of keywords by ",
                                      "topic: got ", describe(topics), "."))
    }
    keywords <- unlist(topics, use.names = FALSE)
    if (length(keywords) < 2L) {
        stop_kliep("size", paste0("`topics` must have at least 2 keywords: ",
                                  "got ", length(keywords), "."))
    }
    # The series has a column `time`.
    bad <- is.na(keywords) | keywords %in% c("", "time") | duplicated(keywords)
    if (!any(bad)) return(topics)
    stop_kliep("names", paste0("`topics` must have different keywords, none ",
                               "of them empty or `time`: got ",
                               name_some(keywords[bad]), "."))
}

# The names of the keywords of the event.
check_event <- function(event, topics) {
    keywords <- unlist(topics, use.names = FALSE)
    if (is.numeric(event)) {
        event <- check_whole(event, "event", least = 2)
        if (event <= length(keywords)) return(draw_event(event, topics))
    }
    unknown <- if (is.character(event)) setdiff(event, keywords)
    if (is.character(event) && length(unique(event)) >= 2L &&
        length(unknown) == 0L) {
        return(unique(event))
    }
    stop_kliep(
        "argument",
        paste0("`event` must name at least two of the ",
               count_of(length(keywords), "keyword"), ", or say how many: ",
               "got ", if (length(unknown) > 0L) name_some(unknown) else
                   describe(event), ".")
    )
}

# One keyword of each topic before a second of any.
draw_event <- function(event, topics) {
    shuffled <- lapply(topics, function(topic) draw_some(topic, length(topic)))
    shuffled <- shuffled[sample.int(length(topics))]
    turn <- unlist(lapply(shuffled, seq_along))
    unlist(shuffled, use.names = FALSE)[order(turn)[seq_len(event)]]
}
