from typing import Self

import numpy as np
import numpy.typing as npt

class GridSearchCV:
    best_score_: float
    def __init__(
        self, estimator: object, param_grid: object, *, cv: int, error_score: str
    ) -> None: ...
    def fit(self, X: object, y: object) -> Self: ...

def cross_val_score(
    estimator: object, X: object, y: object, *, error_score: str
) -> npt.NDArray[np.float64]: ...
