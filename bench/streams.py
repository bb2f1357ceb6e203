"""Time and memory of runs in parts, and their growth with workers; see also driver and cluster.

    python -m bench.streams memory     peak memory of a stream, and that it scores as a list does
    python -m bench.streams workers    pace with 1 and 2 workers, and memory of each

Costs are processor time, which other work on the machine hardly changes; paces are by the clock.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.machine import peak_megabytes
from bench.tables import print_table
from bench.texts import pairs
from nlgauge.data.systems import InputFiles
from nlgauge.scale.engine import InProcess, ProcessPool
from nlgauge.scale.parts import Part
from nlgauge.scale.planning import InputScan, Plan
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.signals import SignalHandler
from nlgauge.scale.worker import PartsTask, Worker, WorkerConfig

LEXICAL = ("bleu", "chrf")
LIGHT = (*LEXICAL, "bertscore:model=hashing")
ENCODED = ("bertscore",)


def write_rows(path: Path, rows: int) -> Path:
    """Write different short pairs of the words in the pairs of other suites."""
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
    """The output, time and memory of a command."""

    output: str
    seconds: float
    processor: float
    megabytes: float


def measure(*words: str) -> Usage:
    """Run a command of nlgauge and return its usage, including that of its children.

    On Linux the peak memory of a process includes that of the process that started it, so this one
    must stay small.
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


def memory(folder: Path, rows: int) -> None:
    """Compare a stream with a list: speed, peak memory, and largest difference of scores."""
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
    decimals = {
        "way": 0,
        "rows": 0,
        "seconds": 1,
        "processor s": 1,
        "rows/s": 0,
        "peak MB": 0,
        "largest difference": 18,
    }
    lines = [
        (name, rows, u.seconds, u.processor, rows / u.seconds, u.megabytes, difference)
        for name, u in used.items()
    ]
    print_table(decimals, lines)


def _numbers(score: dict) -> list[float]:
    return [*score["components"].values(), score["interval"]["low"], score["interval"]["high"]]


def workers(folder: Path, rows: int, repeats: int = 3) -> None:
    """Measure the speed of 1 and 2 running worker processes, and the memory of each."""
    lines = []
    for metrics, size, some in ((LEXICAL, 2000, rows), (ENCODED, 100, max(rows // 40, 400))):
        table = write_rows(folder / "rows.jsonl", some)
        paces = {}
        for number in (1, 2):
            seconds, megabytes = _pace(WorkerConfig(metrics), table, size, number, repeats)
            paces[number] = some / seconds
            efficiency = paces[number] / (number * paces[1])
            lines.append((" ".join(metrics), number, paces[number], efficiency, megabytes))
    decimals = {
        "metrics": 0,
        "workers": 0,
        "rows/s": 0,
        "efficiency": 2,
        "MB a worker": 0,
    }
    print_table(decimals, lines)


def _pace(
    config: WorkerConfig, table: Path, size: int, number: int, repeats: int
) -> tuple[float, float]:
    seconds = []
    with tempfile.TemporaryDirectory() as made, ProcessPool(config, number) as engine:
        plan = plan_of(table, Path(made) / "plan", size)
        warm = [Part(i, (), ()) for i in range(number * 2)]
        list(engine.run(Worker.score, warm))  # every worker is up
        for turn in range(repeats):
            folder = RunFolder(Path(made) / str(turn), config.segments)
            with folder.open():
                folder.write_plan({})
                tasks = [PartsTask(parts, folder) for parts in plan.ranges(lambda: 1, number)]
                start = time.perf_counter()
                for _finished in engine.run(Worker.score_parts, tasks):
                    pass
                seconds.append(time.perf_counter() - start)
        megabytes = max(peak_megabytes(pid) for pid in engine._pool._processes)
    return min(seconds), megabytes


def plan_of(table: Path, path: Path, size: int) -> Plan:
    """The plan of a run over a table in parts of this size."""
    engine = InProcess(WorkerConfig(("chrf",)))
    folder = RunFolder(path, "jsonl")
    with folder.open():
        return Plan.of(
            engine,
            InputScan.of(engine, InputFiles([str(table)]), 1 << 25),
            folder,
            size,
            segments=False,
            stop_at_rejected=True,
            equal_sources=False,
            references_for=None,
            signals=SignalHandler(),
            report=lambda _: None,
        )


def main() -> None:
    """Measure memory or workers."""
    parser = argparse.ArgumentParser(prog="python -m bench.streams", description=__doc__)
    parser.add_argument("what", choices=["memory", "workers"])
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if options.what == "memory":
            memory(folder, options.rows or 200_000)
        else:
            workers(folder, options.rows or 20_000)


if __name__ == "__main__":
    main()
