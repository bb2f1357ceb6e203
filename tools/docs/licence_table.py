"""Write docs/licences.md: the licences of all packages that nlgauge and its extras install.

Reads the metadata of the installed distributions, so run it in an environment with every extra:
`pip install -e '.[dev,bench,ja,ko]' && python tools/docs/licence_table.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "licences.md"
START, END = "<!-- packages: start -->", "<!-- packages: end -->"
COLLECTIONS = ("docs", "bench", "dev", "all")
"""Combined and development extras; named only if no other extra needs a package."""

_SHORT = 40
"""Maximum length of a licence's name; longer entries contain the whole text."""


def licence(installed: Distribution) -> str:
    """Return the licence that a distribution declares."""
    metadata = installed.metadata
    declared = metadata.get("License-Expression") or metadata.get("License") or ""
    if metadata.get("License-Expression") or (0 < len(declared) < _SHORT and declared != "UNKNOWN"):
        return str(declared)
    listed = [
        line.rpartition(" :: ")[-1]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    return ", ".join(listed) or "not declared"


def closure(requirements: Iterable[str], extras: dict[str, list[str]]) -> dict[str, Distribution]:
    """Return all distributions that requirements install, by normalised name."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        needed, extra = waiting.pop()
        if needed.marker and not needed.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(needed.name)
        for wanted in ("", *needed.extras):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            if name == "nlgauge":
                waiting += [(Requirement(text), "") for text in extras.get(wanted, ())]
                continue
            found[name] = distribution(name)
            inner = map(Requirement, found[name].requires or ())
            waiting += [(each, wanted) for each in inner]
    return found


def table() -> str:
    """Return the table in Markdown."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    base = closure(project["dependencies"], extras)
    needed: dict[str, list[str]] = {name: ["required"] for name in base}
    found = dict(base)
    for extra in (*sorted(extras.keys() - set(COLLECTIONS)), *COLLECTIONS):
        for name, installed in closure(extras[extra], extras).items():
            if name not in found or (name not in base and extra not in COLLECTIONS):
                found[name] = installed
                needed.setdefault(name, []).append(extra)
    lines = ["| package | version | licence | needed by |", "|---|---|---|---|"]
    for name in sorted(found, key=lambda name: (name not in base, name)):
        row = (name, found[name].version, licence(found[name]), ", ".join(needed[name]))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def main() -> None:
    """Replace the table in the page."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    try:
        made = table()
    except PackageNotFoundError as error:
        raise SystemExit(f"{error} is not installed; the table needs all extras") from None
    PAGE.write_text(f"{before}{START}\n\n{made}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
