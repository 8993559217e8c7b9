"""The report: a study, the data it is about, and the files; as JSON for other programs.

Rows are counted from 1, as in the file, the header not counted. ``report.schema.json``
describes the JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from novikoff import __version__
from novikoff.core.class_labels import Label
from novikoff.core.rows import Indices
from novikoff.data.messages import printable_name
from novikoff.jobs.study_records import Case, Study
from novikoff.sentences import counted

if TYPE_CHECKING:
    from novikoff.cluster import ClusterRows
    from novikoff.data import Dataset, Recipe
    from novikoff.geometry.verdict import Verdict
    from novikoff.jobs.estimate import Estimate

SCHEMA_VERSION = 2
# Lists of rows are cut after this many entries; the numbers beside them count all.
_MAX_LISTED = 1000
SEVERITY = ("separable", "quasi-separable", "inseparable", "undecided")


@dataclass(frozen=True)
class FilesOfCluster:
    """A folder of files on a cluster, as far as a report speaks of it: a `Dataset` without X."""

    source: str
    n_rows: int
    sparse: bool
    recipe: Recipe
    notes: tuple[str, ...]
    ids: None = None

    @classmethod
    def of(cls, folder: str, rows: ClusterRows) -> FilesOfCluster:
        """The folder of these rows."""
        recipe = rows.source.recipe
        if recipe is None:
            raise ValueError("These rows are no files.")
        notes = (f"the rows are in {counted(rows.n_shards, 'file')}",)
        return cls(folder, rows.n, rows.survey().sparse, recipe, notes)

    @property
    def names(self) -> Sequence[str]:
        """The name of each feature."""
        return self.recipe.names

    @property
    def label(self) -> str | None:
        """The name of the label's column."""
        return self.recipe.label

    @property
    def rows(self) -> range:
        """The number of each row, counted from 1, one file after the other."""
        return range(1, self.n_rows + 1)


@dataclass(frozen=True)
class ListedRows:
    """Some rows: how many, the numbers of the first of them, and their ids if there are any."""

    count: int
    rows: list[int]
    ids: list[str] | None


@dataclass(frozen=True)
class WrongRows(ListedRows):
    """Rows that the model gets wrong: their labels, and how far they are on their side."""

    labels: list[Label]
    predicted: list[Label]
    distances: list[float | None]


@dataclass(frozen=True)
class Report:
    """All that a person or a program is told of a study; ``files`` are those that were written."""

    found: Study
    data: Dataset | FilesOfCluster
    estimate: Estimate | None = None
    files: Mapping[str, str | None] = field(default_factory=dict)
    seconds: float = 0.0
    program: str = f"novikoff {__version__}"

    @property
    def kind(self) -> str | None:
        """The worst kind among the cases, as `SEVERITY` has it; None without a verdict.

        Where there are several, each is about one class against the rest: a rule that compares the
        scores of all classes may be right for every row, whatever they say.
        """
        return max(self.found.kinds, key=SEVERITY.index, default=None)

    @property
    def question(self) -> str:
        """Which question the verdict answers."""
        if len(self.found.cases) > 1:
            return "each class against the rest"
        return f"one class against the {'other' if len(self.found.labels) == 2 else 'rest'}"

    @property
    def notes(self) -> list[str]:
        """What is to be said about the data, and why verdicts went no further."""
        reasons = dict.fromkeys(case.verdict.undecided_reason for case in self.found.cases)
        stopped = [f"the verdict went no further: {reason}" for reason in reasons if reason]
        return [*self.data.notes, *similar_labels(self.found.labels), *stopped]

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
        counts = self.found.confusion.sum(axis=1).tolist()
        return list(zip(self.found.classes, counts, strict=True))

    def rows(self, rows: Indices) -> ListedRows:
        """Rows by the numbers of their file."""
        first, ids = rows[:_MAX_LISTED].tolist(), self.data.ids
        numbers = [int(self.data.rows[i]) for i in first]
        return ListedRows(len(rows), numbers, None if ids is None else [ids[i] for i in first])

    @property
    def wrong(self) -> WrongRows | None:
        """The rows that the model gets wrong, the farthest on the wrong side first.

        None where rows are on a cluster, as with `duplicates`.
        """
        each, classes = self.found.each_row, self.found.classes
        if each is None:
            return None
        wrong = each.wrong
        listed = wrong[:_MAX_LISTED]
        return WrongRows(
            **vars(self.rows(wrong)),
            labels=[classes[code] for code in each.codes[listed].tolist()],
            predicted=[classes[code] for code in each.predicted[listed].tolist()],
            distances=[_finite(distance) for distance in each.distances[listed].tolist()],
        )

    @property
    def duplicates(self) -> list[Indices] | None:
        """The groups of identical rows with different labels."""
        return None if self.found.each_row is None else self.found.each_row.duplicates

    def to_json(self) -> str:
        """The report as JSON."""
        found, data, wrong, duplicates = self.found, self.data, self.wrong, self.duplicates
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
            "verdict": self.kind
            and {
                "kind": self.kind,
                "question": self.question,
                "cases": [*map(self._case, found.cases)],
            },
            "perceptron": found.run and asdict(found.run),
            "model": {
                "rule": found.rule,
                "margins": [_finite(margin) for margin in found.margins],
                "errors": found.errors,
                "wrong": wrong and asdict(wrong),
                "confusion": found.confusion.tolist(),
            },
            "duplicates": None
            if duplicates is None
            else {
                "groups": len(duplicates),
                "listed": [asdict(self.rows(rows)) for rows in duplicates[:_MAX_LISTED]],
            },
            "estimate": self.estimate and asdict(self.estimate),
            "files": {name: path and printable_name(path) for name, path in self.files.items()},
            "seconds": self.seconds,
        }
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _case(self, case: Case) -> dict[str, object]:
        verdict, fates = case.verdict, case.verdict.logistic
        separated = self.rows(np.arange(0))
        if verdict.kind == "quasi-separable":  # of a cluster, only their number is known
            separated = replace(self.rows(verdict.separated_rows), count=verdict.n_separated)
        geometric = verdict.geometric_margin
        return {
            "positive": case.positive,
            "negative": case.negative,
            "kind": verdict.kind,
            **_bound(verdict),
            "geometric_margin": {"lo": _finite(geometric.lo), "hi": _finite(geometric.hi)},
            "scaled": case.scaled and _bound(case.scaled),
            "support": asdict(self.rows(verdict.support)),
            "separated": asdict(separated),
            "logistic": fates and {str(name): fate for name, fate in fates.items()},
            "aliased": verdict.aliased and [part._asdict() for part in verdict.aliased],
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


def similar_labels(labels: Sequence[Label]) -> list[str]:
    """A note on each group of labels that differ only in capitals or blanks.

    >>> similar_labels(["No", "maybe", "no "])
    ['the labels "No" and "no " differ only in capitals or blanks: they are different classes']
    """
    groups: dict[str, list[str]] = {}
    for label in map(str, labels):
        groups.setdefault("".join(label.split()).casefold(), []).append(f'"{label}"')
    different = "differ only in capitals or blanks: they are different classes"
    return [
        f"the labels {' and '.join(group)} {different}"
        for group in groups.values()
        if len(group) > 1
    ]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
