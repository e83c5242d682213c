/**
 * Live parts. `[data-live]` asks again every `data-every` seconds (its own, or that of something
 * inside it; none: not at all) and merges what changed, child by child, so that scroll, focus,
 * selection, open details and pictures stay. What someone is typing in is never replaced, and what
 * is marked `data-keep` is not the server's to change.
 *
 * Rows of a `data-hold` list are brought up to date where they stand: what arrived is told of in
 * `#news` and shown when asked for, what left is greyed. Left alone for a minute, it shows all.
 */
const PAUSED = "live-paused";
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;
const sources = new WeakMap();
const LEFT_ALONE = 60_000;
let mode = "all"; // what the next answer may move: "all", "own" (what someone changed here), "none"
let touched = 0;
let own = new Set(); // the ids of rows that someone changed here: they are shown where they come back
let told = false; // a stale version was refused and said so: the form may show the newest state

const sourceOf = (element) => element.outerHTML.replace(TOKEN, "");
const mergeable = (element) => element.hasAttribute("data-merge");

function remember(element) {
  sources.set(element, sourceOf(element));
  if (mergeable(element)) [...element.children].forEach(remember);
}

function typedIn(element) {
  return [...element.querySelectorAll("textarea, input:not([type]), input[type=text], select")].some(
    (field) => ("options" in field
      ? [...field.options].some((option) => option.selected !== option.defaultSelected)
        && field.selectedIndex > 0
      : field.value !== field.defaultValue),
  );
}

/** What people did to the old element, and typed into it, goes over to the new one. */
function carryOver(old, fresh) {
  for (const part of fresh.querySelectorAll("details[id], input[id], textarea[id], select[id]")) {
    const before = document.getElementById(part.id);
    if (!before || !old.contains(before)) continue;
    if (part.tagName === "DETAILS") part.open = before.open;
    else if (part.type === "checkbox") part.checked = before.checked;
    else if (part.type !== "file" && before.value !== (before.defaultValue ?? "")) part.value = before.value;
  }
}

/** Brings an element up to date in its place; gives the one that stands there now. */
function renew(old, fresh, added) {
  if (sources.get(old) === sourceOf(fresh) || (typedIn(old) && !told)) return old;
  remember(fresh);
  carryOver(old, fresh);
  old.replaceWith(fresh);
  added.push(fresh);
  return fresh;
}

/** Takes a row away that someone changed here; the focus goes to the one that follows. */
function takeAway(row) {
  if (row.contains(document.activeElement)) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    next?.querySelector("a")?.focus({ preventScroll: true });
  }
  row.remove();
}

const holds = (element) => element.matches("[data-hold]") || element.querySelector("[data-hold]");

/** Puts in their places the rows that someone's own step brought back. */
function bringBack(target, order, wanted, added) {
  let before = null;
  for (const id of order) {
    const child = wanted.get(id);
    if (child && own.has(id)) {
      remember(child);
      target.insertBefore(child, before ? before.nextSibling : target.firstChild);
      wanted.delete(id);
      added.push(child);
    }
    before = [...target.children].find((row) => row.id === id) ?? before;
  }
}

/** What moved up from the next page, below all that is read: it is not news. */
function moveUp(target, order, wanted, added) {
  const last = target.lastElementChild;
  for (const id of order.slice(order.indexOf(last?.id) + 1)) {
    const child = wanted.get(id);
    if (!child) continue;
    remember(child);
    target.append(child);
    wanted.delete(id);
    added.push(child);
  }
}

/** As `merge`, but moves nothing that is read. */
function hold(target, fresh) {
  const added = [];
  const wanted = new Map([...fresh.children].map((child) => [child.id, child]));
  const order = [...wanted.keys()];
  const leaving = [];
  for (const row of [...target.children]) {
    const now = wanted.get(row.id);
    wanted.delete(row.id);
    if (now) renew(row, now, added).classList.remove("gone");
    else if (mode === "own") leaving.push(row);
    else row.classList.add("gone");
  }
  leaving.forEach(takeAway); // last: the focus goes to a row that stays
  bringBack(target, order, wanted, added);
  if (mode === "own") moveUp(target, order, wanted, added);
  const left = target.querySelectorAll(":scope > .gone").length;
  document.dispatchEvent(new CustomEvent("held", { detail: { arrived: wanted.size, left } }));
  return added;
}

/** Whether a list that is read would vanish: its last rows left. */
function holdsOn(target, fresh) {
  if (mode === "all" || fresh.querySelector("[data-hold]")) return false;
  const list = target.querySelector("[data-hold]");
  if (!list) return false;
  const rows = list.querySelectorAll(":scope > tr");
  rows.forEach(mode === "own" ? takeAway : (row) => row.classList.add("gone"));
  return mode !== "own";
}

/** Makes `target`'s children those of `fresh`; gives the elements that are new. */
function merge(target, fresh) {
  if (target.hasAttribute("data-hold") && mode !== "all") return hold(target, fresh);
  if (holdsOn(target, fresh)) return [];
  const added = [];
  const wanted = [...fresh.children].map((child) => {
    const old = child.id ? [...target.children].find((one) => one.id === child.id) : null;
    if (old && sources.get(old) === sourceOf(child)) return old;
    if (old && mergeable(old) && mergeable(child)) {
      added.push(...merge(old, child));
      // A list that is held does not show all of it yet: it is looked at again next time.
      sources.set(old, mode !== "all" && holds(old) ? "" : sourceOf(child));
      return old;
    }
    if (old && typedIn(old) && !told) return old;
    remember(child);
    if (old) {
      carryOver(old, child);
      old.replaceWith(child);
    }
    added.push(child);
    return child;
  });
  const movable = () => [...target.children].filter((child) => !child.hasAttribute("data-keep"));
  for (const child of movable()) if (!wanted.includes(child)) child.remove();
  wanted.forEach((child, place) => {
    const there = movable()[place];
    if (there !== child) target.insertBefore(child, there ?? null);
  });
  return added;
}

