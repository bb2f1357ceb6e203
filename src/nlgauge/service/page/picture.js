// One plan as bands, as a grid or as a table, redrawn when the page's width or colours change.

import { LIGHT } from "./colours.js";
import { saveSvg } from "./download.js";
import { h, refill, s, segments } from "./elements.js";
import { drawFlow } from "./flow.js";
import { drawHeat } from "./heat.js";
import { short } from "./numbers.js";
import { dearest, flows, shown } from "./plan.js";
import { spotlight } from "./spotlight.js";
import { table } from "./table.js";
import { onTheme, palette } from "./theme.js";

const KINDS = [["flow", "Flow"], ["heat", "Heat map"], ["table", "Table"]];
const DRAWERS = { flow: drawFlow, heat: drawHeat };
const WIDTH = 720; // of a drawing that is saved
const MOST = 20_000; // cells of a heat map; beyond, the page would stand still

/** The picture; `draw(plan)` shows another plan. */
export function picture(onChange) {
  let kind = "flow";
  let plan = null;
  const memory = { lit: null, pinned: null, focused: null };
  const stage = h("div", { class: "stage" });
  const facts = h("div", { class: "token-facts", "aria-hidden": "true" });
  const legend = h("div", { class: "legend" });
  const save = h("button", { type: "button", class: "quiet", onclick: () => saveSvg(sheet(), `${kind}.svg`) },
    "Download SVG");
  const switcher = segments("Picture", KINDS, kind, (value) => {
    kind = value;
    redraw();
    onChange();
  });
  const whole = h("div", { class: "picture" },
    h("div", { class: "toolbar" }, switcher, legend, h("span", { class: "spring" }), save), stage, facts);

  function redraw({ moving = false } = {}) {
    if (!plan) return;
    const pointed = DRAWERS[kind] !== undefined;
    save.hidden = facts.hidden = legend.hidden = !pointed;
    if (!pointed) return refill(stage, flowTable(plan));
    if (kind === "heat" && plan.coupling.length * plan.reference_tokens.length > MOST) {
      save.hidden = facts.hidden = true;
      return refill(stage, h("p", { class: "note" }, `These texts have ${plan.coupling.length} and ` +
        `${plan.reference_tokens.length} tokens, too many for a grid that can be read. See the table.`));
    }
    const drawing = DRAWERS[kind](plan, { width: stage.clientWidth || WIDTH, palette: palette() });
    refill(stage, drawing);
    if (moving) return undefined;
    refill(legend, costs(plan), kind === "flow" && marks());
    spotlight(drawing, plan, facts, memory);
    return undefined;
  }

  /** The drawing for a file: light, on white paper. */
  function sheet() {
    const drawing = DRAWERS[kind](plan, { width: WIDTH, palette: LIGHT });
    drawing.setAttribute("role", "img");
    drawing.prepend(s("rect", { width: "100%", height: "100%", fill: LIGHT.paper }));
    return drawing;
  }

  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(stage.clientWidth - width) < 2) return;
    width = stage.clientWidth;
    redraw();
  }).observe(stage);
  onTheme(whole, redraw);
  return {
    element: whole,
    kind: () => kind,
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

function costs(plan) {
  const { steps } = palette();
  const shades = s("svg", { width: 96, height: 10, "aria-hidden": "true" }, steps.map((colour, k) =>
    s("rect", { x: k * 6, width: 6.2, height: 10, fill: colour })));
  return h("span", { class: "note" }, "cost 0 ", shades, ` ${short(dearest(plan))}`);
}

function marks() {
  const { bar, faint, created } = palette();
  const box = (fill) => s("svg", { width: 9, height: 12, "aria-hidden": "true" },
    s("rect", { x: 0.5, y: 0.5, width: 8, height: 11, fill, stroke: bar }));
  return h("span", { class: "note marks" },
    h("span", {}, box(bar), " moved"), h("span", {}, box(faint), " left"), h("span", {}, box(created), " created"));
}

function flowTable(plan) {
  const rows = flows(plan).map((flow) => [
    shown(plan.candidate_tokens[flow.i]), shown(plan.reference_tokens[flow.j]), flow.mass, flow.cost,
  ]);
  return table({
    caption: "Every flow of mass, the strongest first",
    columns: [
      { name: "candidate" }, { name: "reference" },
      { name: "mass", numeric: true, show: short }, { name: "cost", numeric: true, show: short },
    ],
    rows,
  });
}
