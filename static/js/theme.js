/**
 * Light, dark, or as the system has it. The choice is kept on this device; the page's root carries
 * it before anything is painted. Sends `themechange` for pictures.
 */
const CHOICES = ["system", "light", "dark"];
const root = document.documentElement;

function kept() {
  try {
    const choice = localStorage.getItem("theme");
    return CHOICES.includes(choice) ? choice : "system";
  } catch {
    return "system"; // storage may be switched off
  }
}

function apply(choice) {
  if (choice === "system") delete root.dataset.theme;
  else root.dataset.theme = choice;
  document.dispatchEvent(new CustomEvent("themechange"));
}

function label(button, choice) {
  const text = `Theme: ${choice}. Change`;
  button.title = text;
  button.setAttribute("aria-label", text);
}

apply(kept());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(kept()));

document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector("[data-theme-toggle]");
  if (!button) return;
  button.hidden = false;
  label(button, kept());
  button.addEventListener("click", () => {
    const next = CHOICES[(CHOICES.indexOf(kept()) + 1) % CHOICES.length];
    try {
      localStorage.setItem("theme", next);
    } catch {
      // the choice then lasts as long as the page
    }
    apply(next);
    label(button, next);
  });
});
