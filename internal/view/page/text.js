"use strict";

// How figures and names are written.

function count(n, noun) { return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`; }

function percent(share) {
  if (share >= 0.0995) return Math.round(share * 100) + " %";
  if (share >= 0.00095) return (share * 100).toFixed(1) + " %";
  return share > 0 ? "< 0.1 %" : "0 %";
}

function scaled(x, unit, steps) {
  for (const [size, prefix] of steps) {
    if (Math.abs(x) >= size) return three(x / size) + " " + prefix + unit;
  }
  return three(x) + " " + unit;
}

function three(x) { return x === 0 ? "0" : Math.abs(x) >= 100 ? Math.round(x).toLocaleString("en") : x.toPrecision(3).replace(/\.?0+$/, ""); }

const large = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function seconds(x) {
  if (x >= 1 || x === 0) return three(x) + " s";
  if (x >= 1e-3) return three(x * 1e3) + " ms";
  if (x >= 1e-6) return three(x * 1e6) + " µs";
  return three(x * 1e9) + " ns";
}

function bytes(x) { return scaled(x, "B", large); }
function flops(x) { return scaled(x, "flop", large); }

// amount writes a number of an overlay.
function amount(x, unit) {
  switch (unit) {
    case "s": return seconds(x);
    case "B": return bytes(x);
    case "": case undefined: return three(x);
  }
  return three(x) + " " + unit;
}

// element makes an element of the page: a tag, classes behind dots, attributes and listeners, and what is in it.
function element(tag, properties = {}, ...content) {
  const [name, ...classes] = tag.split(".");
  const e = document.createElement(name || "div");
  if (classes.length) e.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "style") e.style.cssText = value;
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  }
  e.append(...content.flat().filter(c => c !== null && c !== undefined && c !== false));
  return e;
}

// coloured is the text of an instruction with its names, types and attributes told apart.
function coloured(text, onName) {
  const parts = [];
  const token = /(%[\w.$-]+)|("(?:[^"\\]|\\.)*")|\b((?:pred|token|opaque|bf16|[sufc]\d+(?:e\dm\d\w*)?)\[[^\]]*\](?:\{[^}]*\})?)|\b([a-z_]+)(?==)|(\/\*.*?\*\/)/g;
  let from = 0;
  for (const m of text.matchAll(token)) {
    parts.push(text.slice(from, m.index));
    from = m.index + m[0].length;
    if (m[1]) parts.push(element("a.name", { onclick: () => onName(m[1].slice(1)) }, m[1]));
    else parts.push(element(m[2] ? "span.string" : m[3] ? "span.shape" : m[4] ? "span.key" : "span.note", {}, m[0]));
  }
  parts.push(text.slice(from));
  return parts;
}
