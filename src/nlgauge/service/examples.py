"""The examples of the OpenAPI document, each of which the tests send."""

from __future__ import annotations

from typing import Any

_CANDIDATE = "A guy with a red jacket is standing on a boat"
_REFERENCES = ["A man wearing a lifevest is sitting in a canoe", "A man in a boat"]

SCORE: dict[str, Any] = {
    "pairs": [
        {"candidate": _CANDIDATE, "references": _REFERENCES},
        {"candidate": "The cat sat.", "references": "A cat was sitting."},
    ],
    "metrics": ["bleu", "chrf:word_order=2", {"name": "rouge", "options": {"variant": "2"}}],
}
SCORE_SYSTEMS: dict[str, Any] = {
    "systems": {"old": ["A cat sat.", "It rains."], "new": ["The cat sat.", "It is raining."]},
    "references": [["The cat sat."], ["It is raining.", "Rain falls."]],
    "metrics": ["bleu", "ter"],
    "segments": False,
}
ALIGN: dict[str, Any] = {
    "candidate": _CANDIDATE,
    "references": _REFERENCES,
    "metric": {
        "name": "lazy_emd",
        "options": {"penalty_candidate": 0.23, "penalty_reference": "inf"},
    },
}
COMPARE: dict[str, Any] = {
    "systems": {
        "old": ["A cat sat.", "It rains.", "He left."],
        "new": ["The cat sat.", "It is raining.", "He has left."],
    },
    "references": ["The cat sat.", "It is raining.", "He has gone."],
    "metrics": ["chrf"],
    "count": 200,
    "differ": 2,
}
CORRELATE: dict[str, Any] = {
    "rows": [
        {
            "system": system,
            "segment": str(segment),
            "candidate": candidate,
            "references": [reference],
            "human": {"adequacy": grade},
        }
        for segment, reference, answers in (
            (1, "The cat sat.", (("A", "The cat sat.", 5.0), ("B", "A dog stood.", 1.0))),
            (2, "It is raining.", (("A", "It rains.", 4.0), ("B", "It is rain.", 3.0))),
            (3, "He has gone.", (("A", "He has left.", 4.5), ("B", "She come.", 1.5))),
        )
        for system, candidate, grade in answers
    ],
    "metrics": ["bleu", "chrf"],
    "levels": ["segment"],
    "bands": 2,
}
JOB: dict[str, Any] = {"kind": "score", "body": SCORE}
