"""scikit-learn's checks for `Pocket`, in a pipeline and a search too; frames and pickles."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from tests.contract.checks import failed_checks

CONFIGURATIONS = [
    nv.Pocket(max_updates=30),
    nv.Pocket(
        "run_length",
        max_updates=30,
        multi_class="ovo",
        refine=False,
        fit_intercept=False,
        lower_bound=False,
    ),
    nv.Pocket("textbook", max_updates=300, lower_bound=False),
]


pytestmark = pytest.mark.usefixtures("brief_descents")


BETTER_THAN_A_CONSTANT = (
    "mistakes on class 0 cost 1000, others 0.0001, and 87 % of the test rows are to be called 0; "
    "but the best line for the training rows, by trying all through two of them, gets 4 of the 26 "
    "others right too and calls 86 % so, ours, as good, 78 %; without an intercept no rule is "
    "constant"
)


ANOTHER_DRAW = (
    "a row of weight 2 is as likely to be drawn as two equal rows, but which row a random number "
    "draws depends on where the rows stand; the other strategies separate this data"
)


@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_estimator(estimator: BaseEstimator) -> None:
    expected = {"check_class_weight_classifiers": BETTER_THAN_A_CONSTANT}
    if estimator.get_params()["strategy"] == "textbook":
        for storage in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{storage}_data"] = ANOTHER_DRAW
    assert failed_checks(estimator, expected) == {}


def test_it_works_in_a_pipeline_and_a_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    pipeline = make_pipeline(StandardScaler(), nv.Pocket(max_updates=300, random_state=0))
    search = GridSearchCV(
        pipeline,
        {"pocket__refine": [True, False], "pocket__class_weight": [None, "balanced"]},
        cv=2,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.88


def test_frames_pickles_and_failed_fits() -> None:
    model: Any = nv.Pocket(max_updates=100)
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model.fit(frame, y == 1)
    nv.verify(model.certificate_, frame, y == 1)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:, :2], y >= 0)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert again.n_errors_ == model.n_errors_
    assert getattr(again, "certificate_", None) == getattr(model, "certificate_", None)
    assert clone(model).get_params() == model.get_params()
