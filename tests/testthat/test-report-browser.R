# The report as a reader uses it, in a real browser. One browser serves all
# tests; each of them opens a page of its own.

names_of_trouble <- c("<script>alert(1)</script>", "a\"b'c&d", "line\nbreak",
                      "\u00fcn\u00ef \u2014 \u7532", "</script><b>", "`tick`",
                      "100_g_at", "*eight*", "V9", "V10")

# Made when the first test asks for them.
made <- new.env()

inferred <- function() {
    if (is.null(made$fit)) {
        withr::local_seed(7)
        pair <- sim_gaussian(d = 10, n = 300, n_changed = 5, change = -0.8)
        colnames(pair$x) <- colnames(pair$y) <- names_of_trouble
        made$fit <- kliep_infer(pair$x, pair$y, n_perm = 19, progress = FALSE)
    }
    made$fit
}

report_of <- function(fit, ...) {
    file <- tempfile(fileext = ".html", tmpdir = made_folder())
    kliep_report(fit, file, open = FALSE, ...)
}

made_folder <- function() {
    if (is.null(made$folder)) {
        made$folder <- withr::local_tempdir(
            .local_envir = testthat::teardown_env()
        )
    }
    made$folder
}

the_browser <- function() {
    skip_without_browser()
    if (is.null(made$browser)) {
        made$browser <- start_browser(made_folder())
        withr::defer(stop_browser(made$browser), testthat::teardown_env())
    }
    made$browser
}

shown_edges <- function(browser) {
    on_page(browser, paste0("document.querySelectorAll(",
                            "'#graph .edge:not([display=none])').length"))
}

shown_rows <- function(browser) {
    on_page(browser, paste0("document.querySelectorAll(",
                            "'#edge-table tbody tr:not([hidden])').length"))
}

status_of <- function(browser) {
    on_page(browser, "document.getElementById('graph-status').textContent")
}

said_on <- function(browser) {
    on_page(browser, "document.getElementById('graph-said').textContent")
}

# The middle of the line of an edge by number, in the window.
middle_of_edge <- function(browser, number) {
    middle_of(browser, "#graph")
    unlist(on_page(browser, sprintf(paste0(
        "(function () { const line = document.querySelectorAll(",
        "'#graph .edge')[%d]; const svg = line.ownerSVGElement;",
        "const p = svg.createSVGPoint();",
        "p.x = (line.x1.baseVal.value + line.x2.baseVal.value) / 2;",
        "p.y = (line.y1.baseVal.value + line.y2.baseVal.value) / 2;",
        "const q = p.matrixTransform(line.getScreenCTM());",
        "return [q.x, q.y]; }())"
    ), number)))
}

expect_no_complaints <- function(browser) {
    got <- page_complaints(browser)
    expect_identical(got$errors, character())
    expect_identical(got$asked, character())
}

# Press at a place, go 40 to the right and 20 down, and let go.
drag <- function(browser, from) {
    mouse(browser, "mouseMoved", from)
    mouse(browser, "mousePressed", from)
    for (step in 1:4) {
        browser_call(browser, "Input.dispatchMouseEvent", type = "mouseMoved",
                     x = from[1] + 10 * step, y = from[2] + 5 * step,
                     button = "left", buttons = 1L)
    }
    mouse(browser, "mouseReleased", from + c(40, 20))
}

test_that("a page opens without an error and without a network", {
    browser <- the_browser()
    fit <- inferred()
    open_page(browser, report_of(fit))
    reported <- nrow(edges(fit))
    expect_gt(reported, 1)
    expect_equal(shown_edges(browser), reported)
    expect_equal(shown_rows(browser), reported)
    expect_match(status_of(browser), "false discovery rate of 0.1: expect at")
    # Names of any kind are text, in the graph as in the tables.
    expect_equal(on_page(browser, "document.querySelectorAll('b').length"), 0)
    known <- unlist(on_page(browser, paste0(
        "Array.from(document.querySelectorAll('#names option'), ",
        "function (option) { return option.value; })"
    )))
    expect_true(all(known %in% names_of_trouble))
    widths <- unlist(on_page(browser, paste0(
        "Array.from(document.images, function (image) {",
        "return image.naturalWidth; })"
    )))
    expect_equal(widths, rep(1152L, length(report_pictures(fit))))
    expect_no_complaints(browser)
})

