"""The summary: R, γ, R²/γ², and the mistakes of each order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from tests.cases import planted

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def test_the_numbers_are_those_of_the_library() -> None:
    case = planted(0, 60, 3)
    table, verdict = nv.theory.summary(case.X, case.signs), nv.separate(case.X, case.signs)
    assert (table.radius, table.margin, table.bound) == (
        verdict.radius,
        verdict.margin.lo,
        verdict.mistake_bound,
    )
    assert [run.order for run in table.runs] == list(nv.orders.BY_NAME)
    for run in table.runs:
        ran = nv.Perceptron(order=run.order, random_state=0).fit(case.X, case.signs)
        assert run.clean, run.order
        assert 0 < run.mistakes <= (table.bound or 0), run.order
        if run.order in ("cyclic", "max_distance", "max_residual"):
            assert (run.mistakes, run.epochs) == (ran.n_mistakes_, ran.n_iter_), run.order


def test_one_class_is_positive_against_all_others() -> None:
    y = ["none", "one", "one", "two"]
    table = nv.theory.summary(X, y, positive="two", orders=["cyclic"])
    assert (table.bound, table.runs[0].mistakes) == (51, 18)  # AND
    assert not nv.theory.summary(X, y, positive="one", orders=["cyclic"]).runs[0].clean


def test_the_table_of_and() -> None:
    text = str(nv.theory.summary(X, [0, 0, 0, 1]))
    assert re.search(r"^R +1\.73206,", text, re.MULTILINE)
    assert re.search(r"^γ +0\.242535,", text, re.MULTILINE)
    assert re.search(r"^⌊R²/γ²⌋ +51: no run makes more mistakes", text, re.MULTILINE)
    assert re.search(r"^cyclic +18 +9 +all rows correct$", text, re.MULTILINE)
    page = nv.theory.summary(X, [0, 0, 0, 1])._repr_html_()
    assert ">18</td>" in page
    assert "R²/γ²" in page


def test_xor_has_no_bound_and_cycles() -> None:
    table = nv.theory.summary(
        X, ["no", "yes", "yes", "no"], orders=["cyclic", "permuted", [3, 1, 0, 2]]
    )
    assert table.bound is None
    assert table.margin == 0.0
    assert [run.clean for run in table.runs] == [False] * 3
    assert [run.period is None for run in table.runs] == [False, True, False]
    text = str(table)
    assert "none: no hyperplane separates the classes" in text
    assert "R²/γ²" not in text
    assert re.search(r"^cyclic +4,000 +1,000 +repeats every epoch$", text, re.MULTILINE)
    assert re.search(r"^permuted .* stopped$", text, re.MULTILINE)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="y has 3 classes"):
        nv.theory.summary(X, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="Unknown order 'sorted'"):
        nv.theory.summary(X, [0, 0, 0, 1], orders=["sorted"])
    through = str(nv.theory.summary(X[1:], [0, 0, 1], fit_intercept=False))
    assert "the longest row x" in through


def test_a_long_list_of_rows_has_a_short_name() -> None:
    rows = [3, 1, 0, 2] * 1000
    orders: list[Any] = [rows, nv.orders.Chaotic(rows, 4), "cyclic"]
    table = nv.theory.summary(X, [0, 0, 0, 1], orders=orders)
    assert max(map(len, str(table).splitlines())) < 90
    for run in table.runs[:2]:
        assert "[3, 1, 0, 2, 3" in run.order
        assert run.order.endswith("…")
