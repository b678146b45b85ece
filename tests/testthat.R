library(testthat)
library(kliepnet)

test_check("kliepnet")
