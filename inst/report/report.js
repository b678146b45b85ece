// What is alive on the page of kliep_report(): the graph of the edges, the
// slider that filters graph and tables together, the search for a variable, the
// observations behind an edge, and what can be saved. No library, no network.
//
// Data flow: report-data (JSON written by R) and the rows of the edge table are
// read once; `state` says what is shown; refresh() draws all that depends on it.
// Text from the data only ever becomes textContent, an attribute or an escaped
// file: never markup.
(function () {
  "use strict";

  const element = function (id) { return document.getElementById(id); };
  const data = JSON.parse(element("report-data").textContent);
  const svgSpace = "http://www.w3.org/2000/svg";

  // ---- small things --------------------------------------------------------

  function make(tag, attributes, text) {
    const made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      made.setAttribute(name, attributes[name]);
    });
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function draw(tag, attributes, text) {
    const made = document.createElementNS(svgSpace, tag);
    set(made, attributes || {});
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function set(target, attributes) {
    Object.keys(attributes).forEach(function (name) {
      target.setAttribute(name, attributes[name]);
    });
  }

  function count(n, singular) {
    return n.toLocaleString("en") + " " + singular + (n === 1 ? "" : "s");
  }

  // Three digits are enough to read.
  function number(value) {
    if (value === null || !isFinite(value)) return "not known";
    if (Number.isInteger(value)) return value.toLocaleString("en");
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1);
    return String(Number(value.toPrecision(3)));
  }

  // Identifiers differ at the end: long names lose their middle.
  function shorten(name, most) {
    const plain = name.replace(/\s+/g, " ");
    const letters = Array.from(plain);
    if (letters.length <= most) return plain;
    const half = Math.floor((most - 1) / 2);
    return letters.slice(0, half).join("") + "\u2026" +
      letters.slice(-half).join("");
  }

  function save(name, type, content) {
    const blob = content instanceof Blob ? content :
      new Blob([content], { type: type });
    const link = make("a", { download: name });
    link.href = URL.createObjectURL(blob);
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }

  function pressed(id, action) {
    const button = element(id);
    if (button) button.addEventListener("click", action);
  }

  // ---- tables --------------------------------------------------------------

  // A click on a head sorts, the field above searches, the button saves what is
  // shown. `accepts` says which rows may be shown at all. A browser takes a
  // tenth of a second to lay out thousands of rows, at every move of the
  // slider: unless a reader asks for all, only the first are drawn on screen.
  const firstRows = 200;

  function Table(box) {
    const table = this;
    table.body = box.querySelector("tbody");
    table.heads = Array.from(box.querySelectorAll("thead th"));
    table.rows = Array.from(table.body.rows);
    table.field = box.querySelector("input[type=search]");
    table.tally = box.querySelector(".count");
    table.accepts = function () { return true; };
    table.heads.forEach(function (head, column) {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", function () {
        table.sort(column, nextOrder(head));
      });
    });
    if (!table.field) return;
    table.field.addEventListener("input", function () { table.refresh(); });
    box.querySelector(".save").addEventListener("click", function () {
      save((box.id || "table") + ".csv", "text/csv", table.csv());
    });
    table.most = firstRows;
    table.more = table.tally.parentNode.appendChild(
      make("button", { type: "button", "class": "more" }));
    table.more.addEventListener("click", function () {
      table.most = Infinity;
      table.refresh();
    });
    table.refresh();
  }

  // Numbers start with the largest.
  function nextOrder(head) {
    const sorted = head.getAttribute("aria-sort");
    const down = sorted ? sorted === "ascending" :
      head.classList.contains("number");
    return down ? "descending" : "ascending";
  }

  function cellValue(row, column) {
    const cell = row.cells[column];
    const value = cell.getAttribute("data-value");
    if (value === null) return cell.textContent.toLowerCase();
    return value === "" ? NaN : Number(value);
  }

  // Missing values last, whichever way round.
  function compare(a, b, down) {
    if (a !== a || b !== b) return (a !== a) - (b !== b);
    return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
  }

  Table.prototype.sort = function (column, order) {
    this.heads.forEach(function (head) { head.removeAttribute("aria-sort"); });
    this.heads[column].setAttribute("aria-sort", order);
    this.rows.sort(function (a, b) {
      return compare(cellValue(a, column), cellValue(b, column),
                     order === "descending");
    });
    this.rows.forEach(function (row) { this.body.appendChild(row); }, this);
    this.drawFirst();
  };

  // Other rows in the place of these, in the order that was asked for.
  Table.prototype.replace = function (rows) {
    this.body.replaceChildren.apply(this.body, rows);
    this.rows = rows;
    this.heads.forEach(function (head, column) {
      const order = head.getAttribute("aria-sort");
      if (order) this.sort(column, order);
    }, this);
    this.refresh();
  };

  Table.prototype.shown = function () {
    return this.rows.filter(function (row) { return !row.hidden; });
  };

  Table.prototype.refresh = function () {
    const words = this.field ? this.field.value.toLowerCase().split(/\s+/) : [];
    this.rows.forEach(function (row) {
      const text = words.some(Boolean) ? Array.from(row.cells, function (cell) {
        return cell.textContent.toLowerCase();
      }).join(" ") : "";
      row.hidden = !this.accepts(row) ||
        !words.every(function (word) { return text.includes(word); });
    }, this);
    if (this.tally) {
      this.tally.textContent = this.shown().length + " of " + this.rows.length;
    }
    this.drawFirst();
  };

  // Rows beyond the first are on paper and in what is saved, too.
  Table.prototype.drawFirst = function () {
    if (!this.more) return;
    const shown = this.shown();
    shown.forEach(function (row, i) {
      row.classList.toggle("beyond", i >= this.most);
    }, this);
    this.more.hidden = shown.length <= this.most;
    this.more.textContent = "Show all " + count(shown.length, "row");
  };

  Table.prototype.columns = function () {
    return this.heads.map(function (head) { return head.textContent.trim(); });
  };

  // Numbers as they are, not as they are read.
  function cellText(cell) {
    const value = cell.getAttribute("data-value");
    return value === null ? cell.textContent : value;
  }

  function quote(text) { return '"' + text.replace(/"/g, '""') + '"'; }

  Table.prototype.csv = function () {
    const lines = [this.columns().map(quote)];
    this.shown().forEach(function (row) {
      lines.push(Array.from(row.cells, function (cell) {
        const text = cellText(cell);
        return cell.hasAttribute("data-value") ? text : quote(text);
      }));
    });
    return lines.map(function (line) { return line.join(","); })
      .join("\r\n") + "\r\n";
  };

  const tables = {};
  document.querySelectorAll(".kliep-table").forEach(function (box) {
    tables[box.id] = new Table(box);
  });

  // ---- light and dark ------------------------------------------------------

  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" :
      prefersDark.matches;
  }

  function nameTheme() {
    element("theme").textContent = isDark() ? "Light theme" : "Dark theme";
  }

  pressed("theme", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  prefersDark.addEventListener("change", nameTheme);
  nameTheme();

  // ---- what is shown -------------------------------------------------------

  // No edge anywhere: there are tables, and no graph to draw.
  if (!element("graph")) return;

  const nodes = data.variables.map(function (name, i) {
    return { name: name, x: data.x[i], y: data.y[i], edges: [], degree: 0,
             shown: false, near: false };
  });
  const edges = data.from.map(function (from, i) {
    return { index: i, from: from, to: data.to[i], weight: data.weight[i],
             sign: data.sign[i], cut: data.cut[i], shown: true };
  });
  edges.forEach(function (edge) {
    nodes[edge.from].edges.push(edge);
    nodes[edge.to].edges.push(edge);
  });
  const control = data.control;
  const state = { stop: control ? control.at : 0, variables: [], edge: null };

  const edgeTable = tables["edge-table"];
  const edgeRows = [];
  edgeTable.rows.forEach(function (row) {
    edgeRows[Number(row.dataset.edge)] = row;
  });
  edgeTable.accepts = function (row) {
    return edges[Number(row.dataset.edge)].shown;
  };

  // Rounding must not cost an edge.
  function passes(edge) {
    if (!control) return true;
    const stop = control.stops[state.stop];
    return control.at_least ? edge.cut >= stop - 1e-9 :
      edge.cut <= stop + 1e-9;
  }

  // The more dots there are, the less the largest may grow: they would lie on
  // each other.
  let growth = 1.6;

  function scaleDots() {
    const shown = nodes.filter(function (node) { return node.shown; });
    const most = shown.reduce(function (largest, node) {
      return Math.max(largest, node.degree);
    }, 1);
    const room = Math.max(1.5, Math.min(10, 40 / Math.sqrt(shown.length + 1)));
    growth = Math.min(1.6, room / Math.sqrt(Math.max(most - 1, 1)));
  }

  function filterEdges() {
    nodes.forEach(function (node) { node.degree = 0; });
    edges.forEach(function (edge) {
      edge.shown = passes(edge);
      if (!edge.shown) return;
      nodes[edge.from].degree += 1;
      nodes[edge.to].degree += 1;
    });
    nodes.forEach(function (node) { node.shown = node.degree > 0; });
    scaleDots();
  }

  function shownEdges() {
    return edges.filter(function (edge) { return edge.shown; });
  }

  function otherEnd(edge, node) {
    return nodes[edge.from] === node ? nodes[edge.to] : nodes[edge.from];
  }

  function edgeName(edge) {
    return nodes[edge.from].name + " \u2013 " + nodes[edge.to].name;
  }

  // ---- the layout ----------------------------------------------------------

  // Edges have length one on average, in the layout that R has made.
  (function () {
    filterEdges();
    let total = 0;
    const drawn = shownEdges();
    const used = drawn.length > 0 ? drawn : edges;
    used.forEach(function (edge) {
      const a = nodes[edge.from], b = nodes[edge.to];
      total += Math.hypot(a.x - b.x, a.y - b.y);
    });
    const unit = total > 0 ? total / used.length : 1;
    nodes.forEach(function (node) { node.x /= unit; node.y /= -unit; });
  }());

  // Springs along edges, repulsion between near variables, and a little
  // gravity. Near means within neighbouring cells of a grid, so that a tick
  // takes time in proportion to the number of variables. Nothing is random.
  function relax(points, links, ticks) {
    const cell = 3;
    points.forEach(function (p) { p.vx = 0; p.vy = 0; });
    for (let tick = 0; tick < ticks; tick += 1) {
      const cool = 1 - tick / ticks;
      repel(points, cell, 0.5 * cool);
      links.forEach(function (link) {
        const a = nodes[link.from], b = nodes[link.to];
        const dx = b.x - a.x, dy = b.y - a.y;
        const long = Math.hypot(dx, dy) || 1e-6;
        // Hubs are heavy: what hangs on them moves instead.
        const pull = 0.5 * cool * (long - 1) / long / Math.min(a.degree, b.degree);
        const share = a.degree / (a.degree + b.degree);
        a.vx += pull * dx * (1 - share); a.vy += pull * dy * (1 - share);
        b.vx -= pull * dx * share; b.vy -= pull * dy * share;
      });
      points.forEach(function (p) {
        p.vx = 0.6 * (p.vx - 0.01 * cool * p.x);
        p.vy = 0.6 * (p.vy - 0.014 * cool * p.y);
        const speed = Math.hypot(p.vx, p.vy);
        const brake = speed > 0.6 ? 0.6 / speed : 1;
        p.x += p.vx * brake;
        p.y += p.vy * brake;
      });
    }
  }

  function repel(points, cell, strength) {
    const grid = new Map();
    const key = function (column, row) { return column * 100003 + row; };
    points.forEach(function (p, i) {
      p.order = i;
      p.column = Math.floor(p.x / cell);
      p.row = Math.floor(p.y / cell);
      const at = key(p.column, p.row);
      if (grid.has(at)) grid.get(at).push(p); else grid.set(at, [p]);
    });
    points.forEach(function (p) {
      for (let column = p.column - 1; column <= p.column + 1; column += 1) {
        for (let row = p.row - 1; row <= p.row + 1; row += 1) {
          (grid.get(key(column, row)) || []).forEach(function (q) {
            if (q.order <= p.order) return;
            let dx = q.x - p.x, dy = q.y - p.y;
            if (dx === 0 && dy === 0) { dx = 0.01 * (1 + q.order); dy = 0.01; }
            const push = strength / Math.max(dx * dx + dy * dy, 0.02) / 4;
            p.vx -= push * dx; p.vy -= push * dy;
            q.vx += push * dx; q.vy += push * dy;
          });
        }
      }
    });
  }

  // A new place for everything that is shown; variables move there in a third
  // of a second, unless the reader wants no movement.
  const noMotion = window.matchMedia("(prefers-reduced-motion: reduce)");
  let moving = 0;

  function arrange(ticks) {
    const points = nodes.filter(function (node) { return node.shown; });
    const before = points.map(function (p) { return [p.x, p.y]; });
    relax(points, shownEdges(), ticks);
    const view = fitted();
    if (noMotion.matches || points.length === 0) {
      camera = view;
      return drawGraph();
    }
    const after = points.map(function (p) { return [p.x, p.y]; });
    const first = camera, begin = performance.now(), run = moving += 1;
    const step = function (now) {
      if (run !== moving) return;
      const part = Math.min(1, Math.max(0, (now - begin) / 330));
      const mix = function (a, b) { return a + (b - a) * part * (2 - part); };
      points.forEach(function (p, i) {
        p.x = mix(before[i][0], after[i][0]);
        p.y = mix(before[i][1], after[i][1]);
      });
      camera = { zoom: mix(first.zoom, view.zoom), x: mix(first.x, view.x),
                 y: mix(first.y, view.y) };
      sketch();
      drawGraph();
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // ---- the graph -----------------------------------------------------------

  const stage = element("graph");
  const scene = stage.appendChild(draw("g", { "class": "scene" }));
  const tip = element("graph-tip");
  const size = { width: 800, height: 500 };
  let camera = { zoom: 100, x: 0, y: 0 };

  const largest = edges.reduce(function (most, edge) {
    return Math.max(most, Math.abs(edge.weight));
  }, 0) || 1;
  const lineLayer = scene.appendChild(draw("g", { "class": "lines" }));
  const nodeLayer = scene.appendChild(draw("g", { "class": "nodes" }));
  edges.forEach(function (edge) {
    edge.line = lineLayer.appendChild(draw("line", {
      "class": "edge " + (edge.sign > 0 ? "in-x" : edge.sign < 0 ? "in-y" :
        "unsigned"),
      "stroke-width": (1 + 4 * Math.abs(edge.weight) / largest).toFixed(2)
    }));
  });
  nodes.forEach(function (node, i) {
    node.group = nodeLayer.appendChild(draw("g", {
      "class": "node", role: "button", tabindex: "-1", "data-node": i
    }));
    node.dot = node.group.appendChild(draw("circle", {}));
    node.label = node.group.appendChild(draw("text", {},
                                             shorten(node.name, 18)));
  });

  function measure() {
    const width = Math.max(240, stage.parentNode.clientWidth);
    size.width = width;
    size.height = Math.round(Math.min(560, Math.max(320, 0.68 * width)));
    stage.setAttribute("viewBox", "0 0 " + size.width + " " + size.height);
  }

  // The view that shows everything, with room for names at the sides.
  function fitted() {
    const shown = nodes.filter(function (node) { return node.shown; });
    if (shown.length === 0) return camera;
    const range = function (of) {
      const all = shown.map(of);
      return [Math.min.apply(null, all), Math.max.apply(null, all)];
    };
    const x = range(function (node) { return node.x; });
    const y = range(function (node) { return node.y; });
    const zoom = Math.min((size.width - 130) / Math.max(x[1] - x[0], 0.01),
                          (size.height - 70) / Math.max(y[1] - y[0], 0.01),
                          130);
    return { zoom: zoom, x: size.width / 2 - zoom * (x[0] + x[1]) / 2,
             y: size.height / 2 - zoom * (y[0] + y[1]) / 2 };
  }

  function place(node) {
    node.group.setAttribute("transform", "translate(" +
      (node.x * camera.zoom).toFixed(1) + "," +
      (node.y * camera.zoom).toFixed(1) + ")");
  }

  function placeLine(edge) {
    const a = nodes[edge.from], b = nodes[edge.to];
    set(edge.line, { x1: (a.x * camera.zoom).toFixed(1),
                     y1: (a.y * camera.zoom).toFixed(1),
                     x2: (b.x * camera.zoom).toFixed(1),
                     y2: (b.y * camera.zoom).toFixed(1) });
  }

  function radius(node) {
    return 4 + growth * Math.sqrt(Math.max(node.degree - 1, 0));
  }

  function moveScene() {
    scene.setAttribute("transform", "translate(" + camera.x.toFixed(1) + "," +
      camera.y.toFixed(1) + ")");
  }

  // Smooth and dashed lines by the hundred take longer to draw than a frame
  // lasts: while something moves, they are plain.
  const manyLines = 300;
  let settled = 0;

  function sketch() {
    stage.classList.toggle("moving", shownEdges().length > manyLines);
    clearTimeout(settled);
    settled = setTimeout(function () {
      stage.classList.remove("moving");
    }, 200);
  }

  function drawGraph() {
    moveScene();
    edges.forEach(function (edge) { if (edge.shown) placeLine(edge); });
    const shown = nodes.filter(function (node) { return node.shown; });
    shown.forEach(place);
    placeNames(shown);
  }

  // Names of the variables with most edges first, each on the first side of
  // its dot where it covers neither another name nor a dot. What finds no room
  // has its name on hover, or after zooming in.
  function placeNames(shown) {
    const taken = shown.slice(0, 600).map(function (node) {
      const half = radius(node) + 1;
      return boxAround(node.x * camera.zoom, node.y * camera.zoom, half, half);
    });
    const order = shown.slice().sort(function (a, b) {
      return b.near - a.near || b.degree - a.degree;
    });
    order.forEach(function (node, rank) {
      const side = rank < 150 ? freeSide(node, taken) : null;
      node.label.setAttribute("display", side ? "inline" : "none");
      if (side) set(node.label, side.attributes);
    });
  }

  function boxAround(x, y, half, tall) {
    return [x - half, y - tall, x + half, y + tall];
  }

  function freeSide(node, taken) {
    const x = node.x * camera.zoom, y = node.y * camera.zoom;
    const r = radius(node) + 4;
    const half = 3.4 * Array.from(node.label.textContent).length + 1;
    const sides = [
      { box: boxAround(x + r + half, y, half, 7), towards: [1, 0],
        attributes: { x: r, y: 4, "text-anchor": "start" } },
      { box: boxAround(x - r - half, y, half, 7), towards: [-1, 0],
        attributes: { x: -r, y: 4, "text-anchor": "end" } },
      { box: boxAround(x, y - r - 7, half, 7), towards: [0, -1],
        attributes: { x: 0, y: -r - 2, "text-anchor": "middle" } },
      { box: boxAround(x, y + r + 7, half, 7), towards: [0, 1],
        attributes: { x: 0, y: r + 11, "text-anchor": "middle" } }
    ];
    sides.forEach(function (side) { side.crowd = crowd(node, side.towards); });
    sides.sort(function (a, b) { return a.crowd - b.crowd; });
    const free = sides.filter(function (side) {
      return !taken.some(function (box) {
        return side.box[0] < box[2] && box[0] < side.box[2] &&
          side.box[1] < box[3] && box[1] < side.box[3];
      });
    });
    const chosen = free.find(inView) || (inStage(x, y) ? null : free[0]) ||
      (node.near ? sides[0] : null);
    if (chosen) taken.push(chosen.box);
    return chosen;
  }

  // A name that the frame would cut is not drawn on that side. Variables that
  // are out of view keep theirs until the view is moved.
  function inView(side) {
    return side.box[0] + camera.x >= 4 &&
      side.box[2] + camera.x <= size.width - 4;
  }

  function inStage(x, y) {
    return x + camera.x >= 0 && x + camera.x <= size.width &&
      y + camera.y >= 0 && y + camera.y <= size.height;
  }

  // How much a name on this side would lie on the lines of its variable.
  function crowd(node, towards) {
    return node.edges.reduce(function (sum, edge) {
      if (!edge.shown) return sum;
      const other = otherEnd(edge, node);
      const dx = other.x - node.x, dy = other.y - node.y;
      const along = (dx * towards[0] + dy * towards[1]) /
        (Math.hypot(dx, dy) || 1);
      return sum + Math.max(0, along);
    }, 0);
  }

  // Dots, lines and classes: all that does not depend on where things are.
  function dressGraph() {
    const chosen = new Set(state.variables);
    stage.classList.toggle("focused", chosen.size > 0);
    nodes.forEach(function (node, i) { node.near = chosen.has(i); });
    edges.forEach(function (edge) {
      const near = edge.shown && (chosen.has(edge.from) || chosen.has(edge.to));
      if (near) nodes[edge.from].near = nodes[edge.to].near = true;
      edge.line.setAttribute("display", edge.shown ? "inline" : "none");
      edge.line.classList.toggle("near", near);
      edge.line.classList.toggle("picked", edge === state.edge);
    });
    nodes.forEach(function (node, i) {
      node.group.setAttribute("display", node.shown ? "inline" : "none");
      node.group.setAttribute("aria-label", node.name + ", " +
        count(node.degree, "edge"));
      node.group.setAttribute("aria-pressed", chosen.has(i));
      node.group.classList.toggle("near", node.near);
      node.group.classList.toggle("picked", chosen.has(i));
      node.dot.setAttribute("r", radius(node).toFixed(1));
    });
    tabTo(nodes.find(function (node) {
      return node.shown && node.group.tabIndex === 0;
    }) || nodes.filter(function (node) { return node.shown; })[0]);
  }

  // ---- everything that follows the slider ----------------------------------

  // What the slider says stays; what is said of a pick goes with it.
  const status = element("graph-status");
  const said = element("graph-said");

  function saySlider() {
    const shown = shownEdges().length;
    if (!control) return count(shown, "edge") + ".";
    const value = control.stops[state.stop];
    const text = number(shown) + " of " + count(edges.length, "edge") +
      " shown, " +
      control.says.replace("%s", number(value));
    if (!control.expects || shown === 0) return text + ".";
    return text + ": expect at most " + number(shown * value) +
      " of them to be false.";
  }

  function refresh() {
    filterEdges();
    if (control) {
      const field = element("cut");
      const text = number(control.stops[state.stop]);
      field.value = state.stop;
      field.setAttribute("aria-valuetext", control.says.replace("%s", text));
      element("cut-value").textContent = text;
    }
    status.textContent = saySlider();
    edgeTable.refresh();
    refreshVariables();
    element("graph-empty").hidden = shownEdges().length > 0;
    stage.setAttribute("aria-label", "Graph of " +
      count(shownEdges().length, "edge") + " between " +
      count(nodes.filter(function (node) { return node.shown; }).length,
            "variable"));
    dressGraph();
  }

  // The table of variables, from the edges that are shown.
  function refreshVariables() {
    const table = tables["variable-table"];
    if (!table) return;
    const total = shownEdges().reduce(function (sum, edge) {
      return sum + Math.abs(edge.weight);
    }, 0);
    const rows = nodes.filter(function (node) { return node.shown; })
      .map(function (node) {
        const own = node.edges.filter(function (edge) { return edge.shown; });
        const most = own.reduce(function (a, b) {
          return Math.abs(b.weight) > Math.abs(a.weight) ? b : a;
        });
        const strength = own.reduce(function (sum, edge) {
          return sum + Math.abs(edge.weight);
        }, 0);
        return { name: node.name, degree: own.length, strength: strength,
                 share: total > 0 ? strength / total : 0,
                 strongest: otherEnd(most, node).name };
      });
    rows.sort(function (a, b) {
      return b.degree - a.degree || b.strength - a.strength;
    });
    table.replace(rows.map(variableRow));
  }

  function variableRow(about) {
    const row = make("tr");
    row.appendChild(make("th", { scope: "row" }, about.name));
    ["degree", "strength", "share"].forEach(function (name) {
      row.appendChild(make("td", { "class": "number",
                                   "data-value": about[name] },
                           number(about[name])));
    });
    row.appendChild(make("td", {}, about.strongest));
    return row;
  }

  let later = 0;

  function slide(stop) {
    state.stop = stop;
    const known = new Set(nodes.filter(function (node) { return node.shown; }));
    refresh();
    // What comes in begins beside what it belongs to.
    nodes.forEach(function (node) {
      if (!node.shown || known.has(node)) return;
      const near = node.edges.map(function (edge) {
        return otherEnd(edge, node);
      }).find(function (other) { return known.has(other); });
      if (!near) return;
      node.x = near.x + 0.3 * Math.cos(node.edges[0].index);
      node.y = near.y + 0.3 * Math.sin(node.edges[0].index);
    });
    sketch();
    drawGraph();
    clearTimeout(later);
    later = setTimeout(function () { arrange(120); }, 120);
  }

  if (control) {
    element("cut").addEventListener("input", function () {
      slide(Number(this.value));
    });
  }

  // ---- a variable and its neighbours ---------------------------------------

  function neighbours(node) {
    return node.edges.filter(function (edge) { return edge.shown; })
      .map(function (edge) { return otherEnd(edge, node).name; });
  }

  function pickVariables(numbers) {
    state.variables = numbers;
    dressGraph();
    drawGraph();
    said.textContent = numbers.slice(0, 3).map(function (v) {
      const near = neighbours(nodes[v]);
      if (near.length === 0) return nodes[v].name + " has no edge here.";
      return nodes[v].name + " has " + count(near.length, "edge") + ", with " +
        near.slice(0, 8).join(", ") + (near.length > 8 ? ", ..." : "") + ".";
    }).join(" ") + (numbers.length > 3 ? " " + (numbers.length - 3) +
      " more variables match." : "");
  }

  // A field has no line ends: names are compared without spaces of any kind.
  function squash(text) { return text.toLowerCase().replace(/\s+/g, ""); }

  function search(text) {
    const wanted = squash(text);
    if (wanted === "") return pickVariables([]);
    const names = nodes.map(function (node) { return squash(node.name); });
    const among = function (test) {
      return names.map(function (name, i) { return test(name) ? i : -1; })
        .filter(function (i) { return i >= 0; });
    };
    const exact = among(function (name) { return name === wanted; });
    const found = exact.length > 0 ? exact :
      among(function (name) { return name.includes(wanted); });
    pickVariables(found);
    if (found.length === 0) {
      said.textContent = "No variable in this graph matches \u201c" +
        text.trim() + "\u201d.";
    }
  }

  const field = element("find");
  field.addEventListener("input", function () { search(field.value); });

  // ---- an edge and its evidence --------------------------------------------

  function facts(edge) {
    const row = edgeRows[edge.index];
    return edgeTable.columns().map(function (name, column) {
      return [name, row.cells[column].textContent];
    }).slice(2);
  }

  function pickEdge(edge, quiet) {
    state.edge = edge;
    edgeRows.forEach(function (row, i) {
      row.classList.toggle("picked", i === edge.index);
    });
    dressGraph();
    showEvidence(edge);
    if (!quiet) {
      said.textContent = "Edge " + edgeName(edge) + ": " +
        facts(edge).slice(0, 8).map(function (fact) {
          return fact.join(" ");
        }).join(", ") + ".";
    }
  }

  function showEvidence(edge) {
    element("evidence-name").textContent = edgeName(edge);
    const list = element("evidence-facts");
    list.replaceChildren();
    facts(edge).forEach(function (fact) {
      const pair = list.appendChild(make("div"));
      pair.appendChild(make("dt", {}, fact[0]));
      pair.appendChild(make("dd", {}, fact[1]));
    });
    const plots = element("evidence-plots");
    plots.replaceChildren();
    if (!data.evidence) return;
    const a = data.evidence.variables.indexOf(edge.from);
    const b = data.evidence.variables.indexOf(edge.to);
    if (a < 0 || b < 0) {
      plots.appendChild(make("p", {}, "The observations of this edge are left " +
        "out to keep the page small."));
      return;
    }
    ["x", "y"].forEach(function (part, i) {
      plots.appendChild(scatter(edge, part, i, a, b));
    });
  }

  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
    "0123456789+/";

  // Two letters for each value, from the lowest to the highest.
  function decode(text) {
    const values = [];
    for (let i = 0; i < text.length; i += 2) {
      values.push((64 * letters.indexOf(text[i]) +
        letters.indexOf(text[i + 1])) / 4095);
    }
    return values;
  }

  // Few values lie on each other: each point is moved a little, always the same
  // way.
  function spread(values) {
    if (new Set(values).size > 8) return values;
    return values.map(function (value, i) {
      return 0.1 + 0.8 * value + 0.12 * (((i * 0.618034) % 1) - 0.5);
    });
  }

  function line(u, v) {
    const n = u.length;
    const mean = function (w) {
      return w.reduce(function (s, x) { return s + x; }, 0) / n;
    };
    const mu = mean(u), mv = mean(v);
    let uv = 0, uu = 0;
    u.forEach(function (x, i) {
      uv += (x - mu) * (v[i] - mv);
      uu += (x - mu) * (x - mu);
    });
    if (uu === 0) return null;
    return function (x) { return mv + uv / uu * (x - mu); };
  }

  function scatter(edge, part, which, a, b) {
    const evidence = data.evidence, wide = 220, tall = 200, left = 26, low = 24;
    const u = decode(evidence[part][a]), v = decode(evidence[part][b]);
    const r = evidence["r_" + part][edge.index];
    const name = data.conditions[which];
    const title = name + ": " + evidence.correlation + " " + number(r) + ", " +
      count(evidence.n[which], "observation") +
      (evidence.shown[which] < evidence.n[which] ?
        " (" + evidence.shown[which] + " drawn)" : "");
    const figure = make("figure");
    figure.appendChild(make("figcaption", {}, title));
    const plot = draw("svg", {
      viewBox: "0 0 " + wide + " " + tall, role: "img", "class": "scatter",
      "aria-label": "Scatter plot of " + nodes[edge.from].name + " and " +
        nodes[edge.to].name + " in " + title
    });
    figure.appendChild(plot);
    plot.appendChild(draw("rect", { x: left, y: 4, width: wide - left - 4,
                                    height: tall - low - 8, "class": "frame" }));
    const toX = function (value) { return left + 6 + value * (wide - left - 16); };
    const toY = function (value) { return tall - low - 10 - value * (tall - low - 20); };
    const xs = spread(u), ys = spread(v);
    const dots = plot.appendChild(draw("g", { "class": "dots in-" + part }));
    xs.forEach(function (value, i) {
      dots.appendChild(draw("circle", { cx: toX(value).toFixed(1),
                                        cy: toY(ys[i]).toFixed(1), r: 2.2 }));
    });
    trend(plot, xs, ys, toX, toY);
    axis(plot, a, b, edge, { left: left, tall: tall, wide: wide });
    return figure;
  }

  function trend(plot, xs, ys, toX, toY) {
    const at = line(xs, ys);
    if (!at) return;
    const ends = [Math.min.apply(null, xs), Math.max.apply(null, xs)];
    plot.appendChild(draw("line", {
      x1: toX(ends[0]), y1: toY(at(ends[0])), x2: toX(ends[1]),
      y2: toY(at(ends[1])), "class": "trend"
    }));
  }

  function axis(plot, a, b, edge, at) {
    const tick = function (v, end) {
      const words = data.evidence.levels[v];
      if (words.length === 2) return shorten(words[end], 10);
      return number(end === 0 ? data.evidence.low[v] : data.evidence.high[v]);
    };
    const write = function (x, y, anchor, text, turned) {
      const made = plot.appendChild(draw("text", {
        x: x, y: y, "text-anchor": anchor
      }, text));
      if (turned) made.setAttribute("transform", "rotate(-90 " + x + " " + y + ")");
    };
    const foot = at.tall - 6, side = 12;
    write(at.left, foot, "start", tick(a, 0));
    write(at.wide - 4, foot, "end", tick(a, 1));
    write((at.left + at.wide) / 2, foot, "middle",
          shorten(nodes[edge.from].name, 14));
    write(side, at.tall - 28, "start", tick(b, 0), true);
    write(side, 4, "end", tick(b, 1), true);
    write(side, (at.tall - 24) / 2, "middle",
          shorten(nodes[edge.to].name, 12), true);
  }

  // Rows of the table pick edges, too, by mouse and by key.
  edgeRows.forEach(function (row, i) {
    const cell = row.cells[0];
    const button = make("button", { type: "button", "class": "pick",
                                    title: "Show the observations" },
                        cell.textContent);
    cell.replaceChildren(button);
    row.addEventListener("click", function () { pickEdge(edges[i]); });
  });

  // ---- mouse, touch and keys -----------------------------------------------

  // In units of the drawing.
  function pointer(event) {
    const box = stage.getBoundingClientRect();
    return { x: (event.clientX - box.left) * size.width / box.width,
             y: (event.clientY - box.top) * size.height / box.height };
  }

  function nodeAt(event) {
    const group = event.target.closest ? event.target.closest(".node") : null;
    return group ? nodes[Number(group.dataset.node)] : null;
  }

  // Lines are thin: the nearest one within a few pixels is meant.
  function edgeAt(at) {
    const px = (at.x - camera.x) / camera.zoom;
    const py = (at.y - camera.y) / camera.zoom;
    let best = 7 / camera.zoom, found = null;
    edges.forEach(function (edge) {
      if (!edge.shown) return;
      const a = nodes[edge.from], b = nodes[edge.to];
      const dx = b.x - a.x, dy = b.y - a.y;
      const along = ((px - a.x) * dx + (py - a.y) * dy) / (dx * dx + dy * dy || 1);
      const t = Math.min(1, Math.max(0, along));
      const far = Math.hypot(px - a.x - t * dx, py - a.y - t * dy);
      if (far < best) { best = far; found = edge; }
    });
    return found;
  }

  let drag = null;

  stage.addEventListener("pointerdown", function (event) {
    if (event.button !== 0) return;
    const at = pointer(event);
    drag = { node: nodeAt(event), start: at, last: at, moved: false };
    moving += 1;
    hideTip();
  });

  stage.addEventListener("pointermove", function (event) {
    const at = pointer(event);
    if (!drag) return hover(event, at);
    if (!drag.moved && Math.hypot(at.x - drag.start.x, at.y - drag.start.y) < 4) {
      return;
    }
    if (!drag.moved) stage.setPointerCapture(event.pointerId);
    drag.moved = true;
    sketch();
    const dx = at.x - drag.last.x, dy = at.y - drag.last.y;
    drag.last = at;
    if (drag.node) {
      drag.node.x += dx / camera.zoom;
      drag.node.y += dy / camera.zoom;
      place(drag.node);
      drag.node.edges.forEach(placeLine);
    } else {
      camera = { zoom: camera.zoom, x: camera.x + dx, y: camera.y + dy };
      moveScene();
    }
  });

  stage.addEventListener("pointerup", function () {
    const done = drag;
    drag = null;
    if (!done) return;
    if (done.moved) return drawGraph();
    if (done.node) {
      done.node.group.focus();
      return pickVariables([nodes.indexOf(done.node)]);
    }
    const edge = edgeAt(done.start);
    if (edge) return pickEdge(edge);
    field.value = "";
    pickVariables([]);
  });

  stage.addEventListener("pointercancel", function () { drag = null; });
  stage.addEventListener("pointerleave", function () { if (!drag) hideTip(); });

  function hover(event, at) {
    const node = nodeAt(event);
    const edge = node ? null : edgeAt(at);
    stage.classList.toggle("pointing", Boolean(node || edge));
    if (node) {
      return showTip(at, node.name, [["edges", String(node.degree)],
                                     ["with", neighbours(node).slice(0, 6)
                                       .join(", ")]]);
    }
    if (edge) return showTip(at, edgeName(edge), facts(edge));
    hideTip();
  }

  function showTip(at, title, pairs) {
    tip.replaceChildren(make("strong", {}, title));
    pairs.forEach(function (pair) {
      const part = tip.appendChild(make("div"));
      part.appendChild(make("span", {}, pair[0]));
      part.appendChild(make("span", {}, pair[1]));
    });
    tip.hidden = false;
    const box = stage.getBoundingClientRect();
    const scale = box.width / size.width;
    const room = box.width - tip.offsetWidth - 4;
    const below = at.y * scale + tip.offsetHeight + 16 < box.height;
    tip.style.left = Math.max(4, Math.min(room, at.x * scale + 12)) + "px";
    tip.style.top = Math.max(4, below ? at.y * scale + 14 :
      at.y * scale - tip.offsetHeight - 10) + "px";
  }

  function hideTip() { tip.hidden = true; }

  function zoomBy(factor, at) {
    const middle = at || { x: size.width / 2, y: size.height / 2 };
    const zoom = Math.min(2000, Math.max(4, camera.zoom * factor));
    const by = zoom / camera.zoom;
    moving += 1;
    camera = { zoom: zoom, x: middle.x - (middle.x - camera.x) * by,
               y: middle.y - (middle.y - camera.y) * by };
    drawGraph();
  }

  function showAll() {
    moving += 1;
    camera = fitted();
    drawGraph();
  }

  // A wheel alone scrolls the page.
  stage.addEventListener("wheel", function (event) {
    if (!event.ctrlKey && !event.metaKey &&
        !stage.contains(document.activeElement)) {
      return;
    }
    event.preventDefault();
    sketch();
    zoomBy(Math.exp(-0.002 * event.deltaY), pointer(event));
  }, { passive: false });

  // One variable is in the order of tabs; arrows lead from one to the next.
  function tabTo(node) {
    nodes.forEach(function (other) {
      other.group.setAttribute("tabindex", other === node ? "0" : "-1");
    });
  }

  function towards(node, dx, dy) {
    let best = Infinity, found = null;
    nodes.forEach(function (other) {
      if (other === node || !other.shown) return;
      const x = other.x - node.x, y = other.y - node.y;
      const ahead = x * dx + y * dy;
      const aside = Math.abs(x * dy - y * dx);
      if (ahead > 0 && ahead + 2 * aside < best) {
        best = ahead + 2 * aside;
        found = other;
      }
    });
    return found;
  }

  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
                   ArrowDown: [0, 1] };

  function nextEdge(node) {
    const own = node.edges.filter(function (edge) { return edge.shown; });
    const at = own.indexOf(state.edge);
    if (own.length > 0) pickEdge(own[(at + 1) % own.length]);
  }

  stage.addEventListener("keydown", function (event) {
    const node = nodeAt(event);
    const keys = {
      Enter: function () { if (node) pickVariables([nodes.indexOf(node)]); },
      " ": function () { if (node) pickVariables([nodes.indexOf(node)]); },
      Escape: function () { field.value = ""; pickVariables([]); hideTip(); },
      e: function () { if (node) nextEdge(node); },
      "+": function () { zoomBy(1.25); },
      "-": function () { zoomBy(0.8); },
      "0": showAll
    };
    const arrow = arrows[event.key];
    const act = arrow ? function () {
      const next = node && towards(node, arrow[0], arrow[1]);
      if (next) { tabTo(next); next.group.focus(); }
    } : keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  pressed("zoom-in", function () { zoomBy(1.25); });
  pressed("zoom-out", function () { zoomBy(0.8); });
  pressed("zoom-all", showAll);
  pressed("arrange", function () { arrange(300); });

  // ---- what can be saved ---------------------------------------------------

  // XML has no control characters.
  function escapeXml(text) {
    return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "")
      .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;");
  }

  // The colours of the light theme, as a picture on paper has no theme.
  const pictureStyle = "text{font:12px sans-serif;fill:#1d2125;" +
    "paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}" +
    "circle{fill:#33383e}line{stroke:#6b7280}line.in-x{stroke:#0072b2}" +
    "line.in-y{stroke:#d55e00;stroke-dasharray:5 3}";

  function svgText() {
    const copy = stage.cloneNode(true);
    copy.querySelectorAll("[display=none]").forEach(function (hidden) {
      hidden.remove();
    });
    copy.querySelectorAll("text").forEach(function (label) {
      label.textContent = label.textContent
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
    });
    copy.querySelectorAll(".node").forEach(function (node) {
      ["role", "tabindex", "aria-pressed", "aria-label", "data-node"]
        .forEach(function (name) { node.removeAttribute(name); });
    });
    set(copy, { xmlns: svgSpace, width: size.width, height: size.height });
    copy.removeAttribute("class");
    copy.insertBefore(draw("rect", { width: "100%", height: "100%",
                                     fill: "#ffffff" }), copy.firstChild);
    copy.insertBefore(draw("style", {}, pictureStyle), copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }

  function savePng() {
    const image = new Image();
    image.onload = function () {
      const canvas = make("canvas", { width: 2 * size.width,
                                      height: 2 * size.height });
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(function (blob) { save("graph.png", "image/png", blob); });
    };
    image.src = "data:image/svg+xml;charset=utf-8," +
      encodeURIComponent(svgText());
  }

  // Variables as nodes, and the columns of the table as attributes of edges.
  function graphml() {
    const columns = edgeTable.columns().slice(2);
    const isNumber = edgeTable.heads.slice(2).map(function (head) {
      return head.classList.contains("number");
    });
    const lines = [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
      '<key id="name" for="node" attr.name="name" attr.type="string"/>'
    ];
    columns.forEach(function (name, i) {
      lines.push('<key id="e' + i + '" for="edge" attr.name="' +
        escapeXml(name) + '" attr.type="' +
        (isNumber[i] ? "double" : "string") + '"/>');
    });
    lines.push('<graph id="change" edgedefault="undirected">');
    nodes.forEach(function (node, i) {
      if (!node.shown) return;
      lines.push('<node id="n' + i + '"><data key="name">' +
        escapeXml(node.name) + "</data></node>");
    });
    shownEdges().forEach(function (edge) {
      const cells = Array.from(edgeRows[edge.index].cells).slice(2);
      lines.push('<edge source="n' + edge.from + '" target="n' + edge.to +
        '">' + cells.map(function (cell, i) {
          const text = cellText(cell);
          return text === "" ? "" : '<data key="e' + i + '">' +
            escapeXml(text) + "</data>";
        }).join("") + "</edge>");
    });
    return lines.concat("</graph>", "</graphml>", "").join("\n");
  }

  pressed("save-svg", function () {
    save("graph.svg", "image/svg+xml", svgText());
  });
  pressed("save-png", savePng);
  pressed("save-csv", function () {
    save("edges.csv", "text/csv", edgeTable.csv());
  });
  pressed("save-graphml", function () {
    save("graph.graphml", "application/xml", graphml());
  });

  // ---- begin ---------------------------------------------------------------

  measure();
  refresh();
  showAll();
  const strongest = shownEdges()[0];
  if (strongest) pickEdge(strongest, true);
  window.addEventListener("resize", function () { measure(); showAll(); });
}());
