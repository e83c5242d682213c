/**
 * Live parts. `[data-live]` asks again every `data-every` seconds (its own, or that of something
 * inside it; none: not at all) and merges what changed, child by child, so that scroll, focus,
 * selection, open details and pictures stay. What someone is typing in is never replaced, and what
 * is marked `data-keep` is not the server's to change.
 */
const PAUSED = "live-paused";
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;
const sources = new WeakMap();
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

/** Makes `target`'s children those of `fresh`; gives the elements that are new. */
function merge(target, fresh) {
  const added = [];
  const wanted = [...fresh.children].map((child) => {
    const old = child.id ? [...target.children].find((one) => one.id === child.id) : null;
    if (old && sources.get(old) === sourceOf(child)) return old;
    if (old && mergeable(old) && mergeable(child)) {
      added.push(...merge(old, child));
      sources.set(old, sourceOf(child));
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

htmx.defineExtension("merge", {
  isInlineSwap: () => false,
  handleSwap(style, target, fragment) {
    if (style !== "merge") return false;
    const added = keepingFocus(() => merge(target, fragment));
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

const paused = () => sessionStorage.getItem(PAUSED) === "1";
const every = () => Number(live.dataset.every ?? live.querySelector("[data-every]")?.dataset.every ?? 0);

function showFreshness() {
  if (!freshness) return;
  const seconds = Math.round((Date.now() - answered) / 1000);
  const state = paused() ? "paused" : failing ? "stale" : "live";
  freshness.dataset.state = state;
  freshness.querySelector("[data-state-word]").textContent = state;
  freshness.querySelector("[data-seconds]").textContent =
    state === "live" && seconds < 10 ? "just now" : `${seconds} s ago`;
  const button = freshness.querySelector("[data-pause]");
  button.hidden = false;
  button.textContent = paused() ? "Resume" : "Pause";
}

function ask() {
  asked = Date.now();
  htmx.trigger(live, "refresh");
}

function tick() {
  showFreshness();
  if (paused() || document.hidden || !every()) return;
  if (Date.now() - asked >= every() * 1000) ask();
}

if (live) {
  [...live.children].forEach(remember);
  live.addEventListener("htmx:configRequest", (event) => {
    if (event.target === live && live.dataset.etag) {
      event.detail.headers["If-None-Match"] = live.dataset.etag;
    }
  });
  live.addEventListener("htmx:afterRequest", (event) => {
    if (event.target !== live) return;
    const { status } = event.detail.xhr;
    failing = status !== 200 && status !== 304;
    if (!failing) answered = Date.now();
    if (status === 200) live.dataset.etag = event.detail.xhr.getResponseHeader("ETag") ?? "";
    showFreshness();
  });
  freshness?.querySelector("[data-pause]").addEventListener("click", () => {
    sessionStorage.setItem(PAUSED, paused() ? "0" : "1");
    if (!paused()) ask();
    showFreshness();
  });
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  document.body.addEventListener("changed", ask);
  setInterval(tick, 1000);
  showFreshness();
}
document.body.addEventListener("stale", () => {
  told = true;
});
