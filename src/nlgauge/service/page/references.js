// The text boxes for references.

import { h } from "./elements.js";

/** The boxes; `values()` are the texts of those that are not empty. */
export function references(onChange) {
  const list = h("div", { class: "references" });
  const more = h("button", { type: "button", class: "quiet small", onclick: () => add("").focus() },
    "Add a reference");

  function add(text) {
    const box = h("textarea", {
      rows: 3, value: text, placeholder: "Expected output", oninput: onChange, spellcheck: "false", dir: "auto",
    });
    const remove = h("button", {
      type: "button", class: "quiet small remove",
      onclick: () => {
        const neighbour = row.previousElementSibling ?? row.nextElementSibling;
        row.remove();
        number();
        neighbour.querySelector("textarea").focus();
        onChange();
      },
    }, "Remove");
    const row = h("div", { class: "text" }, h("div", { class: "beside" }, h("label"), remove), box);
    list.append(row);
    number();
    onChange();
    return box;
  }

  function number() {
    const rows = [...list.children];
    rows.forEach((row, k) => {
      const name = rows.length > 1 ? `Reference ${k + 1}` : "Reference";
      const id = `reference-${k + 1}`;
      row.querySelector("label").textContent = name;
      row.querySelector("label").setAttribute("for", id);
      row.querySelector("textarea").id = id;
      row.querySelector(".remove").hidden = rows.length === 1;
      row.querySelector(".remove").setAttribute("aria-label", `Remove reference ${k + 1}`);
    });
  }

  add("");
  return {
    element: h("div", {}, list, more),
    values: () => [...list.querySelectorAll("textarea")].map((box) => box.value.trim()).filter(Boolean),
    set(texts) {
      list.replaceChildren();
      for (const text of texts.length ? texts : [""]) add(text);
    },
  };
}
