/**
 * Tries the signature in the form on the text beside it as one types. Matching is the server's:
 * the same RE2 and the same priorities as in a diagnosis.
 */
const form = document.getElementById("signature");
const text = document.getElementById("try-text");
const marks = document.querySelector(".marks");
const summary = document.querySelector(".try-summary");
const table = document.querySelector(".tried");
const examples = document.querySelector(".tried-examples");
const PAUSE = 250;
const KEPT = "workbench-text";

let timer;
let asking;

function element(name, content, className) {
  const made = document.createElement(name);
  if (content !== undefined) made.textContent = content;
  if (className) made.className = className;
  return made;
}

/** The text again behind the text area, with the spans of the answer marked. */
function mark(lines) {
  const byNumber = new Map(lines.map((line) => [line.number, line]));
  marks.replaceChildren(
    ...text.value.split("\n").flatMap((line, index) => {
      const tried = byNumber.get(index + 1);
      return tried ? [...marked(line, tried), "\n"] : [line, "\n"];
    }),
  );
  follow();
}

function marked(line, { span, mine }) {
  const start = span ? span.start : 0;
  const end = span ? Math.max(span.end, span.start + 1) : line.length;
  const hit = element("mark", line.slice(start, end), mine ? "mine" : "other");
  return [line.slice(0, start), hit, line.slice(end)];
}

function follow() {
  marks.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
}

function row({ number, winner, mine, why, parts }) {
  const made = element("tr", undefined, mine ? "mine" : "other");
  const head = element("th", String(number));
  head.scope = "row";
  const told = parts.map(([name, value]) => `${name}=${value}`).join(" ");
  made.append(
    head,
    element("td", mine ? "this signature" : winner, "mono"),
    element("td", why),
    element("td", told, "mono"),
  );
  return made;
}

function example({ text: line, passes, why }) {
  const made = element("li", undefined, passes ? "passes" : "fails");
  made.append(
    element("span", passes ? "passes" : "fails", `sign ${passes ? "added" : "removed"}`),
    " ",
    element("code", line),
    element("span", ` ${why}`, "quiet"),
  );
  return made;
}

function show({ lines, examples: tried, taken, cut }) {
  mark(lines);
  table.hidden = lines.length === 0;
  table.tBodies[0].replaceChildren(...lines.map(row));
  const won = lines.filter((line) => line.mine).length;
  const said = [`${won} line${won === 1 ? "" : "s"} won, ${lines.length - won} by others.`];
  if (taken.length) said.push(`It would win examples of: ${taken.join(", ")}.`);
  if (cut) said.push("The text is longer than what is looked at.");
  summary.textContent = said.join(" ");
  summary.classList.toggle("warns", taken.length > 0 || cut);
  examples.replaceChildren(
    ...(tried.length ? tried.map(example) : [element("li", "There are none.", "quiet")]),
  );
}

function problems(errors) {
  for (const place of form.querySelectorAll("[data-problem]")) {
    const name = place.dataset.problem;
    if (errors[name] || ["pattern", "priority", "severity"].includes(name)) {
      place.textContent = errors[name] ?? "";
    }
    form.elements[name]?.setAttribute("aria-invalid", String(Boolean(errors[name])));
  }
}

async function ask() {
  asking?.abort();
  asking = new AbortController();
  const data = new FormData(form);
  data.set("text", text.value);
  data.delete("remove");
  try {
    const answer = await fetch(form.dataset.try, {
      method: "POST", body: data, signal: asking.signal,
      headers: { Accept: "application/json" },
    });
    const said = await answer.json();
    problems(said.errors ?? {});
    if (said.errors) {
      mark([]);
      table.hidden = true;
      examples.replaceChildren(element("li", "Not tried: the pattern cannot be used yet.", "quiet"));
      summary.textContent = "The pattern cannot be tried yet.";
      return;
    }
    show(said);
  } catch (error) {
    if (error.name !== "AbortError") summary.textContent = "No answer from the server; it is tried again when you type.";
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

function keep() {
  try {
    sessionStorage.setItem(KEPT, text.value);
  } catch {
    // the text then lasts as long as the page
  }
}

try {
  text.value = sessionStorage.getItem(KEPT) ?? "";
} catch {
  // storage may be switched off
}
text.addEventListener("input", () => {
  mark([]);
  keep();
  soon();
});
text.addEventListener("scroll", follow);
form.addEventListener("input", soon);
form.addEventListener("change", soon);
mark([]);
ask();
