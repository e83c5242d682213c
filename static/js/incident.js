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

/* On paper the proof is open; victims and tables stay folded. */
let opened = [];
addEventListener("beforeprint", () => {
  const folds = document.querySelectorAll("details.around, details.fault, #coverage-notes");
  opened = [...folds].filter((fold) => !fold.open);
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});
