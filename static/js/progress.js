/** Figures of collective progress. Roles differ in shape as well as in colour. */
const { colour, axis, layout, whole, short, NARROW } = globalThis.plots;

/** The width of a capital letter in pixels: communicators are named in capitals. */
const CAPITAL = 7.2;

// "ranks 3, 8–11 and 5 more" as pairs of first and last.
const spans = (ranks) => [...ranks.matchAll(/(\d+)(?:–(\d+))?(?!\d| more)/g)].map(([, first, last]) => [Number(first), Number(last ?? first)]);
const roleColour = (role) => (role === "culprit" ? colour("bad-fill") : role === "possible" ? colour("warn-fill") : colour("accent"));

const title = (text) => ({ text, font: { size: 11 }, standoff: 6 });

function detail({ detail: shown }, most) {
  const marks = [...shown.marks].reverse();
  const names = marks.map((mark) => {
    const name = short(mark.host ? `${mark.who} · ${mark.host}` : mark.who, most);
    return mark.role === "culprit" ? `<b>${name}</b>` : name;
  });
  const bars = marks.map((mark) => roleColour(mark.role));
  const counts = marks.flatMap((mark) => [mark.enqueued, mark.completed]).filter((n) => n !== null);
  const [low, high] = counts.length ? [Math.min(...counts), Math.max(...counts)] : [0, 1];
  const room = Math.max(1, (high - low) * 0.08);
  const spans = marks.map((mark, place) => ({
    type: "line", yref: "y", xref: "x", y0: place, y1: place, layer: "below",
    x0: mark.completed ?? mark.enqueued, x1: mark.enqueued,
    line: { color: bars[place], width: 3 },
  })).filter((span) => span.x0 !== null);
  const hover = marks.map((mark) => `${mark.state}${mark.role ? `, ${mark.role}` : ""}`);
  const trace = (name, values, symbol) => ({
    type: "scatter", mode: "markers", name, x: values, y: names.map((_, place) => place), customdata: hover,
    marker: { symbol, size: 9, color: bars, line: { width: 1.5, color: bars } },
    hovertemplate: `%{text}<br>${name} %{x:,}<br>%{customdata}<extra></extra>`, text: names,
  });
  return {
    traces: [
      trace("completed", marks.map((mark) => mark.completed), "circle"),
      trace("launched", marks.map((mark) => mark.enqueued), marks.map((mark) => (mark.role === "culprit" ? "x-thin" : "line-ns"))),
    ],
    layout: layout(Math.max(120, 22 * marks.length + 66), {
      shapes: spans,
      annotations: marks.flatMap((mark, place) => (mark.enqueued === null ? [{
        x: low - room * 0.8, y: place, xanchor: "left", text: mark.state, showarrow: false, font: { size: 11, color: colour("muted") },
      }] : [])),
      xaxis: axis({
        range: [low - room, high + room], ...whole(high - low + 2 * room, 6), visible: counts.length > 0,
        title: title("● completed   | launched"),
      }),
      yaxis: axis({ tickmode: "array", tickvals: names.map((_, place) => place), ticktext: names, range: [-0.7, marks.length - 0.3], showgrid: false }),
    }),
  };
}

function lateness({ lateness: { marks: latest } }, most) {
  const marks = [...latest].reverse();
  const names = marks.map((mark) => short(mark.host ? `${mark.who} · ${mark.host}` : mark.who, most));
  const places = marks.map((_, place) => place);
  return {
    traces: [{
      type: "bar", orientation: "h", x: marks.map((mark) => mark.late_ms), y: places, text: names, textposition: "none",
      marker: { color: marks.map((mark) => (mark.role ? roleColour(mark.role) : colour("line-strong"))) },
      hovertemplate: "%{text}<br>others wait %{x:.2f} ms<extra></extra>",
    }],
    layout: layout(Math.max(120, 22 * marks.length + 66), {
      xaxis: axis({ rangemode: "tozero", ticksuffix: " ms", nticks: 5 }),
      yaxis: axis({
        tickmode: "array", tickvals: places, range: [-0.7, marks.length - 0.3], showgrid: false,
        ticktext: names.map((name, place) => (marks[place].role === "culprit" ? `<b>${name}</b>` : name)),
      }),
    }),
  };
}

