"""A comparison of the perceptron with the aggressive perceptron, which always updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.class_labels import check_labels, distinct_labels
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict, VerdictData
from novikoff.theory.run import run_from_zero

StreamName: TypeAlias = Literal["doubling", "unbounded", "bounded"]


@dataclass(frozen=True, eq=False)
class AggressiveRun:
    """The mistakes of the aggressive perceptron and of the perceptron on one stream.

    Attributes
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream; labels are +1 and −1. If a stream of your own has only one label, it is +1.
    aggressive, perceptron : array of int of shape (T,)
        The number of mistakes after each example.
    verdict : Verdict
        The verdict on the T examples. The three named streams are separable. If the stream is
        separable, the verdict has R, γ and the perceptron's bound ⌊R²/γ²⌋.

    Examples
    --------
    >>> ran = compare_aggressive("doubling", length=64)
    >>> ran.aggressive.shape, ran.verdict.kind
    ((64,), 'separable')
    """

    X: Vector
    y: Signs
    aggressive: Indices
    perceptron: Indices
    verdict: Verdict


def compare_aggressive(
    stream: StreamName | npt.ArrayLike = "doubling",
    y: npt.ArrayLike | None = None,
    *,
    length: int | None = None,
) -> AggressiveRun:
    """Compare the mistakes of the aggressive perceptron and the perceptron on a stream.

    The aggressive perceptron adds y_t·[x_t, 1] on every example, not only on mistakes. The stream
    is one of three streams with a name, or rows and labels of your own. Some rule classifies each
    of the three named streams correctly.

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
    stream : "doubling", "unbounded" or "bounded", or array of shape (T, d)
        The name of a stream, or the rows x_t of a stream of your own, in their order.
    y : array of shape (T,), optional
        The labels of a stream of your own: at most two different values, of which the larger is
        +1. A named stream has its own labels.
    length : int, optional
        The number of examples T of a named stream; 1,024 by default.

    Returns
    -------
    AggressiveRun
        The stream, the mistakes of both learners, and the verdict. If the stream is separable, the
        perceptron makes at most ``verdict.mistake_bound`` mistakes.

    Examples
    --------
    >>> for stream in ("doubling", "unbounded", "bounded"):
    ...     ran = compare_aggressive(stream, length=256)
    ...     print(stream, ran.aggressive[-1], ran.perceptron[-1])
    doubling 7 2
    unbounded 256 256
    bounded 256 256

    >>> own = compare_aggressive([[2.0], [-3.0], [2.0], [-3.0]], [1, 1, 1, 1])
    >>> own.verdict.kind, own.aggressive.tolist(), own.perceptron.tolist()
    ('separable', [1, 2, 3, 4], [1, 2, 3, 4])
    """
    if isinstance(stream, str):
        if y is not None:
            raise ValueError(
                f"The stream {stream!r} has its own labels, so y cannot be given with it. Its "
                "length is an argument with a name: length=1000."
            )
        X, signs = _named_stream(stream, 1024 if length is None else length)
        verdict = separate(X, signs, positive=1)
    else:
        if length is not None:
            raise ValueError("length is about named streams: a stream of your own has a length.")
        if y is None:
            raise ValueError(
                "A stream of your own needs labels: compare_aggressive(X, y). Streams with a name "
                f"are {', '.join(_STREAMS)}."
            )
        classes = len(distinct_labels(check_labels(y)))
        if classes > 2:
            raise ValueError(f"y has {classes} different labels, but a stream has at most two.")
        verdict = separate(stream, y)
        problem = cast(VerdictData, verdict.data).problem  # checked, and signed
        if not isinstance(problem.X, np.ndarray):
            raise ValueError("X must be a dense array.")
        X, signs = problem.X.astype(np.float64), problem.signs
    always, on_mistakes = (_cumulative_mistakes(X, signs, aggressive=way) for way in (True, False))
    return AggressiveRun(X, signs, always, on_mistakes, verdict)


def _named_stream(stream: str, length: int) -> tuple[Vector, Signs]:
    if stream not in _STREAMS:
        raise ValueError(
            f"The stream must be one of {', '.join(_STREAMS)}, not {stream!r}, or rows and labels "
            "of your own: compare_aggressive(X, y)."
        )
    if not isinstance(length, Integral) or isinstance(length, bool) or not 1 <= length <= 10**6:
        raise ValueError(f"The length must be a whole number from 1 to 10⁶, not {length!r}.")
    return _STREAMS[stream](np.arange(1, int(length) + 1))


def _cumulative_mistakes(X: Vector, y: Signs, *, aggressive: bool) -> Indices:
    """The number of mistakes after each row of one pass."""
    run = run_from_zero(signed_problem(X, y, True), max_epochs=1, aggressive=aggressive, trace=True)
    trace, wrong = run.traces[0], np.zeros(len(y), dtype=np.int64)
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
