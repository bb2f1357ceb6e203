// The bands between two columns of tokens: as wide as the mass moved, coloured by its cost.

import { costColour } from "./colours.js";
import { s } from "./elements.js";
import { FAMILY, widest } from "./lettering.js";
import { caption, clipped, dearest, stage } from "./plan.js";

const BAR = 9;
const TOP = 30;
const SIZE = 14;

/** The drawing, as wide as it is told, or wider where the labels need it. */
export function drawFlow(plan, { width, palette }) {
  const scene = stage(plan);
  const left = room(scene.candidate, "candidate");
  const right = room(scene.reference, "reference");
  const reach = Math.min(Math.max(width - left - right, 90), 520);
  const tokens = Math.max(scene.candidate.length, scene.reference.length);
  const height = tokens * (tokens > 30 ? 22 : 32);
  const frame = { start: left, end: left + reach, height, palette };
  const size = { width: left + reach + right, height: TOP + height + 4 };
  return s("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": FAMILY, "font-size": SIZE,
    role: "group", "aria-label": "Bands between the tokens of the candidate and of the reference",
  },
    heading("candidate", left, "end", palette),
    heading("reference", left + reach, "start", palette),
    s("g", { transform: `translate(0 ${TOP})` },
      s("g", { class: "bands" }, bands(plan, scene, frame)),
      scene.candidate.map((node, k) => token(node, k, "candidate", left - BAR, frame)),
      scene.reference.map((node, k) => token(node, k, "reference", left + reach, frame))));
}

function room(nodes, title) {
  return widest([title, ...nodes.map((node) => clipped(node.label))], SIZE) + BAR + 14;
}

function heading(text, x, anchor, palette) {
  const looks = { fill: palette.muted, "font-style": "italic", "font-size": 13 };
  return s("text", { x, y: 16, "text-anchor": anchor, ...looks }, text);
}

function bands(plan, scene, { start, end, height, palette }) {
  const top = dearest(plan);
  const strongest = Math.max(...scene.bands.map((band) => band.mass));
  return scene.bands.map((band) => s("path", {
    class: "band", "data-i": band.i, "data-j": band.j, d: outline(band, start, end, height),
    fill: costColour(palette, band.cost, top),
    opacity: (0.6 + (0.3 * band.mass) / strongest).toFixed(2),
  }, s("title", {}, caption(plan, band))));
}

/** The path of a band, never thinner than a hair. */
function outline(band, start, end, height) {
  const middle = (start + end) / 2;
  let [a, b, c, d] = [...band.left, ...band.right].map((place) => place * height);
  [b, d] = [Math.max(b, a + 0.4), Math.max(d, c + 0.4)];
  const at = (value) => value.toFixed(2);
  return `M${start} ${at(a)}C${middle} ${at(a)} ${middle} ${at(c)} ${end} ${at(c)}` +
    `V${at(d)}C${middle} ${at(d)} ${middle} ${at(b)} ${start} ${at(b)}Z`;
}

/** A token: its outline is its own mass, the filling what moved, colour what was created. */
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
    }, clipped(node.label)));
}
