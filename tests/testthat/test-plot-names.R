test_that("names that fit are left alone, long ones lose their middle", {
    expect_equal(short_name(c("a", "HLA-DRA")), c("a", "HLA-DRA"))
    long <- "an_identifier_of_length_30_end"
    expect_equal(short_name(long), "an_iden~h_30_end")
    expect_equal(short_name(character()), character())
})

test_that("a name stays on one line", {
    expect_equal(short_name(c("line\nbreak", "a\tb")), c("line break", "a b"))
    expect_equal(edge_label("line\nbreak", "b"), "line break - b")
})

test_that("short names differ where the names do", {
    ids <- sprintf("ENSG%011d|protein_coding", c(141510, 141511, 12048, 7))
    short <- short_name(c(ids, ids[1]))
    expect_identical(short[5], short[1])
    expect_false(anyDuplicated(short[1:4]) > 0)
    expect_true(all(nchar(short) <= 16))
    expect_match(short[1], "141510")
    # At the start, in the middle, at the end, and of other lengths.
    withr::local_seed(1)
    for (k in 1:20) {
        middle <- vapply(1:5, function(i) {
            paste(sample(letters, sample(1:30, 1), TRUE), collapse = "")
        }, "")
        names <- unique(paste0(strrep("p", sample(0:12, 1)), middle,
                               strrep("s", sample(0:12, 1))))
        expect_false(anyDuplicated(short_name(names)) > 0)
    }
    # Differences too far apart: the names as they are.
    far <- paste0(c("a", "a", "b"), strrep("x", 30), c("b", "c", "b"))
    expect_false(anyDuplicated(short_name(far)) > 0)
})

test_that("both ends of an edge are shortened together", {
    from <- sprintf("ENSG%011d|protein_coding", 1)
    to <- sprintf("ENSG%011d|protein_coding", 2)
    ends <- strsplit(edge_label(from, to), " - ")[[1]]
    expect_false(ends[1] == ends[2])
})
