/** Two people at once: what the other one did, what was seen, what was wanted; nothing is lost. */
const dialog = document.getElementById("conflict");
let refused = null;

document.body.addEventListener("htmx:responseError", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status !== 412 || !xhr.responseText.includes("data-conflict")) return;
  refused = requestConfig;
  dialog.innerHTML = xhr.responseText; // the server's own markup, escaped there
  if (!dialog.open) dialog.showModal();
  dialog.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
});

dialog?.addEventListener("click", (event) => {
  const anyway = event.target.closest("[data-anyway]");
  if (!anyway || !refused) return;
  const { path } = refused;
  const values = Object.fromEntries(refused.formData ?? []);
  values[anyway.dataset.field] = anyway.dataset.anyway;
  refused = null;
  dialog.close();
  htmx.ajax("POST", path, { source: document.body, swap: "none", values });
});

/* What was not sent stays in its form, whatever the live page made of that meanwhile. */
dialog?.addEventListener("close", () => {
  const form = refused && document.querySelector(`form[action="${CSS.escape(refused.path)}"]`);
  for (const [name, value] of (form && refused.formData) || []) {
    const field = form.elements.namedItem(name);
    if (field?.matches?.("textarea, select") && !field.value) field.value = value;
  }
});
