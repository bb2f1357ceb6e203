"""Schemas of the request bodies."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

Finite = Annotated[float, Field(allow_inf_nan=False)]
Texts = Annotated[list[str], Field(fail_fast=True)]  # report one error, not thousands
References = str | Annotated[Texts, Field(min_length=1)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(fail_fast=True)]
SPEC_HELP = "A metric name, name:option=value,... or a signature."
_SPEC = Field(min_length=1, max_length=1000, description=SPEC_HELP, examples=["mover:ngram=2"])
SpecText = Annotated[str, _SPEC]
OptionValue = bool | int | Finite | Annotated[str, Field(max_length=500)] | None
Range = Annotated[list[float | None], Field(min_length=2, max_length=2)]
Level = Literal["segment", "text", "by_system", "document", "system"]
Coefficient = Literal["pearson", "spearman", "kendall_b", "kendall_c", "accuracy"]
PairCoefficient = Literal["acc_eq", "spa", "pairwise_pearson"]


_SOURCE = "The input text of the candidate, for metrics that read sources."
_SOURCES = "One text for each segment, for metrics that read sources."


class _Request(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class NamedMetric(_Request):
    """A metric with its options; texts are parsed as on the command line ("inf")."""

    name: Name
    options: dict[Name, OptionValue] = Field(default_factory=dict)


Spec = SpecText | NamedMetric
Specs = Annotated[list[Spec], Field(min_length=1, fail_fast=True)]


class Pair(_Request):
    """A candidate and its references; rows of several systems on one segment share its id."""

    candidate: str
    references: References
    source: str | None = Field(None, description=_SOURCE)
    id: Name | None = None
    system: Name | None = None


class _Pairs(_Request):
    pairs: Annotated[list[Pair], Field(min_length=1, fail_fast=True)]
    metrics: Specs


class _Systems(_Request):
    systems: Annotated[dict[Name, Texts], Field(min_length=1)]
    references: Annotated[list[References], Field(min_length=1, fail_fast=True)]
    sources: Texts | None = Field(None, description=_SOURCES)
    metrics: Specs


class _Lists(_Request):
    candidates: Annotated[Texts, Field(min_length=1)]
    references: Annotated[list[References], Field(min_length=1, fail_fast=True)]
    sources: Texts | None = Field(None, description=_SOURCES)
    ids: Names | None = None
    metrics: Specs


class _ScoreOptions(_Request):
    segments: bool = Field(True, description="Include the scores of every segment.")
    statistics: bool = Field(False, description="Include the statistics of every segment.")


class ScorePairs(_Pairs, _ScoreOptions):
    """Pairs to score."""


class ScoreSystems(_Systems, _ScoreOptions):
    """Outputs of systems on the same segments, to score."""


class ScoreLists(_Lists, _ScoreOptions):
    """Candidates of one system and their references as lists, to score."""


class _CompareOptions(_Request):
    baseline: Name | None = Field(None, description="Default: the first system.")
    method: Literal["bootstrap", "randomisation"] = "bootstrap"
    count: int = Field(1000, ge=1, le=100_000, description="Number of resamples or permutations.")
    seed: int = Field(0, ge=0, le=2**32 - 1)
    alpha: Finite = Field(0.05, gt=0, lt=1, description="Two-sided significance level of clusters.")
    differ: int = Field(5, ge=0, le=100, description="Segments with the largest differences.")
    segments: bool = Field(False, description="Include the scores of every segment.")


class ComparePairs(_Pairs, _CompareOptions):
    """Pairs with their systems, to compare."""


class CompareSystems(_Systems, _CompareOptions):
    """Outputs of systems on the same segments, to compare."""


class AlignRequest(_Request):
    """One pair, and a metric that aligns tokens."""

    candidate: str
    references: References
    metric: Spec = "mover"
    layers: bool = Field(False, description="Include a plan for each layer of the metric.")
    words: bool = Field(False, description="Join the pieces of words that the model splits.")
    minor: Finite | None = Field(None, description="Minimum cost of a word in a predicted error.")
    major: Finite | None = Field(None, description="Minimum mean cost of a major error.")

    @property
    def metrics(self) -> list[Spec]:
        """The metric, as requests with several have it."""
        return [self.metric]


class JudgedSpan(_Request):
    """An annotated error of the candidate; offsets count characters, the end is not included."""

    start: int = Field(ge=0, le=10**9)
    end: int = Field(ge=0, le=10**9)
    severity: Name = "major"
    category: Annotated[str, Field(max_length=200)] = ""


class JudgedRow(_Request):
    """An output of a system with its human judgements; null: not judged."""

    candidate: str
    references: References
    source: str | None = Field(None, description=_SOURCE)
    system: Name = "system"
    segment: Name | None = None
    document: Name | None = Field(None, description="For the level document.")
    human: Annotated[dict[Name, Finite | None], Field(min_length=1)]
    scores: dict[Name, Finite | None] = Field(
        default_factory=dict, description="Stored scores of metrics, for /v1/card."
    )
    spans: Annotated[list[JudgedSpan], Field(fail_fast=True)] | None = Field(
        None, description="Annotated errors, for /v1/card."
    )


JudgedRows = Annotated[list[JudgedRow], Field(min_length=1, fail_fast=True)]


Label = Annotated[str, Field(max_length=200)] | bool | int | Finite
Labels = Annotated[list[Label | None], Field(fail_fast=True)]


class JudgeRequest(_Request):
    """Labels of a judge and of people, by rater; null: not labelled. All lists have one length."""

    labels: Annotated[dict[Name, Labels], Field(min_length=1)]
    items: Annotated[list[Name], Field(fail_fast=True)] | None = Field(
        None, description="Ids of items; default: numbers."
    )
    position: Labels | None = Field(None, description="Label of the output that was shown first.")
    length: Labels | None = Field(None, description="Lengths of the outputs.")
    system: Labels | None = Field(None, description="Systems whose outputs were labelled.")
    cluster: Labels | None = Field(None, description="Clusters to resample.")
    judge: Name
    human: Names | None = Field(None, description="People; default: all other raters.")
    order: Names | None = Field(None, description="Labels from lowest to highest.")
    scale: Literal["nominal", "ordinal", "interval", "ratio"] | None = None
    pool: bool = Field(False, description="Treat the k-th label of every item as that of person k.")
    epsilon: Finite = Field(
        0.1, ge=0, le=1, description="Epsilon of the alternative annotator test."
    )
    own: Names = Field(default_factory=list, description="The judge's own systems.")
    count: int = Field(1000, ge=1, le=10_000, description="Number of resamples.")
    seed: int = Field(0, ge=0, le=2**32 - 1)


class MatrixOptions(_Request):
    """Options of the matrix of correlations between metrics."""

    level: Level = "segment"
    coefficient: Coefficient = "pearson"
    cluster: bool = False


class CorrelateRequest(_Request):
    """Judged rows, and the metrics to correlate with the judgements."""

    rows: JudgedRows
    metrics: Specs
    human: Names | None = Field(None, description="Criteria; default: all.")
    levels: list[Level] | None = Field(
        None, description="Default: segment, and system if 3 or more systems are judged."
    )
    coefficients: Annotated[list[Coefficient | PairCoefficient], Field(min_length=1)] = Field(
        ["pearson"]
    )
    confidence: Finite | None = Field(None, gt=0, lt=1, description="Level of bootstrap intervals.")
    over: Literal["inputs", "systems", "both"] = "inputs"
    count: int = Field(1000, ge=1, le=100_000)
    seed: int = Field(0, ge=0, le=2**32 - 1)
    system_score: Literal["mean", "corpus"] = "mean"
    without: Names = Field(default_factory=list, description="Systems to leave out.")
    bands: int = Field(3, ge=2, le=8, description="Number of quality bands.")
    matrix: MatrixOptions | None = Field(default_factory=MatrixOptions)
    tests: Literal["williams", "permutation"] | None = Field(
        None, description="Test between metrics; Williams's test is for Pearson's r only."
    )
    segments: bool = Field(False, description="Include all human and metric scores.")


class CardRequest(_Request):
    """Judged rows, and the metric or stored scores to describe."""

    rows: JudgedRows
    metric: Spec | None = None
    stored: Name | None = Field(
        None, description="Name of stored scores of the rows, instead of a metric."
    )
    lower_is_better: bool = Field(False, description="Stored scores are distances.")
    beside: Specs = Field(["bleu", "chrf"], description="Metrics to compare with.")
    human: Name | None = Field(None, description="Criterion; default: the first.")
    data: Name = Field("judged texts", description="Name of the data on the card.")
    count: int = Field(500, ge=1, le=10_000, description="Number of resamples.")
    seed: int = Field(0, ge=0, le=2**32 - 1)

    @model_validator(mode="after")
    def _check_metric(self) -> "CardRequest":
        if (self.metric is None) == (self.stored is None):
            raise ValueError("name either a metric or stored scores")
        if self.lower_is_better and self.stored is None:
            raise ValueError(
                "lower_is_better is for stored scores; the direction of a metric is known"
            )
        return self

    @property
    def metrics(self) -> list[Spec]:
        """The metrics to compute; the card's own metric, if any, is the first."""
        if self.metric is None:
            return self.beside
        return [self.metric, *(spec for spec in self.beside if spec != self.metric)]


