"""Any metric for Hugging Face evaluate.

>>> from nlgauge.adapters.evaluate import SCRIPT
>>> chrf = evaluate.load(SCRIPT, "chrf")

The configuration name is the metric with its options: ``"bertscore:layer=4"``.
"""

from typing import Any

import datasets
import evaluate

from nlgauge.scoring import score


class Nlgauge(evaluate.Metric):  # type: ignore[misc] # it is untyped
    """Any metric of nlgauge: corpus score, components, segments and signature."""

    def _info(self) -> Any:
        texts = datasets.Value("string")
        one = datasets.Features({"predictions": texts, "references": texts})
        many = datasets.Features({"predictions": texts, "references": datasets.Sequence(texts)})
        return evaluate.MetricInfo(
            description=__doc__ or "",
            citation="Cite the paper that `nlgauge metrics` shows for the metric.",
            inputs_description="predictions: texts; references: texts, or lists of texts.",
            features=[many, one],
        )

    def _compute(self, predictions: list[str], references: list[Any], **keywords: Any) -> Any:
        spec = "bleu" if self.config_name == "default" else self.config_name
        (scores,) = score(predictions, references, metrics=spec, **keywords).values()
        return {
            "score": scores.value,
            "components": scores.components,
            "segments": scores.segments.tolist(),
            "signature": str(scores.signature),
        }
