/** Keys that every page has: `/` searches, `?` shows the keys, `g` then a letter goes somewhere. */
const dialog = document.getElementById("keys");
let going = 0;

function typing(event) {
  return event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

function help() {
  if (dialog && !dialog.open) dialog.showModal();
}

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
  const any = "details.menu[open], details.over[open]";
  const open = document.activeElement?.closest(any) ?? document.querySelector(any);
  if (open) {
    event.preventDefault(); // one Escape, one thing
    open.open = false;
    open.querySelector("summary").focus();
  } else if (document.activeElement?.matches("[data-search]")) {
    document.activeElement.blur();
  }
});
