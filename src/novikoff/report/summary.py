"""The report as plain data, from which the text, the JSON and the page are made.

Rows are counted from 1, as in the file, the header not counted. ``report.schema.json``
describes the JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from novikoff import __version__
from novikoff.core.rows import Indices
from novikoff.core.validation import Label
from novikoff.report.study import Case, Run, Study

if TYPE_CHECKING:
    from novikoff.geometry.margin import Interval
    from novikoff.report.estimate import Estimate

SCHEMA_VERSION = 2
# Lists of rows are cut after this many entries; the numbers beside them count all.
_MAX_LISTED = 1000
_SEVERITY = ("separable", "quasi-separable", "inseparable", "undecided")


@dataclass(frozen=True)
class Source:
    """Where the rows came from, and how to speak of them."""

    name: str
    names: Sequence[str]
    label: str | None
    rows: Indices
    ids: Sequence[str] | None = None
    notes: Sequence[str] = ()
    sparse: bool = False

    def list(self, rows: Indices) -> RowsPart:
        """Rows by the numbers of their file."""
        first = rows[:_MAX_LISTED].tolist()
        ids = None if self.ids is None else [self.ids[i] for i in first]
        return RowsPart(len(rows), self.rows[first].tolist(), ids)


@dataclass(frozen=True)
class ClassPart:
    """A class and its number of rows."""

    label: Label
    rows: int


@dataclass(frozen=True)
class DataPart:
    """The data."""

    source: str
    rows: int
    features: int
    sparse: bool
    label: str | None
    positive: Label | None
    fit_intercept: bool
    classes: list[ClassPart]
    notes: list[str]


@dataclass(frozen=True)
class RowsPart:
    """Some rows: how many, the numbers of the first of them, and their ids if there are any."""

    count: int
    rows: list[int]
    ids: list[str] | None


@dataclass(frozen=True)
class Bounds:
    """An interval that is guaranteed to hold a number; null is infinity."""

    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Fate:
    """A weight without a finite estimate: to +∞, −∞, or (sign 0) either."""

    name: str
    sign: int


@dataclass(frozen=True)
class Logistic:
    """What becomes of the weights of a logistic regression."""

    infinite: list[Fate]
    undetermined: list[str]


@dataclass(frozen=True)
class ScaledPart:
    """Margin, radius and mistake bound on the standardised features."""

    margin: Bounds
    radius: float | None
    mistake_bound: int | None


@dataclass(frozen=True)
class CasePart:
    """One class against the other, or the rest (``negative`` is null)."""

    positive: Label
    negative: Label | None
    kind: str
    margin: Bounds
    geometric_margin: Bounds
    radius: float | None
    mistake_bound: int | None
    scaled: ScaledPart | None
    support: RowsPart
    separated: RowsPart
    logistic: Logistic | None
    errors: int | None
    errors_lower_bound: int | None


@dataclass(frozen=True)
class VerdictPart:
    """The kind for the data as a whole: the worst of its cases."""

    kind: str
    cases: list[CasePart]


@dataclass(frozen=True)
class ModelPart:
    """The rule that was kept, and its mistakes on the training rows."""

    rule: str
    errors: int
    confusion: list[list[int]]


@dataclass(frozen=True)
class DuplicatesPart:
    """Identical rows with different labels."""

    groups: int
    listed: list[RowsPart]


@dataclass(frozen=True)
class Files:
    """The files that were written."""

    model: str | None = None
    certificate: str | None = None
    plot: str | None = None


@dataclass(frozen=True)
class Report:
    """All of it."""

    schema_version: int
    program: str
    data: DataPart
    verdict: VerdictPart | None
    perceptron: Run | None
    model: ModelPart
    duplicates: DuplicatesPart
    estimate: Estimate | None
    files: Files
    seconds: float

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summarize(
    found: Study,
    source: Source,
    *,
    estimate: Estimate | None = None,
    files: Files = Files(),  # noqa: B008 — frozen
    seconds: float = 0.0,
) -> Report:
    """Put a study into words that need no arrays."""
    counts = np.bincount(found.codes).tolist()
    obstacles = dict.fromkeys(case.verdict.obstacle for case in found.cases)
    worst = max(found.kinds, key=_SEVERITY.index, default="")
    return Report(
        schema_version=SCHEMA_VERSION,
        program=f"novikoff {__version__}",
        data=DataPart(
            source=source.name,
            rows=len(source.rows),
            features=len(source.names),
            sparse=source.sparse,
            label=source.label,
            positive=_positive(found),
            fit_intercept=found.options.fit_intercept,
            classes=[ClassPart(*pair) for pair in zip(found.classes, counts, strict=True)],
            notes=[
                *source.notes,
                *(f"the verdict went no further: {reason}" for reason in obstacles if reason),
            ],
        ),
        verdict=VerdictPart(worst, [_case(case, source) for case in found.cases])
        if worst
        else None,
        perceptron=found.run,
        model=ModelPart(found.rule, found.errors, found.confusion.tolist()),
        duplicates=DuplicatesPart(
            len(found.duplicates), [source.list(rows) for rows in found.duplicates[:_MAX_LISTED]]
        ),
        estimate=estimate,
        files=files,
        seconds=seconds,
    )


def _positive(found: Study) -> Label | None:
    """The positive class of two, as it is called among the classes; None for several."""
    if len(found.classes) > 2:
        return None
    positive = found.options.positive
    named = [label for label in found.classes if positive in (label, str(label))]
    return found.classes[-1] if positive is None or not named else named[0]


def _case(case: Case, source: Source) -> CasePart:
    verdict, scaled = case.verdict, case.scaled
    quasi = verdict.kind == "quasi-separable"
    return CasePart(
        positive=case.positive,
        negative=case.negative,
        kind=verdict.kind,
        margin=_bounds(verdict.margin),
        geometric_margin=_bounds(verdict.geometric_margin),
        radius=_finite(verdict.radius),
        mistake_bound=verdict.mistake_bound,
        scaled=None
        if scaled is None
        else ScaledPart(_bounds(scaled.margin), _finite(scaled.radius), scaled.mistake_bound),
        support=source.list(verdict.support),
        separated=source.list(verdict.separated_rows if quasi else np.arange(0)),
        logistic=_logistic(case, source),
        errors=case.errors,
        errors_lower_bound=case.least_errors,
    )


def _logistic(case: Case, source: Source) -> Logistic | None:
    fate, verdict = case.recession, case.verdict
    if fate is None or verdict.coef is None or verdict.intercept is None:
        return None
    names = [*source.names, "(intercept)"]
    signs = np.sign(np.append(verdict.coef, verdict.intercept)).astype(int).tolist()
    return Logistic(
        infinite=[Fate(names[j], signs[j]) for j in np.flatnonzero(fate.infinite).tolist()],
        undetermined=[names[j] for j in np.flatnonzero(fate.undetermined).tolist()],
    )


def _bounds(interval: Interval) -> Bounds:
    return Bounds(_finite(interval.lo), _finite(interval.hi))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
