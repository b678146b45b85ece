# Files of a checkpoint that something has been done to: refused by their name,
# never used, never touched.

draw_task <- function(task) task + rnorm(3)

run_here <- function(folder, seed = 1) {
    set.seed(seed)
    suppressMessages(
        run_replicates(1:4, draw_task, label = "a test", checkpoint = folder),
        "kliep_message_checkpoint"
    )
}

bytes_of <- function(file) readBin(file, "raw", file.size(file))

bytes_in <- function(folder) {
    lapply(list.files(folder, full.names = TRUE), bytes_of)
}

# With its checksum, as if this package had written it.
checked_bytes <- function(value) {
    file <- withr::local_tempfile()
    write_checked(file, value)
    bytes_of(file)
}

serialised <- function(value) {
    file <- withr::local_tempfile()
    saveRDS(value, file)
    bytes_of(file)
}

# `own` are the bytes of the file, `other` those of another whole file.
damages <- list(
    truncated = function(own, other) {
        own[seq_len(sample(length(own) - 1, 1))]
    },
    longer = function(own, other) c(own, as.raw(sample(0:255, 3))),
    twice = function(own, other) c(own, own),
    spliced = function(own, other) {
        c(own[seq_len(sample(length(own) - 1, 1))],
          other[-seq_len(sample(length(other) - 1, 1))])
    },
    "with the head of another" = function(own, other) {
        c(other[1:56], own[-(1:56)])
    },
    "with a byte less" = function(own, other) own[-sample(length(own), 1)],
    "with two bytes exchanged" = function(own, other) {
        at <- sample(which(diff(as.integer(own)) != 0), 1)
        replace(own, at + 0:1, own[at + 1:0])
    },
    "with a stretch of zeros" = function(own, other) {
        at <- sample(length(own) - 4, 1)
        replace(own, at + 0:4, as.raw(0))
    },
    empty = function(own, other) raw(),
    text = function(own, other) charToRaw("kliepnet-checkpoint-1 of mine \n"),
    "another's serialised value" = function(own, other) {
        serialised(list(run = "x", number = 1, outcome = list(value = 1)))
    },
    "another's model" = function(own, other) {
        serialised(stats::lm(dist ~ speed, datasets::cars))
    },
    "of another version" = function(own, other) {
        c(charToRaw("kliepnet-checkpoint-2"), own[-(1:21)])
    },
    "a list with a checksum" = function(own, other) checked_bytes(list(a = 1)),
    "a number with a checksum" = function(own, other) checked_bytes(pi),
    "nonsense with a checksum" = function(own, other) {
        checked_bytes(list(
            run = NA, number = "x", outcome = quote(stop()), label = 1:3,
            seed = "one", n = list(), parts = function() 1, digest = NULL
        ))
    },
    "of other random numbers" = function(own, other) {
        begun <- list(label = "a test", seed = 5, n = 4,
                      parts = c(label = "x"), digest = "y")
        checked_bytes(begun)
    }
)

test_that("what has been done to a file is noticed, whatever it is", {
    skip_on_cran()
    folder <- withr::local_tempfile()
    other <- withr::local_tempfile()
    run_here(folder)
    run_here(other, seed = 2)
    foreign <- bytes_of(file.path(other, "replicate-000002.checkpoint"))
    for (name in c("run.checkpoint", "replicate-000003.checkpoint")) {
        file <- file.path(folder, name)
        own <- bytes_of(file)
        for (kind in names(damages)) {
            for (seed in 1:5) {
                set.seed(seed)
                bytes <- damages[[kind]](own, foreign)
                writeBin(bytes, file)
                before <- bytes_in(folder)
                label <- paste(name, kind, "with seed", seed)
                ended <- tryCatch(run_here(folder), error = identity)
                expect_s3_class(ended, "kliep_error_checkpoint")
                expect_true(inherits(ended, "condition") &&
                                grepl(name, conditionMessage(ended)),
                            label = label)
                expect_true(identical(bytes_in(folder), before),
                            label = paste(label, "left as it was"))
            }
        }
        writeBin(own, file)
    }
    expect_identical(run_here(folder), run_here(NULL))
})

test_that("a checkpoint of another version says so", {
    folder <- withr::local_tempfile()
    run_here(folder)
    file <- file.path(folder, "replicate-000001.checkpoint")
    writeBin(damages[["of another version"]](bytes_of(file)), file)
    expect_error(run_here(folder),
                 "replicate-000001.*another version.*kliepnet-checkpoint-2",
                 class = "kliep_error_checkpoint")
})
