"""Load on the service: many clients with one pair each, batched and one by one, in the same run.

    python -m bench.service --seconds 60 --json service.json

A server of its own is started for each way. Every score is compared with the library's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from urllib.request import urlopen

import numpy as np

import nlgauge
from bench.texts import pairs
from nlgauge.report.inks import text
from nlgauge.report.table import Column, Table

_TOLERANCE = 1e-5
WAYS = {"one by one": "0", "batched": "4"}  # milliseconds that a batch waits for company


@dataclass
class Seen:
    """What the clients of one way saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    furthest: float = 0.0
    memory: list[int] = field(default_factory=list)
    batch: float = 0.0


@dataclass(frozen=True)
class Load:
    """One way in numbers."""

    name: str
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    accepted: int
    busy: int
    other: int
    mean_batch: float
    largest_difference: float
    memory_start_mb: float
    memory_end_mb: float


@contextmanager
def _server(window: str, model: str) -> Iterator[tuple[int, int]]:
    """The port and process id of a server."""
    words = [sys.executable, "-m", "nlgauge", "serve", "--port", "0"]
    words += ["--window", window, "--model", model]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield int(line.split(":")[2].split("/")[0]), process.pid
        finally:
            process.terminate()


def _resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> tuple[int, bytes]:
    head = f"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return int(answer[9:12]), await reader.readexactly(length)


async def _client(
    port: int,
    bodies: list[bytes],
    expected: list[float],
    seen: Seen,
    ends: float,
    turn: Iterator[int],
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < ends:
        number = next(turn) % len(bodies)
        begun = time.perf_counter()
        status, answer = await _ask(reader, writer, bodies[number])
        seen.statuses[status] += 1
        if status == 200:
            seen.seconds.append(time.perf_counter() - begun)
            value = json.loads(answer)["scores"][0]["value"]
            seen.furthest = max(seen.furthest, abs(value - expected[number]))
        elif status == 429:
            await asyncio.sleep(1)
    writer.close()


async def _watch(process: int, seen: Seen, ends: float) -> None:
    while time.perf_counter() < ends:
        seen.memory.append(_resident(process))
        await asyncio.sleep(1)


async def _load(
    port: int,
    process: int,
    bodies: list[bytes],
    expected: list[float],
    clients: int,
    seconds: float,
) -> Seen:
    for warm in (3.0, seconds):  # the first, short one is not counted
        seen = Seen()
        ends = time.perf_counter() + warm
        turn = count()
        await asyncio.gather(
            _watch(process, seen, ends),
            *(_client(port, bodies, expected, seen, ends, turn) for _ in range(clients)),
        )
    seen.batch = _mean_batch(port)
    return seen


def _mean_batch(port: int) -> float:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines())
    return float(lines["nlgauge_batch_requests_sum"]) / float(lines["nlgauge_batch_requests_count"])


def main() -> None:
    """Load both ways and print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m bench.service", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each way")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=400, help="distinct pairs")
    parser.add_argument("--words", type=int, default=0, help="cut texts to so many (0: not)")
    parser.add_argument("--metric", default="bertscore")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--json", type=Path, help="also write the numbers to a file")
    options = parser.parse_args()
    os.environ["NLGAUGE_MODEL"] = options.model
    candidates, references = (
        [" ".join(line.split()[: options.words or None]) for line in lines]
        for lines in pairs(options.pairs)
    )
    scores = nlgauge.score(candidates, references, metrics=options.metric)[options.metric]
    expected = scores.segments.tolist()
    bodies = [
        json.dumps(
            {
                "pairs": [{"candidate": candidate, "references": [reference]}],
                "metrics": [options.metric],
            }
        ).encode()
        for candidate, reference in zip(candidates, references, strict=True)
    ]
    loads = []
    for name, window in WAYS.items():
        with _server(window, options.model) as (port, process):
            seen = asyncio.run(
                _load(port, process, bodies, expected, options.clients, options.seconds)
            )
        loads.append(_summed(name, seen, options.seconds))
    _tell(loads)
    if options.json:
        content = [asdict(load) for load in loads]
        options.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def _summed(name: str, seen: Seen, seconds: float) -> Load:
    p50, p99 = np.quantile(seen.seconds, [0.5, 0.99]) * 1000
    accepted, busy = seen.statuses[200], seen.statuses[429]
    return Load(
        name=name,
        requests_per_second=accepted / seconds,
        p50_ms=float(p50),
        p99_ms=float(p99),
        accepted=accepted,
        busy=busy,
        other=seen.statuses.total() - accepted - busy,
        mean_batch=seen.batch,
        largest_difference=seen.furthest,
        memory_start_mb=seen.memory[0] / 2**20,
        memory_end_mb=seen.memory[-1] / 2**20,
    )


def _tell(loads: list[Load]) -> None:
    columns = [Column("service"), Column("req/s", 1), Column("p50 ms", 1), Column("p99 ms", 1)]
    columns += [Column("200", 0), Column("429", 0), Column("other", 0), Column("MB before", 0)]
    columns += [Column("MB after", 0), Column("batch", 1), Column("ratio", 2)]
    rows = [
        (
            load.name,
            load.requests_per_second,
            load.p50_ms,
            load.p99_ms,
            load.accepted,
            load.busy,
            load.other,
            load.memory_start_mb,
            load.memory_end_mb,
            load.mean_batch,
            load.requests_per_second / loads[0].requests_per_second,
        )
        for load in loads
    ]
    print(text(Table(tuple(columns), tuple(rows))))
    worst = max(load.largest_difference for load in loads)
    print(f"largest difference from the library's scores: {worst:.1e}")
    if worst > _TOLERANCE:
        sys.exit("the service and the library disagree")


if __name__ == "__main__":
    main()
