// A dialog for the token of the service, which is kept while the tab is open.

import { onTokenRequired, token } from "./api.js";
import { h, openDialog, quietButton } from "./elements.js";

let pending = null;

/** Open the dialog when the service requires a token; concurrent requests share it. */
export function startToken(button) {
  onTokenRequired((refused) => {
    pending ??= requestToken(refused).finally(() => {
      pending = null;
      button.hidden = false;
    });
    return pending;
  });
  button.hidden = token.get() === null;
  button.addEventListener("click", () => {
    token.set(null);
    location.reload();
  });
}

function requestToken(refused) {
  const input = h("input", {
    type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": "token-why",
    pattern: "\\s*[!-~]([ -~]*[!-~])?\\s*", title: "Printable ASCII characters",
  });
  const dialog = h("dialog", { class: "narrow", "aria-labelledby": "token-title" },
    h("form", { method: "dialog" },
      h("h2", { id: "token-title" }, "This service requires a token"),
      refused && h("p", { class: "wrong", role: "alert" }, "This token is wrong: the service refused it."),
      h("p", { class: "note", id: "token-why" },
        "Enter the token that the service was started with. It is deleted when this tab is closed."),
      h("div", { class: "option" }, h("label", { for: "token" }, "Token"), input),
      h("footer", {},
        quietButton("Not now", () => dialog.close()),
        h("button", { class: "primary", value: "go" }, "Continue"))));
  return openDialog(dialog, () => input.value.trim());
}
