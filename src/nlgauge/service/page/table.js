// Tables that can be sorted by any column.

import { h, refill } from "./elements.js";

/**
 * A table. Columns have `name`, and may have `numeric`, `title` and `show(value, row)`, which gives
 * a text or an element; `key(value)` is what a column is sorted by where the value itself will not do.
 */
export function table({ caption, columns, rows, rowHeader = 0 }) {
  let sorted = null;
  const body = h("tbody");
  const heads = columns.map((column, k) => h("th", { scope: "col", class: column.numeric && "number" },
    h("button", { type: "button", title: column.title, onclick: () => sort(k) }, column.name,
      h("span", { class: "order", "aria-hidden": "true" }))));

  function sort(k) {
    const down = sorted?.k === k ? !sorted.down : Boolean(columns[k].numeric);
    sorted = { k, down };
    heads.forEach((head, each) => {
      if (each === k) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    draw();
  }

  function draw() {
    const key = (row) => (columns[sorted.k].key ?? ((value) => value))(row[sorted.k]);
    const ordered = sorted ? [...rows].sort((one, other) => order(key(one), key(other), sorted.down)) : rows;
    refill(body, ordered.map((row) => h("tr", {}, columns.map((column, k) => {
      const content = column.show ? column.show(row[k], row) : row[k];
      const looks = { class: column.numeric && "number" };
      return k === rowHeader ? h("th", { scope: "row", ...looks }, content) : h("td", looks, content);
    }))));
  }

  draw();
  return h("div", {}, h("p", { class: "note", "aria-hidden": "true" }, caption),
    h("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { "aria-label": caption }, h("thead", {}, h("tr", {}, heads)), body)));
}

/** Missing values come last in either order. */
function order(one, other, down) {
  if (one === null || other === null) return (one === null) - (other === null);
  const rising = typeof one === "number" ? one - other : String(one).localeCompare(String(other));
  return down ? -rising : rising;
}
