"""A10: a perceptron that updates on every row makes mistakes without end."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import separate
from novikoff.theory import AggressiveRun, compare_aggressive
from novikoff.theory.aggressive import _STREAMS


def mistakes_of(X: Any, y: Any, *, always: bool) -> list[int]:
    """Count the mistakes up to each row with exact fractions: the oracle."""
    w = [Fraction(0)] * (X.shape[1] + 1)
    made, counts = 0, []
    for x, sign in zip(X.tolist(), y.tolist(), strict=True):
        a = [int(sign) * Fraction(value) for value in (*x, 1.0)]
        wrong = sum(p * q for p, q in zip(a, w, strict=True)) <= 0
        if wrong or always:
            w = [p + q for p, q in zip(a, w, strict=True)]
        made += wrong
        counts.append(made)
    return counts


def assert_bounded(mistakes: int, ran: AggressiveRun) -> None:
    assert ran.verdict.mistake_bound is not None
    assert mistakes <= ran.verdict.mistake_bound


@settings(deadline=None, max_examples=20)
@given(stream=st.sampled_from(sorted(_STREAMS)), length=st.integers(1, 200))
def test_mistake_counts_agree_with_exact_fractions(stream: Any, length: int) -> None:
    ran = compare_aggressive(stream, length=length)
    assert ran.aggressive.tolist() == mistakes_of(ran.X, ran.y, always=True)
    assert ran.perceptron.tolist() == mistakes_of(ran.X, ran.y, always=False)
    assert ran.verdict.kind == "separable"
    assert_bounded(int(ran.perceptron[-1]), ran)


def test_on_the_doubling_stream_only_the_aggressive_perceptron_makes_mistakes_without_end() -> None:
    ran = compare_aggressive("doubling", length=2**14)
    powers = 2 ** np.arange(5, 15) - 1
    assert (np.diff(ran.aggressive)[powers - 1] == 1).all()  # a mistake at every later power of two
    assert ran.perceptron[-1] == ran.perceptron[2]  # no mistake after the third row
    with pytest.raises(AssertionError):
        assert_bounded(int(ran.aggressive[-1]), ran)


# In the first stream the radius grows without limit; in the second the margin shrinks to 0.
@pytest.mark.parametrize(
    ("stream", "longest", "w_star", "expected"),
    [
        ("unbounded", np.inf, [0, 1], np.ones(3000)),
        ("bounded", 5**0.5, [0, 1, 0], 1 / np.arange(1, 3001)),
    ],
)
def test_both_perceptrons_are_wrong_on_every_example(
    stream: Any, longest: float, w_star: list[int], expected: Any
) -> None:
    ran = compare_aggressive(stream, length=3000)
    assert ran.aggressive.tolist() == [*range(1, 3001)] == ran.perceptron.tolist()
    assert np.linalg.norm(ran.X, axis=1).max() <= longest
    margins = ran.y * (np.column_stack([ran.X, np.ones(3000)]) @ w_star)
    np.testing.assert_allclose(margins, expected)
    # With a fixed radius and margin, 3,000 mistakes would exceed the bound of the perceptron.
    assert ran.verdict.radius**2 / ran.verdict.margin.hi**2 > 3000


@settings(deadline=None, max_examples=30)
@given(
    data=st.data(), width=st.integers(1, 3), labels=st.sampled_from([(-1, 1), (0, 1), ("a", "b")])
)
def test_a_stream_of_ones_own_is_counted_as_exact_fractions_count_it(
    data: Any, width: int, labels: Any
) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(-4, 4)] * width), min_size=1, max_size=20))
    y = [data.draw(st.sampled_from(labels)) for _ in rows]
    ran = compare_aggressive(rows, y)
    signs = np.array([1 if label == max(y) else -1 for label in y])
    assert ran.y.tolist() == signs.tolist()
    assert ran.aggressive.tolist() == mistakes_of(ran.X, signs, always=True)
    assert ran.perceptron.tolist() == mistakes_of(ran.X, signs, always=False)
    assert ran.verdict.kind == separate(rows, y).kind
    if ran.verdict.kind == "separable" and len(set(y)) == 2:
        assert_bounded(int(ran.perceptron[-1]), ran)


def test_a_named_stream_is_its_rows_and_labels() -> None:
    named = compare_aggressive("doubling", length=100)
    own = compare_aggressive(named.X, named.y)
    assert own.aggressive.tolist() == named.aggressive.tolist()
    assert own.verdict.mistake_bound == named.verdict.mistake_bound


@pytest.mark.parametrize(
    ("given", "more", "message"),
    [
        (["other"], {}, r"one of doubling, unbounded, bounded, not 'other', or rows and labels"),
        (["doubling"], {"length": 0}, "whole number from 1 to 10⁶, not 0"),
        (["doubling", 100], {}, r"has its own labels.*length=1000"),
        ([[[1.0], [2.0]]], {}, r"needs labels: compare_aggressive\(X, y\)"),
        ([[[1.0], [2.0]], [1]], {}, "X has 2 rows, but y has 1 labels"),
        ([[1.0, 2.0], [1, 0]], {}, "Reshape your data"),
        (
            [[[1.0], [2.0], [3.0]], [0, 1, 2]],
            {},
            "3 different labels, but a stream has at most two",
        ),
        ([[[1.0], [np.nan]], [0, 1]], {}, "NaN in row 1"),
        ([[[1.0], [2.0]], [0, 1]], {"length": 2}, "length is about named streams"),
    ],
)
def test_wrong_arguments_are_rejected_with_an_error(
    given: list[Any], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare_aggressive(*given, **more)
