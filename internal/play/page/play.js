"use strict";

// The page of halo play: a text on the left, and on the right what halo makes of it.

const $ = selector => document.querySelector(selector);
const { viewer, examples } = JSON.parse($("#data").textContent);

// What the buttons do: command lines of halo, in which - is the text.
const actions = [
  { name: "Format", line: "fmt -", gives: true },
  { name: "Verify", line: "verify -" },
  { name: "Optimise", line: "opt -O2 -", gives: true },
  { name: "What passes change", line: "opt -O2 --print=diff -" },
  { name: "Run", line: "run - --fill=random --print" },
  { name: "Cost", line: "stats -" },
];

// The viewer, in its frame, asks for the program here.
window.playSite = { programs: ["program"], load: async () => JSON.parse(await halo.program($("#text").value)) };

function show(what) {
  $("#viewer").hidden = what !== "view";
  $("#output").hidden = what !== "output";
  $("#show-view").classList.toggle("on", what === "view");
  $("#show-output").classList.toggle("on", what === "output");
}

function view() {
  show("view");
  $("#take").hidden = true;
  $("#viewer").srcdoc = viewer;
}

// split cuts a command line into words; quotes hold words together.
function split(line) {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(m => m[1] ?? m[2] ?? m[3]);
}

async function run(line) {
  $("#line").value = line;
  const words = split(line).filter((w, k) => k > 0 || w !== "halo");
  show("output");
  $("#output").textContent = "running…";
  const from = performance.now();
  const { code, out, err } = await halo.run(words, $("#text").value);
  const bad = document.createElement("span");
  bad.className = "bad";
  bad.textContent = err;
  $("#output").replaceChildren(bad, out || (err ? "" : code === 0 ? "Nothing to report.\n" : ""));
  $("#state").textContent = `${code === 0 ? "done" : "exit status " + code} in ${Math.round(performance.now() - from)} ms`;
  $("#output").dataset.code = code;
  const action = actions.find(a => a.line === line);
  $("#take").hidden = !(code === 0 && out && (action ? action.gives : /^(fmt|opt)\b/.test(line)));
  $("#take").onclick = () => {
    setText(out);
  };
}

function setText(text) {
  $("#text").value = text;
  $("#text").scrollTop = 0;
  if (window.halo) view();
}

async function start() {
  $("#examples").replaceChildren(...examples.map((e, k) => new Option(e.name, k)));
  $("#examples").onchange = () => setText(examples[$("#examples").value].text);
  $("#examples").value = examples.findIndex(e => e.name === "transformer.hlo");
  setText(examples[$("#examples").value].text);
  $("#file").onchange = async () => setText(await $("#file").files[0].text());
  $("#show-view").onclick = view;
  $("#show-output").onclick = () => show("output");
  $("#form").onsubmit = e => {
    e.preventDefault();
    run($("#line").value);
  };
  show("view");
  // The browser compiles the code while it unpacks it.
  const packed = await fetch("data:application/octet-stream;base64," + $("#wasm").textContent);
  const code = new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(code, go.importObject);
  const ready = new Promise(resolve => addEventListener("halo", resolve, { once: true }));
  go.run(instance);
  await ready;
  $("#actions").replaceChildren(...actions.map(a => {
    const button = document.createElement("button");
    button.textContent = a.name;
    button.title = "halo " + a.line;
    button.onclick = () => run(a.line);
    return button;
  }));
  $("#form button").disabled = false;
  $("#line").value = actions[0].line;
  $("#state").textContent = "ready: nothing leaves this page";
  view();
}

start().catch(error => { $("#state").textContent = "halo cannot start in this browser: " + error.message; });
