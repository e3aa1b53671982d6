"use strict";

// The programs come from the page itself, where view.WritePage put them, else from the process that serves the page.
async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function fetched(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function findSite() {
  if (window.parent !== window && window.parent.playSite) return window.parent.playSite; // within halo play
  const inside = [...document.querySelectorAll("script[type='application/gzip']")];
  if (inside.length) return { programs: inside.map(s => s.dataset.file), load: k => unpacked(inside[k].textContent) };
  return { programs: await fetched("programs"), load: k => fetched("program/" + k) };
}

async function start() {
  const site = await findSite();
  window.app = new App(site);
  await window.app.open(0);
}
