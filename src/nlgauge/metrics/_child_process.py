"""Companion: a program that is kept running and answers rows of JSON."""

from __future__ import annotations

import atexit
import json
import math
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import ModelError
from nlgauge.core.options import escape

_TOLD = 400  # characters of a program's last words that an error repeats


@lru_cache
def companion(command: str) -> Companion:
    """The running program of this command, started at the first use."""
    return Companion(command)


class Companion:
    """A program, what it said of itself, and a way to ask it."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the program runs)
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"{command!r} cannot be started: {error}") from error
        atexit.register(self._process.kill)
        self._lock = threading.Lock()
        said = self._read()
        self.about = {
            key: escape(str(said[key])) for key in ("name", "version") if said.get(key) is not None
        }
        if "version" not in self.about:
            raise ModelError(
                f'{command!r} must first write {{"name": ..., "version": ...}} but wrote {said}'
            )
        self.about = {f"external_{key}": value for key, value in self.about.items()}

    def ask(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """The scores of the rows."""
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        with self._lock:
            # A program may answer row by row, so it must be read from while it is written to.
            writer = threading.Thread(target=self._write, args=(lines + "\n",), daemon=True)
            writer.start()
            scores = [self._score() for _ in rows]
            writer.join()
        return np.array(scores)

    def _write(self, lines: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(lines)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the reader finds out, and tells why

    def _score(self) -> float:
        answer = self._read()
        score = answer.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool) or math.isnan(score):
            raise ModelError(f'{self._command!r} must answer {{"score": number}}, not {answer}')
        return float(score)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip()[-_TOLD:]
            companion.cache_clear()
            raise ModelError(f"{self._command!r} ended with exit code {code}: {said or 'no words'}")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ModelError(f"{self._command!r} wrote {line.strip()[:80]!r}, not a JSON object")
        return answer
