/** Figures of a slowdown: a suspect against the band of its peers, and the job's iteration times. */
const { colour, axis, layout, instant } = globalThis.plots;

/** A colour with its opacity: tokens come as rgb(…). */
function faint(name, share) {
  return colour(name).replace(/^rgba?\(([^)]+?)(?:,\s*[\d.]+)?\)$/, `rgba($1, ${share})`);
}

const mark = (at) => ({
  type: "line", xref: "x", yref: "paper", x0: instant(at), x1: instant(at), y0: 0, y1: 1,
  line: { color: colour("muted"), width: 1.5, dash: "dot" },
});
const since = (at) => ({
  x: instant(at), y: 1, xref: "x", yref: "paper", xanchor: "left", yanchor: "top", xshift: 4, text: "onset",
  showarrow: false, font: { size: 11, color: colour("muted") },
});
const times = (seconds) => seconds.map(instant);

function timeLayout(onset, title, values) {
  const top = Math.max(...values.flat().filter((value) => value !== null), 0);
  return layout(230, {
    hovermode: "x unified",
    shapes: onset === null ? [] : [mark(onset)],
    annotations: onset === null ? [] : [since(onset)],
    xaxis: axis({ type: "date", nticks: 6, showgrid: false }),
    yaxis: axis({ range: [0, (top || 1) * 1.2], nticks: 5, title: { text: title, font: { size: 11 }, standoff: 6 } }),
  });
}

function band({ metrics }, _most, place) {
  const shown = metrics[Number(place.dataset.number)];
  const x = times(shown.time);
  const edge = { type: "scatter", mode: "lines", x, line: { width: 0 }, hoverinfo: "skip" };
  return {
    traces: [
      { ...edge, y: shown.low },
      { ...edge, y: shown.high, fill: "tonexty", fillcolor: faint("accent", 0.22) },
      {
        type: "scatter", mode: "lines", x, y: shown.middle, name: "peers, median",
        line: { color: colour("accent"), width: 1.5 }, hovertemplate: "%{y:.4g}",
      },
      {
        type: "scatter", mode: "lines", x, y: shown.value, name: shown.host,
        line: { color: colour("bad-fill"), width: 2.5, dash: "solid" }, hovertemplate: "%{y:.4g}",
      },
    ],
    layout: timeLayout(shown.onset, shown.unit, [shown.value, shown.high]),
  };
}

function pace({ pace: shown }) {
  const x = times(shown.time);
  const level = (y, from, to, name, dash) => ({
    type: "line", xref: "x", yref: "y", x0: instant(from), x1: instant(to), y0: y, y1: y,
    line: { color: colour(name), width: 2, dash },
  });
  const [first, last] = [shown.time[0], shown.time[shown.time.length - 1]];
  const slow = shown.onset !== null;
  const figure = timeLayout(shown.onset, "s", [shown.seconds]);
  if (slow) figure.shapes.push(level(shown.before, first, last, "muted", "dash"), level(shown.after, shown.onset, last, "bad-fill", "solid"));
  return {
    traces: [{
      type: "scatter", mode: "lines", x, y: shown.seconds, name: "iteration time",
      line: { color: colour("accent"), width: 1.5 }, hovertemplate: "%{y:.3f} s",
    }],
    layout: figure,
  };
}

globalThis.plots.add("metrics", { band, pace });
