/** A job's course: a bar for each attempt with its incidents, and the pace of its iterations. */
const { colour, axis, layout, instant, NARROW } = globalThis.plots;

const ROW = 22;
const OUTCOMES = { completed: "good", running: "accent", failed: "line-strong" };
const timeAxis = (place) => axis({ type: "date", nticks: place.clientWidth < NARROW ? 4 : 8 });

globalThis.plots.add("job", {
  attempts({ attempts }, most, place) {
    const bars = attempts.map((one, row) => ({
      type: "rect", x0: instant(one.from), x1: instant(one.to), y0: row - 0.32, y1: row + 0.32,
      fillcolor: colour(OUTCOMES[one.outcome] ?? "line-strong"), opacity: 0.75, line: { width: 0 },
    }));
    const broke = attempts.flatMap((one, row) => one.incidents.map(({ at, what }) => ({ at: instant(at), row, what })));
    const ends = attempts.flatMap((one, row) => [{ at: instant(one.from), row, one }, { at: instant(one.to), row, one }]);
    return {
      traces: [
        {
          type: "scatter", mode: "markers", x: ends.map((end) => end.at), y: ends.map((end) => end.row),
          text: ends.map(({ one }) => `attempt ${one.number}: ${one.outcome}`), marker: { size: 8, opacity: 0 },
          hovertemplate: "%{text}<br>%{x|%e %b %H:%M}<extra></extra>",
        },
        {
          type: "scatter", mode: "markers", x: broke.map((one) => one.at), y: broke.map((one) => one.row), text: broke.map((one) => one.what),
          marker: { symbol: "x", size: 9, color: colour("bad-fill"), line: { width: 1, color: colour("panel") } },
          hovertemplate: "%{text}<br>%{x|%e %b %H:%M}<extra></extra>",
        },
      ],
      layout: layout(Math.max(120, ROW * attempts.length + 50), {
        shapes: bars,
        xaxis: timeAxis(place),
        yaxis: axis({
          tickmode: "array", tickvals: attempts.map((one, row) => row), ticktext: attempts.map((one) => `attempt ${one.number}`),
          range: [-0.7, attempts.length - 0.3], showgrid: false,
        }),
      }),
    };
  },
  pace({ pace }, most, place) {
    return {
      traces: [{
        type: "scatter", mode: "lines", x: pace.time.map(instant), y: pace.seconds, line: { color: colour("accent"), width: 1.5 },
        hovertemplate: "%{y:.3f} s<br>%{x|%e %b %H:%M}<extra></extra>",
      }],
      layout: layout(180, { xaxis: timeAxis(place), yaxis: axis({ rangemode: "tozero", ticksuffix: " s", nticks: 5 }) }),
    };
  },
});
