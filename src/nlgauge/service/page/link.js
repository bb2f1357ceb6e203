// Links that reproduce a view: the view's name and its settings in the fragment of the address.

export const VIEWS = ["pair", "systems", "judgements", "judge", "card"];
const LONGEST = 6000; // characters that browsers, mails and chats carry without breaking

/** The view that the address names, and its settings. */
export function readLink() {
  const [view, settings = ""] = location.hash.slice(1).split("?", 2);
  const known = VIEWS.includes(view);
  return {
    view: known ? view : VIEWS[0], unknown: known || !view ? null : view, settings: new URLSearchParams(settings),
  };
}

/** Put a view into the address; the history has one entry per visit of a view. */
export function writeLink(view, settings, { visit = false } = {}) {
  const text = settings.toString();
  const fragment = `#${view}${text && text.length <= LONGEST ? `?${text}` : ""}`;
  if (fragment === location.hash) return;
  history[visit ? "pushState" : "replaceState"](null, "", fragment);
}

/** The settings of a view for a link; empty ones are left out. */
export function settingsOf(parts) {
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value));
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

/**
 * A reader of the parts of a link, which anybody may have written: it returns null for a part that
 * is missing or cannot be used, and collects the reasons in `problems`.
 */
export function linkReader(settings, known) {
  const problems = [];
  const refuse = (why) => {
    problems.push(why);
    return null;
  };
  for (const name of new Set(settings.keys())) {
    if (!known.includes(name)) refuse(`“${clipped(name)}” is not a setting of this view`);
  }
  return {
    problems,
    refuse,
    /** Whether it must wait for a click: it has problems, one of these parts, or more text than our links. */
    waits: (...parts) => problems.length > 0 || parts.some((name) => settings.has(name)) ||
      settings.toString().length > LONGEST,
    /** One of the allowed values. */
    choice(name, allowed) {
      const value = settings.get(name);
      if (value === null || allowed.includes(value)) return value;
      return refuse(`${name} is “${clipped(value)}”; it can be ${allowed.join(", ")}`);
    },
    /** Set a select box (the control of `field`) to its value, if it is one of the choices. */
    select(name, field) {
      const value = this.choice(name, [...field.control.options].map((option) => option.value));
      if (value !== null) field.control.value = value;
    },
    /** Those of several values that are allowed; null if none is. */
    choices(name, allowed) {
      const given = (settings.get(name) ?? "").split(",").filter(Boolean);
      const wrong = given.filter((value) => !allowed.includes(value));
      if (wrong.length) refuse(`${name} has “${clipped(wrong.join())}”; it can have ${allowed.join(", ")}`);
      return given.length > wrong.length ? given.filter((value) => allowed.includes(value)) : null;
    },
    /** A part that is JSON of the right shape. */
    json(name, isValid, why) {
      if (!settings.has(name)) return null;
      try {
        const value = JSON.parse(settings.get(name));
        if (isValid(value)) return value;
      } catch {
        // not JSON: refused below
      }
      return refuse(why);
    },
    texts(isValid) {
      return this.json("texts", isValid, "its texts are incomplete, or not of this view");
    },
  };
}

/** Whether a value is a list of texts. */
export const areTexts = (value) => Array.isArray(value) && value.every((text) => typeof text === "string");

/** Whether a value is a text, or a list of at least one. */
export const areReferences = (value) => typeof value === "string" || (areTexts(value) && value.length > 0);

/** The start of a text, for a message. */
export function clipped(text) {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
