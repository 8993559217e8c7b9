"""scikit-learn's own checks for every estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import BaseEstimator

import novikoff as nv
from tests.contract.checks import failed_checks

NOT_IN_PRINCIPLE = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "a weight is a factor on the steps of a row: one update of weight 2 is not two visits of "
    "weight 1, between which the row may stop being a mistake",
)
STEPS_ARE_NO_OBJECTIVE = (
    "class weights scale steps, they weigh no objective: where no rule separates, a class of "
    "weight 1000 need not win, as every step for it calls for steps against it"
)

# Every public estimator, except two that have their own test file. The contract does not ask for
# long runs on labels at random.
KINDS = [kind for name in nv.__all__ if isinstance(kind := getattr(nv, name), type)]
LIMITS = {"max_epochs": 20, "max_updates": 20}


def limited(kind: type[BaseEstimator]) -> BaseEstimator:
    estimator = kind()
    name = next(name for name in LIMITS if name in estimator.get_params())
    return estimator.set_params(**{name: LIMITS[name]})


CONFIGURATIONS = [
    *(
        limited(kind)
        for kind in KINDS
        if issubclass(kind, BaseEstimator) and kind not in (nv.MaxMargin, nv.Pocket)
    ),
    nv.Perceptron(
        order="cyclic",
        average=True,
        multi_class="ovo",
        threshold=0.5,
        trace=True,
        max_epochs=20,
    ),
]


def failures(estimator: BaseEstimator) -> dict[str, str]:
    if "class_weight" in estimator.get_params() and estimator.get_params()["order"] == "cyclic":
        return NOT_IN_PRINCIPLE | {"check_class_weight_classifiers": STEPS_ARE_NO_OBJECTIVE}
    return NOT_IN_PRINCIPLE


@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_estimator(estimator: BaseEstimator) -> None:
    assert failed_checks(estimator, failures(estimator)) == {}


@pytest.mark.parametrize("kind", [nv.Perceptron, linear_model.Perceptron])
def test_a_stretch_of_a_stream_in_which_no_row_takes_part(kind: type[nv.Perceptron]) -> None:
    """Where scikit-learn's perceptron does nothing, or raises, so does ours."""
    X, y = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, 0.0]]), np.array([0, 0, 1])
    clf = kind(class_weight={0: 0.0})
    clf.partial_fit(X[:2], y[:2], classes=[0, 1])
    assert clf.classes_.tolist() == [0, 1]
    assert not clf.coef_.any()
    clf.partial_fit(X, y)
    before = clf.coef_.copy()
    assert before.any()
    clf.partial_fit(X, y, sample_weight=[1.0, 1.0, 0.0])
    np.testing.assert_array_equal(clf.coef_, before)
    if kind is nv.Perceptron:  # and scikit-learn's, but not its oldest version here
        with pytest.raises(ValueError, match="one non-zero number"):
            clf.partial_fit(X, y, sample_weight=[0.0, 0.0, 0.0])
    np.testing.assert_array_equal(clf.coef_, before)
