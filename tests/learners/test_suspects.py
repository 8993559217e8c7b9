"""The rows in order of suspicion, and the rows whose relabelling makes the data separable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

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


def test_the_rows_of_the_pocket_are_those_that_predict_misclassifies(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = nv.Pocket(random_state=0, max_updates=100).fit(X, y)
    assert isinstance(model.wrong_, list)
    for k, wrong in enumerate(model.wrong_):
        missed = (model.decision_function(X)[:, k] > 0.0) != (y == k)
        assert wrong.tolist() == np.flatnonzero(missed).tolist()
    nv.save(model, tmp_path / "iris.novikoff")
    again: Any = nv.load(tmp_path / "iris.novikoff")
    assert [rows.tolist() for rows in again.wrong_] == [rows.tolist() for rows in model.wrong_]


def test_shares_of_rows_add_up_to_the_shares_of_their_contradictions() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 8)), rng.choice([0, 1], size=30)
    proof: Any = nv.Pocket(random_state=0).fit(X, y).certificate_
    sizes = [len(claim.among) for claim in proof.contradictions]
    wanted = sum(share * size for share, size in zip(proof.each_share(), sizes, strict=True))
    assert proof.row_shares().sum() == pytest.approx(float(wanted))
    assert proof.row_shares().max() <= 1.0 + 1e-12


def test_separable_rows_are_listed_by_their_part_in_the_proof_of_the_margin() -> None:
    frame = nv.suspect_rows([[0.0], [1.0], [5.0], [9.0]], [0, 0, 1, 1])
    assert not frame.relabel.any()
    assert {*frame.index[:2]} == {1, 2}
    assert frame.share.sum() == pytest.approx(1.0)


def test_several_classes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y has 3 classes.*one class against the rest"):
        nv.suspect_rows([[0.0], [1.0], [2.0]], [0, 1, 2])
