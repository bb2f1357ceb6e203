// Reading files in the browser: lines of text, or tables in JSON Lines, TSV or CSV.

import { inputError } from "./notices.js";
import { count } from "./number_format.js";

const TABLES = { jsonl: readJsonLines, ndjson: readJsonLines, tsv: readTsv, csv: readCsv };
const COLUMNS = {
  candidate: ["candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"],
  references: ["references", "reference", "ref", "refs", "target", "targets"],
  system: ["system", "model", "sys"],
  id: ["id", "segment", "seg_id", "segment_id"],
  segment: ["segment", "seg_id", "segment_id", "id"],
};

/** A file's name without its ending, its kind, and its lines or rows. */
export async function readFile(file) {
  const parts = file.name.split(".");
  const packed = parts.at(-1).toLowerCase() === "gz" && parts.pop();
  const ending = parts.length > 1 ? parts.at(-1).toLowerCase() : "";
  const stream = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const text = await decode(stream, file.name);
  const name = parts.length > 1 ? parts.slice(0, -1).join(".") : parts[0];
  if (!TABLES[ending]) return { name, file: file.name, kind: "text", lines: split(text) };
  const rows = TABLES[ending](text, file.name);
  if (rows.length === 0) throw inputError(`${file.name} holds no rows.`);
  return { name, file: file.name, kind: "table", rows };
}

/** The rows of a table as pairs for the service; `segment` names the column of segment ids. */
export function pairsOf(rows, file, segment = "id") {
  const column = finder(rows, file);
  const names = ["system", segment].filter((name) => column(name, true));
  return rows.map((row, k) => ({
    ...textsOf(row, k, column, file),
    ...Object.fromEntries(names.map((name) => [name, String(row[column(name)])])),
  }));
}

/** The rows of a table as judged rows for the service. */
export function judgedOf(rows, file) {
  const judged = pairsOf(rows, file, "segment").map((pair, k) => ({ ...pair, human: humanOf(rows[k], k, file) }));
  if (judged.every((row) => Object.keys(row.human).length === 0)) {
    throw inputError(`${file} holds no human scores: it needs a column “human” (a number, or an object of ` +
      `criteria) or columns “human.<criterion>”. It has: ${Object.keys(rows[0]).join(", ")}.`);
  }
  const criteria = [...new Set(judged.flatMap((row) => Object.keys(row.human)))];
  for (const row of judged) {
    row.human = Object.fromEntries(criteria.map((name) => [name, row.human[name] ?? null]));
  }
  return judged;
}

function textsOf(row, k, column, file) {
  const [candidate, references] = [row[column("candidate")], row[column("references")]];
  const listed = Array.isArray(references) ? references : [references];
  if (typeof candidate !== "string" || !listed.every((text) => typeof text === "string")) {
    throw inputError(`${file}, row ${count(k + 1)}: the candidate and every reference must be texts.`);
  }
  return { candidate, references: listed };
}

/** The human scores of a row by criterion. */
function humanOf(row, k, file) {
  const found = {};
  for (const [key, value] of Object.entries(row)) {
    const name = key.toLowerCase();
    const nested = name === "human" && value !== null && typeof value === "object";
    if (nested) Object.assign(found, value);
    else if (name === "human") found.human = value;
    else if (/^human[._]/.test(name)) found[key.slice(6)] = value;
  }
  delete found.n; // the number of judgements, not a judgement
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, numberOf(value, name, k, file)]));
}

function numberOf(value, name, k, file) {
  if (value === null || value === "" || /^nan$/i.test(String(value))) return null;
  const read = Number(value);
  if (!Number.isFinite(read) || typeof value === "boolean") {
    throw inputError(`${file}, row ${count(k + 1)}: the human score “${name}” is ${JSON.stringify(value)}, ` +
      "which is not a number.");
  }
  return read;
}

function finder(rows, file) {
  const names = new Map(Object.keys(rows[0]).map((name) => [name.toLowerCase(), name]));
  return (wanted, optional = false) => {
    const found = COLUMNS[wanted].find((name) => names.has(name));
    if (!found && !optional) {
      throw inputError(`${file} has no column “${wanted}” (also accepted: ${COLUMNS[wanted].slice(1).join(", ")}). ` +
        `It has: ${Object.keys(rows[0]).join(", ")}.`);
    }
    return found && names.get(found);
  };
}

async function decode(stream, name) {
  try {
    const bytes = await new Response(stream).arrayBuffer();
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw inputError(`${name} cannot be read: it should be text in UTF-8, plain or packed with gzip.`);
  }
}

/** The lines; they end at line feeds only, because a segment may contain other separators. */
function split(text) {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function readJsonLines(text, file) {
  return split(text).flatMap((line, k) => {
    if (!line.trim()) return [];
    let row = null;
    try {
      row = JSON.parse(line);
    } catch (error) {
      throw inputError(`${file}, line ${count(k + 1)} is not JSON: ${error.message}`);
    }
    if (row === null || typeof row !== "object" || Array.isArray(row)) {
      throw inputError(`${file}, line ${count(k + 1)} is not a JSON object.`);
    }
    return [row];
  });
}

function readTsv(text, file) {
  return named(split(text).filter(Boolean).map((line) => line.split("\t")), file);
}

function readCsv(text, file) {
  const rows = [];
  let row = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match[0] === "" && row.length === 0) break;
    row.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    if (match[3] === ",") continue;
    if (row.length > 1 || row[0]) rows.push(row);
    row = [];
    if (match[3] === "") break;
  }
  if (pattern.lastIndex < text.length) throw inputError(`${file} is not proper CSV after row ${count(rows.length)}.`);
  return named(rows, file);
}

function named([heads = [], ...rows], file) {
  return rows.map((row, k) => {
    if (row.length !== heads.length) {
      throw inputError(`${file}, row ${count(k + 1)} has ${row.length} cells, but there are ${heads.length} columns.`);
    }
    return Object.fromEntries(heads.map((name, c) => [name, row[c]]));
  });
}
