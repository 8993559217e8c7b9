"""The null space of many rows, of which a few are chosen first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novikoff.core.problem import signed_problem
from novikoff.core.stops import Limits
from novikoff.geometry.null_space import null_space
from novikoff.geometry.passes import LocalPasses


def factor(n: int, order: str) -> Any:
    """A column for each level of a factor but the first; n rows, whose levels have some order."""
    levels = {"periodic": np.arange(n) % 5, "sorted": np.arange(n) * 5 // n}[order]
    return np.eye(5)[levels][:, 1:]


@pytest.mark.parametrize("order", ["periodic", "sorted"])
def test_full_rank_is_proved_without_a_pass_in_any_order_of_the_rows(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = factor(1_000, order)
    passes = LocalPasses(signed_problem(X, np.ones(1_000, dtype=np.int8), True))

    def read_again(*arguments: Any) -> Any:
        raise AssertionError("The first sample of rows does not have full rank.")

    monkeypatch.setattr(LocalPasses, "over", read_again)
    assert null_space(passes, np.arange(1_000), np.arange(5), Limits()) == {}


@pytest.mark.parametrize("order", ["periodic", "sorted"])
def test_a_dependent_column_is_found_in_any_order_of_the_rows(order: str) -> None:
    X = factor(1_000, order)
    X = np.column_stack([X, X @ [1.0, 2.0, 0.0, -3.0]])
    X[17, 2] += 1.0  # one row that a sample does not have
    passes = LocalPasses(signed_problem(X, np.ones(1_000, dtype=np.int8), True))
    vectors = null_space(passes, np.arange(1_000), np.arange(6), Limits())
    assert vectors == {4: {0: -1, 1: -2, 3: 3, 4: 1}}
