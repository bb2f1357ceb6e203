"""Cost of the driver of a run in parts: processor time, its share, and memory.

    python -m bench.driver --rows 2000000                      two workers, a cheap metric
    python -m bench.driver --rows 2000000 --beside OTHER/src   another version of nlgauge as well
    python -m bench.driver --rows 100000 1000000 10000000      how memory grows with the rows

The metric is the ratio of two lengths, so that reading and bookkeeping take most of the time. Costs
are processor times, which other work on the machine hardly affects.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.streams import write_rows
from bench.tables import print_table

_METRIC = '''
"""Ratio of the lengths of two texts. Higher is better, range [0, 1]."""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.metric import PairMetric, similarity


@dataclass(frozen=True)
class LengthRatio(PairMetric):
    """The shorter length over the longer one."""

    scale = similarity()

    def prepare(self, item, side):
        return len(item) or None

    def compare(self, candidates, references):
        lengths = np.array([candidates, references], dtype=float)
        return (lengths.min(axis=0) / lengths.max(axis=0))[:, None]
'''
_PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from nlgauge.data.systems import InputFiles
from nlgauge.scale.run import Run

if __name__ == "__main__":
    table, folder, workers = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    started, used = time.perf_counter(), time.process_time()
    run = Run(InputFiles([table]), ("length_ratio",), folder, workers=workers)
    value = run.execute().scores["rows"]["length_ratio"].value
    driver, seconds = time.process_time() - used, time.perf_counter() - started
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    print(json.dumps([driver, children.ru_utime + children.ru_stime, seconds, peak, value]))
"""


def measure(source: Path, table: Path, folder: Path, workers: int) -> list[float]:
    """Return processor seconds of driver and workers, seconds, peak MB of the driver, the score."""
    (folder / "metrics").mkdir(parents=True)
    (folder / "metrics" / "length_ratio.py").write_text(_METRIC)
    (folder / "program.py").write_text(_PROGRAM)
    paths = {"PYTHONPATH": str(source), "NLGAUGE_METRICS": str(folder / "metrics")}
    words = [sys.executable, str(folder / "program.py"), str(table), str(folder / "out")]
    done = subprocess.run(
        [*words, str(workers)], env=os.environ | paths, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    """Measure every version on every number of rows."""
    parser = argparse.ArgumentParser(prog="python -m bench.driver", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--beside", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    here = Path(__file__).parents[1] / "src"
    lines = []
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as made:
            table = write_rows(Path(made) / "rows.jsonl", rows)
            for number, source in enumerate([*options.beside, here]):
                found = measure(source, table, Path(made) / str(number), options.workers)
                driver, workers, seconds, peak, value = found
                share = driver / (driver + workers)
                million = driver / rows * 1e6
                name = "this version" if source == here else str(source)
                paces = rows / seconds, rows / (driver + workers)
                lines.append((name, rows, *paces, driver, million, share, peak, value))
    decimals = {
        "version": 0,
        "rows": 0,
        "rows/s": 0,
        "rows/s of processor time": 0,
        "driver s": 2,
        "driver s, million rows": 2,
        "driver share": 3,
        "driver peak MB": 0,
        "score": 9,
    }
    print_table(decimals, lines)


if __name__ == "__main__":
    main()
