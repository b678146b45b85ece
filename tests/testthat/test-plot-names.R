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

# Where the names in a picture of this size (inches) are drawn: a row for each.
drawn_names <- function(plot, width, height) {
    grDevices::pdf(NULL, width, height)
    withr::defer(grDevices::dev.off())
    print(plot)
    grid::grid.force()
    paths <- grid::grid.grep("textrepelgrob[0-9]+$", grep = TRUE,
                             global = TRUE, viewports = TRUE)
    whole <- function(text, share) grid::unit(share, "npc")
    boxes <- lapply(paths, function(path) {
        grid::upViewport(0)
        grid::downViewport(attr(path, "vpPath"))
        text <- grid::grid.get(path)
        side <- function(angle, at, convert) {
            convert(at(text, angle), "points", valueOnly = TRUE)
        }
        data.frame(name = text$label,
                   left = side(180, grid::grobX, grid::convertX),
                   right = side(0, grid::grobX, grid::convertX),
                   lower = side(270, grid::grobY, grid::convertY),
                   upper = side(90, grid::grobY, grid::convertY),
                   panel_width = side(1, whole, grid::convertX),
                   panel_height = side(1, whole, grid::convertY))
    })
    do.call(rbind, boxes)
}

n_overlaps <- function(names) {
    pairs <- utils::combn(nrow(names), 2)
    a <- names[pairs[1, ], ]
    b <- names[pairs[2, ], ]
    sum(pmin(a$right, b$right) - pmax(a$left, b$left) > 1.01 &
            pmin(a$upper, b$upper) - pmax(a$lower, b$lower) > 1.01)
}

graph_of <- function(from, to) {
    list(variables = sprintf("ENSG%011d|protein_coding", 7919 * 1:400),
         edges = data.frame(from = from, to = to, weight = seq_along(from),
                            sign = 1, enters = NA_real_))
}

test_that("long names of many pairs are all there, and lie on no other", {
    pairs <- graph_of(seq(1, 39, 2), seq(2, 40, 2))
    for (size in list(c(5, 4), c(7, 4.5))) {
        names <- drawn_names(draw_change_graph(pairs), size[1], size[2])
        expect_setequal(names$name, short_name(pairs$variables)[1:40])
        expect_equal(n_overlaps(names), 0)
    }
})

test_that("a graph without room for all names has those of the hubs", {
    withr::local_seed(1)
    from <- c(rep(1, 30), sample(2:200, 300, TRUE))
    to <- c(2:31, sample(201:400, 300, TRUE))
    dense <- graph_of(from, to)
    plot <- draw_change_graph(dense, max_edges = 1000)
    names <- drawn_names(plot, 5, 4)
    expect_equal(n_overlaps(names), 0)
    expect_lt(nrow(names), 40)
    expect_true(short_name(dense$variables)[1] %in% names$name)
    expect_gt(nrow(drawn_names(plot, 10, 8)), nrow(names))
})

test_that("a volcano names edges beside their points, also at its sides", {
    estimates <- data.frame(
        from = sprintf("3%04d_at", 1:9), to = "41266_at",
        estimate = c(-0.78, -0.87, -0.55, 0.51, -0.66, 0.56, 0.53, 0.81, -0.84),
        q_value = c(6e-8, 1e-5, rep(0.033, 5), 0.2, 0.2), se = 0.1
    )
    estimates$p_value <- estimates$q_value / 10
    estimates$changed <- estimates$q_value <= 0.1
    found <- structure(list(estimates = estimates, fdr = 0.1,
                            global = list(p_value = 0.02)),
                       class = "kliep_infer")
    plot <- draw_volcano(found)
    range <- ggplot2::ggplot_build(plot)$layout$panel_params[[1]]
    share <- function(value, ends) (value - ends[1]) / diff(ends)
    for (size in list(c(7, 7), c(7, 5), c(6, 5))) {
        names <- drawn_names(plot, size[1], size[2])
        expect_equal(nrow(names), 7)
        expect_equal(n_overlaps(names), 0)
        at <- match(names$name, edge_label(estimates$from, estimates$to))
        x <- share(estimates$estimate[at], range$x.range) * names$panel_width
        y <- share(-log10(estimates$q_value[at]), range$y.range) *
            names$panel_height
        # Points have a radius of about 2.5.
        expect_true(all(x < names$left - 2 | x > names$right + 2 |
                            y < names$lower - 2 | y > names$upper + 2))
    }
})

test_that("the ends of a level edge are named on different sides", {
    level <- data.frame(x = 0:3, y = 0)
    chain <- data.frame(from = 1:3, to = 2:4)
    expect_equal(abs(diff(name_sides(level, chain))), c(2, 2, 2))
    # Away from what is above or below.
    upright <- data.frame(x = 0, y = c(0, 1))
    expect_equal(name_sides(upright, data.frame(from = 1, to = 2)), c(-1, 1))
})

test_that("the first of two boxes stays", {
    boxes <- cbind(c(0, 10, 0, 5), c(5, 15, 2, 7), c(11, 20, 2, 7),
                   c(9.5, 12, 0, 1))
    expect_identical(first_apart(boxes), c(TRUE, FALSE, TRUE, TRUE))
    expect_identical(first_apart(boxes[, 0, drop = FALSE]), logical())
})

test_that("both ends of an edge are shortened together", {
    from <- sprintf("ENSG%011d|protein_coding", 1)
    to <- sprintf("ENSG%011d|protein_coding", 2)
    ends <- strsplit(edge_label(from, to), " - ")[[1]]
    expect_false(ends[1] == ends[2])
})
