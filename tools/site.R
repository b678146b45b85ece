# The web site, into build/site, without a network: to build it, and to read
# it. Every topic and article must have its place in _pkgdown.yml.

options(pkgdown.internet = FALSE)
destination <- file.path("build", "site")
source(file.path("tools", "site-offline.R"))

pkg <- pkgdown::as_pkgdown(".", override = list(destination = destination))
pkgdown::check_pkgdown(pkg)
pkgdown::build_site(pkg, install = FALSE, new_process = FALSE, preview = FALSE)
make_offline(destination)
cat("site: ", file.path(destination, "index.html"), "\n", sep = "")
