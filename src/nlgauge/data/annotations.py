"""Outputs with errors marked by people (MQM, ESA), collected from rows of annotations.

Such data has no separate references; human translations are among the systems. The systems named as
references serve as references of the others; by default those called refA, ref.B, Human-C, etc.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nlgauge.core.errors import FileError
from nlgauge.core.spans import Span
from nlgauge.data.judged import JudgedCorpus, JudgedRow, choose_references

_REFERENCE = re.compile(r"(ref|human)([-._]?[a-z0-9])?", re.IGNORECASE)


@dataclass
class Output:
    """The output of a system for a segment, with the scores and spans of all its raters."""

    text: str
    source: str
    document: str
    scores: dict[str, float] = field(default_factory=dict)
    """By rater."""
    spans: list[Span] = field(default_factory=list)


@dataclass
class Annotations:
    """Outputs by system and segment, and counts of what was left out."""

    path: str
    outputs: dict[tuple[str, str], Output] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    """Rows that were left out, by reason."""
    without_span: Counter[str] = field(default_factory=Counter)
    """Errors that count in the score but have no place in the output, by reason."""

    def output(self, system: str, segment: str, *, text: str, source: str, document: str) -> Output:
        """Return the output of a system for a segment; create it if it is new."""
        return self.outputs.setdefault((system, segment), Output(text, source, document))

    def judged(self, criterion: str, references: str | None = None) -> JudgedCorpus:
        """Return the judged corpus; the score of an output is the mean over its raters."""
        systems = list(dict.fromkeys(system for system, _ in self.outputs))
        chosen = _references(systems, references)
        rows = [
            JudgedRow(
                *(system, segment, output.text),
                tuple(
                    self.outputs[name, segment].text
                    for name in chosen
                    if (name, segment) in self.outputs
                ),
                {criterion: sum(output.scores.values()) / len(output.scores)},
                output.source,
                spans=tuple(output.spans),
                document=output.document,
            )
            for (system, segment), output in self.outputs.items()
            if system not in chosen
        ]
        if not rows:
            raise FileError(f"{self.path} has no annotated outputs of systems")
        used = len(self.outputs) - len(rows)
        dropped = {**self.dropped, f"of references in use ({', '.join(chosen)})": used}
        notes = [
            f"{count:,} errors have no span: {reason}."
            for reason, count in self.without_span.items()
        ]
        return JudgedCorpus.from_rows(rows, dropped=dropped, notes=notes)


def _references(systems: Sequence[str], wanted: str | None) -> list[str]:
    """Return the systems that are references: the wanted ones ("none": none), or by name."""
    if wanted is None:
        return [name for name in systems if _REFERENCE.fullmatch(name)]
    return [] if wanted == "none" else choose_references(wanted, systems, "among the systems")
