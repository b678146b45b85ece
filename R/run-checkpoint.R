# A checkpoint: a folder with a file that says what is run, and a file for
# each task that has finished. Files appear under their name only when they
# are whole, and are never written over. None is used before its checksum has
# been compared and it is known to belong to this run.

checkpoint_format <- "kliepnet-checkpoint-1"

# ---- what is run -----------------------------------------------------------

# `parts` holds a digest of everything that decides the result, by name, so
# that a difference can be named.
describe_run <- function(tasks, fun, args, label, seed, checkpoint) {
    run <- list(label = label, seed = seed, n = length(tasks))
    if (is.null(checkpoint)) return(run)
    names <- names(args)
    if (is.null(names)) names <- rep("", length(args))
    names(args) <- ifelse(names == "", paste("argument", seq_along(args)),
                          names)
    version <- as.character(utils::packageVersion("kliepnet"))
    run$parts <- vapply(
        c(list("version of kliepnet" = version, label = label, tasks = tasks,
               "function" = fun), args),
        function(part) digest::digest(fingerprint(part)), ""
    )
    run$digest <- run_digest(run)
    run
}

# The value in a form in which equal things give equal bytes. A function is
# its code and the variables that it takes from outside of packages; where it
# stands in memory and in which file is left out, as are threads, which change
# no result.
fingerprint <- function(value, seen = list()) {
    if (is.function(value)) return(fingerprint_function(value, seen))
    if (is.environment(value)) return(class(value))
    if (is.language(value)) return(code_text(value))
    if (inherits(value, "kliep_control")) value$threads <- NULL
    if (!is.list(value)) return(value)
    parts <- lapply(unclass(value), fingerprint, seen = seen)
    list(lapply(attributes(value), fingerprint, seen = seen), unname(parts))
}

fingerprint_function <- function(value, seen) {
    if (is.primitive(value)) return(code_text(value))
    if (any(vapply(seen, identical, TRUE, value))) return("itself")
    taken <- Filter(function(found) is.null(found$package),
                    taken_variables(value))
    list(code_text(value), names(taken), lapply(taken, function(found) {
        fingerprint(found$value, c(seen, list(value)))
    }))
}

code_text <- function(code) {
    deparse(code, control = c("keepNA", "keepInteger", "digits17"))
}

# ---- opening and closing ---------------------------------------------------

# The folder, made if need be, and the run as the folder has it: its seed is
# the one the run was begun with.
open_checkpoint <- function(checkpoint, run) {
    if (is.null(checkpoint)) return(list(path = NULL, run = run))
    path <- make_checkpoint_folder(checkpoint)
    header <- header_file(path)
    if (file.exists(header)) {
        run <- resume_run(header, run)
        return(list(path = path, run = run))
    }
    strange <- setdiff(list.files(path, all.files = TRUE, no.. = TRUE),
                       partial_files(path))
    if (length(strange) > 0L) {
        stop_kliep(
            "checkpoint",
            paste0("`", path, "` is not a checkpoint, and holds other files: ",
                   name_some(strange), "."),
            hint = "Give a folder that is empty or does not exist yet."
        )
    }
    problem <- write_checked(header, run)
    if (!is.null(problem)) {
        stop_kliep("checkpoint",
                   paste0("Cannot write a checkpoint: ", problem, "."),
                   hint = "Give a folder that can be written to.")
    }
    list(path = path, run = run)
}

header_file <- function(path) file.path(path, "run.checkpoint")

# The seed of the run that this folder holds, NULL if it holds none.
# open_checkpoint() refuses what is not a folder.
begun_seed <- function(checkpoint) {
    if (!is_string(checkpoint)) return(NULL)
    header <- header_file(checkpoint)
    if (file.exists(header)) read_header(header)$seed
}

# What a header says of its run, once it is known to be one.
read_header <- function(header) {
    begun <- read_checked(header)
    sound <- all(
        is.character(begun$parts), !is.null(names(begun$parts)),
        is_string(begun$label), is.numeric(begun$n), is.numeric(begun$seed),
        identical(begun$digest, run_digest(begun))
    )
    if (!sound) stop_damaged(header, "does not describe a run")
    begun
}

run_digest <- function(run) digest::digest(list(run$parts, run$seed))

make_checkpoint_folder <- function(checkpoint) {
    if (!is_string(checkpoint) || checkpoint == "") {
        stop_kliep("argument",
                   paste0("`checkpoint` must be the name of a folder: got ",
                          describe(checkpoint), "."))
    }
    if (!dir.exists(checkpoint)) {
        dir.create(checkpoint, recursive = TRUE, showWarnings = FALSE)
    }
    if (!dir.exists(checkpoint)) {
        what <- if (file.exists(checkpoint)) "is a file, not a folder." else
            "cannot be made."
        stop_kliep("checkpoint",
                   paste0("The checkpoint folder `", checkpoint, "` ", what),
                   hint = "Give a folder that can be written to.")
    }
    # Workers may be in another directory.
    normalizePath(checkpoint)
}

