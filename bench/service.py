"""Load on the service: many clients with one pair each, batched and one by one, in the same run.

In a third run, one more client sends the worst requests that the limits allow.

    python -m bench.service --seconds 60 --json service.json
    python -m bench.service --words 10 --metrics bertscore mover bary

A separate server is started for each run. The clients share the machine with it, so they are kept
cheap: requests are prepared as bytes, and responses are only parsed after the measurement. Then
every score of every response is compared with that of the library.
"""

import argparse
import heapq
import json
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

import nlgauge
from bench.tables import print_table
from bench.texts import pairs

_TOLERANCE = 1e-5
_WARM_SECONDS = 3.0
_REST_SECONDS = 1.0  # what Retry-After says
MODES = {"one by one": "0", "batched": "4"}  # batching window in milliseconds
BESIDE = "batched, beside the worst client"
_LONG = " ".join(f"w{n * 7919 % 263}" for n in range(2300))[:9_999]
_LINES = "\n".join(_LONG.split())
_WORST: dict[str, dict[str, object]] = {
    "two million wrong rows": {"metrics": ["bleu"], "pairs": [1] * 2_000_000},
    **{
        f"{spec}, {rows} rows": {
            "metrics": [spec],
            "pairs": [{"candidate": text, "references": [text[::-1]]}] * rows,
        }
        for spec, rows, text in (
            ("lazy_emd", 1, _LONG),
            ("ter", 1, _LONG),
            ("rouge:variant=lsum", 1, _LINES),
            ("bary:weights=idf", 4, _LONG),
            ("infolm", 1, _LONG),
            ("bertscore", 20, _LONG),
        )
    },
}
_CARD = {  # as many rows, characters and resamples as one request may have
    "rows": [
        {
            "system": str(n % 4),
            "segment": str(n // 4),
            "candidate": _LONG[n : n + 450],
            "references": [_LONG[n + 50 : n + 500]],
            "human": {"da": n * 7919 % 101},
        }
        for n in range(2000)
    ],
    "metric": "gauge",
    "beside": ["bleu", "chrf"],
    "count": 1666,
}
_WORST_SECONDS = "5"  # time limit beside the worst client, so that it sends all of its requests
MEGABYTE = 2**20
Load = dict[str, Any]  # results of one mode by name


@dataclass
class Responses:
    """The responses to the clients of one run, and the cost for clients and server."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    elapsed: float = 0.0
    server_cpu: float = 0.0
    client_cpu: float = 0.0
    batch: float = 0.0


class Connection:
    """The connection of one client."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = 0
        self.start = 0.0
        self._parts = b""

    def send(self, number: int, request: bytes) -> None:
        """Send a request."""
        self.number, self._parts, self.start = number, b"", time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> tuple[int, bytes] | None:
        """Return status and body once the response is complete."""
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionError("the server has closed a connection")
        self._parts += received
        head, gap, body = self._parts.partition(b"\r\n\r\n")
        length = head.lower().rpartition(b"content-length: ")[2].partition(b"\r\n")[0]
        return (int(head[9:12]), body) if gap and len(body) == int(length) else None


@contextmanager
def _server(window: str, model: str, *options: str) -> Iterator[tuple[int, int]]:
    """The port and process id of a server."""
    words = [sys.executable, "-m", "nlgauge", "serve", "--port", "0"]
    words += ["--window", window, "--model", model, *options]
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


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _load(
    port: int, process: int, requests: list[bytes], clients: int, seconds: float
) -> Responses:
    """Return the responses to clients for some seconds, after a short warm-up."""
    _drive(port, process, requests, clients, min(seconds, _WARM_SECONDS))
    before, own, batches = _cpu_seconds(process), time.process_time(), _batches(port)
    responses = _drive(port, process, requests, clients, seconds)
    responses.server_cpu = _cpu_seconds(process) - before
    responses.client_cpu = time.process_time() - own
    answered, calls = (now - then for now, then in zip(_batches(port), batches, strict=True))
    responses.batch = answered / calls
    return responses


def _drive(
    port: int, process: int, requests: list[bytes], clients: int, seconds: float
) -> Responses:
    """Keep all clients busy for this time, then wait for requests in progress."""
    responses, numbers = Responses(), count()
    start = time.perf_counter()
    resting: list[tuple[float, int, Connection]] = []

    def send_next(connection: Connection) -> None:
        number = next(numbers) % len(requests)
        connection.send(number, requests[number])

    with selectors.DefaultSelector() as selector:
        for connection in [Connection(port) for _ in range(clients)]:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            send_next(connection)
        in_flight = clients
        while in_flight or resting:
            for key, _ in selector.select(0.05):
                connection = key.data
                response = connection.receive()
                if response is None:
                    continue
                now, (status, body) = time.perf_counter(), response
                responses.statuses[status] += 1
                in_flight -= 1
                if status == 200:
                    responses.seconds.append(now - connection.start)
                    responses.answers.append((connection.number, body))
                if now - start > seconds:
                    selector.unregister(connection.socket)
                    connection.socket.close()
                elif status == 429:
                    heapq.heappush(resting, (now + _REST_SECONDS, next(numbers), connection))
                else:
                    send_next(connection)
                    in_flight += 1
            now = time.perf_counter()
            while resting and resting[0][0] <= now:
                send_next(heapq.heappop(resting)[2])
                in_flight += 1
            if now - start >= len(responses.memory):  # once a second
                responses.memory.append(_resident(process))
    responses.elapsed = time.perf_counter() - start
    return responses


def _batches(port: int) -> tuple[float, float]:
    """Return the numbers of scored requests and of batches until now."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines())
    return float(lines["nlgauge_batch_requests_sum"]), float(lines["nlgauge_batch_requests_count"])


@contextmanager
def _worst_client(port: int) -> Iterator[Counter[str]]:
    """The responses to a client that sends the worst allowed requests."""
    answers: Counter[str] = Counter()
    done = threading.Event()
    worst = [(name, "score", json.dumps(body).encode()) for name, body in _WORST.items()]
    bodies = cycle([*worst, ("card, 2000 rows", "card", json.dumps(_CARD).encode())])

    def ask() -> None:
        while not done.is_set():
            name, path, body = next(bodies)
            head = {"Content-Type": "application/json"}
            request = Request(f"http://127.0.0.1:{port}/v1/{path}", body, head)
            try:
                with urlopen(request, timeout=120) as answer:
                    answers[f"{name}: {answer.status}"] += 1
            except HTTPError as error:
                answers[f"{name}: {error.code}"] += 1
            except OSError:  # the server has ended
                return

    client = threading.Thread(target=ask, daemon=True)
    client.start()
    try:
        yield answers
    finally:
        done.set()
        client.join()  # the server must not end before its last answer


def _requests(
    candidates: Sequence[str], references: Sequence[str], metrics: list[str]
) -> list[bytes]:
    """The bytes of a request for every pair."""
    made = []
    for candidate, reference in zip(candidates, references, strict=True):
        pair = {"candidate": candidate, "references": [reference]}
        body = json.dumps({"pairs": [pair], "metrics": metrics}).encode()
        head = f"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        made.append(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
    return made


def _largest_difference(responses: Responses, expected: list[list[float]]) -> float:
    """Return the largest difference between a score of the service and of the library."""
    largest = 0.0
    for number, body in responses.answers:
        for entry, value in zip(json.loads(body)["scores"], expected[number], strict=True):
            headline = next(iter(entry["components"]))
            largest = max(largest, abs(entry["segments"][0][headline] - value))
    return largest


def main() -> None:
    """Measure all modes and print the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.service", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each mode")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=400, help="distinct pairs")
    parser.add_argument("--words", type=int, default=0, help="cut texts to so many (0: not)")
    parser.add_argument("--metrics", nargs="+", default=["bertscore"], help="of every request")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--json", type=Path, help="also write the numbers to a file")
    options = parser.parse_args()
    os.environ["NLGAUGE_MODEL"] = options.model
    candidates, references = (
        [" ".join(line.split()[: options.words or None]) for line in lines]
        for lines in pairs(options.pairs)
    )
    board = nlgauge.score(candidates, references, metrics=options.metrics)
    expected = np.column_stack([scores.segments for scores in board.values()]).tolist()
    requests = _requests(candidates, references, options.metrics)
    loads: list[Load] = []
    for name, window in MODES.items():
        with _server(window, options.model) as (port, process):
            responses = _load(port, process, requests, options.clients, options.seconds)
        loads.append(_summary(name, responses, expected, loads))
    with (
        _server(MODES["batched"], options.model, "--max-seconds", _WORST_SECONDS) as (
            port,
            process,
        ),
        _worst_client(port) as answers,
    ):
        responses = _load(port, process, requests, options.clients, options.seconds)
    loads.append(_summary(BESIDE, responses, expected, loads))
    _print_tables(loads)
    print(
        f"p99 beside the worst client / without it: {loads[-1]['p99_ms'] / loads[-2]['p99_ms']:.2f}"
    )
    print(f"statuses beside the worst client: {dict(sorted(responses.statuses.items()))}")
    print("answers to the worst client:")
    for answer, times in sorted(answers.items()):
        print(f"  {answer} ({times} times)")
    if options.json:
        options.json.write_text(json.dumps(loads, indent=2) + "\n", "utf-8")
    if max(load["largest_difference"] for load in loads) > _TOLERANCE:
        sys.exit("the service and the library disagree")


