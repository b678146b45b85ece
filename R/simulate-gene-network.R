# Directed networks of genes: reading, checking, parts of them, and one that
# ships with the package.

# What an interaction can be: activation, repression, or both. Their numbers
# are those that Rust knows them by.
interaction_types <- c("ac", "re", "du")

# The only place the class is set. Genes are in the order in which they appear;
# `interactions` has from, type and to, and half and hill once these have been
# drawn.
new_gene_network <- function(interactions,
                             genes = unique(c(rbind(interactions$from,
                                                    interactions$to)))) {
    rownames(interactions) <- NULL
    structure(class = "gene_network",
              list(genes = genes, interactions = interactions))
}

#' Read a network of genes
#'
#' Reads a file in simple interaction format: one interaction a line, as
#' `GENE type GENE`, regulator first. Fields are separated by tabs, or by
#' blanks where a line has no tab. Empty lines are skipped. The type is `ac`
#' (activation), `re` (repression) or `du` (dual, both); an interaction that
#' is listed twice counts once.
#'
#' @param path The name of the file.
#' @return A `gene_network`: a list of `genes`, in the order of the file, and
#'   `interactions`, a data frame with columns `from`, `type` and `to`.
#' @seealso [sim_genes()] to simulate expression, [subnetwork()] to draw a part
#'   of a large network, [yeast13()] for a network to start with.
#' @export
#' @examples
#' file <- tempfile(fileext = ".sif")
#' writeLines(c("GAL4 ac GAL1", "MIG1 re GAL1", "MIG1 re GAL4"), file)
#' read_sif(file)
read_sif <- function(path) {
    lines <- read_sif_lines(path)
    number <- which(grepl("[^[:space:]]", lines))
    if (length(number) == 0L) {
        stop_kliep("sif", paste0("`", path, "` has no interactions."))
    }
    fields <- lapply(lines[number], split_sif_line)
    wrong <- which(lengths(fields) != 3L)
    if (length(wrong) > 0L) {
        stop_sif_line(
            path, number[wrong[1L]],
            paste0("must have three fields, `GENE type GENE`: got ",
                   length(fields[[wrong[1L]]]), ", ",
                   quote_start(trimws(lines[number[wrong[1L]]])))
        )
    }
    fields <- matrix(unlist(fields), ncol = 3L, byrow = TRUE)
    interactions <- data.frame(from = fields[, 1L], type = fields[, 2L],
                               to = fields[, 3L])
    check_sif_types(interactions$type, path, number)
    check_interactions(interactions)
}

read_sif_lines <- function(path) {
    if (!is.character(path) || length(path) != 1L || is.na(path)) {
        stop_kliep("file", paste0("`path` must be the name of a file: got ",
                                  describe(path), "."))
    }
    if (!file.exists(path) || dir.exists(path)) {
        stop_kliep("file", paste0("There is no file `", path, "`."))
    }
    refuse <- function(condition) {
        stop_kliep("file", paste0("`", path, "` cannot be read: ",
                                  conditionMessage(condition), "."))
    }
    read <- function(skip) {
        tryCatch(readLines(path, warn = FALSE, skipNul = skip,
                           encoding = "UTF-8"),
                 error = refuse, warning = refuse)
    }
    lines <- read(TRUE)
    # Where zero bytes make a difference it is not text, or it is UTF-16.
    if (!identical(lines, read(FALSE))) {
        stop_kliep("sif", paste0("`", path, "` is not a text file: it holds ",
                                 "zero bytes."),
                   hint = "Save it as plain text in UTF-8.")
    }
    # What is not UTF-8 is taken for Latin-1, in which all bytes have a meaning.
    foreign <- !validUTF8(lines)
    lines[foreign] <- iconv(lines[foreign], "latin1", "UTF-8")
    # Some editors mark UTF-8 by three bytes that are not part of a name.
    sub("^\ufeff", "", lines)
}

split_sif_line <- function(line) {
    if (!grepl("\t", line, fixed = TRUE)) {
        return(strsplit(trimws(line), "[[:space:]]+")[[1L]])
    }
    trimws(strsplit(trimws(line), "\t", fixed = TRUE)[[1L]])
}

