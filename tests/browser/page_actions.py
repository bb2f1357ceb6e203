"""Actions on the web page: fill in a pair, choose metrics, set options, upload files."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests: Playwright is not installed"
)
sync_api.expect.set_options(timeout=120_000)  # the machine may be busy
expect = sync_api.expect

CANDIDATE = "A guy with a red jacket is standing on a boat"
REFERENCE = "A man wearing a lifevest is sitting in a canoe"
_WORDS = ("the", "old", "bridge", "across", "a", "river", "was", "closed", "while", "rain", "fell")


def fill_pair(page: Any, candidate: str = CANDIDATE, reference: str = REFERENCE) -> None:
    page.get_by_label("Candidate", exact=True).fill(candidate)
    page.get_by_label("Reference", exact=True).fill(reference)


def score_pair(page: Any, candidate: str = CANDIDATE, reference: str = REFERENCE) -> None:
    """Fill in a pair and press Score."""
    fill_pair(page, candidate, reference)
    page.get_by_role("button", name="Score", exact=True).click()


def choose_metrics(view: Any, *names: str) -> None:
    """Select exactly these metrics."""
    view.get_by_role("button", name="more", exact=False).first.click()
    chips = view.get_by_role("group", name="Metrics")
    for chip in chips.locator("button[aria-pressed]").all():
        chosen = chip.get_attribute("aria-pressed") == "true"
        if chosen != (chip.get_attribute("data-chip") in names):
            chip.click()
    view.get_by_role("button", name="Fewer").click()


def set_option(page: Any, metric: str, label: str, value: str) -> None:
    """Change one option of a chosen metric in its dialog."""
    page.get_by_role("button", name=f"Options of {metric}").click()
    dialog = page.get_by_role("dialog", name=metric)
    dialog.get_by_label(label).fill(value)
    dialog.get_by_role("button", name="Apply").click()


def drop_files(view: Any, *files: tuple[str, str]) -> None:
    """Drop files of these names and contents on the drop zone of the view."""
    view.locator(".dropzone").evaluate(
        """(zone, files) => {
          const dataTransfer = new DataTransfer();
          for (const [name, text] of files) dataTransfer.items.add(new File([text], name));
          const event = { dataTransfer, bubbles: true, cancelable: true };
          zone.dispatchEvent(new DragEvent("drop", event));
        }""",
        files,
    )


def choose_files(page: Any, view: Any, *paths: Path) -> None:
    """Choose files with the file dialog."""
    with page.expect_file_chooser() as chooser:
        view.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(paths)


def random_lines(count: int, *, seed: int, words: int = 25) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(_WORDS, k=words)) for _ in range(count)]


def json_lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
