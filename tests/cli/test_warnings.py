"""Warnings of nlgauge are notes on the command line, those of other packages are not."""

import importlib
import sys
import warnings

import pytest

from nlgauge import cli
from nlgauge.encode.cache.database import CacheWarning

NOISY = """
import warnings
PATTERN = "\\\\d"  # an invalid escape sequence: a SyntaxWarning since Python 3.12
for category in (SyntaxWarning, DeprecationWarning, FutureWarning, UserWarning, RuntimeWarning):
    warnings.warn("from a foreign package", category)
"""


@pytest.fixture
def _noisy_command(tmp_path, monkeypatch):
    """A command that imports a module full of warnings, then warns itself."""
    (tmp_path / "noisy_package.py").write_text(NOISY, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "noisy_package", raising=False)

    def command(*_, **__):
        warnings.simplefilter("always")
        importlib.import_module("noisy_package")
        warnings.warn("the cache is damaged", CacheWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", command)


@pytest.mark.usefixtures("_noisy_command")
def test_only_our_own_warnings_are_notes(capsys, monkeypatch):
    monkeypatch.setattr(sys, "warnoptions", [])
    with pytest.raises(SystemExit, match="0"):
        cli.main([])
    assert capsys.readouterr().err == "note: the cache is damaged\n"


@pytest.mark.usefixtures("_noisy_command")
def test_warnings_of_other_packages_are_shown_on_request(monkeypatch):
    monkeypatch.setattr(sys, "warnoptions", ["default"])
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda *place: shown.append(place[1]))
    with pytest.raises(SystemExit, match="0"):
        cli.main([])
    assert {SyntaxWarning, DeprecationWarning, UserWarning} <= set(shown)
    assert CacheWarning not in shown
