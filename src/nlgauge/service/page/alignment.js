// The alignment of a pair by several kinds of matching.

import { post } from "./api.js";
import { choice, h, refill, segments } from "./elements.js";
import { readSpec, writeSpec } from "./metrics.js";
import { showError } from "./notices.js";
import { score } from "./number_format.js";
import { layerPlans } from "./layer_plans.js";
import { isPenalty, penalties } from "./penalties.js";
import { planView } from "./plan_view.js";
import { between, massTotals } from "./plan.js";
import { massBalance } from "./mass_balance.js";
import { predictedErrors } from "./error_spans.js";

const KINDS = [
  ["greedy", "Greedy", "BERTScore: every token is matched with its nearest neighbour"],
  ["exact", "Exact", "All mass is moved at the minimum cost"],
  ["unbalanced", "Unbalanced", "Lazy-EMD: mass may remain unmatched at a penalty"],
  ["layers", "Layers", "BaryScore: the barycenter of the layers, and each layer"],
];
const EXACT = [
  ["wmd:special=drop", "Word Mover’s Distance"],
  ["mover", "MoverScore"],
  ["gauge", "Gauge, n-grams"],
  ["lazy_emd:penalty_candidate=inf,penalty_reference=inf", "1 − cosine"],
];
const EXPLANATIONS = {
  greedy: "Every token is matched with its nearest neighbour: " +
    "lines from candidate tokens give precision, lines from reference tokens recall.",
  exact: "All mass of the candidate moves, and every reference token receives its share, " +
    "at the least total cost.",
  unbalanced: "Mass only moves where this costs less than the two penalties. " +
    "Move the sliders to change the penalties.",
  layers: "BaryScore compares the barycenters of several layers of the model. " +
    "The plans of single layers are shown for comparison.",
};
const PAUSE = 120; // milliseconds without change before a slider takes effect
const ANIMATION = 260;
const PRICES = new Map([["en", ["0.23", "0.31"]], ["zh", ["0.018", "0.97"]], ["other", ["0.009", "0.95"]]]); // of the paper
const ENGLISH = PRICES.get("en");

/**
 * The panel; `align(pair, options)` draws a pair with the options of the chosen metrics, so that
 * the alignment matches the score. `settings()` are the settings for a link.
 */
