// The words that two texts do not share, by their longest common subsequence.

import { h } from "./elements.js";

const MOST = 400; // words of a text; beyond, the table of the subsequence grows too large

/** Both texts as nodes, the words of each that the other lacks marked. */
export function markDifferences(one, other) {
  const [first, second] = [one, other].map((text) => text.split(/(\s+)/).filter(Boolean));
  const words = (pieces) => pieces.filter((piece) => piece.trim());
  if (Math.max(words(first).length, words(second).length) > MOST) return [[one], [other]];
  const [kept, keptInSecond] = common(words(first), words(second));
  return [marked(first, kept), marked(second, keptInSecond)];
}

/** Words that are not kept in marks, neighbours in one. */
function marked(pieces, kept) {
  const nodes = [];
  let open = null;
  let gap = "";
  let at = 0;
  for (const piece of pieces) {
    if (!piece.trim()) {
      gap = piece;
    } else if (kept.has(at++)) {
      nodes.push(gap, piece);
      open = null;
    } else {
      if (open) open.append(gap + piece);
      else nodes.push(gap, (open = h("mark", {}, piece)));
    }
    if (piece.trim()) gap = "";
  }
  return nodes;
}

/** The places of the common words in both texts. */
function common(first, second) {
  const best = Array.from({ length: first.length + 1 }, () => new Uint16Array(second.length + 1));
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      best[i][j] = first[i] === second[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const [kept, keptInSecond] = [new Set(), new Set()];
  for (let i = 0, j = 0; i < first.length && j < second.length;) {
    if (first[i] === second[j]) {
      kept.add(i++);
      keptInSecond.add(j++);
    } else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  }
  return [kept, keptInSecond];
}
