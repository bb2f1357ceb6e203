"""A server for browser tests, started with the command `nlgauge serve`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running_server(*arguments: str) -> Iterator[str]:
    """Start a server on a free port, yield its address, and stop it."""
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
    output = []
    for line in server.stdout or ():
        output.append(line)
        found = re.search(r"http://[\w.]+:\d+", line)
        if found:
            return found[0]
    raise AssertionError("the server did not start:\n" + "".join(output))
