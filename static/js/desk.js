/** The desk's keys, its selection, and its filters. */
const rows = () => [...document.querySelectorAll("#desk-rows > tr")];
const current = () => document.activeElement?.closest("#desk-rows > tr");
const bar = document.getElementById("bulk");
let cameFrom = null; // the id of the row from which a sheet was opened by its key
let working = false; // a step is on its way to the server
let matching = null; // what `matches` told when all of it was chosen, beyond this page

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
  if (matching?.query !== matches().query || !chosen.length) matching = null;
  bar.hidden = chosen.length === 0;
  bar.querySelector("[data-count]").textContent = written(matching?.taken ?? chosen.length);
  offerMatching(chosen);
  offerChosen(chosen);
  const all = document.getElementById("choose-all");
  if (!all) return;
  all.checked = chosen.length > 0 && chosen.length === boxes().length;
  all.indeterminate = chosen.length > 0 && !all.checked;
}

const written = (count) => count.toLocaleString("en");

/** What the list's filters find: how many, up to which incident, and how many one step takes. */
function matches() {
  const found = document.getElementById("desk-matches");
  if (!found) return {};
  const { query, newest, most } = found.dataset;
  const count = Number(found.value);
  return { query, newest, count, taken: Math.min(count, Number(most)) };
}

/** With the whole page chosen, all that match beyond it are offered. */
function offerMatching(chosen) {
  const offer = bar.querySelector("[data-choose-matching]");
  if (!offer) return;
  const { count, taken } = matching ?? matches();
  const which = count > taken ? `the first ${written(taken)} of ${written(count)}` : `all ${written(count)}`;
  const beyond = chosen.length === boxes().length && count > chosen.length;
  offer.hidden = matching !== null || !beyond;
  offer.textContent = `Choose ${which} that match`;
  const told = bar.querySelector("[data-matching]");
  told.hidden = matching === null;
  told.textContent = working ? ": working…" : `: ${which} that match`;
  for (const name of ["matching", "newest"]) bar.elements[name].disabled = matching === null;
  bar.elements.matching.value = matching?.query ?? "";
  bar.elements.newest.value = matching?.newest ?? "";
}

function chooseMatching() {
  matching = matches();
  showSelection();
  bar.querySelector("[data-count]").focus();
}

function choose(change) {
  matching = null;
  boxes().forEach((box) => {
    box.checked = change(box);
  });
  showSelection();
}

/** Opens one of the sheets for what is chosen, or for the row where someone is. */
function openSheet(name) {
  const sheet = document.getElementById(`bulk-${name}`);
  if (!sheet) return;
  const row = current();
  if (row && !boxes().some((box) => box.checked)) choose((box) => box.closest("tr") === row);
  if (bar.hidden) return;
  cameFrom = row?.id ?? cameFrom;
  for (const other of bar.querySelectorAll("details[open]")) other.open = other === sheet;
  sheet.open = true;
  sheet.querySelector(".sheet :is(select, input, button)")?.focus();
}

/** The references of what is chosen, for the choice of what to merge into; the first is proposed. */
function offerChosen(chosen) {
  const list = document.getElementById("bulk-chosen");
  const into = document.getElementById("bulk-into");
  if (!list || !into) return;
  const names = chosen.map((box) => box.closest("tr").dataset.reference);
  list.replaceChildren(...names.map((name) => new Option(name, name)));
  if (!into.value || !names.includes(into.value)) into.value = names.length > 1 ? names[0] : "";
}

/** Acknowledges what is chosen, or the row where someone is. */
function acknowledge() {
  if (boxes().some((box) => box.checked)) bar.querySelector("[value=acknowledge]")?.click();
  else current()?.querySelector("[data-acknowledge]")?.click();
}

/** The focus goes from the bar back to the row from which a sheet was opened. */
function backToRow() {
  const place = document.activeElement;
  if (place !== document.body && !bar.contains(place)) return;
  document.getElementById(cameFrom)?.querySelector("a.title").focus({ preventScroll: true });
}

function chooseNone() {
  backToRow();
  choose(() => false);
}

function showNews() {
  document.dispatchEvent(new CustomEvent("shownews"));
}

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  a: acknowledge,
  x: () => choose((box) => box.checked !== (box.closest("tr") === current())),
  n: () => document.querySelector("[data-new]")?.click(),
  t: () => openSheet("assign"),
  s: () => openSheet("snooze"),
  r: () => openSheet("resolve"),
  m: () => openSheet("merge"),
  v: () => document.querySelector("#views a")?.focus(),
  p: () => document.querySelector("[data-pause]")?.click(),
  ".": showNews,
  Escape: chooseNone,
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented) {
    if (event.key === "Escape") backToRow(); // it closed what was open (keys.js), and nothing else
    return;
  }
  const field = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || field) return;
  if (document.querySelector("dialog[open]") || !ACTIONS[event.key]) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

/* A step on very many takes seconds. */
for (const [name, on] of [["htmx:beforeRequest", true], ["htmx:afterRequest", false]]) {
  bar.addEventListener(name, () => {
    working = on;
    showSelection();
  });
}

/* Enter in a sheet means the sheet's own step, not the bar's first. */
bar.addEventListener("keydown", (event) => {
  const own = event.target.closest(".sheet")?.querySelector(".primary");
  if (!own || event.key !== "Enter" || !event.target.matches("input, select")) return;
  event.preventDefault();
  own.click();
});

document.addEventListener("change", (event) => {
  if (event.target.id === "choose-all") choose(() => event.target.checked);
  else if (event.target.name === "incident") {
    matching = null;
    showSelection();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-choose-none]")) chooseNone();
  if (event.target.closest("[data-choose-matching]")) chooseMatching();
  if (event.target.closest("[data-show-news]")) showNews();
});

document.addEventListener("merged", showSelection);
document.body.addEventListener("changed", chooseNone);

/* What arrived or left meanwhile is told of, and shown when asked for. */
document.addEventListener("held", (event) => {
  const { arrived, left } = event.detail;
  const words = [];
  if (arrived) words.push(`${arrived} new`);
  if (left) words.push(`${left} no longer here`);
  const news = document.getElementById("news");
  news.querySelector("[data-news-words]").textContent = `${words.join(", ")}: show`;
  news.hidden = words.length === 0;
});

/* Enter on a number leads to its incident; what is typed on the way there only filters. */
document.getElementById("search")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !/^\s*(inc-|#)\d+\s*$/i.test(event.target.value)) return;
  event.preventDefault();
  const there = new URLSearchParams(location.search);
  there.set("q", event.target.value.trim());
  there.set("go", "1");
  location.assign(`${location.pathname}?${there}`);
});

/* Filters that say nothing stay out of the address; what is on is shown. */
document.body.addEventListener("htmx:configRequest", (event) => {
  if (event.target.id !== "filters") return;
  for (const [name, value] of [...event.detail.formData.entries()]) {
    if (value === "") event.detail.formData.delete(name);
  }
});

/* A view keeps the filters as the address has them by now. */
document.getElementById("save-view")?.addEventListener("toggle", (event) => {
  event.target.querySelector("[data-filters]").value = location.search.slice(1);
  if (event.target.open) document.getElementById("view-name").focus();
});

document.getElementById("filters")?.addEventListener("change", (event) => {
  event.target.closest(".filter")?.classList.toggle("on", event.target.value !== "");
});
