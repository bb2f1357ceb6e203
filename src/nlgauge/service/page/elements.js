// HTML and SVG elements, created without markup so that no text can become code.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `on…` are listeners, other properties are set as attributes. */
export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(made, name, value);
  return fill(made, children);
}

/** An SVG element with these attributes. */
export function s(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  return fill(made, children);
}

/** Put these children, and nothing else, into an element. */
export function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

/** A button for something that is not the main action of a view. */
export function quietButton(words, onclick) {
  return h("button", { type: "button", class: "quiet", onclick }, words);
}

let cards = 0;

/** A card with a heading, and a button or more beside it. */
export function section(title, buttons, ...children) {
  const id = `card-${++cards}`;
  const heading = h("h2", { id }, title);
  return h("section", { class: "card", "aria-labelledby": id },
    buttons ? h("div", { class: "headline" }, heading, buttons) : heading, children);
}

/** A label whose `control` is a select box; choices are values, or pairs of a value and its name. */
export function choice(label, choices, chosen, onChange, properties = {}) {
  const options = choices.map((each) => {
    const [value, name] = Array.isArray(each) ? each : [each, each];
    return h("option", { value, selected: value === chosen }, name);
  });
  const box = h("select", { ...properties, onchange: () => onChange(box.value) }, ...options);
  return h("label", { class: "field" }, h("span", {}, label), box);
}

/** A row of buttons of which one is pressed; `press(value)` presses another from outside. */
export function segments(label, choices, chosen, onChange) {
  const row = h("div", { class: "segments", role: "group", "aria-label": label });
  row.press = (value) => {
    for (const button of row.children) {
      button.setAttribute("aria-pressed", String(button.value === value));
    }
  };
  for (const [value, name, title] of choices) {
    const press = () => {
      row.press(value);
      onChange(value);
    };
    row.append(h("button", { type: "button", value, title, onclick: press }, name));
  }
  row.press(chosen);
  return row;
}

/** Select boxes for columns with several values; `draw(rows, chosen)` gets the rows with the chosen values. */
export function filterFields(rows, columns, draw) {
  const unique = (name) => [...new Set(rows.map((row) => row[name]))];
  const chosen = Object.fromEntries(columns.map(({ name }) => [name, unique(name)[0]]));
  const update = () => draw(rows.filter((row) => columns.every(({ name }) => row[name] === chosen[name])), chosen);
  update();
  const several = columns.filter(({ name }) => unique(name).length > 1);
  return several.length > 0 && h("div", { class: "fields" }, several.map(({ name, label, names = {} }) => {
    const choices = unique(name).map((value) => [value, names[value] ?? value]);
    return choice(label, choices, chosen[name], (value) => {
      chosen[name] = value;
      update();
    });
  }));
}

/** An element that may be wider than its place, with a hint where it can be scrolled. */
export function scrollable(element) {
  const hint = h("p", { class: "note scroll-hint", "aria-hidden": "true", hidden: true }, "Scroll sideways for more →");
  const update = () => {
    hint.hidden = element.scrollWidth <= element.clientWidth + 1;
    const end = element.scrollLeft + element.clientWidth >= element.scrollWidth - 1;
    element.classList.toggle("more-right", !hint.hidden && !end);
    if (!hint.hidden && !element.querySelector("[tabindex]")) element.tabIndex = 0;
  };
  element.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  observer.observe(element);
  new MutationObserver(() => {
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    update();
  }).observe(element, { childList: true });
  return h("div", { class: "scrollable" }, hint, element);
}

/** Scroll to an element whose start is not visible. */
export function reveal(element) {
  const { top } = element.getBoundingClientRect();
  if (top >= 0 && top < 0.6 * innerHeight) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

/** Open a dialog; resolves to `read()` if it was confirmed, else to null. */
export function openDialog(dialog, read) {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue ? read() : null);
    });
  });
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
  else element.setAttribute(name, value === true ? "" : value);
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}
