// The queue of an annotator: keys, marked texts, the time an item takes, and answers that are kept
// until there is a connection. An answer names its assignment: one that arrives twice is one.
"use strict";

const queue = document.querySelector(".queue");
const main = document.getElementById("answer");
const KEPT = "tracker answers not sent";
const PAUSE = 3000; // milliseconds between attempts
const typed = "input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select";

// Time counts while the page is in view.
let seen = document.hidden ? null : performance.now();
let spent = 0;
document.addEventListener("visibilitychange", () => {
  if (document.hidden && seen !== null) [spent, seen] = [spent + performance.now() - seen, null];
  else if (!document.hidden && seen === null) seen = performance.now();
});
const spentNow = () => Math.round(spent + (seen === null ? 0 : performance.now() - seen));

// -- Sent, now or later --

const waiting = () => JSON.parse(localStorage.getItem(KEPT) ?? "[]");
const keep = (all) => localStorage.setItem(KEPT, JSON.stringify(all));

// Returns whether an answer arrived; shows what is wrong with one that is refused.
async function send([address, fields]) {
  const token = document.querySelector("[name=csrf_token]")?.value;
  const body = new URLSearchParams(fields.map(([name, value]) => [name, name === "csrf_token" ? token : value]));
  const headers = { "x-requested-with": "fetch" };
  const response = await fetch(address, { method: "POST", body, headers, redirect: "manual" });
  if (response.status >= 500) throw new Error("not now");
  if (response.type === "opaqueredirect" || response.status === 401 || response.status === 403) {
    location.assign(address); // to sign in again; the answer is sent when the page is back
    return false;
  }
  keep(waiting().filter((other) => JSON.stringify(other) !== JSON.stringify([address, fields])));
  if (response.ok) return true;
  document.open();
  document.write(await response.text());
  document.close();
  return false;
}

let sending = false;
async function trySending() {
  if (sending) return;
  sending = true;
  try {
    for (const one of waiting()) if (!(await send(one))) return;
    location.replace(location.href);
  } catch {
    document.getElementById("unsent").hidden = false;
    setTimeout(trySending, PAUSE);
  } finally {
    sending = false;
  }
}

for (const form of [main, document.getElementById("skip")]) {
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.sent) return;
    form.dataset.sent = "yes";
    form.elements.spent_ms.value = spentNow();
    keep([...waiting(), [form.getAttribute("action"), [...new FormData(form)]]]);
    trySending();
  });
}
if (waiting().length) trySending();

// -- What is marked in the text, in characters of Unicode --

const letters = (text) => [...text].length;
const spansOf = (field) => JSON.parse(field.value || "[]");

function place(text, node, offset) {
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(node, offset);
  return letters(range.toString());
}

function mark(fieldset, category) {
  const text = document.getElementById("text");
  const selected = getSelection();
  if (!text || !selected.rangeCount || selected.isCollapsed) return;
  const range = selected.getRangeAt(0);
  if (!text.contains(range.commonAncestorContainer)) return;
  const span = [category, place(text, range.startContainer, range.startOffset), place(text, range.endContainer, range.endOffset)];
  const field = fieldset.querySelector("[name^='spans:']");
  field.value = JSON.stringify([...spansOf(field), span]);
  selected.removeAllRanges();
  list(fieldset, field, text);
}

function list(fieldset, field, text) {
  const rows = spansOf(field).map((span, n) => {
    const row = document.createElement("li");
    const [category, begin, end] = span;
    row.textContent = `${category}: ${[...text.textContent].slice(begin, end).join("")} `;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "second";
    button.textContent = "Remove";
    button.addEventListener("click", () => {
      field.value = JSON.stringify(spansOf(field).filter((_, other) => other !== n));
      list(fieldset, field, text);
    });
    row.append(button);
    return row;
  });
  fieldset.querySelector(".marked").replaceChildren(...rows);
}

for (const button of document.querySelectorAll("[data-span]")) {
  button.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  button.addEventListener("click", () => mark(button.closest("fieldset"), button.dataset.span));
}

// -- Keys: digits choose for the question at hand: the one in focus, or the first without answer --

const answered = (fieldset) =>
  fieldset.querySelector("input:checked") || fieldset.querySelector("[name^='spans:']")?.value;

function atHand() {
  const all = [...document.querySelectorAll("fieldset.question")];
  return document.activeElement?.closest("fieldset.question") ?? all.find((one) => !answered(one)) ?? all.at(-1);
}

function choose(digit) {
  const fieldset = atHand();
  const options = fieldset?.querySelectorAll(".answers input, [data-span]") ?? [];
  const none = fieldset?.querySelector("[name^='none:']");
  const option = digit === 0 ? none : [...options].filter((one) => one !== none)[digit - 1];
  option?.click();
  if (fieldset?.dataset.answers === "one" && option) document.activeElement?.blur();
}

document.addEventListener("keydown", (event) => {
  if (!queue || event.target.closest(typed) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9]$/.test(event.key)) choose(Number(event.key));
  else if (event.key === "Enter" && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") main.requestSubmit();
  else if (event.key === "u") document.getElementById("undo").requestSubmit();
  else if (event.key === "s") {
    document.querySelector("#skip details").open = true;
    document.querySelector("#skip [name=reason]").focus();
  } else return;
  event.preventDefault();
});

if (queue?.dataset.atOnce) main.addEventListener("change", () => main.requestSubmit());
