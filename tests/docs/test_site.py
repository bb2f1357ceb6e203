"""The documentation site builds, its links resolve, and its pages are accessible."""

from __future__ import annotations

import logging
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.conftest import TIMEOUT
from conftest import PROJECT, needs_embedded

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOTEBOOK = PROJECT / "examples" / "first_steps.ipynb"
EXAMPLES = ("chrf", "wmd")
"""Metrics whose pages are built with examples and figures, which take long."""

AXE = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .flatMap((each) => each.nodes.map((node) => `${each.id} (${each.impact}): ${node.html}`))"""


class _Warnings(logging.Handler):
    """Collects the warnings of a build."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: broken links and anchors are errors."""
    for library in ("mkdocs", "material", "mkdocstrings"):
        if find_spec(library) is None:
            pytest.skip("the extra 'docs' is not installed")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLGAUGE_DOCS_EXAMPLES", ",".join(EXAMPLES))
        warnings = _Warnings()
        logging.getLogger("mkdocs").addHandler(warnings)
        target = tmp_path_factory.mktemp("site")
        config = load_config(str(PROJECT / "mkdocs.yml"), site_dir=str(target), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    assert warnings.messages == []
    return target


@needs_embedded
def test_the_site_builds_without_a_warning_and_has_a_page_for_every_metric(site: Path) -> None:
    import nlgauge

    for name in nlgauge.metric_names():
        page = (site / "metrics" / f"{name}.html").read_text("utf-8")
        for heading in ("definition", "pitfalls", "example", "options"):
            assert f'id="{heading}"' in page, (name, heading)
        assert "None known." not in page, f"tools/docs/pitfalls.toml has no entry for {name}"
    for name in EXAMPLES:
        assert (site / "metrics" / f"{name}.quality.svg").stat().st_size > 1000
    assert (site / "metrics" / "wmd.plan.svg").exists()
    assert (site / "first_steps.ipynb").read_bytes() == NOTEBOOK.read_bytes()


@needs_embedded
def test_the_site_fetches_nothing_from_other_hosts(site: Path) -> None:
    fetched = re.compile(
        r"""<(?:script|img|iframe)[^>]+src="(https?:)?//|<link[^>]+href="https?://"""
    )
    for page in site.rglob("*.html"):
        found = fetched.search(page.read_text("utf-8"))
        assert found is None or 'rel="canonical"' in found[0], (page, found)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )[\"']?https?:", sheet.read_text("utf-8")), sheet


@needs_embedded
@pytest.mark.slow
@pytest.mark.parametrize("name", ["index.html", "from-sacrebleu.html", "metrics/wmd.html"])
def test_pages_are_accessible_and_fit_a_phone(
    site: Path, browser: Browser, axe: str, name: str
) -> None:
    for colours in ("light", "dark"):
        page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme=colours)
        page.set_default_timeout(TIMEOUT)
        page.goto((site / name).as_uri())
        page.evaluate(axe)
        assert page.evaluate(AXE) == [], colours
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.close()
