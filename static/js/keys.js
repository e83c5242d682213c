/** Keys that every page has: `/` searches, `?` shows the keys, `g` then a letter goes somewhere. */
const dialog = document.getElementById("keys");
const BOX = "details.over, details.fold:has(form)";
const OPEN_BOX = "details.menu[open], details.over[open], details.fold[open]:has(form)";
let going = 0;

function typing(event) {
  return event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

function help() {
  if (dialog && !dialog.open) dialog.showModal();
}

/** The first thing to fill in or press in a box. */
function enter(box) {
  const all = [...box.querySelectorAll("select, textarea, button, input:not([type=hidden])")];
  all.find((field) => !field.disabled && field.checkVisibility())?.focus();
}

/* A box that is open has the keyboard: no letter may act on the page behind it. */
document.addEventListener("keydown", (event) => {
  if (event.key.length !== 1) return;
  const lost = event.target === document.body && document.querySelector("details.over[open]");
  if (lost || event.target.closest(OPEN_BOX)) event.stopPropagation();
}, true);

/* Whoever opens a box goes on in it. */
document.addEventListener("click", (event) => {
  const summary = event.target.closest("summary");
  const box = summary?.parentElement;
  if (!box?.matches(BOX) || box.open) return;
  box.addEventListener("toggle", () => box.open && enter(box), { once: true });
});
document.addEventListener("htmx:load", (event) => {
  const box = event.target.closest?.("details.over[open]"); // its form came only now
  if (box && document.activeElement === box.querySelector("summary")) enter(box);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog?.open || typing(event)) return;
  const place = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
  if (place && Date.now() - going < 1500) {
    event.preventDefault();
    location.assign(place.href);
  } else if (event.key === "g") {
    going = Date.now();
  } else if (event.key === "/") {
    event.preventDefault();
    document.querySelector("[data-search]")?.focus();
  } else if (event.key === "?") {
    event.preventDefault();
    help();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys]")) help();
  if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
  for (const menu of document.querySelectorAll("details.menu[open], details.over[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  const open = document.activeElement?.closest(OPEN_BOX)
    ?? document.querySelector("details.menu[open], details.over[open]");
  if (open) {
    event.preventDefault(); // one Escape, one thing
    open.open = false;
    open.querySelector("summary").focus();
  } else if (event.target.matches("input:not([type=checkbox]), textarea, select")) {
    event.target.blur(); // what was typed stays; the keys are the page's again
  }
});
