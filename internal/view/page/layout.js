"use strict";

// Measures of the drawing, in its own units.
const boxHeight = 42, boxPadding = 12, headerHeight = 26, inset = 18;
const smallestBox = 96, largestBox = 300;

// Layout finds where boxes stand: each open box arranges its children by dagre, and is then as large as they need. What was arranged is kept
// until something in it opens or closes.
class Layout {
  constructor(program, folding) {
    this.program = program;
    this.folding = folding;
    const canvas = document.createElement("canvas").getContext("2d");
    this.textWidth = (text, font) => {
      canvas.font = font;
      return canvas.measureText(text).width;
    };
  }

  arrange(fold = this.folding.root) {
    if (!fold.open) {
      this.sizeClosed(fold);
      return;
    }
    const children = this.folding.childrenOf(fold);
    children.forEach(child => this.arrange(child));
    const state = children.map(c => `${c.width}×${c.height}`).join();
    if (fold.drawn && fold.drawn.state === state) {
      this.sizeOpen(fold);
      return;
    }
    const edges = this.edgesAmong(children);
    const inOrder = children.length > 2 && children.every(c => c.kind === "stretch" || c.kind === "parameters");
    fold.drawn = inOrder ? placeColumns(children, edges) : place(children, edges);
    fold.drawn.state = state;
    this.sizeOpen(fold);
  }

  sizeOpen(fold) {
    const label = this.textWidth(labelOf(fold), boldFont) + 110;
    fold.width = Math.max(fold.drawn.width + 2 * inset, label);
    fold.height = fold.drawn.height + headerHeight + 2 * inset;
    const shift = (fold.width - fold.drawn.width) / 2;
    fold.drawn.left = shift;
    fold.drawn.top = headerHeight + inset;
  }

  sizeClosed(fold) {
    const [first, second] = linesOf(this.program, fold);
    const wide = Math.max(this.textWidth(first, boldFont) + 34, this.textWidth(second, plainFont));
    fold.width = Math.ceil(Math.min(Math.max(wide + 2 * boxPadding + 4, smallestBox), largestBox));
    fold.height = fold.kind === "instruction" ? boxHeight : boxHeight + 10;
  }

  // edgesAmong are the edges between boxes, one for each pair, with the instructions that they stand for. Those from the box of parameters are
  // not drawn: nearly everything would hang on it.
  edgesAmong(children) {
    const boxOf = new Map();
    children.forEach((child, k) => {
      if (child.kind !== "parameters") child.members.forEach(i => boxOf.set(i, k));
    });
    const edges = new Map();
    const add = (from, to, dotted) => {
      const a = boxOf.get(from), b = boxOf.get(to);
      if (a === undefined || a === b) return;
      const key = a * children.length + b;
      const edge = edges.get(key) || { from: children[a], to: children[b], a, b, count: 0, dotted: true, first: [from, to] };
      edge.count++;
      edge.dotted &&= dotted;
      edges.set(key, edge);
    };
    for (const i of boxOf.keys()) {
      for (const o of this.program.operandsOf(i)) add(o, i, false);
      for (const o of this.program.control[i] || []) add(o, i, true);
    }
    return [...edges.values()];
  }
}

// place arranges boxes so that edges point down, and returns how much room they take and the bends of the edges. Boxes without edges stand in
// rows above the others.
function place(boxes, edges) {
  thin(edges);
  const joined = new Set(edges.flatMap(e => [e.a, e.b]));
  const lone = boxes.filter((_, k) => !joined.has(k));
  const rows = placeRows(lone);
  const top = lone.length && joined.size ? rows.height + 30 : rows.height;
  if (!joined.size) return { edges: [], width: rows.width, height: rows.height };
  const g = new dagre.graphlib.Graph();
  g.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, edgesep: 12, ranker: joined.size > 60 ? "longest-path" : "network-simplex" });
  g.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((b, k) => { if (joined.has(k)) g.setNode(String(k), { width: b.width, height: b.height }); });
  const firm = edges.filter(e => !e.faint);
  const held = new Set(firm.flatMap(e => [e.a, e.b]));
  edges.filter(e => e.faint && !(held.has(e.a) && held.has(e.b))).forEach(e => { // what would float gets its edge back
    firm.push(e);
    held.add(e.a).add(e.b);
  });
  firm.forEach(e => g.setEdge(String(e.a), String(e.b), { weight: Math.min(e.count, 4) }));
  dagre.layout(g);
  const shift = Math.max(0, (rows.width - g.graph().width) / 2);
  boxes.forEach((b, k) => {
    if (!joined.has(k)) return;
    const at = g.node(String(k));
    b.x = at.x - b.width / 2 + shift;
    b.y = at.y - b.height / 2 + top;
  });
  edges.forEach(e => {
    e.points = e.faint && !firm.includes(e) ? [below(e.from), above(e.to)] : g.edge(String(e.a), String(e.b)).points.map(p => ({ x: p.x + shift, y: p.y + top }));
  });
  return { edges, width: Math.max(g.graph().width, rows.width), height: g.graph().height + top };
}

