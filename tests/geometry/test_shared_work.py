"""The rules of several classes share one limit on the search for lower bounds."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from novikoff.core.model import LinearModel
from novikoff.core.problem import Rows
from novikoff.core.stops import Limits
from novikoff.geometry import fewest_mistakes
from novikoff.geometry.scheme_rules import find_rules


@pytest.mark.parametrize(
    ("n_classes", "n", "limit"),
    [(2, 200, 320), (2, 800, 262), (4, 40, 320), (4, 400, 131), (5, 400, 104)],
)
@pytest.mark.parametrize("seconds", [None, 600.0])
def test_the_classes_divide_the_entries_that_are_read(
    monkeypatch: pytest.MonkeyPatch, n_classes: int, n: int, limit: int, seconds: float | None
) -> None:
    """Together they read at most 2²⁰ entries of X, and each solves at most 320 programs."""
    allowed = []

    def share_rows(passes: object, claims: object, costs: object, searches: int,
                   limits: object, rng: object) -> Iterator[object]:  # fmt: skip
        allowed.append(searches)
        return iter(())

    monkeypatch.setattr(fewest_mistakes, "share_rows", share_rows)
    rng, codes = np.random.default_rng(4), np.arange(n) % n_classes
    rows, model = Rows.of(rng.normal(size=(n, 4)), True), LinearModel(np.arange(n_classes), 4, True)
    monkeypatch.setattr(fewest_mistakes._Search, "_search_on", lambda *_: None)
    monkeypatch.setattr(fewest_mistakes._Search, "_hit", lambda *_: None)  # it uses all seconds
    monkeypatch.setattr(fewest_mistakes, "_MOST_WEIGHTS", 0)  # no search of all rules
    found = find_rules(rows, codes, model, limits=Limits(seconds=seconds), seed=0)
    assert len(allowed) == model.n_rules
    if seconds is None:
        assert set(allowed) == {limit}
        assert limit * model.n_rules * n * 5 <= 1 << 20
    else:
        assert min(allowed) > 1 << 60  # --budget SECONDS is the limit
    assert all(Fraction(0) < rule.bound <= rule.mistakes for rule in found.alone)
