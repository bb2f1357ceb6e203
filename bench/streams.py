"""What a run in parts costs, how it grows with workers, and what holds it up with many of them.

    python -m bench.streams memory     peak memory of a stream, and that it scores as a list does
    python -m bench.streams workers    pace with 1 and 2 workers, and memory of each
    python -m bench.streams simulate   pace with up to 1,000 workers, from costs measured here

Costs are processor time, which other work on the machine hardly changes; paces are by the clock.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from bench.texts import pairs
from nlgauge.data.systems import InputFiles
from nlgauge.report.formats import text
from nlgauge.report.table import Column, Table
from nlgauge.scale.engine import ProcessPool
from nlgauge.scale.parts import Part, split_into_parts
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.worker import Worker, WorkerConfig

LEXICAL = ("bleu", "chrf")
LIGHT = (*LEXICAL, "bertscore:model=hashing")
ENCODED = ("bertscore",)
Result = TypeVar("Result")


def write_rows(path: Path, rows: int) -> Path:
    """Short pairs, all different, of words that occur in the pairs other suites are timed on."""
    draw = random.Random(0)
    words = sorted({word for texts in pairs(500) for line in texts for word in line.split()})
    with path.open("w", encoding="utf-8") as out:
        for number in range(rows):
            reference = draw.choices(words, k=draw.randint(6, 14))
            candidate = [word if draw.random() < 0.8 else draw.choice(words) for word in reference]
            row = {"candidate": " ".join(candidate), "reference": " ".join(reference)}
            out.write(json.dumps({"id": str(number), **row}, ensure_ascii=False) + "\n")
    return path


@dataclass(frozen=True)
class Usage:
    """What a command took."""

    output: str
    seconds: float
    processor: float
    megabytes: float


def measure(*words: str) -> Usage:
    """Run nlgauge and see what it takes, together with its children that it waited for.

    Linux begins the count of peak memory with that of the process that starts it, so this one has
    to stay small itself.
    """
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen([sys.executable, "-m", "nlgauge", *words], stdout=out) as process,
    ):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if process.returncode:
            raise SystemExit(f"nlgauge {' '.join(words)} failed with {process.returncode}")
        out.seek(0)
        output = out.read().decode()
    return Usage(output, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def memory(folder: Path, rows: int) -> Table:
    """A stream beside a list: pace, peak memory, and the largest difference between values."""
    table = write_rows(folder / "rows.jsonl", rows)
    common = ["score", "-c", str(table), "-m", *LIGHT, "--confidence", "--format", "json", "-q"]
    ways = {"stream": [*common, "--parts", str(folder / "out")], "list": common}
    used = {name: measure(*words) for name, words in ways.items()}
    found = {name: json.loads(each.output)["scores"] for name, each in used.items()}
    difference = max(
        abs(one - other)
        for left, right in zip(*found.values(), strict=True)
        for one, other in zip(_numbers(left), _numbers(right), strict=True)
    )
    columns = (
        Column("way"),
        Column("rows", 0),
        Column("seconds", 1),
        Column("processor s", 1),
        Column("rows/s", 0),
        Column("peak MB", 0),
        Column("largest difference", 18),
    )
    lines = [
        (name, rows, u.seconds, u.processor, rows / u.seconds, u.megabytes, difference)
        for name, u in used.items()
    ]
    return Table(columns, tuple(lines))


def _numbers(score: dict) -> list[float]:
    return [*score["components"].values(), score["interval"]["low"], score["interval"]["high"]]


def workers(folder: Path, rows: int, repeats: int = 3) -> Table:
    """Rows a second with 1 and 2 worker processes, once they are up, and the memory of each."""
    lines = []
    for metrics, size, some in ((LEXICAL, 2000, rows), (ENCODED, 100, max(rows // 40, 400))):
        table = write_rows(folder / "rows.jsonl", some)
        paces = {}
        for number in (1, 2):
            seconds, megabytes = _pace(WorkerConfig(metrics), table, size, number, repeats)
            paces[number] = some / seconds
            efficiency = paces[number] / (number * paces[1])
            lines.append((" ".join(metrics), number, paces[number], efficiency, megabytes))
    columns = (
        Column("metrics"),
        Column("workers", 0),
        Column("rows/s", 0),
        Column("efficiency", 2),
        Column("MB a worker", 0),
    )
    return Table(columns, tuple(lines))


def _pace(
    config: WorkerConfig, table: Path, size: int, number: int, repeats: int
) -> tuple[float, float]:
    sources = InputFiles([str(table)], [])
    seconds = []
    with ProcessPool(config, number) as engine:
        list(engine.run("score", _first(sources, number * 2)))  # every worker is up and warm
        for _ in range(repeats):
            start = time.perf_counter()
            for _scored in engine.run("score", split_into_parts(sources.rows(), size)):
                pass
            seconds.append(time.perf_counter() - start)
        megabytes = max(_peak(pid) for pid in engine._pool._processes)
    return min(seconds), megabytes


def _first(sources: InputFiles, parts: int) -> Iterator[Part]:
    for part, _ in zip(split_into_parts(sources.rows(), 20), range(parts), strict=False):
        yield part


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


@dataclass(frozen=True)
class Costs:
    """Processor seconds for a row: what only the driver can do, and what workers share."""

    reading: float
    cutting: float
    sending: float
    keeping: float
    scoring: float

    @property
    def driver(self) -> float:
        """All that one process has to do for every row."""
        return self.reading + self.cutting + self.sending + self.keeping


def costs(folder: Path, metrics: tuple[str, ...], rows: int, size: int) -> Costs:
    """The costs of these metrics with parts of this size."""
    sources = InputFiles([str(write_rows(folder / "rows.jsonl", rows))], [])
    read, reading = _timed(lambda: list(sources.rows()))
    parts, cutting = _timed(lambda: [part for part in split_into_parts(read, size) if part.name])
    packed, sending = _timed(lambda: [pickle.dumps(part) for part in parts])
    worker = Worker(WorkerConfig(metrics))
    worker.score(parts[0])
    received = [pickle.loads(each) for each in packed]
    scored, scoring = _timed(lambda: [pickle.dumps(worker.score(part)) for part in received])
    kept = RunFolder(folder / f"out-{'-'.join(metrics)}", "jsonl")

    def keep() -> None:
        with kept.open():
            for each in scored:
                result = pickle.loads(each)
                kept.write_part(result)
                kept.read_sums(result.name)

    _, keeping = _timed(keep)
    return Costs(*(each / rows for each in (reading, cutting, sending, keeping, scoring)))


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What comes of the work, and the least processor time that it took."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        result = work()
        spent.append(time.process_time() - start)
    return result, min(spent)


def simulated_pace(costs: Costs, number: int, size: int, parts: int) -> float:
    """Rows a second of a driver and workers that do parts, two of which wait for each worker.

    The driver does one thing at a time: it takes back results before it hands out parts. Workers
    begin a part as soon as it is there and they are free; the network costs nothing.
    """
    handing = (costs.reading + costs.cutting + costs.sending) * size
    keeping, scoring = costs.keeping * size, costs.scoring * size
    now, given, taken = 0.0, 0, 0
    ready = [0.0] * number  # when each worker is free
    order = count()
    done: list[tuple[float, int]] = []
    while taken < parts:
        waiting = given - taken
        if done and (done[0][0] <= now or waiting == 2 * number or given == parts):
            now = max(now, heapq.heappop(done)[0]) + keeping
            taken += 1
            continue
        now += handing
        begin = max(now, heapq.heappop(ready) if ready else now)
        heapq.heappush(ready, begin + scoring)
        heapq.heappush(done, (begin + scoring, next(order)))
        given += 1
    return parts * size / now


def simulate(folder: Path, rows: int) -> list[Table]:
    """Costs as measured here, and the pace that they allow."""
    measured = {
        metrics: costs(folder, metrics, some, size)
        for metrics, some, size in ((LEXICAL, rows, 2000), (ENCODED, max(rows // 40, 400), 500))
    }
    names = ("reading", "cutting", "sending", "keeping", "driver", "scoring")
    spent = [
        (" ".join(metrics), *(getattr(each, name) * 1e6 for name in names))
        for metrics, each in measured.items()
    ]
    paces = []
    for metrics, each in measured.items():
        for number in (1, 2, 10, 100, 1000):
            pace = simulated_pace(each, number, 10_000, max(20 * number, 200))
            share = pace * each.scoring / number
            paces.append((" ".join(metrics), number, pace, share, pace * each.driver))
    return [
        Table((Column("µs a row"), *(Column(name, 1) for name in names)), tuple(spent)),
        Table(
            (
                Column("metrics"),
                Column("workers", 0),
                Column("rows/s", 0),
                Column("workers busy", 2),
                Column("driver busy", 2),
            ),
            tuple(paces),
        ),
    ]


def main() -> None:
    """Measure one of the three."""
    parser = argparse.ArgumentParser(prog="python -m bench.streams", description=__doc__)
    parser.add_argument("what", choices=["memory", "workers", "simulate"])
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if options.what == "memory":
            tables = [memory(folder, options.rows or 200_000)]
        elif options.what == "workers":
            tables = [workers(folder, options.rows or 20_000)]
        else:
            tables = simulate(folder, options.rows or 20_000)
    print("\n\n".join(map(text, tables)))


if __name__ == "__main__":
    main()
