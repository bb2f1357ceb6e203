"""ChildProcess: a program that scores rows of JSON until nlgauge exits."""

import atexit
import json
import math
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, cast

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import ModelError
from nlgauge.core.options import escape

_MAX_STDERR = 400  # characters of standard error that an error message quotes
_RUNNING: "dict[str, ChildProcess]" = {}


def child_process(command: str) -> "ChildProcess":
    """Return the process of a command, started at the first call and after an error."""
    if command not in _RUNNING:
        _RUNNING[command] = ChildProcess(command)
    return _RUNNING[command]


class ChildProcess:
    """A running program; ``facts`` are the name and version that it reports."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the program runs)
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                encoding="utf-8",
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"{command!r} cannot be started: {error}") from error
        self._input = cast(IO[str], self._process.stdin)
        self._output = cast(IO[str], self._process.stdout)
        atexit.register(self._process.kill)
        self._lock = threading.Lock()
        header = self._read()
        if header.get("version") is None:
            raise ModelError(
                f'{command!r} must first write {{"name": ..., "version": ...}} but wrote {header}'
            )
        declared = {key: header.get(key) for key in ("name", "version")}
        self.facts = {f"external_{k}": escape(str(v)) for k, v in declared.items() if v is not None}

    def score(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Return the scores of the rows."""
        lines = "".join(json.dumps(row) + "\n" for row in rows) + "\n"
        with self._lock:
            # A program may answer row by row, so its output is read while rows are written.
            writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
            writer.start()
            try:
                scores = [self._read_score() for _ in rows]
            except BaseException:  # its next answers would be taken for those of other rows
                self._process.kill()
                _RUNNING.pop(self._command, None)
                raise
            writer.join()
        return np.array(scores)

    def _write(self, lines: str) -> None:
        with suppress(BrokenPipeError):  # _read raises the error with the program's exit code
            self._input.write(lines)
            self._input.flush()

    def _read_score(self) -> float:
        answer = self._read()
        score = answer.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool) or math.isnan(score):
            raise ModelError(f'{self._command!r} must answer {{"score": number}}, not {answer}')
        return float(score)

    def _read(self) -> dict[str, Any]:
        line = self._output.readline()
        if not line:
            code = self._process.wait()
            self._stderr.seek(0)
            output = self._stderr.read().decode("utf-8", "replace").strip()[-_MAX_STDERR:]
            raise ModelError(
                f"{self._command!r} ended with exit code {code}: {output or 'no error output'}"
            )
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ModelError(f"{self._command!r} wrote {line.strip()[:80]!r}, not a JSON object")
        return answer
