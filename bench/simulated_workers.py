"""The cost of the driver of a run alone, with simulated workers and rows.

    python -m bench.simulated_workers --rows 100000 10000000 1000000000

Prints processor time and peak memory of the driver. The cost of
sending tasks and receiving results is not included; see bench.cluster.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bench.machine import peak_megabytes
from bench.tables import print_table
from nlgauge.data.input_ranges import TableRange
from nlgauge.data.systems import InputFiles
from nlgauge.data.text_rows import Row
from nlgauge.scale import run as run_module
from nlgauge.scale.blocks import Block, BlockIndex, FilesTask, Scan
from nlgauge.scale.engine import InProcess
from nlgauge.scale.parts import Part
from nlgauge.scale.repeated_ids import Repeats
from nlgauge.scale.run import Run
from nlgauge.scale.sums import SumRange, Sums
from nlgauge.scale.worker import FinishedPart, PartsTask, Worker, WorkerConfig

ROW = 186  # bytes, as in bench.streams
PART = 10_000


class SimulatedEngine(InProcess):
    """Answers tasks with results of the right size."""

    def __init__(self, config: WorkerConfig) -> None:
        super().__init__(config)
        row = Row("", "rows", "0", "a b c d", ("a b d",))
        self._sums = Worker(config).score(Part(0, (row,), ())).sums["scores"]

    def _submit(self, work: Any, task: Any) -> Any:
        return lambda: getattr(self, f"_{work.__name__}")(task)

    def _result(self, task: Callable[[], Any]) -> Any:
        return task()

    def _scan_bytes(self, task: FilesTask) -> list[Scan]:
        return [
            Scan(
                sha256(str(each.start).encode()).digest(),
                (each.stop - each.start) // ROW,
                (False, True),
            )
            for each in task.items
        ]

    def _divide_tables(self, task: FilesTask) -> list[list[TableRange]]:
        (table,) = task.items
        size = Path(table.label).stat().st_size
        keys = {"candidate": ("candidate",), "references": ("reference",), "id": ("id",)}
        table = replace(table, keys=keys, numbered=False, seekable=True)
        starts = range(0, size, task.size)
        return [[replace(table, offset=i, stop=min(i + task.size, size)) for i in starts]]

    def _index_block(self, block: Block) -> BlockIndex:
        span = block.span
        first, last = (-(-at // ROW) for at in (span.offset, span.stop))
        starts = range(first, last, PART)
        parts = [(min(PART, last - i), i, i * ROW) for i in starts]
        counts = Counter({"rows": last - first})
        return BlockIndex(counts, np.array(parts), [], 1, None, {False}, None, None)

    def _find_repeats(self, _: object) -> Repeats:
        return Repeats()

    def _score_parts(self, task: PartsTask) -> list[FinishedPart]:
        return [
            FinishedPart(i, f"part-{i:06d}-{i:016x}", n, "scored", 5.0)
            for i, n in enumerate(task.parts.rows, task.parts.number)
        ]

    def _sum_parts(self, task: SumRange) -> Sums:
        counts = Counter(read=PART * len(task.names), scored=PART * len(task.names), rejected=0)
        checksums = {name: sha256(name.encode()).hexdigest() for name in task.names}
        return Sums(counts, {"1"}, {False}, checksums, b"", self._sums)


def measure(rows: int) -> dict[str, float]:
    """Processor seconds and peak memory of this process as the driver of so many rows."""
    with tempfile.TemporaryDirectory() as made:
        table = Path(made) / "rows.jsonl"
        with table.open("wb") as out:
            out.truncate(rows * ROW)  # a file of no blocks
        run_module.open_engine = lambda _, config, *__: SimulatedEngine(config)
        run = Run(InputFiles([str(table)]), ("chrf",), Path(made) / "out", workers=1000)
        start = time.process_time()
        result = run.execute()
        seconds = time.process_time() - start
    return {"rows": result.read, "seconds": seconds, "megabytes": peak_megabytes()}


def main() -> None:
    """Measure every number of rows in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulated_workers", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7, 10**9])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.rows[0])))
        return
    lines = []
    for rows in options.rows:
        words = [sys.executable, "-m", "bench.simulated_workers", "--here", "--rows", str(rows)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        million = found["seconds"] / rows * 1e6
        lines.append((rows, found["seconds"], million, found["megabytes"]))
    decimals = {
        "rows": 0,
        "driver s": 2,
        "driver s, million rows": 4,
        "driver peak MB": 0,
    }
    print_table(decimals, lines)


if __name__ == "__main__":
    main()
