// Downloads: drawings as SVG, tables as CSV, other texts.

import { LIGHT } from "./colours.js";
import { s } from "./elements.js";

/** Save a drawing in light colours, on a white background. */
export function saveSvg(drawing, name) {
  drawing.setAttribute("role", "img");
  drawing.prepend(s("rect", { width: "100%", height: "100%", fill: LIGHT.paper }));
  const text = new XMLSerializer().serializeToString(drawing);
  saveText(`<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`, name, "image/svg+xml");
}

/** Save rows of cells; the first row holds the column names. */
export function saveCsv(rows, name) {
  saveText(rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n", name, "text/csv");
}

function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Save a text of this media type. */
export function saveText(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
