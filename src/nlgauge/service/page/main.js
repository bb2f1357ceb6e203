// The page: five views in tabs, each with a permanent link.

import { cardView } from "./card.js";
import { copy } from "./clipboard.js";
import { h, refill } from "./elements.js";
import { loadExamples } from "./examples.js";
import { judgeView } from "./judge.js";
import { judgementsView } from "./judgements.js";
import { clipped, linkOf, readLink, VIEWS, writeLink } from "./link.js";
import { catalogue } from "./metrics.js";
import { announce, showError, showLinkNotice } from "./notices.js";
import { pairView } from "./pair.js";
import { systemsView } from "./systems.js";
import { startTheme } from "./theme.js";
import { startToken } from "./auth_token.js";

const VIEW_FUNCTIONS = {
  pair: pairView, systems: systemsView, judgements: judgementsView, judge: judgeView, card: cardView,
};
const PAUSE = 250; // milliseconds without change before the address is updated

const views = {};
let current = null;
let waiting = null;

async function start() {
  startTheme(document.getElementById("theme"));
  startToken(document.getElementById("forget-token"));
  startTabs();
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the fragment of the address names the view
    document.getElementById("main").focus();
  });
  document.getElementById("copy-link").addEventListener("click", copyLink);
  for (const kind of ["dragover", "drop"]) {
    addEventListener(kind, (event) => event.preventDefault()); // a file dropped elsewhere is not opened
  }
  const notice = document.getElementById("notice");
  try {
    const [offered] = await Promise.all([catalogue(), loadExamples()]);
    refill(notice);
    document.getElementById("about").textContent =
      `nlgauge ${offered.version} · ${offered.models.length > 1 ? "models" : "model"}: ${offered.models.join(", ")}`;
    for (const name of VIEWS) {
      views[name] = VIEW_FUNCTIONS[name](offered, () => updateLink(name), openPair);
      refill(document.getElementById(name), views[name].element);
    }
    openLink();
    addEventListener("hashchange", openLink);
    document.body.dataset.ready = "true";
  } catch (error) {
    showError(notice, error);
    notice.append(h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Try again"));
  }
}

/** Open the view in the address. */
function openLink() {
  const { view, unknown, settings } = readLink();
  const notice = document.getElementById("notice");
  open(view);
  refill(notice);
  if (unknown) showLinkNotice(notice, [`there is no view “${clipped(unknown)}”; there are ${VIEWS.join(", ")}`], null);
  if (["", linkOf(views[view]).settings.toString()].includes(settings.toString())) return; // there is nothing to change
  try {
    views[view].restore(settings);
  } catch (error) {
    showError(notice, error);
  }
}

/** Update the address a moment after a view has changed. */
function updateLink(name) {
  if (name !== current) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => writeLink(current, linkOf(views[current]).settings), PAUSE);
}

function open(name) {
  current = name;
  for (const each of VIEWS) {
    const chosen = each === name;
    const tab = document.getElementById(`tab-${each}`);
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(each).hidden = !chosen;
  }
  document.title = `${document.getElementById(`tab-${name}`).textContent} · nlgauge`;
}

function visit(name) {
  clearTimeout(waiting);
  open(name);
  if (views[name]) writeLink(name, linkOf(views[name]).settings, { visit: true });
}

/** Show the alignment of a pair in the first view, from which the history leads back. */
function openPair(pair, metric) {
  visit("pair");
  document.getElementById("main").focus();
  views.pair.show(pair, metric);
}

function startTabs() {
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  VIEWS.forEach((name, k) => {
    const tab = document.getElementById(`tab-${name}`);
    tab.addEventListener("click", () => visit(name));
    tab.addEventListener("keydown", (event) => {
      const ends = { Home: 0, End: VIEWS.length - 1 };
      const at = ends[event.key] ?? (steps[event.key] && (k + steps[event.key] + VIEWS.length) % VIEWS.length);
      if (at === undefined) return;
      event.preventDefault();
      visit(VIEWS[at]);
      document.getElementById(`tab-${VIEWS[at]}`).focus();
    });
  });
  open(readLink().view);
}

async function copyLink() {
  const button = document.getElementById("copy-link");
  if (!views[current]) return;
  clearTimeout(waiting);
  const { settings, whole } = linkOf(views[current]);
  writeLink(current, settings);
  const copied = (await copy(location.href)) ? "Copied" : "The link is in the address bar";
  const words = whole ? copied : `${copied}, without the texts`;
  announce(`Link: ${words}.`);
  button.querySelector("span").textContent = words;
  setTimeout(() => {
    button.querySelector("span").textContent = "Copy link";
  }, 2500);
}

start();
