"""The report: a study, where its rows came from, and the files; as JSON for other programs.

Rows are counted from 1, as in the file, the header not counted. ``report.schema.json``
describes the JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from novikoff import __version__
from novikoff.core.rows import Indices
from novikoff.core.validation import Label
from novikoff.report.study import Case, Study

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


class Files(NamedTuple):
    """The files that were written."""

    model: str | None = None
    certificate: str | None = None
    plot: str | None = None


@dataclass(frozen=True)
class Rows:
    """Some rows: how many, the numbers of the first of them, and their ids if there are any."""

    count: int
    rows: list[int]
    ids: list[str] | None


class Verdicts(NamedTuple):
    """The kind for the data as a whole, the worst of its cases; and the cases."""

    kind: str
    cases: list[Case]


class Logistic(NamedTuple):
    """What becomes of the weights of a logistic regression.

    Weights without a finite estimate run to +∞, −∞ or (sign 0) either; others are not determined.
    """

    infinite: list[tuple[str, int]]
    undetermined: list[str]


@dataclass(frozen=True)
class Report:
    """All that a person or a program is told of a study."""

    found: Study
    source: Source
    estimate: Estimate | None = None
    files: Files = Files()  # noqa: RUF009 — a tuple
    seconds: float = 0.0
    program: str = f"novikoff {__version__}"

    @property
    def verdict(self) -> Verdicts | None:
        """The verdicts, if there are any."""
        kinds = self.found.kinds
        worst = max(kinds, key=_SEVERITY.index, default="")
        return Verdicts(worst, self.found.cases) if kinds else None

    @property
    def notes(self) -> list[str]:
        """What is to be said about the data, and why verdicts went no further."""
        reasons = dict.fromkeys(case.verdict.obstacle for case in self.found.cases)
        stopped = [f"the verdict went no further: {reason}" for reason in reasons if reason]
        return [*self.source.notes, *stopped]

    @property
    def positive(self) -> Label | None:
        """The positive class of two, as it is called among the classes; None for several."""
        classes, positive = self.found.classes, self.found.options.positive
        if len(classes) > 2:
            return None
        named = [label for label in classes if positive in (label, str(label))]
        return classes[-1] if positive is None or not named else named[0]

    @property
    def classes(self) -> list[tuple[Label, int]]:
        """The classes and their numbers of rows."""
        counts = np.bincount(self.found.codes).tolist()
        return list(zip(self.found.classes, counts, strict=True))

    def rows(self, rows: Indices) -> Rows:
        """Rows by the numbers of their file."""
        first, ids = rows[:_MAX_LISTED].tolist(), self.source.ids
        numbers: list[int] = self.source.rows[first].tolist()
        return Rows(len(rows), numbers, None if ids is None else [ids[i] for i in first])

    def logistic(self, case: Case) -> Logistic | None:
        """The fate of a logistic regression's weights, of a case that is quasi-separable."""
        fate, verdict = case.recession, case.verdict
        if fate is None or verdict.coef is None or verdict.intercept is None:
            return None
        names = [*self.source.names, "(intercept)"]
        signs = np.sign(np.append(verdict.coef, verdict.intercept)).astype(int).tolist()
        return Logistic(
            [(names[j], signs[j]) for j in np.flatnonzero(fate.infinite).tolist()],
            [names[j] for j in np.flatnonzero(fate.undetermined).tolist()],
        )

    def to_json(self) -> str:
        """The report as JSON."""
        found, source, verdict = self.found, self.source, self.verdict
        body = {
            "schema_version": SCHEMA_VERSION,
            "program": self.program,
            "data": {
                "source": source.name,
                "rows": len(source.rows),
                "features": len(source.names),
                "sparse": source.sparse,
                "label": source.label,
                "positive": self.positive,
                "fit_intercept": found.options.fit_intercept,
                "classes": [{"label": label, "rows": count} for label, count in self.classes],
                "notes": self.notes,
            },
            "verdict": verdict
            and {"kind": verdict.kind, "cases": [self._case(case) for case in verdict.cases]},
            "perceptron": found.run and asdict(found.run),
            "model": {
                "rule": found.rule,
                "errors": found.errors,
                "confusion": found.confusion.tolist(),
            },
            "duplicates": {
                "groups": len(found.duplicates),
                "listed": [asdict(self.rows(rows)) for rows in found.duplicates[:_MAX_LISTED]],
            },
            "estimate": self.estimate and asdict(self.estimate),
            "files": self.files._asdict(),
            "seconds": self.seconds,
        }
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _case(self, case: Case) -> dict[str, object]:
        verdict, scaled, logistic = case.verdict, case.scaled, self.logistic(case)
        separated = verdict.separated_rows if verdict.kind == "quasi-separable" else np.arange(0)
        return {
            "positive": case.positive,
            "negative": case.negative,
            "kind": verdict.kind,
            "margin": _bounds(verdict.margin),
            "geometric_margin": _bounds(verdict.geometric_margin),
            "radius": _finite(verdict.radius),
            "mistake_bound": verdict.mistake_bound,
            "scaled": scaled
            and {
                "margin": _bounds(scaled.margin),
                "radius": _finite(scaled.radius),
                "mistake_bound": scaled.mistake_bound,
            },
            "support": asdict(self.rows(verdict.support)),
            "separated": asdict(self.rows(separated)),
            "logistic": logistic
            and {
                "infinite": [{"name": name, "sign": sign} for name, sign in logistic.infinite],
                "undetermined": logistic.undetermined,
            },
            "errors": case.errors,
            "errors_lower_bound": case.least_errors,
        }


summarize = Report


def _bounds(interval: Interval) -> dict[str, float | None]:
    """An interval that is guaranteed to hold a number; null is infinity."""
    return {"lo": _finite(interval.lo), "hi": _finite(interval.hi)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