export function alignmentPanel(onChange) {
  const state = {
    kind: "greedy", pair: null, options: {}, answer: null,
    shownPenalties: String(ENGLISH), // penalties of the chosen Lazy-EMD that the sliders show
  };
  const answers = new Map();
  let waiting = null;
  let stop = new AbortController();

  const prices = penalties(...ENGLISH, () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, PAUSE);
    onChange();
  });
  const presets = h("div", { class: "presets" }, h("span", { class: "note" }, "Try"),
    preset("paper", ...ENGLISH), preset("cheap", "0.05", "0.05"), preset("precision", "inf", "0"),
    preset("recall", "0", "inf"), preset("balanced", "inf", "inf"));
  const exact = choice("Metric", EXACT, EXACT[0][0], changed);
  const switcher = segments("Kind of matching", KINDS, state.kind, show);
  const explanation = h("p", { class: "note says" });
  const facts = h("div", { class: "facts" });
  const errors = h("div", { class: "errors" });
  const errorPlace = h("div");
  const layers = layerPlans((plan) => animate(null, plan));
  const words = h("input", { type: "checkbox", checked: true, onchange: changed });
  const drawing = planView(onChange, h("label", { class: "switch" }, words, " Whole words"));
  const whole = h("section", { class: "card matching", "aria-labelledby": "matching-title", hidden: true },
    h("div", { class: "headline" }, h("h2", { id: "matching-title" }, "Alignment"), switcher),
    explanation, exact, h("div", { class: "prices" }, prices.element, presets), errorPlace, facts, errors,
    layers.element, drawing.element);

  function preset(name, ...values) {
    const press = () => {
      prices.set(...values);
      changed();
    };
    return h("button", { type: "button", class: "quiet small", onclick: press }, name);
  }

  function show(kind) {
    state.kind = kind;
    arrange();
    changed();
  }

  function changed() {
    refresh();
    onChange();
  }

  function arrange() {
    switcher.press(state.kind);
    explanation.textContent = EXPLANATIONS[state.kind];
    exact.hidden = state.kind !== "exact";
    prices.element.parentElement.hidden = state.kind !== "unbalanced";
  }

  /** The metric of this kind of matching, with its chosen options and the penalties of the sliders. */
  function metric() {
    const [candidate, reference] = prices.values();
    const plain = {
      greedy: "bertscore",
      exact: exact.control.value,
      unbalanced: `lazy_emd:penalty_candidate=${candidate},penalty_reference=${reference}`,
      layers: "bary",
    }[state.kind];
    const { name, options } = readSpec(plain);
    if (!(name in state.options)) return plain;
    const ours = Object.entries(options).filter(([key]) => key.startsWith("penalty_"));
    return writeSpec(name, { ...state.options[name], ...Object.fromEntries(ours) });
  }

  /** Set the sliders to the penalties of the chosen Lazy-EMD, if they have changed. */
  function updatePenalties() {
    const chosen = state.options.lazy_emd ?? {};
    const [candidate, reference] = PRICES.get(chosen.lang) ?? ENGLISH;
    const wanted = [chosen.penalty_candidate ?? candidate, chosen.penalty_reference ?? reference];
    if (state.shownPenalties !== null && String(wanted) !== state.shownPenalties) prices.set(...wanted);
    state.shownPenalties = String(wanted);
  }

  async function refresh() {
    if (!state.pair) return;
    stop.abort();
    stop = new AbortController();
    const body = { ...state.pair, metric: metric(), layers: state.kind === "layers", words: words.checked };
    const key = JSON.stringify(body);
    whole.setAttribute("aria-busy", "true");
    try {
      if (!answers.has(key)) answers.set(key, await post("/v1/align", body, { signal: stop.signal }));
      whole.hidden = false;
      refill(errorPlace);
      present(answers.get(key));
    } catch (error) {
      if (error.name === "AbortError") return;
      whole.hidden = false;
      setDrawn(false);
      showError(errorPlace, error);
    }
    whole.removeAttribute("aria-busy");
  }

  function setDrawn(isDrawn) {
    for (const part of [drawing.element, facts, errors]) part.hidden = !isDrawn;
    layers.element.hidden = !isDrawn || state.kind !== "layers";
  }

  function present(answer) {
    const before = state.answer?.plan;
    state.answer = answer;
    setDrawn(true);
    const several = [state.pair.references].flat().length > 1;
    refill(facts,
      h("p", { class: "result" },
        h("strong", {}, answer.metric), " ", h("span", { class: "value" }, score(answer.value, answer.range)),
        several && h("span", { class: "note" }, ` · against reference ${answer.reference + 1}`)),
      answer.matches ? precisionRecall(answer) : massBalance(massTotals(answer.plan)));
    refill(errors, predictedErrors(state.pair.candidate, answer.spans));
    layers.show(answer);
    answer.plan.matches = answer.matches;
    animate(before, answer.plan);
  }

  let frame = null;
  function animate(from, to) {
    cancelAnimationFrame(frame);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const large = to.coupling.length * to.coupling[0].length > 900;
    if (!from || still || large || !between(from, to, 0)) return drawing.draw(to);
    const began = performance.now();
    const step = (now) => {
      const share = Math.min((now - began) / ANIMATION, 1);
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
      updatePenalties();
      answers.clear();
      return refresh();
    },
    hide: () => {
      stop.abort();
      state.pair = null;
      whole.hidden = true;
    },
    settings() {
      const [from, to] = state.kind === "unbalanced" ? prices.values() : [];
      const metric = state.kind === "exact" && exact.control.value;
      return {
        match: state.kind, picture: drawing.kind(), words: !words.checked && "0",
        exact: state.kind === "exact" && exact.control.value, from, to,
      };
    },
    names: ["match", "picture", "words", "exact", "from", "to"],
    /** Show the kind of matching that a metric uses, if there is one. */
    chooseFor(name) {
      const kind = { bertscore: "greedy", wmd: "exact", mover: "exact", gauge: "exact", lazy_emd: "unbalanced", bary: "layers" }[name];
      if (!kind) return;
      state.kind = kind;
      if (kind === "exact") exact.control.value = EXACT.find(([spec]) => spec.startsWith(name))[0];
      arrange();
    },
    restore(settings, link) {
      state.kind = link.choice("match", KINDS.map(([name]) => name)) ?? state.kind;
      link.select("exact", exact);
      words.checked = link.choice("words", ["0", "1"]) !== "0";
      const wanted = ["from", "to"].map((name) => settings.get(name));
      if (wanted.every(isPenalty)) {
        prices.set(...wanted);
        state.shownPenalties = null; // the penalties of a link stay until others are chosen
      } else if (wanted.some((each) => each !== null)) {
        link.refuse("from and to are the two penalties: each a number from 0, or inf");
      }
      drawing.choose(link.choice("picture", drawing.kinds));
      arrange();
    },
  };
}

/** Precision and recall of a greedy metric, each with the direction it is computed in. */
function precisionRecall({ components, range }) {
  const sides = [
    ["precision", "every candidate token with its nearest reference token"],
    ["recall", "every reference token with its nearest candidate token"],
  ];
  return h("dl", { class: "balance" }, sides.map(([name, words]) => [
    h("dt", {}, name), h("dd", {}, h("b", {}, score(components[name], range)), h("span", { class: "note" }, words)),
  ]));
}
