"""A server of its own for browser tests, started as a person would start it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The address of a server with these arguments on a free port, ended afterwards."""
    settings = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    server = subprocess.Popen(
        [sys.executable, "-m", "nlgauge", "serve", "--port", "0", *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield _address(server)
    finally:
        server.terminate()
        server.wait(120)


def _address(server: subprocess.Popen[str]) -> str:
    said = []
    for line in server.stdout or ():
        said.append(line)
        found = re.search(r"http://[\w.]+:\d+", line)
        if found:
            return found[0]
    raise AssertionError("the server did not start:\n" + "".join(said))
