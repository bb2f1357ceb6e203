"""The embedding cache: a run that fills it, the same run again, and one with a new system."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nlgauge
from bench.texts import pairs
from bench.timing import Timing
from nlgauge.encode import open_encoder

METRIC = "bertscore"
REPEATS = 3


def cache(count: int) -> list[Timing]:
    """Calls with the model loaded, then whole commands, start of Python and torch included.

    The new system has the words of the old one in reverse order, so its texts have the same length
    and are not cached. Warm calls read a copy of the folder, so that checksums are timed, too.
    """
    candidates, references = pairs(count)
    others = [" ".join(reversed(text.split())) for text in candidates]
    open_encoder(None, cache="").encode(candidates[:8], (1,))  # load the model, start the threads
    best: dict[str, float] = {}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as made:
            cold, warm, command = (Path(made) / name for name in ("cold", "warm", "command"))
            runs: dict[str, Callable[[], object]] = {
                "cold": lambda at=cold: _score(candidates, references, at),
                "no cache": lambda: _score(candidates, references, ""),
                "warm": lambda at=warm: _score(candidates, references, at),
                "warm, new system": lambda at=warm: _score(others, references, at),
                "whole command, cold": lambda at=command: _command(candidates, references, at),
                "whole command, warm": lambda at=command: _command(candidates, references, at),
            }
            for name, run in runs.items():
                if name == "warm":
                    shutil.copytree(cold, warm)
                start = time.perf_counter()
                run()
                seconds = time.perf_counter() - start
                best[name] = min(seconds, best.get(name, seconds))
    return [Timing(name, seconds, len(candidates)) for name, seconds in best.items()]


def _score(candidates: list[str], references: list[str], folder: str | Path) -> None:
    nlgauge.score(candidates, references, metrics=METRIC, runtime=nlgauge.Runtime(cache=folder))


def _command(candidates: list[str], references: list[str], folder: Path) -> None:
    files = {"-c": candidates, "-r": references}
    words = ["score", "-m", METRIC, "--cache", str(folder)]
    for option, texts in files.items():
        path = folder.with_name(f"texts{option}.txt")
        path.write_text("\n".join(" ".join(text.split()) for text in texts) + "\n", "utf-8")
        words += [option, str(path)]
    subprocess.run([sys.executable, "-m", "nlgauge", *words], capture_output=True, check=True)
