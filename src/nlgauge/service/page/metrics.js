// The metrics of the service, and the text form of a metric with options.

import { get } from "./api.js";

let request = null;

/** The catalogue of the service, requested once. */
export function catalogue() {
  request ??= get("/v1/metrics").catch((error) => {
    request = null; // so that it can be requested again
    throw error;
  });
  return request;
}

/** `name:option=value,…` as `{name, options}`, the values still texts. */
export function readSpec(text) {
  const [name, rest = ""] = text.split(/:(.*)/s);
  const pieces = rest.split(",").filter(Boolean).map((piece) => piece.split(/=(.*)/s).slice(0, 2));
  return { name, options: Object.fromEntries(pieces) };
}

/** The text of a metric and its options; options at their defaults are left out. */
export function writeSpec(name, options) {
  const pieces = Object.entries(options).map(([key, value]) => `${key}=${value}`);
  return pieces.length ? `${name}:${pieces.join(",")}` : name;
}

/** Which way is better, as a sign and in words. */
export function directionOf(direction) {
  return direction === "higher"
    ? { sign: "↑", words: "higher is better" }
    : { sign: "↓", words: "lower is better" };
}
