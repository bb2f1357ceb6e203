"""Simulation of runs with up to 1,000 workers from costs measured on this machine.

    python -m bench.cluster --engine local     costs of a driver of local processes
    python -m bench.cluster --engine ray       costs of a driver of Ray actors

Costs are processor times, which other work on the machine hardly affects. Workers are timed
separately. The driver is timed with tasks that take no time, two of them queued for each of 1,000
workers, because the time per task may depend on their number.
"""

import argparse
import heapq
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bench.streams import ENCODED, LEXICAL, plan_of, write_rows
from bench.tables import print_table
from nlgauge.scale.blocks import Block, Bytes, FilesTask, index_block, scan_bytes
from nlgauge.scale.engine import QUEUED_PER_WORKER, open_engine
from nlgauge.scale.repeated_ids import digest_ranges
from nlgauge.scale.run import _MAX_PARTS, _TASK_SECONDS
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.sums import RANGE, SumRange
from nlgauge.scale.worker import FinishedPart, PartsTask, Worker, WorkerConfig

ROWS = 10**9
PART = 10_000
BLOCK = 1 << 25
Result = TypeVar("Result")


@dataclass(frozen=True)
class Costs:
    """Processor seconds of workers for a row."""

    scanning: float
    checking: float
    repeats: float
    scoring: float  # with reading and writing
    summing: float
    bytes: float  # length of a row


def costs(folder: Path, metrics: tuple[str, ...], rows: int, size: int) -> Costs:
    """The costs of workers with these metrics and parts of this size."""
    table = write_rows(folder / "rows.jsonl", rows)
    length = table.stat().st_size
    task = FilesTask((Bytes(str(table), 0, length),))
    scanning = _timed(lambda: scan_bytes(None, task))
    plan = plan_of(table, folder / f"plan-{len(metrics)}", size)
    run = RunFolder(folder / f"out-{len(metrics)}", "jsonl")
    worker = Worker(WorkerConfig(metrics))
    with run.open():
        run.write_plan({})
        block = Block(0, plan.blocks[0].span, run, size, Counter(), ("ids",))
        checking = _timed(lambda: index_block(None, block))
        (ids,) = digest_ranges(run.scratch, "ids", (1,), rows)
        repeats = _timed(ids.find_repeats)
        tasks = [PartsTask(parts, run) for parts in plan.ranges(lambda: 1000, 1)]

        def score() -> None:
            for file in (run.path / "parts").iterdir():
                file.unlink()
            for each in tasks:
                worker.score_parts(each)

        scoring = _timed(score)
        names = tuple(sorted(file.stem for file in (run.path / "parts").glob("*.json")))
        summing = _timed(lambda: worker.sum_parts(SumRange(run, names, 0)))
    spent = (scanning, checking, repeats, scoring, summing)
    # A part has a fixed number of sums, which are read once, so their time is that of a full part.
    per_row = [each / rows for each in spent[:4]] + [summing / len(names) / PART]
    return Costs(*per_row, bytes=length / rows)


def _timed(work: Callable[[], object]) -> float:
    """The least processor time that the work took."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def driver_cost(name: str, tasks: int = 4000) -> float:
    """Processor seconds of the driver for a task of five parts, which takes the workers no time."""
    with tempfile.TemporaryDirectory() as made:
        table = write_rows(Path(made) / "rows.jsonl", 50)
        plan = plan_of(table, Path(made) / "plan", 10)
        (parts,) = plan.ranges(lambda: 5, 1)
        given = PartsTask(parts, RunFolder(Path(made) / "out", "jsonl"))
        with open_engine(name, WorkerConfig(("chrf",)), 2) as engine:
            list(engine.run(_nothing, [given] * 10))  # workers are up
            engine.capacity = 1000 * QUEUED_PER_WORKER
            start = time.process_time()
            for _finished in engine.run(_nothing, (replace(given) for _ in range(tasks))):
                pass
            return (time.process_time() - start) / tasks


def _nothing(_: Worker, task: PartsTask) -> list[FinishedPart]:
    name = "part-000000-0123456789abcdef"
    return [FinishedPart(i, name, n, "scored", 1.0) for i, n in enumerate(task.parts.rows)]


def simulated_seconds(tasks: int, task: float, driver: float, workers: int) -> float:
    """Seconds that a driver and workers take for tasks, two of which are queued for each worker.

    The driver does one thing at a time, and receives results before it assigns tasks. Workers start
    a task as soon as it has arrived and they are free; the network has no cost.
    """
    now, given, taken = 0.0, 0, 0
    ready = [0.0] * workers  # when each worker is free
    done: list[float] = []
    while taken < tasks:
        full = given - taken == QUEUED_PER_WORKER * workers or given == tasks
        if done and (done[0] <= now or full):
            now = max(now, heapq.heappop(done)) + driver / 2
            taken += 1
            continue
        now += driver / 2
        end = max(now, heapq.heappop(ready)) + task
        heapq.heappush(ready, end)
        heapq.heappush(done, end)
        given += 1
    return now


def simulate(each: Costs, driver: float, workers: int, rows: int) -> tuple[float, float, float]:
    """Rows a second, and the shares of time for which workers and driver are busy."""
    parts = rows / PART
    seconds = each.scoring * PART
    size = max(min(int(_TASK_SECONDS / seconds), int(parts / (2 * workers)), _MAX_PARTS), 1)
    blocks = rows * each.bytes / BLOCK
    stages = {  # numbers of tasks, and the cost of a row in them
        "scan": (blocks, each.scanning),
        "check": (blocks, each.checking),
        "repeats": (rows / (1 << 22), each.repeats),
        "score": (parts / size, each.scoring),
        "sum": (parts / RANGE, each.summing),
        "scan again": (blocks, each.scanning),
    }
    total = busy = worked = 0.0
    for tasks, cost in stages.values():
        number = max(round(tasks), 1)
        total += simulated_seconds(number, cost * rows / number, driver, workers)
        busy += driver * number
        worked += cost * rows
    return rows / total, worked / (total * workers), busy / total


def main() -> None:
    """Measure costs and simulate runs."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        measured = {LEXICAL: costs(Path(made), LEXICAL, options.rows, 2000)}
        measured[ENCODED] = costs(Path(made), ENCODED, max(options.rows // 40, 400), 500)
    driver = driver_cost(options.engine)
    names = ("scanning", "checking", "repeats", "scoring", "summing")
    spent = [
        (" ".join(metrics), *(getattr(each, name) * 1e6 for name in names), driver * 1e6)
        for metrics, each in measured.items()
    ]
    lines = []
    for metrics, each in measured.items():
        for workers in (1, 2, 10, 100, 1000):
            rows = ROWS if workers == 1000 else ROWS // 100
            lines.append((" ".join(metrics), workers, rows, *simulate(each, driver, workers, rows)))
    per_row = {"worker, µs a row": 0, **dict.fromkeys(names, 2)}
    print_table({**per_row, "driver, µs a task": 0}, spent)
    decimals = {
        "metrics": 0,
        "workers": 0,
        "rows": 0,
        "rows/s": 0,
        "workers busy": 3,
        "driver busy": 3,
    }
    print_table(decimals, lines)


if __name__ == "__main__":
    main()
