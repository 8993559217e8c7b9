from typing import Self

import numpy as np
import numpy.typing as npt

class StandardScaler:
    def set_fit_request(self, *, sample_weight: bool) -> Self: ...
    def fit_transform(self, X: object) -> npt.NDArray[np.float64]: ...