def _form_of(fields: tuple[str, ...], message: str) -> Discriminator:
    """Return a discriminator by the first of these fields that a body has."""

    def find(value: Any) -> str | None:
        names = value if isinstance(value, dict) else getattr(value, "model_fields_set", ())
        return next((name for name in fields if name in names), None)

    return Discriminator(find, custom_error_type="unknown_form", custom_error_message=message)


_PAIR = '{"pairs": [{"candidate": "a", "references": ["b"]}], "metrics": ["bleu"]}'
_LIST = '{"candidates": ["a"], "references": [["b"]], "metrics": ["bleu"]}'
_TWO = (
    '{"systems": {"A": ["a", "b"], "B": ["c", "d"]}, "references": [["a"], ["b"]], '
    '"metrics": ["bleu"]}'
)
_LISTS, _PAIRS, _SYSTEMS = Tag("candidates"), Tag("pairs"), Tag("systems")
ScoreRequest = Annotated[
    Annotated[ScorePairs, _PAIRS]
    | Annotated[ScoreSystems, _SYSTEMS]
    | Annotated[ScoreLists, _LISTS],
    _form_of(
        ("pairs", "systems", "candidates"),
        f"the body needs pairs, candidates or systems: {_PAIR}, {_LIST} or {_TWO}",
    ),
]
CompareRequest = Annotated[
    Annotated[ComparePairs, _PAIRS] | Annotated[CompareSystems, _SYSTEMS],
    _form_of(
        ("pairs", "systems"),
        f"the body needs pairs (with a system each) or systems: {_TWO}",
    ),
]


class ScoreJob(_Request):
    """A job that scores."""

    kind: Literal["score"]
    body: ScoreRequest


class CompareJob(_Request):
    """A job that compares systems."""

    kind: Literal["compare"]
    body: CompareRequest


class CorrelateJob(_Request):
    """A job that correlates metrics with human judgements."""

    kind: Literal["correlate"]
    body: CorrelateRequest


class CardJob(_Request):
    """A job that creates a metric card."""

    kind: Literal["card"]
    body: CardRequest


JobRequest = Annotated[ScoreJob | CompareJob | CorrelateJob | CardJob, Discriminator("kind")]
ScoreBody = ScorePairs | ScoreSystems | ScoreLists
CompareBody = ComparePairs | CompareSystems
JudgedBody = CorrelateRequest | CardRequest
Work = ScoreBody | CompareBody | JudgedBody
Body = Work | AlignRequest | JudgeRequest
