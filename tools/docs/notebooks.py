"""Run notebooks without Jupyter and store the same outputs.

To update the outputs of a notebook, run in the top folder of the project:

    python tools/docs/notebooks.py examples/first_steps.ipynb
"""

from __future__ import annotations

import ast
import base64
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snippets import run_python, workplace

PROJECT = Path(__file__).resolve().parents[2]
_DOTS_PER_INCH = 110


def read(path: Path) -> dict[str, Any]:
    """Return the notebook of a file."""
    return dict(json.loads(path.read_text("utf-8")))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with all cells run in order."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            made = list(_outputs("".join(cell["source"]), names, count))
            cells.append(cell | {"execution_count": count, "outputs": made})
        else:
            cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    code = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = run_python(ast.unparse(tree), names)
    value = None
    if last is not None:
        # The last expression runs separately, to store both its output and its value.
        printed_last = run_python(f"_last = {ast.unparse(last)}", names)
        printed = "\n".join(filter(None, (printed, printed_last)))
        value = names.pop("_last")
    if printed:
        text = (printed + "\n").splitlines(keepends=True)
        yield {"name": "stdout", "output_type": "stream", "text": text}
    if value is not None:
        yield {
            "data": _shown(value),
            "execution_count": count,
            "metadata": {},
            "output_type": "execute_result",
        }


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        image = io.BytesIO()
        value.savefig(image, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
        return {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": ["figure"]}
    return {"text/plain": repr(value).splitlines(keepends=True)}


def as_page(notebook: dict[str, Any], name: str) -> dict[str, str | bytes]:
    """Return the notebook as a Markdown page with its figures, by path."""
    words: list[str] = []
    figures: dict[str, str | bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words.append(source)
            continue
        words.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                path = f"{name}.{len(figures) + 1}.png"
                figures[path] = base64.b64decode(data["image/png"])
                words.append(f"![Figure of the cell above]({path})")
            else:
                text = "".join(output.get("text") or data["text/plain"]).rstrip()
                words.append(f"```text\n{text}\n```")
    return {f"{name}.md": "\n\n".join(words) + "\n", **figures}


def main(paths: list[str]) -> None:
    """Update the outputs of notebooks."""
    for path in map(Path, paths):
        resolved = path.resolve()
        with workplace(PROJECT):
            made = executed(read(resolved))
        text = json.dumps(made, ensure_ascii=False, indent=1)
        resolved.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
