"""Scoring by a server instead of this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli.option_groups import given_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nlgauge.core.corpus import Corpus
    from nlgauge.core.scores import Scores
    from nlgauge.scoring import Progress

# Settings of the server, or features it does not have.
_LOCAL = ("idf_corpus", "lang", "device", "batch_tokens", "download", "cache", "folder")


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """A server to score on."""

    server: Annotated[
        str | None, typer.Option(metavar="URL", help="Score on a server (see nlgauge serve).")
    ] = None
    token: Annotated[
        str | None, typer.Option(envvar="NLGAUGE_TOKEN", help="Bearer token of the server.")
    ] = None

    def check(self, context: typer.Context) -> None:
        """Raise an error for local options beside --server."""
        from nlgauge.core.errors import UsageError

        for option in given_options(context, _LOCAL) if self.server is not None else ():
            raise UsageError(
                f"{option} is for scoring here and does not go with --server; leave it out"
            )

    def scorer(self, metrics: Sequence[str]) -> RemoteScorer:
        """Return a scorer of these metrics."""
        return RemoteScorer(metrics, self.server or "", self.token)


class RemoteScorer:
    """A scorer that sends its texts to a server."""

    def __init__(self, metrics: Sequence[str], server: str, token: str | None) -> None:
        from nlgauge.service.client import Client

        self._metrics = metrics
        self._client = Client(server, token=token)

    def score_corpus(
        self, corpus: Corpus, *, progress: Progress | None = None
    ) -> dict[str, dict[str, Scores]]:
        """Return scores by system and metric label."""
        return self._client.score_corpus(corpus, metrics=self._metrics, progress=progress)
