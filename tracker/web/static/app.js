// Pages that show a project are fetched again when the server says that it changed.
// One connection a tab, and none of a hidden one: a browser opens only six to a server.
"use strict";

const address = document.body.dataset.events;
let source = null;
let opened = 0;

const answers = (does) => (document.getElementById("unreachable").hidden = does);
const refresh = () => htmx.trigger(document.body, "changed");

function listen() {
  if (source || !address) return;
  source = new EventSource(address);
  source.addEventListener("open", () => {
    answers(true);
    if (opened++) refresh(); // what changed meanwhile was not told
  });
  source.addEventListener("changed", (event) => {
    const shown = document.querySelector("[data-project]")?.dataset.project;
    if (!shown || JSON.parse(event.data).includes(shown)) refresh();
  });
  source.addEventListener("error", () => {
    answers(false);
    if (source?.readyState === EventSource.CLOSED) {
      hush(); // the browser has given up: the server is not there, or asks to sign in
      refresh();
      setTimeout(() => document.hidden || listen(), 5000);
    }
  });
}

function hush() {
  source?.close();
  source = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? hush() : listen()));
addEventListener("pagehide", hush);
addEventListener("pageshow", listen);

// What a reader unfolded stays unfolded when a part of the page is replaced.
const unfolded = new Set();
const nameOf = (details) => details.querySelector("summary")?.textContent;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt.id === "counting") detail.shouldSwap = true; // an error, too
  unfolded.clear();
  for (const one of detail.target.querySelectorAll("details[open]")) unfolded.add(nameOf(one));
});
document.addEventListener("htmx:afterSettle", () => {
  for (const one of document.querySelectorAll("details")) if (unfolded.has(nameOf(one))) one.open = true;
});

// Keys: "/" searches; in the inbox of findings j, k, a, r, d. None while somebody types.
const KEYS = { j: "[rel=next]", k: "[rel=prev]", a: "[value=acknowledge]", r: "[value=resolve]", d: "[value=dismiss]" };
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const detail = document.querySelector(".inbox .detail");
  const note = detail?.querySelector("[name=note]");
  let to = null;
  if (event.key === "/") to = document.querySelector(".find input");
  else if (event.key === "d" && note && !note.value.trim()) to = note;
  else if (event.key in KEYS) detail?.querySelector(KEYS[event.key])?.click();
  if (!to) return;
  event.preventDefault();
  to.focus();
});
