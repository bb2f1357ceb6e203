"""Schemas that document the responses; they are not used for validation."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from nlgauge.service.schemas import Range

Direction = Literal["higher", "lower"]


class Error(BaseModel):
    """The reason for an error response."""

    kind: str = Field(examples=["too_many_rows"])
    message: str = Field(examples=["5,000 rows, but this server accepts at most 2,000"])
    where: list[str | int] | None = Field(None, description="The location in the body, if any.")
    id: str | None = Field(None, description="The id of the entry in the server's log, if any.")


class Refusal(BaseModel):
    """The body of every error response."""

    error: Error


class _MetricValue(BaseModel):
    metric: str
    value: float
    components: dict[str, float]
    details: dict[str, float] = Field(
        {}, description="Corpus-level counts and ratios, such as lengths."
    )
    direction: Direction
    range: Range
    signature: str
    warnings: list[str]


class Scored(_MetricValue):
    """The score of one system by one metric."""

    system: str
    segments_scored: int
    segments: list[dict[str, str | float]] | None = None
    statistics: list[list[float]] | None = None
    notes: dict[str, int] | None = None


class ScoreAnswer(BaseModel):
    """The scores of every system by every metric, in the order of systems, then of metrics."""

    scores: list[Scored]


class Plan(BaseModel):
    """A transport plan: rows are candidate tokens, columns reference tokens."""

    value: float
    objective: float
    mass: float
    iterations: int
    converged: bool
    residual: float
    coupling: list[list[float]]
    cost: list[list[float]]
    a: list[float] = Field(description="Masses of the candidate tokens.")
    b: list[float] = Field(description="Masses of the reference tokens.")
    candidate_tokens: list[str] | None
    reference_tokens: list[str] | None


class LayerPlan(BaseModel):
    """The plan of one layer alone."""

    layer: int
    value: float
    plan: Plan


class TokenMatch(BaseModel):
    """Two tokens, at least one of which is the nearest token of the other."""

    candidate: int = Field(description="Index of the candidate token, from 0.")
    reference: int
    cosine: float
    precision: bool = Field(
        description="The reference token is the nearest one of the candidate token."
    )
    recall: bool = Field(
        description="The candidate token is the nearest one of the reference token."
    )


class Span(BaseModel):
    """An error in the candidate; offsets count Unicode characters, the end is not included."""

    start: int
    end: int
    severity: str
    category: str


class AlignAnswer(_MetricValue):
    """The scores of the pair, and the alignment with its best reference."""

    reference: int = Field(description="Index of the aligned reference, from 0.")
    plan: Plan
    matches: list[TokenMatch] | None = Field(None, description="Matches, for greedy metrics.")
    layers: list[LayerPlan] | None = None
    spans: list[Span] | None = Field(
        None, description="Predicted errors; null if no thresholds are given or known."
    )


class ComparedSystem(BaseModel):
    """One system by one metric; the baseline has no difference and no p-value."""

    metric: str
    system: str
    value: float
    value_low: float | None = Field(description="95% bootstrap interval of the value.")
    value_high: float | None
    difference: float | None
    low: float | None = Field(description="95% interval of the difference.")
    high: float | None
    p_uncorrected: float | None = Field(description="Two-sided.")
    p_holm: float | None = Field(description="Two-sided, Holm-corrected over the systems.")
    cluster: int = Field(
        description="1 is best; p_uncorrected < alpha for all pairs of systems across clusters."
    )


class SystemPair(BaseModel):
    """The test of two systems by one metric, from which clusters are computed."""

    metric: str
    first: str
    second: str
    difference: float
    p_uncorrected: float
    method: str


class DifferingSegment(BaseModel):
    """A segment with a large difference between a system and the baseline."""

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


class _StudyAnswer(BaseModel):
    scales: dict[str, dict[str, Any]] = Field(description="Direction and range by metric.")
    signatures: dict[str, str]
    notes: list[str]


class SystemSegments(BaseModel):
    """The scores of one system on every segment; the baseline has no differences."""

    values: list[float | None]
    differences: list[float | None] | None


class SegmentScores(BaseModel):
    """The scores of every segment by metric and system, in the order of ``ids``."""

    ids: list[str]
    metrics: dict[str, dict[str, SystemSegments]]


class CompareAnswer(_StudyAnswer):
    """Paired tests of every system against the baseline."""

    baseline: str
    method: str
    count: int
    seed: int
    segments: int
    units: int
    alpha: float
    pairs: list[SystemPair]
    systems: list[ComparedSystem]
    differ: list[DifferingSegment]
    segment_scores: SegmentScores | None


class Correlated(BaseModel):
    """The correlation of one metric with one criterion, and its interval if requested."""

    metric: str
    criterion: str
    level: str
    coefficient: str
    value: float | None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    interval: str | None = None
    resampled: str | None = None
    tie_threshold: float | None = None
    chance: float | None = Field(None, description="Chance level of acc_eq.")
    n: int
    rows_used: int
    undefined: int
    reason: str | None = None


class Matrix(BaseModel):
    """Coefficients and p-values of every pair, human criteria first; null if undefined."""

    names: list[str]
    values: list[list[float | None]]
    p: list[list[float | None]]
    level: str
    coefficient: str
    cells: int
    cells_dropped: int


class DensityBand(BaseModel):
    """The scores in one band of human quality; density is null if all scores are equal."""

    name: str
    scores: list[float]
    places: list[float]
    density: list[float | None]


class MetricTests(BaseModel):
    """p[i][j]: one-sided p of "metric i agrees better with people than j", Holm-corrected."""

    criterion: str
    level: str
    coefficient: str
    method: Literal["williams", "permutation"]
    names: list[str]
    p: list[list[float | None]]


class JudgedCells(BaseModel):
    """The scores of every judged output; null where it was not judged by a criterion."""

    systems: list[str]
    segments: list[str]
    human: dict[str, list[float | None]]
    scores: dict[str, list[float | None]]


class CorrelateAnswer(_StudyAnswer):
    """Correlations with human judgements, the matrix, and distributions by quality."""

    correlations: list[Correlated]
    tests: list[MetricTests]
    cells: JudgedCells | None
    matrix: Matrix | None
    distributions: dict[str, dict[str, list[DensityBand]]]


class ReadLabels(BaseModel):
    """Labels by rater, as /v1/judge accepts them."""

    items: list[str]
    labels: dict[str, list[str | None]]
    position: list[Any] | None = None
    length: list[Any] | None = None
    system: list[Any] | None = None
    cluster: list[Any] | None = None


class ReadAnswer(BaseModel):
    """The content of an uploaded file: lines of text, or rows of a table."""

    name: str = Field(description="The name of the file without endings.")
    kind: Literal["text", "table"]
    lines: list[str] | None
    rows: list[dict[str, Any]] | None = Field(
        description="As /v1/compare (pairs) or /v1/correlate (rows) accept them."
    )
    criteria: list[str] = Field(description="Rows, for human judgements.")
    labels: ReadLabels | None = Field(description="Labels, for a table of labels.")
    notes: list[str]


class MetricCard(BaseModel):
    """The description of a metric; ``options`` is a JSON schema."""

    name: str
    title: str = Field(description="The name as papers write it.")
    summary: str
    paper: str
    direction: Direction
    range: Range
    components: list[str]
    aligns: bool = Field(description="Whether /v1/align supports it.")
    layered: bool = Field(description="Whether /v1/align supports plans for each layer.")
    needs_model: bool
    options: dict[str, Any]


class MetricsAnswer(BaseModel):
    """All metrics, the models they may use, and the limits of requests."""

    version: str
    metrics: list[MetricCard]
    models: list[str]
    default_model: str
    limits: dict[str, float]


class JobAnswer(BaseModel):
    """The progress of a job; ``result`` is the answer of its endpoint once it is done."""

    id: str
    kind: Literal["score", "compare", "correlate", "card"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    rows_done: int
    rows_total: int | None
    pairs_per_second: float | None
    seconds: float
    ahead: int = Field(description="Position in the queue; 0 if it does not wait.")
    result: dict[str, Any] | None = None
    error: Error | None = None


class Health(BaseModel):
    """The state and load of the server."""

    status: Literal["ok"]
    version: str
    models: list[str]
    token: bool = Field(description="Whether /v1 requires a token.")
    waiting: int
    jobs: int
