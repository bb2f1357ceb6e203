// An area to drop files on, with a button to choose files.

import { h } from "./elements.js";

/** The area; `onFiles` gets an array of files, at least one. */
export function dropzone({ title, hint, accept, several = true }, onFiles) {
  const input = h("input", {
    type: "file", class: "unseen", multiple: several, accept, tabindex: "-1", "aria-label": title,
    onchange: () => {
      onFiles([...input.files]);
      input.value = ""; // so that the same file can be chosen again
    },
  });
  const choose = h("button", { type: "button", onclick: () => input.click() },
    several ? "Choose files" : "Choose a file");
  let depth = 0; // of nested elements that the pointer has entered
  const hover = (change) => {
    depth = change === 0 ? 0 : depth + change;
    place.classList.toggle("over", depth > 0);
  };
  const place = h("div", {
    class: "dropzone",
    ondragenter: () => hover(1),
    ondragleave: () => hover(-1),
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => {
      event.preventDefault();
      hover(0);
      if (event.dataTransfer.files.length) onFiles([...event.dataTransfer.files]); // not a text or a link
    },
  }, h("p", {}, h("strong", {}, title)), h("p", { class: "note" }, hint), choose, input);
  return place;
}
