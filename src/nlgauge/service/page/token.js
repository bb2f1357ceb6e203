// The service's token, asked for in a dialog and kept only while the tab is open.

import { keepToken, onTokenWanted } from "./api.js";
import { h } from "./elements.js";

let asking = null;

/** Ask when the service wants one; requests that come meanwhile wait for the same answer. */
export function startToken(button) {
  onTokenWanted((why) => {
    asking ??= ask(why).finally(() => {
      asking = null;
      button.hidden = false;
    });
    return asking;
  });
  button.addEventListener("click", () => {
    keepToken(null);
    location.reload();
  });
}

function ask(why) {
  const input = h("input", {
    type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": "token-why",
  });
  const dialog = h("dialog", { class: "narrow", "aria-labelledby": "token-title" },
    h("form", { method: "dialog" },
      h("h2", { id: "token-title" }, "This service asks for a token"),
      h("p", { class: "note", id: "token-why" },
        `It says: ${why}. The token stays in this tab and is forgotten with it.`),
      h("div", { class: "option" }, h("label", { for: "token" }, "Token"), input),
      h("footer", {},
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Not now"),
        h("button", { class: "primary", value: "go" }, "Go on"))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "go" ? input.value : null);
    });
  });
}