test_that("a report of 60 variables is there in under a second", {
    browser <- the_browser()
    withr::local_seed(1)
    pair <- sim_gaussian(d = 60, n = 100, n_changed = 20, change = -0.8)
    page <- report_of(kliep_infer(pair$x, pair$y, n_perm = 19,
                                  progress = FALSE))
    # By the browser's clock; what else the machine does may delay some.
    loaded <- vapply(1:3, function(trial) {
        open_page(browser, page)
        on_page(browser, paste0(
            "(function () { const timing = performance",
            ".getEntriesByType('navigation')[0];",
            "return timing.loadEventEnd - timing.startTime; }())"
        ))
    }, 1)
    expect_gt(min(loaded), 0)
    expect_lt(min(loaded), 1000)
})

test_that("the slider filters graph and tables together", {
    browser <- the_browser()
    fit <- inferred()
    open_page(browser, report_of(fit))
    click_on(browser, "#find")
    on_page(browser, "document.getElementById('cut').focus()")
    stops <- report_control(fit, 0)$stops
    at <- which(stops == 0.1)
    press_key(browser, "ArrowRight", 39L)
    press_key(browser, "ArrowRight", 39L)
    expect_equal(on_page(browser, "document.getElementById('cut').value"),
                 as.character(at + 1))
    wide <- edges(fit, fdr = stops[at + 2])
    expect_equal(shown_edges(browser), nrow(wide))
    expect_equal(shown_rows(browser), nrow(wide))
    expect_equal(
        on_page(browser, paste0("document.querySelectorAll(",
                                "'#variable-table tbody tr').length")),
        length(unique(c(wide$from, wide$to)))
    )
    for (press in 1:20) press_key(browser, "ArrowRight", 39L)
    expect_equal(shown_edges(browser), nrow(edges(fit, fdr = 0.5)))
    expect_gt(shown_edges(browser), nrow(wide))
    for (press in 1:20) press_key(browser, "ArrowLeft", 37L)
    expect_equal(shown_edges(browser), nrow(edges(fit, fdr = 0.001)))
    expect_no_complaints(browser)
})

test_that("a variable that is searched for stands out with its neighbours", {
    browser <- the_browser()
    fit <- inferred()
    open_page(browser, report_of(fit))
    found <- edges(fit)
    name <- found$from[1]
    near <- unique(c(found$to[found$from == name],
                     found$from[found$to == name]))
    click_on(browser, "#find")
    type_text(browser, name)
    marked <- unlist(on_page(browser, paste0(
        "Array.from(document.querySelectorAll('#graph .node.near'), ",
        "function (node) { return node.getAttribute('aria-label'); })"
    )))
    expect_setequal(sub(", [0-9]+ edges?$", "", marked), c(name, near))
    expect_match(said_on(browser), paste(length(near), "edge"))
    on_page(browser, paste0(
        "document.getElementById('find').value = 'no such name';",
        "document.getElementById('find').dispatchEvent(new Event('input'))"
    ))
    expect_match(said_on(browser), "No variable")
    expect_no_complaints(browser)
})

test_that("an edge shows its numbers on hover, its observations on a click", {
    browser <- the_browser()
    fit <- inferred()
    open_page(browser, report_of(fit))
    second <- edges(fit)[2, ]
    at <- middle_of_edge(browser, 1)
    mouse(browser, "mouseMoved", at)
    tip <- on_page(browser, paste0(
        "document.getElementById('graph-tip').hidden ? '' :",
        "document.getElementById('graph-tip').textContent"
    ))
    expect_match(tip, second$from, fixed = TRUE)
    expect_match(tip, "q_value", fixed = TRUE)
    expect_match(tip, format(second$lower, digits = 3), fixed = TRUE)
    click_at(browser, at)
    expect_equal(on_page(browser, paste0(
        "document.getElementById('evidence-name').textContent"
    )), paste(second$from, "\u2013", second$to))
    dots <- unlist(on_page(browser, paste0(
        "Array.from(document.querySelectorAll('.scatter .dots'), ",
        "function (part) { return part.childElementCount; })"
    )))
    expect_equal(dots, c(250, 250))
    # The correlation is that of all observations.
    sample <- samples_of(fit)
    colnames(sample$x) <- names_of_trouble
    r <- signif(stats::cor(sample$x[, second$from], sample$x[, second$to]), 3)
    expect_match(on_page(browser, paste0(
        "document.querySelector('#evidence figcaption').textContent"
    )), paste("correlation", r), fixed = TRUE)
    # A row of the table does the same.
    click_on(browser, "#edge-table tbody tr .pick")
    expect_match(on_page(browser, paste0(
        "document.getElementById('evidence-name').textContent"
    )), edges(fit)$from[1], fixed = TRUE)
    expect_no_complaints(browser)
})

