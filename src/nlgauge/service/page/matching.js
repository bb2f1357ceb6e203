// Who was matched with whom: one pair under several kinds of matching, drawn and redrawn.

import { post } from "./api.js";
import { choice, h, refill, segments } from "./elements.js";
import { readSpec, writeSpec } from "./metrics.js";
import { showError } from "./notices.js";
import { score } from "./numbers.js";
import { pairLayers } from "./layers.js";
import { penalties } from "./penalties.js";
import { picture } from "./picture.js";
import { between, ledger } from "./plan.js";
import { balance } from "./balance.js";

const KINDS = [
  ["greedy", "Greedy", "BERTScore: every token takes its nearest neighbour"],
  ["exact", "Exact", "All mass moves, at the least cost"],
  ["unbalanced", "Unbalanced", "Lazy-EMD: mass may stay behind at a price"],
  ["layers", "Layers", "BaryScore: the barycenter of the layers, and each of them"],
];
const EXACT = [
  ["wmd:special=drop", "Word Mover’s Distance"],
  ["mover", "MoverScore"],
  ["lazy_emd:penalty_candidate=inf,penalty_reference=inf", "1 − cosine, as in the others"],
];
const SAYS = {
  greedy: "Every token goes to its nearest neighbour, whoever else goes there: " +
    "tokens may be used many times, or never.",
  exact: "All mass of the candidate must arrive, and every reference token gets its share, " +
    "however far it has to come.",
  unbalanced: "Mass moves only where that is cheaper than the two prices. " +
    "Move the sliders and watch what is left behind.",
  layers: "BaryScore moves the barycenter of several layers of the model. " +
    "Each layer alone would have matched like this.",
};
const PAUSE = 120; // milliseconds that a slider rests before it is acted upon
const MORPH = 260;
const PRICES = { en: ["0.23", "0.31"], zh: ["0.018", "0.97"], other: ["0.009", "0.95"] }; // the paper's

/**
 * The panel; `align(pair, options)` draws a pair, with the options of the chosen metrics by name,
 * so that a metric is drawn as it was scored. `settings()` are what a link must hold.
 */
