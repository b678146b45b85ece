# The web site, into build/site, without a network: to build it, and to read
# it. Every topic and article must have its place in _pkgdown.yml.

options(pkgdown.internet = FALSE)
destination <- file.path("build", "site")
source(file.path("tools", "site-offline.R"))
# A package that is named in an article and not installed would be looked up on
# the network, and the site would fail for want of a link.
utils::assignInNamespace("CRAN_urls", function() {
    data.frame(Package = character(), URL = character())
}, "downlit")

pkg <- pkgdown::as_pkgdown(".", override = list(destination = destination))
pkgdown::check_pkgdown(pkg)
pkgdown::build_site(pkg, install = FALSE, new_process = FALSE, preview = FALSE)
make_offline(destination)
cat("site: ", file.path(destination, "index.html"), "\n", sep = "")
