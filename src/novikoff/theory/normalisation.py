"""What scaling and translating the features do to R, γ and the bound (B6; Ex 1.29)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.geometry.verdict_text import large
from novikoff.theory.board import run_perceptron

if TYPE_CHECKING:
    from novikoff.geometry.separability import Table, Verdict


@dataclass(frozen=True, eq=False)
class Normalised:
    """The features after one change.

    Attributes
    ----------
    name : str
        The change, in words.
    verdict : Verdict
        R, γ and ⌊R²/γ²⌋ of the changed rows, proved.
    mistakes : int or None
        Those of the perceptron, in the order of the rows; None after 1,000 epochs without an end.
    """

    name: str
    verdict: Verdict
    mistakes: int | None


@dataclass(frozen=True, eq=False)
class Normalisations:
    """The features as given and after some changes; it prints as a table."""

    rows: list[Normalised]

    def __str__(self) -> str:
        table = [("features", "R", "γ", "⌊R²/γ²⌋", "mistakes"), *map(_cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = (
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in table
        )
        return "\n".join(lines)

    __repr__ = __str__


def compare_normalisations(
    X: object,
    y: object,
    *,
    factors: Sequence[float] = (0.1, 10.0),
    shift: npt.ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Normalisations:
    """Decide, bound and run the same data under changes of its features (B6; Ex 1.29).

    Guarantee: multiplying all x by c > 0 leaves the kind of verdict as it is, and so does a
    translation where rules have a bias: ⟨w, x⟩ + b = ⟨w/c, c·x⟩ + b, and
    ⟨w, x⟩ + b = ⟨w, x + z⟩ + (b − ⟨w, z⟩). But R and γ change. Without a bias a factor changes
    neither R/γ nor the mistakes, while a translation may destroy separability.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, dense, and labels of two kinds.
    factors : sequence of float
        By which to multiply all features.
    shift : array of shape (d,), optional
        What to add to each row; by default ten times the largest entry, in each column.
    fit_intercept : bool
        Whether rules have a bias.

    Returns
    -------
    Normalisations
        As given; times each factor; moved; centred, each column less its mean; within the unit
        ball; and standardised, each column of mean 0 and variance 1 unless it is constant. Numbers
        are rounded to floats after each change.

    Examples
    --------
    >>> compare_normalisations([[1, 5], [2, 6], [4, 5], [5, 6]], [0, 0, 1, 1], shift=[10, 10])
    features          R         γ  ⌊R²/γ²⌋  mistakes
    as given      7.874   1.11734       49         7
    × 0.1         1.269  0.111783      128        23
    × 10          78.11   11.1732       48         7
    moved         21.95   1.08757      407        21
    centred       2.291   1.11803        4         1
    unit ball     1.414  0.143114       97        17
    standardised  1.897  0.904534        4         2
    """
    from novikoff.core.scaling import Scaling
    from novikoff.geometry.separability import separate

    given = separate(X, y, fit_intercept=fit_intercept)
    rows = cast("Table", given.data).problem.X
    if not isinstance(rows, np.ndarray):
        raise ValueError("X must be dense: a translation leaves no zeros.")
    rows = rows.astype(np.float64, copy=False)
    positive = given.certificate.positive if given.certificate is not None else None

    def changed() -> Iterator[tuple[str, Vector]]:
        for c in factors:
            if not 0.0 < c < float("inf"):
                raise ValueError(f"A factor must be finite and positive, not {c}.")
            yield f"× {c:g}", rows * c
        yield "moved", rows + _shift(shift, rows)
        yield "centred", rows - rows.mean(axis=0)
        yield "unit ball", rows / (max(math.hypot(*row) for row in rows.tolist()) or 1.0)
        yield "standardised", np.asarray(Scaling.of(rows, centre=True).apply(rows))

    found = [Normalised("as given", given, _mistakes(given))]
    for name, Z in changed():
        verdict = separate(Z, y, positive=positive, fit_intercept=fit_intercept)
        found.append(Normalised(name, verdict, _mistakes(verdict)))
    return Normalisations(found)


def _shift(shift: npt.ArrayLike | None, rows: Vector) -> Vector:
    if shift is None:
        return np.full(rows.shape[1], 10.0 * float(np.abs(rows).max()))
    vector = np.asarray(shift, dtype=np.float64)
    if vector.shape != rows.shape[1:] or not np.isfinite(vector).all():
        raise ValueError(f"The shift must be {rows.shape[1]} finite numbers, one for each column.")
    return vector


def _mistakes(verdict: Verdict) -> int | None:
    """Those of the perceptron on separable data, if it ends within 1,000 epochs."""
    if verdict.kind != "separable":
        return None
    ran = run_perceptron(cast("Table", verdict.data).problem, max_epochs=1000)
    return ran.mistakes if ran.converged else None


def _cells(row: Normalised) -> tuple[str, ...]:
    verdict = row.verdict
    margin = f"{verdict.margin.lo:.6g}" if verdict.kind == "separable" else verdict.kind
    bound = "" if verdict.mistake_bound is None else large(verdict.mistake_bound)
    mistakes = "no end" if row.mistakes is None else f"{row.mistakes:,}"
    return row.name, f"{verdict.radius:.4g}", margin, bound, mistakes
