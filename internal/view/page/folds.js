"use strict";

// A Fold is a box of the drawing: an instruction, or several under one name. Folds form a tree, whose branches are made when somebody opens them:
//
//   computation   the instructions of a computation
//   scope         those whose op_name begins alike, as frameworks name layers
//   stretch       neighbours in the order of the program, where names do not say more
//   parameters    the parameters of a computation
//   instruction   one; it opens if it calls computations
class Fold {
  constructor(kind, parent, key, label, members) {
    this.kind = kind;
    this.parent = parent;
    this.key = key;
    this.label = label;
    this.members = members; // instructions of one computation in program order
    this.path = parent ? parent.path + "/" + key : key;
    this.depth = parent ? parent.depth + 1 : 0;
    this.open = false;
    this.children = null;
    this.drawn = null; // where the children stand: see layout.js
    this.x = this.y = this.width = this.height = 0; // within the parent
  }

  get instruction() { return this.kind === "instruction" ? this.members[0] : -1; }
}

// At most so many boxes stand in a box.
const mostChildren = 40;
// So many instructions are shown without folding them further.
const fewInstructions = 32;

// Folding makes the tree of a program.
class Folding {
  constructor(program) {
    this.program = program;
    this.showInputs = false; // constants, and small parameters, as boxes of their own
    this.scopes = new Map(); // computation → the scope of each of its instructions, as a list of names
    const entry = program.computations[program.entry];
    this.root = this.computation(program.entry, null, "entry");
    this.root.label = entry.name;
    this.root.open = true;
  }

  computation(c, parent, key) {
    const { first, count, name } = this.program.computations[c];
    const members = Array.from({ length: count }, (_, k) => first + k);
    const fold = new Fold("computation", parent, key, name, members);
    fold.computation = c;
    return fold;
  }

  canOpen(fold) {
    return fold.kind !== "instruction" || (this.program.callees[fold.instruction] || []).length > 0;
  }

  childrenOf(fold) {
    fold.children ||= this.makeChildren(fold);
    return fold.children;
  }

  makeChildren(fold) {
    if (fold.kind === "instruction") {
      const callees = [...new Set(this.program.callees[fold.instruction] || [])];
      const folds = callees.map((c, k) => this.computation(c, fold, "call" + k));
      if (folds.length === 1) folds[0].open = true;
      else folds.forEach(f => { f.open = f.members.length <= fewInstructions; });
      return folds;
    }
    if (fold.kind === "parameters") return fold.members.map(i => this.instruction(i, fold));
    let members = fold.members;
    const children = [];
    if (fold.kind === "computation") {
      const parameters = members.filter(i => this.program.kindOf(i).name === "parameter");
      const constants = members.filter(i => this.program.kindOf(i).name === "constant" && !this.program.operandsOf(i).length);
      const hidden = new Set(this.showInputs || members.length <= 3 ? [] : constants.filter(i => i !== this.program.computations[fold.computation].root));
      if (parameters.length > 8) {
        children.push(new Fold("parameters", fold, "parameters", "parameters", parameters));
        parameters.forEach(i => hidden.add(i));
      }
      members = members.filter(i => !hidden.has(i));
    }
    children.push(...this.divide(fold, members));
    return children;
  }

  instruction(i, parent) {
    return new Fold("instruction", parent, this.program.names[i], this.program.names[i], [i]);
  }

  // divide makes boxes of instructions: themselves if they are few, by scope if their names say more, else by stretches.
  divide(parent, members) {
    if (members.length <= fewInstructions) return members.map(i => this.instruction(i, parent));
    const level = this.commonScope(members, parent.level || 0);
    const byScope = new Map();
    const rest = [];
    for (const i of members) {
      const name = this.scopeOf(i)[level];
      if (name === undefined) rest.push(i);
      else if (byScope.has(name)) byScope.get(name).push(i);
      else byScope.set(name, [i]);
    }
    if (byScope.size < 2) return this.stretches(parent, members);
    const folds = [];
    for (const [name, list] of byScope) {
      if (list.length === 1) rest.push(list[0]);
      else {
        const fold = new Fold("scope", parent, name, name, list);
        fold.level = level + 1;
        folds.push(fold);
      }
    }
    if (rest.length > fewInstructions) folds.push(...this.stretches(parent, rest.sort((a, b) => a - b)));
    else folds.push(...rest.map(i => this.instruction(i, parent)));
    folds.sort((a, b) => a.members[0] - b.members[0]);
    return folds.length > mostChildren ? this.gather(parent, folds) : folds;
  }

  // gather puts boxes that follow one another under common roofs.
  gather(parent, folds) {
    const each = Math.ceil(folds.length / Math.ceil(Math.sqrt(folds.length)));
    const roofs = [];
    for (let from = 0; from < folds.length; from += each) {
      const part = folds.slice(from, from + each);
      const roof = new Fold("stretch", parent, "g" + from, `${part[0].label} … ${part[part.length - 1].label}`, part.flatMap(f => f.members).sort((a, b) => a - b));
      for (const f of part) {
        f.parent = roof;
        f.path = roof.path + "/" + f.key;
        f.depth++;
      }
      roof.children = part;
      roofs.push(roof);
    }
    return roofs;
  }

