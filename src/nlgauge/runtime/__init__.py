"""Execution on this machine: the `Runtime` settings, threads and memory."""

from nlgauge.runtime.settings import DEFAULT, Runtime

__all__ = ["DEFAULT", "Runtime"]
