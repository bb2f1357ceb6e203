// The theme, light or dark: the preference of the system, unless the button overrides it.

import { DARK, LIGHT } from "./colours.js";

const KEY = "nlgauge.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** The colours of drawings on the page as it is now. */
export function palette() {
  return isDark() ? DARK : LIGHT;
}

/** Call back when the theme changes, as long as the element is on the page. */
export function onTheme(element, callback) {
  listeners.add({ element, callback });
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
  const remembered = localStorage.getItem(KEY);
  if (remembered === "dark" || remembered === "light") choose(remembered);
  const update = () => {
    button.querySelector("span").textContent = isDark() ? "Light theme" : "Dark theme";
    button.title = `Switch to the ${isDark() ? "light" : "dark"} theme`;
    for (const listener of listeners) {
      if (listener.element.isConnected) listener.callback();
      else listeners.delete(listener);
    }
  };
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    choose(wanted);
    localStorage.setItem(KEY, wanted);
    update();
  });
  system.addEventListener("change", update);
  update();
}

function choose(theme) {
  document.documentElement.dataset.theme = theme;
}
