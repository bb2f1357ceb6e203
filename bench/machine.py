"""A general description of the machine of a run."""

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, object]:
    """Processor, cores, threads, versions, and the load of the machine."""
    import torch

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers", "numpy", "POT")},
    }


def peak_megabytes(process: int | str = "self") -> float:
    """Return the largest resident memory of a process until now.

    The peak that getrusage reports may be that of the process that started this one.
    """
    status = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
