"""The response of /v1/card: the values of a metric card, its tables, and the card as a file."""

from collections.abc import Callable, Sequence
from typing import Any

from nlgauge.core.jsonable import to_jsonable
from nlgauge.core.metric import Metric
from nlgauge.data.judged import JudgedCorpus
from nlgauge.report.metric_card import Section, markdown_page, page, sections
from nlgauge.runtime import Runtime
from nlgauge.service.schemas import CardRequest
from nlgauge.study.metric_card import card


def card_answer(
    request: CardRequest,
    judged: JudgedCorpus,
    *,
    metrics: Sequence[str | Metric],
    runtime: Runtime,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Return the card of the first metric or of stored scores, compared with other metrics."""
    metric, beside = ("", metrics) if request.metric is None else (metrics[0], metrics[1:])
    result = card(
        judged,
        metric,
        beside=beside,
        **request.model_dump(include={"human", "stored", "lower_is_better", "count", "seed"}),
        runtime=runtime,
        progress=progress,
    )
    content = {**result.to_dict(), "data": request.data}
    names = ("name", "scores", "places", "density")
    bands = [{name: to_jsonable(getattr(band, name)) for name in names} for band in result.bands]
    return {
        **content,
        "distributions": {result.criterion: {result.metric: bands}} if bands else {},
        "scales": {result.metric: {"direction": result.direction, "range": content["range"]}},
        "sections": [_section(each) for each in sections(content)],
        "html": page(content),
        "markdown": markdown_page(content),
    }


def _section(section: Section) -> dict[str, Any]:
    table = section.table
    return {
        "title": section.title,
        "sentences": list(section.sentences),
        "columns": table.headings if table else [],
        "rows": to_jsonable(table.rows) if table else [],
        "texts": table.texts() if table else [],
    }
