// Thumbnails of the plans of single layers.

import { costColour } from "./colours.js";
import { h, refill, s } from "./elements.js";
import { bandOutline } from "./flow_diagram.js";
import { score } from "./number_format.js";
import { highestCost, planLayout } from "./plan.js";
import { onTheme, palette } from "./theme.js";

const [WIDTH, HEIGHT] = [104, 72]; // of a thumbnail

/** A row of thumbnails; `onPlan` gets the plan of the selected one. */
export function layerPlans(onPlan) {
  const place = h("div", { class: "layers", role: "group", "aria-label": "Layers" });
  let answer = null;
  let chosen = null;

  function draw() {
    if (!answer?.layers) return refill(place);
    const all = [{ layer: null, value: answer.value, plan: answer.plan }, ...answer.layers];
    return refill(place, all.map((each) => {
      const name = each.layer === null ? "Barycenter" : `Layer ${each.layer}`;
      return h("button", {
        type: "button", class: "layer", "aria-pressed": String(chosen === each.layer), "data-layer": name,
        onclick: () => {
          chosen = each.layer;
          draw();
          place.querySelector(`[data-layer="${name}"]`).focus();
          onPlan(each.plan);
        },
      }, drawThumbnail(each.plan), h("span", {}, name), h("span", { class: "value" }, score(each.value)));
    }));
  }

  onTheme(place, draw);
  return {
    element: place,
    show(next) {
      answer = next;
      chosen = null;
      draw();
    },
  };
}

/** The bands of a plan without text, hidden from screen readers. */
function drawThumbnail(plan) {
  const [colours, top] = [palette(), highestCost(plan)];
  return s("svg", { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    planLayout(plan).bands.map((band) => s("path", {
      d: bandOutline(band, 0, WIDTH, HEIGHT), fill: costColour(colours, band.cost, top), opacity: 0.8,
    })));
}
