"use strict";

// Program is a program as the page sees it: the columns that view.Program wrote, and what follows from them.
class Program {
  constructor(columns) {
    Object.assign(this, columns);
    this.size = this.names.length;
    this.computationOf = new Int32Array(this.size);
    this.computations.forEach((c, k) => this.computationOf.fill(k, c.first, c.first + c.count));
    this.callers = new Map(); // computation → instructions
    for (const i in this.callees) {
      for (const c of this.callees[i]) {
        if (!this.callers.has(c)) this.callers.set(c, []);
        this.callers.get(c).push(+i);
      }
    }
    this.findUsers();
    this.lower = null; // the texts in lower case, made at the first search
    this.indexOf = new Map(this.names.map((name, i) => [name, i]));
  }

  findUsers() {
    const ends = new Int32Array(this.size + 1);
    for (const o of this.operands) ends[o + 1]++;
    for (let i = 0; i < this.size; i++) ends[i + 1] += ends[i];
    const next = ends.slice();
    this.userList = new Int32Array(this.operands.length);
    this.userEnds = ends;
    for (let i = 0; i < this.size; i++) {
      for (const o of this.operandsOf(i)) this.userList[next[o]++] = i;
    }
  }

  operandsOf(i) {
    return this.operands.slice(i ? this.operandEnds[i - 1] : 0, this.operandEnds[i]);
  }

  usersOf(i) {
    return [...new Set(this.userList.subarray(this.userEnds[i], this.userEnds[i + 1]))];
  }

  neighboursOf(i) {
    return [...this.operandsOf(i), ...this.usersOf(i), ...(this.control[i] || [])];
  }

  opOf(i) { return this.ops[this.op[i]]; }
  shapeOf(i) { return this.shapes[this.shape[i]]; }
  scopeOf(i) { return this.scopes[this.scope[i]]; }
  sourceOf(i) { return this.sources[this.source[i]]; }
  kindOf(i) { return this.kinds[this.kind[i]]; }
  share(i) { return this.total > 0 ? this.seconds[i] / this.total : 0; }

  // isInput says whether an instruction only brings data in; such are shown with what uses them.
  isInput(i) { return this.kindOf(i).name === "parameter" || this.kindOf(i).name === "constant"; }

  // runsOthers says whether an instruction's time is that of computations which are shown as such.
  runsOthers(i) { return this.kindOf(i).name === "control flow" && this.callees[i] !== undefined; }

  // expensive lists the instructions that take most, those apart whose time is that of others.
  expensive(most) {
    const all = [];
    for (let i = 0; i < this.size; i++) {
      if (this.seconds[i] > 0 && !this.runsOthers(i)) all.push(i);
    }
    return all.sort((a, b) => this.seconds[b] - this.seconds[a]).slice(0, most);
  }

  // spent sums the time by a key of instructions.
  spent(keyOf, most) {
    const sums = new Map();
    for (let i = 0; i < this.size; i++) {
      if (!(this.seconds[i] > 0) || this.runsOthers(i)) continue;
      const key = keyOf(i);
      if (!key) continue;
      const sum = sums.get(key) || { key, seconds: 0, count: 0 };
      sum.seconds += this.seconds[i];
      sum.count++;
      sums.set(key, sum);
    }
    return [...sums.values()].sort((a, b) => b.seconds - a.seconds).slice(0, most);
  }

  // around is what lies within so many steps of an instruction, whichever way they point, the nearest first.
  around(i, steps, most) {
    const found = new Set([i]);
    for (let ring = [i]; steps > 0 && ring.length; steps--) {
      const next = [];
      for (const j of ring) {
        for (const n of this.neighboursOf(j)) {
          if (found.has(n) || found.size >= most) continue;
          found.add(n);
          next.push(n);
        }
      }
      ring = next;
    }
    return found;
  }

  // between is all that lies on a path from one of two instructions to the other; empty if there is no path.
  between(a, b) {
    const on = (from, to) => {
      const down = this.reach(from, i => this.usersOf(i));
      if (!down.has(to)) return new Set();
      const up = this.reach(to, i => this.operandsOf(i));
      return new Set([...down].filter(i => up.has(i)));
    };
    const found = on(a, b);
    return found.size ? found : on(b, a);
  }

  reach(from, next) {
    const seen = new Set([from]);
    const work = [from];
    while (work.length) {
      for (const n of next(work.pop())) {
        if (!seen.has(n)) {
          seen.add(n);
          work.push(n);
        }
      }
    }
    return seen;
  }
}

// The fields that a word of a search may ask for: op:dot, name:dot.3, shape:f32[8, scope:attention, source:model.py, attr:replica_groups.
const searchFields = {
  op: (p, i) => p.opOf(i),
  name: (p, i) => p.names[i].toLowerCase(),
  shape: (p, i) => p.shapeOf(i).toLowerCase(),
  scope: (p, i) => p.scopeOf(i).toLowerCase(),
  source: (p, i) => p.sourceOf(i).toLowerCase(),
  attr: (p, i) => p.lower[i].slice(p.lower[i].indexOf("(") + 1),
  kind: (p, i) => p.kindOf(i).name,
};

// search lists the instructions that have every word of a query, those whose names begin with it first, then by what they take.
function search(program, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    const colon = word.indexOf(":");
    const field = colon > 0 && searchFields[word.slice(0, colon)];
    return field ? { field, text: word.slice(colon + 1) } : { field: null, text: word.replace(/^%/, "") };
  });
  if (!words.length) return [];
  program.lower ||= program.text.map((text, i) => text.toLowerCase() + " " + program.sourceOf(i).toLowerCase());
  const found = [];
  next: for (let i = 0; i < program.size; i++) {
    for (const w of words) {
      const text = w.field ? w.field(program, i) : program.lower[i];
      if (!text.includes(w.text)) continue next;
    }
    found.push(i);
  }
  const first = words[0].text;
  const rank = i => {
    const name = program.names[i].toLowerCase();
    return name === first ? 0 : program.opOf(i) === first ? 1 : name.startsWith(first) ? 2 : 3;
  };
  const ranks = new Map(found.map(i => [i, rank(i)]));
  return found.sort((a, b) => ranks.get(a) - ranks.get(b) || program.seconds[b] - program.seconds[a] || a - b);
}
