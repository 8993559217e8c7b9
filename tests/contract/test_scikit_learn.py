"""scikit-learn's own checks: what it asks of every estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_checks

import novikoff as nv

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

CONFIGURATIONS = [
    nv.Perceptron(),
    nv.Perceptron(multi_class="ovo"),
    nv.Perceptron(average="voted", max_epochs=20),
    nv.Perceptron(order="cyclic", average="averaged"),
    nv.Perceptron(order="blocks", n_jobs=2),
    nv.Perceptron(order="max_distance", average="averaged", max_epochs=20),
    nv.Perceptron(margin=0.5, step=0.1, trace=True),
]


def failures(estimator: BaseEstimator) -> dict[str, str]:
    if estimator.get_params()["order"] in ("cyclic", "max_distance"):
        return NOT_IN_PRINCIPLE | {"check_class_weight_classifiers": STEPS_ARE_NO_OBJECTIVE}
    return NOT_IN_PRINCIPLE


@estimator_checks.parametrize_with_checks(
    CONFIGURATIONS, expected_failed_checks=failures, xfail_strict=True
)
def test_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_param_validation,
    ],
)
@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_names_and_parameters(
    estimator: BaseEstimator, check: Callable[[str, BaseEstimator], None]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check("Perceptron", estimator)
