// A dialog for the options of a metric, from the schema of the service.

import { h, openDialog, quietButton } from "./elements.js";
import { directionOf } from "./metrics.js";
import { end } from "./number_format.js";

/** The options changed from their defaults, as texts; null if the dialog was cancelled. */
export function editOptions(metric, current) {
  const fields = Object.entries(metric.options.properties).map(([name, schema]) =>
    field(name, schema, current[name]));
  const { words } = directionOf(metric.direction);
  const form = h("form", { method: "dialog" },
    h("header", {},
      h("h2", { id: "options-title" }, metric.name),
      h("p", {}, metric.summary),
      h("p", { class: "note" }, metric.paper),
      h("p", { class: "note" }, `From ${end(metric.range[0])} to ${end(metric.range[1])}, ${words}.`)),
    h("div", { class: "options" }, fields.map((each) => each.element)),
    h("footer", {},
      quietButton("Defaults", () => fields.forEach((each) => each.reset())),
      h("span", { class: "spring" }),
      quietButton("Cancel", () => dialog.close()),
      h("button", { value: "apply", class: "primary" }, "Apply")));
  const dialog = h("dialog", { "aria-labelledby": "options-title" }, form);
  const changed = () => fields.map((each) => each.changed()).filter((each) => each !== null);
  return openDialog(dialog, () => Object.fromEntries(changed()));
}

function field(name, schema, given) {
  const standard = asText(schema.default);
  const control = schema.enum ? menu(schema, given ?? standard)
    : schema.type === "boolean" ? menu({ enum: [true, false] }, given ?? standard)
    : entry(schema, given ?? standard);
  const id = `option-${name}`;
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-help`);
  return {
    element: h("div", { class: "option" },
      h("label", { for: id }, name.replaceAll("_", " ")),
      control,
      h("p", { class: "note", id: `${id}-help` }, schema.description)),
    changed: () => (control.value.trim() === standard ? null : [name, control.value.trim()]),
    reset: () => {
      control.value = standard;
    },
  };
}

function menu(schema, value) {
  const texts = [...new Set(schema.enum.map(asText))];
  return h("select", {}, texts.map((text) =>
    h("option", { value: text, selected: text === value }, text || "default")));
}

function entry(schema, value) {
  const bounds = [schema.minimum ?? null, schema.maximum ?? null];
  const numeric = [schema.type].flat().some((type) => type === "integer" || type === "number");
  const limits = bounds[0] === null || !numeric ? "default" : `at least ${bounds[0]}`;
  return h("input", {
    type: "text", inputmode: numeric ? "decimal" : "text", value, autocomplete: "off", spellcheck: "false",
    placeholder: limits,
  });
}

function asText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "true" : "false";
  return String(value);
}