  // commonScope is the first level at which the scopes of instructions differ.
  commonScope(members, from) {
    for (let level = from; ; level++) {
      const name = this.scopeOf(members[0])[level];
      if (name === undefined || members.some(i => this.scopeOf(i)[level] !== name)) return level;
    }
  }

  // stretches cuts the order of the program where the fewest values cross, near to equal parts.
  stretches(parent, members) {
    const parts = Math.max(2, Math.min(mostChildren / 2, Math.round(Math.sqrt(members.length / 2))));
    const crossing = this.crossing(members);
    const folds = [];
    let from = 0;
    for (let k = 1; k <= parts; k++) {
      let cut = members.length;
      if (k < parts) {
        const goal = Math.round(k * members.length / parts), slack = Math.floor(members.length / parts / 3);
        cut = goal;
        for (let at = Math.max(from + 1, goal - slack); at <= goal + slack && at < members.length; at++) {
          if (crossing[at] < crossing[cut]) cut = at;
        }
      }
      if (cut <= from) continue;
      const list = members.slice(from, cut);
      const fold = list.length === 1 ? this.instruction(list[0], parent) : new Fold("stretch", parent, "s" + from, `${folds.length + 1}.  ${this.stretchLabel(list)}`, list);
      fold.level = parent.level;
      folds.push(fold);
      from = cut;
    }
    return folds;
  }

  // crossing counts, for each place between members, the values that are made before it and used behind it.
  crossing(members) {
    const at = new Map(members.map((i, k) => [i, k]));
    const change = new Int32Array(members.length + 2);
    members.forEach((i, k) => {
      if (this.program.isInput(i)) return;
      let last = k;
      for (const u of this.program.usersOf(i)) last = Math.max(last, at.get(u) ?? -1);
      change[k + 1]++;
      change[last + 1]--;
    });
    for (let k = 1; k < change.length; k++) change[k] += change[k - 1];
    return change;
  }

  // stretchLabel names a stretch by the ops that characterise it.
  stretchLabel(members) {
    const weight = new Map();
    for (const i of members) {
      const kind = this.program.kindOf(i).name;
      const telling = { product: 1000, collective: 500, asynchronous: 300, "effect or custom call": 300, "control flow": 300, fusion: 100, parameter: 0.01, constant: 0.01 }[kind] || 1;
      const op = this.program.opOf(i);
      weight.set(op, (weight.get(op) || 0) + telling);
    }
    const count = op => members.filter(i => this.program.opOf(i) === op).length;
    return [...weight].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([op]) => `${count(op)} ${op}`).join(" · ");
  }

  // scopeOf is the scope of an instruction as a list of names. What has none, as copies and tuples do, is where its users are, or its operands.
  scopeOf(i) {
    const c = this.program.computationOf[i];
    if (!this.scopes.has(c)) this.scopes.set(c, this.findScopes(this.program.computations[c]));
    return this.scopes.get(c)[i - this.program.computations[c].first];
  }

  findScopes({ first, count }) {
    const scopes = new Array(count);
    const split = new Map();
    for (let k = 0; k < count; k++) {
      const text = this.program.scopeOf(first + k);
      if (!text) continue;
      if (!split.has(text)) split.set(text, splitScope(text));
      scopes[k] = split.get(text);
    }
    const borrow = (k, from) => {
      if (scopes[k]) return;
      const near = from.find(j => scopes[j - first] && scopes[j - first].length);
      if (near !== undefined) scopes[k] = scopes[near - first];
    };
    for (let k = count - 1; k >= 0; k--) borrow(k, this.program.usersOf(first + k));
    for (let k = 0; k < count; k++) borrow(k, this.program.operandsOf(first + k));
    for (let k = 0; k < count; k++) scopes[k] ||= [];
    return scopes;
  }

  // reveal opens all that an instruction is in, and returns its box; of a computation that is called from several places, the first.
  reveal(i) {
    const program = this.program;
    const c = program.computationOf[i];
    let fold = this.root;
    if (c !== program.entry) {
      const caller = (program.callers.get(c) || [])[0];
      if (caller === undefined) return null;
      const box = this.reveal(caller);
      if (!box) return null;
      box.open = true;
      fold = this.childrenOf(box).find(f => f.computation === c);
    }
    for (;;) {
      fold.open = true;
      const child = this.childrenOf(fold).find(f => f.kind === "instruction" ? f.members[0] === i : f.members.includes(i));
      if (!child) {
        if (this.showInputs) return null;
        this.showInputs = true; // it is a constant
        fold.children = null;
        continue;
      }
      if (child.instruction === i) return child;
      fold = child;
    }
  }
}

// splitScope cuts an op_name at its slashes, but for those in brackets; the last part is the op's own name.
function splitScope(text) {
  const parts = [];
  let depth = 0, from = 0;
  for (let k = 0; k < text.length; k++) {
    const c = text[k];
    if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") depth--;
    else if (c === "/" && depth <= 0) {
      parts.push(text.slice(from, k));
      from = k + 1;
    }
  }
  return parts;
}