# A line may be a whole file of another kind.
quote_start <- function(text, most = 60L) {
    if (nchar(text) > most) text <- paste0(substr(text, 1L, most), "...")
    dQuote(text, FALSE)
}

check_sif_types <- function(types, path, number) {
    unknown <- which(!types %in% interaction_types)
    if (length(unknown) == 0L) return(invisible())
    first <- unknown[1L]
    stop_sif_line(path, number[first],
                  paste0("has an unknown interaction type: got ",
                         quote_start(types[first])),
                  hint = hint_types())
}

stop_sif_line <- function(path, number, what, hint = NULL) {
    stop_kliep("sif", paste0("Line ", number, " of `", path, "` ", what, "."),
               hint = hint)
}

hint_types <- function() {
    paste("Types are `ac` (activation), `re` (repression) and `du` (dual).")
}

# A network, or a data frame that can be made one.
check_network <- function(network, arg = "network") {
    if (inherits(network, "gene_network")) return(network)
    if (is.data.frame(network) &&
        all(c("from", "type", "to") %in% names(network))) {
        return(check_interactions(network))
    }
    stop_kliep(
        "network",
        paste0("`", arg, "` must be a network of genes: got ",
               describe(network), "."),
        hint = paste("Use `yeast13()`, `read_sif()`, or a data frame with",
                     "columns `from`, `type` and `to`.")
    )
}

check_interactions <- function(interactions) {
    if (nrow(interactions) == 0L) {
        stop_kliep("network", "The network has no interactions.")
    }
    ends <- c("from", "type", "to")
    interactions[ends] <- lapply(interactions[ends], as.character)
    if (anyNA(interactions[ends])) {
        stop_kliep("network", paste("Interactions must name both genes and",
                                    "their type: some are missing."))
    }
    unknown <- setdiff(interactions$type, interaction_types)
    if (length(unknown) > 0L) {
        stop_kliep("network",
                   paste0("The network has unknown interaction types: ",
                          name_some(unknown), "."),
                   hint = hint_types())
    }
    interactions <- interactions[!duplicated(interactions[ends]), ]
    twice <- which(duplicated(interactions[c("from", "to")]))
    if (length(twice) > 0L) {
        first <- interactions[twice[1L], ]
        stop_kliep(
            "network",
            paste0("The network has interactions with two types: `",
                   first$from, "` and `", first$to, "` is one."),
            hint = "Use `du` for a regulator that does both."
        )
    }
    new_gene_network(interactions)
}

# In the form that Rust takes. Kinetics may be missing for functions that only
# look at the arrows.
network_for_rust <- function(network) {
    arrows <- network$interactions
    constant <- function(values) {
        if (is.null(values)) rep(1, nrow(arrows)) else as.double(values)
    }
    list(genes = length(network$genes),
         from = match(arrows$from, network$genes),
         to = match(arrows$to, network$genes),
         kind = match(arrows$type, interaction_types),
         half = constant(arrows$half), hill = constant(arrows$hill))
}

# Genes that nothing else drives.
top_regulators <- function(network) {
    network$genes[rust_top_regulators(network_for_rust(network))]
}

#' @export
format.gene_network <- function(x, ...) {
    types <- table(factor(x$interactions$type, interaction_types))
    tops <- top_regulators(x)
    c(
        paste0("<gene_network> ", count_of(length(x$genes), "gene"), ", ",
               count_of(nrow(x$interactions), "interaction")),
        paste0("  types      ", types[["ac"]], " activation, ", types[["re"]],
               " repression, ", types[["du"]], " dual"),
        paste0("  driven by  ", name_some(tops))
    )
}

#' @export
print.gene_network <- function(x, ...) {
    cat(format(x), sep = "\n")
    invisible(x)
}

# ---- parts of a network ----------------------------------------------------

