// The slider through a project's time: the page under it is fetched as of the moment chosen.
"use strict";

const momentOf = (slider) => slider.dataset.moments.split(" ")[slider.value] ?? "";
let waiting = 0;

function show(slider) {
  const address = new URL(location.href);
  for (const name of ["as_of", "after", "before"]) address.searchParams.delete(name);
  const moment = momentOf(slider);
  if (moment) address.searchParams.set("as_of", moment);
  htmx.ajax("GET", address.pathname + address.search, { source: slider });
}

document.addEventListener("input", ({ target }) => {
  if (target.id !== "slider") return;
  const shown = momentOf(target) || "now";
  target.setAttribute("aria-valuetext", shown);
  target.parentElement.querySelector("output").textContent = shown;
  document.querySelector(".moment [name=as_of]").value = momentOf(target).slice(0, 10);
  clearTimeout(waiting);
  waiting = setTimeout(show, 300, target); // not each of the moments that it is drawn over
});
