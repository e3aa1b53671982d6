"use strict";

// Panel is the right side of the page: everything about the selected instruction, or, before one is selected, how to read the page.
class Panel {
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  show(i) {
    this.place.replaceChildren(...(i < 0 ? this.guide() : this.instruction(i)));
    this.place.scrollTop = 0;
  }

  guide() {
    const { program } = this.app;
    const top = program.expensive(1)[0];
    const key = (keys, what) => element("tr", {}, element("td", {}, keys.split(" ").map(k => element("kbd", {}, k))), element("td", {}, what));
    return [
      element("h2", {}, "How to read this"),
      element("p", {}, "Data flows down. A pile of cards stands for many instructions: click it to open it, click its title to close it. " +
        "The bar at its foot is its part of the time."),
      top !== undefined && element("p", {}, "Most time goes to ", this.link(top), ` (${percent(program.share(top))}). The list on the left has the next ones.`),
      program.measured ? element("p.muted", {}, "Times are measured; arithmetic and memory are the cost model's.") : element("p.muted", {}, "Times are estimates of the cost model for ", element("b", {}, `${flops(program.flopRate)}/s`), " and ", element("b", {}, `${bytes(program.byteRate)}/s`),
        program.lowerBound ? "; a custom call or a loop of unknown length is in the program, so that the total is uncertain." : "."),
      element("h3", {}, "Keys"),
      element("table.keys", {},
        key("/", "search"), key("↑ ↓", "to an operand, to a user"), key("← →", "to the neighbours in the order of the program"), key("Enter", "open or close"),
        key("N", "what is near; again: one step more"), key("A B", "mark two instructions: all between them"), key("E", "the most expensive op; again: the next"),
        key("F", "fit"), key("+ −", "zoom"), key("C", "show constants and parameters"), key("O", "next colouring"), key("T", "wrap the text"), key("Esc", "back"), key("?", "this")),
    ];
  }

  instruction(i) {
    const { program } = this.app;
    const c = program.computations[program.computationOf[i]];
    const kind = program.kindOf(i);
    const said = this.app.colours.about(i);
    return [
      element("div.title", {}, element("i.dot", { style: `background:${kind.colour}` }), element("h2", {}, program.opOf(i)), element("span.muted", {}, kind.name)),
      element("p.mono", {}, "%" + program.names[i]),
      element("p.mono.shape", {}, program.shapeOf(i)),
      this.actions(i),
      said && this.app.colours.chosen.id !== "time" && element("p.said", {}, element("b", {}, this.app.colours.chosen.title + ": "), said),
      this.figures(i),
      this.others(i),
      this.whereFrom(i),
      this.list("Operands", program.operandsOf(i)),
      this.list("Users", program.usersOf(i)),
      (program.control[i] || []).length && this.list("Runs after", program.control[i]),
      this.callees(i),
      element("h3", {}, "Text"),
      element("pre.text", {}, coloured(program.text[i], name => this.app.selectName(name))),
      element("h3", {}, "Around it in ", this.computation(program.computationOf[i])),
      this.lines(i, c),
    ].filter(Boolean);
  }

  actions(i) {
    const { app } = this;
    const button = (text, title, run) => element("button", { title, onclick: run }, text);
    return element("div.actions", {},
      button("Nearby", "What is within a step or two (N)", () => app.nearby(i)),
      button("From here…", "Mark this instruction as A; then mark another as B", () => app.mark("a", i)),
      button(app.marks.a !== undefined ? `… to here` : "To here", "Mark this instruction as B: shows all between A and B", () => app.mark("b", i)),
      button("Show", "Bring it to the middle", () => app.select(i, { zoom: true })));
  }

