// Pages that show a project are fetched again when the server says that it changed.
const source = document.body.dataset.events && new EventSource(document.body.dataset.events);
source?.addEventListener("changed", (event) => {
  const shown = document.querySelector("[data-project]")?.dataset.project;
  if (!shown || JSON.parse(event.data).includes(shown)) htmx.trigger(document.body, "changed");
});
