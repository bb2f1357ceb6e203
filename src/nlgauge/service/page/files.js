// Files are read by the service, with the reader of the commands; the page parses none.

import { sendFile } from "./api.js";
import { catalogue } from "./metrics.js";
import { inputError } from "./notices.js";
import { count } from "./number_format.js";

/** The file's name, its kind, and its lines or rows; `content` is "outputs", "judgements" or "labels". */
export async function readFile(file, content = "outputs") {
  const { limits } = await catalogue();
  if (file.size > limits.bytes) {
    throw inputError(`${file.name} has ${count(file.size)} bytes; this service accepts ${count(limits.bytes)}.`);
  }
  const query = new URLSearchParams({ name: file.name.slice(-200), content });
  return { ...(await sendFile(`/v1/read?${query}`, file)), file: file.name };
}
