// Pages that show a project are fetched again when the server says that it changed.
// One connection a tab, and none of a hidden one: a browser opens only six to a server.
"use strict";

const address = document.body.dataset.events;
let source = null;
let behind = false; // whether something may have changed that was not told

const answers = (does) => (document.getElementById("unreachable").hidden = does);
const refresh = () => htmx.trigger(document.body, "changed");

function listen() {
  if (source || !address) return;
  source = new EventSource(address);
  source.addEventListener("open", () => {
    answers(true);
    if (behind) refresh();
    behind = false;
  });
  source.addEventListener("changed", (event) => {
    const shown = document.querySelector("[data-project]")?.dataset.project;
    if (!shown || JSON.parse(event.data).includes(shown)) refresh();
  });
  source.addEventListener("error", () => {
    answers(false);
    behind = true;
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
  behind = true;
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

// A table that is there as a whole is sorted by its titles, and kept as a file.
const sorted = new Map(); // by the table's name: the title and its direction
const nameOfTable = (table) => table.closest("[aria-label]")?.getAttribute("aria-label") ?? "table";
const numberOf = (text) => (text === "" ? NaN : Number(text.replaceAll(",", "")));
const valueOf = (cell) => (cell.dataset.value ?? cell.textContent).trim().replace(/\s+/g, " ");

function sort(table, title, descending) {
  const place = title.cellIndex;
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row.cells[place]), row]);
  const order = ([a], [b]) => {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || a.localeCompare(b, undefined, { numeric: true });
    return descending ? y - x : x - y;
  };
  rows.sort(order);
  if (descending && rows.every(([text]) => isNaN(numberOf(text)))) rows.reverse();
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const cell of title.parentNode.cells) cell.removeAttribute("aria-sort");
  title.setAttribute("aria-sort", descending ? "descending" : "ascending");
}

function save(table) {
  const cell = (text) => (/^[=+@\t\r-]/.test(text) && isNaN(numberOf(text)) ? `'${text}` : text);
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [...table.rows].map((row) => [...row.cells].map((one) => quoted(cell(valueOf(one)))).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
  link.download = `${nameOfTable(table).replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function dress() {
  for (const table of document.querySelectorAll("table.whole-table:not([data-dressed])")) {
    table.dataset.dressed = "yes";
    const name = nameOfTable(table);
    const make = button("CSV", () => save(table));
    make.setAttribute("aria-label", `${name} as CSV`);
    table.caption.append(make);
    if (table.tBodies[0].rows.length < 2) continue;
    for (const title of table.tHead.rows[0].cells) {
      if (!title.textContent.trim()) continue;
      const turn = () => {
        const descending = title.getAttribute("aria-sort") === "ascending" || (!title.hasAttribute("aria-sort") && title.classList.contains("number"));
        sorted.set(name, [title.cellIndex, descending]);
        sort(table, title, descending);
      };
      title.replaceChildren(button(title.textContent, turn));
    }
    const [place, descending] = sorted.get(name) ?? [];
    if (place !== undefined) sort(table, table.tHead.rows[0].cells[place], descending);
  }
}
document.addEventListener("DOMContentLoaded", dress);
document.addEventListener("htmx:afterSettle", dress);

// Keys: "/" searches; in the inbox of findings j, k, a, r, d; beside an item j, k; what has a key of its own. None while somebody types.
const KEYS = { j: "[rel=next]", k: "[rel=prev]", a: "[value=acknowledge]", r: "[value=resolve]", d: "[value=dismiss]" };
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const detail = document.querySelector(".inbox .detail, .paging");
  const note = detail?.querySelector("[name=note]");
  let to = null;
  if (event.key === "/") to = document.querySelector(".find input");
  else if (event.key === "d" && note && !note.value.trim()) to = note;
  else if (event.key in KEYS) detail?.querySelector(KEYS[event.key])?.click();
  if (!event.target.closest("a, button")) document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  if (!to) return;
  event.preventDefault();
  to.focus();
});
