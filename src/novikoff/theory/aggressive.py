"""What becomes of a perceptron that updates always, also where it was right (A10).

Three streams of labelled rows, each separable by a rule that is right on all of them:

*doubling* (Rem 1.19). y ≡ 1; x_t = −2 where t is a power of two, else 1. The mean of x tends to 1,
so that the aggressive perceptron errs at every later power of two: without end. The perceptron
errs at most R²/γ² times.

*unbounded* (Ex 1.20). y ≡ 1; x_t = 1, −3, 5, −7, … The sum of the first t is ±t, with the sign of
x_t, so that ⟨w_t, a_{t+1}⟩ = −t·(2t + 1) + t < 0: it errs on every example.

*bounded* (Ex 1.20). y_t = +1, −1, +1, …; x_t = (2, y_t/t), but x_1 = (1, 1). It errs on every
example again, and no x is longer than √5. The price is the margin: the rule w* = (0, 1) has margin
1/t on row t, which tends to 0.

A learner that errs on every example has updated on mistakes only: it *is* the perceptron. So on
data with R < ∞ and γ > 0 no learner of this kind errs more than R²/γ² times in a row from the
start, and one of the two has to give way as it does here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np

from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.geometry.separability import Verdict, separate
from novikoff.theory.board import run_perceptron

StreamName: TypeAlias = Literal["doubling", "unbounded", "bounded"]


@dataclass(frozen=True, eq=False)
class AggressiveRun:
    """The mistakes of two learners on one stream, side by side.

    Attributes
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream; labels are +1 and −1.
    aggressive, perceptron : array of int of shape (T,)
        The mistakes so far, after each example.
    verdict : Verdict
        That of the T examples: separable, with R, γ and the perceptron's bound ⌊R²/γ²⌋.
    """

    X: Vector
    y: Signs
    aggressive: Indices
    perceptron: Indices
    verdict: Verdict


def compare_aggressive(stream: StreamName = "doubling", length: int = 1024) -> AggressiveRun:
    """Run the aggressive perceptron beside the perceptron on a stream (A10; Rem 1.19, Ex 1.20).

    Guarantee: the perceptron makes at most ``verdict.mistake_bound`` mistakes.

    Parameters
    ----------
    stream : "doubling", "unbounded" or "bounded"
        Which of the streams above.
    length : int
        The number of examples T.

    Examples
    --------
    >>> for stream in ("doubling", "unbounded", "bounded"):
    ...     ran = compare_aggressive(stream, 256)
    ...     print(stream, ran.aggressive[-1], ran.perceptron[-1])
    doubling 7 2
    unbounded 256 256
    bounded 256 256
    """
    if stream not in _STREAMS:
        raise ValueError(f"The stream must be one of {', '.join(_STREAMS)}, not {stream!r}.")
    if not isinstance(length, Integral) or isinstance(length, bool) or not 1 <= length <= 10**6:
        raise ValueError(f"The length must be a whole number from 1 to 10⁶, not {length!r}.")
    X, y = _STREAMS[stream](np.arange(1, int(length) + 1))
    both = (_mistakes(X, y, aggressive=aggressive) for aggressive in (True, False))
    return AggressiveRun(X, y, *both, separate(X, y, positive=1))


def _mistakes(X: Vector, y: Signs, *, aggressive: bool) -> Indices:
    """The mistakes so far after each row of one pass."""
    ran = run_perceptron(pose(X, y, True), max_epochs=1, aggressive=aggressive, trace=True)
    trace, wrong = ran.traces[0], np.zeros(len(y), dtype=np.int64)
    wrong[trace.step[trace.margin <= 0.0]] = 1
    return np.cumsum(wrong)


def _doubling(t: Indices) -> tuple[Vector, Signs]:
    power_of_two = (t & (t - 1)) == 0
    return np.where(power_of_two, -2.0, 1.0)[:, None], np.ones(len(t), dtype=np.int8)


def _unbounded(t: Indices) -> tuple[Vector, Signs]:
    X = np.asarray((2.0 * t - 1.0) * _alternating(t), dtype=np.float64)
    return X[:, None], np.ones(len(t), dtype=np.int8)


def _bounded(t: Indices) -> tuple[Vector, Signs]:
    signs = _alternating(t)
    slopes = signs.astype(np.float64) / t
    return np.column_stack([np.where(t == 1, 1.0, 2.0), slopes]), signs


def _alternating(t: Indices) -> Signs:
    return np.where(t % 2 == 1, 1, -1).astype(np.int8)


_STREAMS: dict[str, Callable[[Indices], tuple[Vector, Signs]]] = {
    "doubling": _doubling,
    "unbounded": _unbounded,
    "bounded": _bounded,
}
