"use strict";

// Colours says which colour a box has: that of its kind, of what it takes, or of an overlay. The legend shows the same.
class Colours {
  constructor(program, folding) {
    this.program = program;
    this.folding = folding;
    this.choose("kind");
  }

  // choices are all that boxes can be coloured by.
  get choices() {
    const cost = [
      { id: "kind", title: "Kind of op", about: "The stripe of a box is the kind of its op; the bar at the foot of a closed box is its part of the time. Faint lines are values that many use: point at a box to see them." },
      !this.program.measured && { id: "time", title: "Time (estimate)", about: "The cost model's time of all executions.", unit: "s", column: this.program.seconds },
      { id: "flops", title: "Flops", about: "Floating-point operations of all executions.", unit: "flop", column: this.program.flops },
      { id: "moved", title: "Bytes moved", about: "Bytes read and written in all executions.", unit: "B", column: this.program.bytes },
      { id: "order", title: "Order of the program", about: "From the first instruction of a computation, light, to its last." },
    ];
    return [...cost.filter(Boolean), ...this.program.overlays];
  }

  get whole() { return this.chosen.id !== "kind"; }

  choose(id) {
    this.chosen = this.choices.find(c => c.id === id) || this.choices[0];
    this.values = new Map();
    this.greatest = 0;
    const c = this.chosen;
    if (c.values) c.values.forEach(v => this.values.set(v.i, v));
    else if (c.column) c.column.forEach((v, i) => { if (v > 0 && !(id === "time" && this.program.runsOthers(i))) this.values.set(i, { i, v }); });
    for (const v of this.values.values()) this.greatest = Math.max(this.greatest, v.v);
    this.sum = this.chosen.id === "time" ? this.program.total : [...this.values.values()].reduce((sum, v) => sum + v.v, 0);
    this.cache = new Map();
  }

  of(fold) {
    if (!this.whole) return fold.instruction >= 0 ? this.program.kindOf(fold.instruction).colour : kindOfFold(this.program, fold);
    let colour = this.cache.get(fold);
    if (!colour) {
      colour = this.chosen.classes ? this.classOf(fold) : this.heatOf(fold);
      this.cache.set(fold, colour);
    }
    return colour;
  }

  get blank() { return matchMedia("(prefers-color-scheme: dark)").matches ? "#262e3a" : "#ffffff"; }
  get heat() { return themes[matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"].heat; }

  // classOf is the colour of the class that stands first in the legend, of those of the instructions, as strong as that class is frequent.
  classOf(fold) {
    let best = Infinity, times = 0;
    for (const i of fold.members) {
      const v = this.values.get(i);
      if (!v || v.v > best) continue;
      times = v.v === best ? times + 1 : 1;
      best = v.v;
    }
    if (best === Infinity) return this.blank;
    return mixed([this.blank, this.chosen.classes[best].colour], 0.3 + 0.7 * times / fold.members.length);
  }

  heatOf(fold) {
    if (this.chosen.id === "order") {
      const c = this.program.computations[this.program.computationOf[fold.members[0]]];
      return mixed(this.heat, (fold.members[0] - c.first) / Math.max(1, c.count - 1));
    }
    const v = this.amountOf(fold);
    if (!(v > 0)) return this.blank;
    // One instruction is measured by the greatest instruction, several by all together.
    const against = fold.instruction >= 0 ? this.greatest : this.sum;
    return mixed(this.heat, Math.sqrt(Math.min(1, v / against)));
  }

  amountOf(fold) {
    let sum = 0;
    for (const i of fold.members) sum += this.values.get(i)?.v || 0;
    if (fold.instruction >= 0 && this.chosen.id === "time") sum = this.program.seconds[fold.instruction];
    return sum;
  }

  // about is what the chosen colouring says of an instruction; "" if nothing.
  about(i) {
    const v = this.values.get(i);
    if (!v) return "";
    if (v.label) return v.label;
    return this.chosen.classes ? this.chosen.classes[v.v].name : amount(v.v, this.chosen.unit);
  }

  canOpen(fold) { return this.folding.canOpen(fold); }

  // boxOf is the innermost box on the screen that an instruction is in.
  boxOf(root, i) {
    const c = this.program.computationOf[i];
    let fold = root;
    if (root.computation !== undefined && root.computation !== c) {
      const caller = (this.program.callers.get(c) || [])[0];
      const box = caller === undefined ? null : this.boxOf(root, caller);
      if (!box || !box.open || box.instruction !== caller) return box;
      fold = box.children.find(f => f.computation === c);
    }
    while (fold && fold.open) {
      const child = fold.children.find(f => f.instruction >= 0 ? f.instruction === i : f.members.includes(i));
      if (!child) return fold;
      if (child.instruction >= 0) return child;
      fold = child;
    }
    return fold;
  }

  // links are the lines that are drawn over the boxes: chains of the chosen overlay.
  links(root) {
    const found = [];
    for (const [a, b] of (this.chosen.links || []).slice(0, 400)) {
      const from = this.boxOf(root, a), to = this.boxOf(root, b);
      if (from && to && from !== to && from.parent && to.parent) found.push({ from, to, colour: this.chosen.classes?.[this.values.get(a)?.v]?.colour || "#888888" });
    }
    return found;
  }

  // legend shows the colours that there are.
  legend() {
    const c = this.chosen;
    const rows = c.id === "kind" ? this.program.kinds : c.classes;
    const keys = rows ? rows.slice(0, 12).map(k => element("span.key", {}, element("i", { style: `background:${k.colour}` }), k.name.length > 44 ? k.name.slice(0, 43) + "…" : k.name)) :
      [element("span.ramp", { style: `background:linear-gradient(90deg, ${this.heat.join()})` }), c.id === "order" ? "first to last" : `up to ${amount(this.greatest, c.unit)}`];
    return [element("p", {}, c.about || ""), element("div.keys", {}, keys)];
  }
}

// kindOfFold is the colour of the kind that takes most of the time in a closed box, else of the most frequent one.
function kindOfFold(program, fold) {
  if (!fold.kindColour) {
    const weight = new Map();
    for (const i of fold.members) {
      const k = program.kindOf(i);
      weight.set(k, (weight.get(k) || 0) + program.seconds[i] + program.total * 1e-9);
    }
    fold.kindColour = [...weight].sort((a, b) => b[1] - a[1])[0][0].colour;
  }
  return fold.kindColour;
}
