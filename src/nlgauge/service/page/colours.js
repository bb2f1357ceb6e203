// The colours of costs and of coefficients: safe for colour blindness, the same as in figures.

// ColorBrewer's YlGnBu, reversed, without its lightest fifth.
const STOPS = [
  "#081d58", "#1f2f87", "#234da0", "#2072b1", "#2498c1", "#42b6c4", "#73c8bd", "#abdeb7", "#d6efb3",
];
// ColorBrewer's PuOr: orange is negative, purple positive.
const DIVERGING = ["#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d8daeb", "#998ec3", "#542788"];

const STEPS = 16;

/** Cost colours, lowest cost first, and the other colours of drawings in the light theme. */
export const LIGHT = {
  paper: "#ffffff", ink: "#1b1b1f", muted: "#6b6b76", bar: "#444444", faint: "#e2e2e6",
  created: "#d9730d", accent: "#1d68a2", focus: "#1b1b1f", circle: "#ffffff", rim: "#222222", steps: ramp(STEPS),
  diverging: DIVERGING,
};

/** In the dark theme costs are reversed, so that low costs stay prominent. */
export const DARK = {
  paper: "#17181c", ink: "#ececf0", muted: "#9a9aa6", bar: "#c8c8cf", faint: "#3a3b42",
  created: "#f1a340", accent: "#6db9e4", focus: "#ffffff", circle: "#17181c", rim: "#ececf0",
  // High costs fade into the background, as they do on white.
  steps: ramp(STEPS, 0.2).reverse().map((colour, k) => between([colour, "#17181c"], 0.72 * (k / (STEPS - 1)) ** 1.6)),
  diverging: ["#f1a340", "#b8701c", "#5a3d1c", "#26272e", "#3d3668", "#6d5fb3", "#b9aeea"],
};

/** That many colours, evenly spaced up to the highest cost; `start` leaves out the darkest. */
export function ramp(steps, start = 0) {
  return Array.from({ length: steps }, (_, k) =>
    between(STOPS, start + ((1 - start) * k) / Math.max(steps - 1, 1)));
}

/** The colour of a cost, given the highest cost. */
export function costColour(palette, cost, highestCost) {
  const step = Math.floor((cost / highestCost) * palette.steps.length);
  return palette.steps[Math.min(Math.max(step, 0), palette.steps.length - 1)];
}

/** The colour of a coefficient from -1 to 1. */
export function coefficientColour(palette, value) {
  return between(palette.diverging, (value + 1) / 2);
}

/** White or black, whichever has the higher contrast (WCAG) with this colour; it is above 4.5. */
export function inkOn(colour) {
  const linear = (channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = channels(colour).map((channel) => linear(channel / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 ? "#ffffff" : "#000000";
}

function between(stops, fraction) {
  const at = Math.min(Math.max(fraction, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const first = channels(stops[low]);
  const second = channels(stops[low + 1]);
  return "#" + first
    .map((a, k) => Math.round(a + (second[k] - a) * (at - low)).toString(16).padStart(2, "0"))
    .join("");
}

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}
