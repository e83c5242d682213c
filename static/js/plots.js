/**
 * What every picture shares. A section names its kind in `data-plots` and carries its values in
 * `data-values`; the kind's figures are added with `plots.add`. Plotly is fetched when the first
 * picture is there.
 */
const source = document.querySelector("script[data-plotly]")?.dataset.plotly;
const probe = document.createElement("span");
let library;

function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("Plotly did not load"));
    document.head.append(script);
  });
  return library;
}

/** A token's colour as the theme has it at this moment. */
function colour(name) {
  probe.style.color = `var(--${name})`;
  if (!probe.isConnected) {
    probe.hidden = true;
    document.body.append(probe);
  }
  return getComputedStyle(probe).color;
}

function axis(more) {
  return {
    gridcolor: colour("line"), linecolor: colour("line"), zeroline: false, automargin: true,
    tickfont: { size: 11 }, fixedrange: true, ...more,
  };
}

function layout(height, more) {
  return {
    height,
    margin: { l: 8, r: 12, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("muted") },
    hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") } },
    showlegend: false,
    dragmode: false,
    ...more,
  };
}

/** Ticks on whole numbers alone, about `most` over a range: 1, 2, 5, 10, 20 … apart. */
function whole(range, most) {
  const least = Math.max(1, range / most);
  const size = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((one) => one * size >= least) * size;
  return { tickformat: ",d", tick0: 0, dtick: step };
}

/** Shortened in the middle: communicators differ at their end. */
function short(text, most) {
  if (text.length <= most) return text;
  const end = Math.floor(most * 0.4);
  return `${text.slice(0, most - end - 1)}…${text.slice(-end)}`;
}

/** UTC from the server, in the zone of the page's other times. */
function instant(seconds) {
  return globalThis.times.wall(seconds * 1000);
}

/** The share of a picture's width that labels may take, and the width of a letter in pixels. */
const LABELS = 0.45;
const LETTER = 6.6;
const NARROW = 420;
const kinds = new Map();
const SETTINGS = { displayModeBar: false, responsive: true };

async function draw(section) {
  const figures = kinds.get(section.dataset.plots);
  if (!figures) return;
  const data = JSON.parse(section.dataset.values);
  try {
    const Plotly = await plotly();
    for (const place of section.querySelectorAll("[data-plot]")) {
      const most = place.clientWidth < NARROW ? 18 : Math.floor((place.clientWidth * LABELS) / LETTER);
      const figure = figures[place.dataset.plot](data, most, place);
      Plotly.react(place, figure.traces, figure.layout, SETTINGS);
    }
  } catch {
    for (const fold of section.querySelectorAll("details")) fold.open = true; // the tables say it too
  }
}

function drawWithin(element) {
  const sections = element.matches("[data-plots]") ? [element] : element.querySelectorAll("[data-plots]");
  sections.forEach(draw);
}

globalThis.plots = {
  colour, axis, layout, whole, short, instant, NARROW,
  add(kind, figures) {
    kinds.set(kind, figures);
    document.querySelectorAll(`[data-plots="${kind}"]`).forEach(draw);
  },
};
document.addEventListener("htmx:load", (event) => drawWithin(event.target));
const drawAll = () => drawWithin(document.body);
document.addEventListener("themechange", drawAll);
document.addEventListener("zonechange", drawAll);
matchMedia("print").addEventListener("change", drawAll);
