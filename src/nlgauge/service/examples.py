"""The example requests of the OpenAPI document; the tests send all of them."""

import json
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("examples.json")
_EXAMPLES: dict[str, dict[str, Any]] = json.loads(_FILE.read_text("utf-8"))
SCORE = _EXAMPLES["SCORE"]
SCORE_LISTS = _EXAMPLES["SCORE_LISTS"]
SCORE_SYSTEMS = _EXAMPLES["SCORE_SYSTEMS"]
ALIGN = _EXAMPLES["ALIGN"]
COMPARE = _EXAMPLES["COMPARE"]
CORRELATE = _EXAMPLES["CORRELATE"]
JUDGE = _EXAMPLES["JUDGE"]
CARD: dict[str, Any] = {
    "rows": CORRELATE["rows"],
    "metric": "chrf",
    "beside": ["bleu"],
    "count": 20,
}
JOB: dict[str, Any] = {"kind": "score", "body": SCORE}
