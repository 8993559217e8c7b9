"""The rows in order of suspicion, and the rows whose relabelling makes the data separable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import novikoff as nv
from tests.cases import planted

pytestmark = pytest.mark.usefixtures("brief_descents")


def flipped(n_flips: int) -> tuple[Any, Any, Any]:
    """Rows with a gap, and wrong labels on some of them that are far from the hyperplane."""
    case = planted(3, 120, 3, gap=0.3)
    distances = nv.MaxMargin().fit(case.X, case.signs).decision_function(case.X)
    y, rows = case.signs.copy(), np.argsort(-np.abs(distances))[:n_flips]
    y[rows] *= -1
    return case.X, y, {*rows.tolist()}


@pytest.mark.parametrize("n_flips", [1, 2, 4])
def test_wrong_labels_come_first(n_flips: int) -> None:
    X, y, rows = flipped(n_flips)
    frame = nv.suspect_rows(X, y)
    assert {*frame.index[:n_flips]} == rows
    assert frame.relabel.sum() == n_flips
    assert frame.attrs == {"separable": True, "fewest": True, "least": n_flips}
    assert (frame.distance[frame.relabel] < 0).all()
    assert (frame.distance[~frame.relabel] > 0).all()
    assert frame.distance[frame.relabel].is_monotonic_increasing


def test_relabelling_or_removing_the_rows_makes_the_data_separable() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.choice(["a", "b"], size=40)
    frame = nv.suspect_rows(pd.DataFrame(X, index=[f"row {i}" for i in range(40)]), y)
    assert {*frame.index} == {f"row {i}" for i in range(40)}
    marked = frame.relabel.loc[[f"row {i}" for i in range(40)]].to_numpy()
    assert frame.attrs["separable"]
    assert frame.attrs["fewest"]
    assert marked.sum() == frame.attrs["least"]
    other = np.where(y == "a", "b", "a")
    assert nv.separate(X, np.where(marked, other, y)).kind == "separable"
    assert nv.separate(X[~marked], y[~marked]).kind == "separable"


def test_separable_rows_are_listed_by_their_part_in_the_proof_of_the_margin() -> None:
    frame = nv.suspect_rows([[0.0], [1.0], [5.0], [9.0]], [0, 0, 1, 1])
    assert not frame.relabel.any()
    assert {*frame.index[:2]} == {1, 2}
    assert frame.share.sum() == pytest.approx(1.0)


def test_several_classes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y has 3 classes.*one class against the rest"):
        nv.suspect_rows([[0.0], [1.0], [2.0]], [0, 1, 2])
