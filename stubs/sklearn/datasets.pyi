from typing import Literal

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
def load_breast_cancer(
    *, return_X_y: Literal[True]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
