"use strict";

// Gestures are the mouse, the wheel and fingers on the drawing.
class Gestures {
  constructor(app) {
    this.app = app;
    this.pointers = new Map();
    this.moved = 0;
    const { canvas } = app;
    canvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
    canvas.addEventListener("pointerdown", e => {
      canvas.setPointerCapture(e.pointerId);
      this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      this.moved = 0;
      app.moving = null;
    });
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerup", e => this.up(e));
    canvas.addEventListener("pointercancel", e => this.pointers.delete(e.pointerId));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("dblclick", e => {
      const box = app.painter?.at(app.root, e.offsetX, e.offsetY);
      if (box) app.bringIn(box, true);
    });
  }

  wheel(e) {
    e.preventDefault();
    const { view } = this.app.painter;
    this.app.moving = null;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      view.x -= e.deltaX || e.deltaY;
      this.app.repaint();
      return;
    }
    const step = e.deltaMode === 1 ? e.deltaY * 20 : e.deltaY;
    this.zoom(Math.exp(-step * (e.ctrlKey ? 0.01 : 0.0018)), e.offsetX, e.offsetY);
  }

  zoom(by, x, y) { zoomAt(this.app, by, x, y); }

  move(e) {
    const last = this.pointers.get(e.pointerId);
    if (!last) {
      this.hover(this.app.painter?.at(this.app.root, e.offsetX, e.offsetY), e);
      return;
    }
    const { view } = this.app.painter;
    const others = [...this.pointers].filter(([id]) => id !== e.pointerId);
    if (others.length) { // two fingers
      const [, o] = others[0];
      const before = Math.hypot(last.x - o.x, last.y - o.y), after = Math.hypot(e.offsetX - o.x, e.offsetY - o.y);
      if (before > 0) this.zoom(after / before, o.x, o.y);
    } else {
      view.x += e.offsetX - last.x;
      view.y += e.offsetY - last.y;
    }
    this.moved += Math.abs(e.offsetX - last.x) + Math.abs(e.offsetY - last.y);
    this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    this.app.repaint();
  }

  up(e) {
    const clicked = this.pointers.delete(e.pointerId) && this.moved < 5;
    if (!clicked) return;
    const { app } = this;
    const box = app.painter.at(app.root, e.offsetX, e.offsetY);
    if (!box) return;
    if (box.instruction >= 0) app.select(box.instruction);
    if (box.instruction < 0 && (!box.open || this.inHeader(box, e)) || box.instruction >= 0 && box.open && this.inHeader(box, e) || this.onTriangle(box, e)) app.toggle(box);
  }

  inHeader(box, e) {
    const y = (e.offsetY - this.app.painter.view.y) / this.app.painter.view.scale - positionOf(box).y;
    return y < headerHeight + 8;
  }

  // onTriangle says whether a click is at the sign that opens an instruction.
  onTriangle(box, e) {
    if (box.instruction < 0 || box.open) return false;
    const at = positionOf(box), { view } = this.app.painter;
    return (e.offsetX - view.x) / view.scale > at.x + box.width - 30;
  }

  hover(box, e) {
    const { painter, canvas } = this.app;
    const tip = document.querySelector("#tip");
    if (!painter) return;
    if (painter.hovered !== box) {
      painter.hovered = box;
      this.app.repaint();
    }
    canvas.style.cursor = box ? "pointer" : "grab";
    tip.hidden = !box || box.open;
    if (tip.hidden) return;
    tip.replaceChildren(...tipOf(this.app, box));
    tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 10) + "px";
    tip.style.top = Math.min(e.clientY + 16, innerHeight - tip.offsetHeight - 10) + "px";
  }
}

// tipOf is what stands beside the pointer on a box.
function tipOf({ program, colours }, box) {
  const i = box.instruction;
  if (i < 0) {
    const time = box.members.reduce((sum, j) => sum + program.seconds[j], 0);
    return [element("b", {}, box.label), element("div", {}, `${count(box.members.length, "instruction")}, ${seconds(time)}, ${percent(sumOf(program, box))} of the time`),
      element("div.muted", {}, "click to open")];
  }
  const said = colours.about(i);
  return [element("b", {}, `${program.opOf(i)} %${program.names[i]}`), element("div.mono", {}, program.shapeOf(i)),
    program.seconds[i] > 0 && element("div", {}, `${seconds(program.seconds[i])}, ${percent(program.share(i))} of the time`),
    said && element("div", {}, said),
    program.scopeOf(i) && element("div.muted", {}, program.scopeOf(i))].filter(Boolean);
}

function zoomAt(app, by, x, y) {
  const { view } = app.painter;
  const scale = Math.max(0.01, Math.min(4, view.scale * by));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  app.repaint();
}

// Keys is the keyboard.
class Keys {
  constructor(app) {
    this.app = app;
    this.expensive = 0;
    document.addEventListener("keydown", e => {
      if (e.ctrlKey || e.metaKey || e.altKey || !app.program || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
      const run = this.commands[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!run) return;
      e.preventDefault();
      run.call(this, app, app.selected);
    });
  }

  get commands() {
    const middle = by => app => zoomAt(app, by, app.canvas.clientWidth / 2, app.canvas.clientHeight / 2);
    const go = next => (app, i) => {
      const to = i < 0 ? app.program.computations[app.program.entry].root : next(app.program, i);
      if (to !== undefined) app.select(to, { zoom: true });
    };
    const beside = by => (p, i) => p.computationOf[i + by] === p.computationOf[i] ? i + by : undefined;
    return {
      "/": () => document.querySelector("#query").focus(),
      ArrowUp: go((p, i) => p.operandsOf(i).find(o => !p.isInput(o)) ?? p.operandsOf(i)[0]),
      ArrowDown: go((p, i) => p.usersOf(i)[0]),
      ArrowLeft: go(beside(-1)),
      ArrowRight: go(beside(1)),
      Enter: (app, i) => {
        const box = i >= 0 && app.colours.boxOf(app.root, i);
        if (box) app.toggle(box);
      },
      n: (app, i) => i >= 0 && app.nearby(i),
      a: (app, i) => i >= 0 && app.mark("a", i),
      b: (app, i) => i >= 0 && app.mark("b", i),
      e(app) {
        const all = app.program.expensive(50);
        if (all.length) app.select(all[this.expensive++ % all.length], { zoom: true });
      },
      f: app => app.fit(true),
      "+": middle(1.3), "=": middle(1.3), "-": middle(1 / 1.3),
      c: app => {
        app.folding.showInputs = !app.folding.showInputs;
        const open = app.folding.root;
        const forget = f => {
          if (f.kind === "computation") f.children = f.drawn = null;
          else (f.children || []).forEach(forget);
        };
        (open.children || []).forEach(forget);
        open.children = open.drawn = null;
        app.layout.arrange(app.root);
        app.repaint();
      },
      o: app => {
        const ids = app.colours.choices.map(c => c.id);
        app.colourBy(ids[(ids.indexOf(app.colours.chosen.id) + 1) % ids.length]);
      },
      t: () => document.body.classList.toggle("wrap"),
      Escape: app => {
        if (app.lists.field.value) app.lists.find("");
        else if (!app.leave()) app.select(-1);
      },
      "?": app => app.panel.show(-1),
    };
  }
}
