// Error messages, warnings, and announcements for screen readers.

import { h, quietButton, refill } from "./elements.js";
import { counted } from "./number_format.js";

/** Show an error in the place of the result; a cancelled request is not an error. */
export function showError(place, error) {
  if (error.name === "AbortError") return;
  const close = quietButton("Dismiss", () => refill(place));
  const facts = [
    where(error.where),
    error.wait && `Try again in ${counted(Number(error.wait), "second")}.`,
    error.id && `Error id in the log of the service: ${error.id}.`,
  ].filter(Boolean);
  refill(place, h("div", { class: "alert", role: "alert" },
    h("div", {},
      h("p", {}, sentence(error.message)),
      facts.map((fact) => h("p", { class: "note" }, fact))),
    close));
  if (!error.kind) console.error(error);
}

/** Tell what could not be used of a link, and whether it waits for the button of this name. */
export function showLinkNotice(place, problems, button) {
  const messages = problems.map((each) => h("p", {}, `This link cannot be used completely: ${each}.`));
  if (button) {
    messages.push(h("p", {}, "This link has metrics, options or long texts of its own. Check them, then press ", h("strong", {}, button), "."));
  }
  if (messages.length === 0) return;
  refill(place, h("div", { class: problems.length ? "alert" : "advice", role: "alert" }, h("div", {}, messages)));
  place.scrollIntoView({ block: "nearest" });
}

/** The warnings of an answer, or nothing. */
export function warnings(sentences) {
  return list("warnings", "Warnings", sentences);
}

/** The notes of an answer, or nothing. */
export function notes(sentences) {
  return list("notes", "Notes", sentences);
}

function list(look, title, sentences) {
  if (sentences.length === 0) return null;
  return h("ul", { class: look, "aria-label": title }, sentences.map((each) => h("li", {}, sentence(each))));
}

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("news").textContent = text;
}

/** An error in the user's input, shown like an error of the service. */
export function inputError(message) {
  return Object.assign(new Error(message), { kind: "input" });
}

function where(path) {
  if (!path || path.length === 0) return null;
  return `In ${path.filter((part) => part !== "body").join(" › ")}.`;
}

function sentence(text) {
  const opened = /^[a-z]+\s/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?)]$/.test(opened) ? opened : `${opened}.`;
}
