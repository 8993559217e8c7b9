"""The estimator together with data frames, pipelines, searches and metadata routing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv

Matrix = npt.NDArray[np.float64]


@pytest.fixture
def wine() -> tuple[Matrix, npt.NDArray[np.int64]]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_works_in_a_pipeline_and_a_search() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), nv.Perceptron(random_state=0))
    grid = {"perceptron__order": ["cyclic", "permuted"], "perceptron__threshold": [0.0, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(pipeline, X, y, error_score="raise").mean() > 0.9


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=str)
def test_takes_frames_and_remembers_their_columns(
    frame: Any, wine: tuple[Matrix, npt.NDArray[np.int64]]
) -> None:
    X, y = wine
    names = [f"c{j}" for j in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    clf = nv.Perceptron(random_state=0).fit(table, y)
    plain = nv.Perceptron(random_state=0).fit(X, y)
    assert clf.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(clf.coef_, plain.coef_)
    np.testing.assert_array_equal(clf.predict(table), y)


def test_names_the_column_of_a_missing_value() -> None:
    table = pd.DataFrame({"age": [1.0, 2.0], "height": [1.0, np.nan]})
    with pytest.raises(ValueError, match=r"NaN in row 1, column 1 \('height'\)"):
        nv.Perceptron().fit(table, [0, 1])


def test_routes_metadata(wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    weight = np.where(y == 0, 1.0, 0.0) + 0.5
    with config_context(enable_metadata_routing=True):
        clf = nv.Perceptron(random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clf).fit(X, y, sample_weight=weight)
    alone = nv.Perceptron(random_state=0).fit(
        StandardScaler().fit_transform(X), y, sample_weight=weight
    )
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
    assert not np.array_equal(alone.coef_, nv.Perceptron(random_state=0).fit(X, y).coef_)


def test_verbose_prints_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    clf = nv.Perceptron(order="cyclic", verbose=1).fit(X, y == 0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.n_iter_
    assert lines[-1] == f"epoch {clf.n_iter_}: {clf.n_updates_} updates so far"


def test_does_not_copy_or_change_the_data(wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    before = X.copy()
    X.flags.writeable = False
    nv.Perceptron().fit(X, y)
    np.testing.assert_array_equal(X, before)
    messy = sp.csr_array(([1.0, 2.0, 5.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    nv.Perceptron().fit(messy, [0, 1])
    assert messy.indices.tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["Perceptron", "MaxMargin", "Pocket", "separate"], ids=str)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[2**53 + 1, 0], [0, 1]]), "row 0, column 0, which float64 cannot hold"),
        (sp.csr_array(np.array([[0, 1], [0, 2**60 + 1]])), "row 1, column 1, which float64"),
        ([[1, 2], [3, 2**70 + 1]], "row 1, column 1, which float64 cannot hold"),
        (
            pd.DataFrame({"a": [1, 2**53 + 1], "b": [0.5, 1.0]}),
            r"row 1, column 0 \('a'\), which",
        ),
        (
            np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]"),
            "dates .*days since",
        ),
        (np.array([[1], [2]], dtype="timedelta64[s]"), "durations .*such as days"),
    ],
)
def test_numbers_that_would_be_rounded_are_rejected_as_by_separate(
    X: Any, message: Any, name: Any
) -> None:
    call = nv.separate if name == "separate" else getattr(nv, name)().fit
    with pytest.raises(ValueError, match=message):
        call(X, [0, 1])


def test_labels_that_floats_cannot_distinguish_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        nv.Perceptron().fit([[1.0], [2.0]], [2**60, 2**60 + 1])
