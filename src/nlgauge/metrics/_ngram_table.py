"""NgramTableMetric: a metric that weights n-grams by their counts in the references."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from nlgauge.core.errors import UsageError
from nlgauge.core.metric import Metric
from nlgauge.text.ngrams import NgramTable


@dataclass(frozen=True)
class NgramTableMetric(Metric):
    """A metric with a table of n-gram counts, which ``fit`` computes from the references."""

    table: NgramTable | None = field(default=None, kw_only=True, repr=False, compare=False)

    @abstractmethod
    def count(self, references: Iterable[Sequence[str]]) -> NgramTable:
        """Return the counts of these references."""

    @property
    def fitted_table(self) -> NgramTable:
        if self.table is None:
            raise UsageError(
                f"{self.name} weights n-grams by their counts in the references and is not fitted; "
                "use nlgauge.score, which fits it, or the metric that its fit(references) returns"
            )
        return self.table

    def fit(self, references: Iterable[Sequence[str]]) -> Self:
        return replace(self, table=self.count(references))

    def pool(self, parts: Sequence[Self]) -> Self:
        table = NgramTable.pool(part.fitted_table for part in parts)
        return replace(self, table=table)

    def facts(self) -> dict[str, str]:
        return {"table_sha": self.table.digest if self.table else "none"}
