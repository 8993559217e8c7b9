"""One thread for the BLAS library, so that matrix products give the same bits on every machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
# `_active` counts the active `with` blocks. `_limiter` restores the number of threads.
_active, _limiter = 0, None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside a ``with`` block.

    With several threads BLAS adds the terms of a product in a different order, so that the last
    bits of the result depend on the number of threads. Small products are also slower with
    several threads, because the threads wait for each other. When other programs use the cores,
    such a product takes about five times as long.

    The limit applies to the whole process. Blocks may be nested and may overlap in several Python
    threads: the limit ends when the last block ends. Entering a block takes about 10 microseconds.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    global _active, _limiter
    with _lock:
        if _active == 0:
            _limiter = _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
        _active += 1
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if _active == 0 and _limiter is not None:
                _limiter.restore_original_limits()


@cache
def _libraries(_with_scipy: bool) -> Any:
    """The BLAS libraries that are loaded now; SciPy loads its own beside NumPy's."""
    return ThreadpoolController()