export function matching(onChange) {
  const state = {
    kind: "greedy", exact: EXACT[0][0], pair: null, options: {}, answer: null,
    followed: String(PRICES.en), // the chosen Lazy-EMD's prices that the sliders took up
  };
  const answers = new Map();
  let waiting = null;
  let stop = new AbortController();

  const prices = penalties(...PRICES.en, () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, PAUSE);
    onChange();
  });
  const presets = h("div", { class: "presets" }, h("span", { class: "note" }, "Try"),
    preset("as in the paper", ...PRICES.en), preset("cheap", "0.05", "0.05"), preset("precision", "inf", "0"),
    preset("recall", "0", "inf"), preset("all must move", "inf", "inf"));
  const exact = choice("Metric", EXACT, state.exact, (value) => {
    state.exact = value;
    refresh();
    onChange();
  });
  const switcher = segments("Kind of matching", KINDS, state.kind, (kind) => show(kind));
  const says = h("p", { class: "note says" });
  const facts = h("div", { class: "facts" });
  const fault = h("div");
  const layers = pairLayers((plan) => drawing.draw(plan));
  const drawing = picture(onChange);
  const whole = h("section", { class: "card matching", "aria-labelledby": "matching-title", hidden: true },
    h("div", { class: "headline" }, h("h2", { id: "matching-title" }, "Who was matched with whom"), switcher),
    says, exact, h("div", { class: "prices" }, prices.element, presets), fault, facts,
    layers.element, drawing.element);

  function preset(name, ...values) {
    const press = () => {
      prices.set(...values);
      refresh();
      onChange();
    };
    return h("button", { type: "button", class: "quiet small", onclick: press }, name);
  }

  function show(kind) {
    state.kind = kind;
    arrange();
    refresh();
    onChange();
  }

  function arrange() {
    switcher.press(state.kind);
    says.textContent = SAYS[state.kind];
    exact.hidden = state.kind !== "exact";
    prices.element.parentElement.hidden = state.kind !== "unbalanced";
    layers.element.hidden = state.kind !== "layers";
  }

  /** The metric of this kind of matching, with the options it was chosen with, but our own prices. */
  function metric() {
    const [candidate, reference] = prices.values();
    const plain = {
      greedy: "bertscore",
      exact: state.exact,
      unbalanced: `lazy_emd:penalty_candidate=${candidate},penalty_reference=${reference}`,
      layers: "bary",
    }[state.kind];
    const { name, options } = readSpec(plain);
    if (!(name in state.options)) return plain;
    const ours = Object.entries(options).filter(([key]) => key.startsWith("penalty_"));
    return writeSpec(name, { ...state.options[name], ...Object.fromEntries(ours) });
  }

  /** Set the sliders to the prices of the chosen Lazy-EMD, if those are others than before. */
  function follow() {
    const chosen = state.options.lazy_emd ?? {};
    const [candidate, reference] = PRICES[chosen.lang] ?? PRICES.en;
    const wanted = [chosen.penalty_candidate ?? candidate, chosen.penalty_reference ?? reference];
    if (state.followed !== null && String(wanted) !== state.followed) prices.set(...wanted);
    state.followed = String(wanted);
  }

  async function refresh() {
    if (!state.pair) return;
    stop.abort();
    stop = new AbortController();
    const body = { ...state.pair, metric: metric(), layers: state.kind === "layers" };
    const key = JSON.stringify(body);
    whole.setAttribute("aria-busy", "true");
    try {
      if (!answers.has(key)) answers.set(key, await post("/v1/align", body, { signal: stop.signal }));
      whole.hidden = false;
      refill(fault);
      present(answers.get(key));
    } catch (error) {
      if (error.name === "AbortError") return;
      whole.hidden = false;
      drawing.element.hidden = facts.hidden = state.answer === null;
      showError(fault, error);
    }
    whole.removeAttribute("aria-busy");
  }

  function present(answer) {
    const before = state.answer?.plan;
    state.answer = answer;
    drawing.element.hidden = facts.hidden = false;
    const several = [state.pair.references].flat().length > 1;
    refill(facts,
      h("p", { class: "result" },
        h("strong", {}, answer.metric), " ", h("span", { class: "value" }, score(answer.value, answer.range)),
        several && h("span", { class: "note" }, ` · against reference ${answer.reference + 1}`)),
      balance(ledger(answer.plan)));
    layers.show(answer);
    morph(before, answer.plan);
  }

  let frame = null;
  function morph(from, to) {
    cancelAnimationFrame(frame);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const large = to.coupling.length * to.coupling[0].length > 900;
    if (!from || still || large || !between(from, to, 0)) return drawing.draw(to);
    const began = performance.now();
    const step = (now) => {
      const share = Math.min((now - began) / MORPH, 1);
      drawing.draw(share < 1 ? between(from, to, Math.max(share, 0)) : to, { moving: share < 1 });
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return undefined;
  }

  arrange();
  return {
    element: whole,
    align(pair, options) {
      Object.assign(state, { pair, options, answer: null });
      follow();
      answers.clear();
      return refresh();
    },
    hide: () => {
      stop.abort();
      state.pair = null;
      whole.hidden = true;
    },
    settings() {
      const [candidate, reference] = prices.values();
      const kind = { match: state.kind, picture: drawing.kind() };
      if (state.kind === "unbalanced") return { ...kind, from: candidate, to: reference };
      return state.kind === "exact" ? { ...kind, exact: state.exact } : kind;
    },
    restore(settings) {
      const kind = settings.get("match");
      if (KINDS.some(([name]) => name === kind)) state.kind = kind;
      const named = settings.get("exact");
      if (EXACT.some(([name]) => name === named)) {
        state.exact = named;
        exact.querySelector("select").value = named;
      }
      if (settings.has("from") && settings.has("to")) {
        prices.set(settings.get("from"), settings.get("to"));
        state.followed = null; // a link's own prices stay until others are chosen
      }
      drawing.choose(settings.get("picture"));
      arrange();
    },
  };
}
