"""Run tests on several versions of Python, with the lowest and the highest versions of libraries.

    python tools/test_matrix.py                                  all versions on this machine
    python tools/test_matrix.py --python 3.13 --resolution lowest

Each combination has a separate environment in build/matrix (uv). The base install runs the
tests of the lexical metrics, statistics, readers and commands. A table is printed at the end; the
exit code is 1 if a combination fails or none could be run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = {"highest": "highest", "lowest": "lowest-direct"}
EXTRAS = "stats,service,plots,frames,streams"
TOOLS = ("pytest>=8", "hypothesis>=6.100", "packaging>=24", "POT>=0.9.5")
TESTS = (
    *("core", "data", "measure", "report", "runtime", "stats", "text"),
    *(f"metrics/test_{name}.py" for name in ("bleu", "chrf", "ter", "rouge", "eed", "character")),
)
_COUNTS = re.compile(r"\d+ (?:passed|failed|error|skipped)[^\n]*")


def main() -> None:
    """Run all combinations and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", choices=PYTHONS)
    parser.add_argument("--resolution", action="append", choices=tuple(RESOLUTIONS))
    chosen = parser.parse_args()
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("uv is not installed; install it with: pip install uv")
    rows, ran, failed = [], False, False
    for python in chosen.python or PYTHONS:
        for resolution in chosen.resolution or RESOLUTIONS:
            print(f"Python {python}, {resolution} versions of libraries", flush=True)
            outcome, ok = _run(uv, python, resolution)
            rows.append((python, resolution, outcome))
            ran |= ok is not None
            failed |= ok is False
    print("\n| Python | libraries | tests |\n|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    sys.exit(failed or not ran)


def _run(uv: str, python: str, resolution: str) -> tuple[str, bool | None]:
    """Return the outcome in words, and whether the tests passed; None without this Python."""
    folder = PROJECT / "build" / "matrix" / f"{python}-{resolution}"
    made = _call([uv, "venv", "--quiet", "--clear", "--python", python, str(folder)])
    if made.returncode:
        return f"not run: {_last_line(made.stderr)}", None
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    interpreter = scripts / ("python.exe" if os.name == "nt" else "python")
    install = [uv, "pip", "install", "--quiet", "--python", str(interpreter)]
    # The lowest versions that have wheels for this Python; older ones seldom compile there.
    install += ["--only-binary", ":all:", "--no-binary", "nlgauge"]
    install += ["--resolution", RESOLUTIONS[resolution], f"{PROJECT}[{EXTRAS}]", *TOOLS]
    installed = _call(install)
    if installed.returncode:
        return f"install failed: {_last_line(installed.stderr)}", False
    start = time.monotonic()
    tests = [str(PROJECT / "tests" / name) for name in TESTS]
    # From another folder, so that the installed package is tested and not the sources.
    words = [str(interpreter), "-m", "pytest", "--rootdir", str(PROJECT), "-c"]
    run = _call([*words, str(PROJECT / "pyproject.toml"), *tests], folder)
    print(run.stdout[-3000:] if run.returncode else "", end="", flush=True)
    counts = _COUNTS.findall(run.stdout)
    outcome = counts[-1].strip("= ") if counts else _last_line(run.stderr or run.stdout)
    return f"{outcome} ({time.monotonic() - start:.0f} s with tests)", run.returncode == 0


def _call(words: list[str], folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


if __name__ == "__main__":
    main()
