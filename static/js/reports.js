/** The report's figures over time. Lines differ in dash and mark as well as in colour. */
const { colour, axis, layout, whole, NARROW } = globalThis.plots;

const HEIGHT = 220;
/** Steps are days in UTC, whatever zone the reader is in. */
const times = (data) => data.time.map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 10));
const timeAxis = (place) => axis({
  type: "date", nticks: place.clientWidth < NARROW ? 4 : 8, showgrid: false, tickformat: "%e %b", tickangle: 0,
});

function bars(x, y, name, fill, shown) {
  return {
    type: "bar", name, x, y, marker: { color: fill, pattern: { shape: name === "held" ? "/" : "", bgcolor: fill, fgcolor: colour("panel"), fillmode: "overlay" } },
    hovertemplate: `${name} ${shown}<br>from %{x|%e %b %Y}<extra></extra>`,
  };
}

function line(x, y, name, ink, dash, symbol) {
  return {
    type: "scatter", mode: "lines+markers", name, x, y, connectgaps: false,
    line: { color: ink, width: 2, dash }, marker: { symbol, size: 6, color: ink },
    hovertemplate: `${name} %{y:.1%}<br>from %{x|%e %b %Y}<extra></extra>`,
  };
}

const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } };
const withLegend = { showlegend: true, legend, margin: { l: 8, r: 12, t: 30, b: 8 } };

/** The unit in which the longest of some times (in seconds) has a number that is easily read. */
function unitOf(seconds) {
  const most = Math.max(0, ...seconds);
  if (most < 2 * 3600) return [60, "min"];
  return most < 2 * 86400 ? [3600, "h"] : [86400, "d"];
}

/** Shares as percent, with as many places as keep the axis's marks apart. */
const shares = (most) => (most < 0.005 ? ".2%" : most < 0.05 ? ".1%" : ".0%");

globalThis.plots.add("reports", {
  lost(data, most, place) {
    const [size, unit] = unitOf(data.lost);
    const lost = data.lost.map((seconds) => (seconds === null ? null : seconds / size));
    return {
      traces: [bars(times(data), lost, "median", colour("accent"), `%{y:.1f} ${unit}`)],
      layout: layout(HEIGHT, { xaxis: timeAxis(place), yaxis: axis({ rangemode: "tozero", ticksuffix: ` ${unit}`, nticks: 5 }) }),
    };
  },
  found(data, most, place) {
    const x = times(data);
    return {
      traces: [
        line(x, data.located, "localised", colour("accent"), "solid", "circle"),
        line(x, data.top1, "first suspect", colour("warn-fill"), "dash", "square"),
        line(x, data.top3, "first three", colour("good"), "dot", "diamond"),
      ],
      layout: layout(HEIGHT, { ...withLegend, xaxis: timeAxis(place), yaxis: axis({ range: [0, 1.04], tickformat: ".0%", nticks: 5 }) }),
    };
  },
  restarts(data, _, place) {
    const x = times(data);
    const most = Math.max(...data.restarts, ...data.held);
    return {
      traces: [
        bars(x, data.restarts, "restarts", colour("accent"), "%{y}"),
        bars(x, data.held, "held", colour("warn-fill"), "%{y}"),
      ],
      layout: layout(HEIGHT, { ...withLegend, barmode: "group", xaxis: timeAxis(place), yaxis: axis({ rangemode: "tozero", ...whole(most, 5) }) }),
    };
  },
  degradation(data, most, place) {
    const known = data.degradation.some((share) => share !== null);
    return {
      traces: [line(times(data), data.degradation, "degradation", colour("accent"), "solid", "circle")],
      layout: layout(HEIGHT, {
        xaxis: timeAxis(place), yaxis: axis(known ? { rangemode: "tozero", tickformat: shares(Math.max(...data.degradation)), nticks: 5 } : { range: [0, 0.1], tickformat: ".0%", nticks: 3 }),
        annotations: known ? [] : [{ text: "No iteration times were seen: watch a job", showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5 }],
      }),
    };
  },
});
