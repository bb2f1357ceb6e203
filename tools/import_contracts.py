"""An import-linter contract that lists the allowed imports of a package.

Imports inside functions count, and so do imports by string: ``import_module("torch")``,
``__import__("torch")``, ``find_spec("torch")``, and string constants that name a module of ours.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

_LOADERS = {"import_module", "__import__", "find_spec"}
_RUNNERS = {"exec", "eval"}


class AllowedImports(Contract):
    """Modules below `source` import only `internal` packages of ours and `external` libraries.

    ``dynamic`` allows imports whose name is computed, for packages that find modules by name.
    """

    source = fields.StringField()
    internal = fields.SetField(subfield=fields.StringField(), required=False)
    external = fields.SetField(subfield=fields.StringField(), required=False)
    dynamic = fields.BooleanField(required=False, default=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return whether every import of every module below the source is allowed."""
        source = str(self.source)
        root = source.partition(".")[0]
        folder = next(
            Path(place, root) for place in sys.path if Path(place, root, "__init__.py").is_file()
        )
        refused = []
        for module in sorted({source} | graph.find_descendants(source)):
            found = set(graph.find_modules_directly_imported_by(module))
            found |= set(_imported_by_string(_path(folder, module), root))
            refused += [f"{module} imports {name}" for name in sorted(found) if self._refused(name)]
        return ContractCheck(kept=not refused, metadata={"refused": refused})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that are not allowed."""
        for line in check.metadata["refused"]:
            output.print_error(line)

    def _refused(self, name: str) -> bool:
        if name == "<computed>":
            return not self.dynamic
        top, source = name.partition(".")[0], str(self.source)
        if top == source.partition(".")[0]:
            allowed = (source, *(f"{top}.{each}" for each in self.internal or ()))
            return not any(name == each or name.startswith(f"{each}.") for each in allowed)
        return top not in sys.stdlib_module_names and top not in (self.external or ())


def _path(folder: Path, module: str) -> Path:
    path = folder.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imported_by_string(path: Path, root: str) -> Iterator[str]:
    """Yield the names of modules that a file imports by string; computed ones as <computed>."""
    tree = ast.parse(path.read_text("utf-8"))
    loaders = set(_LOADERS)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            loaders |= {each.asname for each in node.names if each.name in _LOADERS and each.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            if name in loaders and node.args:
                first = node.args[0]
                literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
                yield str(first.value) if literal else "<computed>"
            elif isinstance(function, ast.Name) and name in _RUNNERS:
                yield "<computed>"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = node.value.split(".")
            if parts[0] == root and len(parts) > 1 and all(map(str.isidentifier, parts)):
                yield node.value
