/**
 * What someone types into a note stays on this device until the server has taken it: a login that
 * ends, a closed tab or a lost connection loses nothing. Kept by person, page and field.
 */
const person = document.documentElement.dataset.person ?? "";
const KEPT_DAYS = 14;
const keyOf = (field) => `draft:${person}:${location.pathname}:${field.id}`;
const fields = (within) => [...within.querySelectorAll("form[method=post] textarea[id]")];

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function keep(field) {
  try {
    if (field.value.trim()) {
      localStorage.setItem(keyOf(field), JSON.stringify({ text: field.value, at: Date.now() }));
    } else {
      localStorage.removeItem(keyOf(field));
    }
  } catch {
    // storage may be switched off or full: then the page is all there is
  }
}

function forget(field) {
  try {
    localStorage.removeItem(keyOf(field));
  } catch {
    // nothing was kept
  }
  field.parentElement.querySelector(`[data-restored="${field.id}"]`)?.remove();
}

function tell(field, at) {
  const line = document.createElement("p");
  line.className = "restored small muted";
  line.dataset.restored = field.id;
  line.textContent = `Not sent yet, from ${times.clock(at)}. `;
  const discard = document.createElement("button");
  discard.type = "button";
  discard.className = "btn quiet tight";
  discard.textContent = "Discard";
  discard.addEventListener("click", () => {
    field.value = "";
    forget(field);
    field.focus();
  });
  line.append(discard);
  field.after(line);
}

function restore(within) {
  for (const field of fields(within)) {
    const draft = read(keyOf(field));
    if (!draft?.text || field.value) continue;
    field.value = draft.text;
    tell(field, draft.at);
  }
}

/** Takes away what was kept too long ago to be meant. */
function tidy() {
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith("draft:"))) {
      if (Date.now() - (read(key)?.at ?? 0) > KEPT_DAYS * 86_400_000) localStorage.removeItem(key);
    }
  } catch {
    // storage may be switched off
  }
}

document.addEventListener("input", (event) => {
  if (event.target.matches("form[method=post] textarea[id]")) keep(event.target);
});

document.body.addEventListener("htmx:afterRequest", (event) => {
  const form = event.target.closest("form");
  if (form?.method === "post" && event.detail.successful) fields(document).filter((one) => form.contains(one)).forEach(forget);
});

tidy();
restore(document);
