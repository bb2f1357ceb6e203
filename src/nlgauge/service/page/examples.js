// Examples for each view. The texts and judgements were invented for this project.

import { get } from "./api.js";

let texts = null;

/** Load the examples; the functions below need them. */
export async function loadExamples() {
  texts = await get("/page/example.json");
}

/** One candidate and its reference. */
export const PAIR = {
  candidate: "A guy with a red jacket is standing on a boat",
  references: ["A man wearing a lifevest is sitting in a canoe"],
};

/** Three imaginary translation systems on the same segments. */
export function exampleSystems() {
  const { systems, references } = texts;
  return { systems, references };
}

/** The same with invented human scores. */
export function exampleJudgements() {
  const { systems, references, human } = texts;
  return Object.entries(systems).flatMap(([system, outputs]) => outputs.map((candidate, k) => ({
    system,
    segment: String(k + 1),
    candidate,
    references: references[k],
    human: Object.fromEntries(human.criteria.map((name, c) => [name, human.scores[system][k][c]])),
  })));
}

/** Invented ratings of three people and a model, as they are read from a file. */
export function exampleLabels() {
  return texts.ratings;
}
