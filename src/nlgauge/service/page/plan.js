// The layout of a drawing of a plan: labels, flows, and the positions of bands between tokens.
// figures/alignment_layout.py has the same geometry in Python. It exists here as well because the
// page animates from one plan to the next, which needs the layout of every frame in between.

import { short } from "./number_format.js";

const LONGEST = 24;
const FAINTEST = 1e-4; // of the largest flow; thinner bands are invisible
const MOST = 3000; // flows of a drawing; more would block the page
const FILL = 0.82; // share of the height of a row for the token with the most mass
const SPECIAL = new Set([
  "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]", "<s>", "</s>", "<cls>", "<sep>", "<pad>",
  "<mask>", "<bos>", "<eos>", "<|endoftext|>",
]);
const UNSHOWABLE = /[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** The token with a box for each unprintable character. */
export function tokenLabel(token) {
  const safe = token.replace(UNSHOWABLE, "�");
  return safe.trim() ? safe : "␣";
}

/** The label, shortened to so many characters. */
export function truncated(label, longest = LONGEST) {
  const letters = [...label];
  return letters.length <= longest ? label : `${letters.slice(0, longest - 1).join("")}…`;
}

/** All visible flows, largest first; of a greedy metric its matches, highest cosine first. */
export function flows(plan) {
  if (plan.matches) {
    const all = plan.matches.map(({ candidate: i, reference: j, ...match }) =>
      ({ i, j, mass: plan.coupling[i][j], cost: plan.cost[i][j], ...match }));
    return all.sort((one, other) => other.cosine - one.cosine).slice(0, MOST);
  }
  const floor = FAINTEST * largest(plan.coupling);
  return plan.coupling
    .flatMap((row, i) => row.map((mass, j) => ({ i, j, mass, cost: plan.cost[i][j] })))
    .filter((flow) => flow.mass > 0 && flow.mass >= floor)
    .sort((one, other) => other.mass - one.mass)
    .slice(0, MOST);
}

/** The upper end of the colour scale, which starts at 0: the highest cost. */
export function highestCost(plan) {
  return largest(plan.cost) || 1;
}

function largest(matrix) {
  return Math.max(...matrix.map((row) => Math.max(...row)));
}

/** The positions of all tokens and bands, 0 at the top and 1 at the bottom. */
export function planLayout(plan) {
  const { received, sent } = plan.matches ? { received: plan.b, sent: plan.a } : marginals(plan);
  const rows = plan.candidate_tokens.length;
  const columns = plan.reference_tokens.length;
  const tallest = Math.max(
    rows * Math.max(...plan.a, ...sent), columns * Math.max(...plan.b, ...received));
  const unit = tallest > 0 ? FILL / tallest : 0;
  const candidate = column(plan.candidate_tokens, plan.a, sent, unit);
  const reference = column(plan.reference_tokens, plan.b, received, unit);
  return { candidate, reference, bands: bands(flows(plan), candidate, reference, unit) };
}

const sums = new WeakMap();

/** How much mass every token sends or receives. */
export function marginals(plan) {
  if (!sums.has(plan)) {
    const sent = plan.coupling.map((row) => row.reduce((total, mass) => total + mass, 0));
    const received = plan.reference_tokens.map((_, j) =>
      plan.coupling.reduce((total, row) => total + row[j], 0));
    sums.set(plan, { sent, received });
  }
  return sums.get(plan);
}

/** Mass moved, left behind, unmet and created, as shares of 1. */
export function massTotals(plan) {
  const { sent, received } = marginals(plan);
  const sum = (own, there, part) => own.reduce((total, mass, k) => total + part(mass, there[k]), 0);
  const short_of = (own, there) => Math.max(own - there, 0);
  const beyond = (own, there) => Math.max(there - own, 0);
  return {
    moved: sent.reduce((total, mass) => total + mass, 0),
    left: sum(plan.a, sent, short_of),
    doubled: sum(plan.a, sent, beyond),
    unmet: sum(plan.b, received, short_of),
    created: sum(plan.b, received, beyond),
  };
}

/** The interpolation of two plans over the same tokens; null if their tokens differ. */
export function between(from, to, share) {
  if (from.matches || to.matches) return null;
  const same = (one, other) => one.length === other.length && one.every((x, k) => x === other[k]);
  if (!same(from.candidate_tokens, to.candidate_tokens)) return null;
  if (!same(from.reference_tokens, to.reference_tokens)) return null;
  const mix = (one, other) => one.map((x, k) => x + (other[k] - x) * share);
  const mixed = (name) => from[name].map((row, i) => mix(row, to[name][i]));
  return { ...to, coupling: mixed("coupling"), cost: mixed("cost"), a: mix(from.a, to.a), b: mix(from.b, to.b) };
}

/** The description of a flow. */
export function caption(plan, flow) {
  const [from, to] = [plan.candidate_tokens[flow.i], plan.reference_tokens[flow.j]].map(tokenLabel);
  if (plan.matches) {
    const gives = flow.cosine === undefined ? "not matched" : directionOf(flow);
    return `${from} – ${to}: cosine ${short(1 - flow.cost)}, ${gives}`;
  }
  return `${from} → ${to}: ${short(flow.mass)} of ${short(plan.a[flow.i])}, cost ${short(flow.cost)}`;
}

/** What a match of a greedy metric counts for. */
export function directionOf(match) {
  if (match.precision && match.recall) return "precision and recall";
  return match.precision ? "precision" : "recall";
}

function column(tokens, own, there, unit) {
  return tokens.map((token, k) => ({
    label: tokenLabel(token),
    special: SPECIAL.has(token),
    mass: own[k],
    sent: there[k],
    centre: (k + 0.5) / tokens.length,
    own: own[k] * unit,
    moved: there[k] * unit,
  }));
}

/** Bands stacked at both ends in the order of their partners, so that few of them cross. */
function bands(seen, candidate, reference, unit) {
  const left = stacked(seen, candidate, unit, "i", "j");
  const right = stacked(seen, reference, unit, "j", "i");
  return seen.map((flow) => ({ ...flow, left: left.get(flow), right: right.get(flow) })).reverse();
}

function stacked(seen, nodes, unit, here, there) {
  const ends = new Map();
  const next = nodes.map((node) => node.centre - node.moved / 2);
  for (const flow of [...seen].sort((one, other) => one[there] - other[there])) {
    const at = next[flow[here]];
    next[flow[here]] = at + flow.mass * unit;
    ends.set(flow, [at, at + flow.mass * unit]);
  }
  return ends;
}
