"""What can only be measured in a process of its own: peak memory, and the first fit.

``python -m benchmarks.fresh memory ROWS COLUMNS`` and
``python -m benchmarks.fresh first-fit dense|csr ROWS COLUMNS`` print one number.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.data import dense, sparse
from benchmarks.peers import ours

_ROOT = Path(__file__).parent.parent
_STATUS = Path("/proc/self/status")
_ORDERS = ("cyclic", "permuted", "blocks")


def in_new_process(*arguments: str, cache: str | None = None) -> float:
    """Run this module in a new process, with a Numba cache of its own if so asked."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    done = subprocess.run(  # noqa: S603 (our own module, our own arguments)
        [sys.executable, "-m", "benchmarks.fresh", *arguments],
        cwd=_ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout)


def memory(n: int, d: int) -> float:
    """The growth of peak memory during a fit, as a share of the data; the worst order.

    Kernels are compiled beforehand, and what that left behind is given back, so that the
    fit finds no free memory to hide in.
    """
    whole = dense(n, d)
    worst = 0.0
    for order in _ORDERS:
        head = min(n, 25_000)
        ours(whole.X[:head], whole.y[:head], order)(1, 0)
        dense.cache_clear()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _kibibytes("VmRSS")
        ours(whole.X, whole.y, order)(2, 0)
        worst = max(worst, 1024.0 * (_kibibytes("VmHWM") - before) / whole.X.nbytes)
    return worst


def first_fit(kind: str, n: int, d: int) -> float:
    """The seconds of the first fit in this process; nothing was compiled or loaded before."""
    split = dense(n, d) if kind == "dense" else sparse(n, d, min(72, d // 4))
    fit = ours(split.X, split.y, "permuted")
    start = time.perf_counter()
    fit(1, 0)
    return time.perf_counter() - start


def _kibibytes(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"{_STATUS} has no line {field}.")


def _main(task: str, *arguments: str) -> None:
    if task == "memory":
        print(memory(*map(int, arguments)))
    else:
        kind, *size = arguments
        print(first_fit(kind, *map(int, size)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
