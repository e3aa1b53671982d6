"use strict";

const boldFont = '600 12.5px Inter, "Segoe UI", system-ui, sans-serif';
const plainFont = '11px Inter, "Segoe UI", system-ui, sans-serif';

// themes are the colours of the drawing on light and on dark ground.
const themes = {
  light: {
    ground: "#f4f6f9", box: "#ffffff", border: "#c9d1dc", open: ["#eef1f6", "#e6eaf1"], openBorder: "#c3ccd9", text: "#1d2733", muted: "#66758a",
    edge: "#9aa8ba", accent: "#2f6fed", operand: "#d9822b", user: "#2c9a5b", shadow: "rgba(30,45,70,.10)", heat: ["#fff4e0", "#f9c074", "#e8590c"],
  },
  dark: {
    ground: "#12161d", box: "#1f2630", border: "#394454", open: ["#181e27", "#1c232e"], openBorder: "#354052", text: "#e6ebf2", muted: "#93a1b5",
    edge: "#5d6c81", accent: "#6ea2ff", operand: "#f0a35a", user: "#5ccb8c", shadow: "rgba(0,0,0,.35)", heat: ["#2a2620", "#8a5a20", "#f0743a"],
  },
};

// Painter draws boxes on a canvas: only what can be seen, and only as closely as it can be seen.
class Painter {
  constructor(canvas, program, colours) {
    this.canvas = canvas;
    this.program = program;
    this.colours = colours;
    this.view = { x: 0, y: 0, scale: 1 }; // the place of the drawing's origin on the screen, and its scale
    this.selected = -1;
    this.hovered = null;
    this.found = new Set(); // instructions that a search found
    this.boxes = 0; // drawn last
  }

  get theme() { return themes[matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"]; }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (this.canvas.width !== clientWidth * ratio || this.canvas.height !== clientHeight * ratio) {
      this.canvas.width = clientWidth * ratio;
      this.canvas.height = clientHeight * ratio;
    }
    return ratio;
  }

  paint(root) {
    const ratio = this.resize();
    const g = this.g = this.canvas.getContext("2d");
    const { x, y, scale } = this.view;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = this.theme.ground;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    g.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    this.seen = { left: -x / scale, top: -y / scale, right: (this.canvas.clientWidth - x) / scale, bottom: (this.canvas.clientHeight - y) / scale };
    this.boxes = 0;
    this.fold(root, 0, 0);
    this.links(root);
  }

  isSeen(x, y, width, height) {
    const s = this.seen;
    return x < s.right && y < s.bottom && x + width > s.left && y + height > s.top;
  }

  fold(fold, x, y) {
    if (!this.isSeen(x, y, fold.width, fold.height)) return;
    this.boxes++;
    if (!fold.open) this.closed(fold, x, y);
    else this.opened(fold, x, y);
  }

  opened(fold, x, y) {
    const g = this.g, t = this.theme, scale = this.view.scale;
    const small = Math.min(fold.width, fold.height) * scale < 14;
    if (fold.parent) {
      g.fillStyle = t.open[fold.depth % 2];
      g.strokeStyle = fold === this.hovered ? t.accent : t.openBorder;
      g.lineWidth = 1 / Math.max(scale, 0.3);
      this.rounded(x, y, fold.width, fold.height, 10);
      g.fill();
      g.stroke();
      if (small) return;
      if (12 * scale > 4) this.header(fold, x, y);
    }
    const left = x + fold.drawn.left, top = y + fold.drawn.top;
    for (const e of fold.drawn.edges) this.edge(e, left, top);
    for (const child of fold.children) this.fold(child, left + child.x, top + child.y);
  }

  header(fold, x, y) {
    const g = this.g, t = this.theme;
    const i = fold.instruction;
    const title = i >= 0 ? `${this.program.opOf(i)} %${fold.label}` : labelOf(fold);
    g.font = boldFont;
    g.fillStyle = t.text;
    g.textBaseline = "middle";
    g.fillText("▾ " + this.cut(title, fold.width - 24), x + 12, y + 17);
  }

