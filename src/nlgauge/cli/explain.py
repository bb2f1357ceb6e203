"""nlgauge explain: why two numbers differ, from their signatures."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """The inks of the answer."""

    TEXT = "text"
    JSON = "json"


Signature = Annotated[str, typer.Argument(metavar="SIGNATURE", show_default=False)]


def explain_command(
    first: Signature,
    second: Signature,
    format: Annotated[Format, typer.Option("--format", "-f")] = Format.TEXT,
) -> None:
    """Say what two signatures disagree on, and what that means.

    Quote the signatures, they hold bars: nlgauge explain 'bleu|nrefs:1|...' 'bleu|nrefs:2|...'
    """
    import dataclasses
    import json

    from nlgauge.reproducibility import explain

    found = explain(first, second)
    if format is Format.JSON:
        print(json.dumps([dataclasses.asdict(each) for each in found], indent=2))
    elif found:
        print("\n".join(map(str, found)))
    else:
        print("nothing: the signatures say the same, so the texts must differ")
