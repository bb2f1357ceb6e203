// The list of files of a comparison: systems and references.

import { h, refill } from "./elements.js";
import { readFile } from "./files.js";
import { inputError } from "./notices.js";
import { count, counted } from "./number_format.js";

/** The list of files; `onChange` is called when it changes, `onError` when a change is refused. */
export function fileList(onChange, onError) {
  let files = [];
  const place = h("ul", { class: "files", "aria-label": "Files" });

  function draw() {
    refill(place, files.map((file, k) => h("li", {},
      h("input", {
        type: "text", class: "name", value: file.name, "aria-label": `Name of ${file.file}`,
        disabled: file.role === "references" || file.kind === "table",
        onchange: (event) => rename(file, event.target),
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

  /** Rename a system, unless another has the name: both would become one. */
  function rename(file, input) {
    const wanted = input.value.trim() || file.name;
    const other = files.find((each) => each !== file && each.name === wanted);
    if (other) {
      input.value = file.name;
      onError(inputError(`“${wanted}” is the name of ${other.file} already, so ${file.file} is still called ` +
        `“${file.name}”: every system needs a name of its own.`));
      return;
    }
    file.name = wanted;
    changed();
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

  /** The name of a file without its ending, or as much of it as tells it from the others. */
  function unused({ name, file }) {
    const taken = (wanted) => files.some((known) => known.name === wanted);
    if (!taken(name)) return name;
    let wanted = file;
    for (let k = 2; taken(wanted); k++) wanted = `${file} (${k})`;
    return wanted;
  }

  function changed() {
    draw();
    onChange();
  }

  return {
    element: place,
    isEmpty: () => files.length === 0,
    /** Read files and add them, unless an example or a link has replaced the list meanwhile. */
    async add(given) {
      const list = files;
      let read;
      try {
        read = await Promise.all(given.map((file) => readFile(file)));
      } catch (error) {
        if (list === files) throw error;
      }
      if (list !== files) return;
      for (const file of read) {
        file.role = file.kind === "text" && /ref/i.test(file.name) ? "references" : "system";
        file.name = unused(file);
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
    if (file.kind === "table") return file.rows.map((row) => row.system ?? file.name);
    return file.role === "system" ? [file.name] : [];
  });
  return [...new Set(names)];
}

function tables(files) {
  const other = files.find((file) => file.kind === "text");
  if (other) {
    throw inputError(`${other.file} is plain text, but there are tables, too. Tables bring their own references: ` +
      "give either tables, or texts and references line by line.");
  }
  return { pairs: files.flatMap((file) => file.rows) };
}

function texts(files) {
  const systems = files.filter((file) => file.role === "system");
  const references = files.filter((file) => file.role === "references");
  if (systems.length === 0) throw inputError("There is no system yet: drop a file with one output per line.");
  if (references.length === 0) {
    throw inputError("There are no references yet: drop a file with one reference per line, " +
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
