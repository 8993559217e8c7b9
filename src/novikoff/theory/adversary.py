"""An adversary that forces every online learner to make many mistakes."""

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

from novikoff.core.class_labels import Sides, plain_label
from novikoff.core.rows import Signs, Vector
from novikoff.geometry.verdict import Verdict
from novikoff.proofs import certificate, digest, exact
from novikoff.proofs.certificate import Certificate


@dataclass(frozen=True, eq=False)
class ForcedMistakes:
    """A sequence of examples that a learner always misclassified, and a rule that separates it.

    Attributes
    ----------
    X, y : CSR matrix of shape (n, d), array of shape (n,)
        The examples e_1, …, e_n in the order in which they were shown, and their labels.
    mistakes : int
        The number of mistakes of the learner: n.
    margin : Fraction
        The margin γ of w*. Without rounding, y_i·⟨e_i, w*⟩ = γ on every row, and ‖w*‖² = n·γ² ≤ 1.
    w_star : array of shape (d,)
        The separating rule w* = γ·Σ y_i·e_i, without a bias; γ is rounded to a float here.
    verdict : Verdict
        The verdict that X and y are separable. Its certificate follows from the theorem: w =
        Σ y_i·e_i and λ ≡ 1 show that the largest margin of any rule is 1/√n, which is at least γ.

    Examples
    --------
    >>> import novikoff as nv
    >>> forced = force_mistakes(nv.Perceptron(), margin=0.5, d=10)
    >>> forced.mistakes, forced.margin, forced.X.shape
    (4, Fraction(1, 2), (4, 10))
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
    """Force a learner to make min(⌊1/γ²⌋, d) mistakes on data of margin γ.

    No deterministic online learner has a better mistake bound than the perceptron, as long as d ≥
    1/γ². The adversary shows the unit vectors e_1, …, e_n of R^d with n = min(⌊1/γ²⌋, d), and gives
    each the label that the learner did not predict, so that every prediction is wrong. Whatever
    these labels are, w* = γ·Σ y_i·e_i has y_i·⟨e_i, w*⟩ = γ on every row, and its length is γ·√n ≤
    1: the data has margin γ. The perceptron makes at most 1/γ² mistakes on any data of margin γ in
    the unit ball (`unit_ball_bound`).

    If the learner uses no randomness, and starts again, it makes the same mistakes on the sequence.

    Parameters
    ----------
    learner : object with predict_one and learn_one, or with predict and partial_fit
        A learner of novikoff, river or scikit-learn. It learns the sequence. The examples are dicts
        {i: 1}. Learners with predict and partial_fit, and learners with gamma=None, get rows of d
        numbers instead. If the learner has seen no example, or if it predicts neither of the two
        labels, its prediction counts as wrong.
    margin : float or Fraction
        γ, in (0, 1]. A float stands for the decimal number that it prints as: 0.1 is one tenth.
    d : int
        The dimension of the rows.
    labels : tuple of two labels
        The negative label and the positive label.

    Returns
    -------
    ForcedMistakes
        The sequence, a separating rule and its verified margin.

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium
    on the Mathematical Theory of Automata* 12, 615-622.

    Examples
    --------
    >>> import novikoff as nv
    >>> forced = force_mistakes(nv.Perceptron(), margin=0.25, d=100)
    >>> forced.mistakes, forced.X.shape, forced.verdict.mistake_bound
    (16, (16, 100), 16)
    """
    gamma = _rational_margin(margin)
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"The dimension d must be a whole number above 0, not {d!r}.")
    if len(labels) != 2 or labels[0] == labels[1]:
        raise ValueError(f"Two different labels are needed, not {labels!r}.")
    n = min(math.floor(1 / gamma**2), int(d))
    predict, learn = _predict_and_learn(learner, int(d), labels)
    signs = np.empty(n)
    for i in range(n):
        signs[i] = -1.0 if predict(i) == labels[1] else 1.0  # the label that was not predicted
        learn(i, labels[int(signs[i] > 0.0)])
    X = sp.eye_array(n, d, format="csr")
    y = np.array(labels)[(signs > 0.0).astype(np.int64)]
    w_star = np.zeros(d)
    w_star[:n] = float(gamma) * signs
    verdict = Verdict.from_certificate(_unit_rows_certificate(X, signs.astype(np.int8), labels))
    return ForcedMistakes(X, y, n, gamma, w_star, verdict)


def _unit_rows_certificate(
    X: sp.csr_array, signs: Signs, labels: tuple[Hashable, Hashable]
) -> Certificate:
    """The certificate of w = Σ y_i·e_i: ⟨a_i, w⟩ = 1, ‖w‖ = √n, and ‖Σ a_i‖/n = 1/√n."""
    sides: Sides = plain_label(labels[1]), plain_label(labels[0])
    if (signs == signs[0]).all():  # if there is one label, certificates call it positive
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
        margin=certificate.Margin(lo, hi, tuple(range(n)), (Fraction(1),) * n),
        radius=1.0,
        mistake_bound=certificate.integer_mistake_bound(1.0, lo),
    )


def _rational_margin(margin: float | Fraction) -> Fraction:
    """Return the margin as a rational number; a float stands for the decimal that it prints as."""
    if isinstance(margin, Real) and not isinstance(margin, bool) and 0 < margin <= 1:
        if float(margin) == 0.0:
            raise ValueError("The margin is 0 as a float: w* would be zero.")
        return margin if isinstance(margin, Fraction) else Fraction(str(margin))
    raise ValueError(f"The margin must be a number above 0 and at most 1, not {margin!r}.")


def _predict_and_learn(learner: Any, d: int, labels: tuple[Hashable, Hashable]) -> tuple[Any, Any]:
    """Return two functions: the first lets the learner predict example i, the second learn it."""
    needs_width = getattr(learner, "gamma", 0.0) is None  # the kernel uses 1/n_features
    if hasattr(learner, "predict_one") and hasattr(learner, "learn_one") and not needs_width:
        return (
            lambda i: learner.predict_one({i: 1.0}),
            lambda i, label: learner.learn_one({i: 1.0}, label),
        )
    if not (hasattr(learner, "predict") and hasattr(learner, "partial_fit")):
        raise TypeError(
            f"A {type(learner).__name__} cannot learn online: it needs predict_one and learn_one, "
            "or predict and partial_fit."
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
