// The theme, light or dark: the preference of the system, unless the button overrides it.

import { DARK, LIGHT } from "./colours.js";
import { storedText } from "./storage.js";

const chosen = storedText("nlgauge.theme", () => localStorage);
const system = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** Whether the page is dark now; paper is not. */
export function isDark() {
  if (printing) return false;
  return ["dark", "light"].includes(chosen.get()) ? chosen.get() === "dark" : system.matches;
}

/** The colours of drawings on the page as it is now. */
export function palette() {
  return isDark() ? DARK : LIGHT;
}

/** Call back when the theme changes, as long as the element is on the page. */
export function onTheme(element, callback) {
  element.classList.add("themed");
  element.addEventListener("themechange", callback);
}

/** Call back when the width of an element or the theme changes. */
export function onResizeOrTheme(element, callback) {
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === 0 || Math.abs(element.clientWidth - width) < 2) return;
    width = element.clientWidth;
    callback();
  }).observe(element);
  onTheme(element, callback);
}

/** Let a button change the theme, and remember it in this browser. */
export function startTheme(button) {
  const update = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    button.querySelector("span").textContent = isDark() ? "Light theme" : "Dark theme";
    button.title = `Switch to the ${isDark() ? "light" : "dark"} theme`;
    for (const element of document.querySelectorAll(".themed")) element.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    chosen.set(isDark() ? "light" : "dark");
    update();
  });
  system.addEventListener("change", update);
  for (const [kind, begins] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(kind, () => {
      printing = begins;
      update();
    });
  }
  update();
}
