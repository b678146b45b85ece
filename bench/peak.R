# One pass over all factors as a share of the machine's measured peak in
# double precision, on one thread. Both are measured in Rust, in one run.

bench_peak <- function() {
    output <- pass_output("$(rust_features)")
    share <- 100 * printed_value(output, "pass_of_peak")
    rate <- function(name) paste(printed_value(output, name), "Gflop/s")
    rbind(
        bench_row("measured peak", rate("peak_gflops")),
        bench_row("one pass, d = 5,000", rate("pass_gflops"),
                  show_ratio(share, " % of peak"), at_least(share, 60, " %")),
        bench_without_avx512(output)
    )
}

# What AVX-512 buys, where both the compiler and the machine have it.
bench_without_avx512 <- function(with) {
    has_it <- any(grepl("\\bavx512f\\b", cpu_field("flags"))) &&
        nzchar(paste(rust_output("rust_features"), collapse = ""))
    if (!has_it) return(NULL)
    without <- pass_output("")
    rate <- printed_value(without, "pass_gflops")
    gain <- printed_value(with, "pass_gflops") / rate
    bench_row("the same without AVX-512", paste(rate, "Gflop/s"),
              show_ratio(gain, "x as fast with it"))
}

pass_output <- function(features) {
    rust_output(paste(
        "cargo bench --quiet --locked -j 2 --manifest-path",
        "src/rust/Cargo.toml -p kliepnet-core --bench pass", features
    ))
}

# The number after a name at the start of a line.
printed_value <- function(output, name) {
    line <- grep(paste0("^", name, " "), output, value = TRUE)
    if (length(line) != 1L) {
        stop("the bench printed no ", name, ".", call. = FALSE)
    }
    as.numeric(sub("^[^ ]+ +", "", line))
}
