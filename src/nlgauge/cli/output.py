"""How a verb hands over what it has written: to the terminal or to a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nlgauge.core.errors import FileError


def in_bold(*, to_file: bool) -> bool:
    """Whether the best numbers can be set in bold: in a terminal whose user wants colour."""
    return not to_file and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def deliver(text: str, output: Path | None) -> None:
    """Print the text, or write it to the file."""
    if output is None:
        print(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {str(output)!r}: {error.strerror}") from error
