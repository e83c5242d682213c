/** Says what happened: the server's notices, and requests that did not arrive. */
const place = document.getElementById("notices");

function say(text, level) {
  const notice = document.createElement("div");
  notice.className = `notice ${level}`;
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn quiet tight";
  close.textContent = "Dismiss";
  notice.append(words, close);
  place.replaceChildren(notice);
  if (level === "success") setTimeout(() => notice.remove(), 6000);
}

document.body.addEventListener("notice", (event) => say(event.detail.text, event.detail.level));

document.body.addEventListener("htmx:sendError", (event) => {
  if (event.target.matches("[data-live]")) return; // the freshness line says it
  say("The server did not answer. Nothing was changed; try again.", "error");
});

document.body.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if (event.target.matches("[data-live]") || xhr.getResponseHeader("HX-Trigger")) return;
  say(`The server refused this (${xhr.status}). Reload the page and try again.`, "error");
});

place?.addEventListener("click", (event) => {
  if (event.target.closest("button")) event.target.closest(".notice").remove();
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
