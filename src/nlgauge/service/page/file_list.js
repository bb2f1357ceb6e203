// The list of files of a comparison: systems and references.

import { h, refill } from "./elements.js";
import { pairsOf, readFile } from "./files.js";
import { inputError } from "./notices.js";
import { count, counted } from "./number_format.js";

/** The list of files; `onChange` is called when it changes. */
export function fileList(onChange) {
  let files = [];
  const place = h("ul", { class: "files", "aria-label": "Files" });

  function draw() {
    refill(place, files.map((file, k) => h("li", {},
      h("input", {
        type: "text", class: "name", value: file.name, "aria-label": `Name of ${file.file}`,
        disabled: file.role === "references" || file.kind === "table",
        onchange: (event) => {
          file.name = event.target.value.trim() || file.name;
          changed();
        },
      }),
      role(file),
      h("span", { class: "note" }, file.kind === "table"
        ? counted(file.rows.length, "row") : counted(file.lines.length, "line")),
      h("button", {
        type: "button", class: "quiet small", "aria-label": `Remove ${file.file}`,
        onclick: () => {
          files.splice(k, 1);
          changed();
        },
      }, "Remove"))));
  }

  function role(file) {
    if (file.kind === "table") return h("span", { class: "note role" }, "table");
    const roles = ["system", "references"];
    return h("select", {
      class: "role", "aria-label": `What ${file.file} is`,
      onchange: (event) => {
        file.role = event.target.value;
        changed();
      },
    }, roles.map((each) => h("option", { value: each, selected: each === file.role }, each)));
  }

  function changed() {
    draw();
    onChange();
  }

  return {
    element: place,
    isEmpty: () => files.length === 0,
    async add(given) {
      const read = await Promise.all(given.map(readFile));
      for (const file of read) {
        file.role = file.kind === "text" && /ref/i.test(file.name) ? "references" : "system";
        while (files.some((known) => known.name === file.name)) file.name += "′";
        files.push(file);
      }
      changed();
    },
    /** Set the list from a request body: systems and references, or pairs. */
    set({ systems, references, pairs }) {
      if (pairs) {
        files = [{ name: "table", file: "table", kind: "table", role: "system", rows: pairs }];
        changed();
        return;
      }
      const most = Math.max(...references.map((row) => row.length));
      const reference = Array.from({ length: most }, (_, k) => ({
        name: `reference ${k + 1}`, role: "references", lines: references.map((row) => row[k] ?? row[0]),
      }));
      const outputs = Object.entries(systems).map(([name, lines]) => ({ name, role: "system", lines }));
      files = [...outputs, ...reference].map((file) => ({ ...file, file: file.name, kind: "text" }));
      changed();
    },
    body: () => (files.some((file) => file.kind === "table") ? tables(files) : texts(files)),
    systems: () => named(files),
    /** The name of a segment: its line, or its id in the table. */
    nameSegment: (id) => (files.some((file) => file.kind === "table") ? `Segment ${id}` : `Line ${Number(id) + 1}`),
  };
}

/** The names of the systems in the files. */
function named(files) {
  const names = files.flatMap((file) => {
    if (file.kind === "text") return file.role === "system" ? [file.name] : [];
    const key = Object.keys(file.rows[0]).find((name) => ["system", "model", "sys"].includes(name.toLowerCase()));
    return key ? file.rows.map((row) => String(row[key])) : [file.name];
  });
  return [...new Set(names)];
}

function tables(files) {
  const other = files.find((file) => file.kind === "text");
  if (other) {
    throw inputError(`${other.file} is plain text, but there are tables, too. Tables bring their own references: ` +
      "give either tables, or texts and references line by line.");
  }
  const pairs = files.flatMap((file) =>
    pairsOf(file.rows, file.file).map((pair) => ({ system: file.name, ...pair })));
  return { pairs };
}

function texts(files) {
  const systems = files.filter((file) => file.role === "system");
  const references = files.filter((file) => file.role === "references");
  if (systems.length === 0) throw inputError("There is no system yet: drop a file with one output a line.");
  if (references.length === 0) {
    throw inputError("There are no references yet: drop a file with one reference a line, " +
      "or mark a file as references.");
  }
  const [first] = references;
  for (const file of [...references, ...systems]) {
    if (file.lines.length !== first.lines.length) {
      throw inputError(`${file.file} has ${counted(file.lines.length, "line")}, but ${first.file} has ` +
        `${count(first.lines.length)}: they must have the same number of lines.`);
    }
  }
  return {
    systems: Object.fromEntries(systems.map((file) => [file.name, file.lines])),
    references: first.lines.map((_, k) => references.map((file) => file.lines[k])),
  };
}
