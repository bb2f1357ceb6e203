"""Schemas that document the response of /v1/judge."""

from typing import Literal

from pydantic import BaseModel, Field


class Estimate(BaseModel):
    """A coefficient with its confidence interval; null if undefined."""

    value: float | None
    low: float | None
    high: float | None
    confidence: float
    interval: str = Field(description="bootstrap, or wilson for shares.")
    resampled: str | None


class PairAgreement(BaseModel):
    """A coefficient of the judge with people, of people with each other, and the difference."""

    coefficient: str
    judge: Estimate
    people: Estimate | None
    difference: Estimate | None


class PersonAgreement(BaseModel):
    """A coefficient of the judge with one person, or with the majority of people."""

    person: str
    coefficient: str
    n: int
    interval: Estimate


class GroupAgreement(BaseModel):
    """A coefficient of all raters at once."""

    coefficient: str
    people: Estimate
    with_judge: Estimate


class LeftOutPerson(BaseModel):
    """The judge against one person, both compared with the other people."""

    person: str
    n: int
    judge_advantage: float | None
    person_advantage: float | None
    p: float | None
    test: str
    wins: bool


class AlternativeTest(BaseModel):
    """The alternative annotator test."""

    epsilon: float
    winning_rate: float = Field(
        description="Omega; the judge may replace a person if it is at least .5."
    )
    advantage: float = Field(description="Rho.")
    passed: bool
    scoring: Literal["accuracy", "rmse"]
    people: list[LeftOutPerson]


class Bias(Estimate):
    """A bias of a rater."""

    bias: Literal["position", "consistency", "length", "self-preference"]
    rater: str
    n: int


class JudgeAnswer(BaseModel):
    """The reliability of a judge."""

    judge: str
    people: list[str]
    items: int
    rows: int
    scale: Literal["nominal", "ordinal", "interval", "ratio"]
    labels: list[str]
    verdict: str
    agreement: list[PairAgreement]
    persons: list[PersonAgreement]
    group: list[GroupAgreement]
    confusion: list[list[int]] | None = Field(
        description="Counts of labels of people (rows) and of the judge (columns)."
    )
    alternative_test: AlternativeTest | None
    biases: list[Bias]
    notes: list[str]
