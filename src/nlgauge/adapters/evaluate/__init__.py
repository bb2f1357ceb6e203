"""Where the script for Hugging Face evaluate lies: ``evaluate.load(SCRIPT, "chrf")``."""

from __future__ import annotations

from pathlib import Path

SCRIPT = str(Path(__file__).with_name("script.py"))
