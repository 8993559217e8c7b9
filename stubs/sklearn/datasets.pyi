from typing import Literal, overload

import numpy as np
import numpy.typing as npt

def load_digits(
    *, return_X_y: Literal[True]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
def load_iris(
    *, return_X_y: Literal[True]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
def load_wine(
    *, return_X_y: Literal[True]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
@overload
def load_breast_cancer(
    *, return_X_y: Literal[True]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
@overload
def load_breast_cancer() -> _Bunch: ...

class _Bunch:
    data: npt.NDArray[np.float64]
    target: npt.NDArray[np.int64]
    feature_names: npt.NDArray[np.str_]
    target_names: npt.NDArray[np.str_]
