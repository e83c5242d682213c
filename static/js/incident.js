/** Keys of the incident's page, and the finding that the address names. */
function open(id) {
  const sheet = document.getElementById(id);
  if (!sheet) return;
  sheet.open = true;
  sheet.querySelector(".sheet :is(select, textarea, button, input:not([type=hidden]))")?.focus();
}

function suspect(step) {
  const all = [...document.querySelectorAll("#suspects .suspect")].filter((one) => one.offsetHeight);
  const at = all.indexOf(document.activeElement?.closest(".suspect"));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (!next) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function write() {
  const note = document.getElementById("note");
  note?.focus();
  note?.scrollIntoView({ block: "center" });
}

const ACTIONS = {
  a: () => document.querySelector("#facts [data-acknowledge]")?.click(),
  i: () => document.querySelector("[data-accept]")?.focus(),
  e: () => document.querySelector("#upload input[type=file]")?.focus(),
  c: write,
  r: () => open("resolve"),
  s: () => open("snooze"),
  t: () => open("assign"),
  m: () => open("merge"),
  j: () => suspect(1),
  k: () => suspect(-1),
  p: () => document.querySelector("[data-pause]")?.click(),
  u: () => document.querySelector("#crumbs a")?.click(),
};

document.addEventListener("keydown", (event) => {
  const form = event.target.closest("textarea")?.form;
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
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
