# A browser without a window, which tests drive as a reader would: by mouse and
# keys. It is spoken to over its standard input and output, in the protocol of
# its developer tools: one message of JSON a line, once zeros are line ends.

browser_command <- function() {
    found <- Sys.which(c("chromium", "chromium-browser", "google-chrome",
                         "google-chrome-stable"))
    unname(found[nzchar(found)][1])
}

skip_without_browser <- function() {
    skip_on_cran()
    skip_on_os("windows")
    skip_if_not_installed("processx")
    skip_if_not_installed("jsonlite")
    skip_if(Sys.which("stdbuf") == "", "no stdbuf is installed")
    skip_if(is.na(browser_command()), "no chromium is installed")
}

# The pipes of the browser are 3 and 4, its own output is of no interest.
start_browser <- function(folder) {
    process <- processx::process$new(
        "sh", c("-c", paste("\"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1 |",
                            "stdbuf -o0 tr '\\000' '\\n'"), "sh",
                browser_command(), "--headless=new", "--no-sandbox",
                "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-extensions",
                "--disable-component-update", "--mute-audio",
                "--disable-renderer-backgrounding",
                "--disable-backgrounding-occluded-windows",
                "--remote-debugging-pipe",
                paste0("--user-data-dir=", file.path(folder, "profile"))),
        stdin = "|", stdout = "|", encoding = "UTF-8", cleanup_tree = TRUE
    )
    list2env(list(process = process, sent = 0L, session = NULL,
                  events = list(), folder = folder))
}

stop_browser <- function(browser) {
    try(browser_call(browser, "Browser.close", session = FALSE), silent = TRUE)
    browser$process$wait(5000)
    end_tree(browser$process)
}

# The answer to a command. What the browser says of itself meanwhile is kept.
browser_call <- function(browser, method, ..., session = TRUE) {
    browser$sent <- browser$sent + 1L
    message <- list(id = browser$sent, method = method)
    if (...length() > 0L) message$params <- list(...)
    if (session) message$sessionId <- browser$session
    text <- jsonlite::toJSON(message, auto_unbox = TRUE, digits = NA)
    browser$process$write_input(c(charToRaw(enc2utf8(text)), as.raw(0)))
    repeat {
        said <- browser_read(browser)
        if (identical(said$id, browser$sent)) break
    }
    if (!is.null(said$error)) stop(method, ": ", said$error$message)
    said$result
}

# The next message; an event is noted.
browser_read <- function(browser, timeout = 600) {
    limit <- Sys.time() + timeout
    repeat {
        line <- browser$process$read_output_lines(1L)
        if (length(line) > 0L) break
        if (!browser$process$is_alive()) stop("the browser has ended")
        if (Sys.time() > limit) stop("the browser is silent")
        browser$process$poll_io(1000)
    }
    said <- jsonlite::fromJSON(line, simplifyVector = FALSE)
    if (!is.null(said$method)) browser$events <- c(browser$events, list(said))
    said
}

# Waits for an event that `matches`, also if it was said before.
browser_event <- function(browser, method,
                          matches = function(params) TRUE) {
    repeat {
        for (said in browser$events) {
            if (said$method == method && matches(said$params)) {
                return(said$params)
            }
        }
        browser_read(browser)
    }
}

browser_events <- function(browser, method) {
    Filter(function(said) said$method == method, browser$events)
}

# ---- pages -----------------------------------------------------------------

# A page at the given width, in the one tab there is: those behind another get
# no mouse. Movement is off: what is to be seen is there at once.
open_page <- function(browser, file, width = 1200, dark = FALSE) {
    if (is.null(browser$session)) open_tab(browser)
    browser$events <- list()
    set_width(browser, width)
    browser_call(browser, "Emulation.setEmulatedMedia", features = list(
        list(name = "prefers-color-scheme", value = if (dark) "dark" else
            "light"),
        list(name = "prefers-reduced-motion", value = "reduce")
    ))
    address <- utils::URLencode(paste0("file://", normalizePath(file)))
    on_page(browser, "window.left = true")
    browser_call(browser, "Page.navigate", url = address)
    await_page(browser)
    browser_call(browser, "Page.bringToFront")
    invisible(address)
}

# A load event may be that of the page before, which is empty at first.
await_page <- function(browser) {
    until <- Sys.time() + 600
    repeat {
        there <- tryCatch(on_page(browser, paste(
            "!window.left && location.protocol === 'file:' &&",
            "document.readyState === 'complete'"
        )), error = function(condition) FALSE)
        if (isTRUE(there)) return(invisible())
        if (Sys.time() > until) stop("The page has not opened.")
        Sys.sleep(0.02)
    }
}

