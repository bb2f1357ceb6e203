// Thumbnails of the plans of single layers.

import { h, refill } from "./elements.js";
import { drawThumbnail } from "./plan_thumbnail.js";
import { score } from "./number_format.js";
import { onTheme } from "./theme.js";

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
