// Links that reproduce a view: the view's name and its settings in the fragment of the address.

export const VIEWS = ["pair", "systems", "judgements"];
const LONGEST = 6000; // characters that browsers, mails and chats carry without breaking

/** The view that the address names, and its settings. */
export function readLink() {
  const [view, settings = ""] = location.hash.slice(1).split("?", 2);
  return { view: VIEWS.includes(view) ? view : VIEWS[0], settings: new URLSearchParams(settings) };
}

/** Put a view into the address; the history has one entry per visit of a view. */
export function writeLink(view, settings, { visit = false } = {}) {
  const text = settings.toString();
  const fragment = `#${view}${text && text.length <= LONGEST ? `?${text}` : ""}`;
  if (fragment === location.hash) return;
  history[visit ? "pushState" : "replaceState"](null, "", fragment);
}

/** The settings of a view with its texts, and whether they were short enough to be put in. */
export function linkOf(view) {
  const settings = view.settings();
  const texts = view.texts();
  if (texts === null) return { settings, whole: true };
  const longer = new URLSearchParams(settings);
  longer.set("texts", JSON.stringify(texts));
  const whole = longer.toString().length <= LONGEST;
  return { settings: whole ? longer : settings, whole };
}

/** The texts of a link, or null where there are none. */
export function readTexts(settings) {
  try {
    return JSON.parse(settings.get("texts") ?? "null");
  } catch {
    return null;
  }
}