  figures(i) {
    const { program } = this.app;
    if (!(program.seconds[i] > 0)) return element("p.muted", {}, program.rounds[i] > 0 ? "Takes no time." : "Part of a fused or applied computation; its caller has the cost.");
    const share = program.share(i);
    const row = (name, value) => element("tr", {}, element("th", {}, name), element("td", {}, value));
    const moved = program.bytes[i] / program.byteRate, computed = program.flops[i] / program.flopRate;
    const bound = program.runsOthers(i) ? "its computations" : moved > computed * 1.2 ? "memory" : computed > moved * 1.2 ? "arithmetic" : "both alike";
    return element("div.figures", {},
      element("div.bar", { title: `${percent(share)} of the program's time` }, element("i", { style: `width:${Math.min(100, share * 100)}%` }), element("span", {}, percent(share) + " of the time")),
      element("table", {},
        row("Time", seconds(program.seconds[i])),
        row("Arithmetic", flops(program.flops[i])),
        row("Memory", bytes(program.bytes[i])),
        program.rounds[i] !== 1 && row("Executed", three(program.rounds[i]) + " times"),
        row("Bound by", bound),
        program.flops[i] > 0 && row("Intensity", three(program.flops[i] / Math.max(1, program.bytes[i])) + " flop/B")));
  }

  // others is what overlays that are not chosen say.
  others(i) {
    const { app } = this;
    const rows = app.program.overlays.filter(o => o !== app.colours.chosen).map(o => {
      const v = app.overlayValue(o, i);
      return v && element("tr", {}, element("th", {}, element("a", { onclick: () => app.colourBy(o.id) }, o.title)),
        element("td", {}, v.label || (o.classes ? o.classes[v.v].name : amount(v.v, o.unit))));
    }).filter(Boolean);
    return rows.length > 0 && element("table.others", {}, rows);
  }

  whereFrom(i) {
    const { app } = this;
    const scope = app.program.scopeOf(i), source = app.program.sourceOf(i), line = app.program.line[i];
    if (!scope && !source && !line) return null;
    const [file, number] = [source.slice(0, source.lastIndexOf(":")), source.slice(source.lastIndexOf(":") + 1)];
    return element("table.others", {},
      scope && element("tr", {}, element("th", {}, "op_name"), element("td.mono", {}, element("a", { title: "Find all of this name", onclick: () => app.lists.find("scope:" + scope) }, scope))),
      source && element("tr", {}, element("th", {}, "Source"), element("td.mono", {}, element("a", { title: "Find all of this line", onclick: () => app.lists.find("source:" + source) }, source), " ",
        file.startsWith("/") && element("a.out", { href: `vscode://file${encodeURI(file)}:${number}`, title: "Open in the editor" }, "↗"))),
      line > 0 && element("tr", {}, element("th", {}, "Line"), element("td.mono", {}, `${app.program.file}:${line}`)));
  }

  list(title, items) {
    if (!items.length) return null;
    const most = 40;
    return element("div", {}, element("h3", {}, `${title} (${items.length})`),
      element("ul.links", {}, items.slice(0, most).map(j => element("li", {}, this.link(j), element("span.muted", {}, " " + this.app.program.opOf(j) + " " + this.app.program.shapeOf(j)))),
        items.length > most && element("li.muted", {}, `and ${items.length - most} more`)));
  }

  callees(i) {
    const callees = [...new Set(this.app.program.callees[i] || [])];
    if (!callees.length) return null;
    return element("div", {}, element("h3", {}, "Calls"), element("ul.links", {}, callees.map(c => element("li", {}, this.computation(c),
      element("span.muted", {}, " " + count(this.app.program.computations[c].count, "instruction"))))));
  }

  link(j) {
    return element("a.name", { onclick: () => this.app.select(j, { zoom: true }) }, "%" + this.app.program.names[j]);
  }

  computation(c) {
    const { name, root } = this.app.program.computations[c];
    return element("a.name", { onclick: () => this.app.select(root, { zoom: true }) }, "%" + name);
  }

  // lines are the instructions before and behind in the text.
  lines(i, c) {
    const most = 8;
    const from = Math.max(c.first, i - most), to = Math.min(c.first + c.count, i + most + 1);
    const rows = [];
    for (let j = from; j < to; j++) {
      rows.push(element(j === i ? "div.line.here" : "div.line", { onclick: () => this.app.select(j, { zoom: true }), title: this.app.program.text[j].slice(0, 500) }, this.app.program.text[j].slice(0, 200)));
    }
    return element("div.lines", {}, rows);
  }
}