test_that("variables are dragged, the view is zoomed", {
    browser <- the_browser()
    open_page(browser, report_of(inferred()))
    node <- "#graph .node:not([display=none]) circle"
    # From the corner of the graph, as the page may scroll in between.
    in_graph <- function() {
        unlist(on_page(browser, sprintf(paste0(
            "(function () { const box = document.getElementById('graph')",
            ".getBoundingClientRect(), dot = document.querySelector('%s')",
            ".getBoundingClientRect(); return [dot.left - box.left,",
            "dot.top - box.top]; }())"
        ), node)))
    }
    before <- in_graph()
    at <- middle_of(browser, node)
    drag(browser, at)
    expect_lt(max(abs(in_graph() - before - c(40, 20))), 2)
    length_of <- function() {
        on_page(browser, paste0(
            "(function () { const line = document.querySelector('.edge');",
            "return Math.hypot(line.x1.baseVal.value - line.x2.baseVal.value,",
            "line.y1.baseVal.value - line.y2.baseVal.value); }())"
        ))
    }
    before <- length_of()
    click_on(browser, "#zoom-in")
    expect_equal(length_of() / before, 1.25, tolerance = 0.01)
    click_on(browser, "#zoom-all")
    click_on(browser, "#arrange")
    expect_no_complaints(browser)
})

# The length of the first edge, which grows with the zoom, and where it begins.
first_edge <- function(browser) {
    unlist(on_page(browser, paste0(
        "(function () { const box = document.querySelector('#graph .edge')",
        ".getScreenCTM(), line = document.querySelector('#graph .edge');",
        "const x = line.x1.baseVal.value, y = line.y1.baseVal.value;",
        "return { long: Math.hypot(x - line.x2.baseVal.value,",
        "y - line.y2.baseVal.value), x: x * box.a + box.e,",
        "y: y * box.d + box.f }; }())"
    )))
}

test_that("the whole view is dragged, and zoomed by wheel and keys", {
    browser <- the_browser()
    open_page(browser, report_of(inferred()))
    at <- middle_of(browser, "#graph")
    # A corner of the stage, where nothing is drawn.
    corner <- unlist(on_page(browser, paste0(
        "(function () { const box = document.getElementById('graph')",
        ".getBoundingClientRect(); return [box.left + 8, box.top + 8]; }())"
    )))
    before <- first_edge(browser)
    drag(browser, corner)
    moved <- first_edge(browser) - before
    expect_equal(unname(moved[c("x", "y")]), c(40, 20), tolerance = 0.02)
    before <- first_edge(browser)[["long"]]
    # With Ctrl held down: the wheel alone scrolls the page.
    browser_call(browser, "Input.dispatchMouseEvent", type = "mouseWheel",
                 x = at[1], y = at[2], deltaX = 0, deltaY = -100,
                 modifiers = 2L)
    expect_equal(first_edge(browser)[["long"]] / before, exp(0.2),
                 tolerance = 0.01)
    click_on(browser, "#zoom-all")
    on_page(browser, paste0("document.querySelector(",
                            "'#graph [tabindex=\"0\"]').focus()"))
    whole <- first_edge(browser)[["long"]]
    ratio <- function() first_edge(browser)[["long"]] / whole
    press_key(browser, "+", 187L)
    expect_equal(ratio(), 1.25, tolerance = 0.01)
    press_key(browser, "-", 189L)
    press_key(browser, "-", 189L)
    expect_equal(ratio(), 0.8, tolerance = 0.01)
    press_key(browser, "0", 48L)
    expect_equal(ratio(), 1, tolerance = 0.01)
    expect_no_complaints(browser)
})