#' Draw a part of a network of genes
#'
#' Draws `n` connected genes, with all interactions among them, in one
#' of the two ways of Van den Bulcke et al. (2006). `"neighbour"` starts from a
#' gene at random and adds one gene at a time, at random from the neighbours of
#' those it has. `"cluster"` adds all neighbours of one of its genes, picked at
#' random, at once, and goes on until there are enough; it keeps hubs with
#' their targets. Neighbours are regulators as well as targets.
#'
#' @param net A `gene_network` from [read_sif()] or [yeast13()], or a data
#'   frame with columns `from`, `type` and `to`.
#' @param n The number of genes.
#' @param method How to draw them.
#' @return A `gene_network` with `n` genes.
#' @references
#' Van den Bulcke, T., Van Leemput, K., Naudts, B., van Remortel, P., Ma, H.,
#' Verschoren, A., De Moor, B. and Marchal, K. (2006). SynTReN: a generator of
#' synthetic gene expression data for design and analysis of structure
#' learning algorithms. *BMC Bioinformatics* 7, 43.
#' @export
#' @examples
#' set.seed(1)
#' subnetwork(yeast13(), 6)
#' subnetwork(yeast13(), 6, method = "cluster")$genes
subnetwork <- function(net, n, method = c("neighbour", "cluster")) {
    net <- check_network(net, "net")
    n <- check_whole(n, "n", "size")
    method <- check_choice(method, "method", c("neighbour", "cluster"))
    neighbours <- network_neighbours(net)
    chosen <- draw_start(neighbours, n)
    while (length(chosen) < n) {
        chosen <- if (method == "neighbour") {
            c(chosen, draw_one(border(neighbours, chosen)))
        } else {
            add_cluster(neighbours, chosen, n)
        }
    }
    chosen <- net$genes[sort(chosen)]
    among <- net$interactions$from %in% chosen &
        net$interactions$to %in% chosen
    new_gene_network(net$interactions[among, ], chosen)
}

# Numbers of the genes on the other end of each gene's interactions.
network_neighbours <- function(network) {
    arrows <- network_for_rust(network)
    gene <- factor(c(arrows$from, arrows$to), seq_along(network$genes))
    others <- split(c(arrows$to, arrows$from), gene)
    Map(function(other, self) setdiff(other, self), unname(others),
        seq_along(others))
}

border <- function(neighbours, chosen) {
    setdiff(unlist(neighbours[chosen]), chosen)
}

# All neighbours of a gene that has some left, as far as there is room.
add_cluster <- function(neighbours, chosen, n) {
    open <- chosen[vapply(neighbours[chosen], function(around) {
        !all(around %in% chosen)
    }, TRUE)]
    new <- setdiff(neighbours[[draw_one(open)]], chosen)
    c(chosen, draw_some(new, min(length(new), n - length(chosen))))
}

draw_one <- function(values) draw_some(values, 1L)

# A gene from a part of the network that is large enough.
draw_start <- function(neighbours, n) {
    part <- network_parts(neighbours)
    size <- tabulate(part)
    if (n > max(size)) {
        stop_kliep(
            "size",
            paste0("`n` must not exceed the ", count_of(max(size), "gene"),
                   " of the largest connected part of the network: got ", n,
                   ".")
        )
    }
    draw_one(which(size[part] >= n))
}

# The number of the connected part that each gene lies in.
network_parts <- function(neighbours) {
    part <- integer(length(neighbours))
    while (any(part == 0L)) {
        reached <- which(part == 0L)[1L]
        number <- max(part) + 1L
        while (length(reached) > 0L) {
            part[reached] <- number
            reached <- unique(unlist(neighbours[reached]))
            reached <- reached[part[reached] == 0L]
        }
    }
    part
}

# ---- yeast -----------------------------------------------------------------

