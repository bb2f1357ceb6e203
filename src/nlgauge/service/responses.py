"""What the service answers; kept apart from the requests because nothing here is ever checked in.

Answers are written by the library's own ``to_dict``; these models document them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from nlgauge.service.schemas import Range

Direction = Literal["higher", "lower"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class Error(BaseModel):
    """Why a request was refused."""

    kind: str = Field(examples=["too_many_rows"])
    message: str = Field(examples=["5,000 rows, but a request may bring 2,000; post a job"])
    where: list[str | int] | None = Field(None, description="The place in the body, if one is.")
    id: str | None = Field(None, description="Of the entry in the server's log, if there is one.")


class Refusal(BaseModel):
    """The body of every answer that is no success."""

    error: Error


class Scored(BaseModel):
    """What one metric said of one system."""

    metric: str
    system: str
    value: float
    components: dict[str, float]
    direction: Direction
    range: Range
    segments_scored: int
    signature: str
    warnings: list[str]
    segments: list[dict[str, str | float]] | None = None
    statistics: list[list[float]] | None = None
    notes: dict[str, int] | None = None


class ScoreAnswer(BaseModel):
    """Scores of every system with every metric, systems in order, then metrics in order."""

    scores: list[Scored]


class Plan(BaseModel):
    """Who gives how much to whom: rows are candidate tokens, columns reference tokens."""

    value: float
    objective: float
    mass: float
    iterations: int
    converged: bool
    residual: float
    coupling: list[list[float]]
    cost: list[list[float]]
    a: list[float] = Field(description="Masses of the candidate's tokens.")
    b: list[float] = Field(description="Masses of the reference's tokens.")
    candidate_tokens: list[str] | None
    reference_tokens: list[str] | None


class LayerPlan(BaseModel):
    """The plan of one layer alone."""

    layer: int
    value: float
    plan: Plan


class AlignAnswer(BaseModel):
    """An alignment with the reference that counted, and the scores of the pair."""

    metric: str
    value: float
    components: dict[str, float]
    direction: Direction
    range: Range
    signature: str
    warnings: list[str]
    reference: int = Field(description="The number, from 0, of the reference that is aligned.")
    plan: Plan
    layers: list[LayerPlan] | None = None


class ComparedSystem(BaseModel):
    """One system under one metric; the baseline has no difference and no p."""

    metric: str
    system: str
    value: float
    value_low: float | None = Field(description="95% bootstrap interval of the value.")
    value_high: float | None
    difference: float | None
    low: float | None = Field(description="95% interval of the difference.")
    high: float | None
    p: float | None = Field(description="Two-sided, Holm-corrected over the systems.")
    p_uncorrected: float | None
    cluster: int = Field(description="1 is best; systems of one cluster cannot be told apart.")


class DifferingSegment(BaseModel):
    """A segment on which a system and the baseline got very different scores."""

    metric: str
    segment: str
    system: str
    baseline: str
    difference: float
    value: float
    baseline_value: float
    candidate: str
    baseline_candidate: str
    references: list[str]


class CompareAnswer(BaseModel):
    """Paired tests of every system against the baseline."""

    baseline: str
    method: str
    count: int
    seed: int
    segments: int
    systems: list[ComparedSystem]
    differ: list[DifferingSegment]
    scales: dict[str, dict[str, Any]] = Field(description="Direction and range by metric.")
    signatures: dict[str, str]
    notes: list[str]


class Correlated(BaseModel):
    """The correlation of one metric with one criterion; low and high if asked for."""

    metric: str
    criterion: str
    level: str
    coefficient: str
    value: float | None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    resampled: str | None = None
    n: int
    rows_used: int
    undefined: int
    reason: str | None = None


class Matrix(BaseModel):
    """Coefficients and p-values of every pair, people first; null where there is none."""

    names: list[str]
    values: list[list[float | None]]
    p: list[list[float | None]]
    level: str
    coefficient: str
    cells: int
    cells_dropped: int


class DensityBand(BaseModel):
    """The scores of one band of human quality; density is null where scores do not vary."""

    name: str
    scores: list[float]
    places: list[float]
    density: list[float | None]


class CorrelateAnswer(BaseModel):
    """Correlations with people, the matrix, and distributions by criterion and metric."""

    correlations: list[Correlated]
    matrix: Matrix | None
    distributions: dict[str, dict[str, list[DensityBand]]]
    scales: dict[str, dict[str, Any]] = Field(description="Direction and range by metric.")
    signatures: dict[str, str]
    notes: list[str]


class MetricCard(BaseModel):
    """What can be said of a metric before it scores; ``options`` is a JSON schema."""

    name: str
    summary: str
    paper: str
    direction: Direction
    range: Range
    components: list[str]
    aligns: bool = Field(description="Whether /v1/align can show its matching.")
    layered: bool = Field(description="Whether /v1/align can also give a plan for each layer.")
    needs_model: bool
    options: dict[str, Any]


class MetricsAnswer(BaseModel):
    """All metrics, the models they may use, and what a request may bring."""

    version: str
    metrics: list[MetricCard]
    models: list[str]
    default_model: str
    limits: dict[str, float]


class JobAnswer(BaseModel):
    """How far a job is; ``result`` is the answer of its endpoint once it is done."""

    id: str
    kind: Literal["score", "compare", "correlate"]
    state: JobState
    rows_done: int
    rows_total: int | None
    pairs_per_second: float | None
    seconds: float
    ahead: int = Field(description="Jobs that come first.")
    result: dict[str, Any] | None = None
    error: Error | None = None


class Health(BaseModel):
    """That the server lives, and how busy it is."""

    status: Literal["ok"]
    version: str
    models: list[str]
    token: bool = Field(description="Whether /v1 asks for one.")
    waiting: int
    jobs: int
