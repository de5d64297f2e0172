// The queue of an annotator: keys, marked texts, the time an item takes, and answers that are kept
// until there is a connection. An answer names its assignment: one that arrives twice is one.
"use strict";

const queue = document.querySelector(".queue");
const main = document.getElementById("answer");
const unsent = document.getElementById("unsent");
const KEPT = `tracker answers not sent: ${unsent.dataset.kept}`; // of this user, in this project
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

// Nobody took an answer, or said anything of it: it is sent again.
class NotNow extends Error {
  constructor(seconds) {
    super("not now");
    this.pause = Math.max(PAUSE, 1000 * (Number(seconds) || 0));
  }
}

// Returns whether an answer arrived; a page to sign in, a proxy and a busy server leave it kept.
async function send(answer) {
  const [address, fields] = answer;
  const token = document.querySelector("[name=csrf_token]")?.value;
  const body = new URLSearchParams(fields.map(([name, value]) => [name, name === "csrf_token" ? token : value]));
  const headers = { "x-requested-with": "fetch" };
  const response = await fetch(address, { method: "POST", body, headers, redirect: "manual" });
  const refused = response.headers.has("tracker-refused");
  if (response.status !== 204 && !refused) {
    const elsewhere = response.type === "opaqueredirect" || response.status === 401 || response.status === 403;
    // To sign in again; the answer is sent when the page is back. Not as soon as a page is there: a
    // proxy that refuses answers alone would have it loaded without end.
    if (elsewhere && performance.now() > PAUSE) location.assign(address);
    throw new NotNow(response.headers.get("retry-after"));
  }
  keep(waiting().filter((other) => JSON.stringify(other) !== JSON.stringify(answer)));
  if (refused) showRefusal(await response.json(), Object.fromEntries(fields).assignment);
  return !refused;
}

let sending = false;
async function trySending() {
  if (sending) return;
  sending = true;
  try {
    let all = true;
    for (const answer of waiting()) all = (await send(answer)) && all;
    unsent.hidden = true;
    if (all) location.replace(location.href);
  } catch (error) {
    unsent.hidden = false;
    setTimeout(trySending, (error.pause ?? PAUSE) * (1 + Math.random() / 2)); // not all at one moment
  } finally {
    sending = false;
  }
}

// -- What is wrong with an answer, said at its question: what was chosen stays --

const questions = [...document.querySelectorAll("fieldset.question")];
const questionOf = (fieldset) => fieldset.querySelector("[name=question]").value;

function tell(fieldset, message) {
  let shown = fieldset.querySelector(".alert.message");
  if (!shown) {
    if (!message) return;
    shown = document.createElement("p");
    shown.className = "alert message";
    shown.setAttribute("role", "alert");
    fieldset.querySelector("legend").after(shown);
  }
  shown.hidden = !message;
  shown.textContent = message;
}

function showRefusal({ question, message }, assignment) {
  const here = assignment === main?.elements.assignment.value;
  const fieldset = here && questions.find((one) => questionOf(one) === question);
  const refused = document.getElementById("refused");
  if (fieldset) {
    tell(fieldset, message);
    focusOn(fieldset);
  } else {
    refused.textContent = here ? message : `An answer that was kept is refused: ${message}`;
    refused.hidden = false;
  }
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
}

const focusOn = (fieldset) => fieldset.querySelector("[type=number], .answers input, .answers button")?.focus();

// Returns what a question lacks; empty if it has an answer, or cannot have one.
function lack(fieldset) {
  const number = fieldset.querySelector("[type=number]");
  if (number) return number.value && number.checkValidity() ? "" : "Enter a number, or skip the item.";
  if (answered(fieldset) || !fieldset.querySelector(".answers")) return "";
  if (fieldset.dataset.answers === "spans") return "Mark a part of the text, or choose: nothing to mark.";
  return fieldset.dataset.answers === "several" ? "Choose one or more, or: none of these." : "Choose an answer, or skip the item.";
}

if (main) main.noValidate = true; // it is said at each question instead
main?.addEventListener("input", (event) => tell(event.target.closest("fieldset.question"), ""));

for (const form of [main, document.getElementById("skip")]) {
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.sent) return;
    if (form === main) {
      for (const fieldset of questions) tell(fieldset, lack(fieldset));
      const first = questions.find(lack);
      if (first) return focusOn(first);
    }
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

for (const field of document.querySelectorAll("[name^='spans:']")) {
  if (field.value) list(field.closest("fieldset"), field, document.getElementById("text"));
}

// -- Keys: digits choose for the question at hand: the one in focus, or the first without answer --

function answered(fieldset) {
  const spans = fieldset.querySelector("[name^='spans:']");
  return fieldset.querySelector("input:checked") || fieldset.querySelector("[type=number]")?.value || (spans && spansOf(spans).length);
}

const atHand = () =>
  document.activeElement?.closest("fieldset.question") ?? questions.find((one) => !answered(one)) ?? questions.at(-1);

function choose(fieldset, digit) {
  const options = fieldset?.querySelectorAll(".answers input, [data-span]") ?? [];
  const none = fieldset?.querySelector("[name^='none:']");
  const option = digit === 0 ? none : [...options].filter((one) => one !== none)[digit - 1];
  option?.click();
  if (fieldset?.dataset.answers === "one" && option) document.activeElement?.blur();
}

document.addEventListener("keydown", (event) => {
  if (!queue || event.target.closest(typed) || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = /^[-.0-9]$/.test(event.key) && atHand()?.querySelector("[type=number]");
  if (number) return number.focus(); // and the key is typed there
  if (/^[0-9]$/.test(event.key)) choose(atHand(), Number(event.key));
  else if (event.key === "Enter" && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") main.requestSubmit();
  else if (event.key === "u") document.getElementById("undo").requestSubmit();
  else if (event.key === "s") {
    document.querySelector("#skip details").open = true;
    document.querySelector("#skip [name=reason]").focus();
  } else return;
  event.preventDefault();
});

if (queue?.dataset.atOnce) main.addEventListener("change", () => main.requestSubmit());