open_tab <- function(browser) {
    tabs <- browser_call(browser, "Target.getTargets",
                         session = FALSE)$targetInfos
    tab <- Filter(function(one) one$type == "page", tabs)[[1]]
    browser$session <- browser_call(browser, "Target.attachToTarget",
                                    targetId = tab$targetId, flatten = TRUE,
                                    session = FALSE)$sessionId
    for (domain in c("Page", "Runtime", "Log", "Network")) {
        browser_call(browser, paste0(domain, ".enable"))
    }
    browser_call(browser, "Browser.setDownloadBehavior", behavior = "allow",
                 downloadPath = browser$folder, eventsEnabled = TRUE,
                 session = FALSE)
}

set_width <- function(browser, width) {
    browser_call(browser, "Emulation.setDeviceMetricsOverride", width = width,
                 height = 900, deviceScaleFactor = 1, mobile = FALSE)
}

# The value of an expression on the page; lists for objects and arrays.
on_page <- function(browser, script) {
    got <- browser_call(browser, "Runtime.evaluate", expression = script,
                        returnByValue = TRUE, awaitPromise = TRUE)
    if (!is.null(got$exceptionDetails)) {
        stop(script, ": ", got$exceptionDetails$exception$description)
    }
    got$result$value
}

# What went wrong on the page, and what it asked the network for.
page_complaints <- function(browser) {
    thrown <- browser_events(browser, "Runtime.exceptionThrown")
    logged <- browser_events(browser, "Log.entryAdded")
    asked <- vapply(browser_events(browser, "Network.requestWillBeSent"),
                    function(said) said$params$request$url, "")
    list(
        errors = c(
            vapply(thrown, function(said) {
                said$params$exceptionDetails$exception$description
            }, ""),
            vapply(logged, function(said) said$params$entry$text, "")
        ),
        asked = grep("^(file|data|blob|about|chrome):", asked, value = TRUE,
                     invert = TRUE)
    )
}

# ---- mouse and keys --------------------------------------------------------

# The middle of what a selector finds, scrolled to where it can be seen. The
# browser takes the mouse only once it has drawn the page there.
middle_of <- function(browser, selector) {
    on_page(browser, sprintf(paste0(
        "document.querySelector(%s).scrollIntoView({ block: 'center' });",
        "new Promise(requestAnimationFrame)"
    ), jsonlite::toJSON(selector, auto_unbox = TRUE)))
    unlist(on_page(browser, sprintf(paste0(
        "(function () { const box = document.querySelector(%s)",
        ".getBoundingClientRect();",
        "return [box.left + box.width / 2, box.top + box.height / 2]; }())"
    ), jsonlite::toJSON(selector, auto_unbox = TRUE))))
}

mouse <- function(browser, type, at) {
    browser_call(browser, "Input.dispatchMouseEvent", type = type, x = at[1],
                 y = at[2], button = if (type == "mouseMoved") "none" else
                     "left", clickCount = 1L)
}

click_at <- function(browser, at) {
    mouse(browser, "mouseMoved", at)
    mouse(browser, "mousePressed", at)
    mouse(browser, "mouseReleased", at)
}

# Buttons and fields are pressed by the page itself, as by a reader's own hand:
# where the browser draws nothing, it may keep the mouse waiting there.
click_on <- function(browser, selector) {
    browser_call(browser, "Runtime.evaluate", userGesture = TRUE,
                 expression = sprintf(
                     "document.querySelector(%s).focus(); %s",
                     jsonlite::toJSON(selector, auto_unbox = TRUE),
                     sprintf("document.querySelector(%s).click()",
                             jsonlite::toJSON(selector, auto_unbox = TRUE))
                 ))
}

press_key <- function(browser, key, code = NULL) {
    for (type in c("keyDown", "keyUp")) {
        browser_call(browser, "Input.dispatchKeyEvent", type = type, key = key,
                     windowsVirtualKeyCode = if (is.null(code))
                         utf8ToInt(toupper(key)) else code)
    }
}

type_text <- function(browser, text) {
    browser_call(browser, "Input.insertText", text = text)
}

# The file that a click on a button saves.
saved_by <- function(browser, selector) {
    browser$events <- Filter(function(said) {
        !startsWith(said$method, "Browser.download")
    }, browser$events)
    click_on(browser, selector)
    begun <- browser_event(browser, "Browser.downloadWillBegin")
    browser_event(browser, "Browser.downloadProgress", function(params) {
        params$state == "completed"
    })
    file.path(browser$folder, begun$suggestedFilename)
}
