"""nlgauge explain: why two scores differ, from their signatures."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli.arguments import TextOrJson

Signature = Annotated[str, typer.Argument(metavar="SIGNATURE", show_default=False)]


def explain_command(first: Signature, second: Signature, format: TextOrJson = "text") -> None:
    """Explain the differences between two signatures.

    Quote the signatures: nlgauge explain 'bleu|nrefs:1|...' 'bleu|nrefs:2|...'
    """
    import dataclasses

    from nlgauge.cli.output import to_json
    from nlgauge.reproducibility import explain

    found = explain(first, second)
    if format == "json":
        print(to_json([dataclasses.asdict(each) for each in found], indent=2))
    elif found:
        print("\n".join(map(str, found)))
    else:
        print("no difference: the signatures are equal, so the texts must differ")
