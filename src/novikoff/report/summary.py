"""The report: a study, the data it is about, and the files; as JSON for other programs.

Rows are counted from 1, as in the file, the header not counted. ``report.schema.json``
describes the JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from novikoff import __version__
from novikoff.core.rows import Indices
from novikoff.core.validation import Label
from novikoff.report.study import Case, Study

if TYPE_CHECKING:
    from novikoff.data import Dataset
    from novikoff.geometry.separability import Verdict
    from novikoff.report.estimate import Estimate

SCHEMA_VERSION = 2
# Lists of rows are cut after this many entries; the numbers beside them count all.
_MAX_LISTED = 1000
SEVERITY = ("separable", "quasi-separable", "inseparable", "undecided")


@dataclass(frozen=True)
class Rows:
    """Some rows: how many, the numbers of the first of them, and their ids if there are any."""

    count: int
    rows: list[int]
    ids: list[str] | None


@dataclass(frozen=True)
class WrongRows(Rows):
    """Rows that the model gets wrong: their labels, and how far they are on their side."""

    labels: list[Label]
    predicted: list[Label]
    distances: list[float | None]


@dataclass(frozen=True)
class Report:
    """All that a person or a program is told of a study; ``files`` are those that were written."""

    found: Study
    data: Dataset
    estimate: Estimate | None = None
    files: Mapping[str, str | None] = field(default_factory=dict)
    seconds: float = 0.0
    program: str = f"novikoff {__version__}"

    @property
    def kind(self) -> str | None:
        """The kind for the data as a whole, the worst of its cases; None without a verdict."""
        return max(self.found.kinds, key=SEVERITY.index, default=None)

    @property
    def notes(self) -> list[str]:
        """What is to be said about the data, and why verdicts went no further."""
        reasons = dict.fromkeys(case.verdict.obstacle for case in self.found.cases)
        stopped = [f"the verdict went no further: {reason}" for reason in reasons if reason]
        return [*self.data.notes, *stopped]

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
        first, ids = rows[:_MAX_LISTED].tolist(), self.data.ids
        numbers: list[int] = self.data.rows[first].tolist()
        return Rows(len(rows), numbers, None if ids is None else [ids[i] for i in first])

    @property
    def wrong(self) -> WrongRows:
        """The rows that the model gets wrong, the farthest on the wrong side first."""
        found, classes = self.found, self.found.classes
        listed = found.wrong[:_MAX_LISTED]
        return WrongRows(
            **vars(self.rows(found.wrong)),
            labels=[classes[code] for code in found.codes[listed].tolist()],
            predicted=[classes[code] for code in found.predicted[listed].tolist()],
            distances=[_finite(distance) for distance in found.distances[listed].tolist()],
        )

    def to_json(self) -> str:
        """The report as JSON."""
        found, data, duplicates = self.found, self.data, self.found.duplicates
        body = {
            "schema_version": SCHEMA_VERSION,
            "program": self.program,
            "data": {
                "source": data.source,
                "rows": data.n_rows,
                "features": len(data.names),
                "sparse": data.sparse,
                "label": data.label,
                "positive": self.positive,
                "fit_intercept": found.options.fit_intercept,
                "classes": [{"label": label, "rows": count} for label, count in self.classes],
                "notes": self.notes,
            },
            "verdict": self.kind and {"kind": self.kind, "cases": [*map(self._case, found.cases)]},
            "perceptron": found.run and asdict(found.run),
            "model": {
                "rule": found.rule,
                "margins": [_finite(margin) for margin in found.margins],
                "errors": found.errors,
                "wrong": asdict(self.wrong),
                "confusion": found.confusion.tolist(),
            },
            "duplicates": {
                "groups": len(duplicates),
                "listed": [asdict(self.rows(rows)) for rows in duplicates[:_MAX_LISTED]],
            },
            "estimate": self.estimate and asdict(self.estimate),
            "files": dict(self.files),
            "seconds": self.seconds,
        }
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _case(self, case: Case) -> dict[str, object]:
        verdict, fates = case.verdict, case.verdict.logistic
        separated = verdict.separated_rows if verdict.kind == "quasi-separable" else np.arange(0)
        geometric = verdict.geometric_margin
        return {
            "positive": case.positive,
            "negative": case.negative,
            "kind": verdict.kind,
            **_bound(verdict),
            "geometric_margin": {"lo": _finite(geometric.lo), "hi": _finite(geometric.hi)},
            "scaled": case.scaled and _bound(case.scaled),
            "support": asdict(self.rows(verdict.support)),
            "separated": asdict(self.rows(separated)),
            "logistic": fates and {str(name): fate for name, fate in fates.items()},
            "responsible_columns": verdict.responsible_columns,
            "errors": case.errors,
            "errors_lower_bound": case.least_errors,
        }


def _bound(verdict: Verdict) -> dict[str, object]:
    """γ in an interval, R, and ⌊R²/γ²⌋; null is infinity."""
    return {
        "margin": {"lo": _finite(verdict.margin.lo), "hi": _finite(verdict.margin.hi)},
        "radius": _finite(verdict.radius),
        "mistake_bound": verdict.mistake_bound,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
