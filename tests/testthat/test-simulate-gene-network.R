write_sif <- function(lines, env = parent.frame()) {
    file <- withr::local_tempfile(fileext = ".sif", .local_envir = env)
    writeLines(lines, file)
    file
}

test_that("a file of interactions is read in its order", {
    file <- write_sif(c("GAL4 ac GAL1", "", "  MIG1   re  GAL1 ",
                        "MIG1\tre\tGAL4", "GAL4 ac GAL1"))
    network <- read_sif(file)
    expect_s3_class(network, "gene_network")
    expect_equal(network$genes, c("GAL4", "GAL1", "MIG1"))
    expect_equal(network$interactions,
                 data.frame(from = c("GAL4", "MIG1", "MIG1"),
                            type = c("ac", "re", "re"),
                            to = c("GAL1", "GAL1", "GAL4")))
})

test_that("tabs allow blanks in names, and line ends do not matter", {
    file <- withr::local_tempfile()
    writeBin(charToRaw("\xef\xbb\xbfgene one\tac\tgene two\r\na du b\r\n"),
             file)
    network <- read_sif(file)
    expect_equal(network$genes, c("gene one", "gene two", "a", "b"))
    expect_equal(network$interactions$type, c("ac", "du"))
})

test_that("a bad file says which line is wrong", {
    expect_error(read_sif(write_sif(c("a ac b", "", "a re"))),
                 "Line 3 of .* must have three fields.*got 2, \"a re\"",
                 class = "kliep_error_sif")
    expect_error(read_sif(write_sif(c("a ac b c"))), "Line 1 .*got 4",
                 class = "kliep_error_sif")
    expect_error(read_sif(write_sif(c("a ac b", "b pp c"))),
                 "Line 2 .*unknown interaction type: got \"pp\"",
                 class = "kliep_error_sif")
    expect_error(read_sif(write_sif(c("a ac b", "a re b"))), "two types",
                 class = "kliep_error_network")
    expect_error(read_sif(write_sif("  ")), "no interactions",
                 class = "kliep_error_sif")
    expect_error(read_sif("nowhere.sif"), "no file `nowhere.sif`",
                 class = "kliep_error_file")
    expect_error(read_sif(1), class = "kliep_error_file")
    expect_error(read_sif(tempdir()), class = "kliep_error_file")
})

test_that("a network can be a data frame", {
    frame <- data.frame(from = factor("a"), type = "ac", to = factor("b"))
    expect_equal(check_network(frame)$genes, c("a", "b"))
    expect_error(sim_genes(list(1)), "yeast13",
                 class = "kliep_error_network")
    expect_error(sim_genes(data.frame(from = "a", type = "x", to = "b")),
                 "unknown interaction types: `x`",
                 class = "kliep_error_network")
    expect_error(sim_genes(data.frame(from = "a", type = NA, to = "b")),
                 class = "kliep_error_network")
    expect_error(sim_genes(frame[0, ]), class = "kliep_error_network")
})

test_that("yeast13() is what its help page says", {
    network <- yeast13()
    expect_length(network$genes, 13)
    expect_setequal(network$interactions$type, c("ac", "re", "du"))
    expect_equal(anyDuplicated(network$interactions[c("from", "to")]), 0)
    expect_equal(top_regulators(network), c("HAP1", "HAP4", "UPC2"))
    # Writing and reading it back loses nothing.
    file <- withr::local_tempfile()
    write.table(network$interactions, file, quote = FALSE, sep = "\t",
                row.names = FALSE, col.names = FALSE)
    expect_equal(read_sif(file), network)
})

test_that("a part hangs together and has all its interactions", {
    # Two parts: a chain of eight genes and a pair.
    chain <- data.frame(from = letters[1:7], type = "ac", to = letters[2:8])
    net <- rbind(chain, data.frame(from = "y", type = "re", to = "z"))
    set.seed(1)
    for (method in c("neighbour", "cluster")) {
        for (n in c(1, 3, 5, 8)) {
            part <- subnetwork(net, n, method)
            expect_length(part$genes, n)
            place <- match(part$genes, letters[1:8])
            if (n > 2) expect_equal(diff(place), rep(1, n - 1))
            if (n > 2) expect_equal(nrow(part$interactions), n - 1)
        }
        expect_error(subnetwork(net, 9, method),
                     "8 genes of the largest connected part",
                     class = "kliep_error_size")
    }
    whole <- subnetwork(yeast13(), 13)
    expect_equal(whole, yeast13())
})

test_that("neighbours are added one by one, or a hub with all of its own", {
    # A hub with six targets, each the start of a chain of three.
    tails <- paste0(rep(letters[1:6], each = 2), 1:2)
    net <- data.frame(from = c(rep("hub", 6), tails), type = "ac",
                      to = c(paste0(letters[1:6], 1),
                             paste0(rep(letters[1:6], each = 2), 2:3)))
    hub <- c("hub", paste0(letters[1:6], 1))
    whole_hub <- function(method) {
        set.seed(2)
        parts <- replicate(200, subnetwork(net, 9, method)$genes)
        mean(apply(parts, 2, function(part) all(hub %in% part)))
    }
    # From the end of a chain three genes lead to the hub: nine have room for
    # all of it.
    expect_equal(whole_hub("cluster"), 1)
    expect_lt(whole_hub("neighbour"), 0.3)
})

test_that("draws of parts follow the seed", {
    draw <- function(seed) {
        set.seed(seed)
        subnetwork(yeast13(), 6)$genes
    }
    expect_equal(draw(1), draw(1))
    expect_gt(length(unique(lapply(1:10, draw))), 1)
    expect_error(subnetwork(yeast13(), 0), class = "kliep_error_size")
    expect_error(subnetwork(yeast13(), 3, "far"),
                 class = "kliep_error_argument")
    expect_error(subnetwork("a", 3), "`net`", class = "kliep_error_network")
})

test_that("a network prints what it holds", {
    expect_snapshot(yeast13())
})
