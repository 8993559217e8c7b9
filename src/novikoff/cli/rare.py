"""What scikit-learn, SciPy, NumPy and Numba import, and a command hardly ever needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from novikoff.cli.later import Name, Names


class _Frames(Name):
    """What tells data frames: arrays, all that a command has, are none."""

    __slots__ = ()

    def is_into_dataframe(self, found: object) -> bool:
        """Whether something is a data frame."""
        return not _is_array(found) and bool(self.itself().is_into_dataframe(found))

    def is_into_series(self, found: object) -> bool:
        """Whether something is a column of one."""
        return not _is_array(found) and bool(self.itself().is_into_series(found))


class _IsMasked(Name):
    """What tells masked arrays: there are none before there is their class."""

    __slots__ = ()

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Whether the only argument is one."""
        if not self.imported() and len(args) == 1 and _is_array(args[0]):
            return False
        return super().__call__(*args, **kwargs)


def _is_array(found: object) -> bool:
    numpy, sparse = sys.modules["numpy"], sys.modules.get("scipy.sparse")
    return isinstance(found, numpy.ndarray) or (sparse is not None and sparse.issparse(found))


_ASKED_FOR_NOTHING = (
    *("scipy.stats", "scipy.special", "scipy.linalg", "numpy.f2py", "numpy.testing"),
    *("numpy.ctypeslib", "numba.experimental", "importlib.metadata", "asyncio"),
    *("narwhals", "narwhals.stable"),
)
# With the names that are taken from each on import, or that are asked of every array.
RARE: Final[Mapping[str, Names]] = {
    **{name: {} for name in _ASKED_FOR_NOTHING},
    "narwhals.stable.v2": {"dependencies": _Frames},
    "numpy.ma": {"MaskedArray": Name, "is_masked": _IsMasked},
    "joblib": {"cpu_count": Name},
    "threadpoolctl": {"threadpool_info": Name},
    "scipy.sparse.linalg": {"cg": Name, "LinearOperator": Name},
    "scipy.sparse.csgraph": {"laplacian": Name},
    "sklearn.utils.parallel": {"_get_threadpool_controller": Name},
    "sklearn.callback._progressbar": {"ProgressBar": Name},
    "sklearn.callback._scoring_monitor": {"ScoringMonitor": Name, "ScoringMonitorLog": Name},
}
