"""B7: an adversary forces min(⌊1/γ²⌋, d) mistakes, on data of margin γ."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model, naive_bayes

import novikoff as nv
from novikoff.theory import ForcedMistakes, force_mistakes

river = pytest.importorskip("river.linear_model", reason="river is in the extra dev alone")
OURS = [kind for name in nv.__all__ if hasattr(kind := getattr(nv, name), "learn_one")]
LEARNERS: dict[str, Callable[[], Any]] = {
    **{kind.__name__: kind for kind in OURS},
    "ours averaged": lambda: nv.Perceptron(average=True),
    "river perceptron": river.Perceptron,
    "river passive-aggressive": river.PAClassifier,
    "scikit-learn perceptron": linear_model.Perceptron,
    "scikit-learn naive Bayes": naive_bayes.BernoulliNB,
}


class Constant:
    """A learner that learns nothing and always gives the same answer."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def predict_one(self, x: dict[int, float]) -> object:
        return self.answer

    def learn_one(self, x: dict[int, float], y: object) -> None:
        pass


def errors_on(learner: Any, X: Any, y: Any) -> int:
    """Count the errors of a learner on a fixed sequence of examples."""
    errors = 0
    for i, label in enumerate(y.tolist()):
        if hasattr(learner, "predict_one") and getattr(learner, "gamma", 0.0) is not None:
            (column,) = X[[i]].indices.tolist()
            errors += learner.predict_one({column: 1.0}) != label
            learner.learn_one({column: 1.0}, label)
        else:
            x = X[[i]].toarray()
            errors += not hasattr(learner, "classes_") or learner.predict(x)[0] != label
            learner.partial_fit(x, [label], classes=[0, 1])
    return errors


def assert_separated_by(forced: ForcedMistakes, gamma: Fraction) -> None:
    """Check with fractions that w* = γ·Σ y_i e_i has margin γ and length at most 1."""
    signs = np.where(forced.y == 1, 1, -1).tolist()
    w_star = [gamma * sign for sign in signs]
    rows = forced.X.toarray()[:, : len(signs)].astype(int).tolist()
    for sign, row in zip(signs, rows, strict=True):
        assert sign * sum(x * w for x, w in zip(row, w_star, strict=True)) >= gamma
    assert sum(w * w for w in w_star) <= 1
    np.testing.assert_array_equal(forced.w_star[: len(signs)], [float(w) for w in w_star])


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("gamma", "d", "n"), [(0.3, 40, 11), (0.25, 7, 7)])
def test_every_learner_is_wrong_every_time(name: str, gamma: float, d: int, n: int) -> None:
    forced = force_mistakes(LEARNERS[name](), gamma, d)
    assert forced.mistakes == n == len(forced.y)
    assert_separated_by(forced, Fraction(str(gamma)))
    assert errors_on(LEARNERS[name](), forced.X, forced.y) == n
    assert forced.verdict.certificate is not None
    forced.verdict.certificate.verify(forced.X, forced.y)
    assert forced.verdict.margin.hi >= gamma


def test_labels_that_do_not_depend_on_the_answers_force_fewer_mistakes() -> None:
    """The mutant shows the same rows, with random labels chosen beforehand."""
    forced = force_mistakes(LEARNERS["Perceptron"](), 0.1, 200)
    thrown = np.random.default_rng(0).integers(0, 2, forced.mistakes)
    assert errors_on(LEARNERS["Perceptron"](), forced.X, thrown) < forced.mistakes == 100


def test_one_row_more_than_the_theorem_says_has_a_smaller_margin() -> None:
    """The mutant rounds 1/γ² up, and no rule has margin γ then. 0.1 counts as exactly 1/10."""
    assert force_mistakes(Constant(None), 0.1, 200).mistakes == 100
    forced = force_mistakes(Constant(0), Fraction(3, 10), 200)
    assert forced.mistakes == 11
    more = nv.separate(np.eye(12), np.arange(12) % 2, fit_intercept=False)
    assert more.margin.hi < 0.3 <= forced.verdict.margin.lo


@settings(deadline=None, max_examples=40)
@given(
    gamma=st.fractions(Fraction(1, 6), 1, max_denominator=50),
    d=st.integers(1, 40),
    answer=st.sampled_from([0, 1, None, "neither"]),
)
def test_the_number_of_forced_mistakes_is_exact_for_any_margin_and_dimension(
    gamma: Fraction, d: int, answer: object
) -> None:
    forced = force_mistakes(Constant(answer), gamma, d)
    n = len(forced.y)
    assert n == min(math.floor(1 / gamma**2), d)
    assert_separated_by(forced, gamma)
    assert forced.verdict.certificate is not None
    forced.verdict.certificate.verify(forced.X, forced.y)
    # The perceptron makes at most ⌊1/γ²⌋ mistakes on data of margin γ: n is the best possible.
    bound = forced.verdict.mistake_bound
    assert bound is not None
    assert bound == n <= 1 / gamma**2


@pytest.mark.parametrize("margin", [0.0, 1.5, math.nan, "0.1", True])
def test_a_margin_outside_0_to_1_is_rejected_with_an_error(margin: Any) -> None:
    with pytest.raises(ValueError, match="margin must be a number above 0"):
        force_mistakes(Constant(0), margin, 3)


def test_wrong_arguments_are_rejected_with_an_error() -> None:
    with pytest.raises(ValueError, match="margin is 0 as a float"):
        force_mistakes(Constant(0), Fraction(1, 10**400), 3)
    with pytest.raises(ValueError, match="dimension d must be a whole number"):
        force_mistakes(Constant(0), 0.5, 0)
    with pytest.raises(ValueError, match="Two different labels"):
        force_mistakes(Constant(0), 0.5, 3, labels=(1, 1))
    with pytest.raises(TypeError, match="A list cannot learn online: it needs predict_one"):
        force_mistakes([], 0.5, 3)
