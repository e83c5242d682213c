/**
 * A form is sent once: until its answer is there, a second press does nothing. It is free again when
 * the answer came to this page, or when someone comes back to a page that the browser kept.
 */
const BUSY = "aria-busy";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute(BUSY) !== "true") return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

/* Last of all: what a page's own script sends instead, that script answers for (upload.js). */
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.target === "_blank") return;
  if (form.hasAttribute("hx-post") || !event.defaultPrevented) form.setAttribute(BUSY, "true");
});

document.addEventListener("htmx:afterRequest", (event) => {
  event.target.closest?.("form")?.removeAttribute(BUSY);
});

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll(`form[${BUSY}]`)) form.removeAttribute(BUSY);
});
