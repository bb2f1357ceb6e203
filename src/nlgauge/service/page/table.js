// Tables that can be sorted by any column, and searched.

import { h, refill, scrollable } from "./elements.js";
import { count } from "./number_format.js";

/**
 * A table. Columns have `name`, and may have `numeric`, `title` and `show(value, row)`, which gives
 * a text or an element; `key(value)` is what a column is sorted by where the value itself will not do.
 * At most `most` rows are drawn until more are asked for; `filter(isShown)` leaves out rows. Where a heading
 * says the same as the caption, the table is not `captioned` visibly.
 */
export function table({ caption, columns, rows, rowHeader = 0, most = Infinity, captioned = true }) {
  let sorted = null;
  let shown = rows;
  let limit = most;
  const body = h("tbody");
  const heads = columns.map((column, k) => h("th", { scope: "col", class: looksOf(column) },
    h("button", { type: "button", title: column.title, onclick: () => sort(k) }, column.name,
      h("span", { class: "order", "aria-hidden": "true" }))));
  const tally = h("span", { class: "note", role: "status" });
  const more = h("button", {
    type: "button", class: "quiet small",
    onclick: () => {
      limit += most;
      draw();
    },
  }, "Show more");

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
    const ordered = sorted ? [...shown].sort((one, other) => order(key(one), key(other), sorted.down)) : shown;
    refill(body, ordered.slice(0, limit).map((row) => h("tr", {}, columns.map((column, k) => {
      const content = column.show ? column.show(row[k], row) : row[k];
      const looks = { class: looksOf(column) };
      return k === rowHeader ? h("th", { scope: "row", ...looks }, content) : h("td", looks, content);
    }))));
    const drawn = Math.min(limit, shown.length);
    tally.textContent = shown.length === rows.length ? `${count(drawn)} of ${count(rows.length)}`
      : `${count(drawn)} of ${count(shown.length)} found among ${count(rows.length)}`;
    more.hidden = drawn === shown.length;
  }

  draw();
  const whole = h("div", { class: "titled-table" }, captioned && h("p", { class: "note", "aria-hidden": "true" }, caption),
    scrollable(h("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { "aria-label": caption }, h("thead", {}, h("tr", {}, heads)), body))),
    most < Infinity && h("p", { class: "tally" }, tally, more));
  whole.filter = (isShown) => {
    shown = rows.filter(isShown);
    limit = most;
    draw();
  };
  return whole;
}

function looksOf({ numeric, look }) {
  return [numeric && "number", look].filter(Boolean).join(" ") || null;
}

/** Missing values come last in either order. */
function order(one, other, down) {
  if (one === null || other === null) return (one === null) - (other === null);
  const rising = typeof one === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  return down ? -rising : rising;
}
