"""No learner is better than the perceptron against an adversary (B7; Thm 1.34).

Rows are the unit vectors e_1, …, e_n of R^d with n = min(⌊1/γ²⌋, d). Each gets the label that the
learner did not predict, so that it errs every time. Whatever the labels, w* = γ·Σ y_i·e_i has
y_i·⟨e_i, w*⟩ = γ and ‖w*‖ = γ·√n ≤ 1: the data has margin γ. The perceptron errs at most 1/γ²
times on any such data, so that for d ≥ 1/γ² its bound cannot be improved.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.rows import Signs, Vector
from novikoff.core.validation import Label, plain_label
from novikoff.geometry.separability import Verdict
from novikoff.proofs import checker, digest, exact
from novikoff.proofs.certificate import Certificate


@dataclass(frozen=True, eq=False)
class ForcedMistakes:
    """A sequence on which a learner errs every time, and its separator.

    Attributes
    ----------
    X, y : CSR matrix of shape (n, d), array of shape (n,)
        The examples in their order: e_1, …, e_n, and their labels.
    mistakes : int
        How often the learner erred: n.
    margin : Fraction
        γ: y_i·⟨e_i, w*⟩ = γ for all rows, and ‖w*‖² = n·γ² ≤ 1, without rounding.
    w_star : array of shape (d,)
        The separator w* = γ·Σ y_i·e_i, without a bias; γ rounded to a float.
    verdict : Verdict
        X and y are separable, with the certificate that follows from the theorem: w = Σ y_i·e_i
        and λ ≡ 1 show that the largest margin of any rule is 1/√n, at least γ.
    """

    X: sp.csr_array
    y: npt.NDArray[Any]
    mistakes: int
    margin: Fraction
    w_star: Vector
    verdict: Verdict


def force_mistakes(
    learner: Any,
    margin: float | Fraction,
    d: int,
    *,
    labels: tuple[Hashable, Hashable] = (0, 1),
) -> ForcedMistakes:
    """Show a learner the data of margin γ on which it errs min(⌊1/γ²⌋, d) times (B7).

    Guarantee: it errs on every example, and a rule of margin γ has all of them right. A learner
    without randomness, begun anew, errs on the same sequence again.

    Parameters
    ----------
    learner : object with predict_one and learn_one, or with predict and partial_fit
        One of ours, of river or of scikit-learn. It learns the sequence. Examples are dicts {i: 1},
        or rows of d numbers for predict and partial_fit, and where gamma=None. A learner that has
        seen no example, or answers with none of the labels, is wrong.
    margin : float or Fraction
        γ, in (0, 1]; a float is the decimal that it is written as: 0.1 is one tenth.
    d : int
        The dimension of the rows.
    labels : tuple of two labels
        The negative label and the positive one.

    Returns
    -------
    ForcedMistakes
        The sequence, the separator and its verified margin.

    Examples
    --------
    >>> import novikoff as nv
    >>> forced = force_mistakes(nv.Perceptron(), margin=0.25, d=100)
    >>> forced.mistakes, forced.X.shape, forced.verdict.mistake_bound
    (16, (16, 100), 16)
    """
    gamma = _margin(margin)
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"The dimension d must be a whole number above 0, not {d!r}.")
    if len(labels) != 2 or labels[0] == labels[1]:
        raise ValueError(f"Two different labels are needed, not {labels!r}.")
    n = min(math.floor(1 / gamma**2), int(d))
    predict, learn = _verbs(learner, int(d), labels)
    signs = np.empty(n)
    for i in range(n):
        signs[i] = -1.0 if predict(i) == labels[1] else 1.0  # what it did not say
        learn(i, labels[int(signs[i] > 0.0)])
    X = sp.eye_array(n, d, format="csr")
    y = np.array(labels)[(signs > 0.0).astype(np.int64)]
    w_star = np.zeros(d)
    w_star[:n] = float(gamma) * signs
    verdict = Verdict.from_certificate(_certificate(X, signs.astype(np.int8), labels))
    return ForcedMistakes(X, y, n, gamma, w_star, verdict)


def _certificate(X: sp.csr_array, signs: Signs, labels: tuple[Hashable, Hashable]) -> Certificate:
    """For w = Σ y_i·e_i: ⟨a_i, w⟩ = 1 and ‖w‖ = √n, and ‖Σ a_i‖/n = 1/√n."""
    sides: tuple[Label, Label | None] = plain_label(labels[1]), plain_label(labels[0])
    if (signs == signs[0]).all():  # a certificate calls the only label positive
        sides, signs = (plain_label(labels[int(signs[0] > 0)]), None), np.ones_like(signs)
    n, d = X.shape
    square = Fraction(1, n)
    lo, hi = exact.square_root_down(square), exact.square_root_up(square)
    return Certificate(
        kind="separable",
        n=n,
        d=d,
        fit_intercept=False,
        positive=sides[0],
        negative=sides[1],
        sha256=digest.MatrixDigest.of(X).signed(signs),
        w=(*(Fraction(int(sign)) for sign in signs), *[Fraction(0)] * (d - n)),
        margin=checker.Margin(lo, hi, tuple(range(n)), (Fraction(1),) * n),
        radius=1.0,
        mistake_bound=checker.integer_mistake_bound(1.0, lo),
    )


def _margin(margin: float | Fraction) -> Fraction:
    """The margin as a rational, a float by its decimal."""
    if isinstance(margin, Real) and not isinstance(margin, bool) and 0 < margin <= 1:
        if float(margin) == 0.0:
            raise ValueError("The margin is 0 as a float: w* has no room for it.")
        return margin if isinstance(margin, Fraction) else Fraction(str(margin))
    raise ValueError(f"The margin must be a number above 0 and at most 1, not {margin!r}.")


def _verbs(learner: Any, d: int, labels: tuple[Hashable, Hashable]) -> tuple[Any, Any]:
    """How this learner predicts and learns example i."""
    needs_width = getattr(learner, "gamma", 0.0) is None  # a kernel's 1/n_features
    if hasattr(learner, "predict_one") and hasattr(learner, "learn_one") and not needs_width:
        return (
            lambda i: learner.predict_one({i: 1.0}),
            lambda i, label: learner.learn_one({i: 1.0}, label),
        )
    if not (hasattr(learner, "predict") and hasattr(learner, "partial_fit")):
        raise TypeError(
            f"A {type(learner).__name__} cannot play: a learner has predict_one and learn_one, or "
            "predict and partial_fit."
        )

    def row(i: int) -> Vector:
        x = np.zeros((1, d))
        x[0, i] = 1.0
        return x

    def predict(i: int) -> object:
        fitted = getattr(learner, "classes_", None) is not None
        return learner.predict(row(i))[0] if fitted else None

    def learn(i: int, label: Hashable) -> None:
        learner.partial_fit(row(i), [label], classes=sorted(labels))  # type: ignore[type-var]

    return predict, learn
