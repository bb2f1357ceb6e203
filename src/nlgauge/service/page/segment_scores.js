// The scores of all segments: a histogram, a scatter plot, a table that can be searched, and a file.

import { legendEntry } from "./charts.js";
import { saveCsv } from "./download.js";
import { choice, h, quietButton, refill, section } from "./elements.js";
import { drawHistogram } from "./histogram.js";
import { difference, score } from "./number_format.js";
import { drawScatter } from "./scatter.js";
import { table } from "./table.js";
import { onResizeOrTheme, palette } from "./theme.js";

const ROWS = 50; // of the table, until more are asked for

/**
 * The section. `scores` has `ids` and `metrics`, as in an answer of /v1/compare; `find(system, id)`
 * gives the texts of a segment, and `onOpen(texts, metric)` shows its alignment.
 */
export function segmentSection(scores, scales, { baseline, find, nameSegment, onOpen }) {
  const metrics = Object.keys(scores.metrics);
  const systems = Object.keys(scores.metrics[metrics[0]]);
  const others = systems.filter((name) => name !== baseline);
  const chosen = { metric: metrics[0], system: others[0] ?? baseline, words: "" };
  const charts = h("div", { class: "charts" });
  const legend = h("p", { class: "legend" });
  const place = h("div");
  const search = h("input", {
    type: "search", oninput: () => {
      chosen.words = search.value.trim().toLowerCase();
      place.firstElementChild.filter(isFound);
    },
  });
  const set = (name) => (value) => {
    chosen[name] = value;
    update();
  };

  /** The scores of the chosen metric, of the baseline and of the chosen system. */
  function shown() {
    const of = scores.metrics[chosen.metric];
    return { scale: scales[chosen.metric], first: of[baseline], second: others.length ? of[chosen.system] : null };
  }

  function isFound([id]) {
    const texts = [baseline, chosen.system].map((system) => find(system, id)).filter(Boolean);
    const words = texts.flatMap((each) => [each.candidate, ...each.references]);
    return [nameSegment(id), ...words].some((text) => text.toLowerCase().includes(chosen.words));
  }

  function drawTable() {
    const { scale, first, second } = shown();
    const number = (value) => score(value, scale.range);
    const columns = [
      { name: "segment", show: openButton },
      { name: baseline, numeric: true, show: number },
      ...(second ? [
        { name: chosen.system, numeric: true, show: number },
        { name: "difference", numeric: true, show: (value) => (value === null ? "–" : difference(value, scale.range)) },
      ] : []),
      { name: second ? `output of ${chosen.system}` : "output", look: "text-cell", show: (text) => h("bdi", {}, text || "–") },
    ];
    const rows = scores.ids.map((id, k) => [
      id, first.values[k], ...(second ? [second.values[k], second.differences[k]] : []),
      find(chosen.system, id)?.candidate ?? "",
    ]);
    refill(place, table({
      caption: `${chosen.metric} of every segment`, columns, rows, most: ROWS,
    }));
    if (chosen.words) place.firstElementChild.filter(isFound);
  }

  function openButton(id) {
    const texts = find(chosen.system, id);
    if (!texts) return nameSegment(id);
    return h("button", {
      type: "button", class: "quiet small", "aria-label": `Alignment of ${nameSegment(id)}`, title: "See its alignment",
      onclick: () => onOpen(texts, chosen.metric),
    }, nameSegment(id));
  }

  function drawCharts() {
    const { first, second } = shown();
    const colours = palette();
    const room = charts.clientWidth || 600;
    const width = Math.min(room > 640 && second ? (room - 32) / 2 : room, 480);
    const known = (values) => values.filter((value) => value !== null);
    const series = [{ name: baseline, values: known(first.values), colour: colours.created }];
    if (second) series.push({ name: chosen.system, values: known(second.values), colour: colours.accent });
    const points = second ? scores.ids.map((id, k) => ({ id, x: first.values[k], y: second.values[k] }))
      .filter(({ x, y }) => x !== null && y !== null) : [];
    for (const point of points) point.name = nameSegment(point.id);
    refill(legend, series.map(({ name, colour }) => legendEntry(name, colour)));
    refill(charts, drawHistogram(series, { axis: chosen.metric, width, palette: colours }),
      points.length > 0 && drawScatter(points, {
        axes: [baseline, chosen.system], width, palette: colours, diagonal: true,
        onPoint: ({ id }) => find(chosen.system, id) && onOpen(find(chosen.system, id), chosen.metric),
      }));
  }

  function update() {
    drawCharts();
    drawTable();
  }

  function rowsForFile() {
    const rows = scores.ids.flatMap((id, k) => systems.map((system) => [
      id, system, find(system, id)?.candidate, ...metrics.map((metric) => scores.metrics[metric][system].values[k]),
    ]));
    return [["segment", "system", "candidate", ...metrics], ...rows];
  }

  onResizeOrTheme(charts, drawCharts);
  drawTable();
  const save = quietButton("Download segments", () => saveCsv(rowsForFile(), "segments.csv"));
  return section("Segments", save,
    h("div", { class: "fields" },
      choice("Metric", metrics, chosen.metric, set("metric")),
      others.length > 1 && choice(`System, against ${baseline}`, others, chosen.system, set("system")),
      h("label", { class: "field" }, h("span", {}, "Search texts and segments"), search)),
    legend, charts,
    h("p", { class: "note" }, "A segment’s name, or its point, opens its alignment."), place);
}
