/**
 * Says what happened: the server's notices, requests that did not arrive, a login that ended. What
 * can be undone has a button, and the key `z` for as long as the page is open.
 */
const place = document.getElementById("notices");
const SHOWN = 6_000;
const SHOWN_UNDOABLE = 20_000;
let undoable = null;

function undo() {
  if (!undoable) return;
  const address = undoable;
  undoable = null;
  say("Taking it back…", "info");
  htmx.ajax("POST", address, { source: document.body, swap: "none" });
}

function button(text, act, key) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "btn tight";
  made.textContent = text;
  if (key) made.insertAdjacentHTML("beforeend", ` <kbd>${key}</kbd>`);
  made.addEventListener("click", act);
  return made;
}

function logIn(address) {
  const link = document.createElement("a");
  link.className = "btn primary tight";
  link.href = address;
  link.textContent = "Log in again";
  return link;
}

/** Gone by itself after a while, but not while someone points at it or has the focus in it. */
function passing(notice, after) {
  setTimeout(() => {
    if (notice.matches(":hover, :focus-within")) passing(notice, SHOWN);
    else notice.remove();
  }, after);
}

function say(text, level, { undo: address, login } = {}) {
  const notice = document.createElement("div");
  notice.className = `notice ${level}`;
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn quiet tight";
  close.textContent = "Dismiss";
  notice.append(words);
  if (address) notice.append(button("Undo", undo, "z"));
  if (login) notice.append(logIn(login));
  notice.append(close);
  undoable = address ?? (level === "success" ? null : undoable);
  place.replaceChildren(notice);
  if (level === "success") passing(notice, address ? SHOWN_UNDOABLE : SHOWN);
}

document.body.addEventListener("notice", (event) => {
  say(event.detail.text, event.detail.level, event.detail);
});

document.body.addEventListener("signedout", (event) => {
  const { login } = event.detail;
  say("Your login ended; nothing was changed. What you typed is kept on this device.", "error", { login });
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "z" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  if (undoable && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    undo();
  }
});

document.body.addEventListener("htmx:sendError", (event) => {
  if (event.target.matches("[data-live]")) return; // the freshness line says it
  say("The server did not answer. Nothing was changed; try again.", "error");
});

document.body.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if (xhr.status === 412 && xhr.responseText.includes("data-conflict")) return; // conflict.js
  if (event.target.matches("[data-live]") || xhr.getResponseHeader("HX-Trigger")) return;
  say(`The server refused this (${xhr.status}). Reload the page and try again.`, "error");
});

place?.addEventListener("click", (event) => {
  if (event.target.closest(".quiet")) event.target.closest(".notice").remove();
});

/* A form that was taken is emptied and folded away. */
document.body.addEventListener("htmx:afterRequest", (event) => {
  const form = event.target.closest("form");
  if (!form || form.method !== "post" || !event.detail.successful) return;
  form.reset();
  const fold = form.closest("details");
  if (fold) fold.open = false;
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.querySelector("[data-copy-word]") ?? button;
  const before = words.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    words.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    words.textContent = "Selected";
  }
  setTimeout(() => (words.textContent = before), 1500);
});
