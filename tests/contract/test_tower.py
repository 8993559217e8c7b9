"""scikit-learn's checks for estimators that neither learn from streams nor prove: the tower."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from tests.contract.checks import failed_checks

CONFIGURATIONS = [
    *(
        kind()
        for name in nv.__all__
        if isinstance(kind := getattr(nv, name), type)
        and issubclass(kind, BaseEstimator)
        and not hasattr(kind, "learn_one")
        and kind not in (nv.MaxMargin, nv.Pocket)
    ),
    nv.TowerClassifier(3, max_updates=50),
]


@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_estimator(estimator: BaseEstimator) -> None:
    assert failed_checks(estimator) == {}


def test_it_works_in_a_pipeline_and_a_search() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), nv.TowerClassifier(random_state=0))
    options = {"towerclassifier__max_units": [1, None]}
    search = GridSearchCV(pipeline, options, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9


def test_frames_pickles_and_failed_fits() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model: Any = nv.TowerClassifier(random_state=0).fit(frame, y == 1)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:, :2], y >= 0)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(again.decision_function(frame), model.decision_function(frame))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_float32_rows_and_rows_that_float64_cannot_tell_apart() -> None:
    X, y = load_iris(return_X_y=True)
    assert nv.TowerClassifier(random_state=0).fit(X.astype(np.float32), y).converged_
    near = np.array([[1e6], [0.0], [1e-3], [2e-3], [3e-3], [4e-3]])
    with pytest.warns(ConvergenceWarning, match="too close to others for float64"):
        nv.TowerClassifier(random_state=0).fit(near, np.arange(6) % 2)
