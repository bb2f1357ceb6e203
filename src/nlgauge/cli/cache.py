"""nlgauge cache: what the embedding cache holds, whether it is sound, and how to be rid of it."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nlgauge.encode.cache import Checked, Store
    from nlgauge.encode.cache.index import Holding

app = typer.Typer(
    help="Look after the embedding cache that --cache or NLGAUGE_CACHE names.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[
    str | None,
    typer.Argument(metavar="[DIR]", help="The cache [default: NLGAUGE_CACHE].", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Plain values instead of a table.")]

_WAYS = ("precision", "long_text", "device", "temperature", "whole_words")


@app.command("info")
def info_command(folder: Folder = None, as_json: AsJson = False) -> None:
    """Show what is kept of which model, how large it is and how often it was of use."""
    store = _store(folder)
    holdings = [each for each in store.holdings() if each.entries]
    if as_json:
        content = {"folder": str(store.folder), "limit": _limit(), "spaces": _plain(holdings)}
        print(json.dumps(content, indent=2))
        return
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table

    heads = ("model", "kept", "ways", "entries", "MB", "hits", "misses")
    rows = [
        (
            *(row["model"], row["kind"], row["ways"], row["entries"]),
            *(row["bytes"] / 1e6, row["hits"], row["misses"]),
        )
        for row in _plain(holdings)
    ]
    if rows:
        print(text(Table(tuple(Column(head, 1) for head in heads), tuple(rows))), end="\n\n")
    entries, size = sum(h.entries for h in holdings), sum(h.size for h in holdings)
    shards = sum(h.shards for h in holdings)
    print(
        f"{store.folder}: {_count(entries, 'entry', 'entries')} in {_count(shards, 'shard')}, "
        f"{size / 1e6:,.1f} MB of {_limit() / 1e6:,.0f} MB"
    )


@app.command("verify")
def verify_command(folder: Folder = None) -> None:
    """Check every shard and the index; drop what is damaged (it will be computed again).

    The exit code is 1 if anything had to be dropped or made anew.
    """
    store = _store(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all of it is in the sentence below
        found = store.verify()
    print(f"{store.folder}: {_told(found)}")
    if not found.clean:
        raise typer.Exit(1)


@app.command("clear")
def clear_command(folder: Folder = None) -> None:
    """Delete what the cache holds, and nothing else that may lie in the folder."""
    store = _store(folder)
    size = sum(each.size for each in store.holdings())
    count = store.clear()
    print(f"{store.folder}: {_count(count, 'shard')} deleted, {size / 1e6:,.1f} MB")


def _store(folder: str | None) -> Store:
    from nlgauge.core.errors import FileError, UsageError
    from nlgauge.encode.cache import chosen_cache, open_store

    chosen = chosen_cache(folder)
    if chosen is None:
        raise UsageError("which cache? Name its folder, or set NLGAUGE_CACHE")
    if not chosen.is_dir():
        raise FileError(f"there is no cache {str(chosen)!r}; --cache makes one when it is used")
    return open_store(chosen)


def _limit() -> int:
    from nlgauge.encode.cache.place import size_limit

    return size_limit()


def _plain(holdings: list[Holding]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for each in holdings:
        about = json.loads(each.about)
        ways = " ".join(about[way] for way in _WAYS if way in about and about["kind"] != "card")
        rows.append(
            {
                "model": about["model"],
                "weights": about.get("weights", ""),
                "kind": about["kind"],
                "ways": ways,
                "entries": each.entries,
                "shards": each.shards,
                "bytes": each.size,
                "hits": each.hits,
                "misses": each.misses,
            }
        )
    return rows


def _told(found: Checked) -> str:
    parts = [f"{_count(found.sound, 'shard')} sound"]
    if found.dropped:
        parts.append(f"{_count(len(found.dropped), 'damaged shard')} dropped")
    if found.missing:
        parts.append(f"{_count(len(found.missing), 'shard')} missing and forgotten")
    if found.adopted:
        parts.append(f"{_count(len(found.adopted), 'shard')} entered in the index")
    if found.index_rebuilt:
        parts.append("the index was damaged and made anew")
    return "; ".join(parts)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
