// The matrix of coefficients between metrics and human scores, as a heat map.

import { coefficientColour, inkOn } from "./colours.js";
import { s } from "./elements.js";
import { FAMILY, widestText } from "./text_width.js";
import { chance, coefficient } from "./number_format.js";
import { truncated } from "./plan.js";

const SIZE = 13;

/** The drawing, of the given width, or wider if its names need it. */
export function drawMatrix(matrix, { width, palette }) {
  const names = matrix.names.map((name) => truncated(name, 22));
  const left = widestText(names, SIZE) + 12;
  const cell = Math.min(Math.max((width - left) / names.length, 34), 64);
  const high = Math.min(cell, 44);
  const size = { width: left + cell * names.length, height: left + high * names.length };
  const paint = { fill: palette.ink };
  return s("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": FAMILY, "font-size": SIZE, role: "img",
    "aria-label": `${matrix.coefficient} of ${names.length} scores with one another: ${description(matrix)}`,
  },
    names.map((name, k) => {
      const x = left + (k + 0.5) * cell + 4;
      return [
        s("text", { x: left - 8, y: left + (k + 0.5) * high + 4.5, "text-anchor": "end", ...paint }, name),
        s("text", { x, y: left - 8, transform: `rotate(-90 ${x} ${left - 8})`, ...paint }, name),
      ];
    }),
    matrix.values.map((row, i) => row.map((value, j) =>
      square(matrix, i, j, value, { x: left + j * cell, y: left + i * high, cell, high, palette }))));
}

function square(matrix, i, j, value, { x, y, cell, high, palette }) {
  const fill = value === null ? palette.faint : coefficientColour(palette, value);
  const p = matrix.p[i][j];
  const words = value === null ? "undefined" : coefficient(value);
  const title = `${matrix.names[i]} and ${matrix.names[j]}: ${words}${p === null || i === j ? "" : `, ${chance(p)}`}`;
  return s("g", {},
    s("rect", { x, y, width: cell - 1, height: high - 1, rx: 2, fill },
      s("title", {}, title)),
    value !== null && s("text", {
      x: x + cell / 2, y: y + high / 2 + 4.5, "text-anchor": "middle", fill: inkOn(fill), "pointer-events": "none",
    }, value.toFixed(2).replace(/^(-?)0\./, "$1.").replace("-", "−")));
}

function description(matrix) {
  return matrix.values.flatMap((row, i) => row.slice(0, i).map((value, j) =>
    `${matrix.names[i]} and ${matrix.names[j]} ${value === null ? "undefined" : value.toFixed(2)}`)).join("; ");
}
