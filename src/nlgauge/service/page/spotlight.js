// A token under the pointer or in focus: it and its partners stay, everything else fades.

import { h, refill } from "./elements.js";
import { short } from "./numbers.js";
import { moved, shown } from "./plan.js";

/**
 * Make the tokens of a drawing answer to pointer and keyboard; facts go into `place`. What is lit,
 * pinned and in focus is kept in `memory`, so that it outlives a drawing that is made anew.
 */
export function spotlight(drawing, plan, place, memory) {
  const tokens = [...drawing.querySelectorAll(".token")];
  const find = (name) => tokens.find((token) => nameOf(token) === name) ?? null;
  const light = (token) => {
    memory.lit = token && nameOf(token);
    const lit = token && { side: token.dataset.side, index: Number(token.dataset.index) };
    fade(drawing, plan, lit);
    refill(place, lit ? facts(plan, lit) : hint());
  };
  const dim = () => light(find(memory.pinned));
  tokens.forEach((token, k) => {
    token.setAttribute("role", "button");
    token.setAttribute("tabindex", k === 0 ? "0" : "-1");
    token.setAttribute("aria-pressed", String(nameOf(token) === memory.pinned));
    token.setAttribute("aria-label", inWords(plan, token.dataset.side, Number(token.dataset.index)));
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
      if (token.isConnected) memory.focused = null; // else it was only drawn anew
      dim();
    });
    token.addEventListener("click", pin);
    token.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") pin();
      else if (!walk(tokens, token, event.key)) return;
      event.preventDefault();
    });
  });
  drawing.addEventListener("pointerleave", dim);
  if (memory.focused) enter(find(memory.focused), tokens);
  light(find(memory.lit));
}

function nameOf(token) {
  return `${token.dataset.side} ${token.dataset.index}`;
}

/** Make a token the one that the tabulator reaches, and go there. */
function enter(token, tokens) {
  for (const each of tokens) each.setAttribute("tabindex", each === (token ?? tokens[0]) ? "0" : "-1");
  token?.focus({ preventScroll: true });
}

/** Up and down go through one text, left and right to the other. */
function walk(tokens, token, key) {
  const here = tokens.filter((each) => each.dataset.side === token.dataset.side);
  const there = tokens.filter((each) => each.dataset.side !== token.dataset.side);
  const at = Number(token.dataset.index);
  const next = {
    ArrowDown: here[at + 1], ArrowUp: here[at - 1], Home: here[0], End: here.at(-1),
    ArrowRight: there[Math.min(at, there.length - 1)], ArrowLeft: there[Math.min(at, there.length - 1)],
  }[key];
  if (!next) return false;
  enter(next, tokens);
  return true;
}

function fade(drawing, plan, lit) {
  const belongs = (i, j) => !lit || (lit.side === "candidate" ? i : j) === lit.index;
  for (const part of drawing.querySelectorAll("[data-i]")) {
    part.classList.toggle("faded", !belongs(Number(part.dataset.i), Number(part.dataset.j)));
  }
  for (const token of drawing.querySelectorAll(".token")) {
    const index = Number(token.dataset.index);
    const same = token.dataset.side === lit?.side;
    const kept = !lit || (same ? index === lit.index : partners(plan, lit).some((p) => p.index === index));
    token.classList.toggle("faded", !kept);
    token.classList.toggle("lit", Boolean(lit) && same && index === lit.index);
  }
}

/** Those a token exchanges mass with, the strongest first. */
function partners(plan, { side, index }) {
  const others = side === "candidate" ? plan.reference_tokens : plan.candidate_tokens;
  const all = others.map((token, k) => {
    const [i, j] = side === "candidate" ? [index, k] : [k, index];
    return { index: k, token, mass: plan.coupling[i][j], cost: plan.cost[i][j] };
  });
  const strongest = Math.max(...all.map((each) => each.mass));
  return all
    .filter((each) => each.mass > 0 && each.mass >= 1e-3 * strongest)
    .sort((one, other) => other.mass - one.mass);
}

/** What a token has, and what became of it. */
function account(plan, side, index) {
  const own = (side === "candidate" ? plan.a : plan.b)[index];
  const { sent, received } = moved(plan);
  const there = (side === "candidate" ? sent : received)[index];
  const parts = [`mass ${short(own)}`, `${side === "candidate" ? "moved" : "received"} ${short(there)}`];
  if (own - there > 5e-4) parts.push(`${side === "candidate" ? "left behind" : "unmet"} ${short(own - there)}`);
  if (there - own > 5e-4) parts.push(`created ${short(there - own)}`);
  return parts.join(", ");
}

function inWords(plan, side, index) {
  const token = shown((side === "candidate" ? plan.candidate_tokens : plan.reference_tokens)[index]);
  const met = partners(plan, { side, index })
    .map((each) => `${shown(each.token)} ${short(each.mass)} at cost ${short(each.cost)}`);
  return `${side} token ${token}: ${account(plan, side, index)}. Partners: ${met.join("; ") || "none"}.`;
}

function facts(plan, { side, index }) {
  const token = shown((side === "candidate" ? plan.candidate_tokens : plan.reference_tokens)[index]);
  const met = partners(plan, { side, index }).slice(0, 6);
  return [
    h("p", {}, h("strong", {}, token), ` · ${account(plan, side, index)}`),
    h("ul", { class: "partners" }, met.map((each) =>
      h("li", {}, `${side === "candidate" ? "→" : "←"} ${shown(each.token)} `,
        h("span", { class: "note" }, `${short(each.mass)} at cost ${short(each.cost)}`)))),
  ];
}

function hint() {
  return h("p", { class: "note" },
    "Point at a token, or go through them with the arrow keys, to see its mass, its cost and its partners.");
}
