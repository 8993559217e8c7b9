from typing import Any, overload

import numpy as np
import numpy.typing as npt

@overload
def validate_data(_estimator: object, X: object, *, reset: bool, **form: object) -> Any: ...
@overload
def validate_data(
    _estimator: object, X: object, y: object, *, reset: bool, **form: object
) -> tuple[Any, npt.NDArray[np.generic]]: ...
def check_is_fitted(estimator: object) -> None: ...
def _check_sample_weight(
    sample_weight: object, X: object, *, dtype: type, copy: bool, ensure_non_negative: bool
) -> npt.NDArray[np.float64]: ...