  closed(fold, x, y) {
    const g = this.g, t = this.theme, scale = this.view.scale;
    const { width, height } = fold;
    const i = fold.instruction;
    const colour = this.colours.of(fold);
    if (height * scale < 5) { // too far away for more than a dot of colour
      g.fillStyle = colour;
      g.fillRect(x, y, width, height);
      return;
    }
    const near = height * scale > 14;
    if (near && i < 0) { // a closed fold looks like a pile of cards
      g.fillStyle = t.box;
      g.strokeStyle = t.border;
      g.lineWidth = 1;
      this.rounded(x + 4, y + 4, width, height, 8);
      g.fill();
      g.stroke();
    } else if (near) {
      g.fillStyle = t.shadow;
      this.rounded(x, y + 2, width, height, 8);
      g.fill();
    }
    g.fillStyle = t.box;
    this.rounded(x, y, width, height, 8);
    g.fill();
    g.save();
    g.clip();
    g.fillStyle = colour;
    g.fillRect(x, y, this.colours.whole ? width : 7, height);
    if (i < 0 && near) this.bar(fold, x, y);
    g.restore();
    const selected = i >= 0 && i === this.selected;
    g.strokeStyle = selected || fold === this.hovered ? t.accent : this.isFound(fold) ? t.operand : t.border;
    g.lineWidth = (selected ? 3 : this.isFound(fold) ? 2.5 : 1) / Math.min(1, Math.max(scale, 0.25));
    this.rounded(x, y, width, height, 8);
    g.stroke();
    if (scale > 0.3) this.words(fold, x, y);
  }

  // bar shows how much of the time a closed fold takes.
  bar(fold, x, y) {
    const share = sumOf(this.program, fold);
    if (share <= 0) return;
    this.g.fillStyle = mixed(this.theme.heat, Math.sqrt(share));
    this.g.fillRect(x, y + fold.height - 5, fold.width * share, 5);
  }

  words(fold, x, y) {
    const g = this.g, t = this.theme, scale = this.view.scale;
    const [first, second] = linesOf(this.program, fold);
    const open = this.colours.canOpen(fold);
    const room = fold.width - 2 * boxPadding - (open ? 16 : 0) - 4;
    if (scale < 0.62) { // one line in large letters is read from afar
      this.title(fold, first, x, y);
      return;
    }
    const dark = this.colours.whole && luminance(this.colours.of(fold)) < 0.45;
    g.textBaseline = "middle";
    g.font = boldFont;
    g.fillStyle = this.colours.whole ? (dark ? "#fff" : "#1d2733") : t.text;
    g.fillText(this.cut(first, room), x + boxPadding + 4, y + 15);
    if (open) g.fillText("▸", x + fold.width - 20, y + 15);
    g.font = plainFont;
    g.fillStyle = this.colours.whole ? (dark ? "rgba(255,255,255,.85)" : "#44505f") : t.muted;
    g.fillText(this.cut(second, fold.width - 2 * boxPadding), x + boxPadding + 4, y + 31);
  }

  title(fold, text, x, y) {
    const g = this.g;
    const dark = this.colours.whole && luminance(this.colours.of(fold)) < 0.45;
    g.font = boldFont.replace("12.5px", Math.min(22, Math.round(7.8 / this.view.scale)) + "px");
    g.textBaseline = "middle";
    g.fillStyle = this.colours.whole ? (dark ? "#fff" : "#1d2733") : this.theme.text;
    g.fillText(this.cut(text, fold.width - boxPadding - 8), x + boxPadding + 2, y + fold.height / 2);
  }

  // cut shortens a text to the room there is.
  cut(text, room) {
    const g = this.g;
    const wide = g.measureText(text).width;
    if (wide <= room) return text;
    return text.slice(0, Math.max(1, Math.floor(text.length * room / wide) - 1)) + "…";
  }

  isFound(fold) {
    if (!this.found.size) return false;
    if (fold.instruction >= 0) return this.found.has(fold.instruction);
    if (fold.foundIn !== this.found) {
      fold.foundIn = this.found;
      fold.hasFound = fold.members.some(i => this.found.has(i));
    }
    return fold.hasFound;
  }

