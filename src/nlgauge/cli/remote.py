"""Scoring by a server instead of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

    from nlgauge.core.corpus import Corpus
    from nlgauge.core.scores import Scores
    from nlgauge.scoring import Progress

# What the server decides for itself, or cannot do.
_LOCAL = ("idf_corpus", "lang", "device", "batch_tokens", "download", "cache", "folder")


def refuse_local(context: typer.Context) -> None:
    """Refuse options that say how this process should score."""
    from nlgauge.core.errors import UsageError

    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in _LOCAL and source is not None and source.name == "COMMANDLINE":
            raise UsageError(
                f"{option.opts[-1]} is for scoring here and does not go with --server; leave it out"
            )


class Distant:
    """A scorer of these metrics that has a server do the work."""

    def __init__(self, metrics: Sequence[str], server: str, token: str | None) -> None:
        from nlgauge.service.client import Client

        self._metrics = metrics
        self._client = Client(server, token=token)

    def score_corpus(
        self, corpus: Corpus, *, progress: Progress | None = None
    ) -> dict[str, dict[str, Scores]]:
        """Scores by system and metric label."""
        return self._client.score_corpus(corpus, metrics=self._metrics, progress=progress)
