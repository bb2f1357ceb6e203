"""nlgauge cache: show, check and clear the embedding cache."""

import json
import warnings
from typing import TYPE_CHECKING, Any

import typer

from nlgauge.cli.arguments import argument, command_group, option
from nlgauge.core.errors import FileError, UsageError
from nlgauge.core.printable import printable

if TYPE_CHECKING:
    from nlgauge.encode.cache.database import CacheContents, EmbeddingCache

app = command_group(
    "cache",
    "Show, check or clear the embedding cache.\n\n"
    "The folder of the cache is that of --cache or NLGAUGE_CACHE.",
)

_FOLDER = argument(None, "DIR", "Cache folder [default: NLGAUGE_CACHE].")
_OPTIONS = ("precision", "long_text", "device", "temperature", "whole_words")


@app.command("info")
def info_command(
    folder: str | None = _FOLDER,
    as_json: bool = option(False, "Print JSON instead of a table.", "--json"),
) -> None:
    """Show the entries, size, hits and misses of each model."""
    from nlgauge.encode.cache.settings import size_limit

    cache = _open(folder)
    rows = [_row(each) for each in cache.contents() if each.entries]
    limit = size_limit()
    if as_json:
        print(json.dumps({"folder": str(cache.folder), "limit": limit, "models": rows}, indent=2))
        return
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table

    heads = ("model", "kind", "options", "entries", "MB", "hits", "misses")
    if rows:
        cells = tuple(
            tuple({**row, "MB": row["bytes"] / 1e6}[head] for head in heads) for row in rows
        )
        print(text(Table(tuple(Column(head, 1) for head in heads), cells)), end="\n\n")
    entries, size = (sum(row[name] for row in rows) for name in ("entries", "bytes"))
    sizes = f"{size / 1e6:,.1f} MB of {limit / 1e6:,.0f} MB"
    _say(cache, f"{_count(entries, 'entry', 'entries')}, {sizes}")


@app.command("verify")
def verify_command(folder: str | None = _FOLDER) -> None:
    """Check the file and every record.

    Damaged records are deleted, and computed again when needed. The exit code is 1 if damage was
    found.
    """
    cache = _open(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the message below reports the same
        result = cache.verify()
    message = _count(result.valid, "valid record")
    if result.dropped:
        message += f"; {_count(result.dropped, 'damaged record')} dropped"
    if result.file_replaced:
        message += "; the file was damaged and is replaced by an empty one"
    _say(cache, message)
    if not result.clean:
        raise typer.Exit(1)


@app.command("clear")
def clear_command(folder: str | None = _FOLDER) -> None:
    """Delete the cache; other files in the folder are kept."""
    cache = _open(folder)
    size = sum(each.size for each in cache.contents())
    entries = cache.clear()
    _say(cache, f"{_count(entries, 'entry', 'entries')} deleted, {size / 1e6:,.1f} MB")


def _open(folder: str | None) -> "EmbeddingCache":
    from nlgauge.encode.cache.database import open_cache
    from nlgauge.encode.cache.settings import cache_folder

    chosen = cache_folder(folder)
    if chosen is None:
        raise UsageError("no cache folder: name it, or set NLGAUGE_CACHE")
    if not chosen.is_dir():
        raise FileError(f"there is no cache {str(chosen)!r}; the first use of --cache creates it")
    return open_cache(chosen)


def _row(contents: "CacheContents") -> dict[str, Any]:
    identity = json.loads(contents.identity)
    options = [identity[x] for x in _OPTIONS if x in identity and identity["kind"] != "card"]
    return {
        "model": identity["model"],
        "weights": identity.get("weights", ""),
        "kind": identity["kind"],
        "options": " ".join(options),
        "entries": contents.entries,
        "bytes": contents.size,
        "hits": contents.hits,
        "misses": contents.misses,
    }


def _say(cache: "EmbeddingCache", message: str) -> None:
    print(printable(f"{cache.folder}: {message}"))


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
