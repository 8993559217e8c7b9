from collections.abc import Hashable, Mapping

import numpy as np
import numpy.typing as npt

class InputTags:
    sparse: bool

class Tags:
    input_tags: InputTags

def check_random_state(
    seed: int | np.random.RandomState | None,
) -> np.random.RandomState: ...
def compute_class_weight(
    class_weight: Mapping[Hashable, float] | str | None,
    *,
    classes: npt.NDArray[np.generic],
    y: npt.NDArray[np.generic],
) -> npt.NDArray[np.float64]: ...
