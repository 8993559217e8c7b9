"""Rare outcomes and factors with many levels: the exact projection starts from good rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import novikoff as nv
from novikoff.geometry import linear_algebra, rational


def rare_outcomes(seed: int, n: int, factors: int, levels: int) -> tuple[pd.DataFrame, Any]:
    """Factors whose levels are drawn at random, and an outcome in 2 % of the rows."""
    rng = np.random.default_rng(seed)
    columns = {
        f"f{k}": pd.Categorical(rng.integers(0, levels, n), range(levels)) for k in range(factors)
    }
    return pd.DataFrame(columns), rng.random(n) < 0.02


def separated_by_linear_program(frame: pd.DataFrame, y: Any) -> Any:
    """The rows that a direction d with A d ≥ 0 separates: maximise Σ min(1, ⟨a_i, d⟩) by HiGHS."""
    design = pd.get_dummies(frame, drop_first=True, dtype=float)
    A = np.column_stack([np.ones(len(y)), design.to_numpy()]) * np.where(y, 1.0, -1.0)[:, None]
    n, p = A.shape
    answer: Any = linprog(
        np.append(np.zeros(p), -np.ones(n)),
        A_ub=sp.hstack([sp.csr_array(-A), sp.eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * p + [(0.0, 1.0)] * n,
    )
    return np.flatnonzero(answer.x[p:] > 0.5)


def test_few_rows_are_admitted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = rare_outcomes(0, 5000, 10, 30)
    solved, solve = [0], linear_algebra.solve_exactly

    def counted(*arguments: Any) -> Any:
        solved[0] += 1
        return solve(*arguments)

    monkeypatch.setattr(rational, "solve_exactly", counted)
    separation = nv.detect_separation(frame, y)
    assert separation.kind == "quasi-complete separation"
    np.testing.assert_array_equal(separation.separated, separated_by_linear_program(frame, y))
    assert solved[0] < 20
