// Details of the token under the pointer or in focus; tokens that it is not aligned with fade.

import { h, refill } from "./elements.js";
import { short } from "./number_format.js";
import { directionOf, marginals, tokenLabel } from "./plan.js";

/**
 * Add pointer and keyboard events to the tokens of a drawing; details go into `place`. The
 * highlighted, pinned and focused tokens are kept in `memory`, which survives a redraw.
 */
export function showTokenDetails(drawing, plan, place, memory) {
  const tokens = [...drawing.querySelectorAll(".token")];
  const find = (name) => tokens.find((token) => nameOf(token) === name) ?? null;
  const light = (token) => {
    memory.lit = token && nameOf(token);
    const lit = token && { side: token.dataset.side, index: Number(token.dataset.index) };
    fade(drawing, plan, lit);
    refill(place, lit ? details(plan, lit) : hint());
  };
  const dim = () => light(find(memory.pinned));
  tokens.forEach((token, k) => {
    token.setAttribute("role", "button");
    token.setAttribute("tabindex", k === 0 ? "0" : "-1");
    token.setAttribute("aria-pressed", String(nameOf(token) === memory.pinned));
    token.setAttribute("aria-label", description(plan, token.dataset.side, Number(token.dataset.index)));
    const pin = () => {
      memory.pinned = memory.pinned === nameOf(token) ? null : nameOf(token);
      for (const each of tokens) each.setAttribute("aria-pressed", String(nameOf(each) === memory.pinned));
      light(token);
    };
    token.addEventListener("pointerenter", () => light(token));
    token.addEventListener("pointerleave", dim);
    token.addEventListener("focus", () => {
      memory.focused = nameOf(token);
      light(token);
    });
    token.addEventListener("blur", () => {
      if (token.isConnected) memory.focused = null; // else it was only redrawn
      dim();
    });
    token.addEventListener("click", pin);
    token.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") pin();
      else if (!moveFocus(tokens, token, event.key)) return;
      event.preventDefault();
    });
  });
  drawing.addEventListener("pointerleave", dim);
  if (memory.focused) focusToken(find(memory.focused), tokens);
  light(find(memory.lit));
}

function nameOf(token) {
  return `${token.dataset.side} ${token.dataset.index}`;
}

/** Focus a token, and make it the one that the Tab key reaches. */
function focusToken(token, tokens) {
  for (const each of tokens) each.setAttribute("tabindex", each === (token ?? tokens[0]) ? "0" : "-1");
  token?.focus({ preventScroll: true });
}

/** Up and down move within one text, left and right to the other. */
function moveFocus(tokens, token, key) {
  const here = tokens.filter((each) => each.dataset.side === token.dataset.side);
  const there = tokens.filter((each) => each.dataset.side !== token.dataset.side);
  const at = Number(token.dataset.index);
  const next = {
    ArrowDown: here[at + 1], ArrowUp: here[at - 1], Home: here[0], End: here.at(-1),
    ArrowRight: there[Math.min(at, there.length - 1)], ArrowLeft: there[Math.min(at, there.length - 1)],
  }[key];
  if (!next) return false;
  focusToken(next, tokens);
  return true;
}

function fade(drawing, plan, lit) {
  const belongs = (i, j) => !lit || (lit.side === "candidate" ? i : j) === lit.index;
  for (const part of drawing.querySelectorAll("[data-i]")) {
    part.classList.toggle("faded", !belongs(Number(part.dataset.i), Number(part.dataset.j)));
  }
  const partnered = new Set(lit ? partners(plan, lit).map(({ index }) => index) : []);
  for (const token of drawing.querySelectorAll(".token")) {
    const index = Number(token.dataset.index);
    const same = token.dataset.side === lit?.side;
    const kept = !lit || (same ? index === lit.index : partnered.has(index));
    token.classList.toggle("faded", !kept);
    token.classList.toggle("lit", Boolean(lit) && same && index === lit.index);
  }
}

/** The tokens that a token exchanges mass with, largest mass first. */
function partners(plan, { side, index }) {
  const there = side === "candidate" ? "reference" : "candidate";
  const tokens = plan[`${there}_tokens`];
  if (plan.matches) {
    return plan.matches.filter((match) => match[side] === index)
      .map((match) => ({ index: match[there], token: tokens[match[there]], ...match }))
      .sort((one, other) => other.cosine - one.cosine);
  }
  const all = tokens.map((token, k) => {
    const [i, j] = side === "candidate" ? [index, k] : [k, index];
    return { index: k, token, mass: plan.coupling[i][j], cost: plan.cost[i][j] };
  });
  const strongest = Math.max(...all.map((each) => each.mass));
  return all
    .filter((each) => each.mass > 0 && each.mass >= 1e-3 * strongest)
    .sort((one, other) => other.mass - one.mass);
}

/** The mass of a token, and how much of it moved. */
function massText(plan, side, index) {
  if (plan.matches) {
    const own = side === "candidate" ? "precision" : "recall";
    const nearest = partners(plan, { side, index }).find((match) => match[own]);
    return nearest ? `nearest ${tokenLabel(nearest.token)}, cosine ${short(nearest.cosine)} (${own})` : "without weight";
  }
  const own = (side === "candidate" ? plan.a : plan.b)[index];
  const { sent, received } = marginals(plan);
  const there = (side === "candidate" ? sent : received)[index];
  const parts = [`mass ${short(own)}`, `${side === "candidate" ? "moved" : "received"} ${short(there)}`];
  if (own - there > 5e-4) parts.push(`${side === "candidate" ? "left behind" : "unmet"} ${short(own - there)}`);
  if (there - own > 5e-4) parts.push(`created ${short(there - own)}`);
  return parts.join(", ");
}

function description(plan, side, index) {
  const token = tokenLabel(plan[`${side}_tokens`][index]);
  const met = partners(plan, { side, index })
    .map((each) => `${tokenLabel(each.token)} ${partnerText(plan, each)}`);
  return `${side} token ${token}: ${massText(plan, side, index)}. Partners: ${met.join("; ") || "none"}.`;
}

function details(plan, { side, index }) {
  const token = tokenLabel(plan[`${side}_tokens`][index]);
  const met = partners(plan, { side, index }).slice(0, 6);
  return [
    h("p", {}, h("strong", {}, token), ` · ${massText(plan, side, index)}`),
    h("ul", { class: "partners" }, met.map((each) =>
      h("li", {}, `${side === "candidate" ? "→" : "←"} ${tokenLabel(each.token)} `,
        h("span", { class: "note" }, partnerText(plan, each))))),
  ];
}

function partnerText(plan, each) {
  return plan.matches ? `cosine ${short(each.cosine)}, ${directionOf(each)}`
    : `${short(each.mass)} at cost ${short(each.cost)}`;
}

function hint() {
  return h("p", { class: "note" },
    "Hover over a token, or use the arrow keys, to see what it is matched with.");
}