test_that("the graph can be used by keyboard", {
    browser <- the_browser()
    open_page(browser, report_of(inferred()))
    on_page(browser, paste0("document.querySelector(",
                            "'#graph [tabindex=\"0\"]').focus()"))
    active <- function() {
        on_page(browser, "document.activeElement.getAttribute('aria-label')")
    }
    first <- active()
    expect_match(first, "[0-9] edge")
    for (key in list(c("ArrowRight", 39), c("ArrowDown", 40),
                     c("ArrowLeft", 37), c("ArrowUp", 38))) {
        press_key(browser, key[1], as.integer(key[2]))
        if (active() != first) break
    }
    expect_false(active() == first)
    press_key(browser, "Enter", 13L)
    expect_equal(on_page(browser, paste0("document.activeElement.getAttribute(",
                                         "'aria-pressed')")), "true")
    press_key(browser, "e")
    name <- sub(", [0-9]+ edges?$", "", active())
    expect_match(said_on(browser), name, fixed = TRUE)
    expect_match(said_on(browser), "^Edge ")
    press_key(browser, "Escape", 27L)
    expect_false(on_page(browser, paste0("document.getElementById('graph')",
                                         ".classList.contains('focused')")))
    expect_no_complaints(browser)
})

test_that("what is saved can be read", {
    browser <- the_browser()
    fit <- inferred()
    open_page(browser, report_of(fit))
    found <- edges(fit)
    table <- utils::read.csv(saved_by(browser, "#save-csv"),
                             encoding = "UTF-8", check.names = FALSE)
    expect_identical(names(table), names(found))
    expect_identical(enc2utf8(table$from), enc2utf8(found$from))
    expect_equal(table$q_value, found$q_value, tolerance = 1e-8)
    graph <- igraph::read_graph(saved_by(browser, "#save-graphml"), "graphml")
    expect_equal(igraph::ecount(graph), nrow(found))
    expect_setequal(igraph::V(graph)$name, c(found$from, found$to))
    expect_equal(igraph::E(graph)$weight, found$weight, tolerance = 1e-8)
    svg <- paste(readLines(saved_by(browser, "#save-svg"), encoding = "UTF-8",
                           warn = FALSE), collapse = "\n")
    parsed <- on_page(browser, sprintf(paste0(
        "(function () { const page = new DOMParser().parseFromString(%s, ",
        "'image/svg+xml'); return [page.querySelectorAll('parsererror')",
        ".length, page.querySelectorAll('line').length]; }())"
    ), jsonlite::toJSON(svg, auto_unbox = TRUE)))
    expect_equal(unlist(parsed), c(0, nrow(found)))
    png <- readBin(saved_by(browser, "#save-png"), "raw", 1e6)
    expect_identical(rawToChar(png[2:4]), "PNG")
    expect_gt(length(png), 2000)
    expect_no_complaints(browser)
})

test_that("narrow windows, both themes and print", {
    browser <- the_browser()
    file <- report_of(inferred(), title = strrep("Longtitle", 20))
    open_page(browser, file, width = 400, dark = TRUE)
    paper <- function() {
        on_page(browser, "getComputedStyle(document.body).backgroundColor")
    }
    expect_equal(paper(), "rgb(20, 23, 26)")
    for (width in c(320, 400, 1200)) {
        set_width(browser, width)
        expect_lte(on_page(browser, "document.documentElement.scrollWidth"),
                   width)
    }
    click_on(browser, "#theme")
    expect_equal(paper(), "rgb(255, 255, 255)")
    click_on(browser, "#theme")
    expect_equal(paper(), "rgb(20, 23, 26)")
    browser_call(browser, "Emulation.setEmulatedMedia", media = "print")
    expect_equal(paper(), "rgb(255, 255, 255)")
    expect_equal(on_page(browser, paste0(
        "getComputedStyle(document.querySelector('.controls')).display"
    )), "none")
    expect_no_complaints(browser)
})

