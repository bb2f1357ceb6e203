"""The conductors of studies: texts are scored once, then matrices go to the statistics.

Texts meet people's judgements here and nowhere else: the readers know no metric, the metrics no
judgement, and the statistics see only matrices.
"""

from __future__ import annotations

from nlgauge.studying.agreement import Agreed, Agreement, correlate
from nlgauge.studying.bands import Band, bands
from nlgauge.studying.comparison import Compared, Comparison, Differing, compare
from nlgauge.studying.matrices import matrix, williams
from nlgauge.studying.study import Study, choose_criteria, measure

__all__ = [
    "Agreed",
    "Agreement",
    "Band",
    "Compared",
    "Comparison",
    "Differing",
    "Study",
    "bands",
    "choose_criteria",
    "compare",
    "correlate",
    "matrix",
    "measure",
    "williams",
]
