"""How many threads an estimator may use."""

from __future__ import annotations

import sys


def effective_threads(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` stands for, as joblib says.

    A ``joblib.parallel_config`` may say what None stands for, and a pool of processes that there
    is one core only. Where joblib has not been imported there is neither, and no need for it.
    """
    if "joblib" not in sys.modules:
        if n_jobs is None:
            return 1
        if n_jobs > 0:
            return int(n_jobs)
    from joblib import effective_n_jobs

    found: int = effective_n_jobs(n_jobs)
    return found
