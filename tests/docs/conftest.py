"""The browser of tests/browser, for tests of the documentation site."""

from browser.conftest import axe, browser, chromium

__all__ = ["axe", "browser", "chromium"]
