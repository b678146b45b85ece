// What a page of the site does without a network: a table of contents, buttons
// that copy code, and a search over the index in search-index.js. tools/site.R
// takes out the scripts that would come from elsewhere.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  // ---- table of contents ---------------------------------------------------

  const contents = document.querySelector("#toc");
  const headings = [...document.querySelectorAll("main h2, main h3")].filter(
    (heading) => heading.closest("[id]") && !heading.closest("#toc, aside"));
  const own_text = (heading) => [...heading.childNodes]
    .filter((node) => !(node.classList && node.classList.contains("anchor")))
    .map((node) => node.textContent).join("").trim();
  if (contents && headings.length > 1) {
    const list = make("ul", { className: "nav flex-column" });
    for (const heading of headings) {
      list.append(make("li", { className: "toc-" + heading.localName },
        make("a", { className: "nav-link", textContent: own_text(heading),
                    href: "#" + (heading.id || heading.closest("[id]").id) })));
    }
    contents.append(list);
  }

  // ---- copy buttons --------------------------------------------------------

  for (const block of document.querySelectorAll("div.sourceCode")) {
    const button = make("button", { type: "button", className: "copy-code",
                                    textContent: "Copy" });
    button.addEventListener("click", async () => {
      const code = block.querySelector("pre").textContent
        .replace(/^#>.*\n?/gm, "");
      try {
        await navigator.clipboard.writeText(code);
        button.textContent = "Copied";
      } catch (refused) {
        button.textContent = "Press Ctrl+C";
      }
    });
    block.prepend(button);
  }

  // ---- search --------------------------------------------------------------

  const input = document.querySelector("#search-input");
  if (!input || !window.siteIndex) return;
  const root = document.querySelector("script[data-root]").dataset.root;
  const results = make("ul", { id: "search-results", hidden: true });
  results.setAttribute("role", "listbox");
  input.after(results);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", "search-results");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("autocomplete", "off");

  // All words must be there; a word in a title counts more than one in the
  // text, and the beginning of a word more than its middle.
  const score = (entry, words) => {
    let total = 0;
    for (const word of words) {
      let best = 0;
      for (const [text, weight] of [[entry.title, 8], [entry.what, 6],
                                    [entry.text, 1]]) {
        const at = text.indexOf(word);
        if (at < 0) continue;
        const starts = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
        best = Math.max(best, weight * (starts ? 2 : 1) +
          (text === word || text === word + "()" ? 10 : 0));
      }
      if (best === 0) return 0;
      total += best;
    }
    return total;
  };
  const low = window.siteIndex.map((entry) => ({
    title: entry.title.toLowerCase(), what: entry.what.toLowerCase(),
    text: entry.text.toLowerCase()
  }));
  // Help pages first, where all else is equal.
  const place = { Reference: 0.9, Articles: 0.8, Home: 0.2, Changelog: 0 };
  const find = (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const phrase = words.join(" ");
    const ranked = low.map((entry, i) => {
      const points = score(entry, words);
      const whole = entry.text.includes(phrase) ? 1 : 0;
      return [points && points + whole + place[window.siteIndex[i].where], i];
    }).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0] || a[1] - b[1])
      .map(([, i]) => window.siteIndex[i]);
    // No page may fill the list alone.
    const seen = new Map();
    return ranked.filter((entry) => {
      const page = entry.path.split("#")[0];
      seen.set(page, (seen.get(page) || 0) + 1);
      return seen.get(page) <= 2;
    }).slice(0, 12);
  };

  let chosen = -1;
  const mark = (which) => {
    const links = [...results.querySelectorAll("[role=option]")];
    if (links.length === 0) return;
    chosen = (which + links.length) % links.length;
    links.forEach((link, i) => {
      link.setAttribute("aria-selected", String(i === chosen));
    });
    input.setAttribute("aria-activedescendant", links[chosen].id);
    links[chosen].scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    results.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    const found = find(input.value);
    chosen = -1;
    if (input.value.trim() === "") return close();
    results.replaceChildren(...found.map((entry, i) => make("li", {},
      make("a", { id: "search-" + i, role: "option", href: root + entry.path },
        make("strong", { textContent: entry.title }),
        make("span", { textContent: entry.what === entry.title
          ? entry.where : entry.where + ": " + entry.what })))));
    if (found.length === 0) {
      results.append(make("li", { className: "nothing",
                                  textContent: "Nothing found." }));
    }
    results.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(chosen + 1);
    else if (event.key === "ArrowUp") mark(chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      const links = results.querySelectorAll("a");
      if (links.length > 0) links[Math.max(chosen, 0)].click();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!results.contains(event.target) && event.target !== input) close();
  });
});
