"""mkdocs hook: publish the example notebook as a page and as a download."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files
from notebooks import PROJECT, as_page, read

NAME = "first_steps"


def on_files(files: Files, config: Any) -> Files:
    """Add the page, its figures and the notebook file."""
    path = PROJECT / "examples" / f"{NAME}.ipynb"
    added = {**as_page(read(path), NAME), f"{NAME}.ipynb": path.read_bytes()}
    for place, content in added.items():
        files.append(File.generated(config, place, content=content))
    return files
