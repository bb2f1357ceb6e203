/* Names and keyboard access for parts of the theme that screen readers and keyboards cannot tell or reach. */
function name(selector, label) {
  document.querySelectorAll(selector).forEach((element, number) => {
    element.setAttribute("aria-label", label(number + 1));
  });
}

function mend() {
  name(".md-search", () => "Search");
  name(".md-code__nav", (number) => `Code block ${number}`);
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((element) => {
    element.tabIndex = 0;
  });
}

/* The theme adds buttons and scrolling tables after the page has loaded. */
addEventListener("load", mend);
new MutationObserver((changes) => {
  const added = changes.some((change) => change.addedNodes.length > 0);
  if (added) mend();
}).observe(document.body, { childList: true, subtree: true });
