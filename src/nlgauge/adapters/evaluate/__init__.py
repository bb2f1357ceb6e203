"""The path of the script for Hugging Face evaluate: ``evaluate.load(SCRIPT, "chrf")``."""

from pathlib import Path

SCRIPT = str(Path(__file__).with_name("script.py"))
