// The format of numbers on the page.

const COUNT = new Intl.NumberFormat("en");

/** Three decimals without the leading zero. */
export function short(value) {
  const text = value.toFixed(3);
  if (Number(text) === 0 && value > 0) return "<.001";
  return minus(text.replace(/^(-?)0\./, "$1."));
}

/** A score, with decimals by its range; a missing one is a dash. */
export function score(value, range = [0, 1]) {
  if (value === null || value === undefined) return "–";
  const wide = range[1] === null || Math.abs(range[1] - (range[0] ?? 0)) > 10;
  return minus(value.toFixed(wide ? 2 : 4));
}

/** The same with its sign. */
export function difference(value, range) {
  return value > 0 ? `+${score(value, range)}` : score(value, range);
}

/** An end of a range. */
export function end(value) {
  return value === null ? "∞" : minus(String(Number(value.toPrecision(3))));
}

/** A round number on an axis, with all its digits: its neighbours may differ in the last one. */
export function tick(value) {
  return minus(String(value));
}

/** A p-value. */
export function chance(p) {
  return p < 0.001 ? "p < .001" : `p = ${p.toFixed(3).replace(/^0/, "")}`;
}

/** A whole number with commas. */
export function count(value) {
  return COUNT.format(value);
}

/** So many things, in the singular if it is one. */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Seconds as a person would say them. */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return counted(Math.round(seconds), "second");
  return `${count(Math.round(seconds / 60))} minutes`;
}

/** A share of one in percent. */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function minus(text) {
  return text.replace(/^-/, "−");
}

/** A coefficient. */
export function coefficient(value) {
  return minus(value.toFixed(3));
}