/** Where the focus is, as a selector that finds the same place among replaced elements. */
function focusedPlace() {
  const { dataset, id } = document.activeElement ?? {};
  if (dataset?.focus) return `[data-focus="${CSS.escape(dataset.focus)}"]`;
  return id ? `#${CSS.escape(id)}` : null;
}

function keepingFocus(change) {
  const place = focusedPlace();
  const result = change();
  if (place && document.activeElement === document.body) {
    document.querySelector(place)?.focus({ preventScroll: true });
  }
  return result;
}

/** What stands first on the screen, and where: so that what is read stays where it is. */
function readingPlace() {
  if (!scrollY || !live) return null;
  const shown = [...live.querySelectorAll("[id]")].find(
    (one) => one.getBoundingClientRect().top >= 48 && one.offsetHeight > 0,
  );
  return shown ? { id: shown.id, top: shown.getBoundingClientRect().top } : null;
}

function keepingPlace(change) {
  const place = readingPlace();
  const result = change();
  const now = place && document.getElementById(place.id);
  if (now) scrollBy({ top: now.getBoundingClientRect().top - place.top, behavior: "instant" });
  return result;
}

htmx.defineExtension("merge", {
  isInlineSwap: () => false,
  handleSwap(style, target, fragment) {
    if (style !== "merge") return false;
    const added = keepingPlace(() => keepingFocus(() => merge(target, fragment)));
    if (mode === "all") document.dispatchEvent(new CustomEvent("held", { detail: { arrived: 0, left: 0 } }));
    told = false;
    document.dispatchEvent(new CustomEvent("merged"));
    return added.length ? added : true;
  },
});

const live = document.querySelector("[data-live]");
const freshness = document.querySelector("[data-freshness]");
let asked = Date.now();
let answered = Date.now();
let failing = false;
let signedOut = false;
let asking = false;
let again = null;

const paused = () => sessionStorage.getItem(PAUSED) === "1";
const every = () => Number(live.querySelector("[data-every]")?.dataset.every ?? live.dataset.every ?? 0);

function showFreshness() {
  if (!freshness) return;
  const seconds = Math.round((Date.now() - answered) / 1000);
  const state = signedOut ? "signed out" : paused() ? "paused" : failing ? "stale" : "live";
  freshness.dataset.state = state;
  freshness.querySelector("[data-state-word]").textContent = state;
  freshness.querySelector("[data-seconds]").textContent =
    state === "live" && seconds < 10 ? "just now" : `${seconds} s ago`;
  const button = freshness.querySelector("[data-pause]");
  button.hidden = false;
  button.textContent = paused() ? "Resume" : "Pause";
}

/** Whether someone reads here: nothing of theirs is to move. */
const isRead = () => Date.now() - touched < LEFT_ALONE || document.querySelector("#desk-rows :checked");

/** Asks for the newest state; while an answer is under way, once more after it. */
function ask(moving) {
  if (asking) {
    again = moving ?? again;
    return;
  }
  asking = true;
  asked = Date.now();
  mode = moving ?? (isRead() ? "none" : "all");
  if (moving === "all") delete live.dataset.etag;
  htmx.trigger(live, "refresh");
}

function tick() {
  showFreshness();
  if (paused() || signedOut || document.hidden || !every()) return;
  if (Date.now() - asked >= every() * 1000) ask();
}

if (live) {
  [...live.children].forEach(remember);
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "touchstart", "scroll"]) {
    addEventListener(kind, () => (touched = Date.now()), { passive: true, capture: true });
  }
  live.addEventListener("htmx:configRequest", (event) => {
    if (event.target === live && live.dataset.etag) {
      event.detail.headers["If-None-Match"] = live.dataset.etag;
    }
  });
  live.addEventListener("htmx:afterRequest", (event) => {
    if (event.target !== live) return;
    const { status } = event.detail.xhr;
    failing = status !== 200 && status !== 304;
    signedOut = status === 401;
    asking = false;
    mode = "all"; // what someone asks for by a filter shows all
    if (!failing) answered = Date.now();
    if (status === 200) live.dataset.etag = event.detail.xhr.getResponseHeader("ETag") ?? "";
    showFreshness();
    if (again) {
      const moving = again;
      again = null;
      ask(moving);
    }
  });
  freshness?.querySelector("[data-pause]").addEventListener("click", () => {
    sessionStorage.setItem(PAUSED, paused() ? "0" : "1");
    if (!paused()) ask();
    showFreshness();
  });
  document.addEventListener("shownews", () => ask("all"));
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  document.body.addEventListener("changed", (event) => {
    own = new Set((event.detail?.incidents ?? []).map((pk) => `incident-${pk}`));
    ask(event.detail?.all ? "all" : "own");
  });
  setInterval(tick, 1000);
  showFreshness();
}
document.body.addEventListener("stale", () => {
  told = true;
});
