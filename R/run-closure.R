# What a function takes from outside: needed to know whether it is the same as
# before, and to run it in another process.

# The variables that a function uses without defining them, by name: each a
# list with its `value` and whether it is `global`, or with the attached
# `package` that it comes from. What belongs to the function's own package is
# left out: it comes along with the package.
taken_variables <- function(fun) {
    if (is.primitive(fun)) return(list())
    names <- sort(unique(codetools::findGlobals(fun)))
    found <- lapply(stats::setNames(names, names), find_variable,
                    frame = environment(fun))
    Filter(Negate(is.null), found)
}

find_variable <- function(name, frame) {
    while (!is_package_frame(frame)) {
        if (exists(name, envir = frame, inherits = FALSE)) {
            package <- attached_package(frame)
            if (!is.null(package)) return(list(package = package))
            return(list(value = get(name, envir = frame, inherits = FALSE),
                        global = identical(frame, globalenv())))
        }
        frame <- parent.env(frame)
    }
    NULL
}

is_package_frame <- function(frame) {
    isNamespace(frame) || identical(frame, emptyenv()) ||
        identical(frame, baseenv())
}

# The name of the package that library() has put on the search path here.
attached_package <- function(frame) {
    name <- attr(frame, "name")
    if (is.null(name) || !startsWith(name, "package:")) return(NULL)
    sub("package:", "", name, fixed = TRUE)
}

# What another process needs to call the functions in `value`: the global
# variables they use, directly or through one another, and the packages.
carried_with <- function(value) {
    carried <- list(globals = list(), packages = character(), seen = list())
    carried <- carry(value, carried)
    carried[c("globals", "packages")]
}

carry <- function(value, carried) {
    if (is.list(value)) {
        for (part in value) carried <- carry(part, carried)
        return(carried)
    }
    if (!is.function(value) ||
        any(vapply(carried$seen, identical, TRUE, value))) {
        return(carried)
    }
    carried$seen <- c(carried$seen, list(value))
    taken <- taken_variables(value)
    for (name in names(taken)) {
        found <- taken[[name]]
        carried$packages <- union(carried$packages, found$package)
        if (isTRUE(found$global)) carried$globals[name] <- list(found$value)
        carried <- carry(found$value, carried)
    }
    carried
}
