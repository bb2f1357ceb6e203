"""Find and run the code blocks of a page.

A ``console`` block has lines ``$ nlgauge ...``, each followed by its output. A ``python`` block
runs in the namespace of its page; a ``text`` block directly after it shows its output. To update
the output on pages, run in the top folder of the project:

    python tools/docs/snippets.py docs/start.md docs/studies.md
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
WIDTH = "100"  # columns of the terminal
SERVER = "127.0.0.1:8000"
"""Address of the server on the pages; replaced by that of a running server in the tests."""

_NOT_RUN = ("serve", "reproduce")  # does not terminate; needs published data


@dataclass(frozen=True)
class Block:
    """The content of one fenced block and its position in the page."""

    language: str
    content: str
    start: int
    end: int


@dataclass(frozen=True)
class Command:
    """A command line and the output shown below it."""

    typed: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The arguments, split as by a shell, without comments."""
        return shlex.split(self.typed.replace("\\\n", " "), comments=True)

    @property
    def runnable(self) -> bool:
        """Whether the command can be run: nlgauge or curl."""
        words = self.words
        if words[0] == "curl":
            return shutil.which("curl") is not None
        return words[0] == "nlgauge" and words[1] not in _NOT_RUN


def blocks(page: str) -> Iterator[Block]:
    """Return the fenced blocks of a page, in order."""
    for found in _FENCE.finditer(page):
        yield Block(found[2], found[3], *found.span(3))


def commands(block: Block) -> Iterator[Command]:
    """Return the commands of a console block."""
    for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        shown = "\n".join(lines[last + 1 :])
        yield Command("\n".join(lines[: last + 1]), shown.rstrip())


@dataclass(frozen=True)
class Outcome:
    """Exit code, standard output and standard error of a command."""

    code: int
    stdout: str
    stderr: str


def run_command(words: list[str]) -> Outcome:
    """Run a command; ``nlgauge`` runs in this process, so that models are loaded once."""
    if words[0] != "nlgauge":
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        return Outcome(ended.returncode, trimmed(ended.stdout), trimmed(ended.stderr))
    from nlgauge.cli import main

    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            main(words[1:])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    return Outcome(code, trimmed(stdout.getvalue()), trimmed(stderr.getvalue()))


def run_python(content: str, names: dict[str, Any]) -> str:
    """Return the output of the code; its names remain defined for the next block of the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(content, "<block>", "exec"), names)
    return trimmed(printed.getvalue())


_EXTRAS = {
    "nlgauge.adapters.torchmetrics": "torchmetrics",
    "nlgauge.adapters.evaluate": "evaluate",
    "nlgauge.torch": "torch",
}


def missing(content: str) -> str | None:
    """Return the first library that the code imports and that is not installed."""
    for node in ast.walk(ast.parse(content)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            library = _EXTRAS.get(name, name.partition(".")[0])
            if find_spec(library) is None:
                return library
    return None


def trimmed(text: str) -> str:
    """Return the text without trailing spaces."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def excerpt(output: str, shown: str) -> str:
    """Return as many paragraphs of the output as the page shows, at least one.

    Signatures come after the table, and pages need not repeat them.
    """
    return "\n\n".join(output.split("\n\n")[: max(1, len(shown.split("\n\n")))])


def pairs(found: list[Block]) -> Iterator[tuple[Block, Block | None]]:
    """Return the python blocks, each with the text block that shows its output."""
    for number, block in enumerate(found):
        if block.language == "python":
            after = found[number + 1] if number + 1 < len(found) else None
            follows = after is not None and after.language == "text"
            yield block, after if follows and after.start - block.end < 24 else None


@contextlib.contextmanager
def workplace(project: Path) -> Iterator[Path]:
    """Change to a temporary folder with a copy of the examples."""
    before, variables = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(project / "examples", Path(folder, "examples"))
        os.chdir(folder)
        os.environ |= {"COLUMNS": WIDTH, "NO_COLOR": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": folder}
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            _restore(variables)


@contextlib.contextmanager
def served(page: str) -> Iterator[tuple[str, str]]:
    """Start a server if the page needs one; yield the page with its address, and the address."""
    if SERVER not in page:
        yield page, SERVER
        return
    words = [sys.executable, "-m", "nlgauge", "serve", "--port", "0", "--model", "hashing"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://([^/]+)", process.stdout.readline())
        try:
            assert address is not None, "the server did not start"
            yield page.replace(SERVER, address[1]), address[1]
        finally:
            process.terminate()


def _restore(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def updated(page: str) -> str:
    """Return the page with the current output of all blocks."""
    found, names = list(blocks(page)), {"__name__": "__main__"}
    outputs = {id(block): output for block, output in pairs(found)}
    pieces, position = [], 0
    for block in found:
        content = block.content
        if block.language == "console":
            content = "".join(_updated_command(command) for command in commands(block))
            content = content.rstrip("\n") + "\n"
            span = block
        elif block.language == "python" and not missing(content):
            output = run_python(content, names)
            span = outputs[id(block)]
            if span is None:
                continue
            content = output + "\n"
        else:
            continue
        pieces += [page[position : span.start], content]
        position = span.end
    return "".join([*pieces, page[position:]])


def _updated_command(command: Command) -> str:
    shown = command.shown
    if command.runnable:
        outcome = run_command(command.words)
        failed = outcome.code and not shown.startswith("nlgauge:")
        if failed:
            raise SystemExit(f"{command.typed}\n{outcome.stderr}")
        shown = excerpt(outcome.stderr if outcome.code else outcome.stdout, shown)
    return f"{_PROMPT}{command.typed}\n" + (f"{shown}\n\n" if shown else "")


def main(paths: list[str]) -> None:
    """Update the output on pages."""
    project = Path(__file__).resolve().parents[2]
    pages = [Path(path).resolve() for path in paths]
    for page in pages:
        with workplace(project), served(page.read_text("utf-8")) as (text, address):
            content = updated(text).replace(address, SERVER)
        page.write_text(content, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
