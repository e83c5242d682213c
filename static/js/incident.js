/** Keys of the incident's page, and the finding that the address names. */
const ACTIONS = {
  a: () => document.querySelector("#facts [data-acknowledge]")?.click(),
  i: () => document.querySelector("[data-accept]")?.focus(),
  e: () => document.querySelector("#upload input[type=file]")?.focus(),
  u: () => document.querySelector("#crumbs a")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  if (!ACTIONS[event.key]) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

function showTarget() {
  const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  target?.scrollIntoView({ block: "center" });
}

addEventListener("hashchange", showTarget);
showTarget();

/* Everything is open on paper. */
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.around, details.fault, details.fold")) fold.open = true;
});