// placeColumns puts stretches of a program below one another, in columns. They use values of each other across any distance, and these lines would
// hide everything: of the edges, those from one to the next are drawn, the others when the pointer is on a box.
function placeColumns(boxes, edges) {
  const perColumn = Math.max(4, Math.ceil(Math.sqrt(boxes.length * 2.6)));
  const gapX = 70, gapY = 36;
  let x = 0, height = 0;
  for (let from = 0; from < boxes.length; from += perColumn) {
    const column = boxes.slice(from, from + perColumn);
    const width = Math.max(...column.map(b => b.width));
    let y = 0;
    for (const b of column) {
      b.x = x + (width - b.width) / 2;
      b.y = y;
      y += b.height + gapY;
    }
    height = Math.max(height, y - gapY);
    x += width + gapX;
  }
  for (const e of edges) {
    e.faint = e.b !== e.a + 1;
    const start = below(e.from), end = above(e.to);
    const across = e.from.x + e.from.width < e.to.x ? e.to.x - gapX / 2 : e.from.x - gapX / 2;
    const sameColumn = Math.floor(e.a / perColumn) === Math.floor(e.b / perColumn);
    e.points = sameColumn && !e.faint || e.faint ? [start, end] :
      [start, { x: start.x, y: start.y + 16 }, { x: across, y: start.y + 16 }, { x: across, y: end.y - 16 }, { x: end.x, y: end.y - 16 }, end];
  }
  return { edges, width: x - gapX, height };
}

function below(box) { return { x: box.x + box.width / 2, y: box.y + box.height }; }
function above(box) { return { x: box.x + box.width / 2, y: box.y }; }

// So many edges from one box, or to one, are drawn as all others are; of more, all but the nearest are faint and do not bend the drawing.
const mostAtBox = 6;

// thin marks edges as faint at boxes that nearly everything uses, as a position table or a mask is, and at those that gather everything.
function thin(edges) {
  const from = new Map(), to = new Map();
  for (const e of edges) {
    if (!from.has(e.a)) from.set(e.a, []);
    if (!to.has(e.b)) to.set(e.b, []);
    from.get(e.a).push(e);
    to.get(e.b).push(e);
    e.faint = false;
  }
  for (const list of from.values()) {
    if (list.length > mostAtBox) list.sort((x, y) => x.b - y.b).slice(1).forEach(e => { e.faint = true; });
  }
  for (const list of to.values()) {
    if (list.length > mostAtBox) list.sort((x, y) => y.a - x.a).slice(1).forEach(e => { e.faint = true; });
  }
}

// placeRows puts boxes beside and below one another.
function placeRows(boxes) {
  const wide = Math.max(700, Math.sqrt(boxes.reduce((sum, b) => sum + (b.width + 16) * (b.height + 16), 0) * 2));
  let x = 0, y = 0, row = 0, width = 0;
  for (const b of boxes) {
    if (x > 0 && x + b.width > wide) {
      x = 0;
      y += row + 16;
      row = 0;
    }
    b.x = x;
    b.y = y;
    x += b.width + 16;
    row = Math.max(row, b.height);
    width = Math.max(width, x - 16);
  }
  return { width, height: y + row };
}

// positionOf is where a box stands in the whole drawing.
function positionOf(fold) {
  let x = 0, y = 0;
  for (let f = fold; f.parent; f = f.parent) {
    x += f.x + f.parent.drawn.left;
    y += f.y + f.parent.drawn.top;
  }
  return { x, y, width: fold.width, height: fold.height };
}

function labelOf(fold) {
  return fold.kind === "stretch" || fold.kind === "scope" || fold.kind === "parameters" ? fold.label : "%" + fold.label;
}

// linesOf is what a closed box says.
function linesOf(program, fold) {
  if (fold.kind === "instruction") {
    const i = fold.instruction;
    return [program.opOf(i), "%" + program.names[i] + "  " + program.shapeOf(i)];
  }
  const n = fold.members.length;
  const spent = sumOf(program, fold);
  return [labelOf(fold), count(n, "instruction") + (spent > 0.0005 ? "  ·  " + percent(spent) + " of the time" : "")];
}

// sumOf is the share of the program's time that a box takes.
function sumOf(program, fold) {
  if (fold.spent === undefined) {
    fold.spent = 0;
    for (const i of fold.members) fold.spent += program.share(i);
  }
  return fold.spent;
}
