"""What can only be measured in a process of its own: peak memory, and the first fit.

``python -m benchmarks.fresh memory ROWS COLUMNS`` and
``python -m benchmarks.fresh first-fit dense|csr ROWS COLUMNS`` print one number,
``python -m benchmarks.fresh verdict mushroom|separable|flipped ROWS COLUMNS`` two.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array

import novikoff
from benchmarks.data import dense, sparse
from benchmarks.peers import ours
from benchmarks.verdict_data import flipped, mushroom, unit_rows
from benchmarks.verdict_peers import proved

Result = TypeVar("Result")

_ROOT = Path(__file__).parent.parent
_STATUS = Path("/proc/self/status")
_ORDERS = ("cyclic", "permuted", "blocks")


def installed(**more: str) -> dict[str, str]:
    """The variables of a process that keeps bytecode, as an installed package has it."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | more


def in_new_process(*arguments: str, cache: str | None = None) -> list[float]:
    """What this module prints in a new process, with a Numba cache of its own if so asked."""
    environment = installed() if cache is None else installed(NUMBA_CACHE_DIR=cache)
    done = subprocess.run(  # noqa: S603 (our own module, our own arguments)
        [sys.executable, "-m", "benchmarks.fresh", *arguments],
        cwd=_ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [float(number) for number in done.stdout.split()]


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
        grown, _ = _growth(partial(ours(whole.X, whole.y, order), 2, 0))
        worst = max(worst, grown / whole.X.nbytes)
    return worst


def verdict(kind: str, n: int, d: int) -> tuple[float, float]:
    """The growth of peak memory during a verdict, as a share of the data, and the seconds.

    Kernels are compiled beforehand, on a corner of the data with the labels as they are
    and with some flipped.
    """
    X, y = mushroom() if kind == "mushroom" else unit_rows(n, d, 1e-3)
    if kind == "flipped":
        y = flipped(y, n // 20)
    unit_rows.cache_clear()
    corner = X[:2_000, :20].copy()
    signs = 2 * (y[:2_000] > 0) - 1
    for labels in (signs, flipped(signs, 200)):
        novikoff.separate(corner, labels)
    size = X.nbytes if isinstance(X, np.ndarray) else _nbytes_of_csr(X)
    start = time.perf_counter()
    grown, answer = _growth(partial(novikoff.separate, X, y))
    seconds = time.perf_counter() - start
    expected = "inseparable" if kind == "flipped" else "separable"
    if not proved(answer, X, y, expected).same:
        raise RuntimeError(f"The verdict on {kind} is {answer.kind}.")
    return grown / size, seconds


def first_fit(kind: str, n: int, d: int) -> float:
    """The seconds of the first fit in this process; nothing was compiled or loaded before."""
    split = dense(n, d) if kind == "dense" else sparse(n, d, min(72, d // 4))
    fit = ours(split.X, split.y, "permuted")
    start = time.perf_counter()
    fit(1, 0)
    return time.perf_counter() - start


def _nbytes_of_csr(X: csr_array) -> int:
    """The bytes of the three arrays of a sparse matrix."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def _growth(call: Callable[[], Result]) -> tuple[float, Result]:
    """The bytes by which peak memory exceeds what is in use before the call."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _kibibytes("VmRSS")
    result = call()
    return 1024.0 * (_kibibytes("VmHWM") - before), result


def _kibibytes(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"{_STATUS} has no line {field}.")


def _main(task: str, *arguments: str) -> None:
    if task == "memory":
        print(memory(*map(int, arguments)))
        return
    kind, *size = arguments
    if task == "verdict":
        print(*verdict(kind, *map(int, size)))
    else:
        print(first_fit(kind, *map(int, size)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
