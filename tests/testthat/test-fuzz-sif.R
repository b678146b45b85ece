# Whatever a file holds, read_sif() has a network or an error of a class.

read_bytes <- function(bytes) {
    file <- withr::local_tempfile()
    writeBin(as.raw(bytes), file)
    leaked <- NULL
    found <- withCallingHandlers(
        tryCatch(read_sif(file), kliep_error = identity,
                 error = function(condition) condition),
        warning = function(condition) {
            leaked <<- condition
            invokeRestart("muffleWarning")
        }
    )
    if (is.null(leaked)) found else leaked
}

sound_network <- function(found) {
    if (inherits(found, "kliep_error")) {
        return(nzchar(conditionMessage(found)) &&
                   nchar(conditionMessage(found)) < 1000)
    }
    inherits(found, "gene_network") && nrow(found$interactions) > 0 &&
        !anyNA(found$interactions) && all(validUTF8(found$genes)) &&
        all(nzchar(found$genes))
}

plain <- "GAL4 ac GAL1\nMIG1\tre\tGAL1\n\nHAP 1\tdu\tCYC1\n"

# One thing after the other is done to the bytes of a good file.
mutate_bytes <- function(bytes) {
    for (times in seq_len(sample(4, 1))) {
        at <- sample(length(bytes), 1)
        bytes <- switch(
            sample(7, 1),
            replace(bytes, at, sample(0:255, 1)),
            append(bytes, sample(0:255, sample(20, 1), TRUE), at),
            bytes[-at],
            utils::head(bytes, at),
            append(bytes, utils::tail(bytes, at)),
            append(bytes, utf8ToInt(sample(c("\t", " ", "\n", "\r", "\r\n",
                                             "\""), 1)), at),
            rev(bytes)
        )
        if (length(bytes) == 0) return(10)
    }
    bytes
}

test_that("damaged files are networks or errors of a class", {
    start <- utf8ToInt(plain)
    for (seed in 1:1500) {
        set.seed(seed)
        bytes <- if (seed %% 5 == 0) sample(0:255, sample(300, 1), TRUE) else
            mutate_bytes(start)
        found <- read_bytes(bytes)
        if (!sound_network(found)) {
            fail(paste0("seed ", seed, ", bytes ",
                        paste(format(as.hexmode(bytes)), collapse = " "), ": ",
                        if (inherits(found, "condition"))
                            conditionMessage(found)))
        }
    }
    succeed()
})

test_that("other encodings are read or refused by name", {
    genes <- function(bytes) read_bytes(bytes)$genes
    expect_identical(genes(charToRaw("A ac B\r\nB re C\r\n")),
                     c("A", "B", "C"))
    expect_identical(genes(charToRaw("A ac B\rB re C")), c("A", "B", "C"))
    # Latin-1, for a name with an umlaut.
    expect_identical(genes(c(charToRaw("A"), as.raw(0xfc),
                             charToRaw(" ac B\n"))), c("A\u00fc", "B"))
    for (encoding in c("UTF-16LE", "UTF-16BE", "UTF-32LE")) {
        wide <- iconv(plain, "UTF-8", encoding, toRaw = TRUE)[[1]]
        for (bytes in list(wide, c(as.raw(c(0xff, 0xfe)), wide))) {
            found <- read_bytes(bytes)
            expect_s3_class(found, "kliep_error_sif")
            expect_match(conditionMessage(found), "zero bytes.*UTF-8")
        }
    }
})

test_that("a huge line is refused in a short message", {
    found <- read_bytes(rep(utf8ToInt("x"), 5e6))
    expect_s3_class(found, "kliep_error_sif")
    expect_lt(nchar(conditionMessage(found)), 300)
    expect_match(conditionMessage(found), "^Line 1 of .*: got 1, \"xxx")
})
