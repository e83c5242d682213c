/**
 * Times in the viewer's zone or in UTC, with the other on hover; ages and GPU-hours that go on
 * counting. Which of the two is kept on this device; a change sends `zonechange` for pictures.
 *
 * `<time datetime="…" data-show="age|clock|full|zoned">` and `<data data-gpus="…" data-since="…">`.
 */
const home = document.documentElement.dataset.timeZone || undefined;
const CHOSEN = "times";

function formats(zone) {
  return {
    clock: new Intl.DateTimeFormat(undefined, {
      hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone,
    }),
    day: new Intl.DateTimeFormat(undefined, {
      day: "numeric", month: "short", year: "numeric", timeZone: zone,
    }),
    name: new Intl.DateTimeFormat(undefined, { timeZoneName: "short", timeZone: zone }),
    // Sweden writes 2026-11-30 14:43:21, which Plotly reads.
    wall: new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone }),
  };
}

const local = formats(home);
const utc = formats("UTC");

function kept() {
  try {
    return localStorage.getItem(CHOSEN) === "utc" ? utc : local;
  } catch {
    return local; // storage may be switched off
  }
}

let shown = kept();

const HOUR = 3600;
const DAY = 24 * HOUR;

function age(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / 60)} min`;
  if (seconds < DAY) {
    const minutes = Math.floor((seconds % HOUR) / 60);
    return `${Math.floor(seconds / HOUR)} h ${String(minutes).padStart(2, "0")}`;
  }
  return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`;
}

function text(instant, show) {
  if (show === "age") return age((Date.now() - instant) / 1000);
  const today = shown.day.format(instant) === shown.day.format(Date.now());
  if (show === "clock" && today) return shown.clock.format(instant);
  const whole = `${shown.day.format(instant)}, ${shown.clock.format(instant)}`;
  return show === "zoned" ? `${whole} ${zoneOf(shown, instant)}` : whole;
}

function zoneOf(form, instant = Date.now()) {
  const part = form.name.formatToParts(instant).find((piece) => piece.type === "timeZoneName");
  return part ? part.value : "UTC";
}

function write(element, content) {
  if (element.textContent !== content) element.textContent = content;
}

function showTime(element) {
  const instant = new Date(element.dateTime);
  if (Number.isNaN(instant.getTime())) return;
  write(element, text(instant, element.dataset.show));
  const other = shown === utc ? local : utc;
  const there = `${other.wall.format(instant)} ${zoneOf(other, instant)}`;
  const title = element.dataset.show === "age" ? `since ${text(instant, "full")} (${there})` : there;
  if (element.title !== title) element.title = title;
}

function showBurning(element) {
  const hours = (Date.now() - new Date(element.dataset.since)) / 3.6e6;
  const lost = Math.max(0, hours) * Number(element.dataset.gpus);
  write(element, lost < 10 ? lost.toFixed(1) : Math.round(lost).toLocaleString());
}

function showAll(within) {
  const select = (selector) => [
    ...(within.matches?.(selector) ? [within] : []),
    ...within.querySelectorAll(selector),
  ];
  select("time[datetime]").forEach(showTime);
  select("data[data-since]").forEach(showBurning);
}

function showZone(button) {
  const [now, other] = [shown, shown === utc ? local : utc].map((form) => zoneOf(form));
  button.textContent = now;
  button.disabled = now === other;
  const say = now === other ? `Times are in ${now}` : `${now}: times are in this zone. Show them in ${other}`;
  button.setAttribute("aria-label", say);
  button.title = say;
  button.hidden = false;
}

globalThis.times = {
  /** Milliseconds since 1970 as a wall clock shows it in the zone of the page's times. */
  wall: (milliseconds) => shown.wall.format(milliseconds),
  /** The same as the page's own times: with its day where that is not today. */
  clock: (milliseconds) => text(milliseconds, "clock"),
};

showAll(document);
const zone = document.querySelector("[data-zone]");
if (zone) {
  showZone(zone);
  zone.addEventListener("click", () => {
    shown = shown === utc ? local : utc;
    try {
      localStorage.setItem(CHOSEN, shown === utc ? "utc" : "local");
    } catch {
      // the choice then lasts as long as the page
    }
    showZone(zone);
    showAll(document);
    document.dispatchEvent(new CustomEvent("zonechange"));
  });
}
document.addEventListener("htmx:load", (event) => showAll(event.target));
setInterval(() => {
  if (document.hidden) return;
  document.querySelectorAll('time[data-show="age"]').forEach(showTime);
  document.querySelectorAll("data[data-since]").forEach(showBurning);
}, 5000);
