"use strict";

// App is the page: it holds the program that is shown, and what is selected and open.
class App {
  constructor(site) {
    this.site = site; // programs: their names; load(k): the columns of one
    this.canvas = document.querySelector("#drawing");
    this.panel = new Panel(this, document.querySelector("#panel"));
    this.marks = {};
    this.selected = -1;
    this.trail = []; // what Esc goes back to
    new Gestures(this);
    new Keys(this);
    window.addEventListener("resize", () => this.repaint());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    const choice = document.querySelector("#files");
    choice.replaceChildren(...site.programs.map((p, k) => element("option", { value: k }, p)));
    choice.hidden = site.programs.length < 2;
    choice.addEventListener("change", () => this.open(+choice.value));
    document.querySelector("#colouring").addEventListener("change", e => this.colourBy(e.target.value));
  }

  async open(k) {
    const status = document.querySelector("#summary");
    status.textContent = "reading…";
    try {
      this.show(await this.site.load(k));
    } catch (error) {
      status.textContent = "";
      document.querySelector("#panel").replaceChildren(element("h2", {}, "This program cannot be shown"), element("pre.text", {}, error.message));
    }
  }

  show(columns) {
    this.program = new Program(columns);
    this.folding = new Folding(this.program);
    this.layout = new Layout(this.program, this.folding);
    this.colours = new Colours(this.program, this.folding);
    this.painter = new Painter(this.canvas, this.program, this.colours);
    this.root = this.folding.root;
    this.marks = {};
    this.selected = -1;
    this.trail = [];
    this.lists = this.lists || new Lists(this, document.querySelector("#query"), document.querySelector("#lists"));
    this.header();
    this.layout.arrange(this.root);
    this.first();
    this.panel.show(-1);
    this.lists.find("");
    const named = decodeURIComponent(location.hash.slice(1));
    if (named && this.program.indexOf.has(named)) this.select(this.program.indexOf.get(named), { zoom: true });
    performance.mark("shown");
  }

  header() {
    const p = this.program;
    document.title = `${p.name} · halo`;
    document.querySelector("#module").textContent = p.name;
    document.querySelector("#summary").textContent = `${count(p.size, "instruction")} in ${count(p.computations.length, "computation")} · ${p.measured ? `${seconds(p.total)} measured` : `about ${seconds(p.total)} on one core`}`;
    const choice = document.querySelector("#colouring");
    choice.replaceChildren(...this.colours.choices.map(c => element("option", { value: c.id }, c.title)));
    this.legend();
  }

  legend() {
    document.querySelector("#legend").replaceChildren(...this.colours.legend());
    document.querySelector("#colouring").value = this.colours.chosen.id;
  }

  colourBy(id) {
    this.colours.choose(id);
    this.legend();
    if (this.selected >= 0) this.panel.show(this.selected);
    this.repaint();
  }

  overlayValue(overlay, i) {
    overlay.byInstruction ||= new Map(overlay.values.map(v => [v.i, v]));
    return overlay.byInstruction.get(i);
  }