resume_run <- function(header, run) {
    begun <- read_header(header)
    known <- union(names(begun$parts), names(run$parts))
    differs <- known[!mapply(identical, unname(begun$parts[known]),
                             unname(run$parts[known]))]
    if (length(differs) > 0L) {
        stop_kliep(
            "checkpoint",
            paste0("`", header, "` belongs to another run, of ", begun$label,
                   ": this one differs in ", name_some(differs), "."),
            hint = "Give another folder, or repeat the call it was begun with."
        )
    }
    begun
}

# Says what could not be kept, and tidies up after a run that was killed. A
# `passing` checkpoint is one that nobody has asked for.
close_checkpoint <- function(path, done, passing) {
    if (is.null(path)) return(invisible())
    if (passing) {
        unlink(path, recursive = TRUE)
        return(invisible())
    }
    unlink(file.path(path, partial_files(path)))
    problems <- unlist(lapply(done, `[[`, "unsaved"))
    if (length(problems) == 0L) return(invisible())
    warn_kliep(
        "checkpoint",
        paste0(count_of(length(problems), "replicate"), " could not be ",
               "written to the checkpoint: ", problems[1L], "."),
        hint = "They are in the result, and will be missing if it is repeated."
    )
}

# ---- replicates ------------------------------------------------------------

replicate_file <- function(folder, number) {
    file.path(folder, sprintf("replicate-%06d.checkpoint", number))
}

# What is there, in a list with NULL for what is not.
read_replicates <- function(folder, run) {
    done <- vector("list", run$n)
    if (is.null(folder)) return(done)
    files <- replicate_file(folder, seq_len(run$n))
    there <- which(file.exists(files))
    done[there] <- lapply(there, function(number) {
        read_replicate(files[number], run, number)
    })
    if (length(there) > 0L) {
        inform_kliep("checkpoint", paste0(
            length(there), " of ", count_of(run$n, "replicate"), " of ",
            run$label, " taken from the checkpoint `", folder, "`."
        ))
    }
    done
}

read_replicate <- function(file, run, number) {
    stored <- read_checked(file)
    if (!identical(stored$run, run$digest) ||
        !identical(stored$number, as.double(number))) {
        stop_kliep("checkpoint",
                   paste0("`", file, "` belongs to another run."),
                   hint = "Remove it to have this replicate run again.")
    }
    stored$outcome
}

# NULL, or what was wrong. A run that cannot write goes on without.
write_replicate <- function(folder, run, number, outcome) {
    stored <- list(run = run$digest, number = as.double(number),
                   outcome = outcome)
    write_checked(replicate_file(folder, number), stored)
}

# ---- files -----------------------------------------------------------------

# Left by a process that was killed while it wrote.
partial_files <- function(folder) {
    list.files(folder, "\\.checkpoint\\.[0-9a-z]+\\.part$")
}

# Writes a value with its checksum: under another name first, so that a file
# under its own name is whole. NULL, or what was wrong.
write_checked <- function(file, value) {
    bytes <- memCompress(serialize(value, NULL, version = 3L), "gzip")
    digest <- digest::digest(bytes, "md5", serialize = FALSE)
    bytes <- c(charToRaw(paste(checkpoint_format, digest, "\n")), bytes)
    partial <- paste0(file, ".", basename(tempfile("")), ".part")
    on.exit(unlink(partial))
    explain <- function(condition) {
        paste0(conditionMessage(condition), " (`", file, "`)")
    }
    tryCatch({
        write_bytes(bytes, partial)
        # A rename would replace what another process has put there since.
        if (file.exists(file)) return(NULL)
        file.rename(partial, file)
        NULL
    }, error = explain, warning = explain)
}

# A full disk shows as a warning, here or when the file is closed.
write_bytes <- function(bytes, file) {
    connection <- file(file, "wb")
    on.exit(close(connection))
    writeBin(bytes, connection)
}

read_checked <- function(file) {
    mark <- nchar(checkpoint_format) + 35L
    size <- file.size(file)
    bytes <- value_or(suppressWarnings(readBin(file, "raw", mark)), NULL)
    if (is.null(bytes)) stop_damaged(file, "cannot be read")
    head <- strsplit(rawToChar(bytes[bytes != 0]), " ", fixed = TRUE,
                     useBytes = TRUE)[[1L]]
    known <- length(head) == 3L && startsWith(head[1L], "kliepnet-checkpoint")
    if (known && head[1L] != checkpoint_format) {
        stop_damaged(file, paste0("is damaged, or was written by another ",
                                  "version of kliepnet, as ", head[1L]))
    }
    if (!known) {
        stop_damaged(file, "is damaged, or was never a checkpoint")
    }
    bytes <- readBin(file, "raw", size)[-seq_len(mark)]
    found <- digest::digest(bytes, "md5", serialize = FALSE)
    if (!identical(head[2L], found)) stop_damaged(file, "is damaged")
    value <- value_or(unserialize(memDecompress(bytes, "gzip")), NULL)
    if (!is.list(value)) stop_damaged(file, "is not a checkpoint")
    value
}

stop_damaged <- function(file, what) {
    hint <- "Give another folder."
    if (startsWith(basename(file), "replicate")) {
        hint <- "Remove it to have its replicate run again."
    }
    stop_kliep("checkpoint", paste0("`", file, "` ", what, "."), hint = hint)
}
