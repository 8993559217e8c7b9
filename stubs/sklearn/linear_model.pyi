from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

class Perceptron:
    coef_: npt.NDArray[np.float64]
    intercept_: npt.NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None: ...
    def fit(self, X: npt.ArrayLike | sp.csr_array, y: npt.ArrayLike) -> Self: ...
    def partial_fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, classes: npt.ArrayLike | None = None
    ) -> Self: ...
    def predict(self, X: npt.ArrayLike | sp.csr_array) -> npt.NDArray[np.int64]: ...
