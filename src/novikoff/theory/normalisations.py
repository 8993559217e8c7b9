"""A comparison of R, γ and the mistakes before and after changes of the features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from novikoff.core.fitting import Scaling
from novikoff.core.rows import Vector
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict, VerdictData
from novikoff.sentences import aligned_lines, digits_down, digits_up, large
from novikoff.theory.run import run_from_zero
from novikoff.theory.summary import MAX_RUN_EPOCHS


@dataclass(frozen=True, eq=False)
class Normalised:
    """The verdict and the mistakes after one change of the features.

    Attributes
    ----------
    name : str
        The change, in words.
    verdict : Verdict
        The verdict on the changed rows, with R, γ, ⌊R²/γ²⌋ and their proof.
    mistakes : int or None
        The number of mistakes of the perceptron that visits the rows in their order. None if the
        data is not separable, or if the run did not end within 1,000 epochs.
    """

    name: str
    verdict: Verdict
    mistakes: int | None


@dataclass(frozen=True, eq=False)
class Normalisations:
    """The original features and several changes of them, side by side; prints as a table.

    Attributes
    ----------
    rows : list of Normalised
        One entry for the original features, and one entry for each change.

    Examples
    --------
    >>> compared = compare_normalisations([[0.0], [2.0]], [0, 1])
    >>> [row.name for row in compared.rows][:3]
    ['original', '× 0.1', '× 10']
    """

    rows: list[Normalised]

    def __str__(self) -> str:
        head = ("features", "R", "γ", "⌊R²/γ²⌋", "mistakes")
        return "\n".join(aligned_lines([head, *map(_cells, self.rows)], "<>>>>"))

    __repr__ = __str__


def compare_normalisations(
    X: object,
    y: object,
    *,
    factors: Sequence[float] = (0.1, 10.0),
    shift: npt.ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Normalisations:
    """Compare R, γ, R²/γ² and the mistakes of the same data after changes of its features.

    Multiplying all x by c > 0 does not change whether the data is separable, because
    ⟨w, x⟩ + b = ⟨w/c, c·x⟩ + b. If the rules have a bias, a translation does not change it either,
    because ⟨w, x⟩ + b = ⟨w, x + z⟩ + (b − ⟨w, z⟩). Both change R and γ, and with them the bound.
    Without a bias, a factor changes neither R/γ nor the mistakes, but a translation may make
    separable data inseparable.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, dense, and their labels of two classes.
    factors : sequence of float
        The factors by which all features are multiplied, one after the other.
    shift : array of shape (d,), optional
        The vector that is added to each row. By default every entry of it is ten times the largest
        entry of X.
    fit_intercept : bool
        Whether the rules have a bias.

    Returns
    -------
    Normalisations
        One entry for each row of the table below. "original" has the features as given, "× c" has
        the features times a factor, and "moved" has translated features. "centred" subtracts from
        each column its mean, and "unit ball" divides all features so that no row is longer than 1.
        In "standardised" each column has mean 0 and variance 1, unless it is constant. The numbers
        are rounded to floats after each change. In print, R is rounded up and γ is rounded down.

    Examples
    --------
    >>> compare_normalisations([[1, 5], [2, 6], [4, 5], [5, 6]], [0, 0, 1, 1], shift=[10, 10])
    features          R         γ  ⌊R²/γ²⌋  mistakes
    original      7.875   1.11733       49         7
    × 0.1         1.269  0.111783      128        23
    × 10          78.11   11.1732       48         7
    moved         21.96   1.08757      407        21
    centred       2.292   1.11803        4         1
    unit ball     1.415  0.143113       97        17
    standardised  1.898  0.904534        4         2
    """
    given = separate(X, y, fit_intercept=fit_intercept)
    rows = cast(VerdictData, given.data).problem.X
    if not isinstance(rows, np.ndarray):
        raise ValueError("X must be a dense array, because a translation leaves no zeros.")
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

    compared = [Normalised("original", given, _mistakes_until_clean(given))]
    for name, Z in changed():
        verdict = separate(Z, y, positive=positive, fit_intercept=fit_intercept)
        compared.append(Normalised(name, verdict, _mistakes_until_clean(verdict)))
    return Normalisations(compared)


def _shift(shift: npt.ArrayLike | None, rows: Vector) -> Vector:
    if shift is None:
        return np.full(rows.shape[1], 10.0 * float(np.abs(rows).max()))
    vector = np.asarray(shift, dtype=np.float64)
    if vector.shape != rows.shape[1:] or not np.isfinite(vector).all():
        raise ValueError(f"The shift must be {rows.shape[1]} finite numbers, one for each column.")
    return vector


def _mistakes_until_clean(verdict: Verdict) -> int | None:
    """Count the perceptron's mistakes on separable data; None if 1,000 epochs are not enough."""
    if verdict.kind != "separable":
        return None
    run = run_from_zero(cast(VerdictData, verdict.data).problem, max_epochs=MAX_RUN_EPOCHS)
    return run.mistakes if run.converged else None


def _cells(row: Normalised) -> tuple[str, ...]:
    verdict = row.verdict
    margin = digits_down(verdict.margin.lo, 6) if verdict.kind == "separable" else verdict.kind
    bound = "" if verdict.mistake_bound is None else large(verdict.mistake_bound)
    mistakes = "no end" if row.mistakes is None else f"{row.mistakes:,}"
    return row.name, digits_up(verdict.radius), margin, bound, mistakes
