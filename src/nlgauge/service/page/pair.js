// The view of one pair: scores and the alignment of its tokens.

import { post } from "./api.js";
import { metricPicker } from "./metric_picker.js";
import { h, quietButton, refill, reveal } from "./elements.js";
import { PAIR } from "./examples.js";
import { areTexts, linkReader, settingsOf } from "./link.js";
import { alignmentPanel } from "./alignment.js";
import { announce, inputError, showLinkNotice } from "./notices.js";
import { counted } from "./number_format.js";
import { readSpec } from "./metrics.js";
import { references } from "./references.js";
import { taskRunner } from "./run_task.js";
import { scoreList } from "./scores.js";

const METRICS = ["gauge", "bleu", "chrf", "bertscore", "mover", "bary", "lazy_emd"];

const WAITING = ["metrics", "exact", "from", "to"]; // parts of a link that choose metrics or their options

/** The view; `onChange` is called when its link changes. */
export function pairView(catalogue, onChange) {
  const candidate = h("textarea", {
    id: "candidate", rows: 3, placeholder: "Output of a system", oninput: onChange, spellcheck: "false", dir: "auto",
  });
  const refs = references(onChange);
  const metrics = metricPicker(catalogue, METRICS, onChange);
  const scores = h("div", { class: "card", hidden: true });
  const errorPlace = h("div");
  const alignment = alignmentPanel(onChange);
  const go = h("button", { class: "primary" }, "Score");
  const work = taskRunner(go, errorPlace);
  const form = h("form", {
    class: "card form", novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      run();
    },
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    },
  },
    h("div", { class: "texts" },
      h("div", { class: "text" }, h("label", { for: "candidate" }, "Candidate"), candidate), refs.element),
    h("div", { class: "text" }, h("h2", { class: "label" }, "Metrics"), metrics.element),
    h("div", { class: "actions" }, go,
      quietButton("Try an example", example),
      h("span", { class: "note keys" }, "or Ctrl + Enter")));

  function example() {
    candidate.value = PAIR.candidate;
    refs.set(PAIR.references);
    onChange();
    run();
  }

  function pair() {
    const texts = { candidate: candidate.value.trim(), references: refs.values() };
    if (!texts.candidate) throw inputError("There is no candidate yet: write or paste a text into the first box.");
    if (texts.references.length === 0) {
      throw inputError("There is no reference yet: write or paste one into the second box.");
    }
    return texts;
  }

  const run = (target = scores) => work(async ({ signal }) => {
    try {
      const texts = pair();
      const body = { pairs: [texts], metrics: metrics.wanted(), segments: false };
      refill(errorPlace);
      scores.hidden = false;
      scores.setAttribute("aria-busy", "true");
      const matched = alignment.align(texts, metrics.options());
      const answer = await post("/v1/score", body, { signal });
      refill(scores, h("h2", {}, "Scores"), scoreList(answer.scores));
      announce(`${counted(answer.scores.length, "score")} ready.`);
      if (target === scores) reveal(scores);
      await matched;
      if (target !== scores) reveal(target);
    } catch (error) {
      if (signal.aborted) return;
      scores.hidden = true;
      alignment.hide();
      throw error;
    } finally {
      if (!signal.aborted) scores.removeAttribute("aria-busy");
    }
  });

  return {
    element: h("div", { class: "view" },
      h("h1", {}, "Score a pair"),
      h("p", { class: "lead" },
        "Score a text against its references, and see how its words are aligned."),
      form, errorPlace, scores, alignment.element),
    texts: () => (candidate.value || refs.values().length ? [candidate.value, ...refs.values()] : null),
    /** Score a pair, and show the alignment of a metric. */
    show({ candidate: text, references: texts }, metric) {
      candidate.value = text;
      refs.set(texts);
      const { name } = readSpec(metric);
      if (!metrics.specs().includes(metric)) metrics.choose([metric, ...METRICS.filter((each) => each !== name)]);
      alignment.chooseFor(name);
      onChange();
      run(alignment.element);
    },
    settings: () => settingsOf({ metrics: metrics.linkPart(), ...alignment.settings() }),
    restore(settings) {
      const link = linkReader(settings, ["metrics", "texts", ...alignment.names]);
      metrics.restore(link, settings.get("metrics"));
      alignment.restore(settings, link);
      const texts = link.texts(areTexts);
      if (texts) {
        candidate.value = texts[0] ?? "";
        refs.set(texts.slice(1));
      }
      if (link.waits(...WAITING)) showLinkNotice(errorPlace, link.problems, "Score");
      else if (candidate.value && texts?.length > 1) run();
    },
  };
}