#' A network of 13 yeast genes
#'
#' Describes how baker's yeast (*Saccharomyces cerevisiae*) responds to oxygen
#' and heme, as reported in the literature: five regulators (HAP1, HAP4, ROX1,
#' MOT3 and UPC2) and eight of their targets in respiration (CYC1, CYC7, COX5B),
#' heme (HEM13), translation (ANB1), the cell wall (DAN1) and sterols (ERG2,
#' ERG11). With heme, Hap1 activates genes of respiration and the repressors
#' Rox1 and Mot3, which keep the genes of low oxygen down; without heme it
#' represses in its turn, and Upc2 activates.
#'
#' @details
#' \tabular{lll}{
#'   **regulator** \tab **target** \tab **source** \cr
#'   HAP1 activates \tab CYC1, CYC7 \tab Hon et al. (2005) \cr
#'   HAP1 activates \tab ROX1, HEM13 \tab Keng (1992) \cr
#'   HAP1 does both to \tab MOT3 \tab Sertil et al. (2003) \cr
#'   HAP1 does both to \tab ERG2, ERG11 \tab Hickman and Winston (2007) \cr
#'   HAP4 activates \tab CYC1 \tab Forsburg and Guarente (1989) \cr
#'   ROX1 represses \tab ROX1 \tab Deckert et al. (1995) \cr
#'   ROX1 represses \tab ANB1, CYC7 \tab Lowry and Zitomer (1988) \cr
#'   ROX1 represses \tab COX5B \tab Zitomer and Lowry (1992) \cr
#'   ROX1 represses \tab HEM13 \tab Keng (1992) \cr
#'   ROX1 represses \tab DAN1 \tab Cohen et al. (2001) \cr
#'   ROX1 represses \tab ERG11 \tab Montanes et al. (2011) \cr
#'   MOT3 represses \tab ANB1 \tab Sertil et al. (2003) \cr
#'   MOT3 represses \tab HEM13 \tab Klinkenberg et al. (2005) \cr
#'   MOT3 represses \tab DAN1 \tab Cohen et al. (2001) \cr
#'   MOT3 represses \tab ERG2 \tab Hongay et al. (2002) \cr
#'   UPC2 activates \tab DAN1 \tab Davies and Rine (2006) \cr
#'   UPC2 activates \tab ERG2 \tab Vik and Rine (2001) \cr
#'   UPC2 activates \tab ERG11 \tab Montanes et al. (2011)
#' }
#'
#' It is a network to simulate from, not a data base: the interactions are those
#' that these papers report, and many other regulators of these genes are left
#' out.
#'
#' @return A `gene_network` as from [read_sif()].
#' @references
#' Cohen, B. D. et al. (2001). *Nucleic Acids Research* 29, 799-808.
#'
#' Davies, B. S. J. and Rine, J. (2006). *Genetics* 174, 191-201.
#'
#' Deckert, J. et al. (1995). *Genetics* 139, 1149-1158.
#'
#' Forsburg, S. L. and Guarente, L. (1989). *Genes and Development* 3,
#' 1166-1178.
#'
#' Hickman, M. J. and Winston, F. (2007). *Molecular and Cellular Biology* 27,
#' 7414-7424.
#'
#' Hon, T. et al. (2005). *Genetics* 169, 1343-1352.
#'
#' Hongay, C. et al. (2002). *EMBO Journal* 21, 4114-4124.
#'
#' Keng, T. (1992). *Molecular and Cellular Biology* 12, 2616-2623.
#'
#' Klinkenberg, L. G. et al. (2005). *Eukaryotic Cell* 4, 649-660.
#'
#' Lowry, C. V. and Zitomer, R. S. (1988). *Molecular and Cellular Biology* 8,
#' 4651-4658.
#'
#' Montanes, F. M., Pascual-Ahuir, A. and Proft, M. (2011). *Molecular
#' Microbiology* 79, 1008-1023.
#'
#' Sertil, O. et al. (2003). *Nucleic Acids Research* 31, 5831-5837.
#'
#' Vik, A. and Rine, J. (2001). *Molecular and Cellular Biology* 21, 6395-6405.
#'
#' Zitomer, R. S. and Lowry, C. V. (1992). *Microbiological Reviews* 56, 1-11.
#' @export
#' @examples
#' yeast13()
#' subset(yeast13()$interactions, to == "ERG2")
yeast13 <- function() {
    targets <- function(from, type, to) {
        data.frame(from = from, type = type, to = to)
    }
    new_gene_network(rbind(
        targets("HAP1", "ac", c("CYC1", "CYC7", "ROX1", "HEM13")),
        targets("HAP1", "du", c("MOT3", "ERG2", "ERG11")),
        targets("HAP4", "ac", "CYC1"),
        targets("ROX1", "re", c("ROX1", "ANB1", "CYC7", "COX5B", "HEM13",
                                "DAN1", "ERG11")),
        targets("MOT3", "re", c("ANB1", "HEM13", "DAN1", "ERG2")),
        targets("UPC2", "ac", c("DAN1", "ERG2", "ERG11"))
    ))
}
