# Which features rank the changed edges first: average precision of every family
# along its path, on samples and generators that no family was made on. The
# weights of orthonormal polynomials were found on seeds 1 to 20 of the first
# five generators.

bench_features <- function(runs = 20L, first = 101L) {
    generators <- feature_generators()
    rows <- lapply(names(generators), function(name) {
        precision <- vapply(first - 1L + seq_len(runs), function(seed) {
            pair <- with_seed(seed, generators[[name]]())
            vapply(feature_families(), family_precision, 0, pair = pair)
        }, numeric(length(feature_families())))
        family_rows(name, precision)
    })
    do.call(rbind, rows)
}

feature_families <- function() {
    list(
        "Gaussian" = feat_gaussian(),
        "ranks" = feat_nonparanormal(),
        "polynomial" = feat_polynomial(4),
        "polynomial, interactions" = feat_polynomial(4, "interactions"),
        "raw" = feat_polynomial(4, basis = "raw"),
        "raw, interactions" = feat_polynomial(4, "interactions", "raw")
    )
}

family_precision <- function(features, pair) {
    path <- suppressWarnings(kliep_path(pair$x, pair$y, features, nlambda = 30))
    pr_curve(path, pair)$average_precision
}

# ---- generators ------------------------------------------------------------

feature_generators <- function() {
    list(
        "genes, n = 50" = function() sim_genes(n = 50),
        "genes, n = 200" = function() sim_genes(n = 200),
        "diamond, n = 500" = function() sim_diamond(d = 9, n = 500),
        "diamond, n = 2000" = function() sim_diamond(d = 9, n = 2000),
        "Gaussian" = function() sim_gaussian(d = 13, n = 200),
        "steep genes" = function() sim_genes(n = 100, hill = c(4, 8)),
        "copula, t margins" = function() {
            bent_pair(function(z) stats::qt(stats::pnorm(z), 3))
        },
        "copula, log-normal" = function() bent_pair(exp),
        "t, 3 degrees" = function() heavy_pair(3),
        "margins change, too" = function() bent_pair(identity, exp)
    )
}

# Gaussian samples with clear changes, every variable bent: a copula.
bent_pair <- function(bend_x, bend_y = bend_x) {
    pair <- clear_pair()
    pair$x <- bend_x(scale(pair$x))
    pair$y <- bend_y(scale(pair$y))
    pair
}

# Rows of a Gaussian sample over the root of a chi-square: heavy together.
heavy_pair <- function(df) {
    pair <- clear_pair()
    spread <- function(sample) {
        sample / sqrt(stats::rchisq(nrow(sample), df) / df)
    }
    pair[c("x", "y")] <- lapply(pair[c("x", "y")], spread)
    pair
}

clear_pair <- function() {
    sim_gaussian(d = 13, n = 200, density = 0.3, edge = 0.3, n_changed = 8,
                 change = -0.6)
}

# ---- rows ------------------------------------------------------------------

# The polynomial has to be no worse than that of the paper, within the error of
# their difference.
family_rows <- function(generator, precision) {
    rows <- precision_rows(generator, precision)
    lead <- precision["polynomial", ] - precision["raw", ]
    error <- stats::sd(lead) / sqrt(length(lead))
    at <- match("polynomial", rownames(precision))
    rows$goal[at] <- "no worse than raw"
    rows$met[at] <- if (mean(lead) >= -error) "yes" else "no"
    rows
}
