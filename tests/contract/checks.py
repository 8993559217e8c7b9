"""scikit-learn's own checks, all of them for one estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_checks


def failed_checks(
    estimator: BaseEstimator, expected: Mapping[str, str] | None = None
) -> dict[str, BaseException]:
    """What scikit-learn asks of all estimators and of names of columns in vain, unexpectedly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = estimator_checks.check_estimator(
            estimator, expected_failed_checks=dict(expected or {}), on_skip=None, on_fail=None
        )
        assert len(found) > 40
        failed = (each for each in found if each["status"] == "failed")
        bad: dict[str, BaseException] = {e["check_name"]: e["exception"] for e in failed}
        check = estimator_checks.check_dataframe_column_names_consistency
        try:
            check(type(estimator).__name__, estimator)
        except Exception as error:
            bad[check.__name__] = error
    return bad
