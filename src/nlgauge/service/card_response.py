"""Schemas that document the response of /v1/card."""

from typing import Any

from pydantic import BaseModel, Field

from nlgauge.service.responses import Correlated, DensityBand, Direction
from nlgauge.service.schemas import Range


class AgreementOfMetric(Correlated):
    """A correlation with human scores, and the rank of the metric by significance."""

    rank: int | None = None


class TextBias(BaseModel):
    """Partial correlation of the score with a property of the text, given the human score."""

    property: str
    partial_r: float | None
    texts: int
    low: float | None
    high: float | None
    confidence: float


class ChangedTexts(BaseModel):
    """The response of the scores to corrupted texts."""

    change: str
    texts: int
    worse: float | None = Field(description="Share of the texts with a worse score than before.")
    mean_change: float | None = Field(description="In standard deviations of all scores.")


class DetectableDifference(BaseModel):
    """The smallest difference that a paired test detects with power .8 at p < .05."""

    segments: int
    difference: float | None


class ScoringCost(BaseModel):
    """Time per 1,000 outputs on the server, after the model was loaded."""

    seconds: float
    cpu_seconds: float
    texts: int
    cores: int


class CardSection(BaseModel):
    """A section of the card; without columns there is no table."""

    title: str
    sentences: list[str]
    columns: list[str]
    rows: list[list[str | float | None]]
    texts: list[list[str]] = Field(description="The cells as formatted on the card.")


class CardAnswer(BaseModel):
    """A metric card: the properties of a metric on judged data."""

    metric: str
    title: str
    signature: str
    about: str
    paper: str
    direction: Direction
    range: Range
    data: str
    criterion: str
    outputs: int
    systems: int
    inputs: int
    agreement: list[AgreementOfMetric]
    mean_by_quality: dict[str, float]
    biases: list[TextBias]
    sensitivity: list[ChangedTexts]
    spans: dict[str, Any] | None
    detectable_differences: list[DetectableDifference]
    cost: ScoringCost | None
    notes: list[str]
    distributions: dict[str, dict[str, list[DensityBand]]]
    scales: dict[str, dict[str, Any]]
    sections: list[CardSection] = Field(description="The tables of the card.")
    html: str = Field(description="The card as a web page without scripts or external files.")
    markdown: str
