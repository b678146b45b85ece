# The report as a reader meets it, in a real browser: how soon it is there, how
# large it is, and how many pictures a second are drawn while the slider moves
# or a variable is dragged.

source(file.path("tests", "testthat", "helper-browser.R"))

bench_report <- function() {
    needed <- c(processx = requireNamespace("processx", quietly = TRUE),
                jsonlite = requireNamespace("jsonlite", quietly = TRUE),
                stdbuf = nzchar(Sys.which("stdbuf")),
                chromium = !is.na(browser_command()))
    if (!all(needed)) {
        return(bench_row("the report in a browser",
                         paste("needs", names(needed)[!needed][1L])))
    }
    folder <- tempfile("report")
    dir.create(folder)
    browser <- start_browser(folder)
    on.exit(stop_browser(browser))
    rbind(report_rows(browser, d = 60, wanted = 500),
          report_rows(browser, d = 80, wanted = 2000))
}

# Data without a change: along the path come edges as many as are wanted.
report_rows <- function(browser, d, wanted) {
    file <- report_file(browser, d, wanted)
    opened <- stats::median(vapply(1:5, function(i) {
        opening_seconds(browser, file)
    }, 0))
    shown <- on_page(browser, paste0(
        "document.querySelectorAll('#graph .edge').length"
    ))
    what <- paste0("report of ", d, " variables and ",
                   format(shown, big.mark = ","), " edges")
    size <- file.size(file) / 1e6
    rbind(
        bench_row(paste0(what, ": opened"), show_seconds(opened),
                  goal = at_most(opened, 1, " s", shown >= 0.9 * wanted)),
        bench_row(paste0(what, ": size"), paste(round(size, 2L), "MB"),
                  goal = at_most(size, 1.5, " MB")),
        frames_row(paste0(what, ": the slider moves"),
                   frames_of(browser, slider_moves)),
        frames_row(paste0(what, ": a variable is dragged"),
                   frames_of(browser, drag_moves))
    )
}

report_file <- function(browser, d, wanted) {
    set.seed(1)
    sample <- function() {
        matrix(stats::rnorm(40 * d), 40,
               dimnames = list(NULL, paste0("gene", seq_len(d))))
    }
    path <- moment_path(sample(), sample(), nlambda = 100,
                        lambda_min_ratio = 1e-4)
    counts <- vapply(path$lambda2, function(lambda2) {
        nrow(edges(path, lambda2))
    }, 0L)
    kliep_report(path,
                 file.path(browser$folder, paste0("report-", d, ".html")),
                 lambda2 = path$lambda2[which.min(abs(counts - wanted))],
                 open = FALSE)
}

# From the request to the first picture with everything in it.
opening_seconds <- function(browser, file) {
    open_page(browser, file)
    on_page(browser, paste0(
        "new Promise(requestAnimationFrame).then(function () { return ",
        "new Promise(requestAnimationFrame); }).then(function () { return ",
        "performance.now() / 1000; })"
    ))
}

# ---- pictures a second -----------------------------------------------------

# A move in every frame, for so many frames. `move(k)` is the k-th.
frames_script <- "(async function () {
    const frame = function () { return new Promise(requestAnimationFrame); };
    %s
    const frames = 120, gaps = [], scripts = [];
    await frame();
    let last = await frame();
    for (let k = 0; k < frames; k += 1) {
        const begin = performance.now();
        move(k);
        scripts.push(performance.now() - begin);
        const now = await frame();
        gaps.push(now - last);
        last = now;
    }
    const sum = gaps.reduce(function (a, b) { return a + b; }, 0);
    scripts.sort(function (a, b) { return a - b; });
    return [1000 * frames / sum, Math.max.apply(null, gaps),
            scripts[frames / 2]];
}())"

# Up and down its whole length, as an impatient hand does.
slider_moves <- "
    const cut = document.getElementById('cut'), most = Number(cut.max);
    const move = function (k) {
        cut.value = Math.round(most * Math.abs(1 - (k % 40) / 20));
        cut.dispatchEvent(new Event('input'));
    };"

# The variable with most edges, in a circle.
drag_moves <- "
    const cut = document.getElementById('cut');
    cut.value = cut.max;
    cut.dispatchEvent(new Event('input'));
    await new Promise(function (done) { setTimeout(done, 1000); });
    const graph = document.getElementById('graph');
    const node = graph.querySelector('.node:not([display=none])');
    const box = node.querySelector('circle').getBoundingClientRect();
    const at = function (type, x, y) {
        (type === 'pointerdown' ? node : graph).dispatchEvent(
            new PointerEvent(type, { bubbles: true, pointerId: 1, button: 0,
                                     buttons: 1, clientX: x, clientY: y }));
    };
    at('pointerdown', box.x + box.width / 2, box.y + box.height / 2);
    const move = function (k) {
        at('pointermove', box.x + 60 * Math.cos(k / 6),
           box.y + 60 * Math.sin(k / 6));
    };"

frames_of <- function(browser, moves) {
    run <- unlist(on_page(browser, sprintf(frames_script, moves)))
    stats::setNames(run, c("rate", "longest", "script"))
}

# A screen shows 60 pictures a second, a film 24.
frames_row <- function(what, run) {
    bench_row(what, paste(round(run[["rate"]]), "frames/s"),
              paste0("longest ", round(run[["longest"]]), " ms, script ",
                     round(run[["script"]], 1L), " ms"),
              at_least(run[["rate"]], 30, " frames/s"))
}
