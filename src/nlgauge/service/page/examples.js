// Examples for each view. The texts and judgements were invented for this project.

/** One candidate and its reference. */
export const PAIR = {
  candidate: "A guy with a red jacket is standing on a boat",
  references: ["A man wearing a lifevest is sitting in a canoe"],
};

/** Three imaginary translation systems on the same segments. */
export async function exampleSystems() {
  const { systems, references } = await load();
  return { systems, references };
}

/** The same with invented human scores. */
export async function exampleJudgements() {
  const { systems, references, human } = await load();
  return Object.entries(systems).flatMap(([system, texts]) => texts.map((candidate, k) => ({
    system,
    segment: String(k + 1),
    candidate,
    references: references[k],
    human: Object.fromEntries(human.criteria.map((name, c) => [name, human.scores[system][k][c]])),
  })));
}

/** Invented ratings of three people and a model, as they are read from a file. */
export async function exampleLabels() {
  return (await load()).ratings;
}

async function load() {
  const answer = await fetch("/page/example.json");
  return answer.json();
}