def _summary(
    name: str, responses: Responses, expected: list[list[float]], before: list[Load]
) -> Load:
    """Return the results of one mode, compared with the first of those before."""
    p50, p99 = np.quantile(responses.seconds, [0.5, 0.99]) * 1000
    accepted, busy, late = (responses.statuses[status] for status in (200, 429, 413))
    memory = [held / MEGABYTE for held in responses.memory]
    pace = accepted / responses.elapsed
    return {
        "name": name,
        "requests_per_second": pace,
        "ratio": pace / (before[0]["requests_per_second"] if before else pace),
        "p50_ms": float(p50),
        "p99_ms": float(p99),
        "accepted": accepted,
        "busy": busy,
        "late": late,
        "other": responses.statuses.total() - accepted - busy - late,
        "mean_batch": responses.batch,
        "largest_difference": _largest_difference(responses, expected),
        "memory_start_mb": memory[0],
        "memory_third_mb": memory[len(memory) // 3],
        "memory_two_thirds_mb": memory[2 * len(memory) // 3],
        "memory_end_mb": memory[-1],
        "server_cpu_ms": responses.server_cpu / accepted * 1000,
        "client_cpu_ms": responses.client_cpu / accepted * 1000,
    }


_SPEED = {
    "service": ("name", 0),
    "req/s": ("requests_per_second", 1),
    "ratio": ("ratio", 2),
    "p50 ms": ("p50_ms", 1),
    "p99 ms": ("p99_ms", 1),
    "200": ("accepted", 0),
    "429": ("busy", 0),
    "413": ("late", 0),
    "other": ("other", 0),
    "requests a batch": ("mean_batch", 1),
}
_RESOURCES = {
    "service": ("name", 0),
    "MB at start": ("memory_start_mb", 1),
    "after a third": ("memory_third_mb", 1),
    "two thirds": ("memory_two_thirds_mb", 1),
    "at the end": ("memory_end_mb", 1),
    "CPU ms a request, server": ("server_cpu_ms", 2),
    "clients": ("client_cpu_ms", 2),
}


def _print_tables(loads: list[Load]) -> None:
    for columns in (_SPEED, _RESOURCES):
        decimals = {heading: digits for heading, (_, digits) in columns.items()}
        names = [name for name, _ in columns.values()]
        print_table(decimals, (tuple(load[name] for name in names) for load in loads))
    worst = max(load["largest_difference"] for load in loads)
    print(f"largest difference from the library's scores: {worst:.1e}")


if __name__ == "__main__":
    main()
