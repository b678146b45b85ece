# Names of variables and edges that fit into a picture, and still differ.

edge_label <- function(from, to) {
    short <- short_name(c(from, to))
    n <- length(from)
    paste(short[seq_len(n)], short[n + seq_len(n)], sep = " - ")
}

# Long names lose their middle: identifiers differ at the end. Where that makes
# two names equal, they keep the part in which they differ, and if need be all
# of it.
short_name <- function(name, most = 16L) {
    # A line break in a name would take the place of its neighbours.
    name <- gsub("[[:space:]]+", " ", name)
    known <- unique(name)
    short <- cut_middle(known, most)
    for (group in split(seq_along(known), short)) {
        if (length(group) > 1L) {
            short[group] <- differing_part(known[group], most)
        }
    }
    clash <- short %in% short[duplicated(short)]
    short[clash] <- known[clash]
    short[match(name, known)]
}

cut_middle <- function(name, most) {
    size <- nchar(name)
    half <- (most - 1L) %/% 2L
    cut <- paste0(substr(name, 1L, half), "~",
                  substr(name, size - half, size))
    ifelse(size > most, cut, name)
}

# As many characters as fit, up to the last in which these names differ.
differing_part <- function(names, most) {
    letters <- strsplit(names, "")
    prefix <- common_length(letters)
    suffix <- common_length(lapply(letters, rev))
    size <- nchar(names)
    end <- pmax(pmin(size - suffix, size), prefix + 1L)
    start <- pmax(1L, end - most + 3L)
    # Two marks would take more than they spare.
    start[start == 2L] <- 1L
    paste0(ifelse(start > 1L, "~", ""), substr(names, start, end),
           ifelse(end < size, "~", ""))
}

# How many of their first letters are the same.
common_length <- function(letters) {
    least <- min(lengths(letters))
    same <- vapply(seq_len(least), function(k) {
        length(unique(vapply(letters, `[`, "", k))) == 1L
    }, NA)
    sum(cumprod(same))
}

# ---- names that do not lie on each other -------------------------------------

# How large names and pictures are is known when they are drawn. A name that
# then still lies on an earlier one is left out: both could not be read.
names_apart <- function(layer) {
    parent <- layer$geom
    layer$geom <- ggplot2::ggproto(
        NULL, parent,
        draw_layer = function(self, ...) {
            drawn <- ggplot2::ggproto_parent(parent, self)$draw_layer(...)
            # Without any name there is nothing to draw.
            lapply(drawn, function(grob) {
                if (is.null(grob)) return(NULL)
                structure(grob, class = c("names_apart", class(grob)))
            })
        }
    )
    layer
}

# ggrepel numbers what belongs to a name: "textrepelgrob3" are its letters,
# "textrepelgrob3-..." the white around them, "segmentrepelgrob3" its line.
#' @importFrom grid makeContent
#' @export
makeContent.names_apart <- function(x) {
    x <- NextMethod()
    parts <- names(x$children)
    letters <- grep("^textrepelgrob[0-9]+$", parts)
    boxes <- vapply(x$children[letters], text_box, numeric(4L))
    number <- sub("^[a-z]+([0-9]*).*", "\\1", parts)
    left_out <- number[letters[!first_apart(boxes)]]
    grid::setChildren(x, x$children[!number %in% left_out])
}

# Left, right, lower and upper end of a text, in points.
text_box <- function(text) {
    wide <- grid::convertWidth(grid::grobWidth(text), "points", TRUE)
    high <- grid::convertHeight(grid::grobHeight(text), "points", TRUE)
    x <- grid::convertX(text$x, "points", TRUE) - text$hjust * wide
    y <- grid::convertY(text$y, "points", TRUE) - text$vjust * high
    c(x, x + wide, y, y + high)
}

# Which boxes, in columns, lie on none that is kept before. A point of overlap
# is not seen.
first_apart <- function(boxes, least = 1) {
    kept <- logical(ncol(boxes))
    for (i in seq_len(ncol(boxes))) {
        before <- boxes[, kept, drop = FALSE]
        across <- pmin(boxes[2L, i], before[2L, ]) -
            pmax(boxes[1L, i], before[1L, ])
        up <- pmin(boxes[4L, i], before[4L, ]) -
            pmax(boxes[3L, i], before[3L, ])
        kept[i] <- !any(across > least & up > least)
    }
    kept
}
