"""Products of matrices whose bits do not depend on how many threads the BLAS library may use."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside, _limiter = 0, None  # how many are inside, and what gives the threads back


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: with more, it adds up the terms of a product in another order.

    The limit is that of the process; it goes when the last one leaves.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    global _inside, _limiter
    with _lock:
        if _inside == 0:
            _limiter = _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limiter is not None:
                _limiter.restore_original_limits()


@cache
def _libraries(_with_scipy: bool) -> Any:
    """The libraries that are loaded: SciPy brings its own."""
    return ThreadpoolController()
