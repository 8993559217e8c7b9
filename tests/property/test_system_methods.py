"""No method gives a wrong answer: its proposal is proved, or the answer is "undecided"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.systems.methods import METHODS, Attempt


def liar(A: Any, c: Any, **_: Any) -> Attempt:
    """A method that proposes a point and multipliers without reading the rows."""
    return Attempt(np.ones(A.shape[1]), np.ones(A.shape[0]), 1)


def small_system(seed: int) -> tuple[Any, Any]:
    """Few rows of small integers, often without interior or solution; sometimes A w > 0."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(1, 9), rng.integers(1, 4)
    A = rng.integers(-2, 3, size=(n, p)).astype(float)
    A[~A.any(axis=1), 0] = 1.0
    if seed % 4 == 0:
        return A, None
    z = rng.integers(-1, 2, size=p)
    return A, A @ z + rng.integers(-1, 3, size=n)


@pytest.mark.parametrize("name", [*METHODS, "liar"])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_a_method_agrees_with_auto_or_is_undecided(name: str, seed: int) -> None:
    A, c = small_system(seed)
    method: Callable[..., Attempt] = METHODS.get(name, liar)

    def bounded(A: Any, c: Any, *, limits: Limits, **options: Any) -> Attempt:
        return method(A, c, limits=Limits(updates=300), **options)

    truth = nv.solve(A, c, strict=c is None)
    found = nv.solve(A, c, strict=c is None, method=bounded, trace=True)
    assert found.kind in ("undecided", truth.kind)
    assert truth.kind != "undecided"


def test_every_kind_of_system_is_met() -> None:
    kinds = {nv.solve(A, c, strict=c is None).kind for A, c in map(small_system, range(40))}
    assert kinds == {"feasible", "infeasible"}
