// Light or dark: what the system prefers, unless the switch says otherwise.

import { DARK, LIGHT } from "./colours.js";

const KEY = "nlgauge.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const followers = new Set();

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** The colours of drawings on the page as it is now. */
export function palette() {
  return isDark() ? DARK : LIGHT;
}

/** Call this whenever light becomes dark or back, for as long as the element is on the page. */
export function onTheme(element, callback) {
  followers.add({ element, callback });
}

/** Make a button switch, and remember what was chosen in this browser. */
export function startTheme(button) {
  const remembered = localStorage.getItem(KEY);
  if (remembered === "dark" || remembered === "light") choose(remembered);
  const tell = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    button.querySelector("span").textContent = isDark() ? "Light" : "Dark";
    for (const follower of followers) {
      if (follower.element.isConnected) follower.callback();
      else followers.delete(follower);
    }
  };
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    choose(wanted);
    localStorage.setItem(KEY, wanted);
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}

function choose(theme) {
  document.documentElement.dataset.theme = theme;
}
