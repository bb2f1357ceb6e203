// The table of a view: a dropped or chosen file that the service reads, the example, or a link.

import { dropzone } from "./dropzone.js";
import { h, refill } from "./elements.js";
import { exampleJudgements } from "./examples.js";
import { readFile } from "./files.js";
import { areReferences } from "./link.js";
import { showError } from "./notices.js";
import { counted } from "./number_format.js";

/**
 * A place for one file. `kind` has its `title` and `hint`, what `read(file)` makes of it, the example and
 * whether the texts of a link are such a table. `onTable` gets every new table and returns a text about
 * it; `run` starts the work of the view, and `work` is what runs it.
 */
export function tableUpload(kind, { result, work, onTable, onChange, run }) {
  const about = h("p", { class: "about" });
  const settings = h("div", { hidden: true }, about);
  const found = { name: null, table: null, isExample: false };
  const zone = dropzone({ several: false, title: kind.title, hint: kind.hint }, take);
  const empty = h("p", { class: "actions" },
    h("button", { type: "button", class: "quiet", onclick: example }, "Try an example"));

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

  return {
    found,
    /** The form; `fields` are shown once there is a table. */
    form(...fields) {
      settings.append(...fields);
      return h("div", { class: "card form" }, zone, empty, settings);
    },
    /** The table for a link, which names the example instead of holding it. */
    texts: () => (found.isExample ? null : found.table),
    restore(link, parts) {
      const table = link.texts(kind.isTable);
      if (parts.has("example")) set(kind.exampleName, kind.example(), true);
      else if (table) set("The link", table);
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
