/**
 * Times in the viewer's zone, with UTC on hover; ages and GPU-hours that go on counting.
 *
 * `<time datetime="…" data-show="age|clock|full">` and `<data data-gpus="…" data-since="…">`.
 */
const zone = document.documentElement.dataset.timeZone || undefined;
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone,
});
const day = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", year: "numeric", timeZone: zone,
});
const zoneName = new Intl.DateTimeFormat(undefined, { timeZoneName: "short", timeZone: zone });

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
  const today = day.format(instant) === day.format(Date.now());
  if (show === "clock" && today) return clock.format(instant);
  return `${day.format(instant)}, ${clock.format(instant)}`;
}

function write(element, content) {
  if (element.textContent !== content) element.textContent = content;
}

function showTime(element) {
  const instant = new Date(element.dateTime);
  if (Number.isNaN(instant.getTime())) return;
  write(element, text(instant, element.dataset.show));
  if (element.title) return;
  const utc = `${instant.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  element.title = element.dataset.show === "age" ? `since ${text(instant, "full")} (${utc})` : utc;
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

function zoneOfViewer() {
  const part = zoneName.formatToParts(Date.now()).find((piece) => piece.type === "timeZoneName");
  return part ? part.value : "UTC";
}

showAll(document);
for (const element of document.querySelectorAll("[data-zone]")) {
  element.textContent = zoneOfViewer();
  element.hidden = false;
}
document.addEventListener("htmx:load", (event) => showAll(event.target));
setInterval(() => {
  if (document.hidden) return;
  document.querySelectorAll('time[data-show="age"]').forEach(showTime);
  document.querySelectorAll("data[data-since]").forEach(showBurning);
}, 5000);
