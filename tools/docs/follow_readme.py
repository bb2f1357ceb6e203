"""Follow README.md literally, like somebody who has just cloned the project.

The tracked files are copied to a temporary folder, with an empty home folder. There the base
install is created and used, then every command and Python block of the page is run in order, in the
environment of this Python. The script fails at the first block that fails or whose output differs
from the page. ``make`` targets are left out because they run this script.

    python tools/docs/follow_readme.py
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from snippets import WIDTH, Command, blocks, commands, excerpt, trimmed

PROJECT = Path(__file__).resolve().parents[2]
_INDENTED = re.compile(r"(?:^    \S.*\n(?:^     .*\n)*)+", re.MULTILINE)
_NEEDS_DATA = "nlgauge reproduce"
_BASE_MEGABYTES = 200
_PATIENCE = 600.0  # seconds


def main() -> None:
    """Follow the page."""
    page = (PROJECT / "README.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as made:
        folder, home = Path(made, "nlgauge"), Path(made, "home")
        home.mkdir()
        tracked = _output(["git", "ls-files", "-z"], PROJECT, dict(os.environ)).split("\0")
        for name in filter(None, tracked):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((PROJECT / name).read_bytes())
        kept = {key: os.environ[key] for key in os.environ if key.startswith(("PIP_", "UV_"))}
        variables = {
            **kept,
            **{"HOME": str(home), "COLUMNS": WIDTH, "NO_COLOR": "1", "LANG": "C.UTF-8"},
            **{"HF_HUB_OFFLINE": "1", "PATH": f"{sysconfig.get_path('scripts')}:{os.defpath}"},
        }
        _base_install(folder, Path(made, "base"), variables)
        for command in _commands(page):
            _follow(command, folder, variables)
        code = "\n".join(block.content for block in blocks(page) if block.language == "python")
        print(f"python: {len(code.splitlines())} lines", flush=True)
        _output([sys.executable, "-c", code], folder, variables)


def _base_install(folder: Path, venv: Path, variables: dict[str, str]) -> None:
    """Install and use the lexical metrics, and check that other metrics name their extra."""
    _output([sys.executable, "-m", "venv", str(venv)], folder, variables)
    bare = sum(path.lstat().st_size for path in venv.rglob("*"))
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _output([str(venv / "bin/python"), *pip, "-c", "constraints.txt", "."], folder, variables)
    megabytes = (sum(path.lstat().st_size for path in venv.rglob("*")) - bare) / 1e6
    print(f"pip install .: {megabytes:.0f} MB", flush=True)
    if megabytes > _BASE_MEGABYTES:
        sys.exit(f"the base install takes {megabytes:.0f} MB, more than {_BASE_MEGABYTES}")
    score = [str(venv / "bin/nlgauge"), "score", "-c", "examples/fluent.txt"]
    score += ["-r", "examples/reference.a.txt", "-m"]
    _output([*score, "bleu", "chrf", "ter", "rouge", "eed"], folder, variables)
    refused = subprocess.run(
        [*score, "bertscore"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if refused.returncode == 0 or "nlgauge[embedded]" not in refused.stderr:
        sys.exit(f"bertscore in the base install does not name its extra:\n{refused.stderr}")


def _commands(page: str) -> Iterator[Command]:
    """The commands of console blocks and of indented blocks, in the order of the page."""
    found = [
        (block.start + number, command)
        for block in blocks(page)
        if block.language == "console"
        for number, command in enumerate(commands(block))
    ]
    unfenced = page
    for block in blocks(page):
        unfenced = unfenced.replace(block.content, "\n" * len(block.content))
    for indented in _INDENTED.finditer(unfenced):
        lines = re.sub(r"\\\n *", "", indented[0]).splitlines()
        found += [(indented.start() + n, Command(line.strip(), "")) for n, line in enumerate(lines)]
    for _, command in sorted(found, key=lambda each: each[0]):
        if not command.typed.startswith(("make ", _NEEDS_DATA)):
            yield command


def _follow(command: Command, folder: Path, variables: dict[str, str]) -> None:
    print(f"$ {command.typed}", flush=True)
    if command.words[:2] == ["nlgauge", "serve"]:
        _serve(command, folder, variables)
        return
    printed = _output(["bash", "-c", command.typed], folder, variables)
    if command.shown and excerpt(trimmed(printed), command.shown) != command.shown:
        sys.exit(f"the page shows\n{command.shown}\nbut the command prints\n{printed}")


def _serve(command: Command, folder: Path, variables: dict[str, str]) -> None:
    """Start the server on a free port, open its page, stop it."""
    words = [*command.words, "--port", "0"]
    with subprocess.Popen(
        words, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        try:
            latest = time.monotonic() + _PATIENCE
            while address is not None and time.monotonic() < latest:
                try:
                    with urlopen(address[0], timeout=_PATIENCE) as answer:
                        if b"<html" in answer.read():
                            return
                except URLError:
                    time.sleep(0.5)
            sys.exit(f"{command.typed}: no page at {address and address[0]}")
        finally:
            process.send_signal(signal.SIGTERM)


def _output(words: list[str], folder: Path, variables: dict[str, str]) -> str:
    ended = subprocess.run(
        words,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    if ended.returncode:
        sys.exit(f"{' '.join(words)}\nexit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


if __name__ == "__main__":
    main()
