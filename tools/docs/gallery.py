"""Draw the figures of docs/gallery.md by running its commands."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from snippets import blocks, commands, run_command, workplace

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "gallery.md"
IMAGES = PROJECT / "docs" / "images"
MOST_BYTES = 60_000


def shown(page: str) -> set[str]:
    """Return the names of the figures that the page shows."""
    return set(re.findall(r"\]\(images/([\w-]+\.(?:svg|png))\)", page))


def main() -> None:
    """Run all commands and copy the figures."""
    page = PAGE.read_text("utf-8")
    IMAGES.mkdir(exist_ok=True)
    with workplace(PROJECT) as folder:
        for block in blocks(page):
            for command in commands(block):
                outcome = run_command(command.words)
                if outcome.code:
                    sys.exit(f"{command.typed}\n{outcome.stderr}")
        for name in sorted(shown(page)):
            content = (folder / name).read_bytes()
            if len(content) > MOST_BYTES:
                sys.exit(f"{name} has {len(content):,} bytes, more than {MOST_BYTES:,}")
            (IMAGES / name).write_bytes(content)


if __name__ == "__main__":
    main()
