"use strict";

// Lists is the left side of the page: the search with what it finds, and, while nothing is searched, where the time goes.
class Lists {
  constructor(app, field, place) {
    this.app = app;
    this.field = field;
    this.place = place;
    this.results = [];
    this.at = -1; // of results: the one that is selected
    let later = 0;
    field.addEventListener("input", () => {
      clearTimeout(later);
      later = setTimeout(() => this.find(field.value, false), 30);
    });
    field.addEventListener("keydown", e => {
      if (e.key === "Enter") this.step(e.shiftKey ? -1 : 1);
      else if (e.key === "ArrowDown") this.step(1);
      else if (e.key === "ArrowUp") this.step(-1);
      else if (e.key === "Escape") {
        this.find("");
        field.blur();
      } else return;
      e.preventDefault();
    });
  }

  find(query, write = true) {
    if (write) this.field.value = query;
    const from = performance.now();
    this.results = search(this.app.program, query);
    this.took = performance.now() - from;
    this.at = -1;
    this.app.painter.found = query.trim() ? new Set(this.results) : new Set();
    this.app.repaint();
    this.show();
  }

  step(by) {
    if (!this.results.length) return;
    this.at = (this.at + by + this.results.length) % this.results.length;
    this.app.select(this.results[this.at], { zoom: true });
    this.show();
    this.place.querySelector(".at")?.scrollIntoView({ block: "nearest" });
  }

  show() {
    this.place.replaceChildren(...(this.field.value.trim() ? this.found() : this.overview()));
  }

  found() {
    const most = 200;
    const { program } = this.app;
    return [
      element("p.muted.status", { "data-took": this.took.toFixed(1) }, this.results.length ? `${count(this.results.length, "instruction")} found` : "Nothing found. Words are searched in the whole text of instructions; op:, name:, shape:, scope:, source:, attr: and kind: ask for a part."),
      element("ol.rows", {}, this.results.slice(0, most).map((i, k) => this.row(i, k === this.at ? "at" : ""))),
      this.results.length > most && element("p.muted", {}, `and ${count(this.results.length - most, "more")}`),
    ].filter(Boolean);
  }

  overview() {
    const { program } = this.app;
    const top = program.expensive(12);
    const sources = program.spent(i => program.sourceOf(i), 8);
    const scopes = program.spent(i => splitScope(program.scopeOf(i)).slice(0, 4).join("/"), 8);
    const ops = program.spent(i => program.opOf(i), 8);
    const large = program.computations.map((c, k) => ({ ...c, k })).filter(c => c.count > 3).sort((a, b) => b.count - a.count).slice(0, 8);
    const section = (title, rows, open) => rows.length > 0 && element("details", open ? { open: "" } : {}, element("summary", {}, title), element("ol.rows", {}, rows));
    return [
      section("Most expensive instructions", top.map(i => this.row(i, "")), true),
      section("Time by op", ops.map(s => this.sum(s, s.key, "op:" + s.key)), true),
      section("Time by scope", scopes.map(s => this.sum(s, s.key, "scope:" + s.key)), scopes.length > 1),
      section("Time by line of source", sources.map(s => this.sum(s, s.key.split("/").slice(-2).join("/"), "source:" + s.key)), true),
      section("Largest computations", large.map(c => element("li", { onclick: () => this.app.select(c.root, { zoom: true }) },
        element("span.name", {}, "%" + c.name), element("span.figure", {}, c.count.toLocaleString("en")))), false),
    ].filter(Boolean);
  }

  row(i, mark) {
    const { program } = this.app;
    const share = program.share(i);
    return element("li" + (mark ? "." + mark : ""), { onclick: () => this.app.select(i, { zoom: true }), title: program.text[i].slice(0, 400) },
      element("i.share", { style: `width:${Math.min(100, share * 100)}%` }),
      element("span.op", { style: `--kind:${program.kindOf(i).colour}` }, program.opOf(i)),
      element("span.name", {}, "%" + program.names[i], element("small", {}, program.shapeOf(i))),
      element("span.figure", {}, program.seconds[i] > 0 ? seconds(program.seconds[i]) : ""));
  }

  sum(s, text, query) {
    const share = s.seconds / this.app.program.total;
    return element("li", { onclick: () => this.find(query), title: `${text}: ${count(s.count, "instruction")}, ${seconds(s.seconds)}` },
      element("i.share", { style: `width:${Math.min(100, share * 100)}%` }), element("span.name", {}, text), element("span.figure", {}, percent(share)));
  }
}