  // repaint paints at the next frame, once however often it is asked.
  repaint() {
    if (this.painting || !this.painter) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = 0;
      this.painter.selected = this.selected;
      this.painter.paint(this.root);
    });
  }

  // select shows an instruction: opens what it is in and, with zoom, brings it to the middle.
  select(i, { zoom = false } = {}) {
    this.selected = i;
    this.panel.show(i);
    if (i >= 0) {
      history.replaceState(null, "", "#" + encodeURIComponent(this.program.names[i]));
      if (this.root.kind === "near" && !this.root.members.includes(i)) this.leave();
      const box = this.root.kind === "near" ? this.root.children.find(f => f.instruction === i) : this.folding.reveal(i);
      this.layout.arrange(this.root);
      if (zoom && box) this.bringIn(box);
    }
    this.breadcrumbs();
    this.repaint();
  }

  selectName(name) {
    if (this.program.indexOf.has(name)) this.select(this.program.indexOf.get(name), { zoom: true });
    else {
      const c = this.program.computations.find(c => c.name === name);
      if (c) this.select(c.root, { zoom: true });
    }
  }

  toggle(fold) {
    if (!fold.parent || !this.folding.canOpen(fold)) return;
    const before = positionOf(fold);
    fold.open = !fold.open;
    this.layout.arrange(this.root);
    const after = positionOf(fold);
    // The box stays under the pointer.
    const { view } = this.painter;
    view.x += (before.x - after.x) * view.scale;
    view.y += (before.y - after.y) * view.scale;
    if (fold.open) this.bringIn(fold, true);
    this.repaint();
  }

  // nearby shows the neighbourhood of an instruction alone; once more, one step more.
  nearby(i) {
    const again = this.root.kind === "near" && this.root.centre === i;
    const steps = again ? this.root.steps + 1 : 2;
    this.alone(this.program.around(i, steps, 250), `within ${count(steps, "step")} of %${this.program.names[i]}`, { centre: i, steps });
  }

  mark(which, i) {
    this.marks[which] = i;
    const { a, b } = this.marks;
    if (a !== undefined && b !== undefined && a !== b) {
      const found = this.program.between(a, b);
      this.marks = {};
      if (!found.size) this.say("There is no path between these two within one computation.");
      else if (found.size > 1500) this.say(`${count(found.size, "instruction")} lie between these two: more than fit into a drawing.`);
      else this.alone(found, `between %${this.program.names[a]} and %${this.program.names[b]}`, {});
      return;
    }
    this.say(`%${this.program.names[i]} is ${which.toUpperCase()}. Mark another instruction as ${which === "a" ? "B" : "A"}.`);
    this.panel.show(i);
  }

  // alone shows some instructions and nothing else.
  alone(set, title, about) {
    const members = [...set].sort((a, b) => a - b);
    const root = Object.assign(new Fold("near", null, "near", title, members), about);
    root.children = members.map(i => this.folding.instruction(i, root));
    root.open = true;
    if (this.root.kind !== "near") this.trail.push({ root: this.root, view: { ...this.painter.view } });
    this.root = root;
    this.layout.arrange(root);
    this.breadcrumbs();
    this.fit(true);
  }

  // leave goes back to the whole program.
  leave() {
    const last = this.trail.pop();
    if (!last) return false;
    this.root = last.root;
    Object.assign(this.painter.view, last.view);
    this.layout.arrange(this.root);
    this.breadcrumbs();
    this.repaint();
    return true;
  }

  breadcrumbs() {
    const parts = [];
    if (this.root.kind === "near") {
      parts.push(element("a", { onclick: () => this.leave() }, "◂ whole program"), element("span", {}, `${count(this.root.members.length, "instruction")} ${this.root.label}`));
      if (this.root.centre !== undefined) parts.push(element("a", { onclick: () => this.nearby(this.root.centre) }, "one step more"));
    } else if (this.selected >= 0) {
      const path = [];
      for (let f = this.colours.boxOf(this.root, this.selected); f; f = f.parent) path.unshift(f);
      path.forEach(f => parts.push(element("a", { onclick: () => { this.bringIn(f, true); this.repaint(); } }, f.label.length > 40 ? f.label.slice(0, 39) + "…" : f.label)));
    }
    document.querySelector("#crumbs").replaceChildren(...parts);
  }

  say(text) {
    const note = document.querySelector("#note");
    note.textContent = text;
    note.hidden = false;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { note.hidden = true; }, 5000);
  }

  // first shows the program as a whole, or its beginning where the whole could not be read.
  first() {
    this.fit(false);
    const { view } = this.painter, readable = 0.4;
    if (view.scale >= readable) return;
    view.scale = readable;
    view.x = (this.canvas.clientWidth - this.root.width * readable) / 2;
    view.y = 20;
  }

  fit(moving) {
    this.moveTo({ x: 0, y: 0, width: this.root.width, height: this.root.height }, 1, moving);
  }

  // bringIn moves a box into sight; with whole, so that all of it is seen.
  bringIn(fold, whole = false) {
    const at = positionOf(fold);
    if (whole) return this.moveTo(at, 1, true);
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.max(0.8, Math.min(1.1, this.painter.view.scale));
    this.animate({ x: clientWidth / 2 - (at.x + at.width / 2) * scale, y: clientHeight / 2 - (at.y + at.height / 2) * scale, scale });
  }

  // moveTo brings a box into the part of the canvas that the legend at its foot leaves free.
  moveTo(box, most, moving) {
    const { clientWidth, clientHeight } = this.canvas;
    const height = Math.max(clientHeight / 2, clientHeight - document.querySelector("#legend").offsetHeight - 12);
    const scale = Math.max(0.02, Math.min(most, (clientWidth - 60) / box.width, (height - 60) / box.height));
    const to = { x: (clientWidth - box.width * scale) / 2 - box.x * scale, y: (height - box.height * scale) / 2 - box.y * scale, scale };
    if (moving) return this.animate(to);
    Object.assign(this.painter.view, to);
    this.repaint();
  }

  animate(to) {
    const { view } = this.painter, from = { ...view }, begin = performance.now(), painter = this.painter;
    const step = now => {
      if (this.moving !== step || painter !== this.painter) return;
      const t = Math.min(1, Math.max(0, (now - begin) / 260)), eased = 1 - (1 - t) ** 3;
      for (const key in to) view[key] = from[key] + (to[key] - from[key]) * eased;
      this.repaint();
      if (t < 1) requestAnimationFrame(step);
    };
    this.moving = step;
    requestAnimationFrame(step);
  }
}
