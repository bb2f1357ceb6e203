// Requests to the service: JSON or a file in, JSON out, errors with the message of the service.

import { storedText } from "./storage.js";

/** The token of the service, which is kept while this tab is open; null if there is none. */
export const token = storedText("nlgauge.token", () => sessionStorage);
let requestToken = null;

/** An error with a message for people; `kind` is the service's name for it. */
class ServiceError extends Error {
  constructor(message, { kind = "unreachable", status = 0, where = null, id = null, wait = null } = {}) {
    super(message);
    Object.assign(this, { kind, status, where, id, wait });
  }
}

/** Set the function that gets a token from the user, or null; it is told whether one was refused. */
export function onTokenRequired(request) {
  requestToken = request;
}

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body, options) => call("POST", path, body, options);
export const sendFile = (path, file, options) => call("POST", path, file, options);
export const remove = (path, options) => call("DELETE", path, undefined, options);

/** The error that an answer of the service describes. */
export function describe(error, status, wait = null) {
  return new ServiceError(error.message, { ...error, status, wait });
}

async function call(method, path, body, options = {}) {
  for (;;) {
    const sent = token.get();
    const answer = await send(method, path, body, options);
    if (answer.status !== 401 || requestToken === null) return read(answer);
    if (token.get() !== sent) continue; // another request has got a token meanwhile
    const given = await requestToken(sent !== null);
    if (given === null) return read(answer);
    token.set(given);
  }
}

async function send(method, path, body, { signal, keepalive = false } = {}) {
  const headers = {};
  if (token.get() !== null) headers.Authorization = `Bearer ${token.get()}`;
  const raw = body === undefined || body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = raw ? "application/octet-stream" : "application/json";
  try {
    return await fetch(path, { method, headers, body: raw ? body : JSON.stringify(body), signal, keepalive });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (raw && body && !(await readable(body))) throw new ServiceError(`${body.name} cannot be read.`, { kind: "input" });
    throw new ServiceError("The service does not answer. Is `nlgauge serve` still running?");
  }
}

/** Whether a file still has bytes; a folder that was dropped has none. */
function readable(file) {
  return file.slice(0, 1).arrayBuffer().then(() => true, () => false);
}

async function read(answer) {
  const { status } = answer;
  let content;
  try {
    content = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error.name !== "SyntaxError") throw new ServiceError("The connection to the service broke off.");
    throw new ServiceError(`The service answered ${status}, but not in JSON.`, { kind: "not_json", status });
  }
  if (answer.ok) return content;
  if (content?.error?.message) throw describe(content.error, status, answer.headers.get("Retry-After"));
  throw new ServiceError(`The service answered ${status} without a message.`, { kind: "no_message", status });
}