  edge(e, left, top) {
    const g = this.g, t = this.theme, scale = this.view.scale;
    const p = e.points;
    const joins = this.joins(e);
    if (e.faint && !joins && scale < 0.3) return;
    let minX = Infinity, maxX = -Infinity, minY = Infinity, maxY = -Infinity;
    for (const q of p) {
      minX = Math.min(minX, q.x), maxX = Math.max(maxX, q.x), minY = Math.min(minY, q.y), maxY = Math.max(maxY, q.y);
    }
    if (!this.isSeen(left + minX, top + minY, maxX - minX + 1, maxY - minY + 1)) return;
    if (Math.max(maxX - minX, maxY - minY) * scale < 4) return;
    g.strokeStyle = joins || t.edge;
    g.globalAlpha = joins ? 1 : e.faint ? 0.13 : e.dotted ? 0.6 : 0.85;
    g.lineWidth = (joins ? 2.2 : 1 + Math.min(2, Math.log10(e.count))) / Math.max(0.5, Math.min(scale, 1));
    g.setLineDash(e.dotted ? [4, 4] : []);
    g.beginPath();
    g.moveTo(left + p[0].x, top + p[0].y);
    for (let k = 1; k < p.length - 1; k++) {
      const last = k === p.length - 2;
      const endX = last ? p[k + 1].x : (p[k].x + p[k + 1].x) / 2, endY = last ? p[k + 1].y : (p[k].y + p[k + 1].y) / 2;
      g.quadraticCurveTo(left + p[k].x, top + p[k].y, left + endX, top + endY);
    }
    if (p.length === 2) this.swing(p[0], p[1], left, top);
    g.stroke();
    g.setLineDash([]);
    if (scale > 0.35 && (joins || !e.faint)) this.arrow(p[p.length - 2], p[p.length - 1], left, top);
    g.globalAlpha = 1;
  }

  // swing draws a line without bends: straight down, else leaving and arriving upright.
  swing(from, to, left, top) {
    const bend = Math.abs(from.x - to.x) < 2 ? 0 : Math.max(20, Math.min(120, Math.abs(to.y - from.y) / 2));
    this.g.bezierCurveTo(left + from.x, top + from.y + bend, left + to.x, top + to.y - bend, left + to.x, top + to.y);
  }

  // joins is the colour of an edge at the selected instruction, or at the box under the pointer; "" for others.
  joins(e) {
    const { operand, user } = this.theme;
    if (this.selected >= 0 && e.to.instruction === this.selected) return operand;
    if (this.selected >= 0 && e.from.instruction === this.selected) return user;
    if (this.hovered && !this.hovered.open) return e.to === this.hovered ? operand : e.from === this.hovered ? user : "";
    return "";
  }

  arrow(from, to, left, top) {
    const g = this.g;
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const x = left + to.x, y = top + to.y;
    g.fillStyle = g.strokeStyle;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x - 8 * Math.cos(angle - 0.4), y - 8 * Math.sin(angle - 0.4));
    g.lineTo(x - 8 * Math.cos(angle + 0.4), y - 8 * Math.sin(angle + 0.4));
    g.fill();
  }

  // links draws the pairs of an overlay, as the two ends of asynchronous chains, and what joins the selected instruction to boxes elsewhere.
  links(root) {
    const ends = this.colours.links(root, this.selected);
    const g = this.g;
    for (const { from, to, colour } of ends) {
      const a = positionOf(from), b = positionOf(to);
      const x1 = a.x + a.width / 2, y1 = a.y + a.height, x2 = b.x + b.width / 2, y2 = b.y;
      const bend = Math.max(40, Math.abs(y2 - y1) / 3);
      g.strokeStyle = colour;
      g.lineWidth = 2 / Math.max(0.4, Math.min(this.view.scale, 1));
      g.setLineDash([7, 5]);
      g.beginPath();
      g.moveTo(x1, y1);
      g.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
      g.stroke();
      g.setLineDash([]);
    }
  }

  rounded(x, y, width, height, radius) {
    this.g.beginPath();
    this.g.roundRect(x, y, width, height, radius);
  }

  // at is the innermost box at a point of the screen.
  at(root, screenX, screenY) {
    let x = (screenX - this.view.x) / this.view.scale, y = (screenY - this.view.y) / this.view.scale;
    let fold = root;
    search: while (fold.open) {
      x -= fold.drawn.left;
      y -= fold.drawn.top;
      for (const child of fold.children) {
        if (x >= child.x && y >= child.y && x < child.x + child.width && y < child.y + child.height) {
          x -= child.x;
          y -= child.y;
          fold = child;
          continue search;
        }
      }
      break;
    }
    return fold === root ? null : fold;
  }
}

// mixed is the colour at t, from 0 to 1, of a row of colours.
function mixed(colours, t) {
  const at = Math.max(0, Math.min(1, t)) * (colours.length - 1);
  const k = Math.min(Math.floor(at), colours.length - 2);
  const a = rgb(colours[k]), b = rgb(colours[k + 1]);
  return "#" + a.map((v, c) => Math.round(v + (b[c] - v) * (at - k)).toString(16).padStart(2, "0")).join("");
}

function rgb(colour) { return [1, 3, 5].map(k => parseInt(colour.slice(k, k + 2), 16)); }

function luminance(colour) {
  const [r, g, b] = rgb(colour);
  return (0.3 * r + 0.59 * g + 0.11 * b) / 255;
}
