// Jobs of the service, with a progress bar and a cancel button.

import { describe, post, get, remove } from "./api.js";
import { h, quietButton, refill } from "./elements.js";
import { announce } from "./notices.js";
import { count, counted, duration } from "./number_format.js";

const PAUSE = 400; // milliseconds between polls
const ATTEMPTS = 5; // polls without an answer before the service is given up
const ANNOUNCE_EVERY = 5000; // milliseconds between announcements for screen readers

/** The result of a job; its progress is shown in `place`, where `stop`, an AbortController, can be aborted. */
export async function runJob(kind, body, place, stop) {
  const { signal } = stop;
  const bar = progressBar(place, () => stop.abort());
  const leave = () => stop.abort();
  addEventListener("pagehide", leave);
  let job = null;
  try {
    job = await post("/v1/jobs", { kind, body }); // not aborted: the service would run it, and nobody would know its id
    while (job.state === "queued" || job.state === "running") {
      bar.show(job);
      await pause(PAUSE, signal);
      job = await poll(job.id, signal);
    }
    signal.throwIfAborted();
    if (job.error) throw describe(job.error, 422);
    announce("Done.");
    return job.result;
  } catch (error) {
    if (error.name === "AbortError") {
      await remove(`/v1/jobs/${job.id}`, { keepalive: true }).catch(() => null); // it may just have ended
      announce("Cancelled.");
    }
    throw error;
  } finally {
    removeEventListener("pagehide", leave);
    bar.remove();
  }
}

/** The state of a job; a short interruption of the connection does not end it. */
async function poll(id, signal) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await get(`/v1/jobs/${id}`, { signal });
    } catch (error) {
      if (error.kind !== "unreachable" || attempt === ATTEMPTS) throw error;
      await pause(PAUSE, signal);
    }
  }
}

function progressBar(place, cancel) {
  const fill = h("div", { class: "fill" });
  const track = h("div", {
    class: "track", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100,
  }, fill);
  const words = h("p", { class: "progress-words" }, "Sending …");
  const button = quietButton("Cancel", () => {
    words.textContent = "Cancelling …";
    cancel();
  });
  const whole = h("div", { class: "progress" }, track, h("div", { class: "beside" }, words, button));
  refill(place, whole);
  let announced = performance.now();
  return {
    show(job) {
      const share = job.rows_total ? job.rows_done / job.rows_total : null;
      track.classList.toggle("unknown", share === null || share >= 1);
      fill.style.width = share === null ? "" : `${100 * share}%`;
      if (share === null) track.removeAttribute("aria-valuenow");
      else track.setAttribute("aria-valuenow", String(Math.round(100 * share)));
      words.textContent = progressText(job);
      track.setAttribute("aria-valuetext", words.textContent);
      if (performance.now() - announced > ANNOUNCE_EVERY) {
        announced = performance.now();
        announce(words.textContent);
      }
    },
    remove: () => whole.remove(),
  };
}

function progressText(job) {
  if (job.state === "queued") return `Queued, position ${count(job.ahead)}`;
  if (!job.rows_total) return "Working on the first rows …";
  if (job.rows_done >= job.rows_total) return `${counted(job.rows_total, "row")} scored, finishing …`;
  const parts = [`${count(job.rows_done)} of ${counted(job.rows_total, "row")}`];
  if (job.pairs_per_second) {
    const left = (job.rows_total - job.rows_done) / job.pairs_per_second;
    parts.push(`${count(Math.round(job.pairs_per_second))} pairs/s`, `${duration(left)} left`);
  }
  return parts.join(" · ");
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stopped = () => reject(new DOMException("cancelled", "AbortError"));
    if (signal.aborted) stopped();
    signal.addEventListener("abort", stopped, { once: true });
    setTimeout(() => {
      signal.removeEventListener("abort", stopped);
      resolve();
    }, milliseconds);
  });
}
