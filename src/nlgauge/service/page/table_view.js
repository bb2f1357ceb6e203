// A view of one table (a dropped or chosen file that the service reads, the example, or the texts of a
// link): its upload, its settings, and a button for a task whose result is shown below.

import { dropzone } from "./dropzone.js";
import { h, quietButton, refill, reveal } from "./elements.js";
import { exampleJudgements } from "./examples.js";
import { readFile } from "./files.js";
import { areReferences } from "./link.js";
import { showError, showLinkNotice } from "./notices.js";
import { counted } from "./number_format.js";
import { taskRunner } from "./run_task.js";

/**
 * The view. `kind` has the `title` and `hint` of the upload, what `read(file)` makes of a file, the example and
 * whether the texts of a link are such a table. `fields` are shown once there is a table; `onTable` gets every
 * new table and returns a text about it. The `button` sends `body(table)` with `send(body, stop, progress)`,
 * and `show(answer)` returns the elements of the result, where `waiting` stands before.
 */
export function tableView(kind, { title, lead, fields, button, onTable, onChange, body, send, show, waiting = null }) {
  const about = h("p", { class: "about" });
  const go = h("button", { type: "button", class: "primary", onclick: () => run() }, button);
  const settings = h("div", { hidden: true }, about, fields, h("div", { class: "actions" }, go));
  const progress = h("div");
  const result = h("div", { class: "results" });
  const work = taskRunner(go, result);
  const found = { name: null, table: null, isExample: false };
  const zone = dropzone({ several: false, title: kind.title, hint: kind.hint }, take);
  const empty = h("p", { class: "actions" }, quietButton("Try an example", example));

  let reading = null; // the file that is being read; a later file, example or link replaces it

  async function take([file]) {
    reading = file;
    try {
      const table = await kind.read(file);
      if (file !== reading) return;
      set(file.name, table);
      refill(result);
      onChange();
    } catch (error) {
      if (file === reading) showError(result, error);
    }
  }

  function example() {
    set(kind.exampleName, kind.example(), true);
    onChange();
    run();
  }

  function set(name, table, isExample = false) {
    reading = null;
    work.cancel();
    Object.assign(found, { name, table, isExample });
    refill(about, h("strong", {}, name), h("span", { class: "note" }, ` · ${onTable(table)}`));
    settings.hidden = false;
    empty.hidden = true;
  }

  const run = () => work(async (stop) => {
    const request = body(found.table, found.name);
    refill(result, waiting && h("p", { class: "note", role: "status" }, waiting));
    refill(result, show(await send(request, stop, progress)));
    reveal(result);
  });

  return {
    found,
    element: h("div", { class: "view" },
      h("h1", {}, title), h("p", { class: "lead" }, lead),
      h("div", { class: "card form" }, zone, empty, settings), progress, result),
    /** The table for a link, which names the example instead of holding it. */
    texts: () => (found.isExample ? null : found.table),
    restore(link, parts) {
      const table = link.texts(kind.isTable);
      if (parts.has("example")) set(kind.exampleName, kind.example(), true);
      else if (table) set("The link", table);
    },
    /** Run the restored link, or tell why it waits: for problems, or for one of these parts. */
    start(link, ...parts) {
      if (link.waits(...parts)) showLinkNotice(result, link.problems, found.table ? button : null);
      else if (found.table) run();
    },
  };
}

/** The kind of table whose rows have texts and human judgements. */
export const JUDGED = {
  title: "Drop a file of human judgements here",
  hint: "JSON Lines with candidate, references, human (a number, or an object of criteria), system, segment and " +
    "document; .tsv and .csv with columns human.<criterion> work, too.",
  read: async (file) => (await readFile(file, "judgements")).rows,
  exampleName: "The example (its judgements are invented)",
  example: exampleJudgements,
  isTable(rows) {
    const isNumber = (value) => value === null || Number.isFinite(value);
    const fits = (row) => typeof row?.candidate === "string" && areReferences(row.references) &&
      Object.keys(row.human ?? {}).length > 0 && Object.values(row.human).every(isNumber);
    return Array.isArray(rows) && rows.length > 0 && rows.every(fits);
  },
};

/** The numbers of judged rows and their systems, and the criteria. */
export function describeJudged(rows) {
  const names = Object.keys(rows[0].human);
  const systems = new Set(rows.map((row) => row.system)).size;
  return `${counted(rows.length, "row")}, ${counted(systems, "system")}, ` +
    `${names.length === 1 ? "criterion" : "criteria"} ${names.join(", ")}`;
}