function waits({ waits: shown, detail: { marks } }, most, place) {
  // Waiting ranks stand on the left and have the room that those on the right leave.
  const right = Math.min(most, Math.max(...shown.map((wait) => wait.blockers.length)));
  const left = Math.max(12, Math.floor(place.clientWidth / CAPITAL) - right - 5);
  const nodes = new Map();
  const node = (label, blamed, on) => {
    if (!nodes.has(label)) nodes.set(label, { place: nodes.size, blamed, waits: on });
    return nodes.get(label).place;
  };
  const culprits = marks.filter((mark) => mark.role === "culprit").flatMap((mark) => spans(mark.who));
  const blamed = (ranks) => spans(ranks).some(([first, last]) => culprits.some(([from, to]) => first <= to && from <= last));
  const links = shown.map((wait) => ({
    source: node(`${wait.waiters} · ${wait.label}`, false, true),
    target: node(wait.blockers, blamed(wait.blockers), false),
    value: wait.weight,
    label: `${wait.label} ${wait.call}`,
  }));
  const list = [...nodes.values()];
  return {
    traces: [{
      type: "sankey", arrangement: "snap",
      node: {
        label: [...nodes].map(([name, { waits: on }]) => short(name, on ? left : right)), customdata: [...nodes.keys()], pad: 14, thickness: 12,
        color: list.map((one) => (one.blamed ? colour("bad-fill") : colour("line-strong"))),
        line: { width: 0 }, hovertemplate: "%{customdata}<extra></extra>",
      },
      link: {
        source: links.map((one) => one.source), target: links.map((one) => one.target),
        value: links.map((one) => one.value), label: links.map((one) => one.label),
        color: links.map(() => colour("line")), hovertemplate: "%{label}<extra></extra>",
      },
      textfont: { color: colour("text"), size: 12 },
    }],
    layout: layout(Math.min(420, Math.max(150, 46 * nodes.size)), { margin: { l: 10, r: 10, t: 12, b: 12 } }),
  };
}

function map({ map: shown, folded }, most, place) {
  const narrow = place.clientWidth < NARROW;
  const furthest = Math.max(1, ...shown.behind.flat().filter((value) => value !== null));
  const blamed = shown.blamed.filter((name) => shown.columns.includes(name));
  const places = shown.rows.map((_, place) => place);
  return {
    traces: [{
      type: "heatmap", z: shown.behind, x: shown.columns, y: places,
      customdata: shown.rows.map((row) => shown.columns.map(() => row)),
      zmin: 0, zmax: furthest, xgap: shown.columns.length > 128 ? 0 : 1, ygap: 2, hoverongaps: false,
      colorscale: [[0, colour("raised")], [0.001, colour("warn-soft")], [1, colour("bad-fill")]],
      colorbar: {
        title: { text: "behind", font: { size: 11 } },
        thickness: 8, outlinewidth: 0, tickformat: ",d", dtick: Math.ceil(furthest / 2), len: 90, lenmode: "pixels", y: 1, yanchor: "top",
      },
      hovertemplate: "%{customdata}<br>%{x}: %{z:,} behind<extra></extra>",
    }],
    layout: layout(Math.max(150, 22 * shown.rows.length + 80), {
      xaxis: axis({ type: "category", nticks: narrow ? 5 : 24, showgrid: false, title: title(folded ? "host" : "rank") }),
      yaxis: axis({
        tickmode: "array", tickvals: places, ticktext: shown.rows.map((row) => short(row, most)), autorange: "reversed", showgrid: false,
        title: narrow ? undefined : title("communicator"),
      }),
      annotations: blamed.slice(0, 24).map((name) => ({
        x: name, y: 1, yref: "paper", yanchor: "bottom", text: "▼", showarrow: false, font: { size: 11, color: colour("bad-fill") },
      })),
    }),
  };
}

globalThis.plots.add("progress", { detail, lateness, waits, map });
