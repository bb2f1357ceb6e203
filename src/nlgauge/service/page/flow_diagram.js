// A flow diagram of a plan: band width is the mass moved, colour its cost.

import { costColour } from "./colours.js";
import { s } from "./elements.js";
import { FAMILY, widestText } from "./text_width.js";
import { caption, truncated, highestCost, planLayout } from "./plan.js";

const BAR = 9;
const TOP = 30;
const SIZE = 14;

/** The drawing, of the given width, or wider if the labels need it. */
export function drawFlow(plan, { width, palette }) {
  const layout = planLayout(plan);
  const left = labelWidth(layout.candidate, "candidate");
  const right = labelWidth(layout.reference, "reference");
  const reach = Math.min(Math.max(width - left - right, 90), 520);
  const tokens = Math.max(layout.candidate.length, layout.reference.length);
  const height = tokens * (tokens > 30 ? 22 : 32);
  const frame = { start: left, end: left + reach, height, palette };
  const size = { width: left + reach + right, height: TOP + height + 4 };
  return s("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": FAMILY, "font-size": SIZE,
    role: "group", "aria-label": plan.matches
      ? "Matches between the tokens of the candidate and of the reference"
      : "Flow of mass between the tokens of the candidate and of the reference",
  },
    heading("candidate", left, "end", palette),
    heading("reference", left + reach, "start", palette),
    s("g", { transform: `translate(0 ${TOP})` },
      s("g", { class: "bands" }, (plan.matches ? lines : bands)(plan, layout, frame)),
      layout.candidate.map((node, k) => token(node, k, "candidate", left - BAR, frame)),
      layout.reference.map((node, k) => token(node, k, "reference", left + reach, frame))));
}

function labelWidth(nodes, title) {
  return widestText([title, ...nodes.map((node) => truncated(node.label))], SIZE) + BAR + 14;
}

function heading(text, x, anchor, palette) {
  const looks = { fill: palette.muted, "font-style": "italic", "font-size": 13 };
  return s("text", { x, y: 16, "text-anchor": anchor, ...looks }, text);
}

function bands(plan, layout, { start, end, height, palette }) {
  const top = highestCost(plan);
  const strongest = Math.max(...layout.bands.map((band) => band.mass));
  return layout.bands.map((band) => s("path", {
    class: "band", "data-i": band.i, "data-j": band.j, d: bandOutline(band, start, end, height),
    fill: costColour(palette, band.cost, top),
    opacity: (0.6 + (0.3 * band.mass) / strongest).toFixed(2),
  }, s("title", {}, caption(plan, band))));
}

/** A line for every match of a greedy metric, dashed where it gives recall only. */
function lines(plan, layout, { start, end, height, palette }) {
  const top = highestCost(plan);
  const middle = (start + end) / 2;
  return layout.bands.map((match) => {
    const [from, to] = [layout.candidate[match.i], layout.reference[match.j]].map((node) => node.centre * height);
    return s("path", {
      class: "band line", "data-i": match.i, "data-j": match.j, fill: "none",
      d: `M${start} ${from.toFixed(1)}C${middle} ${from.toFixed(1)} ${middle} ${to.toFixed(1)} ${end} ${to.toFixed(1)}`,
      stroke: costColour(palette, match.cost, top), ...lineLook(match),
    }, s("title", {}, caption(plan, match)));
  });
}

/** The look of a line: thick for both directions, dashed for recall only. */
export function lineLook({ precision, recall }) {
  return { "stroke-width": precision && recall ? 4.5 : 2.2, "stroke-dasharray": precision ? null : "6 4" };
}

/** The path of a band, at least 0.4 pixels thick. */
export function bandOutline(band, start, end, height) {
  const middle = (start + end) / 2;
  let [a, b, c, d] = [...band.left, ...band.right].map((place) => place * height);
  [b, d] = [Math.max(b, a + 0.4), Math.max(d, c + 0.4)];
  const at = (value) => value.toFixed(2);
  return `M${start} ${at(a)}C${middle} ${at(a)} ${middle} ${at(c)} ${end} ${at(c)}` +
    `V${at(d)}C${middle} ${at(d)} ${middle} ${at(b)} ${start} ${at(b)}Z`;
}

/** A token: the outline is its mass, the filling the mass moved, the colour mass created. */
function token(node, index, side, x, { start, height, palette }) {
  const middle = node.centre * height;
  const box = (tall, looks) => s("rect", {
    x, y: (middle - (tall * height) / 2).toFixed(2), width: BAR, height: (tall * height).toFixed(2), ...looks,
  });
  const outwards = side === "candidate" ? -1 : 1;
  const at = outwards < 0 ? x - 7 : x + BAR + 7;
  return s("g", { class: "token", "data-side": side, "data-index": index },
    s("rect", {
      class: "ground", x: outwards < 0 ? 0 : x, y: middle - 13, rx: 4, fill: "transparent",
      width: outwards < 0 ? start : "100%", height: 26,
    }),
    box(node.own, { fill: palette.faint, stroke: "none" }),
    node.moved > node.own * 1.001 && box(node.moved, { class: "created", fill: palette.created }),
    box(Math.min(node.own, node.moved), { fill: palette.bar }),
    box(node.own, { fill: "none", stroke: palette.bar, "stroke-width": 0.8 }),
    s("text", {
      x: at, y: middle + 5, "text-anchor": outwards < 0 ? "end" : "start",
      fill: node.special ? palette.muted : palette.ink,
    }, truncated(node.label)));
}
