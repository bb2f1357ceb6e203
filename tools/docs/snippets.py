"""The code blocks of a page: found, run, and compared with the output they show.

A ``console`` block holds lines ``$ nlgauge ...`` with what each prints. A ``python`` block is run
in the namespace of its page; a ``text`` block right after it shows what it prints. Run this file
from the top folder of the project to write the output anew into the pages that it names:

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
_WIDTH = "100"  # columns of the terminal that pages pretend to have
SERVER = "127.0.0.1:8000"
"""The address that pages write where a server has to run; another takes its place in the tests."""

_NOT_RUN = ("serve", "reproduce")  # one does not end, one needs published data


@dataclass(frozen=True)
class Block:
    """The content of one fenced block and where it lies in its page."""

    language: str
    content: str
    start: int
    end: int


@dataclass(frozen=True)
class Command:
    """A line typed at the prompt, without continuation marks, and the output shown below it."""

    typed: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The arguments as a shell would split them, its comments left out."""
        return shlex.split(self.typed.replace("\\\n", " "), comments=True)

    @property
    def ours(self) -> bool:
        """Whether it is a call of nlgauge that can be run here."""
        words = self.words
        if words[0] == "curl":
            return shutil.which("curl") is not None
        return words[0] == "nlgauge" and words[1] not in _NOT_RUN


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in _FENCE.finditer(page):
        yield Block(found[2], found[3], *found.span(3))


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        shown = "\n".join(lines[last + 1 :])
        yield Command("\n".join(lines[: last + 1]), shown.rstrip())


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, what it printed and what it said on the side."""

    code: int
    printed: str
    said: str


def run_command(words: list[str]) -> Outcome:
    """Run a command: ``nlgauge`` in this process, so that a model is loaded once for all."""
    if words[0] != "nlgauge":
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        return Outcome(ended.returncode, trimmed(ended.stdout), trimmed(ended.stderr))
    from nlgauge.cli import main

    printed, said, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        try:
            main(words[1:])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    return Outcome(code, trimmed(printed.getvalue()), trimmed(said.getvalue()))


def run_python(content: str, names: dict[str, Any]) -> str:
    """What the code prints; the names it defines stay for the next block of the page."""
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
    """The first library that the code imports and that is not installed."""
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
    """The text without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def excerpt(output: str, shown: str) -> str:
    """As many paragraphs of the output as are shown; one, if nothing is shown yet.

    Tables come first and signatures below them, which pages need not repeat.
    """
    return "\n\n".join(output.split("\n\n")[: max(1, len(shown.split("\n\n")))])


def pairs(found: list[Block]) -> Iterator[tuple[Block, Block | None]]:
    """The python blocks, each with the text block right after it that shows its output."""
    for number, block in enumerate(found):
        if block.language == "python":
            after = found[number + 1] if number + 1 < len(found) else None
            follows = after is not None and after.language == "text"
            yield block, after if follows and after.start - block.end < 20 else None


@contextlib.contextmanager
def workplace(project: Path) -> Iterator[Path]:
    """A folder with a copy of the examples, in which blocks run and may write."""
    before, variables = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(project / "examples", Path(folder, "examples"))
        os.chdir(folder)
        os.environ |= {"COLUMNS": _WIDTH, "NO_COLOR": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": folder}
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            _restore(variables)


@contextlib.contextmanager
def served(page: str) -> Iterator[tuple[str, str]]:
    """The page with the address of a server that runs meanwhile, if it asks for one, and that."""
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


def rewritten(page: str) -> str:
    """The page with the output of all its blocks made anew."""
    found, names = list(blocks(page)), {"__name__": "__main__"}
    outputs = {id(block): output for block, output in pairs(found)}
    pieces, position = [], 0
    for block in found:
        content = block.content
        if block.language == "console":
            content = "".join(_again(command) for command in commands(block))
            content = content.rstrip("\n") + "\n"
            span = block
        elif block.language == "python" and not missing(content):
            made = run_python(content, names)
            span = outputs[id(block)]
            if span is None:
                continue
            content = made + "\n"
        else:
            continue
        pieces += [page[position : span.start], content]
        position = span.end
    return "".join([*pieces, page[position:]])


def _again(command: Command) -> str:
    shown = command.shown
    if command.ours:
        outcome = run_command(command.words)
        failed = outcome.code and not shown.startswith("nlgauge:")
        if failed:
            raise SystemExit(f"{command.typed}\n{outcome.said}")
        shown = excerpt(outcome.said if outcome.code else outcome.printed, shown)
    return f"{_PROMPT}{command.typed}\n" + (f"{shown}\n\n" if shown else "")


def main(paths: list[str]) -> None:
    """Write the pages anew."""
    project = Path(__file__).resolve().parents[2]
    pages = [Path(path).resolve() for path in paths]
    for page in pages:
        with workplace(project), served(page.read_text("utf-8")) as (text, address):
            content = rewritten(text).replace(address, SERVER)
        page.write_text(content, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
