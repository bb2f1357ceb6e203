// One plan as a flow diagram, heat map or table, redrawn when the width or theme changes.

import { LIGHT } from "./colours.js";
import { saveSvg } from "./download.js";
import { h, quietButton, refill, s, scrollable, segments } from "./elements.js";
import { drawFlow, lineLook } from "./flow_diagram.js";
import { drawHeatMap } from "./heat_map.js";
import { short } from "./number_format.js";
import { directionOf, highestCost, flows, tokenLabel } from "./plan.js";
import { showTokenDetails } from "./token_details.js";
import { table } from "./table.js";
import { onResizeOrTheme, palette } from "./theme.js";

const KINDS = [["flow", "Flow"], ["heat", "Heat map"], ["table", "Table"]];
const DRAWERS = { flow: drawFlow, heat: drawHeatMap };
const PADDING = 4; // of the stage
const WIDTH = 720; // of a saved drawing
const MOST = 20_000; // cells of a heat map; more would block the page

/** The view; `draw(plan)` shows another plan. */
export function planView(onChange, extra) {
  let kind = "flow";
  let plan = null;
  const memory = { lit: null, pinned: null, focused: null };
  const stage = h("div", { class: "stage" });
  const facts = h("div", { class: "token-facts", "aria-hidden": "true" });
  const legend = h("div", { class: "legend" });
  const save = () => saveSvg(DRAWERS[kind](plan, { width: WIDTH, palette: LIGHT }), `${kind}.svg`);
  const saveButton = quietButton("Download SVG", save);
  const switcher = segments("View", KINDS, kind, (value) => {
    kind = value;
    redraw();
    onChange();
  });
  const whole = h("div", { class: "picture" },
    h("div", { class: "toolbar" }, switcher, extra, legend, h("span", { class: "spring" }), saveButton), scrollable(stage), facts);

  function redraw({ moving = false } = {}) {
    if (!plan) return;
    const pointed = DRAWERS[kind] !== undefined;
    saveButton.hidden = facts.hidden = legend.hidden = !pointed;
    if (!pointed) return refill(stage, flowTable(plan));
    if (kind === "heat" && plan.coupling.length * plan.reference_tokens.length > MOST) {
      saveButton.hidden = facts.hidden = true;
      return refill(stage, h("p", { class: "note" }, `These texts have ${plan.coupling.length} and ` +
        `${plan.reference_tokens.length} tokens, too many for a readable heat map. See the table.`));
    }
    const drawing = DRAWERS[kind](plan, { width: stage.clientWidth - PADDING || WIDTH, palette: palette() });
    refill(stage, drawing);
    if (moving) return undefined;
    refill(legend, costLegend(plan), plan.matches ? matchLegend() : kind === "flow" && markLegend());
    showTokenDetails(drawing, plan, facts, memory);
    return undefined;
  }

  onResizeOrTheme(stage, () => redraw());
  return {
    element: whole,
    kind: () => kind,
    kinds: KINDS.map(([name]) => name),
    choose(wanted) {
      if (!KINDS.some(([name]) => name === wanted)) return;
      kind = wanted;
      switcher.press(kind);
      redraw();
    },
    draw(next, options) {
      plan = next;
      redraw(options);
    },
  };
}

function costLegend(plan) {
  const { steps } = palette();
  const shades = s("svg", { width: 96, height: 10, "aria-hidden": "true" }, steps.map((colour, k) =>
    s("rect", { x: k * 6, width: 6.2, height: 10, fill: colour })));
  const [name, low, high] = plan.matches ? ["cosine", "1", 1 - highestCost(plan)] : ["cost", "0", highestCost(plan)];
  return h("span", { class: "note" }, `${name} ${low} `, shades, ` ${short(high)}`);
}

function matchLegend() {
  const { bar } = palette();
  const kinds = [
    ["precision", { precision: true }], ["recall", { recall: true }], ["both", { precision: true, recall: true }],
  ];
  return h("span", { class: "note marks" }, kinds.map(([name, match]) =>
    h("span", {}, s("svg", { width: 26, height: 10, "aria-hidden": "true" },
      s("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: bar, ...lineLook(match) })), ` ${name}`)));
}

function markLegend() {
  const { bar, faint, created } = palette();
  const box = (fill) => s("svg", { width: 9, height: 12, "aria-hidden": "true" },
    s("rect", { x: 0.5, y: 0.5, width: 8, height: 11, fill, stroke: bar }));
  return h("span", { class: "note marks" },
    h("span", {}, box(bar), " moved"), h("span", {}, box(faint), " left"), h("span", {}, box(created), " created"));
}

/** All matches of a greedy metric, or all flows of mass. */
function flowTable(plan) {
  const sides = [{ name: "candidate" }, { name: "reference" }];
  const tokens = ({ i, j }) => [tokenLabel(plan.candidate_tokens[i]), tokenLabel(plan.reference_tokens[j])];
  return table(plan.matches ? {
    caption: "Every match of a token with its nearest one, highest cosine first",
    columns: [...sides, { name: "cosine", numeric: true, show: short }, { name: "counts for" }],
    rows: flows(plan).map((match) => [...tokens(match), match.cosine, directionOf(match)]),
  } : {
    caption: "Every flow of mass, largest first",
    columns: [...sides, { name: "mass", numeric: true, show: short }, { name: "cost", numeric: true, show: short }],
    rows: flows(plan).map((flow) => [...tokens(flow), flow.mass, flow.cost]),
  });
}
