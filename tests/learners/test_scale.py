"""``Perceptron(scale="standard")`` runs on standardised features; its rule is for the originals."""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from tests.cases import case_named

RAW, GROWERS = load_wine(return_X_y=True)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_rule_is_that_of_standardised_rows_for_the_rows_as_given(
    average: Any, multi_class: str
) -> None:
    """The mistakes equal those after a StandardScaler, and the scores need no scaler."""
    words: dict[str, Any] = {"average": average, "multi_class": multi_class, "random_state": 0}
    Z = StandardScaler().fit_transform(RAW)
    behind = nv.Perceptron(**words).fit(Z, GROWERS)
    scaled = nv.Perceptron(scale="standard", **words).fit(RAW, GROWERS)
    assert scaled.converged_
    assert (scaled.n_mistakes_, scaled.n_iter_) == (behind.n_mistakes_, behind.n_iter_)
    np.testing.assert_allclose(
        scaled.decision_function(RAW), behind.decision_function(Z), atol=1e-8
    )
    assert (scaled.predict(RAW) == behind.predict(Z)).all()
    if average is False:
        assert scaled.score(RAW, GROWERS) == 1.0


@pytest.mark.parametrize("fit_intercept", [True, False], ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_sparse_rows_and_rows_through_the_origin_are_not_moved(
    storage: Any, fit_intercept: Any
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1.0, 1e-4, 1e4]
    y = X @ [1.0, 1e4, 1e-4] > 0.0
    rows = storage(X)
    clf = nv.Perceptron(scale="standard", fit_intercept=fit_intercept, random_state=0)
    assert clf.fit(rows, y).converged_
    assert (clf.predict(rows) == y).all()
    assert fit_intercept or clf.intercept_[0] == 0.0


def test_the_time_that_scaling_takes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that only moves while features are standardised, or a kernel is loaded."""
    now, scaling = [time.monotonic()], import_module("novikoff.core.fitting")
    training = import_module("novikoff.core.runs")
    monkeypatch.setattr("novikoff.core.stops.time.monotonic", lambda: now[0])

    def taking(seconds: float, job: Any) -> Any:
        def late(*given: Any, **words: Any) -> Any:
            now[0] += seconds
            return job(*given, **words)

        return late

    monkeypatch.setattr(training, "compile_loop", taking(100.0, training.compile_loop))
    model = nv.Perceptron(scale="standard", max_seconds=5.0).fit(RAW, GROWERS)
    assert model.converged_
    monkeypatch.setattr(scaling, "standardise", taking(10.0, scaling.standardise))
    with pytest.warns(ConvergenceWarning, match="before the time limit"):
        assert nv.Perceptron(scale="standard", max_seconds=5.0).fit(RAW, GROWERS).n_updates_ == 0


def test_the_default_leaves_the_features_alone() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    clf = nv.Perceptron(order="cyclic").fit(X, y)
    assert (clf.scale, clf.n_mistakes_) == (None, 18)


def test_the_weights_to_start_from_are_for_the_features_as_given() -> None:
    y = GROWERS == 0
    first = nv.Perceptron(scale="standard", random_state=0, warm_start=True).fit(RAW, y)
    start: dict[str, Any] = {"coef_init": first.coef_, "intercept_init": first.intercept_}
    for again in (first.fit(RAW, y), nv.Perceptron(scale="standard").fit(RAW, y, **start)):
        with case_named(again.warm_start):
            assert (again.n_mistakes_, again.n_iter_) == (0, 1)


def test_a_stream_cannot_be_standardised(tmp_path: Path) -> None:
    clf = nv.Perceptron(scale="standard", random_state=0)
    assert not hasattr(clf, "partial_fit")
    for fitted in (False, True):
        with case_named(fitted):
            if fitted:
                clf.fit(RAW, GROWERS)
            with pytest.raises(AttributeError, match="scale='standard' needs all rows at once"):
                clf.learn_one(RAW[0], 0)
    clf.fit(RAW, GROWERS)
    nv.save(clf, tmp_path / "scaled")
    again = nv.load(tmp_path / "scaled")
    assert again.scale == "standard"
    assert np.array_equal(again.coef_, clf.coef_)
    with pytest.raises(ValueError, match="'scale' parameter of Perceptron must be 'standard'"):
        nv.Perceptron().set_params(scale="minmax").fit(RAW, GROWERS)


def test_a_rule_that_is_lost_on_the_way_back_is_not_called_converged() -> None:
    """Far from the origin, the bias of the mapped rule loses the digits that separate the rows."""
    rows = np.random.default_rng(2).integers(0, 64, (30, 3)) / 8.0
    X, y = 1e15 + rows, rows @ [1.0, 2.0, -1.0] > 4.0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        clf = nv.Perceptron(scale="standard", random_state=1).fit(X, y)
    wrong = int((clf.predict(X) != y).sum())
    assert wrong > 0  # otherwise the test would show nothing
    assert not clf.converged_
    assert any("Subtract a constant" in str(warning.message) for warning in seen)


def warned(clf: nv.Perceptron, X: Any, y: Any) -> str:
    with pytest.warns(ConvergenceWarning) as seen:
        clf.fit(X, y)
    return str(seen[0].message)


def test_advice_is_given_where_it_is_true() -> None:
    y = GROWERS == 1
    raw = warned(nv.Perceptron(max_epochs=2), RAW, y)
    assert "scale='standard'" in raw
    assert "max_epochs" in raw
    assert "max_updates" not in raw
    for X, clf in (
        (RAW, nv.Perceptron(scale="standard", max_epochs=1)),
        (StandardScaler().fit_transform(RAW), nv.Perceptron(max_epochs=1)),
    ):
        with case_named(clf):
            assert "scale" not in warned(clf, X, y)
    assert "max_updates" in warned(nv.Perceptron(max_updates=3), RAW, y)
