// A picker of metrics and their options.

import { h, refill } from "./elements.js";
import { clipped } from "./link.js";
import { directionOf, readSpec, writeSpec } from "./metrics.js";
import { inputError } from "./notices.js";
import { editOptions } from "./options.js";

/**
 * A group of toggle buttons; `specs()` are the specs of the chosen metrics, in display order. With
 * `single`, one metric is chosen at a time.
 */
export function metricPicker(catalogue, defaults, onChange, { label = "Metrics", single = false } = {}) {
  const chosen = new Map();
  const listed = new Set();
  let open = false;
  const place = h("div", { class: "chips", role: "group", "aria-label": label });

  function choose(specs) {
    chosen.clear();
    for (const { name, options } of specs.map(readSpec)) {
      chosen.set(name, options);
      listed.add(name);
    }
    draw();
  }

  /** Choose the metrics of a link, or the defaults; those that this service does not have are refused. */
  function restore(link, text) {
    if (text === null) return choose(defaults);
    const usable = text.split(";").filter(Boolean).filter((spec) => {
      const { name, options } = readSpec(spec);
      const metric = catalogue.metrics.find((each) => each.name === name);
      if (!metric) return link.refuse(`this service has no metric “${clipped(name)}”`);
      const unknown = Object.keys(options).find((key) => !Object.hasOwn(metric.options.properties, key));
      if (unknown !== undefined) return link.refuse(`${name} has no option “${clipped(unknown)}” on this service`);
      const lacking = Object.keys(options).find((key) => options[key] === undefined);
      return lacking === undefined || link.refuse(`${name} has no value for its option ${lacking}`);
    });
    if (usable.length) choose(usable);
    return undefined;
  }

  function draw() {
    const seen = ordered().filter((metric) => open || listed.has(metric.name));
    const hidden = catalogue.metrics.length - listed.size;
    const more = h("button", {
      type: "button", class: "chip more", "aria-expanded": String(open), "data-chip": "more",
      onclick: () => {
        open = !open;
        for (const name of chosen.keys()) listed.add(name);
        redraw("more");
      },
    }, open ? "Fewer" : `+ ${hidden} more`);
    refill(place, seen.map(chip), (hidden > 0 || open) && more);
  }

  /** Metrics that were chosen once come first. */
  function ordered() {
    const place = new Map([...listed].map((name, k) => [name, k]));
    const rank = (metric) => place.get(metric.name) ?? listed.size;
    return catalogue.metrics.toSorted((one, other) => rank(one) - rank(other));
  }

  function redraw(focused) {
    draw();
    place.querySelector(`[data-chip="${focused}"]`)?.focus();
  }

  function changed(focused) {
    redraw(focused);
    onChange();
  }

  function chip(metric) {
    const on = chosen.has(metric.name);
    const { sign, words } = directionOf(metric.direction);
    const toggle = h("button", {
      type: "button", "aria-pressed": String(on), "data-chip": metric.name,
      title: `${metric.summary} (${words})`,
      onclick: () => {
        if (single && !on) chosen.clear();
        if (!on) chosen.set(metric.name, {});
        else if (!single) chosen.delete(metric.name);
        if (!open) listed.add(metric.name);
        changed(metric.name);
      },
    }, on ? writeSpec(metric.name, chosen.get(metric.name)) : metric.name, " ",
    h("span", { class: "sign", "aria-hidden": "true" }, sign));
    const options = on && h("button", {
      type: "button", class: "edit", "aria-label": `Options of ${metric.name}`, title: "Options",
      "data-chip": `${metric.name}-options`,
      onclick: async () => {
        const edited = await editOptions(metric, chosen.get(metric.name));
        if (edited) chosen.set(metric.name, edited);
        (edited ? changed : redraw)(`${metric.name}-options`);
      },
    }, "⋯");
    return h("span", { class: on ? "chip on" : "chip" }, toggle, options);
  }

  function specs() {
    return ordered()
      .filter((metric) => chosen.has(metric.name))
      .map((metric) => writeSpec(metric.name, chosen.get(metric.name)));
  }

  choose(defaults);
  return {
    element: place,
    choose,
    restore,
    specs,
    /** The specs as a part of a link; null if they are the defaults. */
    linkPart: () => (specs().join() === defaults.join() ? null : specs().join(";")),
    /** The changed options of every chosen metric by name. */
    options: () => Object.fromEntries([...chosen].map(([name, options]) => [name, { ...options }])),
    /** The specs for a request, which needs at least one. */
    wanted() {
      if (chosen.size === 0) throw inputError("No metric is chosen: select at least one.");
      return specs();
    },
  };
}
