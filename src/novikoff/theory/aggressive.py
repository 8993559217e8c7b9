"""A comparison of the perceptron with the aggressive perceptron, which always updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np

from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict
from novikoff.theory.run import run_from_zero

StreamName: TypeAlias = Literal["doubling", "unbounded", "bounded"]


@dataclass(frozen=True, eq=False)
class AggressiveRun:
    """The mistakes of the aggressive perceptron and of the perceptron on one stream.

    Attributes
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream; labels are +1 and −1.
    aggressive, perceptron : array of int of shape (T,)
        The number of mistakes after each example.
    verdict : Verdict
        The verdict on the T examples: separable, with R, γ and the perceptron's bound ⌊R²/γ²⌋.

    Examples
    --------
    >>> ran = compare_aggressive("doubling", 64)
    >>> ran.aggressive.shape, ran.verdict.kind
    ((64,), 'separable')
    """

    X: Vector
    y: Signs
    aggressive: Indices
    perceptron: Indices
    verdict: Verdict


def compare_aggressive(stream: StreamName = "doubling", length: int = 1024) -> AggressiveRun:
    """Compare the mistakes of the aggressive perceptron and the perceptron on a stream (A10).

    The aggressive perceptron adds y_t·[x_t, 1] on every example, not only on mistakes. Some rule
    classifies each of the three streams correctly.

    *doubling*. y ≡ 1; x_t = −2 if t is a power of two, otherwise x_t = 1. The mean of x tends to 1,
    so that the aggressive perceptron makes a mistake at every later power of two, without end. The
    perceptron makes at most R²/γ² mistakes.

    *unbounded*. y ≡ 1; x_t = 1, −3, 5, −7, … The sum of the first t numbers is ±t, with the sign of
    x_t, so that ⟨w_t, a_{t+1}⟩ = −t·(2t + 1) + t < 0: every prediction is wrong.

    *bounded*. y_t = +1, −1, +1, …; x_t = (2, y_t/t), except that x_1 = (1, 1). Every prediction is
    wrong again, and no x is longer than √5. But the margin tends to 0: the rule w* = (0, 1) has
    margin 1/t on row t.

    If the aggressive perceptron is wrong on every example, it updates on mistakes only, and so it
    makes the same updates as the perceptron. The theorem therefore says that, if R < ∞ and γ > 0,
    it cannot be wrong on more than R²/γ² examples in a row from the start. Over the infinite
    streams, R is infinite in *unbounded*, and γ is 0 in *bounded*.

    Parameters
    ----------
    stream : "doubling", "unbounded" or "bounded"
        The name of the stream.
    length : int
        The number of examples T.

    Returns
    -------
    AggressiveRun
        The stream, the mistakes of both learners, and the verdict. The perceptron makes at most
        ``verdict.mistake_bound`` mistakes.

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
    both = (_cumulative_mistakes(X, y, aggressive=aggressive) for aggressive in (True, False))
    return AggressiveRun(X, y, *both, separate(X, y, positive=1))


def _cumulative_mistakes(X: Vector, y: Signs, *, aggressive: bool) -> Indices:
    """The number of mistakes after each row of one pass."""
    ran = run_from_zero(signed_problem(X, y, True), max_epochs=1, aggressive=aggressive, trace=True)
    trace, wrong = ran.traces[0], np.zeros(len(y), dtype=np.int64)
    wrong[trace.n_steps[trace.margin <= 0.0]] = 1
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