test_that("names at the sides of a narrow graph are whole", {
    browser <- the_browser()
    withr::local_seed(8)
    pair <- sim_gaussian(d = 12, n = 400, n_changed = 5, change = -0.8)
    colnames(pair$x) <- colnames(pair$y) <- paste0("probe_set_", 1001:1012,
                                                   "_at")
    fit <- kliep_infer(pair$x, pair$y, n_perm = 19, progress = FALSE)
    open_page(browser, report_of(fit), width = 390)
    outside <- on_page(browser, paste0(
        "(function () { const stage = document.getElementById('graph')",
        ".getBoundingClientRect(); return Array.from(document",
        ".querySelectorAll('#graph text:not([display=none])'))",
        ".filter(function (name) { const box = name.getBoundingClientRect();",
        "return box.width > 0 && (box.left < stage.left ||",
        "box.right > stage.right); }).length; }())"
    ))
    expect_equal(outside, 0)
    expect_gt(on_page(browser, paste0(
        "document.querySelectorAll('#graph text:not([display=none])').length"
    )), 3)
    expect_no_complaints(browser)
})

# No edge, and then every one.
path_of_all <- function(d, n, seed) {
    withr::local_seed(seed)
    sample <- function() matrix(rnorm(n * d), n)
    moment_path(sample(), sample(), lambda2 = c(10, 1e-6))
}

# Rows that are drawn, by the browser's own account.
drawn_rows <- function(browser) {
    on_page(browser, paste0(
        "Array.from(document.querySelectorAll('#edge-table tbody tr'))",
        ".filter(function (row) { return row.getClientRects().length; }).length"
    ))
}

test_that("a long table draws its first rows, saves and prints all of them", {
    browser <- the_browser()
    path <- path_of_all(d = 25, n = 30, seed = 4)
    open_page(browser, report_of(path, lambda2 = 1e-6))
    expect_equal(shown_rows(browser), 300)
    expect_equal(drawn_rows(browser), 200)
    saved <- saved_by(browser, "#edge-table .save")
    expect_length(readLines(saved), 301)
    browser_call(browser, "Emulation.setEmulatedMedia", media = "print")
    expect_equal(drawn_rows(browser), 300)
    browser_call(browser, "Emulation.setEmulatedMedia", media = "screen")
    expect_equal(on_page(browser, paste0(
        "document.querySelector('#edge-table .more').textContent"
    )), "Show all 300 rows")
    click_on(browser, "#edge-table .more")
    expect_equal(drawn_rows(browser), 300)
    expect_true(on_page(browser,
                        "document.querySelector('#edge-table .more').hidden"))
    expect_no_complaints(browser)
})

test_that("many lines are plain while they move, and only then", {
    browser <- the_browser()
    path <- path_of_all(d = 30, n = 40, seed = 5)
    open_page(browser, report_of(path, lambda2 = 1e-6))
    dashes <- paste0(
        "getComputedStyle(document.querySelector('#graph .in-y'))",
        ".strokeDasharray"
    )
    at_rest <- on_page(browser, dashes)
    expect_false(at_rest == "none")
    # Read in the same task as the move, before anything can come to rest.
    expect_equal(on_page(browser, paste0(
        "(function () { const cut = document.getElementById('cut');",
        "cut.dispatchEvent(new Event('input')); return ", dashes, "; }())"
    )), "none")
    on_page(browser, paste0(
        "new Promise(function (done) { const look = function () {",
        "if (document.querySelector('#graph.moving')) setTimeout(look, 20);",
        "else done(); }; look(); })"
    ))
    expect_equal(on_page(browser, dashes), at_rest)
    expect_no_complaints(browser)
})

test_that("2,000 edges and no edge are pages, too", {
    browser <- the_browser()
    path <- path_of_all(d = 80, n = 40, seed = 3)
    expect_gt(nrow(edges(path, 1e-6)), 2000)
    open_page(browser, report_of(path, lambda2 = 1e-6))
    expect_equal(shown_edges(browser), 2000)
    on_page(browser, paste0(
        "document.getElementById('cut').value = 3;",
        "document.getElementById('cut').dispatchEvent(new Event('input'))"
    ))
    expect_equal(shown_edges(browser), 5)
    expect_no_complaints(browser)
    open_page(browser, report_of(path, lambda2 = 10))
    expect_false(on_page(browser, "document.getElementById('graph') !== null"))
    expect_no_complaints(browser)
})
