from collections.abc import Callable, Sequence
from typing import TypeVar

from sklearn.base import BaseEstimator

_Test = TypeVar("_Test", bound=Callable[..., object])

def parametrize_with_checks(
    estimators: Sequence[BaseEstimator],
    *,
    expected_failed_checks: Callable[[BaseEstimator], dict[str, str]] | None = None,
    xfail_strict: bool | None = None,
) -> Callable[[_Test], _Test]: ...
def check_dataframe_column_names_consistency(name: str, estimator: BaseEstimator) -> None: ...
def check_param_validation(name: str, estimator: BaseEstimator) -> None: ...
