# Files as other systems have them: names of folders with blanks and letters
# beyond ASCII, lines that end in two characters, and file systems to which
# capitals make no difference.

awkward_folder <- function(env = parent.frame()) {
    withr::local_locale(LC_CTYPE = "C.UTF-8", .local_envir = env)
    skip_if_not(l10n_info()[["UTF-8"]], "no locale for letters beyond ASCII")
    folder <- withr::local_tempdir(.local_envir = env)
    folder <- file.path(folder, "\u00dcbung 1", "l\u00e4ufe & \u7d50\u679c")
    dir.create(folder, recursive = TRUE)
    folder
}

awkward_pair <- function(n) {
    withr::local_seed(1)
    sim_gaussian(d = 8, n = n, density = 0.5, n_changed = 3)
}

test_that("networks are read from such folders, whatever ends their lines", {
    folder <- awkward_folder()
    lines <- c("GAL4 ac GAL1", "MIG1\tre\tGAL1", "", "gal4 du G\u00e41")
    network <- lapply(c("\n", "\r\n"), function(end) {
        file <- file.path(folder, "mein netz.SIF")
        writeBin(charToRaw(enc2utf8(paste0(lines, end, collapse = ""))), file)
        read_sif(file)
    })
    expect_identical(network[[1L]], network[[2L]])
    expect_identical(network[[1L]]$genes,
                     c("GAL4", "GAL1", "MIG1", "gal4", "G\u00e41"))
})

test_that("checkpoints are kept in such folders, and go on from there", {
    folder <- file.path(awkward_folder(), "Pr\u00fcfung 2")
    pair <- awkward_pair(30)
    run <- function(...) {
        withr::local_seed(2)
        kliep_test(pair$x, pair$y, n_perm = 6, alpha = 0.2, nlambda = 5,
                   ...)
    }
    plain <- run()
    kept <- run(checkpoint = folder)
    files <- list.files(folder)
    expect_length(unique(tolower(files)), length(files))
    expect_identical(files, tolower(files))
    unlink(file.path(folder, grep("^replicate", files, value = TRUE)[2:4]))
    expect_message(resumed <- run(checkpoint = folder), "taken from")
    expect_identical(edges(kept), edges(plain))
    expect_identical(edges(resumed), edges(plain))
})

test_that("reports are written to such folders", {
    folder <- awkward_folder()
    pair <- awkward_pair(40)
    fit <- kliep_change(pair$x, pair$y, lambda2 = 0.2)
    file <- file.path(folder, "Bericht 3.html")
    kliep_report(fit, file = file)
    expect_gt(file.size(file), 1000)
})
