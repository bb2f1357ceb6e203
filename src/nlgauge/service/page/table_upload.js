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
 * it; `run` starts the work of the view.
 */
export function tableUpload(kind, { result, onTable, onChange, run }) {
  const about = h("p", { class: "about" });
  const settings = h("div", { hidden: true }, about);
  const found = { name: null, table: null, isExample: false };
  const zone = dropzone({ several: false, title: kind.title, hint: kind.hint }, take);
  const empty = h("p", { class: "actions" },
    h("button", { type: "button", class: "quiet", onclick: example }, "Try an example"));

  let newest = null; // the table that was asked for last

  async function take([file]) {
    if (!file) return;
    const reading = newest = kind.read(file);
    try {
      if (!await set(file.name, reading)) return;
      refill(result);
      onChange();
    } catch (error) {
      if (reading === newest) showError(result, error);
    }
  }

  async function example() {
    if (!await set(kind.exampleName, kind.example(), true)) return;
    onChange();
    run();
  }

  /** Show a table once it has been read; return false if another one was asked for meanwhile. */
  async function set(name, reading, isExample = false) {
    newest = reading;
    const table = await reading;
    if (reading !== newest) return false;
    Object.assign(found, { name, table, isExample });
    refill(about, h("strong", {}, name), h("span", { class: "note" }, ` · ${onTable(table)}`));
    settings.hidden = false;
    empty.hidden = true;
    return true;
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
    async restore(link, parts) {
      const table = link.texts(kind.isTable);
      if (parts.has("example")) await set(kind.exampleName, kind.example(), true);
      else if (table) await set("The link", table);
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
