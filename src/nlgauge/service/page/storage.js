// A text that the browser keeps for the page; where it keeps none, the page remembers the text itself.

/** The text of this name; `open()` is localStorage or sessionStorage, which throw where they are blocked. */
export function storedText(name, open) {
  let text = attempt(() => open().getItem(name)) ?? null;
  return {
    get: () => text,
    set(wanted) {
      text = wanted;
      attempt(() => (text === null ? open().removeItem(name) : open().setItem(name, text)));
    },
  };
}

function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
