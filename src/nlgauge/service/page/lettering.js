// The lettering of drawings, and how wide a text gets in it.

export const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

const ruler = document.createElement("canvas").getContext("2d");

/** The width of the widest of these texts. */
export function widest(texts, size) {
  ruler.font = `${size}px ${FAMILY}`;
  return Math.ceil(Math.max(...texts.map((text) => ruler.measureText(text).width)));
}
