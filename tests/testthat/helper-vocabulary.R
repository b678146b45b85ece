# The functions of the package with their arguments, and the tables of its
# results with their columns, as CONTRIBUTING.md lists them.

function_rows <- function() {
    names <- sort(getNamespaceExports("kliepnet"))
    # Generics of other packages.
    names <- setdiff(names, c("autoplot", "glance", "tidy"))
    vapply(names, function(name) {
        arguments <- names(formals(getExportedValue("kliepnet", name)))
        paste0("| `", name, "()` | ", paste(arguments, collapse = ", "), " |")
    }, "", USE.NAMES = FALSE)
}

column_rows <- function(found = result_objects()) {
    tables <- list(
        "`edges()` of a path" = edges(found$path),
        "`edges()` of a fit or a selection" = edges(found$change),
        "`$diagnostics` of a path" = found$path$diagnostics,
        "`$scores` of a selection" = found$select$scores,
        "`$edges` of a test" = found$test$edges,
        "`$shuffles` of a test" = found$test$shuffles,
        "`$edges` of a stability selection" = found$stability$edges,
        "`$estimates` of `kliep_infer()`" = found$tests$estimates,
        "`edges()` of `kliep_infer()`" = edges(found$tests),
        "`$estimates` of groups" = found$groups$estimates,
        "`$omnibus` of groups" = found$groups$omnibus,
        "`$contrasts` of groups" = found$groups$contrasts,
        "`kliep_sets()`" = kliep_sets(found$tests, list(all = letters[1:4]),
                                      n_random = 9),
        "`hubs()` of `kliep_infer()`" = hubs(found$tests, all = TRUE),
        "`$estimates` of `kliep_debias()`" = found$inference$estimates,
        "`edges()` of `kliep_debias()`" = edges(found$inference),
        "`$windows` of windows" = found$windows$windows,
        "`edges()` of windows" = edges(found$windows),
        "`$estimates` of `kliep_time()`" = found$time$estimates,
        "`$rates` of `kliep_time()`" = found$time$rates,
        "`edges()` of `kliep_time()`" = edges(found$time),
        "`$drift` of `kliep_time()`" = found$time$drift,
        "`hubs()`" = hubs(found$select),
        "`kl_divergence()`" = kl_divergence(found$path),
        "`summary()` of a comparison" = summary(found$comparison)
    )
    unlist(Map(function(name, table) {
        paste0("| ", name, " | ", paste(names(table), collapse = ", "), " |")
    }, names(tables), tables), use.names = FALSE)
}
