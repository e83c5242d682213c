/** The desk's keys, its selection, and its filters. */
const rows = () => [...document.querySelectorAll("#desk-rows > tr")];
const current = () => document.activeElement?.closest("#desk-rows > tr");
const bar = document.getElementById("bulk");

function move(step) {
  const all = rows();
  const at = all.indexOf(current());
  const row = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  row?.querySelector("a.title").focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

function boxes() {
  return [...document.querySelectorAll("#desk-rows input[name=incident]")];
}

function showSelection() {
  const chosen = boxes().filter((box) => box.checked);
  for (const box of boxes()) box.closest("tr").classList.toggle("chosen", box.checked);
  bar.hidden = chosen.length === 0;
  bar.querySelector("[data-count]").textContent = chosen.length;
  const all = document.getElementById("choose-all");
  if (!all) return;
  all.checked = chosen.length > 0 && chosen.length === boxes().length;
  all.indeterminate = chosen.length > 0 && !all.checked;
}

function choose(change) {
  boxes().forEach((box) => {
    box.checked = change(box);
  });
  showSelection();
}

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => current()?.querySelector("[data-acknowledge]")?.click(),
  x: () => choose((box) => box.checked !== (box.closest("tr") === current())),
  n: () => document.querySelector("[data-new]")?.click(),
  Escape: () => choose(() => false),
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || field) return;
  if (document.querySelector("dialog[open]") || !ACTIONS[event.key]) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

document.addEventListener("change", (event) => {
  if (event.target.id === "choose-all") choose(() => event.target.checked);
  else if (event.target.name === "incident") showSelection();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-choose-none]")) choose(() => false);
});

document.addEventListener("merged", showSelection);
document.body.addEventListener("changed", () => choose(() => false));

/* Filters that say nothing stay out of the address; what is on is shown. */
document.body.addEventListener("htmx:configRequest", (event) => {
  if (event.target.id !== "filters") return;
  for (const [name, value] of [...event.detail.formData.entries()]) {
    if (value === "" || (name === "status" && value === "open")) event.detail.formData.delete(name);
  }
});

document.getElementById("filters")?.addEventListener("change", (event) => {
  event.target.closest(".filter")?.classList.toggle("on", event.target.value !== "");
});
