// A heat map of a plan: colours are costs, the area of a circle is the mass moved.

import { costColour } from "./colours.js";
import { s } from "./elements.js";
import { lineLook } from "./flow_diagram.js";
import { FAMILY, widestText } from "./text_width.js";
import { short } from "./number_format.js";
import { caption, truncated, highestCost, flows, tokenLabel } from "./plan.js";

const NUMBERED = 16; // tokens of a side up to which circles have numbers
const SIZE = 13;

/** The drawing; many tokens get smaller cells. */
export function drawHeatMap(plan, { width, palette }) {
  const rows = plan.candidate_tokens.map(tokenLabel);
  const columns = plan.reference_tokens.map(tokenLabel);
  const left = labelWidth(rows);
  const top = labelWidth(columns);
  const wanted = (width - left - 2) / columns.length;
  const cell = Math.min(Math.max(wanted, columns.length > 30 ? 16 : 22), 46);
  const frame = { left, top, cell, palette, highest: highestCost(plan) };
  const size = { width: left + cell * columns.length + 2, height: top + cell * rows.length + 2 };
  return s("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": FAMILY, "font-size": SIZE, role: "group",
    "aria-label": `${plan.matches ? "Cosines and matches" : "Costs and masses"} of every candidate token with ` +
      "every reference token",
  },
    rows.map((label, k) => rowLabel(label, k, frame)),
    columns.map((label, k) => columnLabel(label, k, frame)),
    plan.cost.map((row, i) => row.map((cost, j) => square(plan, i, j, frame))),
    (plan.matches ? matchMarks : circles)(plan, frame));
}

function labelWidth(labels) {
  return Math.max(widestText(labels.map((label) => truncated(label, 16)), SIZE), 20) + 14;
}

function rowLabel(label, k, { left, top, cell, palette }) {
  return s("g", { class: "token", "data-side": "candidate", "data-index": k },
    s("rect", { class: "ground", x: 0, y: top + k * cell, width: left, height: cell, rx: 4, fill: "transparent" }),
    s("text", { x: left - 8, y: top + (k + 0.5) * cell + 4.5, "text-anchor": "end", fill: palette.ink },
      truncated(label, 16)));
}

function columnLabel(label, k, { left, top, cell, palette }) {
  const [x, y] = [left + (k + 0.5) * cell + 4.5, top - 8];
  return s("g", { class: "token", "data-side": "reference", "data-index": k },
    s("rect", { class: "ground", x: left + k * cell, y: 0, width: cell, height: top, rx: 4, fill: "transparent" }),
    s("text", { x, y, transform: `rotate(-90 ${x} ${y})`, fill: palette.ink }, truncated(label, 16)));
}

function square(plan, i, j, { left, top, cell, palette, highest }) {
  const flow = { i, j, mass: plan.coupling[i][j], cost: plan.cost[i][j] };
  return s("rect", {
    class: "cell", "data-i": i, "data-j": j, x: left + j * cell, y: top + i * cell, width: cell - 1,
    height: cell - 1, fill: costColour(palette, flow.cost, highest),
  }, s("title", {}, caption(plan, flow)));
}

/** The matches of a greedy metric with their cosines. */
function matchMarks(plan, { left, top, cell, palette }) {
  const numbered = cell >= 34;
  return flows(plan).map((match) => {
    const [x, y] = [left + (match.j + 0.5) * cell - 0.5, top + (match.i + 0.5) * cell - 0.5];
    const { "stroke-dasharray": dashed } = lineLook(match);
    return s("g", { class: "disc", "data-i": match.i, "data-j": match.j, "pointer-events": "none" },
      s("circle", {
        cx: x, cy: y, r: 0.42 * cell, fill: palette.circle, stroke: palette.rim, opacity: 0.95,
        "stroke-width": match.precision && match.recall ? 2.2 : 1.1, "stroke-dasharray": dashed && "3 2.5",
      }),
      numbered && s("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: palette.ink },
        short(match.cosine).replace(/^(−?\.\d\d)\d$/, "$1")));
  });
}

function circles(plan, { left, top, cell, palette }) {
  const seen = flows(plan);
  const strongest = seen[0]?.mass ?? 1;
  const numbered = Math.max(plan.candidate_tokens.length, plan.reference_tokens.length) <= NUMBERED;
  return seen.map((flow) => {
    const across = 0.9 * cell * Math.sqrt(flow.mass / strongest);
    const [x, y] = [left + (flow.j + 0.5) * cell - 0.5, top + (flow.i + 0.5) * cell - 0.5];
    return s("g", { class: "disc", "data-i": flow.i, "data-j": flow.j, "pointer-events": "none" },
      s("circle", {
        cx: x, cy: y, r: across / 2, fill: palette.circle, stroke: palette.rim, "stroke-width": 0.6, opacity: 0.92,
      }),
      numbered && across > 26 && s("text", {
        x, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: palette.ink,
      }, short(flow.mass)));
  });
}
