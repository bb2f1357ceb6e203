// The font of drawings, and the width of texts in it.

export const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

const canvas = document.createElement("canvas").getContext("2d");

/** The width of the widest of these texts. */
export function widestText(texts, size) {
  canvas.font = `${size}px ${FAMILY}`;
  return Math.ceil(Math.max(...texts.map((text) => canvas.measureText(text).width)));
}
