"""A class is chosen from scores by sign, by the largest score, or by votes."""

from __future__ import annotations

import numpy as np

from novikoff.core.schemes import Binary, OneVsOne, OneVsRest


def test_one_vs_one_breaks_ties_by_scores_then_by_class() -> None:
    scheme = OneVsOne(3)  # rules (0, 1), (0, 2), (1, 2); the second is positive
    circle = np.array([[5.0, -1.0, 2.0], [1.0, -1.0, 1.0]])  # 1 > 0, 0 > 2, 2 > 1
    assert scheme.choose(circle).tolist() == [1, 0]
    assert scheme.decision(circle).argmax(axis=1).tolist() == [1, 0]


def test_a_score_of_zero_is_the_negative_class_and_the_first_of_equals_wins() -> None:
    assert Binary().choose(np.array([[0.0], [1e-300], [-1.0]])).tolist() == [0, 1, 0]
    assert Binary(1).choose(np.array([[1.0]])).tolist() == [0]
    assert OneVsRest(3).choose(np.array([[-2.0, -1.0, -1.0]])).tolist() == [1]
