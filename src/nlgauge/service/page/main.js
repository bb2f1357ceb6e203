// The page: three views behind tabs, each with a link of its own.

import { copy } from "./clipboard.js";
import { h, refill } from "./elements.js";
import { judgementsView } from "./judgements.js";
import { linkOf, readLink, VIEWS, writeLink } from "./link.js";
import { catalogue } from "./metrics.js";
import { announce, showError } from "./notices.js";
import { pairView } from "./pair.js";
import { systemsView } from "./systems.js";
import { startTheme } from "./theme.js";
import { startToken } from "./token.js";

const MAKERS = { pair: pairView, systems: systemsView, judgements: judgementsView };
const PAUSE = 250; // milliseconds of rest before the address follows what is typed

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
    addEventListener(kind, (event) => event.preventDefault()); // a file beside its place opens nothing
  }
  const notice = document.getElementById("notice");
  try {
    const offered = await catalogue();
    refill(notice);
    document.getElementById("about").textContent =
      `nlgauge ${offered.version} · ${offered.models.length > 1 ? "models" : "model"}: ${offered.models.join(", ")}`;
    for (const name of VIEWS) {
      views[name] = MAKERS[name](offered, () => follow(name));
      refill(document.getElementById(name), views[name].element);
    }
    arrive();
    addEventListener("hashchange", arrive);
    document.body.dataset.ready = "true";
  } catch (error) {
    showError(notice, error);
    notice.append(h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Try again"));
  }
}

/** Show what the address says. */
function arrive() {
  const { view, settings } = readLink();
  open(view);
  if (linkOf(views[view]).settings.toString() !== settings.toString()) views[view].restore(settings);
}

/** Keep the address in step with a view, a moment after it has changed. */
function follow(name) {
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
  const said = (await copy(location.href)) ? "Copied" : "It is in the address bar";
  const words = whole ? said : `${said}, without the texts`;
  announce(`Link: ${words}.`);
  button.querySelector("span").textContent = words;
  setTimeout(() => {
    button.querySelector("span").textContent = "Copy link";
  }, 2500);
}

start();
